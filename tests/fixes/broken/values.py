"""Gradients that are NaN, infinite or zero by the numbers."""

from __future__ import annotations

import numpy as np

from . import Row

ROWS: dict[str, Row] = {
    "two ops of a line that give NaN, the second to another source": (
        """
        mu, sigma = tf.Variable(0.5), tf.Variable(0.0)
        with tf.GradientTape() as tape:
            y = tf.math.log(sigma) + ((1.0 - mu) / sigma) ** 2
        tape.gradient(y, [mu, sigma])
        tape = tf.GradientTape()
        with tape:
            y = tf.math.log(sigma) + ((1.0 - mu) / sigma) ** 2
        tape.gradient(y, sigma)
        """,
        "y = tf.math.log(tf.maximum(sigma, 1e-7)) + tf.math.divide_no_nan((1.0 - mu), sigma) ** 2",
        0.0,
    ),
    "a logarithm of one more at its edge": (
        """
        x = tf.Variable([-1.0, 0.5])
        with tf.GradientTape() as tape:
            y = tf.reduce_sum(tf.math.log1p(x))
        tape.gradient(y, x)
        """,
        "y = tf.reduce_sum(tf.math.log1p(tf.maximum(x, 1e-6 - 1.0)))",
        [0.0, 0.6666667],
    ),
    "tangents of 0": (
        """
        x = tf.constant([1.0, 2.0])
        with tf.autodiff.ForwardAccumulator(x, tf.zeros_like(x)) as accumulator:
            y = tf.reduce_sum(x * [3.0, 4.0])
        accumulator.jvp(y)
        """,
        "with tf.autodiff.ForwardAccumulator(x, tf.ones_like(x)) as accumulator:",
        7.0,
    ),
    "a squared hinge that is satisfied": (
        """
        d = tf.Variable([2.0])
        def penalty(distance):
            h = tf.maximum(1.0 - distance, 0.0)
            return tf.reduce_sum(h ** 2)
        with tf.GradientTape() as tape:
            loss = penalty(d)
        tape.gradient(loss, d)
        """,
        "h = tf.nn.softplus(1.0 - distance)",
        [-2 * np.log1p(np.exp(-1.0)) / (1 + np.exp(1.0))],
    ),
    "a softmax of one unit whose probability the loss clips": (
        """
        z = tf.Variable([[0.0], [0.0]])
        with tf.GradientTape() as tape:
            p = tf.nn.softmax(z)
            loss = tf.reduce_sum(tf.keras.losses.categorical_crossentropy([[1.0], [0.0]], p))
        tape.gradient(loss, z)
        """,
        "p = tf.sigmoid(z)",
        [[-0.5], [0.5]],
    ),
    "a straight-through estimate without the parentheses": (
        """
        w = tf.Variable([0.4, 1.6])
        with tf.GradientTape() as tape:
            q = w + tf.stop_gradient(tf.round(w)) - w
            loss = tf.reduce_sum(q ** 2)
        tape.gradient(loss, w)
        """,
        "q = w + tf.stop_gradient(tf.round(w) - w)",
        [0.0, 4.0],
    ),
    "an activation that is flat far to the left": (
        """
        w = tf.Variable([-300.0, -400.0])
        with tf.GradientTape() as tape:
            y = tf.reduce_sum(tf.nn.elu(w))
        tape.gradient(y, w)
        """,
        "y = tf.reduce_sum(tf.nn.leaky_relu(w))",
        [0.2, 0.2],
    ),
    "an activation that multiplies by a gate of 0": (
        """
        w = tf.Variable([-100.0])
        with tf.GradientTape() as tape:
            y = tf.reduce_sum(tf.nn.gelu(w, approximate=False))
        tape.gradient(y, w)
        """,
        "y = tf.reduce_sum(tf.nn.leaky_relu(w))",
        [0.2],
    ),
    "output gradients of zeros": (
        """
        w = tf.Variable([1.0, 2.0])
        with tf.GradientTape() as tape:
            y = w ** 2
        tape.gradient(y, w, output_gradients=tf.zeros(2))
        """,
        "tape.gradient(y, w)",
        [2.0, 4.0],
    ),
    "a layer that normalises a single feature": (
        """
        w = tf.Variable([[2.0], [3.0]])
        norm = tf.keras.layers.LayerNormalization()
        with tf.GradientTape() as tape:
            y = tf.reduce_sum((norm(w) - 1.0) ** 2)
        tape.gradient(y, w)
        """,
        "y = tf.reduce_sum((w - 1.0) ** 2)",
        [[2.0], [4.0]],
    ),
    "an angle at the origin": (
        """
        v = tf.Variable([0.0, 0.0])
        with tf.GradientTape() as tape:
            angle = tf.atan2(v[1], v[0]) * 3.0
        tape.gradient(angle, v)
        """,
        "angle = tf.atan2(v[1], tf.where(tf.equal(v[0], 0.0) & tf.equal(v[1], 0.0), 1.0, v[0])) "
        "* 3.0",
        [0.0, 3.0],
    ),
    "an inverse tangent of an action that was squashed to 1": (
        """
        w = tf.Variable([0.5, 1.0])
        with tf.GradientTape() as tape:
            loss = tf.reduce_sum(tf.atanh(w) * 3.0)
        tape.gradient(loss, w)
        """,
        "loss = tf.reduce_sum(tf.atanh(tf.clip_by_value(w, -1 + 1e-7, 1 - 1e-7)) * 3.0)",
        [4.0, 0.0],
    ),
    "a phase at the origin": (
        """
        v = tf.Variable([0.0, 3.0])
        with tf.GradientTape() as tape:
            z = tf.complex(v, [0.0, 4.0])
            phase = tf.reduce_sum(tf.math.angle(z))
        tape.gradient(phase, v)
        """,
        "phase = tf.reduce_sum(tf.math.angle(tf.where(tf.equal(z, 0.0), tf.ones_like(z), z)))",
        [0.0, -0.16],
    ),
    "angles between bounds that are too wide": (
        """
        w = tf.Variable([0.5, 1.0])
        with tf.GradientTape() as tape:
            loss = tf.reduce_sum(tf.acos(tf.clip_by_value(w, -1.0, 1.0)) ** 2)
        tape.gradient(loss, w)
        """,
        "loss = tf.reduce_sum(tf.acos(tf.clip_by_value(w, -1 + 1e-7, 1 - 1e-7)) ** 2)",
        [-2.4183993, 0.0],
    ),
    "values that were masked after they were NaN": (
        """
        w = tf.Variable([0.0, 1.0])
        with tf.GradientTape() as tape:
            h = tf.reduce_sum(w * tf.math.log(w))
            loss = tf.where(tf.math.is_nan(h), 0.0, h) + tf.reduce_sum(w)
        tape.gradient(loss, w)
        """,
        "h = tf.reduce_sum(tf.math.xlogy(w, w))",
        [1.0, 2.0],
    ),
    "a branch of tf.where that was made before it": (
        """
        d = tf.Variable([[0.0, 0.0], [3.0, 4.0]])
        with tf.GradientTape() as tape:
            r = tf.sqrt(tf.reduce_sum(d ** 2, -1))
            e = (1.0 / r) ** 6
            loss = tf.reduce_sum(tf.where(tf.constant([True, False]), 0.0, e))
        tape.gradient(loss, d)
        """,
        "r = tf.sqrt(tf.where(tf.constant([True, False]), 1.0, tf.reduce_sum(d ** 2, -1)))",
        [[0.0, 0.0], [-18 / 5**8, -24 / 5**8]],
    ),
    "a deviation at zero": (
        """
        x = tf.Variable([1.0, 1.0])
        with tf.GradientTape() as tape:
            s = tf.math.reduce_std(x)
        tape.gradient(s, x)
        """,
        "s = tf.sqrt(tf.math.reduce_variance(x) + 1e-12)",
        [0.0, 0.0],
    ),
    "what is new, against the same": (
        """
        w = tf.Variable(3.0)
        def policy():
            return w * w
        with tf.GradientTape() as tape:
            new = policy()
            old = policy()
            ratio = tf.exp(new - old)
        tape.gradient(ratio, w)
        """,
        "ratio = tf.exp(new - tf.stop_gradient(old))",
        6.0,
    ),
    "a logarithm of a product that is too small": (
        """
        x = tf.Variable([1e-20, 2e-20, 4e-20])
        with tf.GradientTape() as tape:
            y = -tf.math.log(tf.reduce_prod(x))
        tape.gradient(y, x)
        """,
        "y = -tf.reduce_sum(tf.math.log(x))",
        [-1e20, -5e19, -2.5e19],
    ),
    "a softplus by hand": (
        """
        x = tf.Variable([100.0, 0.0])
        with tf.GradientTape() as tape:
            y = tf.reduce_sum(tf.math.log(1.0 + tf.exp(x)))
        tape.gradient(y, x)
        """,
        "y = tf.reduce_sum(tf.math.softplus(x))",
        [1.0, 0.5],
    ),
    "the logarithm of what is taken from a softmax": (
        """
        x = tf.Variable([[300.0, 0.0], [0.0, 300.0]])
        right = tf.constant([1, 0])
        with tf.GradientTape() as tape:
            p = tf.nn.softmax(x)
            picked = tf.gather(p, right, batch_dims=1)
            y = tf.reduce_sum(tf.math.log(picked))
        tape.gradient(y, x)
        """,
        "y = tf.reduce_sum(tf.gather(tf.nn.log_softmax(x), right, batch_dims=1))",
        [[-1.0, 1.0], [1.0, -1.0]],
    ),
    "the logarithm of what a one_hot takes from a softmax": (
        """
        x = tf.Variable([[300.0, 0.0], [0.0, 300.0]])
        with tf.GradientTape() as tape:
            picked = tf.reduce_sum(tf.one_hot([1, 0], 2) * tf.nn.softmax(x), axis=1)
            y = tf.reduce_sum(tf.math.log(picked))
        tape.gradient(y, x)
        """,
        "y = tf.reduce_sum(tf.reduce_sum(tf.nn.log_softmax(x) * tf.one_hot([1, 0], 2), axis=1))",
        [[-1.0, 1.0], [1.0, -1.0]],
    ),
    "a sigmoid by hand, and its logarithm": (
        """
        x = tf.Variable([-100.0, 0.0])
        with tf.GradientTape() as tape:
            p = 1 / (1 + tf.exp(-x))
            y = tf.reduce_sum(tf.math.log(p))
        tape.gradient(y, x)
        """,
        "y = tf.reduce_sum(-tf.math.softplus(-x))",
        [1.0, 0.5],
    ),
    "the norm of several tensors at zero": (
        """
        w = [tf.Variable([0.0, 0.0]), tf.Variable(1.0)]
        with tf.GradientTape() as tape:
            loss = tf.linalg.global_norm([w[0], w[1] - 1.0])
        tape.gradient(loss, w[0])
        """,
        "loss = tf.sqrt(tf.add_n([tf.reduce_sum(tf.square(t)) for t in [w[0], w[1] - 1.0]]) "
        "+ 1e-12)",
        [0.0, 0.0],
    ),
}
