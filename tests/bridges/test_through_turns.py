"""A cut inside of a compiled loop: the gradient across it is that of the loop run op by op."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pytest

from tapeviz.analysis.findings import Finding
from tapeviz.trace.model import Trace

from .asking import ask

if TYPE_CHECKING:
    from tapeviz.recording.live import Recorder

LOOPS = {
    "a state written in each turn, the tape inside": """
        w, s = tf.Variable(1.3), tf.Variable(0.5)
        @tf.function
        def f():
            with tf.GradientTape() as tape:
                for _ in tf.range(5):
                    s.assign(s * w + 0.1)
                y = s * 2.0
            return tape.gradient(y, w)
        f()
        """,
    "a state that is read on after the call": """
        w, s = tf.Variable(1.3), tf.Variable(0.5)
        @tf.function
        def f():
            for _ in tf.range(4):
                s.assign_add(s * w)
        with tf.GradientTape() as tape:
            s.assign(w * 0.1)
            f()
            y = s * s
        tape.gradient(y, w)
        """,
    "more turns than are recorded": """
        w, s = tf.Variable(1.001), tf.Variable(0.0)
        @tf.function
        def f():
            with tf.GradientTape() as tape:
                x = tf.constant(1.0)
                for _ in tf.range(40):
                    x = x * w
                    s.assign_add(x)
                y = s / 40.0
            return tape.gradient(y, w)
        f()
        """,
    "a conditional and a loop in the loop": """
        w, s = tf.Variable(0.9), tf.Variable(0.2)
        @tf.function
        def f(x):
            with tf.GradientTape() as tape:
                h = tf.constant(0.1)
                for t in tf.range(3):
                    if x[t] > 0.0:
                        s.assign(h * w + x[t])
                    else:
                        s.assign(h * w * w)
                    for _ in tf.range(2):
                        h = h + s * 0.5
                y = h * h
            return tape.gradient(y, w)
        f(tf.constant([0.5, -0.3, 0.2]))
        """,
    "no slope, and elements of a TensorArray": """
        x = tf.Variable([0.3, 2.0])
        @tf.function
        def f():
            with tf.GradientTape() as tape:
                ta, h = tf.TensorArray(tf.float32, 3), x * 1.0
                for t in tf.range(3):
                    h = tf.floor(h * 2.5) + 0.25
                    ta = ta.write(t, h)
                y = tf.reduce_sum(ta.stack() ** 2)
            return tape.gradient(y, x)
        f()
        """,
}


@pytest.mark.parametrize("name", LOOPS)
def test_a_compiled_loop_is_bridged_turn_by_turn(recorder: Recorder, name: str) -> None:
    compiled, found = ask(recorder, LOOPS[name])
    eager, expected = ask(recorder, LOOPS[name].replace("@tf.function\n", "\n"))
    assert compiled.loops
    assert not eager.loops
    np.testing.assert_allclose(
        _bridged(compiled, found[0]), _bridged(eager, expected[0]), rtol=1e-5
    )
    assert not found[0].no_bridge
    if found[0].status == "none" and not found[0].is_estimated:
        check = found[0].check
        assert check is not None
        assert check.agrees


def test_too_many_turns_are_told(recorder: Recorder) -> None:
    _, (found,) = ask(
        recorder,
        """
        w = tf.Variable(1.0)
        @tf.function
        def f():
            with tf.GradientTape() as tape:
                x = tf.constant(1.0)
                for _ in tf.range(9000):
                    x = tf.stop_gradient(x) * 0.5 + tf.stop_gradient(w)
            return tape.gradient(x, w)
        f()
        """,
    )
    assert found.bridged is None
    assert "whose 9,000 turns are too many" in found.no_bridge


def _bridged(trace: Trace, finding: Finding) -> object:
    assert finding.status in ("none", "zero")
    assert finding.bridged is not None
    return trace.value(finding.bridged)
