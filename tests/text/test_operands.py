"""The text of a gradient call in, the expressions given as its target and sources out."""

from __future__ import annotations

import ast

import pytest

from tapeviz.text.source import SourceText

_OWN_TAPE = """
class Clipped(tf.GradientTape):
    def gradient(self, target, sources):
        return None

"""
CASES = {
    "tape.gradient(y, x)": ("y", "x"),
    "tape.gradient(sources=[x], target=y)": ("y", "[x]"),
    "tape.gradient(*given)": ("", ""),
    "tf.GradientTape.gradient(tape, y, x)": ("y", "x"),
    "GradientTape.jacobian(tape, y, sources=x)": ("y", "x"),
    "old = tf.GradientTape.gradient\nold(tape, y, x)": ("y", "x"),
    "old = tf.GradientTape.gradient\nold(tape, *given)": ("", ""),
    "ask = tape.gradient\nask(y, x)": ("y", "x"),
    "kept['old'] = tf.GradientTape.gradient\ntapes[0].gradient(y, x)": ("y", "x"),
    _OWN_TAPE + "Clipped.gradient(tape, y, x)": ("y", "x"),
    _OWN_TAPE + "Clipped().gradient(y, x)": ("y", "x"),
}


@pytest.mark.parametrize(("text", "words"), CASES.items())
def test_operands(text: str, words: tuple[str, str]) -> None:
    statement = ast.parse(text).body[-1]
    assert isinstance(statement, ast.Expr)
    assert isinstance(statement.value, ast.Call)
    source = SourceText(text)
    given = [source.operands(statement.value, which) for which in ("target", "sources")]
    assert tuple(ast.unparse(node) if node else "" for node in given) == words
