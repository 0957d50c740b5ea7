"""The gradient across a cut is compared with finite differences, and what they say is told."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pytest

from tapeviz.analysis.run_words import check_words, trust_words
from tapeviz.trace.calls import Check

from .asking import ask

if TYPE_CHECKING:
    from tapeviz.recording.live import Recorder

AGREEING = {
    "a source that was written before the tape began": """
        w, v = tf.Variable(3.0), tf.Variable(1.0)
        v.assign(w)
        w.assign(w * v)
        with tf.GradientTape() as t:
            v.assign_add(w)
            y = v * v
        t.gradient(y, w)
        """,
    "a moving average that began as a copy of the source": """
        w = tf.Variable(3.0)
        average = tf.Variable(w)
        with tf.GradientTape() as t:
            average.assign(0.9 * average + 0.1 * w)
            y = average * average
        t.gradient(y, w)
        """,
    "a write inside of a compiled function": """
        w, kept = tf.Variable(1.0), tf.Variable(0.0)
        @tf.function
        def f(x):
            kept.assign_add(x * w)
            return kept * 2.0
        with tf.GradientTape() as t:
            y = f(tf.constant(3.0))
        t.gradient(y, w)
        """,
    "calls of a compiled function before the tape": """
        w = tf.Variable(2.0)
        @tf.function
        def f(x):
            return w * x
        early = [f(tf.constant(float(n))) for n in range(3)]
        with tf.GradientTape() as t:
            y = tf.add_n(early) ** 2
        t.gradient(y, w)
        """,
    "a draw in the shape of what depends on the source": """
        mean, z = tf.Variable([1.0, 2.0]), tf.Variable(tf.zeros(2))
        with tf.GradientTape() as t:
            m = mean * 2.0
            z.assign(tf.random.normal(tf.shape(m)) + m)
            y = tf.reduce_sum(z * z)
        t.gradient(y, mean)
        """,
    "meta-learning through a layer": """
        tf.random.set_seed(1)
        layer = tf.keras.layers.Dense(2)
        layer.build((None, 3))
        x, y, rate = tf.random.normal((4, 3)), tf.random.normal((4, 2)), tf.Variable(0.1)
        with tf.GradientTape() as outer:
            with tf.GradientTape() as inner:
                loss = tf.reduce_mean((layer(x) - y) ** 2)
            layer.kernel.assign(layer.kernel - rate * inner.gradient(loss, layer.kernel))
            meta = tf.reduce_mean((layer(x) - y) ** 2)
        outer.gradient(meta, rate)
        """,
    "set_weights": """
        model = tf.keras.Sequential([tf.keras.Input((3,)), tf.keras.layers.Dense(2)])
        x, k = tf.ones((2, 3)), tf.Variable(0.5)
        with tf.GradientTape() as t:
            model.set_weights([k * w for w in model.trainable_variables])
            y = tf.reduce_sum(model(x) ** 3)
        t.gradient(y, k)
        """,
    "a layer that float64 does not have": """
        norm = tf.keras.layers.BatchNormalization()
        norm.build((None, 4, 4, 2))
        kernel, k = tf.Variable(tf.zeros((2, 2, 1, 2))), tf.Variable(tf.random.normal((2, 2, 1, 2)))
        image = tf.random.normal((2, 5, 5, 1))
        with tf.GradientTape() as t:
            kernel.assign(k * 2.0)
            out = tf.reduce_sum(norm(tf.nn.conv2d(image, kernel, 1, "VALID"), training=True) ** 4)
        t.gradient(out, k)
        """,
    "scatter and a lookup": """
        table, delta = tf.Variable(tf.random.normal((5, 2))), tf.Variable(tf.random.normal((2, 2)))
        with tf.GradientTape() as t:
            table.scatter_update(tf.IndexedSlices(delta * 3.0, [1, 3]))
            table.scatter_nd_add([[0], [1]], delta ** 2)
            out = tf.reduce_sum(tf.nn.embedding_lookup(table, [1, 1, 3, 0]) ** 2)
        t.gradient(out, delta)
        """,
    "a source that is large": """
        a, b = tf.Variable(tf.random.normal((30, 40))), tf.Variable(tf.zeros((30, 40)))
        with tf.GradientTape() as t:
            b[2:].assign(tf.sin(a)[2:])
            out = tf.reduce_sum(b ** 2)
        t.gradient(out, a)
        """,
    "weights of the target that are a variable": """
        x, v, up = (tf.Variable([k, 2.0 * k]) for k in (1.0, 0.0, 3.0))
        with tf.GradientTape() as t:
            v.assign(x * x)
            y = v * 1.0
        t.gradient(y, x, output_gradients=up)
        """,
    "outside of the block": """
        x = tf.Variable([1.0, 2.0])
        y = tf.exp(x)
        with tf.GradientTape() as t:
            z = tf.reduce_sum(y * y)
        t.gradient(z, x)
        """,
    "stop_gradient": """
        x = tf.Variable([1.0, 2.0])
        with tf.GradientTape() as t:
            z = tf.reduce_sum(tf.stop_gradient(tf.sin(x)) * 3.0)
        t.gradient(z, x)
        """,
    "a custom gradient that gives None": """
        @tf.custom_gradient
        def bad(x):
            return tf.sin(x) * x, lambda up: None
        x = tf.Variable([1.0, 2.0])
        with tf.GradientTape() as t:
            z = tf.reduce_sum(bad(x))
        t.gradient(z, x)
        """,
}


HOLDING = {
    "updates made of earlier gradients are held fixed": """
        w, level, history = tf.Variable(2.0), tf.Variable(0.0), []
        for i in range(3):
            with tf.GradientTape() as t:
                loss = (w * w - i) ** 2
                history.append(loss)
                level.assign(0.9 * level + 0.1 * tf.add_n(history))
                total = level * loss
            w.assign_sub(0.01 * t.gradient(total, w))
        with tf.GradientTape() as t:
            y = level * 1.0
        t.gradient(y, w)
        """,
    "updates made of earlier gradients are held fixed ": """
        w, level = tf.Variable([2.0, -1.0]), tf.Variable(0.0)
        sgd = tf.keras.optimizers.SGD(0.01)
        for i in range(3):
            with tf.GradientTape() as t:
                loss = tf.reduce_sum((w * w - i) ** 2)
            level.assign(0.9 * level + 0.1 * loss)
            sgd.apply_gradients([(t.gradient(loss, w), w)])
        with tf.GradientTape() as t:
            y = level * 1.0
        t.gradient(y, w)
        """,
    "what line 4 made of x before the tape began is held fixed": """
        x = tf.constant([1.0, 2.0])
        v = tf.Variable(3.0 * x)
        with tf.GradientTape() as t:
            y = tf.stack([x, v])
        t.gradient(y, x)
        """,
    "": """
        x, beside = tf.constant([1.0, 2.0]), tf.Variable(0.0)
        v = tf.Variable(3.0 * x)
        beside.assign(tf.reduce_sum(v))
        with tf.GradientTape() as t:
            y = x * beside.shape.rank
        t.gradient(y, x)
        """,
}


@pytest.mark.parametrize("words", HOLDING)
def test_what_is_held_fixed_is_told(words: str, recorder: Recorder) -> None:
    found = ask(recorder, HOLDING[words])[1][-1]
    assert found.bridged is not None
    assert found.held == words.strip()
    assert found.check is not None
    assert found.check.agrees, found.check
    if words:
        agrees, _, held = trust_words(found).partition("; ")
        assert agrees.startswith("agrees with finite differences")
        assert held == words.strip()


@pytest.mark.parametrize("name", AGREEING)
def test_finite_differences_agree(name: str, recorder: Recorder) -> None:
    _, findings = ask(recorder, AGREEING[name])
    found = next(finding for finding in findings if finding.status != "flows")
    assert found.bridged is not None
    assert found.check is not None
    assert found.check.agrees, found.check
    assert not found.is_estimated


def test_a_part_of_a_gradient_is_not_given_for_the_whole(recorder: Recorder) -> None:
    """More calls of a compiled function than are opened lead to the target."""
    early = "calls of a compiled function before the tape"
    _, (found,) = ask(recorder, AGREEING[early].replace("range(3)", "range(30)"))
    assert (found.status, found.bridged) == ("none", None)


def test_the_output_gradients_of_a_variable_are_what_it_held(recorder: Recorder) -> None:
    trace, (found,) = ask(recorder, AGREEING["weights of the target that are a variable"])
    assert found.bridged is not None
    np.testing.assert_allclose(trace.value(found.bridged), [6.0, 24.0])  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("write", "gradient"),
    [
        ("a.assign(2.0 * a)", [4.0, 8.0]),
        ("a.assign_sub(0.5 * a * b); b.assign(3.0 * b)", [1.0, 2.0]),
    ],
)
def test_a_write_to_the_source_does_not_count_twice(
    write: str, gradient: list[float], recorder: Recorder
) -> None:
    """A tape adds up over the reads of all versions: a is asked about as it was read last."""
    trace, (found, *_) = ask(
        recorder,
        f"""
        a, b = tf.Variable([1.0, 2.0]), tf.Variable(1.0)
        with tf.GradientTape() as t:
            {write}
            y = tf.reduce_sum(tf.stop_gradient(a) ** 2)
        t.gradient(y, [a, b])
        """,
    )
    assert found.bridged is not None
    np.testing.assert_allclose(trace.value(found.bridged), gradient)  # type: ignore[arg-type]
    assert found.check is not None
    assert found.check.agrees, found.check
    assert "assign" not in {cause.kind for cause in found.others}


def test_a_stop_that_the_gradient_goes_around_is_no_cut_beside_a_zero(recorder: Recorder) -> None:
    """In ``tf.nn.moments`` the part by the mean of the variance's slope adds up to 0."""
    _, (found,) = ask(
        recorder,
        """
        a, b = tf.Variable([1.0, 2.0]), tf.Variable([0.0, 0.0])
        with tf.GradientTape() as t:
            mean, variance = tf.nn.moments(a * b, [0])
            y = variance + mean
        t.gradient(y, a)
        """,
    )
    assert found.status == "zero"
    assert found.cause is not None
    assert found.cause.kind == "multiplied-by-zero"
    assert not found.others


def test_a_wrong_gradient_is_told(recorder: Recorder) -> None:
    """The replay takes a custom gradient at its word; finite differences do not."""
    _, (found,) = ask(
        recorder,
        """
        @tf.custom_gradient
        def wrong(x):
            return tf.sin(x), lambda up: 2.0 * up * tf.cos(x)
        x, v = tf.Variable(0.5), tf.Variable(0.0)
        with tf.GradientTape() as t:
            v.assign(wrong(x))
            y = v * 1.0
        t.gradient(y, x)
        """,
    )
    assert found.check is not None
    assert found.check.error == pytest.approx(0.5, abs=1e-4)
    assert not found.check.agrees
    assert check_words(found.check) == "finite differences give another number: 50% off"


@pytest.mark.parametrize(
    ("value", "words"),
    [
        ("tf.py_function(lambda a: a * 2.0, [x], tf.float32)", "Python function"),
        ("tf.where(x > 0.0, x, 3.0 + x)", "do not settle"),
    ],
)
def test_what_cannot_be_compared_says_why(value: str, words: str, recorder: Recorder) -> None:
    _, (found,) = ask(
        recorder,
        f"""
        x, v = tf.Variable(0.0), tf.Variable(0.0)
        with tf.GradientTape() as t:
            v.assign(tf.reshape({value}, ()))
            y = v * 1.0
        t.gradient(y, x)
        """,
    )
    assert found.bridged is not None
    assert found.check is not None
    assert words in found.check.words
    assert found.check.error is None


def test_the_words_of_an_error() -> None:
    assert check_words(Check(3.2e-6, True)) == "agrees with finite differences to 3e-06"
    assert check_words(Check(0.0, True)) == "agrees with finite differences to 1e-12"
    assert check_words(Check(words="too long")) == "not checked: too long"


def test_a_jacobian_across_a_cut(recorder: Recorder) -> None:
    _, (found,) = ask(
        recorder,
        """
        x, v = tf.Variable([1.0, 2.0]), tf.Variable([0.0, 0.0])
        with tf.GradientTape() as t:
            v.assign(x * x)
            y = tf.stack([v[0] * v[1], v[1], v[0]])
        t.jacobian(y, x)
        """,
    )
    assert found.status == "none"
    assert found.bridged_value is not None
    assert found.bridged_value.tolist() == [[8.0, 4.0], [0.0, 4.0], [2.0, 0.0]]
