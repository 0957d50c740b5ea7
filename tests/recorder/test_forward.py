"""The events that the recorder sends about the forward pass."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

from tapeviz.trace import events as e

from .conftest import Recorded

Record = Callable[..., Recorded]


def test_the_first_event_says_what_runs_and_the_last_how_it_ended(record: Record) -> None:
    seen = record("x = 1\n")
    assert isinstance(seen.events[0], e.Begin)
    assert seen.events[0].tensorflow.startswith("2.")
    assert seen.events[0].format == e.FORMAT_VERSION
    assert seen.events[-1] == e.Ended("finished", seen.of(e.Ended)[0].seconds)
    assert not seen.of(e.Noted)


def test_an_op_has_inputs_outputs_values_and_a_place(record: Record) -> None:
    seen = record(
        """
        a = tf.constant([[1.0, 2.0], [3.0, 4.0]])
        b = 1; c = tf.matmul(a, a, transpose_b=True)
        """
    )
    op = seen.op("MatMul")
    assert op.inputs == seen.bound("a") * 2
    assert op.outputs == seen.bound("c")
    assert op.attrs == {"transpose_a": False, "transpose_b": True}
    np.testing.assert_array_equal(seen.value(op.outputs[0]), [[5, 11], [11, 25]])
    name, line, column, _, end_column = seen.frames(op.site)[0]
    assert (name, line) == ("<module>", 2)
    text = "b = 1; c = tf.matmul(a, a, transpose_b=True)"
    if column >= 0:
        assert text[column:end_column] == "tf.matmul(a, a, transpose_b=True)"


def test_no_tensor_is_called_zero(record: Record) -> None:
    seen = record("x = tf.constant(1.0)\ny = x + x\n")
    assert all(tensor.id > 0 for tensor in seen.of(e.TensorSeen))


def test_columns_count_characters(record: Record) -> None:
    seen = record("é = tf.constant(2.0)\nπ = 'ü' and é * é\n")
    column, end = seen.frames(seen.op("Mul").site)[0][2::2]
    if column >= 0:
        assert "π = 'ü' and é * é"[column:end] == "é * é"


def test_the_call_stack_of_the_snippet(record: Record) -> None:
    seen = record(
        """
        def inner(v):
            return tf.sin(v)
        def outer(v):
            return inner(v) + 1.0
        outer(tf.constant(0.5))
        """
    )
    frames = seen.frames(seen.op("Sin").site)
    assert [(name, line) for name, line, *_ in frames] == [
        ("inner", 2),
        ("outer", 4),
        ("<module>", 5),
    ]


@pytest.mark.parametrize(
    ("text", "reads"),
    [
        ("tf.transpose(v)", 1),
        ("tf.norm([v, w])", 2),
        ("v * w", 2),
        ("tf.matmul(v, w)", 2),
        ("tf.concat([v, w], 0)", 2),
        ("tf.stack((v, v))", 2),
    ],
)
def test_every_read_of_a_variable_is_seen(record: Record, text: str, reads: int) -> None:
    seen = record(
        f"""
        v = tf.Variable([[1.0, 2.0], [3.0, 4.0]])
        w = tf.Variable([[1.0, 0.0], [0.0, 1.0]])
        with tf.GradientTape() as t:
            y = {text}
        """
    )
    handles = set(seen.bound("v") + seen.bound("w"))
    found = seen.ops("ReadVariableOp")
    assert len(found) == reads
    assert all(op.inputs[0] in handles for op in found)
    assert {seen.line(op.site) for op in found} == {4}


def test_a_variable_is_made(record: Record) -> None:
    seen = record("v = tf.Variable([1.0, 2.0], name='speed', trainable=False)\n")
    made = seen.one(e.VariableMade)
    assert (made.name, made.dtype, made.shape, made.trainable) == ("speed", "float32", [2], False)
    assert seen.bound("v") == [made.id]
    assert seen.tensor(made.id).handle
    assert seen.line(made.site) == 1
    first = seen.op("AssignVariableOp")
    assert first.inputs[0] == made.id
    np.testing.assert_array_equal(seen.value(first.inputs[1]), [1.0, 2.0])


@pytest.mark.parametrize(
    ("text", "op_type"),
    [
        ("v.assign([5.0, 6.0])", "AssignVariableOp"),
        ("v.assign_add([5.0, 6.0])", "AssignAddVariableOp"),
        ("v.assign_sub([5.0, 6.0])", "AssignSubVariableOp"),
        ("v[:1].assign([5.0])", "ResourceStridedSliceAssign"),
        ("v.scatter_nd_update([[1]], [5.0])", "ResourceScatterNdUpdate"),
        ("v.scatter_update(tf.IndexedSlices([5.0], [1]))", "ResourceScatterUpdate"),
    ],
)
def test_assigns_are_ops_on_the_handle(record: Record, text: str, op_type: str) -> None:
    seen = record(f"v = tf.Variable([1.0, 2.0])\n{text}\n")
    op = seen.ops(op_type)[-1]
    assert op.inputs[0] == seen.bound("v")[0]
    assert seen.line(op.site) == 2
    np.testing.assert_array_equal(np.ravel(seen.value(op.inputs[-1]))[0], 5.0)


def test_constants_of_python_and_numpy_have_values(record: Record) -> None:
    seen = record("x = tf.constant(1.5)\ny = (x * 2.0) + np.float32(3.0)\n")
    (two,) = set(seen.op("Mul").inputs) - set(seen.bound("x"))
    assert seen.value(two) == 2.0
    assert seen.value(seen.bound("y")[0]) == 6.0


def test_an_array_changed_afterwards_keeps_the_value_that_the_op_saw(record: Record) -> None:
    seen = record(
        """
        memory = np.zeros(4160, "uint8")
        start = -memory.ctypes.data % 64  # aligned, so that TensorFlow shares it
        buffer = memory[start : start + 4000].view("float32")
        x = tf.constant(1.0)
        for step in range(50):
            buffer[:] = step
            y = tf.add(x, buffer)
            z = tf.math.sin(buffer)
        """
    )
    for op_type, position in (("AddV2", 1), ("Sin", 0)):
        for step, op in enumerate(seen.ops(op_type)):
            value = seen.value(op.inputs[position])
            np.testing.assert_array_equal(value, np.full(1000, step))


def test_a_variable_without_a_value(record: Record, run_plainly: Record) -> None:
    text = """
    v = tf.raw_ops.VarHandleOp(dtype=tf.float32, shape=[2], shared_name="lost")
    try:
        tf.raw_ops.ReadVariableOp(resource=v, dtype=tf.float32)
    except tf.errors.OpError as error:
        print(type(error).__name__, error)
    """
    assert record(text).out == run_plainly(text).out != ""


def test_large_values_stay_and_can_be_asked_for(record: Record) -> None:
    seen = record("x = tf.reshape(tf.range(5000.0), [50, 100])\ny = x * float('inf')\n")
    tensor = seen.tensor(seen.bound("x")[0])
    assert (tensor.at, tensor.kept) == (-1, True)
    low, high, mean, norm, nan, inf = tensor.stats or []
    assert (low, high, mean, nan, inf) == (0.0, 4999.0, 2499.5, 0, 0)
    assert norm == pytest.approx(float(np.linalg.norm(np.arange(5000.0))))
    assert (seen.tensor(seen.bound("y")[0]).stats or [])[-2:] == [1, 4999]
    about, (raw,) = seen.ask("tensor", id=tensor.id)
    assert about == {"dtype": "float32", "shape": [50, 100]}
    np.testing.assert_array_equal(np.frombuffer(raw, "float32"), np.arange(5000.0))
    assert "error" in seen.ask("tensor", id=123456789)[0]
    assert "error" in seen.ask("what is this", id=1)[0]


def test_statistics_of_small_arrays_that_are_measured_together(record: Record) -> None:
    seen = record(
        """
        for i in range(30):
            x = tf.random.stateless_normal([16, 128], [1, i]) * 10.0 ** i
        for name in ("nan", "inf", "-inf"):
            x = tf.concat([tf.ones([2047]), [float(name)]], 0)
            x = tf.fill([2048], float(name))
        x = tf.fill([2048], 3.0)
        """
    )
    tensors = [seen.tensor(bound) for bound in seen.bound("x")]
    stats = [tensor.stats or [] for tensor in tensors]
    for number, found in enumerate(stats[:30]):
        low, high, mean, norm, nan, inf = (value or 0.0 for value in found)
        size = 10.0**number
        assert (nan, inf) == (0, 0)
        assert -6 * size < low < -2 * size < 2 * size < high < 6 * size
        assert abs(mean) < 0.1 * size
        assert 40 * size < norm < 50 * size  # √2048 is 45
    of_one, of_none = [1.0, 1.0, 1.0, 2047**0.5], [None] * 4
    assert stats[30:36] == [
        *([*of_one, 1, 0], [*of_none, 2048, 0]),
        *([*of_one, 0, 1], [*of_none, 0, 2048]) * 2,
    ]
    assert stats[36] == [3.0, 3.0, 3.0, 18432**0.5, 0, 0]


def test_a_few_elements_of_a_large_value_travel_for_its_picture(record: Record) -> None:
    seen = record(
        """
        x = tf.reshape(tf.range(40000), [100, 400])
        images = tf.reshape(tf.range(2 * 32 * 64 * 3), [2, 32, 64, 3])
        narrow = tf.cast(tf.reshape(tf.range(3000), [1000, 3]), tf.bfloat16)
        words = tf.strings.as_string(tf.range(2000))
        small = tf.range(10)
        """
    )
    x = np.arange(40000).reshape(100, 400)
    np.testing.assert_array_equal(
        seen.sample("x"), x[np.ix_(np.arange(16) * 100 // 16, np.arange(16) * 25)]
    )
    images = np.arange(2 * 32 * 64 * 3).reshape(2, 32, 64, 3)
    np.testing.assert_array_equal(seen.sample("images"), images[0, ::2, ::4, 1])
    narrow = seen.sample("narrow")
    assert narrow is not None
    assert narrow.shape == (16, 3)
    assert seen.sample("words") is None
    assert seen.sample("small") is None


def test_a_slice_of_a_large_value_comes_with_statistics_of_all_of_it(record: Record) -> None:
    seen = record("x = tf.reshape(tf.range(6000.0), [1, 3, 20, 100])\n")
    asked = {"id": seen.bound("x")[0], "index": [1], "spread": 1000, "stats": True}
    about, (part, spread) = seen.ask("part", shape=[3, 20, 100], most=500, **asked)
    low, high, mean, *_ = about.pop("stats")
    assert (low, high, mean) == (0.0, 5999.0, 2999.5)
    assert about == {"dtype": "float32", "shape": [20, 25], "steps": [1, 4]}
    whole = np.arange(6000.0).reshape(3, 20, 100)
    np.testing.assert_array_equal(np.frombuffer(part, "float32").reshape(20, 25), whole[1, :, ::4])
    np.testing.assert_array_equal(np.frombuffer(spread, "float32"), np.arange(0.0, 6000.0, 6))
    assert "error" in seen.ask("part", shape=[7], most=500, **asked)[0]


@pytest.mark.parametrize("dtype", ["bfloat16", "float16", "complex64", "bool", "int8", "uint16"])
def test_every_dtype_travels(record: Record, dtype: str) -> None:
    seen = record(f"x = tf.cast(tf.constant([1.0, 0.0, 2.0]), '{dtype}')\n", wanted=("x",))
    tensor = seen.tensor(seen.bound("x")[0])
    assert tensor.dtype == dtype
    assert seen.blob[tensor.at : tensor.at + tensor.nbytes] == seen.values["x"]


def test_strings_travel_as_text(record: Record) -> None:
    seen = record("x = tf.strings.upper(['ab', 'cé'])\n")
    assert seen.tensor(seen.bound("x")[0]).text == ["AB", "Cé"]


def test_a_refused_op_is_there_with_its_error(record: Record) -> None:
    seen = record("a = tf.ones([2, 3])\nb = tf.matmul(a, a)\n")
    op = seen.ops("MatMul")[0]
    assert "Matrix size-incompatible" in op.error
    assert op.outputs == []
    assert seen.line(op.site) == 2
    failure = seen.one(e.Raised)
    assert (failure.type, failure.line) == ("InvalidArgumentError", 2)


def test_the_oldest_large_tensors_are_let_go_of(record: Record) -> None:
    """Those that can be computed again before those that cannot."""
    seen = record(
        """
        xs = [tf.floor(0.9 * tf.random.uniform([256, 256]) + float(i)) for i in range(12)]
        del xs
        """,
        keep_budget=8 * 256 * 256 * 4,
    )
    drawn = [op.outputs[0] for op in seen.ops("RandomUniform")]
    gone = [output for output in drawn if "error" in seen.ask("tensor", id=output)[0]]
    assert gone == drawn[:4]
    outputs = [op.outputs[0] for op in seen.ops("Floor")]
    lost = [output for output in outputs if "error" in seen.ask("tensor", id=output)[0]]
    assert lost == outputs[:4]
    words = seen.ask("tensor", id=outputs[0])[0]["error"]
    assert words.startswith("they were let go of")
    assert words.endswith("RandomUniform would not give the same again")
    norms = [(seen.tensor(output).stats or [0.0] * 4)[3] for output in outputs]
    assert norms == pytest.approx([256.0 * i for i in range(12)], rel=1e-5)
    for number, output in enumerate(outputs[4:], 4):
        about, (raw,) = seen.ask("tensor", id=output)
        assert about == {"dtype": "float32", "shape": [256, 256]}
        assert set(np.frombuffer(raw, "float32")) == {float(number)}


def test_many_tensors_of_some_thousand_elements_are_held_up_to_the_budget(record: Record) -> None:
    seen = record(
        "xs = [tf.random.uniform([64, 64]) for i in range(40)]\n"
        "v = tf.Variable(1.0)\ny = v * 2.0\n",
        keep_budget=20 * (64 * 64 * 4 + 600),
    )
    drawn = [op.outputs[0] for op in seen.ops("RandomUniform")]
    is_held = ["error" not in seen.ask("tensor", id=output)[0] for output in drawn]
    assert 15 <= sum(is_held) <= 20
    assert is_held == sorted(is_held), "the last ones"


def test_of_a_large_tensor_the_norm_alone_is_sent(record: Record) -> None:
    """Until somebody looks at it; where that one pass does not say enough, all statistics."""
    seen = record(
        """
        x = tf.reshape(tf.range(65536.0), [256, 256])
        zero, tiny, huge = x * 0.0, x * 1e-25, x * 1e30
        bad = tf.where(x > 9.0, x, np.nan)
        """
    )

    def stats(name: str) -> list[float | None]:
        return seen.tensor(seen.bound(name)[0]).stats or []

    values = np.arange(65536.0)
    assert stats("x") == [None, None, None, pytest.approx(np.linalg.norm(values)), 0, 0]
    assert stats("zero") == [0.0, 0.0, 0.0, 0.0, 0, 0]
    assert stats("tiny")[3] == pytest.approx(np.linalg.norm(values * 1e-25))
    assert stats("huge")[:2] == [0.0, float(np.float32(65535.0) * np.float32(1e30))]
    assert stats("bad")[0] == 10.0
    assert stats("bad")[4:] == [10, 0]
    part = {"shape": [256, 256], "index": [], "most": 9, "spread": 9, "stats": True}
    about, _ = seen.ask("part", id=seen.bound("x")[0], **part)
    assert about["stats"][:3] == [0.0, 65535.0, 32767.5]


def test_of_a_large_gradient_that_was_asked_for_all_statistics_are_sent(record: Record) -> None:
    seen = record(
        """
        x = tf.Variable(tf.reshape(tf.range(65536.0), [256, 256]))
        with tf.GradientTape() as tape:
            y = tf.reduce_sum(x * x)
        g = tape.gradient(y, x)
        """
    )
    sent = [event.stats for event in seen.of(e.TensorSeen) if event.id == seen.bound("g")[0]]
    assert (sent[-1] or [])[:3] == [0.0, 131070.0, 65535.0]


def test_a_gradient_that_was_let_go_of_is_computed_again(record: Record) -> None:
    """The ops of the backward pass run again, from tensors that are still held."""
    source = """
        w = tf.constant(np.linspace(-1, 1, 65536).reshape(256, 256).astype("float32"))
        with tf.GradientTape() as tape:
            tape.watch(w)
            h = w
            for i in range(10):
                h = tf.sin(tf.matmul(h, w) * 0.1)
            loss = tf.reduce_sum(h)
        g = tape.gradient(loss, w)
        """
    size = 256 * 256 * 4
    whole, less = record(source, keep_budget=99 * size), record(source, keep_budget=32 * size)
    given = [op.outputs[0] for op in less.ops() if op.call]
    assert [op.outputs[0] for op in whole.ops() if op.call] == given
    inner = [identity for identity in given if less.tensor(identity).stats]
    assert len(inner) > 32, "not all could be held"
    for identity in reversed(inner):
        assert less.ask("tensor", id=identity)[1] == whole.ask("tensor", id=identity)[1]
    part = {"shape": [256, 256], "index": [], "most": 9, "spread": 9, "stats": False}
    assert [less.ask("part", id=i, **part)[1] for i in inner] == [
        whole.ask("part", id=i, **part)[1] for i in inner
    ]


def test_values_travel_up_to_a_budget(record: Record) -> None:
    seen = record("for i in range(30):\n    x = tf.fill([100], float(i))\n", value_budget=4_000)
    travelled = [seen.tensor(binding).at >= 0 for binding in seen.bound("x")]
    assert 0 < sum(travelled) <= 10
    assert len(seen.blob) <= 4_000
    last = seen.tensor(seen.bound("x")[-1])
    assert (last.stats or [])[:4] == [29.0, 29.0, 29.0, 290.0]
    _, (raw,) = seen.ask("tensor", id=last.id)
    assert set(np.frombuffer(raw, "float32")) == {29.0}


def test_ops_are_recorded_when_the_budget_of_values_is_used_up(record: Record) -> None:
    """Also those that give a single number, or nothing; and their gradient."""
    seen = record(
        """
        x = tf.Variable(1.0)
        with tf.GradientTape() as tape:
            y = x
            for i in range(30):
                y = tf.sin(y)
            none = tf.reshape(tf.zeros([0, 5]), [5, 0])
        g = tape.gradient(y, x)
        """,
        value_budget=40,
    )
    assert not seen.of(e.Noted)
    assert len(seen.ops("Sin")) == 30
    steps = [step.op for step in seen.of(e.StepRan) if step.type == "Sin"]
    assert steps == [op.id for op in reversed(seen.ops("Sin"))]
    last = seen.tensor(seen.ops("Sin")[-1].outputs[0])
    assert last.at == -1
    assert last.stats is not None
    assert not any(each.sample for each in seen.of(e.TensorSeen))


def test_small_tensors_can_be_asked_for_too(record: Record) -> None:
    seen = record("x = tf.constant([1.0, 2.0])\ny = x * x\ns = tf.constant('text') + '!'\n")
    about, (raw,) = seen.ask("tensor", id=seen.bound("y")[0])
    assert about == {"dtype": "float32", "shape": [2]}
    np.testing.assert_array_equal(np.frombuffer(raw, "float32"), [1.0, 4.0])


def test_statistics_count_what_is_not_finite(record: Record) -> None:
    seen = record(
        """
        x = tf.concat([tf.range(2000.0) - 500.0, [np.nan, np.inf, -np.inf]], 0)
        z = tf.cast(tf.complex(tf.fill([2000], 3.0), tf.fill([2000], 4.0)), tf.complex64)
        h = tf.cast(x, tf.bfloat16)
        n = tf.fill([3000], np.nan)
        i = tf.range(3000)
        """
    )

    def stats(name: str) -> list[float | None]:
        return seen.tensor(seen.bound(name)[0]).stats or []

    expected = np.arange(2000.0) - 500.0
    low, high, mean, norm, nan, inf = stats("x")
    assert (low, high, mean, nan, inf) == (-500.0, 1499.0, expected.mean(), 1, 2)
    assert norm == pytest.approx(float(np.linalg.norm(expected)))
    assert stats("z")[:3] == [5.0, 5.0, 5.0]
    assert stats("h")[0] == -500.0
    assert stats("n") == [None, None, None, None, 3000, 0]
    assert stats("i")[:3] == [0.0, 2999.0, 1499.5]


def test_ops_in_a_forked_child_are_not_waited_for(record: Record) -> None:
    seen = record(
        """
        import os
        x = tf.constant(1.0)
        child = os.fork()
        if child == 0:
            for i in range(7000): x = x + 1.0
            os._exit(5)
        print(os.waitpid(child, 0)[1] >> 8)
        """
    )
    assert seen.out == "5\n"
    assert not seen.ops("AddV2")
