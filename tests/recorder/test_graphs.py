"""Compiled functions, graph mode, strategies and threads."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from tapeviz.trace import events as e

from .conftest import Recorded

Record = Callable[..., Recorded]

FUNCTION = """
v = tf.Variable([1.5, 2.5])
@tf.function
def f(x, n):
    total = x * v
    if tf.reduce_sum(total) > 0.0:
        total = total + 1.0
    for i in tf.range(n):
        total = tf.sin(total)
    return total
with tf.GradientTape() as tape:
    y = f(v, tf.constant(3))
g = tape.gradient(y, v)
"""


def test_a_function_that_the_snippet_runs_eagerly(record: Record) -> None:
    seen = record("tf.config.run_functions_eagerly(True);" + FUNCTION.lstrip())
    assert seen.events[0] == e.Begin(
        e.FORMAT_VERSION,
        seen.one(e.Begin).tensorflow,
        seen.one(e.Begin).python,
        seen.one(e.Begin).executable,
        seed=seen.one(e.Begin).seed,
    )
    assert [seen.line(op.site) for op in seen.ops("Sin")] == [8, 8, 8]
    assert not any(op.graph for op in seen.ops())
    assert seen.bound("total")


def test_a_compiled_function_is_one_op_with_its_graph(record: Record) -> None:
    seen = record(FUNCTION, wanted=("g",))
    entry = seen.one(e.OperationRecorded)
    assert (entry.function, entry.line, seen.line(entry.site)) == ("f", 3, 11)
    run = next(op for op in seen.ops() if op.type.startswith("__forward_f"))
    assert (run.graph, run.id) == (0, entry.first)
    assert entry.outputs == seen.bound("y")
    inside = [op for op in seen.ops() if op.graph]
    lines = {op.type: [frame[:2] for frame in seen.frames(op.site)] for op in inside}
    assert lines["Mul"] == [("f", 4), ("<module>", 11)]
    assert lines["Greater"] == [("f", 5), ("<module>", 11)]
    assert lines["Sin"] == [("f", 8), ("<module>", 11)]
    assert all(tensor < 0 or tensor in seen.bound("v") for op in inside for tensor in op.inputs)
    (step,) = [event for event in seen.of(e.StepRan) if event.op == entry.id]
    assert step.downstream[0] > 0
    result = seen.one(e.CallEnded).results[0]
    assert seen.value(result).tobytes() == seen.values["g"]


def test_a_tape_inside_a_compiled_function(record: Record) -> None:
    seen = record(
        """
        v = tf.Variable([1.0, 2.0])
        @tf.function
        def train(x):
            with tf.GradientTape() as t:
                loss = tf.reduce_sum(tf.sin(x * v))
            return t.gradient(loss, [v, x])
        train(tf.constant([3.0, 4.0]))
        """,
    )
    call = seen.one(e.CallBegan)
    assert call.direct
    assert seen.line(call.site) == 6
    assert call.targets[0].tensor < 0
    assert call.sources[0].tensor == seen.bound("v")[0]
    types = {op.id: op.type for op in seen.ops()}
    assert [types[step.op] for step in seen.of(e.StepRan)] == [
        "Sum",
        "Sin",
        "Mul",
        "ReadVariableOp",
    ]
    first, second = seen.one(e.CallEnded).results
    assert first < 0
    assert second == 0


def test_steps_through_a_vectorized_map_in_a_compiled_function_know_their_ops(
    record: Record,
) -> None:
    """The tape gets the attributes of the ops that it makes before their events are written."""
    seen = record(
        """
        v = tf.Variable([1.0, 2.0])
        @tf.function
        def train(x):
            with tf.GradientTape() as t:
                rows = tf.vectorized_map(lambda row: tf.reduce_sum(row * v * row), x)
                loss = tf.reduce_sum(rows)
            return t.gradient(loss, v)
        train(tf.constant([[3.0, 4.0], [5.0, 6.0]]))
        """,
    )
    types = {op.id: op.type for op in seen.ops()}
    steps = [types.get(step.op) for step in seen.of(e.StepRan)]
    assert None not in steps
    assert "Mul" in steps


def test_graph_mode_with_values_from_the_session(record: Record) -> None:
    seen = record(
        """
        tf.compat.v1.disable_eager_execution()
        @tf.custom_gradient
        def doubled(x):
            def grad(up):
                return 2.0 * up
            return tf.identity(x), grad
        a = tf.constant([[1.0, 2.0], [3.0, 4.0]])
        y = tf.reduce_sum(doubled(a))
        grads = tf.gradients(y, [a, tf.constant(1.0)])
        with tf.compat.v1.Session() as session:
            value, both = session.run([y, {"g": grads[0]}])
            again = a.eval(session=session)
        """
    )
    call = seen.one(e.CallBegan)
    assert (call.method, call.tape, call.direct) == ("tf.gradients", 0, True)
    assert seen.line(call.site) == 9
    assert call.targets[0].tensor == seen.bound("y")[0] < 0
    result = seen.one(e.CallEnded).results
    assert result[1] == 0
    fetched = dict(pair for event in seen.of(e.SessionFetched) for pair in event.pairs)
    np.testing.assert_array_equal(seen.value(fetched[result[0]]), [[2, 2], [2, 2]])
    assert seen.value(fetched[seen.bound("y")[0]]) == 10.0
    np.testing.assert_array_equal(seen.value(fetched[seen.bound("a")[0]]), [[1, 2], [3, 4]])
    assert [seen.line(event.site) for event in seen.of(e.SessionFetched)] == [11, 12]
    entry = seen.one(e.OperationRecorded)
    assert (entry.function, entry.line) == ("doubled", 3)
    walked = [step.op for step in seen.of(e.StepRan)]
    assert entry.id in walked
    sums = next(op for op in seen.ops("Sum"))
    assert walked[0] == sums.id
    assert sums.graph == 1
    backward = [op for op in seen.ops() if op.call]
    assert backward
    assert all(op.graph == 1 for op in backward)
    # A constant of the graph has its value without a session.
    np.testing.assert_array_equal(seen.value(seen.bound("a")[0]), [[1, 2], [3, 4]])


def test_forward_mode(record: Record) -> None:
    seen = record(
        """
        v = tf.Variable([1.0, 2.0])
        with tf.autodiff.ForwardAccumulator(v, tf.constant([1.0, 0.0])) as acc:
            y = v ** 2
        j = acc.jvp(y)
        """
    )
    opened = seen.one(e.TapeOpened)
    assert opened.kind == "jvp"
    assert [event.why for event in seen.of(e.TapeTurned)] == ["enter", "exit"]
    call = seen.one(e.CallBegan)
    assert (call.method, call.tape) == ("jvp", opened.id)
    assert [source.tensor for source in call.sources] == seen.bound("y")
    assert [target.tensor for target in call.targets] == seen.bound("v")
    np.testing.assert_array_equal(seen.value(seen.one(e.CallEnded).results[0]), [2.0, 0.0])


def test_ops_of_other_threads(record: Record) -> None:
    seen = record(
        """
        import threading
        def work():
            with tf.GradientTape() as t:
                x = tf.constant(2.0)
                t.watch(x)
                y = tf.exp(x)
            t.gradient(y, x)
        threads = [threading.Thread(target=work) for _ in range(3)]
        for one in threads: one.start()
        for one in threads: one.join()
        z = tf.exp(1.0)
        """
    )
    found = seen.ops("Exp")
    assert sorted(op.thread for op in found) == [0, 1, 2, 3]
    assert {seen.line(op.site) for op in found if op.thread} == {6}
    assert len([event for event in seen.of(e.CallEnded) if event.results[0]]) == 3
    turned = [event.thread for event in seen.of(e.TapeTurned) if event.why == "enter"]
    assert sorted(turned) == [1, 2, 3]


def test_replicas_of_a_strategy(record: Record) -> None:
    seen = record(
        """
        cpu = tf.config.list_physical_devices("CPU")[0]
        tf.config.set_logical_device_configuration(
            cpu, [tf.config.LogicalDeviceConfiguration(), tf.config.LogicalDeviceConfiguration()])
        strategy = tf.distribute.MirroredStrategy(["CPU:0", "CPU:1"])
        with strategy.scope():
            v = tf.Variable(3.0)
            mean = tf.Variable(0.0, aggregation=tf.VariableAggregation.MEAN)
        def step():
            with tf.GradientTape() as t:
                loss = tf.sin(v * 2.0)
            mean.assign(loss)
            return t.gradient(loss, v)
        out = strategy.run(step)
        mean.assign(2.0)
        """
    )
    assert not seen.of(e.Raised)
    assert len(seen.ops("Sin")) == 2
    assert {seen.line(op.site) for op in seen.ops("Sin")} == {10}
    assert [seen.line(op.site) for op in seen.ops("AssignVariableOp")][-4:] == [11, 11, 14, 14]
    assert not seen.of(e.Noted)
    assert not [
        op for op in seen.ops("ReadVariableOp") if seen.line(op.site) == 6 and not op.paused
    ]
    made = {event.id for event in seen.of(e.VariableMade)}
    sources = {event.sources[0].tensor for event in seen.of(e.CallBegan)}
    assert len(sources) == 2
    assert sources <= made
    assert seen.bound("v")[0] in sources
    assert len(seen.of(e.CallEnded)) == 2


def test_layers_are_scopes(record: Record) -> None:
    seen = record(
        """
        import keras
        model = keras.Sequential([keras.layers.Dense(3, name="first"), keras.layers.Dense(1)])
        x = tf.ones([2, 4])
        with tf.GradientTape() as t:
            y = model(x)
        g = t.gradient(y, model.trainable_variables)
        """
    )
    scopes = [op.scope for op in seen.ops("MatMul") if not op.call]
    assert "first" in scopes[0].split("/")
    assert len(seen.one(e.CallBegan).sources) == 4
    paths = {event.id: event.path or event.name for event in seen.of(e.VariableMade)}
    assert [paths[source.tensor] for source in seen.one(e.CallBegan).sources] == [
        source.name.removesuffix(":0") for source in seen.one(e.CallBegan).sources
    ]
    reads = [op for op in seen.ops("ReadVariableOp") if not op.call]
    sources = {source.tensor for source in seen.one(e.CallBegan).sources}
    assert {op.inputs[0] for op in reads} >= sources
