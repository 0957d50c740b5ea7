"""The steps inside of a compiled loop: asked for in the Backprop panel, walked in the picture."""

from __future__ import annotations

import pytest
from pytestqt.qtbot import QtBot

from tapeviz.document import Document
from tapeviz.document.pipeline import Stages
from tapeviz.errors import TapevizError
from tapeviz.panels.backprop.panel import BackpropPanel
from tapeviz.panels.backprop.walk_model import FORMULA, OP
from tapeviz.panels.look import THEMES
from tapeviz.recording.live import Recorder, Snippet
from tapeviz.trace.ids import CallId
from tapeviz.trace.model import Trace
from tests.document.sample import SamplePipeline

SOURCE = """\
import tensorflow as tf

w = tf.Variable(1.1)

@tf.function
def step(x):
    with tf.GradientTape() as tape:
        h = x
        for _ in tf.range(3):
            h = tf.tanh(h * w)
        loss = tf.square(h)
    return tape.gradient(loss, w)

step(tf.constant(0.5))
"""


@pytest.fixture
def document(qtbot: QtBot, recorder: Recorder) -> Document:
    live = recorder.record(Snippet(SOURCE, "snippet.py"))
    trace = live.wait()
    assert trace is not None
    document = Document(SamplePipeline(), Stages())
    document.open_trace(trace, live)
    qtbot.waitUntil(lambda: bool(document.scene.boxes) and not document.background.busy)
    return document


def _texts(panel: BackpropPanel, column: int) -> list[str]:
    model = panel.model
    return [model.index(row, column).data() for row in range(model.rowCount())]


def _loop_turns(document: Document) -> list[int]:
    return [frame.turn for frame in document.scene.frames if frame.count]


def test_a_click_puts_the_turns_in_the_place_of_the_loop(qtbot: QtBot, document: Document) -> None:
    panel = BackpropPanel(document, THEMES["light"])
    qtbot.addWidget(panel)
    assert _texts(panel, OP) == ["Square", "While"]
    assert _texts(panel, FORMULA) == ["2a·ḡ", "inside ›"]
    panel._click(panel.model.index(1, FORMULA))
    assert _texts(panel, FORMULA)[1] == "inside …"
    qtbot.waitUntil(lambda: document.insides.entering == 0 and not document.background.busy)
    assert _texts(panel, OP) == ["Square", "turn 3 of 3", "turn 2 of 3", "turn 1 of 3"]
    assert "bit for bit" in panel.note.text()
    assert document.step == 2


def test_walking_shows_the_turn_of_each_step(qtbot: QtBot, document: Document) -> None:
    panel = BackpropPanel(document, THEMES["light"])
    qtbot.addWidget(panel)
    document.stepping.go_to(2)
    panel.table.toggle_requested.emit(1)
    qtbot.waitUntil(lambda: document.insides.entering == 0 and not document.background.busy)
    seen = []
    shown: list[float] = []
    for number, step in enumerate(document.steps, start=1):
        document.stepping.go_to(number)
        qtbot.waitUntil(lambda: not document.background.busy)
        if step.turns:
            seen.append((_loop_turns(document), step.turns[0] + 1))
        if step.title == "Tanh":
            selected = document.selection.tensor
            gradient = document.links.gradient_of(selected)
            assert gradient == step.upstream[0]
            shown.append(float(document.trace.value(gradient)))
    assert seen
    assert all(shown == [turn] for shown, turn in seen)
    assert {turn for _, turn in seen} == {1, 2, 3}
    assert len(set(shown)) == 3


def test_what_cannot_be_entered_says_why(
    qtbot: QtBot, document: Document, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(call: CallId, index: int) -> Trace:
        raise TapevizError("a custom gradient is part of it")

    assert document.insides.kept is not None
    monkeypatch.setattr(document.insides.kept, "enter", refuse)
    assert document.insides.enter(document.steps[1])
    qtbot.waitUntil(lambda: document.insides.entering == 0)
    assert "a custom gradient is part of it" in document.trouble
    assert not document.insides.can_enter(document.steps[1])
    assert [step.title for step in document.steps] == ["Square", "While"]
