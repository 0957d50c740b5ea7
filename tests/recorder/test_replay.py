"""The backward pass over a recording, run again across what no tape recorded."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from tapeviz.trace import events as e

from .conftest import Recorded

Record = Callable[..., Recorded]


class Replayed:
    """The answer to a replay, decoded."""

    def __init__(self, seen: Recorded, **request: Any) -> None:
        about, buffers = seen.ask("replay", **{"call": 1, **request})
        seen.events += [e.decode(line) for line in about["events"]]
        seen.blob += b"".join(buffers)
        self._seen = seen
        self.event = seen.of(e.ReplayRan)[-1]

    def __getitem__(self, key: int | str) -> Any:
        return self._seen.value(self.event.results[str(key)])


def backwards(seen: Recorded, *, reads: dict[int, int | str] | None = None) -> list[list[Any]]:
    """Every forward op from the last to the first; reads lead to the variable."""
    program: list[list[Any]] = []
    for op in reversed([op for op in seen.ops() if not op.call]):
        if op.type == "ReadVariableOp":
            goal = (reads or {}).get(op.id, op.inputs[0])
            program.append(["move", op.outputs[0], goal])
        elif op.outputs and op.type != "VarHandleOp":
            program.append(["op", op.id])
    return program


UNCUT = """
w = tf.Variable([[0.3, -1.2], [2.1, 0.7]])
b = tf.Variable([0.1, 0.2])
x = tf.constant([[1.5, 2.5], [0.25, -3.0], [7.0, 1.0]])
with tf.GradientTape() as t:
    h = tf.nn.relu(x @ w + b)
    rows = tf.gather(h, [0, 2, 2])
    first, rest = tf.split(rows, [1, 1], axis=1)
    loss = tf.reduce_mean(tf.exp(-first) * first) + tf.norm(h)
gw, gb = t.gradient(loss, [w, b])
"""


def test_an_uncut_flow_gives_what_the_tape_gave_bit_for_bit(record: Record) -> None:
    seen = record(UNCUT, wanted=("gw", "gb"))
    w, b = seen.bound("w")[0], seen.bound("b")[0]
    loss = seen.bound("loss")[0]
    played = Replayed(seen, seeds=[[loss, 0]], program=backwards(seen), wanted=[w, b])
    assert played[w].tobytes() == seen.values["gw"]
    assert played[b].tobytes() == seen.values["gb"]
    assert not [step.error for step in played.event.steps if step.error]
    by_id = {op.id: op.type for op in seen.ops()}
    assert {"MatMul", "Relu", "SplitV", "Exp"} <= {by_id[s.op] for s in played.event.steps}


def test_a_pass_over_values_that_were_let_go_of_gives_the_same(record: Record) -> None:
    """They are computed again, from the weights and from what was drawn."""
    seen = record(
        """
        w = tf.Variable(tf.random.normal([256, 256], stddev=0.1))
        x = tf.random.normal([256, 256])
        with tf.GradientTape() as t:
            h = x
            for i in range(6):
                h = tf.nn.relu(h @ w + 0.01 * tf.random.normal([256, 256]))
            loss = tf.reduce_mean(h * h)
        g = t.gradient(loss, w)
        """,
        wanted=("g",),
        keep_budget=20 * 256 * 256 * 4,
    )
    w, loss = seen.bound("w")[0], seen.bound("loss")[0]
    played = Replayed(seen, seeds=[[loss, 0]], program=backwards(seen), wanted=[w])
    assert not [step.error for step in played.event.steps if step.error]
    assert seen.ask("tensor", id=played.event.results[str(w)])[1] == [seen.values["g"]]


def test_a_given_gradient_starts_the_pass(record: Record) -> None:
    seen = record("x = tf.constant(3.0)\nup = tf.constant(10.0)\ny = x * x\nz = up + 0.0\n")
    x, up, y = (seen.bound(name)[0] for name in ("x", "up", "y"))
    played = Replayed(seen, seeds=[[y, up]], program=[["op", 1]], wanted=[x])
    assert played[x] == 60.0


ASSIGNS = [
    ("c.assign(v)", "AssignVariableOp", [1, 2, 3], [0, 0, 0]),
    ("c.assign_add(v)", "AssignAddVariableOp", [1, 2, 3], [1, 2, 3]),
    ("c.assign_sub(v)", "AssignSubVariableOp", [-1, -2, -3], [1, 2, 3]),
    ("c[1:].assign(v[:2])", "ResourceStridedSliceAssign", [2, 3], [1, 0, 0]),
    ("c[0].assign(v[1])", "ResourceStridedSliceAssign", 1, [0, 2, 3]),
    (
        "c.scatter_nd_update([[2], [0], [2]], v)",
        "ResourceScatterNdUpdate",
        [0, 1, 3],
        [0, 2, 0],
    ),
    ("c.scatter_nd_add([[2], [0], [2]], v)", "ResourceScatterNdAdd", [3, 1, 3], [1, 2, 3]),
    ("c.scatter_nd_sub([[2], [0], [2]], v)", "ResourceScatterNdSub", [-3, -1, -3], [1, 2, 3]),
    (
        "c.scatter_update(tf.IndexedSlices(v[:2], [2, 0]))",
        "ResourceScatterUpdate",
        [3, 1],
        [0, 2, 0],
    ),
    ("c.scatter_add(tf.IndexedSlices(v[:2], [2, 0]))", "ResourceScatterAdd", [3, 1], [1, 2, 3]),
    ("c.scatter_sub(tf.IndexedSlices(v[:2], [2, 0]))", "ResourceScatterSub", [-3, -1], [1, 2, 3]),
]


@pytest.mark.parametrize(("text", "op_type", "value", "prior"), ASSIGNS)
def test_the_gradient_across_an_assign(
    record: Record, text: str, op_type: str, value: Any, prior: Any
) -> None:
    seen = record(
        f"""
        c = tf.Variable([7.0, 8.0, 9.0])
        v = tf.constant([4.0, 5.0, 6.0])
        {text}
        up = tf.constant([1.0, 2.0, 3.0]) * 1.0
        """
    )
    op = seen.ops(op_type)[-1]
    given = seen.bound("up")[0]
    played = Replayed(
        seen,
        seeds=[["v9:1", given]],
        program=[["assign", op.id, "v9:1", op.inputs[-1], "v9:0"]],
        wanted=[op.inputs[-1], "v9:0"],
    )
    np.testing.assert_array_equal(played[op.inputs[-1]], value)
    if any(np.ravel(prior)):
        np.testing.assert_array_equal(played["v9:0"], prior)
    else:
        assert "v9:0" not in played.event.results


def test_a_gradient_across_an_assign_reaches_what_it_was_made_from(record: Record) -> None:
    seen = record(
        """
        a, b, c = tf.Variable(1.0), tf.Variable(2.0), tf.Variable(3.0)
        with tf.GradientTape() as t:
            c.assign(a + 2.0 * b)
            loss = c ** 2
        t.gradient(loss, b)
        """
    )
    a, b, c = seen.bound("a")[0], seen.bound("b")[0], seen.bound("c")[0]
    assign = seen.ops("AssignVariableOp")[-1]
    program = backwards(seen)
    after = next(i for i, op in enumerate(program) if op[:1] == ["move"]) + 1
    program.insert(after, ["assign", assign.id, c, assign.inputs[1], 0])
    played = Replayed(seen, seeds=[[seen.bound("loss")[0], 0]], program=program, wanted=[a, b, c])
    assert [played[name] for name in (a, b, c)] == [10.0, 20.0, 10.0]


def test_a_custom_gradient_keeps_its_own(record: Record) -> None:
    seen = record(
        """
        @tf.custom_gradient
        def odd(x):
            return tf.sin(x), lambda up: up * 100.0
        x = tf.constant(0.5)
        y = odd(x)
        """
    )
    x, y = seen.bound("x")[0], seen.bound("y")[0]
    produced = next(op for op in seen.ops() if y in op.outputs)
    played = Replayed(seen, seeds=[[y, 0]], program=[["op", produced.id]], wanted=[x])
    assert played[x] == 100.0


def test_what_has_no_gradient_says_so(record: Record) -> None:
    seen = record(
        """
        x = tf.constant([2.0, 1.0])
        y = tf.argsort(x)
        u = tf.unique(x)
        m = tf.argmax(x)
        """
    )
    unique = seen.ops("Unique")[0]
    played = Replayed(seen, seeds=[[unique.outputs[0], 0]], program=[["op", unique.id]], wanted=[])
    (step,) = played.event.steps
    assert "gradient registry has no entry for: Unique" in step.error
    largest = seen.ops("ArgMax")[0]
    played = Replayed(
        seen,
        seeds=[[largest.outputs[0], 0]],
        program=[["op", largest.id]],
        wanted=[largest.inputs[0]],
    )
    assert played.event.results == {}
    assert not any(played.event.steps[0].downstream)


def test_nothing_is_recorded_while_it_is_replayed(record: Record) -> None:
    seen = record(UNCUT)
    before = len(seen.ops())
    loss = seen.bound("loss")[0]
    first = Replayed(seen, seeds=[[loss, 0]], program=backwards(seen), wanted=seen.bound("w"))
    again = Replayed(seen, seeds=[[loss, 0]], program=backwards(seen), wanted=seen.bound("w"))
    assert first[seen.bound("w")[0]].tobytes() == again[seen.bound("w")[0]].tobytes()
    assert len(seen.ops()) == before


def test_a_replay_in_a_snippet_that_left_eager_mode(record: Record) -> None:
    seen = record(
        """
        x = tf.constant(3.0)
        y = x * x
        tf.compat.v1.disable_eager_execution()
        """
    )
    x, y = seen.bound("x")[0], seen.bound("y")[0]
    played = Replayed(seen, seeds=[[y, 0]], program=[["op", 1]], wanted=[x])
    assert played[x] == 6.0
