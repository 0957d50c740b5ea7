"""Zeros from a branch of a graph that did not run, where no recording tells which one ran."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from tapeviz.recording.live import Recorder

HEAD = """import tensorflow as tf
tf1 = tf.compat.v1
with tf.Graph().as_default():
    a, b, c = (tf1.placeholder(tf.float32, []) for _ in range(3))
"""
RUN = """
    with tf1.Session() as session:
        session.run(gradients, {a: 1.0, b: 1.0, c: 2.0})
"""
COND = "    y = tf.cond(a > 0.0, lambda: tf.exp(a), lambda: tf.nn.relu(b) * 3.0)"
CASE = "    y = tf.switch_case(tf.constant(2), [lambda: a, lambda: b * 3.0, lambda: c * a])"
TWO = "    y = sum(tf.cond(a > 0.0, lambda: (a, c), lambda: (b, c * b)))"
BOTH = "    y = tf.cond(a > 0.0, lambda: tf.nn.relu(b - 9.0), lambda: tf.nn.relu(b))"
SWITCH = """    tf1.disable_control_flow_v2()
    y = tf1.cond(a > 0.0, lambda: a * 2.0, lambda: b * 3.0)
    tf1.enable_control_flow_v2()"""
ASK = "\n    gradients = tf.gradients(y, [a, b, c], unconnected_gradients='zero')"


@pytest.mark.parametrize(
    ("text", "line", "words"),
    [
        (COND, 5, "a > 0.0 on line 5 was probably True, and b is used only in a branch"),
        (CASE, 5, "on line 5 was probably not 1, and b is used only in a branch"),
        (TWO, 5, "a > 0.0 on line 5 was probably True, and b is used only in a branch"),
        (SWITCH, 6, "a > 0.0 on line 6 was probably True, and b is used only in a branch"),
    ],
)
def test_a_branch_that_did_not_run_is_named(
    text: str, line: int, words: str, recorder: Recorder
) -> None:
    from tapeviz.analysis import diagnose
    from tapeviz.recording.live import Snippet

    live = recorder.record(Snippet(HEAD + text + ASK + RUN))
    trace = live.wait(60)
    live.release()
    assert trace.failure is None, trace.failure
    of_a, of_b, _ = diagnose(trace).calls[0].findings
    assert of_a.status == "flows"
    assert of_b.status == "zero"
    assert of_b.cause is not None
    assert (of_b.cause.kind, of_b.cause.line) == ("not-connected", line)
    assert words in of_b.message


def test_a_source_that_both_branches_take_has_another_cause(recorder: Recorder) -> None:
    from tapeviz.analysis import diagnose
    from tapeviz.recording.live import Snippet

    live = recorder.record(Snippet(HEAD + BOTH + ASK + RUN))
    trace = live.wait(60)
    live.release()
    of_b = diagnose(trace).calls[0].findings[1]
    assert of_b.status == "zero"
    assert of_b.cause is not None
    assert of_b.cause.kind == "saturated"
