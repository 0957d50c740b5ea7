"""Gradients that are NaN or infinite: the line, and in the message the value that did it."""

from __future__ import annotations

from textwrap import dedent
from typing import TYPE_CHECKING

import pytest

from tapeviz.analysis.diagnose import diagnose

if TYPE_CHECKING:
    from tapeviz.recording.live import Recorder

MARK = "# here"
WORDS = {
    "a row of which all is masked, by the logarithm of a mask": (
        """
        q = tf.Variable([[1.0, 2.0], [3.0, 4.0]])
        seen = tf.constant([[1.0, 0.0], [0.0, 0.0]])
        with tf.GradientTape() as t:
            s = q + tf.math.log(seen)
            p = tf.nn.softmax(s)  # here
            out = tf.reduce_sum(p * q)
        t.gradient(out, q)
        """,
        ["tf.nn.softmax", "row of nothing but -inf"],
    ),
    "a matrix that has no such root": (
        """
        q = tf.Variable([[1.0, 2.0], [2.0, 1.0]])
        with tf.GradientTape() as t:
            out = tf.reduce_sum(tf.linalg.cholesky(q))  # here
        t.gradient(out, q)
        """,
        ["tf.linalg.cholesky on line", "got a matrix of which the result is NaN"],
    ),
    "a slope at 0": (
        """
        q = tf.Variable([4.0, 0.0])
        with tf.GradientTape() as t:
            out = tf.reduce_sum(tf.sqrt(q))  # here
        t.gradient(out, q)
        """,
        ["got 0.0", "slope"],
    ),
    "a branch not taken": (
        """
        q = tf.Variable([4.0, 0.0])
        with tf.GradientTape() as t:
            r = 3.0 / q  # here
            out = tf.reduce_sum(tf.where(q > 0.0, r, 0.0))
        t.gradient(out, q)
        """,
        ["divides by 0.0", "tf.where", "0 times infinity"],
    ),
    "a result that is infinite": (
        """
        q = tf.Variable(200.0)
        with tf.GradientTape() as t:
            out = tf.math.log(tf.exp(q) + 1.0)  # here
        t.gradient(out, q)
        """,
        ["got 200", "result"],
    ),
    "a result of so many elements that they are not known": (
        """
        q = tf.Variable(tf.range(3000.0))
        with tf.GradientTape() as t:
            out = tf.reduce_mean(tf.math.log(tf.nn.relu(q)))  # here
        t.gradient(out, q)
        """,
        ["tf.math.log on line", "gave NaN or infinity, and"],
    ),
    "a row of which all is masked": (
        """
        q = tf.Variable([[1.0, 2.0], [3.0, 4.0]])
        seen, least = tf.constant([[True, False], [False, False]]), tf.constant(float("-inf"))
        for _ in range(40):
            least = least + least
        with tf.GradientTape() as t:
            s = tf.where(seen, q, least)
            p = tf.nn.softmax(s)  # here
            out = tf.reduce_sum(p * q)
        t.gradient(out, q)
        """,
        ["tf.nn.softmax", "row of nothing but -inf"],
    ),
    "a value that was NaN before": (
        """
        data = tf.constant([1.0, float("nan")])
        q = tf.Variable([4.0, 5.0])
        with tf.GradientTape() as t:
            out = tf.reduce_sum(q * data)  # here
        t.gradient(out, q)
        """,
        ["already", "data holds it"],
    ),
    "a row of a table that was NaN before": (
        """
        table = tf.Variable([[1.0, 2.0], [3.0, 4.0]])
        table.assign(table * float("nan"))
        with tf.GradientTape() as t:
            row = tf.nn.embedding_lookup(table, [1])
            out = tf.reduce_sum(row * row)  # here
        t.gradient(out, table)
        """,
        ["already", "table holds it"],
    ),
    "a value that the forward pass made NaN, on another line": (
        """
        q = tf.Variable([4.0, -1.0])
        with tf.GradientTape() as t:
            root = tf.sqrt(q)  # here
            twice = root * 2.0
            out = tf.reduce_sum(twice * twice)
        t.gradient(out, q)
        """,
        ["tf.sqrt on line", "got -1, where its result", "twice * twice on line 6 works with"],
    ),
    "a gradient too large for its dtype": (
        """
        q = tf.Variable([0.001], dtype=tf.float16)
        with tf.GradientTape() as t:
            r = q * 3000.0  # here
            out = 500.0 * tf.reduce_sum(r / 100.0) * 20.0
        t.gradient(out, q)
        """,
        ["float16", "65504"],
    ),
    "a gradient too large for its dtype, of an op whose input is 0": (
        """
        q = tf.Variable([0.0, 2.0])
        with tf.GradientTape() as t:
            half = tf.cast(q, tf.float16)
            r = tf.cast(half, tf.float32)  # here
            out = 1e6 * tf.reduce_sum(r)
        t.gradient(out, q)
        """,
        ["The gradient that tf.cast on line", "float16", "65504"],
    ),
    "an infinity that was written as a factor": (
        """
        q = tf.Variable([1.0, 2.0])
        c = tf.constant([float("inf"), 1.0])
        with tf.GradientTape() as t:
            r = q * c  # here
            out = tf.reduce_sum(r * [0.0, 1.0])
        t.gradient(out, q)
        """,
        ["works with a value that is NaN or infinite already: c holds it"],
    ),
    "a gradient function of the snippet that divides by 0": (
        """
        @tf.custom_gradient
        def doubled(x):
            return x * 2.0, lambda upstream: upstream / (x - 1.0)  # here

        q = tf.Variable(1.0)
        with tf.GradientTape() as t:
            out = doubled(q) + 3.0
        t.gradient(out, q)
        """,
        ["The gradient function that doubled brings", "gave NaN or infinity"],
    ),
    "a slope too steep for float32": (
        """
        q, s = tf.Variable(0.5), tf.constant(1e-26)
        with tf.GradientTape() as t:
            out = tf.square(
                (q - 1.0) / s)  # here
        t.gradient(out, q)
        """,
        ["too large for float32", "3.4e38", "away from 0"],
    ),
    "an upstream gradient that is infinite": (
        """
        q = tf.Variable(2.0)
        with tf.GradientTape() as t:
            out = 3.0 * q
        t.gradient(out, q, output_gradients=tf.constant(float("inf")))  # here
        """,
        ["output_gradients"],
    ),
}


@pytest.mark.parametrize("name", WORDS)
def test_nonfinite(name: str, recorder: Recorder) -> None:
    from tapeviz.recording.live import Snippet

    text, said = WORDS[name]
    text = "import tensorflow as tf\n" + dedent(text).strip() + "\n"
    live = recorder.record(Snippet(text))
    trace = live.wait(60)
    live.release()
    call = diagnose(trace).calls[-1]
    finding = call.findings[0]
    assert "stop" not in [step.kind for step in call.steps]
    line = next(n for n, line in enumerate(text.splitlines(), 1) if MARK in line)
    assert finding.status == "nonfinite"
    assert finding.cause is not None
    assert (finding.cause.kind, finding.cause.line) == ("nonfinite", line)
    missing = [part for part in said if part.lower() not in finding.message.lower()]
    assert not missing, finding.message


def test_a_gradient_without_elements_is_zero(recorder: Recorder) -> None:
    """All of its elements are 0, as there are none."""
    from tapeviz.recording.live import Snippet

    live = recorder.record(
        Snippet(
            "import tensorflow as tf\nq = tf.Variable(tf.zeros([0, 3]))\n"
            "with tf.GradientTape() as t:\n    out = q * 2.0\nt.gradient(out, q)\n"
        )
    )
    trace = live.wait(60)
    live.release()
    assert diagnose(trace).calls[0].findings[0].status == "zero"
