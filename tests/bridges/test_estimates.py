"""Across an op without a slope the gradient is estimated, and marked so; numbers by hand."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pytest

from .asking import ask

if TYPE_CHECKING:
    from tapeviz.recording.live import Recorder

X = np.array([0.2, 1.7, -0.6])
CHANCES = np.exp(X) / np.exp(X).sum()


def soft(gains: list[float]) -> np.ndarray:
    """The derivative of the mean gain under a softmax over X."""
    mean = float(CHANCES @ gains)
    return CHANCES * (np.array(gains) - mean)


def sigmoid_slope(margin: np.ndarray) -> np.ndarray:
    return np.exp(-margin) / (1 + np.exp(-margin)) ** 2


ESTIMATES = {
    "tf.reduce_sum(tf.round(x) ** 2)": 2 * np.round(X),
    "tf.reduce_sum(tf.sign(x) * 3.0)": np.full(3, 3.0),
    "tf.reduce_sum(tf.math.ceil(2.0 * x))": np.full(3, 2.0),
    "tf.reduce_sum(x // 0.5)": np.full(3, 2.0),
    "tf.reduce_sum(tf.cast(x > 0.5, tf.float32))": sigmoid_slope(X - 0.5),
    "tf.reduce_sum(tf.cast(x <= 0.5, tf.float32))": -sigmoid_slope(X - 0.5),
    "tf.reduce_sum(tf.where(x > 0.0, 2.0, 1.0))": sigmoid_slope(X),
    "tf.cast(tf.argmax(x), tf.float32) * 2.0": soft([0.0, 2.0, 4.0]),
    "tf.reduce_sum(tf.one_hot(tf.argmax(x), 3) * [1.0, 2.0, 4.0])": soft([1.0, 2.0, 4.0]),
    "tf.gather(tf.constant([5.0, 1.0, 2.0]), tf.argmax(x))": soft([5.0, 1.0, 2.0]),
    "tf.cast(tf.equal(tf.argmax(x), 1), tf.float32)": soft([0.0, 1.0, 0.0]),
    "tf.reduce_sum(tf.cast(tf.cast(x * 3.0, tf.int32), tf.float32) * 2.0)": np.full(3, 6.0),
}


@pytest.fixture(scope="module")
def estimated(recorder: Recorder) -> dict[str, tuple[object, bool]]:
    """All in one recording: the value, and whether it is marked."""
    asked = "\n".join(
        f"with tf.GradientTape() as t:\n    y = {code}\nt.gradient(y, x)" for code in ESTIMATES
    )
    trace, findings = ask(recorder, f"x = tf.Variable({X.tolist()})\n{asked}")
    return {
        code: (trace.value(finding.bridged) if finding.bridged else None, finding.is_estimated)
        for code, finding in zip(ESTIMATES, findings, strict=True)
    }


@pytest.mark.parametrize("code", ESTIMATES)
def test_estimate(code: str, estimated: dict[str, tuple[object, bool]]) -> None:
    value, is_marked = estimated[code]
    assert is_marked
    np.testing.assert_allclose(value, ESTIMATES[code], rtol=1e-4, atol=1e-6)  # type: ignore[arg-type]


def test_whole_numbers_are_taken_for_real_ones(recorder: Recorder) -> None:
    trace, (found,) = ask(
        recorder,
        "k = tf.Variable(3)\nwith tf.GradientTape() as t:\n    y = k * k\nt.gradient(y, k)",
    )
    assert found.is_estimated
    assert found.bridged is not None
    assert trace.value(found.bridged) == 6.0


@pytest.mark.parametrize(
    "code",
    [
        "tf.one_hot(tf.argmax(x), 5)[0] * 2.0",  # five choices, three scores
        "tf.reduce_sum(x) * 0.0 + tf.sign(x)[0] * x[0]",  # it flows: nothing to estimate
    ],
)
def test_no_estimate(code: str, recorder: Recorder) -> None:
    _, (found,) = ask(
        recorder,
        f"x = tf.Variable([0.2, 1.7, -0.6])\nwith tf.GradientTape() as t:\n    y = {code}\n"
        "t.gradient(y, x)",
    )
    assert found.bridged is None
    assert not found.is_estimated


def test_an_exact_gradient_goes_before_an_estimate(recorder: Recorder) -> None:
    """An assign on one way, a rounding on another: only the first can be followed."""
    trace, (found,) = ask(
        recorder,
        """
        x, v = tf.Variable(2.0), tf.Variable(0.0)
        with tf.GradientTape() as t:
            v.assign(x * x)
            y = v + tf.round(x)
        t.gradient(y, x)
        """,
    )
    assert not found.is_estimated
    assert found.bridged is not None
    assert trace.value(found.bridged) == 4.0
