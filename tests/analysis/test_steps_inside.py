"""Backward passes through the inside of compiled functions, loops and branches, step by step."""

from __future__ import annotations

import numpy as np
import pytest

from tapeviz.analysis.backward.steps import WalkStep
from tapeviz.analysis.diagnose import diagnose
from tapeviz.analysis.requests import inside
from tapeviz.analysis.requests.inside import has_inside
from tapeviz.drawing import draw
from tapeviz.errors import TapevizError
from tapeviz.recording.kept import KeptRecording
from tapeviz.recording.live import LiveRecording, Recorder, Snippet
from tapeviz.scene.walk_words import gradients_words, inner_words
from tapeviz.trace.calls import Call
from tapeviz.trace.model import Trace
from tapeviz.view import View

LOOP = """\
w = tf.Variable(1.1)
b = tf.Variable(0.1)

@tf.function
def step(x):
    with tf.GradientTape() as tape:
        h = x
        for _ in tf.range(3):
            h = tf.tanh(h * w) + b
        loss = tf.square(h)
    return tape.gradient(loss, [w, b])

for i in range(2):
    step(tf.constant(0.5 + i))
"""
OUTER = """\
w = tf.Variable(1.3)
u = tf.Variable([0.5, -0.2])

@tf.function
def cell(h, k):
    if k > 1:
        return tf.tanh(h * w)
    return h + u * 2.0

@tf.function
def run(x):
    h = x
    for k in tf.range(4):
        h = cell(h, k) * 0.9
        while tf.reduce_max(h) > 1.5:
            h = h / 2.0
    return h

with tf.GradientTape() as tape:
    z = tf.reduce_sum(run(tf.constant([1.0, 2.0])))
tape.gradient(z, [w, u])
"""
BRANCH = """\
w = tf.Variable([1.3, 2.0])

@tf.function
def step(x):
    with tf.GradientTape() as tape:
        if tf.reduce_sum(x) > 0.0:
            y = tf.exp(x * w)
        else:
            y = x - w
        loss = tf.reduce_sum(y)
    return tape.gradient(loss, w)

step(tf.constant([1.0, 2.0]))
step(tf.constant([-1.0, 0.5]))
"""
TWO_RESULTS = """\
w, gain = tf.Variable([1.0, -2.0, 3.0]), tf.Variable(0.5)

@tf.function
def step(x):
    with tf.GradientTape() as tape:
        h = w * x
        a, b = h, h
        if tf.reduce_sum(h) > 0.0:
            a, b = tf.nn.relu(h), tf.sin(h) * gain
        loss = tf.reduce_sum(a**2) + 3.0 * tf.reduce_sum(b)
    return tape.gradient(loss, [w, gain])

step(tf.constant([1.0, 0.5, 2.0]))
"""
LSTM = """\
tf.keras.utils.set_random_seed(3)
model = tf.keras.Sequential([tf.keras.layers.LSTM(4), tf.keras.layers.Dense(1)])
x = tf.random.normal((5, 6, 3))
model.build((None, 6, 3))
opt = tf.keras.optimizers.SGD(0.1)

@tf.function
def step(x):
    with tf.GradientTape() as tape:
        loss = tf.reduce_mean(tf.square(model(x)))
    grads = tape.gradient(loss, model.trainable_variables)
    opt.apply_gradients(zip(grads, model.trainable_variables))
    return loss

step(x)
"""
CALLS = """\
w = tf.Variable(1.3)

@tf.function
def inner(x):
    h = x
    for _ in tf.range(2):
        h = tf.tanh(h * w)
    return h

@tf.function
def step(x):
    with tf.GradientTape() as tape:
        loss = (inner(x) + inner(x * 0.5)) ** 2
    return tape.gradient(loss, w)

step(tf.constant(1.0))
"""
SECOND = """\
w = tf.Variable([0.5, 0.2])

@tf.function
def step(x):
    with tf.GradientTape() as outer:
        with tf.GradientTape() as tape:
            loss = tf.reduce_sum(tf.cond(x[0] > 0.5, lambda: x * w * w, lambda: w + x))
        slope = tape.gradient(loss, w)
        steepness = tf.reduce_sum(slope * slope)
    return outer.gradient(steepness, w)

step(tf.constant([0.7, -0.4]))
"""
CUSTOM = """\
@tf.custom_gradient
def clipped(x):
    def backward(g):
        print("traced")
        return tf.clip_by_value(g * x, -1.0, 1.0)
    return tf.square(x), backward

w = tf.Variable(3.0)

@tf.function
def run():
    h = w * 1.0
    for _ in tf.range(2):
        h = clipped(h)
    return h

with tf.GradientTape() as tape:
    y = run()
tape.gradient(y, w)
"""
SILU = """\
w = tf.Variable([0.5, -1.5])

@tf.function
def step(x):
    with tf.GradientTape() as tape:
        h = x
        for _ in tf.range(3):
            h = tf.nn.silu(h * w)
        loss = tf.reduce_sum(h)
    return tape.gradient(loss, w)

step(tf.constant([1.0, 2.0]))
"""
OWN = """\
w, v = tf.Variable(3.0), tf.Variable(0.5)

@tf.custom_gradient
def own(x):
    def backward(g):
        {}
        return g * v
    return tf.square(x), backward

@tf.function
def run():
    return own(w * 1.0) * 2.0

with tf.GradientTape() as tape:
    y = run()
tape.gradient(y, w)
"""


def _live(recorder: Recorder, source: str) -> tuple[LiveRecording, Trace]:
    live = recorder.record(Snippet("import tensorflow as tf\n" + source, "snippet.py"))
    trace = live.wait()
    assert trace is not None
    return live, trace


def _enter(live: LiveRecording, trace: Trace) -> tuple[Trace, Call]:
    """Enter the last step of the last gradient call that has an inside."""
    call = _asked(trace)
    at = [s.index for s in call.steps if s.index not in call.inner and has_inside(trace, s.op)]
    trace = live.enter(call.id, at[-1])
    return trace, _asked(trace)


def _asked(trace: Trace) -> Call:
    """The last gradient call that ran: TensorFlow traces a function that makes variables twice."""
    return [call for call in trace.calls if call.has_run][-1]


def _rows(trace: Trace) -> tuple[WalkStep, ...]:
    return next(call.steps for call in diagnose(trace).calls if call.call == _asked(trace))


def _value(trace: Trace, rows: WalkStep) -> float:
    value = trace.value(rows.upstream[0])
    assert value is not None
    return float(value)


def test_a_loop_is_walked_turn_by_turn(recorder: Recorder) -> None:
    live, trace = _live(recorder, LOOP)
    assert [row.title for row in _rows(trace)] == ["Square", "While"]
    trace, call = _enter(live, trace)
    rows = _rows(trace)
    turn = ["Add", "Tanh", "Mul"]
    assert [row.title for row in rows if row.kind == "inner"] == 3 * turn
    assert [row.turns for row in rows if row.title == "Tanh"] == [(2,), (1,), (0,)]
    h, slopes = 1.5, []
    for _ in range(3):
        h = float(np.tanh(h * 1.1)) + 0.1
        slopes.append(1.1 * (1 - (h - 0.1) ** 2))
    given = [2 * h, 2 * h * slopes[2], 2 * h * slopes[2] * slopes[1]]
    received = [_value(trace, row) for row in rows if row.title == "Tanh"]
    assert np.allclose(received, given, rtol=1e-5)
    assert [row.title for row in rows if row.kind == "sum"] == ["Σ at b", "Σ at w"]
    assert "bit for bit" in inner_words(trace, call)
    (turns,) = diagnose(trace).calls[-1].backward_pass().turns
    assert turns.count == 3


def test_a_function_under_an_eager_tape_is_walked(recorder: Recorder) -> None:
    live, trace = _live(recorder, OUTER)
    assert [row.title for row in _rows(trace)] == ["Sum", "run"]
    trace, call = _enter(live, trace)
    rows = [row for row in _rows(trace) if row.kind == "inner"]
    assert [row.turns for row in rows if row.title == "Tanh"] == [(3,), (2,)]
    assert [row.turns for row in rows if row.title == "Add"] == [(1,), (0,)]
    assert "bit for bit" in inner_words(trace, call)


def test_the_branch_that_ran_is_walked(recorder: Recorder) -> None:
    live, trace = _live(recorder, BRANCH)
    trace, _ = _enter(live, trace)
    assert [row.title for row in _rows(trace) if row.kind == "inner"] == ["Sub"]
    first = trace.functions[max(trace.functions)].calls[0]
    ran_as = trace.ops[first].ran_as
    assert ran_as is not None
    trace = live.look_into(ran_as)
    assert [row.title for row in _rows(trace)] == ["Sum", "Identity", "If"]
    trace, _ = _enter(live, trace)
    assert [row.title for row in _rows(trace) if row.kind == "inner"] == ["Exp", "Mul"]


def test_a_branch_with_two_results_is_walked_from_both(recorder: Recorder) -> None:
    live, trace = _live(recorder, TWO_RESULTS)
    h = next(tensor for tensor, names in trace.names.items() if "h" in names)
    (whole,) = [row for row in _rows(trace) if row.title == "If"]
    assert h in whole.inputs
    _, scene = draw(trace, diagnose(trace), View())
    words = {box.node: f"{box.title}: {box.subtitle}".split(" ·")[0] for box in scene.boxes}
    lit = [wire.edge for wire in scene.wires if wire.state == "gradient"]
    from_to = {(words[source], words[target]) for source, target, _ in lit}
    assert {("a: Relu", "a: If"), ("Sin: 3", "b: Mul"), ("b: Mul", "b: If")} <= from_to
    assert not any("Identity" in text for text in words.values())
    trace, call = _enter(live, trace)
    assert {row.title for row in _rows(trace) if row.kind == "inner"} == {"Relu", "Sin", "Mul"}
    assert "bit for bit" in inner_words(trace, call)


def test_a_recurrent_layer_in_a_compiled_step_is_walked(recorder: Recorder) -> None:
    live, trace = _live(recorder, LSTM)
    trace, call = _enter(live, trace)
    cells = [row for row in _rows(trace) if row.title == "BiasAdd" and row.kind == "inner"]
    assert [row.turns for row in cells] == [(turn,) for turn in range(5, -1, -1)]
    stacked = next(row for row in _rows(trace) if row.title == "TensorListStack")
    assert gradients_words(trace, stacked.downstream[:1], trace.value) == "list"
    assert "bit for bit" in inner_words(trace, call)


def test_each_call_of_a_function_in_a_compiled_step_is_walked(recorder: Recorder) -> None:
    live, trace = _live(recorder, CALLS)
    assert [row.title for row in _rows(trace)] == ["Pow", "Add", "inner", "inner", "Σ at w"]
    for _ in range(2):
        trace, call = _enter(live, trace)
    rows = [row for row in _rows(trace) if row.title == "Tanh"]
    assert [row.turns for row in rows] == [(1,), (0,), (1,), (0,)]
    assert "bit for bit" in inner_words(trace, call)


def test_steps_that_are_not_all_of_the_gradient_are_not_shown(recorder: Recorder) -> None:
    live, trace = _live(recorder, SECOND)
    before = [row.title for row in _rows(trace)]
    call, refused = _asked(trace), 0
    for at in [step.index for step in call.steps if has_inside(trace, step.op)]:
        try:
            trace = live.enter(call.id, at)
        except TapevizError:
            refused += 1
    assert refused
    assert [row.title for row in _rows(trace)] == before


def test_more_turns_than_can_be_shown_are_not_asked_for(
    recorder: Recorder, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(inside, "MOST_STEPS", 1_000)
    live, trace = _live(recorder, LOOP.replace("tf.range(3)", "tf.range(500)"))
    with pytest.raises(TapevizError, match="more than 1,000"):
        _enter(live, trace)


@pytest.mark.parametrize(
    ("source", "titles"), [(CUSTOM, 2 * ["IdentityN"]), (SILU, 3 * ["IdentityN"])]
)
def test_the_function_of_a_custom_gradient_is_called(
    recorder: Recorder, source: str, titles: list[str]
) -> None:
    live, trace = _live(recorder, source)
    trace, call = _enter(live, trace)
    own = [row.title for row in _rows(trace) if row.kind == "inner" and "Identity" in row.title]
    assert own == titles
    assert "bit for bit" in inner_words(trace, call)
    printed = "".join(text for _, text in trace.printed)
    assert printed.count("traced") == source.count("traced")


def test_a_custom_gradient_may_read_a_variable_and_do_nothing_else(recorder: Recorder) -> None:
    live, trace = _live(recorder, OWN.format("pass"))
    trace, call = _enter(live, trace)
    assert "bit for bit" in inner_words(trace, call)
    live, trace = _live(recorder, OWN.format("tf.print(g)"))
    with pytest.raises(TapevizError, match="does more than compute"):
        _enter(live, trace)


def test_a_file_keeps_the_steps_inside(recorder: Recorder) -> None:
    live, trace = _live(recorder, LOOP)
    trace, _ = _enter(live, trace)
    kept = KeptRecording(live.recording()).wait()
    assert [row.title for row in _rows(kept)] == [row.title for row in _rows(trace)]
    with pytest.raises(TapevizError, match="run the snippet again"):
        KeptRecording(live.recording()).enter(trace.calls[-1].id, 1)
