"""A recording with calls of a compiled function in; what the document shows of their inside out."""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence

import pytest
from PySide6.QtCore import QCoreApplication
from pytestqt.qtbot import QtBot

from tapeviz.document import Document
from tapeviz.document.pipeline import Stages
from tapeviz.panels.look import THEMES
from tapeviz.panels.rounds.strip import RoundStrip
from tapeviz.recording.kept import KeptRecording
from tapeviz.trace import events as e
from tapeviz.trace.ids import OpId
from tapeviz.trace.model import Trace
from tapeviz.trace.stored.file import Recording
from tests.document.sample import SamplePipeline
from tests.recording.test_compiled_calls import BLOB, recorded_calls
from tests.waiting import PATIENCE

CALLS = 5
FIRST = 3
"""The number of the op that was the first call."""


def _kept(looked: Sequence[int]) -> KeptRecording:
    events = tuple(map(e.encode, recorded_calls(CALLS, looked)))
    return KeptRecording(Recording("", "snippet.py", events, BLOB))


class Slow:
    """Answers when it is told to."""

    def __init__(self, kept: KeptRecording) -> None:
        self.kept = kept
        self.asked: list[int] = []
        self.may_answer = threading.Event()

    def look_into(self, op: OpId, turns: Sequence[int] = ()) -> Trace:
        self.asked.append(op)
        self.may_answer.wait(PATIENCE)
        return self.kept.look_into(op, turns)


Opens = Callable[[KeptRecording, "Slow | None"], Document]


@pytest.fixture
def opens(qtbot: QtBot) -> Opens:
    def opened(kept: KeptRecording, asked: Slow | None = None) -> Document:
        document = Document(SamplePipeline(), Stages())
        document.open_trace(kept.wait(), asked or kept)
        qtbot.waitUntil(lambda: bool(document.scene.boxes) and not document.background.busy)
        return document

    return opened


def _settle(qtbot: QtBot, document: Document) -> None:
    qtbot.waitUntil(lambda: document.insides.awaited is None and not document.background.busy)


def test_another_call_is_shown_in_place_of_the_last(qtbot: QtBot, opens: Opens) -> None:
    document = opens(_kept([FIRST + 1, FIRST + 4]), None)
    strip = RoundStrip(document, THEMES["light"])
    qtbot.addWidget(strip)
    boxes = [box.rect for box in document.scene.boxes]
    assert (document.round, strip.number.text()) == (5, "call 5")
    document.select_round(2)
    assert (document.round, document.insides.awaited) == (2, FIRST + 1)
    assert strip.total.text().endswith("looking into it …")
    _settle(qtbot, document)
    assert document.function_calls.shown is not None
    assert (document.function_calls.shown.number, strip.number.text()) == (2, "call 2")
    assert strip.trouble.text() == ""
    assert [box.rect for box in document.scene.boxes] == boxes


def test_a_call_that_nobody_looked_into_says_so(qtbot: QtBot, opens: Opens) -> None:
    document = opens(_kept([FIRST + 4]), None)
    strip = RoundStrip(document, THEMES["dark"])
    qtbot.addWidget(strip)
    document.select_round(1)
    _settle(qtbot, document)
    assert strip.trouble.text() == "values inside not known"


def _let_answer(slow: Slow, document: Document) -> None:
    """Until the answer was delivered, wanted or not."""
    slow.may_answer.set()
    while document.background._running:
        QCoreApplication.processEvents()


def test_of_several_calls_asked_for_the_newest_counts(qtbot: QtBot, opens: Opens) -> None:
    kept = _kept(range(FIRST, FIRST + CALLS))
    slow = Slow(kept)
    document = opens(kept, slow)
    for number in (4, 3, 2):
        document.select_round(number)
        qtbot.waitUntil(lambda: bool(slow.asked))
    assert document.round == 2
    slow.may_answer.set()
    _settle(qtbot, document)
    assert slow.asked == [FIRST + 3, FIRST + 1]
    assert document.round == 2


def test_what_was_given_up_changes_nothing(qtbot: QtBot, opens: Opens) -> None:
    kept = _kept(range(FIRST, FIRST + CALLS))
    slow = Slow(kept)
    document = opens(kept, slow)
    trace = document.trace
    document.select_round(1)
    qtbot.waitUntil(lambda: bool(slow.asked))
    document.give_up()
    assert (document.insides.awaited, document.round) == (None, 5)
    _let_answer(slow, document)
    assert document.trace is trace


def test_another_text_forgets_what_is_awaited(qtbot: QtBot, opens: Opens) -> None:
    slow = Slow(_kept([FIRST]))
    document = opens(slow.kept, slow)
    document.select_round(1)
    document.open_source("x = 1")
    _let_answer(slow, document)
    assert not document.trace.ops
    assert document.insides.awaited is None
