"""Columns of a text are counted in characters, as frames of the recorder have them."""

from __future__ import annotations

import pytest

from tapeviz.analysis.python.depths import read_depths
from tapeviz.text.called_names import CalledNames
from tapeviz.text.source import SourceText, TextSpan
from tapeviz.trace.sites import StackFrame


@pytest.mark.parametrize("before", ["", "θ = 1; ", "'😀'; "], ids=["ascii", "greek", "emoji"])
def test_calls_are_found_behind_letters_of_several_bytes(before: str) -> None:
    layer, function = "self.head(x)", "tf.exp(x)"
    text = SourceText(f"{before}y = {layer} + {function}")

    def span(part: str) -> TextSpan:
        begin = text.text.index(part)
        return TextSpan(1, begin, 1, begin + len(part))

    names = CalledNames(text)
    assert names.called(span(layer)[:2]) == ("head",)
    assert names.function(span(function)) == "exp"
    assert text.words_at(span(function)) == "tf.exp"
    assert text.call_at(span(layer), "another") is not None
    assert read_depths(text).of_call(StackFrame("<module>", *span(layer))) == 1
