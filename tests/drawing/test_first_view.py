"""What stands open when a picture is first seen."""

from __future__ import annotations

from dataclasses import replace

from tapeviz.drawing import arrange
from tapeviz.drawing.first_view import shown_scale
from tapeviz.graph.union import frames_in
from tapeviz.recording import Recorder, Snippet
from tapeviz.scene.sizes import LEGIBLE
from tapeviz.view import DEFAULT_VIEW

ATTENTION = """\
import tensorflow as tf
def weights(count):
    return [tf.Variable(tf.random.normal([8, 8], seed=k) * 0.2) for k in range(count)]
table = tf.Variable(tf.random.normal([12, 8]))
enc, dec, att, out = weights(4), weights(4), tf.Variable(tf.eye(8)), tf.Variable(tf.ones([8, 12]))
def cell(w, x, h):
    z = tf.sigmoid(x @ w[0] + h @ w[1])
    c = tf.tanh(x @ w[2] + (z * h) @ w[3])
    return (1.0 - z) * h + z * c
source, goal = tf.zeros([4, 7], tf.int32), tf.ones([4, 6], tf.int32)
with tf.GradientTape() as tape:
    h, memory = tf.zeros([4, 8]), []
    for t in range(7):
        h = cell(enc, tf.gather(table, source[:, t]), h)
        memory.append(h)
    memory = tf.stack(memory, axis=1)
    loss, token = 0.0, goal[:, 0]
    for t in range(1, 6):
        score = tf.nn.softmax(tf.einsum("bd,btd->bt", h @ att, memory))
        context = tf.einsum("bt,btd->bd", score, memory)
        h = cell(dec, tf.gather(table, token) + context, h)
        logits = h @ out
        loss += tf.reduce_mean(tf.square(logits - tf.one_hot(goal[:, t], 12)))
        token = tf.argmax(logits, -1, output_type=tf.int32)
grads = tape.gradient(loss, [table, *enc, *dec, att, out])
"""


def test_a_loop_opens_in_the_room_of_sources_that_are_gathered(recorder: Recorder) -> None:
    """Ten weights apart leave room for seven boxes, with both loops closed."""
    live = recorder.record(Snippet(ATTENTION))
    trace = live.wait(60)
    live.release()
    room = (503.0, 411.0)
    arranged = arrange(trace, replace(DEFAULT_VIEW, room=room))
    assert [frame.title for frame in frames_in(arranged.graph)] == ["for t in range(1, 6)"]
    assert shown_scale(arranged.layout, room) >= LEGIBLE - 1e-6
    titles = {node.title for _, node in arranged.graph.nodes(data="node")}
    assert {"table", "variables", "loss"} <= titles
