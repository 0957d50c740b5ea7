"""Compiled functions in; links, names and values of their inside out, as if their ops had run."""

from __future__ import annotations

import sys
from collections.abc import Callable

import numpy as np
import pytest

from tapeviz.trace import events as e
from tapeviz.trace.model import Trace
from tapeviz.trace.ops import Op
from tapeviz.trace.read import read

from .conftest import Recorded
from .forks import FILENAME

Record = Callable[..., Recorded]

NESTED = """
v = tf.Variable([0.5, -0.25])
@tf.function
def inner(z):
    return tf.sin(z) * v
@tf.function
def f(x):
    y = inner(x)
    if tf.reduce_sum(y) > 0.0:
        y = tf.exp(y)
    else:
        y = tf.cos(y)
    v.assign_add(y)
    return tf.reduce_max(v)
x = tf.constant([1.0, 2.0])
with tf.GradientTape() as tape:
    tape.watch(x)
    top = f(x)
v.assign([9.0, 9.0])
"""
TRAIN = """
v = tf.Variable([1.0, 2.0])
@tf.function
def train(x):
    with tf.GradientTape() as tape:
        scaled = tf.tanh(x * v)
        loss = tf.reduce_sum(scaled)
    slope = tape.gradient(loss, v)
    v.assign_sub(slope)
train(tf.constant([0.5, 0.25]))
"""


EAGER = "tf.config.run_functions_eagerly(True);"
"""Before a snippet's first line, which stays the first."""


def _trace(seen: Recorded) -> Trace:
    assert not seen.of(e.Noted)
    return read(seen.events, seen.blob, "", FILENAME)


def _forward(trace: Trace) -> list[Op]:
    """Ops that do something, in their order."""
    hidden = ("Const", "Identity", "StatelessIf", "VarHandleOp", "AssignVariableOp", "NoOp")
    ops = (op for op in trace.ops.values() if op.call is None and op.type not in hidden)
    return [op for op in ops if not op.body and not op.is_recorded_operation]


@pytest.mark.parametrize("text", [NESTED, TRAIN], ids=["nested", "train"])
def test_the_inside_is_what_runs_eagerly(record: Record, text: str) -> None:
    compiled = _trace(record(text))
    eager = _trace(record(EAGER + text.lstrip()))
    taken = {"Cos"}  # of the branch that was not chosen there is the op, and no value
    inside = [op for op in _forward(compiled) if op.type not in taken]
    expected = _forward(eager)
    assert [op.type for op in inside] == [op.type for op in expected]
    assert [op.line for op in inside] == [op.line for op in expected]
    for mine, theirs in zip(inside, expected, strict=True):
        for output, other in zip(mine.outputs, theirs.outputs, strict=True):
            np.testing.assert_array_equal(compiled.value(output), eager.value(other), mine.type)


def test_a_call_is_linked_to_its_graph(record: Record) -> None:
    trace = _trace(record(NESTED))
    inner, entry = (op for op in trace.ops.values() if op.is_recorded_operation)
    assert (inner.function, inner.within) == ("inner", entry.id)
    assert (entry.function, entry.line, entry.is_open) == ("f", 17, True)
    body = [trace.ops[op] for op in entry.body]
    assert all(op.within == entry.id for op in body)
    assert inner in body
    assert trace.ops[trace.producers[entry.outputs[0]]].type == "Max"
    first, second, third = next(iter(trace.variables.values())).versions
    assert trace.ops[second.op or entry.id].type == "AssignAddVariableOp"
    assert len(first.reads) == len(second.reads) == 1
    assert not third.reads


def test_names_inside(record: Record) -> None:
    trace = _trace(record(TRAIN))
    made = {tensor: trace.ops[op] for tensor, op in trace.producers.items()}
    named = {
        name: made[tensor]
        for tensor, (name, *_) in trace.names.items()
        if tensor in made and made[tensor].within
    }
    assert named["scaled"].type == "Tanh"
    assert named["loss"].type == "Sum"
    assert named["slope"].call is not None


def test_a_gradient_that_a_function_asks_for_has_its_value(record: Record) -> None:
    seen = record(TRAIN)
    trace = _trace(seen)
    (call,) = trace.calls
    (slope,) = call.results
    expected = record(EAGER + TRAIN.lstrip())
    (result,) = expected.one(e.CallEnded).results
    assert slope is not None
    np.testing.assert_array_equal(trace.value(slope), expected.value(result))


LARGE = """
rows, w = tf.Variable(tf.ones((500, 40))), tf.Variable(tf.ones((40, 40)))
@tf.function
def f(at):
    with tf.GradientTape() as tape:
        y = tf.reduce_sum(tf.matmul(tf.gather(rows, at), w) ** 2)
    given = tape.gradient(y, [rows, w])
    w.assign_sub(given[1])
    rows.scatter_sub(given[0])
f(tf.constant([3, 1, 3]))
"""


def test_large_gradients_of_a_function_can_be_had(record: Record) -> None:
    """Up to 10,000 elements travel; of IndexedSlices the process makes the dense sum."""
    seen = record(LARGE)
    trace = _trace(seen)
    (call,) = trace.calls
    of_rows, of_w = call.results
    assert trace.value(of_w) == pytest.approx(np.full((40, 40), 2 * 40 * 3.0))
    assert of_rows is not None
    expected = np.zeros((500, 40), np.float32)
    expected[1], expected[3] = 3200.0, 6400.0
    rows, numbers = trace.sums[of_rows]
    asked = {"id": int(rows), "numbers": int(numbers), "of": 500}
    about, (raw,) = seen.ask("tensor", **asked)
    assert about == {"dtype": "float32", "shape": [500, 40]}
    assert np.frombuffer(raw, np.float32).reshape(500, 40) == pytest.approx(expected)
    _, (part, _) = seen.ask("part", **asked, shape=[500, 40], index=[3], most=100, spread=10)
    assert np.frombuffer(part, np.float32) == pytest.approx(expected[3])


@pytest.mark.parametrize(
    "given",
    [
        "x + tf.random.normal([2])",
        "tf.numpy_function(np.sin, [x], tf.float32)",
        "tf.py_function(lambda one: log.append(1) or one * 2.0, [x], tf.float32)",
        "tf.cast(next(rows), tf.float32)",
    ],
)
def test_what_chance_python_or_an_iterator_gave_is_that_of_the_call(
    record: Record, given: str
) -> None:
    seen = record(
        f"""
        log = []
        rows = iter(tf.data.Dataset.range(6).batch(2))
        @tf.function
        def f(x):
            z = {given}
            z.set_shape([2])
            return tf.reduce_sum(tf.tanh(z)), z
        f(tf.constant([1.0, 2.0]))
        one, two = f(tf.constant([1.0, 2.0]))
        tf.print(log)
        """,
        wanted=("two",),
    )
    assert [(event.state, event.call) for event in seen.of(e.InsideComputed)] == [("equal", 2)]
    calls = [op.id for op in seen.ops() if op.type.startswith("__inference_f")]
    for number, op in enumerate(calls, 1):
        answer, _ = seen.ask("inside", op=op)
        inside = next(
            event
            for event in map(e.decode, answer["events"])
            if isinstance(event, e.InsideComputed)
        )
        assert {word for _, _, _, word in inside.values} <= {"exact", "beside"}
        assert (inside.state, inside.call) == ("equal", number)


def test_messages_name_no_file_of_ours(record: Record) -> None:
    seen = record(
        """
        @tf.function
        def f(x):
            return tf.gather(x, tf.cast(x[0], tf.int32))
        f(tf.constant([7.0, 1.0]))
        """,
    )
    message = seen.one(e.Raised).message
    assert "snippet.py" in message
    assert "recorder" not in message


@pytest.mark.skipif(sys.platform == "win32", reason="no limit of descriptors is set there")
def test_a_snippet_that_leaves_no_descriptor_free_is_recorded_without_insides(
    record: Record,
) -> None:
    seen = record(
        """
        import os
        import resource
        import tensorflow as tf

        doubled = tf.function(lambda x: x * 2.0)
        doubled(tf.constant(1.0))
        most = resource.getrlimit(resource.RLIMIT_NOFILE)
        resource.setrlimit(resource.RLIMIT_NOFILE, (200, most[1]))
        try:
            while True:
                os.dup(0)
        except OSError:
            pass
        """
    )
    assert seen.one(e.Ended).how == "finished"
    assert seen.ops()
    assert not seen.of(e.InsideComputed)


def test_autograph_finds_all_of_importlib(record: Record) -> None:
    """A TensorFlow that loads its code by another function of importlib runs as ever."""
    seen = record(
        """
        from tensorflow.python.autograph.pyct import loader
        print(loader.importlib.machinery.__name__, loader.importlib.util.find_spec("os").name)
        """
    )
    assert seen.out == "importlib.machinery os\n"
