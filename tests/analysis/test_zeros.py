"""Why gradients are zero where TensorFlow shows little: in Python that it calls back, in custom
gradients of compiled functions, behind a dead ReLU, in loops, in forward mode."""

from __future__ import annotations

from textwrap import dedent
from typing import TYPE_CHECKING

import pytest

from ..python_versions import needs_columns

if TYPE_CHECKING:
    from tapeviz.analysis.findings import Finding
    from tapeviz.recording.live import Recorder

SNIPPET = dedent(
    """
    import numpy as np
    import tensorflow as tf
    w = tf.Variable([1.0, -2.0])

    def called_back(function, x):
        out = tf.py_function(function, [x], tf.float32)
        return tf.ensure_shape(out, [2])

    @tf.function
    def python_step():
        with tf.GradientTape() as tape:
            both = called_back(lambda v: v * v, w)
            loss = called_back(lambda v: tf.sign(v) * 2.0, both)  # cut python_step
        return tape.gradient(loss, w)

    def as_array(v):
        return tf.constant(v.numpy() * 2.0)  # cut python_forward

    @tf.function
    def python_forward(x):
        return tf.reduce_sum(tf.py_function(as_array, [x * 3.0], tf.float32))

    @tf.function
    def helper(v):
        return tf.round(v * 0.1)  # cut python_function

    @tf.function
    def python_function():
        with tf.GradientTape() as tape:
            loss = called_back(helper, w)
        return tape.gradient(loss, w)

    @tf.custom_gradient
    def gate(x):
        def grad(upstream):
            return upstream * 0.0  # cut gate
        return tf.tanh(x), grad

    @tf.custom_gradient
    def through(x):
        return tf.tanh(x), lambda upstream: upstream

    @tf.function
    def gated(x):
        return tf.reduce_sum(tf.sigmoid(gate(x * 3.0)))

    @tf.function
    def clipped(x):
        return tf.reduce_sum(through(tf.nn.relu(x - 9.0)))  # cut clipped

    @tf.function
    def beside(x):
        aside = tf.nn.relu(tf.constant([-1.0, -2.0]) * w)
        return tf.reduce_sum(gate(x) + aside * 0.0)

    @tf.function
    def listed():
        with tf.GradientTape() as tape:
            mapped = tf.map_fn(clamp, (w * 1.5)[None])
            loss = tf.reduce_sum(mapped)
        return tape.gradient(loss, w)

    def clamp(h):
        return tf.cumsum(tf.clip_by_value(h + 9.0, 0.3, 0.4))  # cut listed

    @tf.function
    def one_turn(x):
        h = x * 1.5
        for turn in tf.range(3):
            if turn == 1:
                h = tf.nn.relu(h - 9.0)  # cut one_turn
            h = tf.sin(h) + 1.0
        return tf.gradients(tf.reduce_sum(h), x)[0]

    @tf.function
    def first_turn(u):
        h = tf.zeros([2])
        for _ in tf.range(1):
            h = tf.tanh(h * u + 0.5)  # cut first_turn
        return h

    @tf.function
    def last_op(u):
        h = tf.ones([2])
        for turn in tf.range(2):
            h = h * tf.cast(turn, tf.float32) * u  # cut last_op
        return h

    def chosen(state, element):
        return tf.where(state < 99.0, [0.3, 0.6], state) * 0.5 + element  # cut scanned

    @tf.recompute_grad
    def recomputed(h):
        return tf.exp(h) * [0.0, 0.0] + 1.0  # cut recomputed

    def whole(h):
        return tf.cast(tf.cast(h * 5.0, tf.int32), tf.float32)  # cut python_twice

    @tf.function
    def python_twice(x):
        return called_back(lambda v: v * 2.0, called_back(whole, x))

    relu = tf.keras.layers.Dense(2, "relu", bias_initializer=tf.keras.initializers.Constant(-9.0))
    dense = tf.keras.layers.Dense(1)

    python_step()
    for forward in (python_forward, gated, clipped):
        with tf.GradientTape() as tape:
            loss = forward(w)
        tape.gradient(loss, w)
    python_function()
    u = tf.Variable([0.5, 0.5])
    with tf.GradientTape() as tape:
        loss = beside(u)
    tape.gradient(loss, u)
    with tf.GradientTape(persistent=True) as tape:
        first, last = tf.exp(first_turn(u)), tf.exp(last_op(u))
    tape.gradient(first, u), tape.gradient(last, u)
    with tf.GradientTape() as tape:
        hidden = relu(tf.reshape(w, [1, 2]) ** 2)  # cut dead
        loss = dense(tf.identity(hidden))
    tape.gradient(loss, dense.kernel)
    listed(), one_turn(tf.constant([0.5, 0.2]))
    with tf.GradientTape() as tape:
        loss = tf.reduce_sum(tf.scan(chosen, tf.ones([2, 2]), initializer=w * 1.5)[-1])
    tape.gradient(loss, w)
    with tf.GradientTape() as tape:
        loss = tf.reduce_sum(recomputed(w * 1.5))
    tape.jacobian(loss, w)
    with tf.GradientTape() as tape:
        loss = tf.reduce_sum(tf.vectorized_map(lambda e: e * 2.0, python_twice(w * 1.5)[None]))
    tape.gradient(loss, w)
    with tf.GradientTape() as tape:
        h = tf.constant((w * 1.5).numpy())  # cut inner_jacobian
        with tf.GradientTape() as inner:
            inner.watch(h)
            e = tf.sin(h) + tf.reverse(h, [0]) ** 2
        loss = tf.reduce_sum(inner.jacobian(e, h))
    tape.gradient(loss, w, unconnected_gradients="zero")

    @tf.function
    def compiled_jacobian():
        h = tf.cast(w * 1.5 > 0.3, tf.float32)  # cut compiled_jacobian
        with tf.GradientTape() as inner:
            inner.watch(h)
            e = tf.sin(h) + tf.reverse(h, [0]) ** 2
        return tf.reduce_sum(inner.jacobian(e, h))

    with tf.GradientTape() as tape:
        loss = compiled_jacobian()
    tape.gradient(loss, w, unconnected_gradients="zero")
    with tf.autodiff.ForwardAccumulator(w, tf.ones([2])) as accumulator:
        with tf.GradientTape() as tape:
            tape.watch(w)
            loss = tf.reduce_sum(tf.nn.relu(w * 2.0))  # cut second_order
        slope = tape.gradient(loss, w)
    accumulator.jvp(slope)

    def forward(function, tangents):
        with tf.autodiff.ForwardAccumulator(w, tf.constant(tangents)) as accumulator:
            out = function(w * 1.5)
        return accumulator.jvp(out)  # cut forward_sum

    forward(lambda h: tf.sin(tf.nn.relu(h - 99.0)), [1.0, 1.0])  # cut forward_relu
    forward(lambda h: tf.where(h > 9.0, h, [0.1, 0.2]), [1.0, 1.0])  # cut forward_where
    forward(lambda h: tf.nn.relu(h - 99.0) + tf.sign(h), [1.0, 1.0])  # cut forward_both
    forward(tf.reduce_sum, [1.0, -1.0])
    forward(lambda h: tf.reduce_sum(h) + tf.reduce_sum(tf.sign(h)), [1.0, -1.0])
    ends = [99.0, 1.0]
    forward(lambda h: tf.nn.relu6(tf.concat([h * ends, h[:1] - h[1:]], 0)), [1.0, 1.0])

    def slope(function):
        with tf.GradientTape() as tape:
            loss = function(tf.reshape([*tf.unstack(w), 3.0, 4.0], [2, 2]))
        return tape.gradient(loss, w)

    slope(lambda m: tf.linalg.slogdet(m)[0])  # cut sign
    slope(lambda m: tf.linalg.svd(m * 0.0 + tf.eye(2))[1][0, 0])  # cut equal
    slope(lambda m: tf.pad(m[0], [[2, 0]])[0])  # cut padded
    slope(lambda m: tf.tensor_scatter_nd_update(m[0], [[0], [1]], [9.0, 8.0])[0])  # cut overwritten
    slope(lambda m: tf.abs(tf.complex(m * 0.0, 0.0)))  # cut complex_abs
    slope(lambda m: tf.math.imag(tf.complex(m, 1.0)))  # cut imaginary
    alike = lambda x: (x - tf.reduce_mean(x)) / tf.math.reduce_std(x)  # cut spread
    slope(lambda m: tf.reduce_sum(alike(m[0])))
    slope(lambda m: tf.math.imag(tf.cast(m, tf.complex64)))  # cut cast
    w.assign([2.0, 2.0])
    with tf.GradientTape() as tape:
        total = tf.reduce_sum(w * 4.0)  # cut minimum
        loss = tf.reduce_sum(tf.square(w), axis=0) - total
    tape.gradient(loss, w)
    with tf.autodiff.ForwardAccumulator(w, tf.ones([2])) as accumulator:
        stopped = tf.stop_gradient(w) * 2.0  # cut forward_stopped
        apart = tf.constant(3.0) * 2.0  # cut forward_apart
        cast = tf.cast(tf.cast(w, tf.int32), tf.float32)  # cut forward_cast
        mixed = tf.nn.relu(w - 99.0) + tf.stop_gradient(w)  # cut forward_mixed
    for out in (stopped, apart, cast, mixed):
        accumulator.jvp(out, unconnected_gradients="zero")
    slope(lambda m: (m[0] - [2.0, 2.0]) ** 2)  # cut smallest
    slope(lambda m: tf.math.squared_difference(m[1], [3.0, 4.0]))  # cut reached
    slope(lambda m: tf.reduce_mean(m + 1.0) - tf.reduce_mean(m - [5.0, 3.0]))  # cut critic
    slope(lambda m: tf.gather(m[0], tf.argsort(m[0]))[1] - m[0, 1])  # cut sorted
    slope(lambda m: tf.nn.softmax(m[:, :1])[0] * 3.0)  # cut one
    slope(lambda m: tf.nn.sparse_softmax_cross_entropy_with_logits([0, 0], m[:, :1]))  # cut class
    normalised = lambda x: (x - tf.reduce_mean(x, 0)) * [5.0, 6.0]  # cut alone
    slope(lambda m: normalised(m[:1]))
    scaled = lambda e, k: e * k + (7.0 - tf.reduce_mean(e) * k)  # cut scaled
    slope(lambda m: scaled(m[0, 0], m[1, 1]))
    def divided(x):
        mean, variance = tf.nn.moments(x, [0], keepdims=True)
        return (x - mean) / tf.sqrt(variance + 0.1) * 3.0  # cut divided
    slope(lambda m: divided(m[:1]))
    score = lambda m: tf.reduce_sum(tf.sin(m) * [1.0, 3.0])
    slope(lambda m: tf.exp(score(m) - score(m)) * 5.0)  # cut twice
    met = lambda e: tf.reduce_mean(e) ** 2 - 4.0 * e  # cut met
    slope(lambda m: met(m[0, 0]))
    apart = lambda e: e - (mean := tf.reduce_mean(e)) + mean**2 - 4.0 * mean
    slope(lambda m: apart(m[0, 0]))  # cut apart
    slope(lambda m: tf.zeros([2]) ** m[0])  # cut exponent
    slope(lambda m: tf.ones([2]) ** m[0])  # cut base
    slope(lambda m: (m[0] - 2.0) ** m[0])  # cut both
    slope(lambda m: tf.reduce_sum(tf.zeros([0, 2]) @ m))  # cut empty
    slope(lambda m: tf.linalg.band_part(m, 0, 0)[0, 1])  # cut band
    slope(lambda m: tf.math.squared_difference(m[0], [2.0, 5.0])[0])  # cut element
    slope(lambda m: tf.keras.losses.huber(tf.constant([2.0, 2.0]), m[0]))  # cut chosen
    with tf.GradientTape() as tape:
        with tf.GradientTape() as inner:
            bent = tf.reduce_sum(tf.abs(w))  # cut absolute
        slopes = inner.gradient(bent, w)
    tape.gradient(slopes, w)
    factor = tf.Variable(3.0)
    with tf.GradientTape() as tape:
        with tf.GradientTape() as inner:
            dead = tf.reduce_sum(tf.nn.relu(w - 99.0))  # cut asked
        loss = factor * inner.gradient(dead, w)  # cut equation
    tape.gradient(loss, factor)
    """
).lstrip()

FOUND = {
    "python_step": ("flat-op", "tf.sign on line {line} has a derivative of 0 everywhere"),
    "python_forward": ("left-tensorflow", "On line {line} the value leaves TensorFlow"),
    "gate": ("custom-gradient", "gate (line {line}) was given a gradient and probably gave zeros"),
    "clipped": ("saturated", "tf.nn.relu on line {line} is flat at these values"),
    "python_function": ("not-differentiable", "tf.round on line {line}"),
    "beside": (
        "custom-gradient",
        "gate (line {line}) was given a gradient and probably gave zeros",
    ),
    "first_turn": ("multiplied-by-zero", "h * u on line {line} multiplies by a value that is 0"),
    "last_op": ("multiplied-by-zero", "Mul on line {line} multiplies by a value that is 0"),
    "dead": ("multiplied-by-zero", "by what Relu on line {line} gives, which is 0 everywhere at"),
    "listed": ("saturated", "tf.clip_by_value on line {line} is flat at these values"),
    "one_turn": ("saturated", "tf.nn.relu on line {line} is probably flat at these values"),
    "scanned": ("multiplied-by-zero", "tf.where on line {line} chooses the other value wherever"),
    "recomputed": ("multiplied-by-zero", "tf.exp(h) * [0.0, 0.0] on line {line} multiplies"),
    "python_twice": ("integer", "Line {line} turns the value into int32"),
    "inner_jacobian": ("left-tensorflow", "On line {line} the value leaves TensorFlow"),
    "compiled_jacobian": ("not-differentiable", "goes through w * 1.5 > 0.3 on line {line}"),
    "second_order": ("flat-op", "The ReLU on line {line} is made of straight lines"),
    "forward_relu": ("saturated", "tf.nn.relu on line {line} is flat at these values"),
    "forward_where": ("multiplied-by-zero", "tf.where on line {line} chooses the other value"),
    "forward_both": ("flat-op", "tf.sign on line {line} has a derivative of 0 everywhere"),
    "forward_sum": ("cancelled", "tangents contribute to out is 0 or adds up"),
    "forward_beside": ("cancelled", "tangents contribute to out is 0 or adds up"),
    "forward_between": ("cancelled", "tangents contribute to out is 0 or adds up"),
    "sign": ("flat-op", "tf.linalg.slogdet on line {line} has a derivative of 0 everywhere"),
    "equal": ("saturated", "tf.linalg.svd on line {line} found values that are equal"),
    "padded": ("multiplied-by-zero", "tf.pad on line {line} puts together what comes from w and"),
    "overwritten": (
        "multiplied-by-zero",
        "tf.tensor_scatter_nd_update on line {line} puts together what comes from w and",
    ),
    "complex_abs": (
        "saturated",
        "tf.abs on line {line} got only 0, where its graph has a corner",
    ),
    "imaginary": (
        "multiplied-by-zero",
        "tf.complex on line {line} makes complex numbers, and w is",
    ),
    "spread": ("cancelled", "is zero because loss does not change when w does, as with the sum"),
    "cast": ("multiplied-by-zero", "tf.cast on line {line} makes complex numbers of real ones"),
    "minimum": ("cancelled", "loss is at a minimum, a maximum or a saddle point of w"),
    "forward_stopped": ("stop-gradient", "ine {line}"),
    "forward_apart": ("not-connected", "out was not computed from w"),
    "forward_cast": ("integer", "Line {line} turns the value into int32"),
    "forward_mixed": ("saturated", "tf.nn.relu on line {line} is flat at these values"),
    "smallest": ("multiplied-by-zero", "on line {line} takes the power of a value that is 0"),
    "reached": ("multiplied-by-zero", "on line {line} takes the square of a difference that is 0"),
    "critic": ("cancelled", "only sums, means and differences lead from w to loss"),
    "sorted": ("cancelled", "at these values"),
    "one": ("cancelled", "tf.nn.softmax on line {line} takes a softmax of a single number"),
    "class": ("cancelled", "logits on line {line} takes a softmax of a single number"),
    "alone": ("cancelled", "Line {line} subtracts the mean of a single element from"),
    "scaled": ("cancelled", "Line {line} subtracts the mean of a single element from"),
    "divided": ("cancelled", "Line {line} subtracts the mean of a single element from"),
    "twice": ("cancelled", "Both sides of score(m) - score(m) on line {line} are the same"),
    "met": ("cancelled", "loss is at a minimum, a maximum or a saddle point of w"),
    "apart": ("cancelled", "loss is at a minimum, a maximum or a saddle point of w"),
    "exponent": ("multiplied-by-zero", "on line {line} takes powers of numbers that are all 0, or"),
    "base": ("multiplied-by-zero", "on line {line} takes powers of numbers that are all 0, or all"),
    "both": ("multiplied-by-zero", "takes the power of a value that is 0 everywhere"),
    "empty": ("multiplied-by-zero", "on line {line} works on a tensor without any element"),
    "band": ("multiplied-by-zero", "tf.linalg.band_part on line {line} keeps other elements than"),
    "element": ("saturated", "tf.math.squared_difference on line {line} is flat at these values"),
    "chosen": ("multiplied-by-zero", "on line {line} takes the square of a value that is 0"),
    "absolute": ("flat-op", "The slope of tf.abs on line {line} jumps"),
    "asked": ("saturated", "tf.nn.relu on line {line} is flat at these values"),
    "equation": ("multiplied-by-zero", "multiplies by the gradient that line {line} asks for"),
}


def _line(name: str) -> int:
    lines = SNIPPET.splitlines()
    beside = dict.fromkeys(("forward_beside", "forward_between"), "forward_sum")
    name = {"beside": "gate", **beside}.get(name, name)
    return next(n for n, line in enumerate(lines, 1) if line.endswith(f"# cut {name}"))


@pytest.fixture(scope="module")
def findings(recorder: Recorder) -> list[Finding]:
    from tapeviz.analysis import diagnose
    from tapeviz.recording.live import Snippet

    live = recorder.record(Snippet(SNIPPET))
    trace = live.wait(60)
    live.release()
    assert trace.failure is None, trace.failure
    assert not trace.notes
    found = [call.findings[0] for call in diagnose(trace).calls]
    return [finding for finding in found if finding.status != "flows"]  # the inner jacobian does


@needs_columns
def test_the_op_that_made_the_zeros_is_named(findings: list[Finding]) -> None:
    assert len(findings) == len(FOUND)
    for finding, (name, (kind, words)) in zip(findings, FOUND.items(), strict=True):
        assert finding.status == "zero", (name, finding)
        assert finding.cause is not None
        assert finding.cause.kind == kind, (name, finding)
        assert words.format(line=_line(name)) in finding.message, name
