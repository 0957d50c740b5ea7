"""Rounds that call a compiled function: each is drawn with its inside, and with its own values."""

from __future__ import annotations

import pytest
from pytestqt.qtbot import QtBot

from tapeviz.app.processes.live import live_stages
from tapeviz.document import Document
from tapeviz.recording import Recorder, Snippet
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
    document = Document(SamplePipeline(), live_stages())
    document.open_trace(trace, live)
    qtbot.waitUntil(lambda: bool(document.scene.boxes) and not document.background.busy)
    return document


def test_another_round_comes_with_its_inside_in_one_change(
    qtbot: QtBot, document: Document
) -> None:
    seen: list[dict[str, str]] = []

    def note() -> None:
        seen.append({box.node: box.value for box in document.scene.boxes})

    document.scene_changed.connect(note)
    note()
    assert len(seen[0]) > 5
    document.select_round(2)
    qtbot.waitUntil(lambda: document.insides.awaited is None and not document.background.busy)
    assert document.round == 2
    assert {len(values) for values in seen} == {len(seen[0])}
    assert seen[-1] != seen[0]


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
