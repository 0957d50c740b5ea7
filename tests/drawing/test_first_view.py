"""What stands open when a picture is first seen."""

from __future__ import annotations

from dataclasses import replace

from tapeviz.analysis.diagnose import diagnose
from tapeviz.drawing import Arranged, arrange, draw
from tapeviz.drawing.first_view import shown_scale
from tapeviz.graph.union import frames_in
from tapeviz.recording.live import Recorder, Snippet
from tapeviz.scene.model import Scene
from tapeviz.scene.sizes import LEGIBLE
from tapeviz.view import DEFAULT_VIEW

from ..python_versions import needs_columns
from ..recordings.conftest import read

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


def first_titles(recorder: Recorder, text: str) -> tuple[list[str], Scene]:
    """The titles of the boxes of a first view, and its scene."""
    live = recorder.record(Snippet(text))
    trace = live.wait(60)
    live.release()
    _, scene = draw(trace, diagnose(trace), replace(DEFAULT_VIEW, room=(503.0, 411.0)))
    return [box.title for box in scene.boxes], scene


CLASSIFIER = """\
import tensorflow as tf
model = tf.keras.Sequential([tf.keras.layers.Dense(n, activation="relu") for n in (16, 8, 3)])
bce = tf.keras.losses.BinaryCrossentropy(from_logits=True)
x, y = tf.random.normal([4, 6], seed=1), tf.ones([4, 3])
model(x)
"""


def test_a_loss_of_keras_is_one_box(recorder: Recorder) -> None:
    """Its fifteen ops would leave no room for the layers, which stay closed, too."""
    text = """\
with tf.GradientTape() as tape:
    loss = bce(y, model(x))
tape.gradient(loss, model.trainable_variables)
"""
    titles, _ = first_titles(recorder, CLASSIFIER + text)
    assert {"dense", "dense_1", "dense_2", "bce", "loss"} <= set(titles)
    assert len(titles) <= 12


@needs_columns
def test_a_call_of_a_function_with_hardly_more_on_its_line_is_one_box(recorder: Recorder) -> None:
    text = """\
with tf.GradientTape() as tape:
    logits = model(x)
    loss = tf.reduce_mean(
        tf.nn.sigmoid_cross_entropy_with_logits(tf.cast(y, tf.float32), logits + 0.0))
tape.gradient(loss, model.trainable_variables)
"""
    titles, _ = first_titles(recorder, CLASSIFIER + text)
    assert any(title.startswith("sigmoid") for title in titles), titles
    assert not {"Log1p", "GreaterEqual", "Where"} & set(titles)


@needs_columns
def test_a_cut_where_a_call_begins_does_not_open_it(recorder: Recorder) -> None:
    text = """\
with tf.GradientTape() as tape:
    p, q = model(x), model(-x)
loss = bce(y, p) + bce(y, q)
tape.gradient(loss, model.trainable_variables)
"""
    titles, scene = first_titles(recorder, CLASSIFIER + text)
    assert titles.count("bce") == 2
    assert "loss" in titles
    assert scene.marks, "the cut is in sight"


def test_many_variables_of_a_function_become_a_group(recorder: Recorder) -> None:
    text = """\
import tensorflow as tf
weights = [tf.Variable(tf.eye(4) * (k + 1.0)) for k in range(10)]
def step(x):
    y = x
    for w in weights:
        y = tf.tanh(y @ w) + x
    size = tf.add_n([tf.nn.l2_loss(w) for w in weights])
    return tf.reduce_mean(y) + 1e-4 * size
x = tf.ones([2, 4])
with tf.GradientTape() as tape:
    loss = step(x)
tape.gradient(loss, weights)
"""
    titles, _ = first_titles(recorder, text)
    assert "variables" in titles
    assert not any(title.startswith("weights[") for title in titles)


HAMILTONIAN = """\
import tensorflow as tf
hidden = [tf.keras.layers.Dense(32, activation="tanh") for _ in range(2)]
energy = tf.keras.Sequential([*hidden, tf.keras.layers.Dense(1)])
def dynamics(q, p):
    with tf.GradientTape() as inner:
        inner.watch([q, p])
        total = tf.reduce_sum(energy(tf.concat([q, p], 1)))
    dq, dp = inner.gradient(total, [q, p])
    return dp, -dq
def leapfrog(q, p, dt=0.1):
    _, dp = dynamics(q, p)
    p_half = p + 0.5 * dt * dp
    dq, _ = dynamics(q, p_half)
    q = q + dt * dq
    _, dp = dynamics(q, p_half)
    return q, p_half + 0.5 * dt * dp
q = p = tf.random.uniform([16, 1], seed=1)
with tf.GradientTape() as tape:
    for _ in range(5):
        q, p = leapfrog(q, p)
    loss = tf.reduce_mean((q - 0.5) ** 2 + (p - 0.2) ** 2)
tape.gradient(loss, energy.trainable_variables)
"""


def test_a_source_without_gradient_is_not_hidden_for_a_loop(recorder: Recorder) -> None:
    """The bias of the energy has none: only slopes of the energy are used."""
    _, scene = first_titles(recorder, HAMILTONIAN)
    assert [box.title for box in scene.boxes if box.ring == "cut"] == ["dense_2/bias"]


def test_a_group_that_has_room_is_open_though_a_larger_one_has_none(recorder: Recorder) -> None:
    """The loop has none. What the loss is made of has, in the room that the closed loop leaves."""
    text = HAMILTONIAN.replace("- 0.5)", "- tf.cos(start))").replace("- 0.2)", "- tf.sin(start))")
    live = recorder.record(Snippet(text.replace("q = p =", "q = p = start =")))
    trace = live.wait(60)
    live.release()
    room = (503.0, 411.0)
    arranged = arrange(trace, replace(DEFAULT_VIEW, room=room))
    titles = [node.title for _, node in arranged.graph.nodes(data="node")]
    assert {"Sub", "Pow"} <= set(titles)
    assert "for _ in range(5)" in titles
    assert shown_scale(arranged.layout, room) >= LEGIBLE - 1e-6


RECURRENT = """\
import tensorflow as tf
W, U = tf.Variable(tf.ones([4, 16]) * 0.1), tf.Variable(tf.eye(16) * 0.9)
b, V = tf.Variable(tf.zeros([16])), tf.Variable(tf.ones([16, 2]))
x, y = tf.random.normal([50, 8, 4], seed=1), tf.random.normal([8, 2], seed=2)
with tf.GradientTape() as tape:
    h = tf.zeros([8, 16])
    for t in range(50):
        h = tf.tanh(x[t] @ W + h @ U + b)
    loss = tf.reduce_mean((h @ V - y) ** 2)
tape.gradient(loss, [W, U, b, V])
"""


def test_a_loop_opens_in_the_room_of_pictures_of_arrays(recorder: Recorder) -> None:
    """With them the text would be 9 px high, or the loop closed."""
    live = recorder.record(Snippet(RECURRENT))
    trace = live.wait(60)
    live.release()
    for room, is_pictured in (((470.0, 411.0), False), ((800.0, 600.0), True)):
        arranged, scene = draw(trace, diagnose(trace), replace(DEFAULT_VIEW, room=room))
        assert [frame.title for frame in frames_in(arranged.graph)] == ["for t in range(50)"]
        assert shown_scale(arranged.layout, room) >= LEGIBLE - 1e-6
        assert any(box.picture for box in scene.boxes) == is_pictured


TOWERS = """\
import tensorflow as tf
def tower(x, w):
    h = tf.tanh(x @ w + 1.0)
    return tf.sqrt(tf.square(h) + 1e-3)
x, v, w = tf.ones([4, 3]), tf.Variable(tf.eye(3)), tf.Variable(2.0 * tf.eye(3))
with tf.GradientTape() as tape:
    a = tower(x, v)
    b = tower(x, w)
    for _ in range(9):
        b = b * 0.9 + a
    loss = tf.reduce_mean(tf.square(a - b))
grads = tape.gradient(loss, [v, w])
"""


def test_open_calls_have_frames_with_their_name_where_text_stays_legible(
    recorder: Recorder,
) -> None:
    live = recorder.record(Snippet(TOWERS))
    trace = live.wait(60)
    live.release()
    wide = replace(DEFAULT_VIEW, room=(1100.0, 700.0))
    arranged = arrange(trace, wide)
    frames = [frame.title for frame in frames_in(arranged.graph)]
    assert sorted(frames) == ["for _ in range(9)", "tower", "tower"]
    assert shown_scale(arranged.layout, wide.room) >= LEGIBLE - 1e-6
    path = frames_in(arranged.graph)[0].path
    closed = arrange(trace, replace(wide, folded=frozenset({path})), before=arranged)
    assert len(frames_in(closed.graph)) == 2
    narrow = arrange(trace, replace(DEFAULT_VIEW, room=(503.0, 411.0)))
    assert shown_scale(narrow.layout, (503.0, 411.0)) >= LEGIBLE - 1e-6


def test_boxes_in_an_open_layer_without_a_frame_tell_its_name() -> None:
    trace, view = read("gradient_penalty").trace, replace(DEFAULT_VIEW, room=(503.0, 411.0))
    arranged = arrange(trace, view)

    def subtitle(arranged: Arranged) -> str:
        nodes = (node for _, node in arranged.graph.nodes(data="node"))
        return next(node.subtitle for node in nodes if node.title == "dense_1")

    assert subtitle(arranged) == "in critic · 3 ops"
    assert "critic" not in [frame.title for frame in frames_in(arranged.graph)]
    opened = replace(view, unfolded=frozenset({"elsewhere"}))
    assert subtitle(arrange(trace, opened, before=arranged)) == "in critic · 3 ops"
