"""The panel below the graph that is in front, and when another one takes its place."""

from __future__ import annotations

from dataclasses import replace

import pytest
from pytestqt.qtbot import QtBot

from tapeviz.app.window import Window
from tapeviz.document import Document
from tapeviz.document.inbox import Question
from tapeviz.trace.model import EMPTY_TRACE, Failure, Trace
from tests.document.sample import SamplePipeline, make_trace


def in_front(window: Window) -> str:
    docks = window.stage.docks
    shown = (name for name in docks if name not in ("source", "diagnosis", "tensor"))
    return next(name for name in shown if not docks[name].visibleRegion().isEmpty())


def turn_to(qtbot: QtBot, window: Window, name: str) -> None:
    window.call_panel(name)
    qtbot.waitUntil(lambda: in_front(window) == name)


def test_a_growing_run_leaves_the_panel_that_the_user_turned_to(
    qtbot: QtBot, window: Window, pipeline: SamplePipeline, monkeypatch: pytest.MonkeyPatch
) -> None:
    turn_to(qtbot, window, "output")
    pipeline.endless = True
    window.run()
    document = window.document
    qtbot.waitUntil(lambda: document.runs.recording is not None and document.runs.ops == 3)
    document.runs.traced.emit(make_trace())
    qtbot.waitUntil(lambda: in_front(window) == "backprop")
    turn_to(qtbot, window, "output")
    part = make_trace()
    document.runs.traced.emit(part)
    qtbot.waitUntil(lambda: document.trace is part)
    document.stop()
    qtbot.waitUntil(lambda: not document.is_running and not document.background.busy)
    assert document.trace.ending.how == "stopped"
    assert in_front(window) == "output"


def test_the_output_comes_to_the_front_of_a_run_that_only_printed(
    qtbot: QtBot, ran: Window
) -> None:
    document, empty = ran.document, ran.graph.empty
    assert in_front(ran) == "backprop"
    document.run_started.emit()
    document.showing.take(Trace("print('hello')", printed=(("stdout", "hello\n"),)))
    qtbot.waitUntil(lambda: in_front(ran) == "output")
    qtbot.waitUntil(lambda: empty.title.text() == "No TensorFlow op ran")
    assert "See Output for what it printed" in empty.words.text()
    document.showing.take(Trace("pass"))
    qtbot.waitUntil(lambda: "printed nothing" in empty.words.text())
    document.showing.take(Trace("1 / 0", failure=Failure("ZeroDivisionError", "by zero", 1, "")))
    qtbot.waitUntil(lambda: "ended before it computed anything" in empty.words.text())


def test_a_question_stays_in_front_when_the_run_has_its_first_ops(
    qtbot: QtBot, window: Window, monkeypatch: pytest.MonkeyPatch
) -> None:
    document = window.document
    monkeypatch.setattr(Document, "is_running", property(lambda _: True))
    document.runs._ask(Question("rate? ", False, lambda line: None))
    qtbot.waitUntil(lambda: in_front(window) == "output")
    document.runs.traced.emit(make_trace())
    qtbot.waitUntil(lambda: document.trace is not EMPTY_TRACE)
    assert in_front(window) == "output"


def test_a_run_that_waits_for_input_is_not_said_to_be_running(
    window: Window, monkeypatch: pytest.MonkeyPatch
) -> None:
    document, empty = window.document, window.graph.empty
    monkeypatch.setattr(Document, "is_running", property(lambda _: True))
    document.runs._ask(Question("rate? ", False, lambda line: None))
    assert empty.title.text() == "Waiting for input"
    assert window.status.state.text() == "waiting for input"
    document.runs.reply("0.1")
    assert empty.title.text() == "Running …"
    assert window.status.state.text() == "running"


def test_a_failure_comes_forward_once(qtbot: QtBot, ran: Window) -> None:
    """A call that is opened later tells of the failure again."""
    failed = replace(ran.document.trace, failure=Failure("ValueError", "no", 6, ""))
    ran.document.showing.take(failed)
    qtbot.waitUntil(lambda: in_front(ran) == "output")
    turn_to(qtbot, ran, "backprop")
    ran.document.showing.take(replace(failed, texts={}))
    assert in_front(ran) == "backprop"
