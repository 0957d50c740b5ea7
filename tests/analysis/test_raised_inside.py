"""A call of a compiled function that raised: what it computed before that is known."""

from __future__ import annotations

from dataclasses import replace
from textwrap import dedent
from typing import TYPE_CHECKING

import numpy as np

from tapeviz.analysis import diagnose
from tapeviz.drawing import sized_graph
from tapeviz.recording.live import Snippet
from tapeviz.trace.compiled.raised import op_that_raised
from tapeviz.trace.model import Failure, Trace
from tapeviz.view import View

if TYPE_CHECKING:
    from tapeviz.recording.live import Recorder


def _record(recorder: Recorder, text: str) -> Trace:
    live = recorder.record(Snippet("import tensorflow as tf\n" + dedent(text)))
    trace = live.wait(120)
    live.release()
    assert trace.failure is not None
    assert not trace.notes, trace.notes
    return trace


def test_the_op_that_raised_with_what_it_got(recorder: Recorder) -> None:
    trace = _record(
        recorder,
        """
        w = tf.Variable([1.0, 2.0, 3.0])
        @tf.function
        def f(s):
            b = w * 2.0
            w.assign(b)
            return tf.reduce_sum(tf.reshape(b, s))
        f(tf.constant([3, 1]))
        f(tf.constant([2, 2]))
        """,
    )
    call = next(op for op in trace.ops.values() if op.error)
    values = [
        trace.value(output)
        for op in trace.ops.values()
        if op.within == call.id and op.type == "Mul"
        for output in op.outputs
    ]
    np.testing.assert_array_equal(values, [[4.0, 8.0, 12.0]])  # the second call's own
    error = diagnose(trace).error
    assert error is not None
    assert "Reshape on line 8 got b = [ 4.,  8., 12.] and s = [2, 2]" in error.explanation
    assert error.explanation.startswith("Line 8 reshapes 3 elements into a shape for 4.")
    later = Failure("IndexError", "list index out of range", 11, "", (11,))
    error = diagnose(replace(trace, failure=later)).error  # after that of the call was caught
    assert error is not None
    assert "Reshape" not in error.explanation


def test_the_turn_that_raised(recorder: Recorder) -> None:
    trace = _record(
        recorder,
        """
        x = tf.constant([2.0, 3.0, 5.0])
        @tf.function
        def f(n):
            s = tf.constant(1.0)
            for i in tf.range(n):
                s *= tf.gather(x, i)
            return s
        with tf.GradientTape() as tape:
            tape.watch(x)
            f(tf.constant(5))
        """,
    )
    (loop,) = [loop for loop in trace.loops.values() if loop.count]
    products = next(trace.ops[op] for op in loop.body if trace.ops[op].type == "Mul").outputs
    turns = [trace.value(loop.turns[turn,][products[0]]) for turn in range(loop.count or 0)]
    assert turns == [2.0, 6.0, 30.0]
    error = diagnose(trace).error
    assert error is not None
    assert "It raised in turn 4 of the loop on line 7." in error.explanation
    op = op_that_raised(trace)
    assert op is not None
    assert (op.type, op.line) == ("GatherV2", 8)
    drawn = {node.op: node for _, node in sized_graph(trace, View()).nodes(data="node")}
    assert drawn[op.id].subtitle.endswith("raised in turn 4")  # not folded away
    folded = sized_graph(trace, View(folded=frozenset({drawn[op.id].group.split("/")[0]})))
    assert op.id not in {node.op for _, node in folded.nodes(data="node")}
