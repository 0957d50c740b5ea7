"""Every kind of cause has its page, and the example on it shows just that cause."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import pytest

from tapeviz.analysis.causes.table import KINDS
from tapeviz.errors import TapevizError
from tapeviz.files.explanations import explanation, kinds

if TYPE_CHECKING:
    from tapeviz.recording.live import Recorder

MOST_LETTERS = 620


def test_every_kind_has_a_page() -> None:
    assert set(kinds()) == {*KINDS, "errors"}
    with pytest.raises(TapevizError):
        explanation("../themes/dark")


@pytest.mark.parametrize("kind", kinds())
def test_two_short_paragraphs_in_plain_words(kind: str) -> None:
    page = explanation(kind)
    assert page.title
    assert len(page.title) < 60
    assert len(page.paragraphs) == 2
    assert all(len(paragraph) <= MOST_LETTERS for paragraph in page.paragraphs), [
        *map(len, page.paragraphs)
    ]
    assert not re.search(r"[`*_]{2}|—", " ".join(page.paragraphs))
    assert 6 <= len(page.code.splitlines()) <= 20


SHOWN = [kind for kind in kinds() if kind != "errors"]


@pytest.mark.parametrize("kind", SHOWN)
def test_the_example_shows_its_kind(kind: str, recorder: Recorder) -> None:
    from tapeviz.analysis import diagnose
    from tapeviz.recording.live import Snippet

    live = recorder.record(Snippet(explanation(kind).code))
    trace = live.wait(60)
    live.release()
    assert trace.failure is None, trace.failure
    findings = [finding for call in diagnose(trace).calls for finding in call.findings]
    causes = [finding.cause for finding in findings if finding.status != "flows"]
    assert [cause.kind for cause in causes if cause is not None] == [kind]
    assert len(causes) == 1


def test_the_example_of_errors_raises(recorder: Recorder) -> None:
    from tapeviz.analysis import diagnose
    from tapeviz.recording.live import Snippet

    live = recorder.record(Snippet(explanation("errors").code))
    trace = live.wait(60)
    live.release()
    error = diagnose(trace).error
    assert error is not None
    assert "persistent" in error.explanation
