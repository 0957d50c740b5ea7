"""A cut is in sight wherever the gradient ends, and no way that would not let it pass is drawn."""

from __future__ import annotations

from dataclasses import replace

from tapeviz.analysis.diagnose import diagnose
from tapeviz.drawing import draw
from tapeviz.recording.live import Recorder, Snippet
from tapeviz.scene.model import Scene
from tapeviz.view import DEFAULT_VIEW

FOLDED = replace(DEFAULT_VIEW, folded=frozenset(("first", "second", "copied")))
FUNCTIONS = """\
import numpy as np
import tensorflow as tf
w = tf.Variable(2.0)
def first(v):
    a = v * v
    b = tf.exp(a) + v
    return tf.sin(b) * a
def second(v):
    a = v + 1.0
    b = tf.exp(a) * v
    return tf.cos(b) * a
def copied(values):
    total = tf.add_n([tf.constant(value.numpy()) for value in values])
    b = tf.exp(total) * total
    return tf.cos(b) * b
"""


def drawn(recorder: Recorder, text: str) -> Scene:
    live = recorder.record(Snippet(text))
    trace = live.wait(60)
    live.release()
    return draw(trace, diagnose(trace), FOLDED)[1]


def ends(scene: Scene, state: str) -> list[tuple[str, str]]:
    titles = {box.node: box.title for box in scene.boxes}
    wires = (wire.edge for wire in scene.wires if wire.state == state)
    return [(titles[start], titles[end]) for start, end, _ in wires]


def test_a_value_that_comes_back_to_a_folded_group_is_cut_there(recorder: Recorder) -> None:
    text = """\
with tf.GradientTape() as tape:
    a = first(w)
    fake = tf.constant(a.numpy())
    loss = tf.square(second(fake))
tape.gradient(loss, w)
"""
    scene = drawn(recorder, FUNCTIONS + text)
    (cut,) = ends(scene, "cut")
    assert cut[1].startswith("fake")
    assert len(scene.marks) == 1


def test_all_values_that_come_back_are_cut(recorder: Recorder) -> None:
    text = """\
with tf.GradientTape() as tape:
    made = [w * (k + 0.5) for k in range(10)]
    loss = tf.square(copied(made))
tape.gradient(loss, w)
"""
    cut = ends(drawn(recorder, FUNCTIONS + text), "cut")
    assert not [start for start, _ in cut if start == "w"]
    assert len({end for _, end in cut}) == 7  # six constants, and the function with the others


def test_a_number_of_tensorflows_own_did_not_come_back(recorder: Recorder) -> None:
    """``l2_normalize`` has an epsilon, on the line on which a value left and came back."""
    text = """\
weights = tf.Variable([1.0, 2.0])
with tf.GradientTape() as tape:
    y = weights * weights
    z = tf.math.l2_normalize(tf.constant(y.numpy()))
tape.gradient(z, weights)
"""
    (cut,) = ends(drawn(recorder, FUNCTIONS + text), "cut")
    assert cut == ("y", "[1,4]")


def test_a_way_with_more_cuts_than_another_is_not_drawn(recorder: Recorder) -> None:
    text = """\
weights = tf.Variable([[1.0, 2.0], [0.5, -1.0]])
state = np.ones((1, 2), "float32")
for step in range(3):
    action = int(tf.argmax((state @ weights)[0]))
    state = (state + action).astype("float32")
with tf.GradientTape() as tape:
    scores = tf.constant(state) @ weights
    loss = tf.reduce_sum(tf.cast(tf.argmax(scores, axis=1), tf.float32) * 2.0)
tape.gradient(loss, weights)
"""
    scene = drawn(recorder, FUNCTIONS + text)
    assert ends(scene, "cut") == [("scores", "ArgMax")]
    assert len(scene.boxes) == 8


def test_a_value_that_leaves_and_comes_back_in_a_turn_is_drawn_in_that_turn(
    recorder: Recorder,
) -> None:
    text = """\
with tf.GradientTape() as tape:
    total = 0.0
    for i in range(4):
        p = float(tf.sin(w * (i + 1.0)))
        total += tf.square(p)
tape.gradient(total, w)
"""
    scene = drawn(recorder, FUNCTIONS + text)
    assert [start for start, _ in ends(scene, "cut")] == ["Sin"]
    assert len(scene.marks) == 1
    (loop,) = scene.frames
    boxes = {box.title: box.rect for box in scene.boxes}
    (back,) = (end for _, end in ends(scene, "cut"))
    assert loop.rect.top < boxes[back].top < boxes[back].bottom < loop.rect.bottom
    assert "0.0" in boxes


def test_a_value_that_comes_back_for_the_next_turn_is_drawn_in_its_own(recorder: Recorder) -> None:
    text = """\
with tf.GradientTape() as tape:
    state, states = tf.ones([2]), []
    for i in range(7):
        state = tf.constant(np.clip((tf.sin(state) * w).numpy(), -1.0, 1.0))
        states.append(state)
    loss = tf.reduce_sum(tf.stack(states))
tape.gradient(loss, w)
"""
    scene = drawn(recorder, FUNCTIONS + text)
    assert [(start, end.partition(" ")[0]) for start, end in ends(scene, "cut")] == [
        ("Mul", "state")
    ]
    assert len(scene.marks) == 1


def test_values_that_leave_in_a_loop_and_come_back_in_another_are_cut_once(
    recorder: Recorder,
) -> None:
    text = """\
with tf.GradientTape() as tape:
    parts = [tf.sin(w * (i + 0.3)).numpy() for i in range(8)]
    loss = tf.add_n([tf.square(part) for part in parts])
tape.gradient(loss, w)
"""
    scene = drawn(recorder, FUNCTIONS + text)
    assert len(ends(scene, "cut")) == len(scene.marks) == 1
    assert len(scene.frames) == 2
