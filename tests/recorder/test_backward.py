"""The events that the recorder sends about tapes, gradient calls and backward steps."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from tapeviz.trace import events as e

from .conftest import Recorded

Record = Callable[..., Recorded]


def test_a_target_in_library_code_has_the_name_that_it_has_there(record: Record) -> None:
    seen = record(
        """
        exec(compile("def ask(t, cost, x): return t.gradient(cost, x)", "library.py", "exec"))
        w = tf.Variable(3.0)
        with tf.GradientTape() as tape:
            y = w * w
        ask(tape, y, w)
        """
    )
    call = seen.one(e.CallBegan)
    assert not call.direct
    assert [target.name for target in call.targets] == ["cost"]


def test_a_call_has_operands_a_result_and_steps(record: Record) -> None:
    seen = record(
        """
        w = tf.Variable(3.0)
        with tf.GradientTape() as tape:
            y = w * w
            loss = tf.sin(y)
        grads = tape.gradient({"l": loss}, [w, {"again": w}])
        """
    )
    call = seen.one(e.CallBegan)
    assert (call.method, call.direct, call.unconnected) == ("gradient", True, "none")
    assert call.targets == [e.RawOperand(seen.bound("loss")[0], keys=("l",))]
    handle = seen.bound("w")[0]
    assert [source.tensor for source in call.sources] == [handle, handle]
    assert [source.keys for source in call.sources] == [(0,), (1, "again")]
    assert {source.kind for source in call.sources} == {"variable"}
    steps = seen.of(e.StepRan)
    by_id = {op.id: op for op in seen.ops()}
    assert [by_id[step.op].type for step in steps] == [
        "Sin",
        "Mul",
        "ReadVariableOp",
        "ReadVariableOp",
    ]
    result = seen.one(e.CallEnded)
    np.testing.assert_allclose(seen.value(result.results[0]), 6 * np.cos(9.0), rtol=1e-5)
    assert seen.value(steps[0].upstream[0]) == 1.0
    inside = [op for op in seen.ops() if op.call == call.id]
    assert {"Cos", "AddN"} <= {op.type for op in inside}
    assert {seen.line(op.site) for op in inside} == {5}


def test_none_is_zero_in_the_results(record: Record) -> None:
    seen = record(
        """
        a, b = tf.Variable(1.0), tf.Variable(2.0)
        with tf.GradientTape() as t:
            y = a * 2.0
        g = t.gradient(y, [a, b])
        """
    )
    results = seen.one(e.CallEnded).results
    assert results[1] == 0
    assert seen.value(results[0]) == 2.0


def test_the_life_of_a_tape(record: Record) -> None:
    seen = record(
        """
        x = tf.constant(1.0)
        with tf.GradientTape(persistent=True, watch_accessed_variables=False) as t:
            t.watch(x)
            with t.stop_recording():
                y = x * x
            t.reset()
            t.watch([x])
            z = x * x
        with tf.GradientTape() as u:
            u.watch(x)
            u.gradient(x * x, x)
        """
    )
    first, second = seen.of(e.TapeOpened)
    assert (first.persistent, first.watches_variables) == (True, False)
    assert (second.persistent, second.watches_variables) == (False, True)
    turns = [(event.tape, event.on, event.why) for event in seen.of(e.TapeTurned)]
    assert turns == [
        (first.id, True, "enter"),
        (first.id, False, "stop_recording"),
        (first.id, True, "stop_recording"),
        (first.id, False, "reset"),
        (first.id, True, "reset"),
        (first.id, False, "exit"),
        (second.id, True, "enter"),
        (second.id, False, "gradient"),
    ]
    assert [seen.line(event.site) for event in seen.of(e.Watched)] == [3, 7, 10]
    assert {tuple(event.tensors) for event in seen.of(e.Watched)} == {tuple(seen.bound("x"))}
    assert {event.tape for event in seen.of(e.NameBound) if event.name in "tu"} == {
        first.id,
        second.id,
    }


def test_nested_tapes(record: Record) -> None:
    seen = record(
        """
        x = tf.Variable(2.0)
        with tf.GradientTape() as outer:
            with tf.GradientTape() as inner:
                y = x ** 3
            d = inner.gradient(y, x)
        dd = outer.gradient(d, x)
        """,
        wanted=("d", "dd"),
    )
    first, second = seen.of(e.CallBegan)
    assert (first.tape, second.tape) == (2, 1)
    results = [seen.value(event.results[0]) for event in seen.of(e.CallEnded)]
    assert [result.tobytes() for result in results] == [seen.values["d"], seen.values["dd"]]
    by_id = {op.id: op for op in seen.ops()}
    walked = [by_id[step.op] for step in seen.of(e.StepRan) if step.call == second.id]
    assert any(op.call == first.id for op in walked), "the inner backward pass is walked, too"


def test_a_custom_gradient_is_one_entry_with_its_body(record: Record) -> None:
    seen = record(
        """
        @tf.custom_gradient
        def clipped(x):
            y = tf.exp(x)
            def grad(upstream):
                return tf.clip_by_value(upstream * y, -1.0, 1.0)
            return y, grad
        x = tf.constant(3.0)
        with tf.GradientTape() as t:
            t.watch(x)
            y = 2.0 * clipped(x)
        g = t.gradient(y, x)
        """
    )
    entry = seen.one(e.OperationRecorded)
    assert (entry.function, entry.type) == ("clipped", "clipped")
    assert entry.line in (1, 2)
    assert seen.line(entry.site) == 10
    body = [op.type for op in seen.ops() if entry.first <= op.id < entry.id]
    assert body == ["Exp", "Identity"]
    step = next(event for event in seen.of(e.StepRan) if event.op == entry.id)
    assert seen.value(step.upstream[0]) == 2.0
    assert seen.value(step.downstream[0]) == 1.0


def test_jacobian_is_one_call_without_its_swarm(record: Record) -> None:
    seen = record(
        """
        x = tf.constant([1.0, 2.0])
        with tf.GradientTape() as t:
            t.watch(x)
            y = x * x
        j = t.jacobian(y, x)
        """
    )
    call = seen.one(e.CallBegan)
    assert call.method == "jacobian"
    np.testing.assert_array_equal(seen.value(seen.one(e.CallEnded).results[0]), [[2, 0], [0, 4]])
    assert not [op for op in seen.ops() if op.graph]
    by_id = {op.id: op.type for op in seen.ops()}
    assert "Mul" in [by_id[step.op] for step in seen.of(e.StepRan)]


def test_a_sparse_gradient_is_named_dense(record: Record) -> None:
    seen = record(
        """
        table = tf.Variable([[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]])
        with tf.GradientTape() as t:
            y = tf.reduce_sum(tf.gather(table, [2, 0, 2]) * 3.0)
        g = t.gradient(y, table)
        kind = type(g).__name__
        """,
        wanted=("kind",),
    )
    result = seen.one(e.CallEnded)
    assert result.sparse == [0]
    np.testing.assert_array_equal(seen.value(result.results[0]), [[3, 3], [0, 0], [6, 6]])
    assert seen.values["kind"] == "'IndexedSlices'"


def test_a_call_that_raises(record: Record) -> None:
    seen = record(
        """
        x = tf.Variable(1.0)
        with tf.GradientTape() as t:
            y = x * x
        t.gradient(y, x)
        t.gradient(y, x)
        """
    )
    first, second = seen.of(e.CallEnded)
    assert not first.error
    assert second.error.startswith("RuntimeError: A non-persistent GradientTape")
    assert seen.one(e.Raised).line == 5


def test_results_up_to_ten_thousand_elements_travel(record: Record) -> None:
    seen = record(
        """
        w = tf.Variable(tf.random.normal([90, 100]))
        with tf.GradientTape() as t:
            y = tf.reduce_sum(w * w)
        g = t.gradient(y, w)
        """,
        wanted=("g",),
    )
    result = seen.one(e.CallEnded).results[0]
    assert seen.value(result).tobytes() == seen.values["g"]
    read = seen.ops("ReadVariableOp")[0].outputs[0]
    assert seen.tensor(read).at == -1


def test_gradients_in_any_form_are_gradients(record: Record) -> None:
    """Nested IndexedSlices, ragged values, Python's and NumPy's numbers."""
    seen = record(
        """
        import numpy as np

        @tf.custom_gradient
        def pick(x):
            def grad(dy):
                inner = tf.IndexedSlices(dy, tf.constant([1, 1]), tf.constant([2, 2]))
                return tf.IndexedSlices(inner, tf.constant([0, 2]), tf.constant([3, 2]))
            return tf.gather(tf.gather(x, [0, 2]), [1, 1]), grad

        def giving(gradient):
            @tf.custom_gradient
            def same(x):
                return x * 1.0, lambda dy: gradient
            return same

        def gradient_of(f, x):
            with tf.GradientTape() as tape:
                tape.watch(x)
                y = f(x)
            return tape.gradient(y, x)

        values = tf.ragged.constant([[1.0, 2.0], [3.0], [4.0]])
        slices = tf.IndexedSlices(values, tf.constant([0, 2, 2]), tf.constant([3]))
        gradient_of(pick, tf.constant([[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]]))
        gradient_of(giving(slices), tf.constant([1.0, 2.0]))
        gradient_of(giving(0.1), tf.constant(2.0))
        gradient_of(giving(np.float32(0.1)), tf.constant(2.0))
        gradient_of(giving(np.array([0.1, 3.0], np.float32)), tf.constant([2.0, 1.0]))
        """
    )
    results = [seen.value(event.results[0]) for event in seen.of(e.CallEnded)]
    np.testing.assert_array_equal(results[0], [[0, 0], [0, 0], [2, 2]])
    np.testing.assert_array_equal(results[1], [1, 2, 7])
    assert (results[2], results[2].dtype) == (0.1, np.float64)
    assert (results[3], results[3].dtype) == (np.float32(0.1), np.float32)
    np.testing.assert_array_equal(results[4], np.array([0.1, 3.0], np.float32))


def test_large_values_between_steps_are_not_measured(record: Record) -> None:
    seen = record(
        """
        w = tf.Variable(tf.ones([128, 128]))
        with tf.GradientTape() as tape:
            y = tf.reshape(w * 3.0, [16384])
            loss = tf.reduce_sum(tf.sin(y))
        g = tape.gradient(loss, w)
        """
    )
    (cos,) = seen.op("Cos").outputs
    steps = seen.of(e.StepRan)
    named = {tensor for step in steps for tensor in (*step.upstream, *step.downstream)}
    assert cos not in named
    assert seen.tensor(cos).stats is None
    _, (raw,) = seen.ask("tensor", id=cos)  # it is computed when somebody asks
    np.testing.assert_allclose(np.frombuffer(raw, "float32"), np.cos(3.0), rtol=1e-6)
    large = [seen.tensor(tensor) for tensor in named - {0}]
    large = [tensor for tensor in large if tensor.shape in ([128, 128], [16384])]
    assert len(large) >= 3
    for tensor in large:
        _, (raw,) = seen.ask("tensor", id=tensor.id)
        norm = np.linalg.norm(np.frombuffer(raw, "float32").astype("float64"))
        np.testing.assert_allclose((tensor.stats or [0.0] * 4)[3], norm, rtol=1e-6)
    # A reshape shares its input's memory, and so its statistics.
    reshaped = seen.ops("Reshape")[0]
    assert seen.tensor(reshaped.outputs[0]).stats == seen.tensor(reshaped.inputs[0]).stats
    assert seen.tensor(seen.bound("g")[0]).stats is not None


def test_large_values_of_a_recorded_backward_pass_are_measured(record: Record) -> None:
    seen = record(
        """
        w = tf.Variable(tf.ones([128, 128]))
        with tf.GradientTape() as outer:
            with tf.GradientTape() as tape:
                loss = tf.reduce_sum(tf.sin(w))
            g = tape.gradient(loss, w)
        """
    )
    assert seen.tensor(seen.op("Cos").outputs[0]).stats is not None


def test_a_recorded_operation_has_the_scope_of_its_call(record: Record) -> None:
    """And not one that its body opened."""
    seen = record(
        """
        @tf.custom_gradient
        def doubled(x):
            with tf.name_scope("inner"):
                y = x * 2.0
            return y, lambda upstream: upstream * 2.0
        x = tf.constant(1.0)
        with tf.GradientTape() as tape:
            tape.watch(x)
            with tf.name_scope("model"):
                with tf.name_scope("dense"):
                    y = doubled(x)
            z = doubled(y)
        """
    )
    assert [entry.scope for entry in seen.of(e.OperationRecorded)] == ["model/dense", ""]
    assert [op.scope for op in seen.ops("Mul")] == ["model/dense/inner", "inner"]
