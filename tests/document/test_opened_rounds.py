"""Rounds that call a compiled function: each is drawn with its inside, and with its own values."""

from __future__ import annotations

import pytest
from pytestqt.qtbot import QtBot

from tapeviz.document import Document, picturing
from tapeviz.document.compiled import insides
from tapeviz.document.pipeline import Stages
from tapeviz.drawing import Arranged
from tapeviz.recording.live import Recorder, Snippet
from tests.document.sample import SamplePipeline

SOURCE = """\
import tensorflow as tf

w = tf.Variable(2.0)

@tf.function
def loss_of(x):
    h = tf.sin(w * x)
    return tf.square(h) + h + 1.0

for step in range(5):
    with tf.GradientTape() as tape:
        loss = loss_of(tf.constant(float(step)))
    w.assign_sub(0.1 * tape.gradient(loss, w))
"""


@pytest.fixture
def document(qtbot: QtBot, recorder: Recorder) -> Document:
    live = recorder.record(Snippet(SOURCE, "snippet.py"))
    trace = live.wait()
    document = Document(SamplePipeline(), Stages())
    document.open_trace(trace, live)
    qtbot.waitUntil(lambda: bool(document.scene.boxes) and not document.background.busy)
    return document


Seen = list[tuple[int, bool, list[str]]]


@pytest.fixture
def seen(document: Document) -> Seen:
    """Of each picture: the round, whether a gradient flows in it, and the values of its boxes."""
    pictures: Seen = []

    def note() -> None:
        scene = document.scene
        flows = any(wire.state == "gradient" for wire in scene.wires)
        pictures.append((document.round, flows, [box.value for box in scene.boxes]))

    document.scene_changed.connect(note)
    note()
    return pictures


def _settle(qtbot: QtBot, document: Document) -> None:
    qtbot.waitUntil(lambda: document.insides.awaited is None and not document.background.busy)


def test_another_round_comes_with_its_inside_in_one_change(
    qtbot: QtBot, document: Document, seen: Seen
) -> None:
    document.select_round(2)
    document.show_step(1)
    document.show_step(None)
    _settle(qtbot, document)
    assert len(seen[0][2]) > 5
    assert [(number, flows) for number, flows, _ in seen] == [(1, True), (2, True)]
    assert len(seen[1][2]) == len(seen[0][2])
    assert seen[1][2] != seen[0][2]


def test_of_rounds_chosen_quickly_the_last_comes_with_its_inside(
    qtbot: QtBot, document: Document, seen: Seen
) -> None:
    for number in (2, 3, 4):
        document.select_round(number)
    _settle(qtbot, document)
    document.select_round(3)
    _settle(qtbot, document)
    assert [(number, flows) for number, flows, _ in seen] == [(1, True), (4, True), (3, True)]
    assert {len(values) for _, _, values in seen} == {len(seen[0][2])}


def test_a_round_left_before_its_inside_came_can_be_chosen_again(
    qtbot: QtBot, document: Document, seen: Seen
) -> None:
    document.select_round(2)
    document.select_round(1)
    assert document.insides.awaited is None
    document.select_round(2)
    assert document.insides.awaited is not None
    _settle(qtbot, document)
    assert seen[-1][0] == 2
    assert len(seen[-1][2]) == len(seen[0][2])


def test_another_round_is_looked_into_after_a_call_that_was_asked_for_by_hand(
    qtbot: QtBot, document: Document, seen: Seen
) -> None:
    third = [op for op in document.trace.ops.values() if op.runs and op.within is None][2]
    document.insides.look(third)
    document.select_round(4)
    assert document.insides.awaited == third.ran_as
    _settle(qtbot, document)
    assert seen[-1][0] == 4
    assert len(seen[-1][2]) == len(seen[0][2])


def test_another_run_takes_the_place_of_a_round_that_waits(document: Document) -> None:
    shown = document.arranged
    document.select_round(2)
    document.run()
    assert document.arranged is shown
    assert not document.links.nodes  # ids are of the run before
    document.stop()


def test_a_round_whose_inside_cannot_be_had_is_shown_without_it(
    qtbot: QtBot, document: Document
) -> None:
    document.select_round(2)
    assert document.insides.awaited is not None
    document.insides.give_up()
    qtbot.waitUntil(lambda: not document.background.busy)
    titles = {box.title for box in document.scene.boxes}
    assert "loss" in titles
    assert len(document.scene.boxes) < 5


def test_an_earlier_round_of_another_place_comes_with_its_inside(
    qtbot: QtBot, recorder: Recorder
) -> None:
    text = (
        SOURCE
        + """\
    with tf.GradientTape() as tape:
        other = tf.exp(loss_of(tf.constant(step + 0.5)))
    tape.gradient(other, w)
"""
    )
    live = recorder.record(Snippet(text, "snippet.py"))
    trace = live.wait()
    document = Document(SamplePipeline(), Stages())
    document.open_trace(trace, live)
    qtbot.waitUntil(lambda: bool(document.scene.boxes) and not document.background.busy)
    lines = sorted({call.line for call in trace.calls})
    shown = document.current_call
    assert shown is not None
    other = next(call for call in trace.calls if call.line != shown.call.line)
    assert len(lines) == 2
    document.select_call(trace.calls[trace.calls.index(other) + 2].id)
    _settle(qtbot, document)
    assert "Sin" in {box.subtitle.partition(" ")[0] for box in document.scene.boxes}


def test_the_inside_of_a_first_picture_is_arranged_after_that_picture(
    qtbot: QtBot, document: Document, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[bool] = []

    def note(arranged: Arranged) -> bool:
        asked.append(document.arranged is arranged)
        return False

    monkeypatch.setattr(document.insides, "look_at_open", note)
    document.run()
    qtbot.waitUntil(lambda: bool(asked))
    assert asked[0]
    document.stop()


def test_a_comparison_stays_when_an_inside_comes(qtbot: QtBot, document: Document) -> None:
    trace = document.trace
    document.select_round(2)
    document.comparing.compare_trace(lambda look: trace, "other")
    _settle(qtbot, document)
    assert document.comparing.both is not None
    document.showing.take(trace)
    assert document.comparing.both is None


def test_of_a_long_run_a_round_is_shown_before_its_inside_comes(
    qtbot: QtBot, document: Document, seen: Seen, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(picturing, "QUICK", len(document.trace.ops) - 1)
    document.select_round(2)
    assert seen[-1][:2] == (2, True)
    assert len(seen[-1][2]) < len(seen[0][2])
    _settle(qtbot, document)
    assert len(seen[-1][2]) == len(seen[0][2])


def test_of_a_very_long_run_a_round_is_shown_without_its_inside(
    document: Document, seen: Seen, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(insides, "MOST_OPS_AROUND", len(document.trace.ops) - 1)
    document.select_round(2)
    assert document.insides.awaited is None
    assert seen[-1][:2] == (2, True)
    assert len(seen[-1][2]) < len(seen[0][2])
