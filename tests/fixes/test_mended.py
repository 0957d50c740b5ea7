"""Broken snippets in various styles, run in real kernels: the line that mends each, the number."""

from __future__ import annotations

from textwrap import dedent
from typing import TYPE_CHECKING

import numpy as np
import pytest

from tapeviz.fixes import goals, try_fixes

from ..sampling import parametrize_sampled, sampled
from .test_trying import record

if TYPE_CHECKING:
    from tapeviz.recording.live import Recorder

# Text, a line of the mended text, the gradient.
BROKEN = {
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
    "an element of an array by the place among edges, counted from 0": (
        """
        x, centers = tf.Variable([0.15, 0.5]), np.array([1.0, 3.0, 4.0], np.float32)
        with tf.GradientTape() as tape:
            k = np.digitize(x, [0.0, 0.25, 0.75]) - 1
            y = tf.reduce_sum(tf.constant(centers[k]) * [1.0, 2.0])
        tape.gradient(y, x)
        """,
        "k = np.digitize(x, [0.0, 0.25, 0.75]) - 1",
        [8.0, 4.0],
    ),
    "a mask of what is not 0, by a cast": (
        """
        x = tf.Variable([0.0, 1.5])
        with tf.GradientTape() as tape:
            y = tf.where(tf.cast(x, tf.bool), [3.0, 5.0], 0.0)
        tape.gradient(y, x)
        """,
        "y = tf.tanh(tf.abs(x)) * [3.0, 5.0] + (1.0 - tf.tanh(tf.abs(x))) * 0.0",
        [0.0, 0.9035323],
    ),
    "the rank of a matrix": (
        """
        a = tf.Variable([[1.0, 0.0], [0.0, 0.5]])
        with tf.GradientTape() as tape:
            y = tf.cast(tf.linalg.matrix_rank(a), tf.float32)
        tape.gradient(y, a)
        """,
        "y = tf.cast(tf.reduce_sum(tf.tanh(tf.linalg.svd(a, compute_uv=False)), -1), tf.float32)",
        [[0.4199743, 0.0], [0.0, 0.7864477]],
    ),
    "the lengths that rows were made of": (
        """
        lengths = tf.Variable([2.0, 1.0])
        with tf.GradientTape() as tape:
            rows = tf.RaggedTensor.from_row_lengths([1.0, 2.0, 3.0], tf.cast(lengths, tf.int64))
            y = tf.reduce_sum(tf.cast(rows.row_lengths(), tf.float32) ** 2)
        tape.gradient(y, lengths)
        """,
        "y = tf.reduce_sum(tf.cast(lengths, tf.float32) ** 2)",
        [4.0, 2.0],
    ),
    "an error that was caught on the way to the target": (
        """
        w = tf.Variable(2.0)
        n = tf.constant(3)
        with tf.GradientTape() as tape:
            try:
                y = w * n
            except Exception:
                y = tf.constant(0.0)
        tape.gradient(y, w)
        """,
        "y = w * tf.cast(n, tf.float32)",
        3.0,
    ),
    "a sparse matrix that a layer makes of its weight once": (
        """
        class Layer(tf.keras.layers.Layer):
            def build(self, shape):
                self.values = self.add_weight(shape=(2,), initializer="ones")
                self.matrix = tf.SparseTensor([[0, 0], [1, 1]], self.values * 1.0, (2, 2))
            def call(self, x):
                return tf.sparse.sparse_dense_matmul(self.matrix, x)
        layer = Layer()
        layer(tf.ones((2, 1)))
        with tf.GradientTape() as tape:
            y = layer(tf.constant([[3.0], [4.0]]))
        tape.gradient(y, layer.trainable_variables[0])
        """,
        "self.matrix = tf.SparseTensor([[0, 0], [1, 1]], self.values * 1.0, (2, 2))",
        [3.0, 4.0],
    ),
    "noise of the shape of the input, which is not used": (
        """
        v = tf.constant([1.0, 2.0])
        r = tf.random.uniform(tf.shape(v), 0.0, 1.0)
        with tf.GradientTape() as tape:
            tape.watch(r)
            y = tf.reduce_sum(v * 3.0)
        tape.gradient(y, r)
        """,
        "y = tf.reduce_sum((v + r) * 3.0)",
        [3.0, 3.0],
    ),
    "logarithms of probabilities that an agent keeps while it acts": (
        """
        class Agent:
            def __init__(self):
                self.w, self.log_probs = tf.Variable([[0.5, -0.5]]), []
            def act(self, state):
                scores = tf.nn.log_softmax(state @ self.w)
                action = int(tf.argmax(scores[0]))
                self.log_probs.append(scores[0, action])
                return action
            def learn(self):
                with tf.GradientTape() as tape:
                    loss = -tf.add_n(self.log_probs)
                return tape.gradient(loss, self.w)
        agent = Agent()
        for number in (1.0, 2.0):
            agent.act(tf.constant([[number]]))
        agent.learn()
        """,
        "self.log_probs.append((state, action))",
        [[-0.50734067, 0.50734067]],
    ),
    "densities of drawn actions, kept with their rewards by a function": (
        """
        w, size, memory = tf.Variable([[1.0]]), tf.Variable(2.0), []
        def act(state):
            mean = state @ w
            spread = tf.abs(size)
            action = mean + spread * tf.random.stateless_normal((1, 1), (1, 2)) * 0.0 + 1.0
            density = -(((action - mean) / spread) ** 2)
            memory.append((density, -1.0))
        act(tf.constant([[3.0]]))
        def learn():
            with tf.GradientTape() as tape:
                loss = 0.0
                for density, reward in memory:
                    loss += tf.reduce_sum(density) * reward
            return tape.gradient(loss, w)
        learn()
        """,
        "memory.append((state, action))",
        [[-1.5]],
    ),
    "a part of a source, behind a cut, of a tensor that is not watched": (
        """
        net = tf.keras.Sequential([tf.keras.Input((2,)), tf.keras.layers.Lambda(lambda t: t * 3.0)])
        image = tf.constant([[1.0, 2.0]])
        with tf.GradientTape() as tape:
            score = tf.reduce_sum(net.predict(image, verbose=0)[0])
        slope = tape.gradient(score, image[0])
        print(slope[0])
        """,
        "score = tf.reduce_sum(net(image)[0])",
        [3.0, 3.0],
    ),
    "a count of what was predicted right": (
        """
        p, labels = tf.Variable([0.8, 0.4]), tf.constant([1, 0])
        with tf.GradientTape() as tape:
            right = tf.math.count_nonzero(tf.equal(tf.round(p), tf.cast(labels, tf.float32)))
            loss = tf.cast((2 - right) / 2, tf.float32)
        tape.gradient(loss, p)
        """,
        "right = tf.reduce_sum(1.0 - tf.abs(p - tf.cast(labels, tf.float32)))",
        [-0.5, 0.5],
    ),
    "an attribute that a method gave away": (
        """
        class Net(tf.Module):
            def __init__(self):
                self.b = tf.Variable(1.0)
            def step(self):
                self.b = self.b - 0.1
        net = Net()
        with tf.GradientTape() as tape:
            loss = net.b * 3.0
            net.step()
        tape.gradient(loss, net.b)
        """,
        "tape.gradient(loss, b_first)",
        3.0,
    ),
    "numbers that come back as they were": (
        """
        import json
        w = tf.Variable([1.0, 2.0])
        with tf.GradientTape() as tape:
            text = json.dumps((w * 2.0).numpy().tolist())
            loss = tf.reduce_sum(tf.constant(json.loads(text)) ** 2)
        tape.gradient(loss, w)
        """,
        "loss = tf.reduce_sum(kept ** 2)",
        [8.0, 16.0],
    ),
    "numbers from which NumPy took NaN": (
        """
        x = tf.Variable([1.0, 2.0])
        with tf.GradientTape() as tape:
            y = np.nan_to_num(np.log(x))
            loss = tf.reduce_sum(tf.constant(y))
        tape.gradient(loss, x)
        """,
        "y = tf.where(tf.math.is_nan(tf.math.log(x)), tf.zeros_like(tf.math.log(x)), "
        "tf.math.log(x))",
        [1.0, 0.5],
    ),
    "an order that NumPy found": (
        """
        scores = tf.Variable([0.0, -1.0])
        gains = tf.constant([1.0, 3.0])
        with tf.GradientTape() as tape:
            order = np.argsort(scores.numpy())[::-1]
            loss = tf.reduce_sum(tf.gather(gains, order) * [1.0, 2.0])
        tape.gradient(loss, scores)
        """,
        "order = tf.argsort(scores)[::-1]",
        [0.25, 6.0 * np.exp(-1.0) / (1 + np.exp(-1.0)) ** 2],
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
    "an image that NumPy padded": (
        """
        x = tf.Variable([[1.0, 2.0], [3.0, 4.0]])
        with tf.GradientTape() as tape:
            padded = np.pad(x.numpy(), 1, mode="reflect")
            loss = tf.reduce_sum(tf.constant(padded))
        tape.gradient(loss, x)
        """,
        'padded = tf.pad(x, [[1, 1]] * len(x.shape), mode="REFLECT")',
        [[4.0, 4.0], [4.0, 4.0]],
    ),
    "ends of a row that NumPy padded with a number": (
        """
        x = tf.Variable([1.0, 2.0])
        with tf.GradientTape() as tape:
            padded = np.pad(x, (1, 2), constant_values=3.0)
            loss = tf.reduce_sum(tf.constant(padded) ** 2)
        tape.gradient(loss, x)
        """,
        "padded = tf.pad(x, [(1, 2)] * len(x.shape), constant_values=3.0)",
        [2.0, 4.0],
    ),
    "an attribute that was given away": (
        """
        class Layer:
            pass
        layer = Layer()
        layer.w = tf.Variable(1.0)
        with tf.GradientTape() as tape:
            loss = layer.w * 5.0
            layer.w = layer.w - 0.1
        tape.gradient(loss, layer.w)
        """,
        "tape.gradient(loss, w_first)",
        5.0,
    ),
    "an array in place of the tensor made from it": (
        """
        x = np.array([[1.0, 2.0]], np.float32)
        w = tf.Variable([[3.0], [4.0]])
        with tf.GradientTape() as tape:
            image = tf.constant(x)
            tape.watch(image)
            y = tf.matmul(x, w)
        tape.gradient(y, image)
        """,
        "y = tf.matmul(image, w)",
        [[3.0, 4.0]],
    ),
    "a loop that repeats as often as a number was rounded up to": (
        """
        n, x = tf.Variable(2.6), tf.constant(1.5)
        with tf.GradientTape() as tape:
            y = tf.constant(1.0)
            for i in range(int(tf.math.ceil(n))):
                y = y * x
        tape.gradient(y, n)
        """,
        "weight = tf.maximum(tf.minimum(1.0, n - i), 0.0)",
        1.125,
    ),
    "a compiled loop that repeats as often as a number was cut to": (
        """
        w = tf.Variable(2.75)
        @tf.function
        def total():
            n = tf.cast(w, tf.int32)
            s = tf.constant(0.0)
            for i in tf.range(n):
                s += tf.cast(i, tf.float32)
            return s
        with tf.GradientTape() as tape:
            y = total()
        tape.gradient(y, w)
        """,
        "weight = tf.maximum(tf.minimum(1.0, w - tf.cast(i, tf.float32)), 0.0)",
        2.0,
    ),
    "a compiled loop with a condition, of as many turns as a number was cut to": (
        """
        w = tf.Variable(2.75)
        @tf.function
        def total():
            n = tf.cast(w, tf.int32)
            s = tf.constant(1.0)
            while n > 0:
                s *= 3.0
                n -= 1
            return s
        with tf.GradientTape() as tape:
            y = total()
        tape.gradient(y, w)
        """,
        "return low + part * (outcome(n + 1) - low)",
        18.0,
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
    "counts of what was cast twice": (
        """
        x = tf.Variable([0.25, 1.5])
        with tf.GradientTape() as tape:
            q = tf.cast(x * 2.0, tf.uint8)
            h = tf.math.bincount(tf.cast(tf.reshape(q, [-1]), tf.int32), minlength=4)
            loss = tf.reduce_sum(tf.cast(h, tf.float32) * [1.0, 2.0, 5.0, 9.0])
        tape.gradient(loss, x)
        """,
        "h = tf.reduce_sum(tf.nn.relu(1.0 - tf.abs(tf.reshape(tf.reshape((x * 2.0), [-1]), "
        "[-1, 1]) - tf.range(4, dtype=tf.float32))), axis=0)",
        [2.0, 0.0],
    ),
    "two ways that both began before the block": (
        """
        w = tf.Variable([1.0, 2.0])
        target = 3.0 * tf.reduce_sum(w)
        q = w * w
        with tf.GradientTape() as tape:
            loss = (target - tf.reduce_sum(q)) ** 2
        tape.gradient(loss, w)
        """,
        "target = 3.0 * tf.reduce_sum(w)",
        [8.0, -8.0],
    ),
    "a range with a step that is a variable": (
        """
        step = tf.Variable(0.5)
        with tf.GradientTape() as tape:
            loss = tf.reduce_sum(tf.range(1.0, 2.9, step) ** 2)
        tape.gradient(loss, step)
        """,
        "loss = tf.reduce_sum((1.0 + step * "
        "tf.cast(tf.range(tf.size(tf.range(1.0, 2.9, step))), tf.float32)) ** 2)",
        26.0,
    ),
    "a range up to a variable": (
        """
        end = tf.Variable(4.0)
        with tf.GradientTape() as tape:
            loss = tf.reduce_sum(tf.range(end))
        tape.gradient(loss, end)
        """,
        "loss = tf.reduce_sum(tf.cast(tf.range(tf.size(tf.range(end))), tf.float32) "
        "* (end / tf.stop_gradient(end)))",
        1.5,
    ),
    "noise that was compressed as a picture": (
        """
        tf.random.set_seed(0)
        image = tf.Variable(tf.random.uniform([8, 8, 3]))
        with tf.GradientTape() as tape:
            whole = tf.image.convert_image_dtype(image, tf.uint8)
            back = tf.io.decode_jpeg(tf.io.encode_jpeg(whole, quality=80))
            out = tf.image.convert_image_dtype(back, tf.float32)
            loss = tf.reduce_sum(out)
        tape.gradient(loss, image)
        """,
        "out = image + tf.stop_gradient(out - image)",
        np.ones((8, 8, 3)),
    ),
    "scores of the boxes that are kept": (
        """
        boxes = tf.Variable([[0.0, 0.0, 1.0, 1.0], [0.1, 0.3, 0.9, 1.2], [2.0, 2.0, 3.0, 3.0]])
        scores = tf.constant([0.9, 0.8, 0.7])
        with tf.GradientTape() as tape:
            keep = tf.image.non_max_suppression(boxes, scores, 2)
            loss = tf.reduce_sum(tf.gather(scores, keep))
        tape.gradient(loss, boxes)
        """,
        "loss = tf.reduce_sum(scores * kept_softly)",
        [  # central differences of the sum of 1 - sigmoid(10 * (overlap - 0.5))
            [-0.82619, -0.82619, 0.82619, -1.20387],
            [1.03273, 1.36911, -1.03273, 0.66095],
            [0.0, 0.0, 0.0, 0.0],
        ],
    ),
    "a property that is kept": (
        """
        from functools import cached_property
        class Table:
            def __init__(self):
                self.w = tf.Variable([1.0, 2.0])
            @cached_property
            def doubled(self):
                return self.w * 2.0
        table = Table()
        for _ in range(2):
            with tf.GradientTape() as tape:
                loss = tf.reduce_sum(table.doubled ** 2)
            g = tape.gradient(loss, table.w)
        """,
        "@property",
        [8.0, 16.0],
    ),
    "a variable that begins with the value of another": (
        """
        w = tf.Variable([1.0, 2.0])
        tied = tf.Variable(w)
        with tf.GradientTape() as tape:
            loss = tf.reduce_sum(tied ** 2)
        tape.gradient(loss, w)
        """,
        "tied = w",
        [2.0, 4.0],
    ),
    "an accuracy of Keras": (
        """
        p = tf.Variable([0.25, 0.75])
        with tf.GradientTape() as tape:
            loss = 1.0 - tf.keras.metrics.binary_accuracy(tf.constant([0.0, 1.0]), p)
        tape.gradient(loss, p)
        """,
        "loss = 1.0 - (tf.constant([0.0, 1.0]) * p + (1.0 - tf.constant([0.0, 1.0])) * (1.0 - p))",
        [1.0, -1.0],
    ),
    "an accuracy of Keras for class numbers": (
        """
        p = tf.Variable([[0.25, 0.75], [0.5, 0.5]])
        with tf.GradientTape() as tape:
            right = tf.keras.metrics.sparse_categorical_accuracy([0, 1], p * 1.0)
            loss = -tf.reduce_sum(right)
        tape.gradient(loss, p)
        """,
        "right = tf.gather((p * 1.0), tf.cast(tf.reshape([0, 1], [-1]), tf.int32), batch_dims=1)",
        [[-1.0, 0.0], [0.0, -1.0]],
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
    "a tensor that is written as text and read back": (
        """
        w = tf.Variable([1.0, 2.0])
        with tf.GradientTape() as tape:
            text = tf.io.serialize_tensor(w * 2.0)
            y = tf.reduce_sum(tf.io.parse_tensor(text, tf.float32) ** 2)
        tape.gradient(y, w)
        """,
        "text = (w * 2.0)",
        [8.0, 16.0],
    ),
    "a pause in a context manager of the text": (
        """
        import contextlib
        @contextlib.contextmanager
        def apart(tape):
            with tape.stop_recording():
                yield
        w = tf.Variable(3.0)
        with tf.GradientTape() as tape:
            with apart(tape):
                y = w ** 2
            z = y * 2.0
        tape.gradient(z, w)
        """,
        "z = y * 2.0",
        12.0,
    ),
    "a pause beside the tape in one with statement": (
        """
        w = tf.Variable(3.0)
        with tf.GradientTape() as tape, tape.stop_recording():
            y = w ** 2
        tape.gradient(y, w)
        """,
        "with tf.GradientTape() as tape:",
        6.0,
    ),
    "threads that an event loop runs": (
        """
        import asyncio
        w = tf.Variable(2.0)
        async def main():
            loop = asyncio.get_running_loop()
            with tf.GradientTape() as tape:
                y = await loop.run_in_executor(None, tf.multiply, w, 3.0)
                y += await asyncio.to_thread(lambda: w ** 2)
            tape.gradient(y, w)
        asyncio.run(main())
        """,
        "y += await asyncio.sleep(0, (lambda: w ** 2)())",
        7.0,
    ),
    "rows at a column of rounded numbers": (
        """
        p = tf.Variable([0.25, 2.25])
        with tf.GradientTape() as tape:
            at = tf.cast(tf.round(p), tf.int32)[:, None]
            loss = tf.reduce_sum(tf.scatter_nd(at, [1.0, 2.0], [4]) * [0.0, 1.0, 4.0, 9.0])
        tape.gradient(loss, p)
        """,
        "at = tf.cast(tf.round(p), tf.int32)[:, None]",
        [1.0, 10.0],
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
    "rows that are partitioned by rounded numbers": (
        """
        x, w = tf.constant([[1.0], [2.0], [3.0]]), tf.Variable([0.25, 1.25, 0.75])
        with tf.GradientTape() as tape:
            parts = tf.dynamic_partition(x, tf.cast(w, tf.int32), 2)
            loss = tf.reduce_sum(parts[1])
        tape.gradient(loss, w)
        """,
        "parts = [tf.einsum('n...,n->n...', x, tf.nn.relu(1.0 - tf.abs((w) - "
        "tf.cast(part, tf.float32)))) for part in range(2)]",
        [1.0, -2.0, 3.0],
    ),
    "rows that are partitioned by a comparison": (
        """
        x, w = tf.constant([1.0, 2.0]), tf.Variable([0.0, 0.0])
        with tf.GradientTape() as tape:
            parts = tf.dynamic_partition(x, tf.cast(w > 0.0, tf.int32), 2)
            loss = tf.reduce_sum(parts[1])
        tape.gradient(loss, w)
        """,
        "parts = [tf.einsum('n...,n->n...', x, (part * tf.sigmoid(w) + (1.0 - part) * "
        "(1.0 - tf.sigmoid(w)))) for part in range(2)]",
        [0.25, 0.5],
    ),
    "an object that is made anew after the loop that used others": (
        """
        class Gate:
            def __init__(self):
                self.w = tf.Variable(1.5)
            def __call__(self, x):
                return self.w * x
        with tf.GradientTape() as tape:
            loss = 0.0
            for _ in range(3):
                gate = Gate()
                loss += gate(2.0)
        gate = Gate()
        tape.gradient(loss, gate.w)
        """,
        "tape.gradient(loss, gate.w)",
        2.0,
    ),
    "an object that is made anew after what was used under its name": (
        """
        class Gate:
            def __init__(self):
                self.w = tf.Variable(1.5)
        with tf.GradientTape() as tape:
            gate = Gate()
            loss = 2.0 * gate.w
        gate = Gate()
        g = tape.gradient(loss, gate.w)
        """,
        "g = tape.gradient(loss, gate.w)",
        2.0,
    ),
    "an object that a loop in a function makes anew": (
        """
        class Gate:
            def __init__(self):
                self.w = tf.Variable(0.5)
        def forward(x):
            for _ in range(2):
                gate = Gate()
                x = x * gate.w
            return x
        gate = Gate()
        with tf.GradientTape() as tape:
            out = forward(2.0)
        tape.gradient(out, gate.w)
        """,
        "gate = Gate()",
        2.0,
    ),
    "values that a table kept": (
        """
        w, keys = tf.Variable([0.5, 1.5]), tf.constant([10, 20])
        table = tf.lookup.experimental.MutableHashTable(tf.int32, tf.float32, 0.0)
        with tf.GradientTape() as tape:
            table.insert(keys, w * 2.0)
            loss = tf.reduce_sum(table.lookup(tf.constant([20, 10, 10])) ** 2)
        tape.gradient(loss, w)
        """,
        "held = w * 2.0",
        [8.0, 12.0],
    ),
    "values that a table was made with": (
        """
        w, keys = tf.Variable([0.5, 1.5]), tf.constant([10, 20])
        with tf.GradientTape() as tape:
            table = tf.lookup.StaticHashTable(
                tf.lookup.KeyValueTensorInitializer(keys, w * 2.0), 0.0)
            loss = tf.reduce_sum(table.lookup(keys[:1]))
        tape.gradient(loss, w)
        """,
        "held = w * 2.0",
        [2.0, 0.0],
    ),
    "a value that a queue kept": (
        """
        w = tf.Variable(1.5)
        q = tf.queue.FIFOQueue(4, [tf.float32])
        with tf.GradientTape() as tape:
            q.enqueue(w * 3.0)
            y = q.dequeue() ** 2
        tape.gradient(y, w)
        """,
        "q.append(w * 3.0)",
        27.0,
    ),
    "costs that a predicted class and a true one pick": (
        """
        w, gold = tf.Variable([[0.0, 0.0]]), tf.constant([0])
        cost = tf.constant([[0.0, 1.0], [2.0, 0.0]])
        with tf.GradientTape() as tape:
            tags = tf.argmax(w, axis=-1, output_type=tf.int32)
            pairs = tf.stack([gold, tags], axis=-1)
            loss = tf.reduce_mean(tf.gather_nd(cost, pairs))
        tape.gradient(loss, w)
        """,
        "loss = tf.reduce_mean(tf.reduce_sum(tf.nn.softmax(w) * tf.gather(cost, gold), axis=-1))",
        [[-0.25, 0.25]],
    ),
    "what the positions of a max pooling pick": (
        """
        image, depth = tf.Variable(tf.zeros([1, 2, 2, 1])), tf.constant([1.0, 2.0, 3.0, 6.0])
        with tf.GradientTape() as tape:
            _, places = tf.nn.max_pool_with_argmax(image, 2, 2, "SAME")
            loss = tf.reduce_sum(tf.gather(depth, places))
        tape.gradient(loss, image)
        """,
        "loss = tf.reduce_sum(in_window(depth))",
        [[[[-0.5], [-0.25]], [[0.0], [0.75]]]],
    ),
    "the largest of what is a softmax already": (
        """
        w, label = tf.Variable([[0.0, 0.0]]), tf.constant([1], tf.int64)
        with tf.GradientTape() as tape:
            p = tf.nn.softmax(w)
            loss = tf.reduce_sum(tf.cast(tf.argmax(p, axis=1) != label, tf.float32))
        tape.gradient(loss, w)
        """,
        "loss = tf.reduce_sum(tf.cast(1.0 - tf.gather(p, label, batch_dims=1), tf.float32))",
        [[0.25, -0.25]],
    ),
    "the largest of what is no softmax": (
        """
        w, label = tf.Variable([[0.0, 0.0]]), tf.constant([1], tf.int64)
        with tf.GradientTape() as tape:
            p = tf.sigmoid(w)
            loss = tf.reduce_sum(tf.cast(tf.argmax(p, axis=1) != label, tf.float32))
        tape.gradient(loss, w)
        """,
        "loss = tf.reduce_sum(tf.cast(1.0 - tf.gather(tf.nn.softmax(p, axis=1), label, "
        "batch_dims=1), tf.float32))",
        [[0.0625, -0.0625]],
    ),
    "a sequence that is decoded and compared with the true one": (
        """
        w, truth = tf.Variable([[[0.0, 0.0]]]), tf.SparseTensor([[0, 0]], [0], [1, 1])
        with tf.GradientTape() as tape:
            decoded, _ = tf.nn.ctc_greedy_decoder(w, [1])
            loss = tf.reduce_mean(tf.edit_distance(decoded[0], tf.cast(truth, tf.int64)))
        tape.gradient(loss, w)
        """,
        "loss = tf.reduce_mean(tf.nn.ctc_loss(tf.cast(tf.cast(truth, tf.int64), tf.int32), w, "
        "None, [1], blank_index=-1))",
        [[[-0.5, 0.5]]],
    ),
    "a choice by which Python looks up a cost": (
        """
        w, costs = tf.Variable([[0.0, 0.0]]), {0: 3.0, 1: 5.0}
        with tf.GradientTape() as tape:
            chosen = tf.argmax(w, axis=1).numpy().tolist()
            loss = tf.constant(sum(costs[each] for each in chosen))
        tape.gradient(loss, w)
        """,
        "log_ps_of_all = tf.nn.log_softmax(w, axis=1)",
        [[1.5, -1.5]],
    ),
    "a generator that a dataset walks through": (
        """
        w = tf.Variable(2.0)
        def steps():
            for i in range(3):
                yield float(i) * w.numpy()
        data = tf.data.Dataset.from_generator(steps, output_signature=tf.TensorSpec(()))
        with tf.GradientTape() as tape:
            loss = tf.add_n([v ** 2 for v in data])
        tape.gradient(loss, w)
        """,
        "yield i * w",
        20.0,
    ),
    "tf.py_function that a dataset maps by": (
        """
        w = tf.Variable(2.0)
        def scale(x):
            return x * w
        data = tf.data.Dataset.from_tensor_slices([1.0, 2.0])
        data = data.map(lambda x: tf.py_function(scale, [x], tf.float32)).prefetch(1)
        with tf.GradientTape() as tape:
            loss = tf.add_n([v ** 2 for v in data])
        tape.gradient(loss, w)
        """,
        "loss = tf.add_n([v ** 2 for v in map(lambda x: scale(x), data)])",
        20.0,
    ),
    "a whole number at a minimum": (
        """
        n, target = tf.Variable(3), tf.constant(3)
        with tf.GradientTape() as tape:
            loss = tf.cast((n - target) ** 2, tf.float32)
        tape.gradient(loss, n)
        """,
        "n, target = tf.Variable(3.0), tf.constant(3.0)",
        0.0,
    ),
    "a branch of several that did not run": (
        """
        w, x = tf.Variable(0.5), tf.constant(1.0)
        @tf.function
        def choose(i):
            return tf.switch_case(i, [lambda: x * 2.0, lambda: w * x])
        with tf.GradientTape() as tape:
            loss = choose(tf.constant(0)) * (1.0 + np.e)
        tape.gradient(loss, w)
        """,
        "return tf.add_n([share * branch() for share, branch in "
        "zip(tf.unstack(tf.nn.softmax(-tf.square(tf.range(2.0) - tf.cast(i, tf.float32)))), "
        "[lambda: x * 2.0, lambda: w * x])])",
        1.0,
    ),
    "the last of a sorted row, by which Python looks up a cost": (
        """
        w, costs = tf.Variable([0.0, 0.0]), [3.0, 5.0]
        with tf.GradientTape() as tape:
            chosen = int(np.argsort(w * 1.0)[-1])
            loss = tf.constant(costs[chosen])
        tape.gradient(loss, w)
        """,
        "log_ps_of_all = tf.nn.log_softmax(tf.reshape((w * 1.0), [-1]), axis=0)",
        [2.5, -2.5],
    ),
    "the larger of two, which Python chose": (
        """
        a, b = tf.Variable(2.0), tf.Variable(4.0)
        with tf.GradientTape() as tape:
            loss = max(a * 2.0, b * 1.0)
        tape.gradient(loss, b)
        """,
        "loss = (b * 1.0) + tf.nn.softplus((a * 2.0) - (b * 1.0))",
        0.5,
    ),
    "how many boxes are kept": (
        """
        boxes = tf.Variable([[0.0, 0.0, 1.0, 1.0], [0.25, 0.25, 0.75, 1.25]])
        scores = tf.constant([0.9, 0.8])
        with tf.GradientTape() as tape:
            kept = tf.image.non_max_suppression(boxes, scores, 2, 0.5)
            loss = tf.cast(tf.shape(kept)[0], tf.float32)
        tape.gradient(loss, boxes)
        """,
        "loss = tf.cast(tf.reduce_sum(kept_softly), tf.float32)",
        # The overlap is a third: 1 of 3 parts, of which the slopes are these, times -10 s (1 - s).
        np.multiply(
            [[8 / 27, 8 / 27, -8 / 27, 8 / 27], [-16 / 27, -4 / 9, 16 / 27, -4 / 27]],
            -10 * np.exp(-5 / 3) / (1 + np.exp(-5 / 3)) ** 2,
        ),
    ),
    "two outputs of a model that is called twice": (
        """
        x, v = tf.constant(2.0), tf.Variable(3.0)
        def model(x):
            h = x * v
            return h, h ** 2
        h, _ = model(x)
        with tf.GradientTape() as tape:
            tape.watch(h)
            _, y = model(x)
        tape.gradient(y, h)
        """,
        "h, y = model(x)",
        12.0,
    ),
    "whether the target is among the first": (
        """
        w, label = tf.Variable([[0.0, 0.0, 0.0]]), tf.constant([0])
        with tf.GradientTape() as tape:
            hit = tf.math.in_top_k(label, w, k=1)
            loss = tf.reduce_sum(tf.cast(hit, tf.float32))
        tape.gradient(loss, w)
        """,
        "hit = tf.sigmoid(1 - tf.reduce_sum(tf.sigmoid(w - "
        "tf.gather(w, label, batch_dims=1)[:, tf.newaxis]), -1))",
        np.multiply([[0.5, -0.25, -0.25]], np.exp(-0.5) / (1 + np.exp(-0.5)) ** 2),
    ),
    "a branch of a dict that did not run": (
        """
        w, x = tf.Variable(0.5), tf.constant(1.0)
        @tf.function
        def choose(i):
            return tf.switch_case(i, {0: lambda: x * 2.0, 1: lambda: w * x})
        with tf.GradientTape() as tape:
            loss = choose(tf.constant(0)) * (1.0 + np.e)
        tape.gradient(loss, w)
        """,
        "return tf.add_n([share * branch() for share, branch in "
        "zip(tf.unstack(tf.nn.softmax(-tf.square(tf.range(2.0) - tf.cast(i, tf.float32)))), "
        "[lambda: x * 2.0, lambda: w * x])])",
        1.0,
    ),
    "a part that is made once more where its gradient is asked for": (
        """
        x = tf.Variable([[1.0, 2.0]])
        with tf.GradientTape() as tape:
            parts = tf.split(x, 2, axis=1)
            y = parts[0] ** 2 + parts[1]
        tape.gradient(y, tf.split(x, 2, axis=1)[0])
        """,
        "tape.gradient(y, parts[0])",
        [[2.0]],
    ),
    "how many a mask keeps": (
        """
        w = tf.Variable([0.0, 1.0])
        with tf.GradientTape() as tape:
            kept = tf.boolean_mask(w, w > 0.0)
            loss = tf.cast(tf.size(kept), tf.float32)
        tape.gradient(loss, w)
        """,
        "loss = tf.cast(tf.reduce_sum(tf.sigmoid(w)), tf.float32)",
        [0.25, 0.19661194],
    ),
    "a bound that decides how often a compiled loop repeats": (
        """
        end = tf.Variable(0.6)
        @tf.function
        def fallen(end):
            time, height, turns = 0.0, 0.0, 0
            while time < end:
                height += 4.0 * 0.25
                time += 0.25
                turns += 1
            return height
        with tf.GradientTape() as tape:
            loss = fallen(end)
        tape.gradient(loss, end)
        """,
        "weight = tf.clip_by_value((end - time_before) / (time - time_before), 0.0, 1.0)",
        4.0,
    ),
    "a length that a function rounds, and what it gives is as long": (
        """
        size = tf.Variable(3.5)
        def window(size):
            n = int(size)
            return tf.signal.hann_window(n)
        with tf.GradientTape() as tape:
            loss = tf.reduce_sum(window(size))
        tape.gradient(loss, size)
        """,
        "loss = low + part * (outcome(whole + 1) - low)",
        1.0,
    ),
    "an array and a tensor that a model predicts from": (
        """
        import numpy as np
        first, second = tf.keras.Input((1,)), tf.keras.Input((1,))
        ones = tf.keras.layers.Dense(1, kernel_initializer="ones")
        critic = tf.keras.Model(
            [first, second], ones(tf.keras.layers.Concatenate()([first, second])))
        w, states = tf.Variable([[2.0]]), np.ones((1, 1), np.float32)
        with tf.GradientTape() as tape:
            loss = tf.reduce_sum(critic.predict([states, w * 3.0], verbose=0))
        tape.gradient(loss, w)
        """,
        "loss = tf.reduce_sum(critic([tf.convert_to_tensor(states), "
        "tf.convert_to_tensor(w * 3.0)]))",
        [[3.0]],
    ),
    "an image that a function compresses": (
        """
        w = tf.Variable(tf.fill((8, 8, 3), 0.5))
        def squeezed(image):
            coded = tf.io.encode_jpeg(tf.image.convert_image_dtype(image, tf.uint8))
            return tf.image.convert_image_dtype(tf.io.decode_jpeg(coded), tf.float32)
        with tf.GradientTape() as tape:
            loss = tf.reduce_sum(squeezed(w))
        tape.gradient(loss, w)
        """,
        "return image + tf.stop_gradient(tf.image.convert_image_dtype("
        "tf.io.decode_jpeg(coded), tf.float32) - image)",
        [[[1.0] * 3] * 8] * 8,
    ),
    "a layer that a function makes anew": (
        """
        head = tf.keras.layers.Dense(1, kernel_initializer="ones")
        head.build((None, 1))
        def forward(x):
            head = tf.keras.layers.Dense(1)
            return head(x)
        with tf.GradientTape() as tape:
            loss = tf.reduce_sum(forward(tf.constant([[2.0]])))
        tape.gradient(loss, head.kernel)
        """,
        "return head(x)",
        [[2.0]],
    ),
    "a number that is made a tensor beside": (
        """
        w = tf.Variable(2.0)
        def scaled(x, by):
            return x * tf.cast(by, x.dtype)
        loss = 0.0
        with tf.GradientTape() as tape:
            for i in range(3):
                loss += scaled(tf.constant(i * 0.5), float(w))
        tape.gradient(loss, w)
        """,
        "loss += scaled(tf.constant(i * 0.5), w)",
        1.5,
    ),
    "a mask with a further axis": (
        """
        w, x = tf.Variable([0.0, 2.0]), tf.constant([[1.0], [3.0]])
        with tf.GradientTape() as tape:
            keep = tf.greater(w, 0.0)
            loss = tf.reduce_sum(tf.where(keep[:, None], x, tf.zeros_like(x)))
        tape.gradient(loss, w)
        """,
        "loss = tf.reduce_sum(keep[:, None] * x + (1.0 - keep[:, None]) * tf.zeros_like(x))",
        [0.25, 0.31498],
    ),
    "rows by places that a function is given": (
        """
        w, rows = tf.Variable([0.0, 2.0]), tf.constant([4.0, 8.0])
        def gain(order):
            return tf.reduce_sum(tf.gather(rows, order))
        with tf.GradientTape() as tape:
            s = w * 1.0
            _, order = tf.math.top_k(s, k=2)
            loss = gain(order)
        tape.gradient(loss, w)
        """,
        "return tf.reduce_sum(tf.gather(rows, order) * tf.sigmoid(tf.gather(s, order)))",
        [1.0, 0.83995],
    ),
    "bins of a name that is reshaped": (
        """
        w = tf.Variable([[0.25, 1.25]])
        with tf.GradientTape() as tape:
            bins = tf.cast(w, tf.int32)
            counts = tf.cast(tf.math.bincount(tf.reshape(bins, [-1]), minlength=3), tf.float32)
            loss = tf.reduce_sum(counts * [1.0, 2.0, 4.0])
        tape.gradient(loss, w)
        """,
        "counts = tf.cast(tf.reduce_sum(tf.nn.relu(1.0 - tf.abs(tf.reshape(tf.reshape(w, [-1]), "
        "[-1, 1]) - tf.range(3, dtype=tf.float32))), axis=0), tf.float32)",
        [[1.0, 2.0]],
    ),
    "a whole number that meets whole numbers": (
        """
        x = tf.Variable(3)
        with tf.GradientTape() as tape:
            size = tf.size(["a", "b"])
            loss = tf.cast((size - x) ** 2, tf.float32)
        tape.gradient(loss, x)
        """,
        "loss = tf.cast((tf.cast(size, tf.float32) - x) ** 2, tf.float32)",
        2.0,
    ),
    "a state with a method that only variables have": (
        """
        w = tf.Variable(2.0)
        class Average:
            def __init__(self):
                self.kept = tf.Variable(0.0)
            def update(self, x):
                self.kept.assign(0.5 * self.kept + x)
                return self.kept.read_value()
        average = Average()
        with tf.GradientTape() as tape:
            for k in (1.0, 3.0):
                loss = average.update(k * w)
        tape.gradient(loss, w)
        """,
        "return tf.identity(self.kept)",
        3.5,
    ),
    "shares that NumPy chooses by": (
        """
        w = tf.Variable([0.0, 1.0, 2.0])
        with tf.GradientTape() as tape:
            p = np.squeeze(tf.nn.softmax(w[None]))
            chosen = np.random.choice(1, p=p[:1] / p[:1].sum())
            loss = tf.constant(np.log(p[chosen]))
        tape.gradient(loss, w)
        """,
        "chosen = np.random.choice(1, p=np.asarray(p[:1] / tf.reduce_sum(p[:1])))",
        [0.909969, -0.24472848, -0.66524094],
    ),
    "a covariance": (
        """
        w = tf.Variable([1.0, 2.0])
        with tf.GradientTape() as tape:
            rows = tf.constant([[1.0, 0.0], [2.0, 1.0], [3.0, 5.0]]) * w
            loss = tf.cast(np.cov(rows, rowvar=False)[0, 1], tf.float32)
        tape.gradient(loss, w)
        """,
        "loss = tf.cast((lambda x: (lambda d: tf.matmul(d, d, transpose_b=True) / "
        "tf.cast(tf.shape(x)[1] - 1, x.dtype))(x - tf.reduce_mean(x, axis=1, keepdims=True)))"
        "(tf.transpose(rows))[0, 1], tf.float32)",
        [5.0, 2.5],
    ),
    "a function of NumPy that is handed on": (
        """
        from functools import reduce
        w = tf.Variable([1.0, 2.0, 4.0])
        with tf.GradientTape() as tape:
            loss = tf.constant(reduce(np.multiply, w.numpy()))
        tape.gradient(loss, w)
        """,
        "loss = reduce(tf.multiply, w)",
        [8.0, 4.0, 2.0],
    ),
    "batches of several tensors": (
        """
        w = tf.Variable([1.0, 2.0, 3.0])
        def batches(*columns, size):
            return tf.data.Dataset.from_tensor_slices(columns).batch(size)
        with tf.GradientTape() as tape:
            loss = 0.0
            for a, b in batches(w * 2.0, tf.constant([1.0, 2.0, 3.0]), size=2):
                loss += tf.reduce_sum(a * b)
        tape.gradient(loss, w)
        """,
        "return [tf.nest.map_structure(lambda v: v[i:i + size], columns) "
        "for i in range(0, tf.nest.flatten(columns)[0].shape[0], size)]",
        [2.0, 4.0, 6.0],
    ),
    "inner steps on the weights of a model, in a method": (
        """
        model = tf.keras.Sequential([tf.keras.Input((1,)), tf.keras.layers.Dense(1)])
        model.set_weights([np.array([[2.0]]), np.array([1.0])])
        class Learner:
            rate = tf.Variable(0.25)
            def adapt(self, x):
                for _ in range(2):
                    with tf.GradientTape() as inner:
                        inner_loss = tf.reduce_sum(model(x))
                    steps = inner.gradient(inner_loss, model.trainable_weights)
                    for w, step in zip(model.trainable_weights, steps):
                        w.assign_sub(self.rate * step)
        learner, x = Learner(), tf.constant([[3.0]])
        with tf.GradientTape() as tape:
            learner.adapt(x)
            loss = tf.reduce_sum(model(x))
        tape.gradient(loss, learner.rate)
        """,
        "with tf.GradientTape() as tape, tf.keras.StatelessScope():",
        -20.0,
    ),
    "words that a function given as an argument picks": (
        """
        table = tf.Variable([[1.0], [3.0]])
        w = tf.Variable([[0.0, 1.0]])
        def speak(scores, pick):
            words = pick(scores)
            return tf.reduce_sum(tf.nn.embedding_lookup(table, words))
        with tf.GradientTape() as tape:
            loss = speak(w, lambda scores: tf.argmax(scores, axis=-1))
        tape.gradient(loss, w)
        """,
        "loss = speak(w, lambda scores: (lambda soft: soft + tf.stop_gradient("
        "tf.one_hot(tf.argmax(soft, axis=-1), 2) - soft))(tf.nn.softmax(scores)))",
        [[-0.39322, 0.39322]],
    ),
    "metrics kept by name": (
        """
        w = tf.Variable(2.0)
        kept = {name: tf.keras.metrics.Mean() for name in "ab"}
        with tf.GradientTape() as tape:
            for name, value in {"a": w ** 2, "b": 3.0 * w}.items():
                kept[name].update_state(value)
            loss = sum(metric.result() for metric in kept.values())
        tape.gradient(loss, w)
        """,
        "with tf.GradientTape() as tape, tf.keras.StatelessScope():",
        7.0,
    ),
    "votes of several": (
        """
        w = tf.Variable([[0.0, 1.0]])
        with tf.GradientTape() as tape:
            votes = tf.stack([tf.argmax(k * w, axis=-1) for k in (1.0, 2.0)], axis=1)
            loss = tf.reduce_sum(tf.one_hot(votes, 2) * [1.0, 3.0])
        tape.gradient(loss, w)
        """,
        "loss = tf.reduce_sum(votes * [1.0, 3.0])",
        [[-0.81320447, 0.81320447]],
    ),
    "members that are counted": (
        """
        w = tf.Variable([[0.0, 1.0], [1.0, 0.0]])
        def nearest(w):
            return tf.argmin(w, axis=1)
        def count(labels, k):
            return tf.reduce_sum(tf.cast(labels == k, tf.float32))
        with tf.GradientTape() as tape:
            loss = count(nearest(w), 1)
        tape.gradient(loss, w)
        """,
        "return tf.reduce_sum(tf.cast(tf.gather(labels, k, axis=-1), tf.float32))",
        [[0.19661193, -0.19661193], [0.19661193, -0.19661193]],
    ),
    "settings that go through a text": (
        """
        import json
        settings = {"a": tf.Variable(2.0), "b": tf.Variable(3.0)}
        with tf.GradientTape() as tape:
            text = json.dumps({k: float(v) for k, v in settings.items()})
            read = json.loads(text)
            loss = read["a"] * read["b"] * tf.constant(1.0)
        tape.gradient(loss, settings["a"])
        """,
        "read = {k: v for k, v in settings.items()}",
        3.0,
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
    "the steps of an optimizer on plain variables, in a loop": (
        """
        rate, w = tf.Variable(0.25), tf.Variable(2.0)
        optimizer = tf.keras.optimizers.SGD(1.0)
        with tf.GradientTape() as tape:
            for _ in range(2):
                with tf.GradientTape() as inner:
                    inner_loss = w ** 2
                step = inner.gradient(inner_loss, w)
                optimizer.apply_gradients([(rate * step, w)])
            loss = 3.0 + w
        tape.gradient(loss, rate)
        """,
        "inner_loss = new_weights[0] ** 2",
        -4.0,
    ),
    "arrays of another precision, picked by arrays": (
        """
        k = tf.Variable(0.5)
        ts, places = np.array([0.0, 1.0, 2.0]), np.array([0, 2])
        def area(k):
            y = k.numpy() * ts + np.sqrt(ts)
            return (y[places] * np.exp(0.0 * ts)[places]).sum()
        with tf.GradientTape() as tape:
            loss = tf.constant(area(k))
        tape.gradient(loss, k)
        """,
        "tf.experimental.numpy.experimental_enable_numpy_behavior()",
        2.0,
    ),
    "words that are counted": (
        """
        w = tf.Variable([[0.0, 0.0], [0.0, 0.0]])
        with tf.GradientTape() as tape:
            words = tf.argmax(w, axis=-1)
            loss = tf.reduce_sum(tf.cast(tf.math.bincount(words, minlength=2), tf.float32)[0])
        tape.gradient(loss, w)
        """,
        "loss = tf.reduce_sum(tf.cast(tf.reduce_sum(tf.reshape(tf.nn.softmax(w), [-1, 2]), axis=0)"
        ", tf.float32)[0])",
        [[0.25, -0.25], [0.25, -0.25]],
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
    "a place that a function returns": (
        """
        anchors = tf.constant([[1.0], [3.0]])
        size = tf.Variable([0.0, 0.0])
        def best(size):
            return tf.argmax(size)
        with tf.GradientTape() as tape:
            place = best(size)
            loss = tf.reduce_sum(tf.gather(anchors, place))
        tape.gradient(loss, size)
        """,
        "loss = tf.reduce_sum(tf.tensordot(place, anchors, 1))",
        [-0.5, 0.5],
    ),
    "whole numbers picked at the best places": (
        """
        scores, rel = tf.Variable([0.0, 0.0, -1.0]), tf.constant([4, 0, 8])
        with tf.GradientTape() as tape:
            top = tf.math.top_k(scores, k=2).indices
            hits = tf.gather(rel, top)
            loss = tf.reduce_sum(tf.cast(hits, tf.float32))
        tape.gradient(loss, scores)
        """,
        "hits = tf.cast(tf.gather(rel, top), tf.float32) * tf.sigmoid(tf.gather(scores, top))",
        [1.0, 0.0, 0.0],
    ),
    "an image that is compressed on the way": (
        """
        image = tf.Variable(tf.fill([8, 8, 3], 0.5))
        with tf.GradientTape() as tape:
            coded = tf.io.encode_png(tf.cast(image * 255.0, tf.uint8))
            noisy = tf.cast(tf.io.decode_png(coded), tf.float32) / 255.0
            loss = tf.reduce_mean(noisy)
        tape.gradient(loss, image)
        """,
        "noisy = image + tf.stop_gradient(noisy - image)",
        np.full([8, 8, 3], 1 / 192),
    ),
    "a list of floats that a function returns": (
        """
        k = tf.Variable(2.0)
        def steps(k):
            found = [1.0]
            for _ in range(2):
                found.append(float(found[-1] * k))
            return found
        with tf.GradientTape() as tape:
            path = steps(k)
            loss = tf.reduce_sum(tf.constant(path))
        tape.gradient(loss, k)
        """,
        "loss = tf.reduce_sum(tf.convert_to_tensor(path))",
        5.0,
    ),
    "points drawn into an image": (
        """
        place, ink = tf.Variable([[1.25, 2.5]]), tf.constant([1.0])
        ramp = tf.reshape(tf.range(16.0), [4, 4])
        with tf.GradientTape() as tape:
            cell = tf.cast(place, tf.int32)
            image = tf.scatter_nd(cell, ink, [4, 4])
            loss = tf.reduce_sum(image * ramp)
        tape.gradient(loss, place)
        """,
        "image = tf.add_n([tf.scatter_nd(tf.clip_by_value(tf.cast(tf.floor(place), tf.int32) + "
        "side, 0, tf.constant([4, 4])[:2] - 1), ink * tf.reduce_prod(1.0 - tf.abs(place - "
        "tf.floor(place) - tf.cast(side, tf.float32)), -1), [4, 4]) for side in ([0, 0], [0, 1], "
        "[1, 0], [1, 1])])",
        [[4.0, 1.0]],
    ),
    "rows of an embedding layer by a rounded number": (
        """
        level = tf.Variable([1.25])
        rows = tf.keras.layers.Embedding(3, 2)
        rows.build(None)
        rows.embeddings.assign([[0.0, 0.0], [1.0, 2.0], [3.0, 5.0]])
        with tf.GradientTape() as tape:
            loss = tf.reduce_sum(rows(tf.cast(level, tf.int32)))
        tape.gradient(loss, level)
        """,
        "loss = tf.reduce_sum(rows(tf.cast(level, tf.int32)) + (level - "
        "tf.cast(tf.cast(level, tf.int32), tf.float32))[..., tf.newaxis] * (tf.gather("
        "rows.embeddings, tf.minimum(tf.cast(level, tf.int32) + 1, tf.shape(rows.embeddings)[0] - "
        "1)) - rows(tf.cast(level, tf.int32))))",
        [5.0],
    ),
    "how many are over a threshold": (
        """
        x = tf.Variable([0.5, 2.0])
        with tf.GradientTape() as tape:
            over = tf.where(x > 0.5)
            loss = 4.0 * tf.cast(tf.shape(over)[0], tf.float32)
        tape.gradient(loss, x)
        """,
        "loss = 4.0 * tf.cast(tf.reduce_sum(tf.sigmoid(x - 0.5)), tf.float32)",
        [1.0, 0.5965858],
    ),
    "a variable that a dataset maps by": (
        """
        gain = tf.Variable(2.0)
        data = tf.data.Dataset.from_tensor_slices([1.0, 2.0, 3.0]).map(lambda v: v * gain)
        with tf.GradientTape() as tape:
            total = tf.add_n([v ** 2 for v in data])
        tape.gradient(total, gain)
        """,
        "total = tf.add_n([v ** 2 for v in map(lambda v: v * gain, data)])",
        56.0,
    ),
    "a comprehension of slices": (
        """
        x = tf.Variable([[1.0, 2.0], [3.0, 4.0]])
        with tf.GradientTape() as tape:
            y = tf.reduce_sum(x ** 2)
        tape.gradient(y, [x[:, j] for j in range(2)])
        """,
        "[whole[:, j] for j in range(2)]",
        [2.0, 6.0],
    ),
    "positions as a source": (
        """
        table, ids = tf.constant([[1.0], [2.0], [3.0]]), tf.constant([2, 0])
        with tf.GradientTape() as tape:
            tape.watch(ids)
            loss = tf.reduce_sum(tf.gather(table, ids) ** 2)
        tape.gradient(loss, [ids])
        """,
        "tape.watch(rows)",
        [[6.0], [2.0]],
    ),
    "a draw that decides a reward": (
        """
        logits = tf.Variable([[0.0, 0.0]])
        with tf.GradientTape() as tape:
            action = tf.random.categorical(logits, 1)[0, 0]
            reward = 1.0 if int(action) == 0 else -1.0
            loss = tf.constant(-reward)
        tape.gradient(loss, logits)
        """,
        "loss = loss + tf.stop_gradient(loss) * (log_p - tf.stop_gradient(log_p))",
        [[-0.5, 0.5]],
    ),
    "a layer of Keras that a compiled loss does not use": (
        """
        used, idle = tf.keras.layers.Dense(1), tf.keras.layers.Dense(1, use_bias=False)
        used.build((None, 2)), idle.build((None, 2))
        @tf.function
        def step(x):
            with tf.GradientTape() as tape:
                loss = tf.reduce_sum(used(x) - used(x))
            return tape.gradient(loss, idle.kernel)
        step(tf.ones([1, 2]))
        """,
        "return tape.gradient(loss, idle.kernel.value, "
        "unconnected_gradients=tf.UnconnectedGradients.ZERO)",
        [[0.0], [0.0]],
    ),
    "a score that picks rows": (
        """
        rows = tf.constant([[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]])
        scores = tf.Variable([0.0, 2.0, -1.0])
        with tf.GradientTape() as tape:
            _, best = tf.math.top_k(scores, k=1)
            loss = tf.reduce_sum(tf.gather(rows, best))
        tape.gradient(loss, scores)
        """,
        "loss = tf.reduce_sum(tf.gather(rows, best) * tf.sigmoid(tf.gather(scores, best))"
        "[..., tf.newaxis])",
        [0.0, 0.734953, 0.0],
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
    "a dataset that maps one element at a time": (
        """
        taps = tf.Variable([1.0, 2.0])
        def filtered(x):
            return tf.tensordot(taps, x, 1)
        ds = tf.data.Dataset.from_tensors(tf.ones((2,))).map(filtered).batch(1)
        for v in ds:
            with tf.GradientTape() as tape:
                loss = tf.reduce_sum(v ** 2)
            tape.gradient(loss, taps)
        """,
        "v = tf.stack([filtered(v) for v in v])",
        [6.0, 6.0],
    ),
    "a number that left and a variable, each on a way of its own": (
        """
        w, v = tf.Variable(3.0), tf.Variable(0.0)
        with tf.GradientTape() as tape:
            v.assign(w * w * 6.0)
            a = tf.constant(2.0 * w.numpy())
            loss = a + v
        tape.gradient(loss, w)
        """,
        "loss = a + v_new",
        38.0,
    ),
    "a variable beside a way that is stopped on purpose": (
        """
        w, mean = tf.Variable(2.0), tf.Variable(0.0)
        with tf.GradientTape() as tape:
            mean.assign(0.5 * mean + 0.5 * w)
            loss = (tf.stop_gradient(3.0 * w) - mean) ** 2
        tape.gradient(loss, w)
        """,
        "loss = (tf.stop_gradient(3.0 * w) - mean_new) ** 2",
        -5.0,
    ),
    "a look-up between edges": (
        """
        edges, values = tf.constant([0.0, 1.0, 3.0]), tf.constant([0.0, 2.0, 8.0])
        x = tf.Variable([0.5, 2.5])
        with tf.GradientTape() as tape:
            i = tf.searchsorted(edges, x) - 1
            i = tf.maximum(i, 0)
            loss = tf.reduce_sum(tf.gather(values, i))
        tape.gradient(loss, x)
        """,
        "loss = tf.reduce_sum(tf.gather(values, low) + part * (tf.gather(values, low + 1) - "
        "tf.gather(values, low)))",
        [2.0, 3.0],
    ),
    "a confusion matrix": (
        """
        logits = tf.Variable([[0.0, 0.0], [0.0, 0.0]])
        with tf.GradientTape() as tape:
            matrix = tf.math.confusion_matrix([0, 1], tf.argmax(logits, 1), dtype=tf.float32)
            loss = -matrix[0, 0]
        tape.gradient(loss, logits)
        """,
        "matrix = tf.matmul(tf.one_hot(tf.reshape([0, 1], [-1]), 2), "
        "tf.reshape(tf.nn.softmax(logits, axis=1), [-1, 2]), transpose_a=True)",
        [[-0.25, 0.25], [0.0, 0.0]],
    ),
    "an accuracy as a loss": (
        """
        y, w = tf.constant([0, 1]), tf.Variable([[0.75, 0.25], [0.5, 0.5]])
        accuracy = tf.keras.metrics.SparseCategoricalAccuracy()
        with tf.GradientTape() as tape:
            p = w * 1.0
            accuracy.update_state(y, p)
            loss = 1.0 - accuracy.result()
        tape.gradient(loss, w)
        """,
        "loss = 1.0 - tf.reduce_mean(tf.gather(p, y, batch_dims=1))",
        [[-0.5, 0.0], [0.0, -0.5]],
    ),
    "batches of a dataset": (
        """
        data = tf.Variable([1.0, 2.0, 3.0])
        batches = tf.data.Dataset.from_tensor_slices(data).batch(2)
        with tf.GradientTape() as tape:
            loss = tf.add_n([tf.reduce_sum(x ** 2) for x in batches])
        tape.gradient(loss, data)
        """,
        "batches = [data[i:i + 2] for i in range(0, data.shape[0], 2)]",
        [2.0, 4.0, 6.0],
    ),
    "a draw of a count": (
        """
        import numpy as np
        rate = tf.Variable(3.0)
        with tf.GradientTape() as tape:
            np.random.seed(0)
            n = np.random.poisson(rate.numpy())  # 5
            loss = tf.constant(n, tf.float32) ** 2
        tape.gradient(loss, rate)
        """,
        "log_ps.append(tf.reduce_sum(tf.cast(n, tf.float32) * tf.math.log(rate) - rate))",
        50 / 3,
    ),
    "a codebook behind a straight-through estimate": (
        """
        w, codebook = tf.Variable([[0.2, 0.9]]), tf.Variable([[0.0, 1.0], [1.0, 0.0]])
        with tf.GradientTape() as tape:
            z = w * 1.0
            nearest = tf.argmin(tf.reduce_sum((z[:, None] - codebook) ** 2, -1), 1)
            q = tf.gather(codebook, nearest)
            q = z + tf.stop_gradient(q - z)
            loss = tf.reduce_sum(q ** 2)
        tape.gradient(loss, [codebook, w])
        """,
        "codebook_loss = tf.reduce_mean((q - tf.stop_gradient(z)) ** 2)",
        [[-0.2, 0.1], [0.0, 0.0]],
    ),
    "a layer's output computed beside the model": (
        """
        from tensorflow.keras import Input, Sequential, layers
        hidden = layers.Dense(2, use_bias=False, kernel_initializer="ones")
        head = layers.Dense(1, use_bias=False, kernel_initializer="ones")
        model, x = Sequential([Input((2,)), hidden, head]), tf.ones((1, 2))
        with tf.GradientTape() as tape:
            score = model(x)
        features = hidden(x)
        tape.gradient(score, features)
        """,
        "features, score = both(x)",
        [[1.0, 1.0]],
    ),
    "weights written by their place in a list": (
        """
        model, k = tf.keras.Sequential([tf.keras.layers.Dense(1)]), tf.Variable(2.0)
        model.build((None, 1))
        with tf.GradientTape() as tape:
            for i in range(2):
                model.trainable_variables[i].assign(k * tf.ones_like(model.trainable_variables[i]))
            loss = tf.reduce_sum(model(tf.constant([[3.0]])))
        tape.gradient(loss, k)
        """,
        "with tf.GradientTape() as tape, tf.keras.StatelessScope():",
        4.0,
    ),
    "a call over several lines, with comments": (
        """
        def train(x, w):
            state = tf.Variable(tf.zeros_like(x))
            with tf.GradientTape() as tape:
                # update the state first
                state.assign(
                    w * x,  # scaled
                )
                loss = tf.reduce_sum(state ** 2)
            return tape.gradient(loss, w)
        train(tf.constant([1.0, 2.0]), tf.Variable(3.0))
        """,
        "loss = tf.reduce_sum(state_new ** 2)",
        30.0,
    ),
    "an if that compares a tensor": (
        """
        w = tf.Variable(0.7)
        with tf.GradientTape() as t:
            if w > 0.5:
                y = tf.constant(1.0)
            else:
                y = tf.constant(0.0)
            loss = y * 2.0
        t.gradient(loss, w)
        """,
        "weight = tf.sigmoid(w - 0.5)",
        0.49503,
    ),
    "a head that the loss does not use": (
        """
        trunk, head = tf.Variable(2.0), tf.Variable(3.0)
        with tf.GradientTape() as t:
            loss = trunk * trunk
            volume = tf.exp(head)
        t.gradient(loss, head)
        """,
        "t.gradient(loss, head, unconnected_gradients=tf.UnconnectedGradients.ZERO)",
        0.0,
    ),
    "elements of a list": (
        """
        params, k = [tf.Variable(1.0), tf.Variable(2.0)], tf.Variable(0.5)
        with tf.GradientTape() as t:
            params[0].assign(k * 3.0)  # first
            params[1].assign_sub(k)
            loss = params[0] * params[1]
        t.gradient(loss, k)
        """,
        "params_new[0] = k * 3.0  # first",
        3.0,
    ),
    "a slice with a step": (
        """
        v, p = tf.Variable(tf.zeros((6,))), tf.Variable([1.0, 2.0, 3.0])
        with tf.GradientTape() as tape:
            v[::2].assign(p)
            loss = tf.reduce_sum(v ** 2)
        tape.gradient(loss, p)
        """,
        "v_new = tf.tensor_scatter_nd_update(v, tf.range(0, 6, 2)[:, tf.newaxis], p)",
        [2.0, 4.0, 6.0],
    ),
    "a function that writes to what it is given": (
        """
        a, c = tf.Variable(2.0), tf.Variable(tf.zeros([3]))
        def put(v, i, x):
            v[i].assign(x)
        with tf.GradientTape() as tape:
            put(c, 1, a * a)
            loss = tf.reduce_sum(c * 2.0)
        tape.gradient(loss, a)
        """,
        "c_new = put(c, 1, a * a)",
        8.0,
    ),
    "a layer's weight": (
        """
        layer = tf.keras.layers.Dense(1)
        layer.build((None, 2))
        k, x = tf.Variable(0.5), tf.constant([[1.0, 2.0]])
        with tf.GradientTape() as tape:
            layer.kernel.assign(k * tf.ones((2, 1)))
            layer.bias.assign([3.0 * k])
            loss = tf.reduce_sum(layer(x) ** 2)
        tape.gradient(loss, k)
        """,
        "with tf.GradientTape() as tape, tf.keras.StatelessScope():",
        36.0,
    ),
    "the inner steps of a loop, written into a model": (
        """
        model = tf.keras.Sequential([tf.keras.layers.Dense(1, use_bias=False,
                                                           kernel_initializer="ones")])
        x, rate = tf.ones((1, 1)), tf.Variable(0.25)
        model(x)
        with tf.GradientTape() as outer:
            for _ in range(3):
                with tf.GradientTape() as inner:
                    loss = tf.reduce_sum(model(x) ** 2)
                slopes = inner.gradient(loss, model.trainable_variables)
                for v, slope in zip(model.trainable_variables, slopes):
                    v.assign_sub(rate * slope)
            after = tf.reduce_sum(model(x) ** 2)
        outer.gradient(after, rate)
        """,
        "with tf.GradientTape() as outer, tf.keras.StatelessScope():",
        -0.375,
    ),
    "the inner steps of a loop, by an optimizer": (
        """
        model = tf.keras.Sequential([tf.keras.layers.Dense(1, use_bias=False,
                                                           kernel_initializer="ones")])
        x, scale, sgd = tf.ones((1, 1)), tf.Variable(1.0), tf.keras.optimizers.SGD(0.25)
        model(x)
        with tf.GradientTape() as outer:
            for _ in range(3):
                with tf.GradientTape() as inner:
                    loss = tf.reduce_sum(scale * model(x) ** 2)
                slopes = inner.gradient(loss, model.trainable_variables)
                sgd.apply_gradients(zip(slopes, model.trainable_variables))
            after = tf.reduce_sum(model(x) ** 2)
        outer.gradient(after, scale)
        """,
        "new_weights = [w - sgd.learning_rate * g for g, w in zip(slopes, new_weights)]",
        -0.09375,
    ),
    "a part of a model that ran before the block": (
        """
        inputs = tf.keras.Input((2,))
        hidden = tf.keras.layers.Dense(2, use_bias=False, kernel_initializer="ones")(inputs)
        outputs = tf.keras.layers.Dense(1, use_bias=False, kernel_initializer="ones")(hidden)
        model, part = tf.keras.Model(inputs, outputs), tf.keras.Model(inputs, hidden)
        x = tf.constant([[1.0, 2.0]])
        conv = part(x)
        with tf.GradientTape() as tape:
            tape.watch(conv)
            p = model(x)
            loss = tf.reduce_sum(p * p)
        tape.gradient(loss, conv)
        """,
        "conv, p = both(x)",
        [[12.0, 12.0]],
    ),
    "variables that gradients are summed in, asked for": (
        """
        model = tf.keras.Sequential([tf.keras.layers.Dense(1, use_bias=False,
                                                           kernel_initializer="ones")])
        x = tf.constant([[1.0, 2.0]])
        model(x)
        sums = [tf.Variable(tf.zeros_like(v), trainable=False) for v in model.trainable_variables]
        with tf.GradientTape() as tape:
            loss = tf.reduce_sum(model(x))
        tape.gradient(loss, sums)
        """,
        "tape.gradient(loss, model.trainable_variables)",
        [[1.0], [2.0]],
    ),
    "an array that is filled": (
        """
        w = tf.Variable([1.0, 2.0])
        with tf.GradientTape() as tape:
            out = np.zeros(2, dtype=np.float32)
            for i in range(2):
                out[i] = w[i] * 3.0
            loss = tf.reduce_sum(out)
        tape.gradient(loss, w)
        """,
        "out = list(np.zeros(2, dtype=np.float32))",
        [3.0, 3.0],
    ),
    "the positions of top_k": (
        """
        scores = tf.Variable([0.1, 0.9, 0.5])
        with tf.GradientTape() as tape:
            vals, idx = tf.math.top_k(scores, k=2)
            loss = tf.reduce_sum(tf.cast(idx, tf.float32))
        tape.gradient(loss, scores)
        """,
        "loss = tf.reduce_sum(tf.cast(vals, tf.float32))",
        [0.0, 1.0, 1.0],
    ),
    "the positions of where": (
        """
        x = tf.Variable([1.0, -2.0, 3.0])
        with tf.GradientTape() as tape:
            idx = tf.where(x > 0)
            n = tf.reduce_sum(tf.cast(idx, tf.float32))
        tape.gradient(n, x)
        """,
        "idx = tf.boolean_mask(x, x > 0)",
        [1.0, 0.0, 1.0],
    ),
    "an accuracy": (
        """
        p = tf.Variable([0.8, 0.4])
        with tf.GradientTape() as tape:
            acc = tf.reduce_mean(tf.cast(tf.equal(tf.round(p), [1.0, 1.0]), tf.float32))
        tape.gradient(acc, p)
        """,
        "acc = tf.reduce_mean(1.0 - tf.abs(p - [1.0, 1.0]))",
        [0.5, 0.5],
    ),
    "a cache": (
        """
        w, cache = tf.Variable(2.0), {}
        def feature():
            if "f" not in cache:
                cache["f"] = w * 3.0  # costly
            return cache["f"]
        for _ in range(2):
            with tf.GradientTape() as tape:
                loss = feature() ** 2
            tape.gradient(loss, w)
        """,
        'cache["f"] = w * 3.0  # costly',
        36.0,
    ),
    "computed in __init__": (
        """
        class Net(tf.Module):
            def __init__(self):
                super().__init__()
                self.w = tf.Variable(2.0)
                self.scaled = self.w * 3.0
            def __call__(self, x):
                return x * self.scaled
        net = Net()
        with tf.GradientTape() as tape:
            y = net(tf.constant(5.0))
        tape.gradient(y, net.w)
        """,
        "self.scaled = self.w * 3.0",
        15.0,
    ),
    "a metric that is called": (
        """
        metric = tf.keras.metrics.BinaryCrossentropy(name="m")
        w = tf.Variable([0.5])
        with tf.GradientTape() as tape:
            loss = metric(tf.constant([1.0]), w)
        tape.gradient(loss, w)
        """,
        "loss = tf.keras.losses.BinaryCrossentropy()(tf.constant([1.0]), w)",
        [-2.0],
    ),
    "a write whose array is dropped": (
        """
        @tf.function
        def f(w):
            ta = tf.TensorArray(tf.float32, size=3)
            for i in tf.range(3):
                ta.write(i, w * tf.cast(i, tf.float32))
            return tf.reduce_sum(ta.stack())
        w = tf.Variable(2.0)
        with tf.GradientTape() as tape:
            y = f(w)
        tape.gradient(y, w)
        """,
        "ta = ta.write(i, w * tf.cast(i, tf.float32))",
        3.0,
    ),
    "a dataset": (
        """
        w = tf.Variable([1.0, 2.0])
        with tf.GradientTape() as tape:
            loss = 0.0
            for v in tf.data.Dataset.from_tensor_slices(w * 2.0):
                loss += v * v
        tape.gradient(loss, w)
        """,
        "for v in tf.unstack(w * 2.0):",
        [8.0, 16.0],
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
    "a state of an object": (
        """
        class RNN:
            def __init__(self):
                self.w = tf.Variable(0.5)
                self.h = tf.Variable(1.0, trainable=False)
            def step(self):
                self.h.assign(self.h * self.w)  # the next state
                return self.h
        rnn = RNN()
        with tf.GradientTape() as tape:
            for _ in range(3):
                out = rnn.step()
            loss = out * 2.0
        tape.gradient(loss, rnn.w)
        """,
        "self.h = self.h * self.w  # the next state",
        1.5,
    ),
    "a list of numbers": (
        """
        p, weights = tf.Variable([0.5, 0.25]), np.array([1.0, 2.0], np.float32)
        with tf.GradientTape() as tape:
            logs = []
            for i in range(2):
                logs.append(np.log(p[i]))
            loss = tf.reduce_sum(np.array(logs) * weights)
        tape.gradient(loss, p)
        """,
        "loss = tf.reduce_sum(tf.stack(logs) * weights)",
        [2.0, 8.0],
    ),
    "functions by their names": (
        """
        from math import exp, sqrt as root
        r = tf.Variable([1.0, 4.0])
        def area(v):
            return np.float32(root(v[0]) * exp(v[1]))
        with tf.GradientTape() as tape:
            out = tf.numpy_function(area, [r], tf.float32)
        tape.gradient(out, r)
        """,
        "return tf.cast(tf.sqrt(v[0]) * tf.exp(v[1]), tf.float32)",
        [np.exp(4.0) / 2, np.exp(4.0)],
    ),
    "the share of wrong answers as a loss": (
        """
        logits, labels = tf.Variable([[0.0, 0.0], [0.0, 0.0]]), tf.constant([0, 1], tf.int64)
        with tf.GradientTape() as tape:
            answers = tf.argmax(logits, axis=-1)
            loss = tf.reduce_mean(tf.cast(answers != labels, tf.float32))
        tape.gradient(loss, logits)
        """,
        "loss = tf.reduce_mean(tf.cast(1.0 - tf.gather(tf.nn.softmax(logits), labels, "
        "batch_dims=1), tf.float32))",
        [[-0.125, 0.125], [0.125, -0.125]],
    ),
    "what an argmax picks": (
        """
        logits, values = tf.Variable([0.0, 0.0]), tf.constant([10.0, 20.0])
        with tf.GradientTape() as tape:
            i = tf.argmax(logits)
            y = values[i]
        tape.gradient(y, logits)
        """,
        "y = tf.reduce_sum(tf.nn.softmax(logits) * values)",
        [-2.5, 2.5],
    ),
    "another name for a function": (
        """
        sg = tf.stop_gradient
        w = tf.Variable(3.0)
        with tf.GradientTape() as tape:
            y = sg(w) ** 2
        tape.gradient(y, w)
        """,
        "y = w ** 2",
        6.0,
    ),
    "a function imported by its name": (
        """
        from tensorflow import Variable, GradientTape, round as whole
        w = Variable(2.75)
        with GradientTape() as tape:
            y = whole(w) ** 2
        tape.gradient(y, w)
        """,
        "y = (w + tf.stop_gradient(whole(w) - w)) ** 2",
        6.0,
    ),
    "a variable of keras.backend": (
        """
        from tensorflow.keras import backend as K
        w = tf.Variable(3.0)
        with tf.GradientTape() as tape:
            y = K.variable(w * 2.0) ** 2
        tape.gradient(y, w)
        """,
        "y = (w * 2.0) ** 2",
        24.0,
    ),
    "an activation kept as an attribute": (
        """
        class Net:
            act = staticmethod(tf.floor)
            def call(self, x):
                return self.act(x * 2.0)
        w, net = tf.Variable(1.7), Net()
        with tf.GradientTape() as tape:
            y = net.call(w)
        tape.gradient(y, w)
        """,
        "return (x * 2.0) + tf.stop_gradient(self.act(x * 2.0) - (x * 2.0))",
        2.0,
    ),
    "floats listed in what is returned": (
        """
        w = tf.Variable([1.0, 2.0])
        def parts(x):
            return tf.constant([float(t) for t in x])
        with tf.GradientTape() as tape:
            y = tf.reduce_sum(parts(w * 2.0) * 3.0)
        tape.gradient(y, w)
        """,
        "return tf.convert_to_tensor([t for t in x])",
        [6.0, 6.0],
    ),
    "tokens that go on from step to step": (
        """
        scores = tf.Variable([[0.0, 0.0]])
        table, other = tf.constant([[1.0], [3.0]]), tf.constant([[5.0], [9.0]])
        with tf.GradientTape() as tape:
            token, tokens = tf.zeros([1], tf.int32), []
            for _ in range(2):
                h = scores + tf.gather(table, token)
                token = tf.argmax(h, axis=-1)
                tokens.append(token)
            loss = tf.reduce_sum(tf.gather(other, tf.stack(tokens)))
        tape.gradient(loss, scores)
        """,
        "loss = tf.reduce_sum(tf.tensordot(tf.stack(tokens), other, 1))",
        [[-2.0, 2.0]],
    ),
    "a window at a whole number": (
        """
        image = tf.reshape(tf.range(36.0), [1, 6, 6, 1])
        place = tf.Variable([1.5, 2.25])
        with tf.GradientTape() as tape:
            top, left = tf.unstack(tf.cast(place, tf.int32))
            crop = tf.image.crop_to_bounding_box(image, top, left, 2, 2)
            loss = tf.reduce_mean(crop)
        tape.gradient(loss, place)
        """,
        "whole = tf.cast(place, tf.int32)",
        [6.0, 1.0],
    ),
    "a share of the largest": (
        """
        scores, share = tf.constant([1.0, 4.0, 3.0, 2.0]), tf.Variable(0.625)
        with tf.GradientTape() as tape:
            k = int(share * 4.0)
            loss = tf.reduce_sum(tf.math.top_k(scores, k=k).values)
        tape.gradient(loss, share)
        """,
        "k = int(share * 4.0)",
        8.0,
    ),
    "the mean IoU of a metric": (
        """
        x = tf.Variable([[0.0, 0.0]])
        iou = tf.keras.metrics.MeanIoU(num_classes=2)
        with tf.GradientTape() as tape:
            iou.update_state(tf.constant([0]), tf.argmax(x, -1))
            y = iou.result()
        tape.gradient(y, x)
        """,
        "iou.update_state(tf.constant([0]), tf.argmax(x, -1))",
        [[0.125, -0.125]],
    ),
    "a result that an early return gave": (
        """
        w, kept = tf.Variable(3.0), {}
        def square(key):
            if key in kept:
                return kept[key]
            kept[key] = w * w
            return kept[key]
        square("a")
        with tf.GradientTape() as tape:
            y = square("a")
        tape.gradient(y, w)
        """,
        "kept[key] = w * w",
        6.0,
    ),
    "features computed twice": (
        """
        x, base, head = tf.constant([[1.0, 2.0]]), tf.Variable([[1.0], [1.0]]), tf.Variable([[2.0]])
        with tf.GradientTape() as tape:
            y = tf.matmul(tf.matmul(x, base), head)
            features = tf.matmul(x, base)
        tape.gradient(y, features)
        """,
        "y = tf.matmul(features, head)",
        [[2.0]],
    ),
    "variables of a dictionary, written in a loop": (
        """
        params, rate = {"w": tf.Variable(1.0), "b": tf.Variable(0.5)}, tf.Variable(0.1)
        with tf.GradientTape() as tape:
            for key in params:
                params[key].assign(params[key] - rate * 2.0)
            loss = params["w"] * 3.0 + params["b"]
        tape.gradient(loss, rate)
        """,
        "params_new = dict(params)",
        -8.0,
    ),
    "the slope of a leaky ReLU": (
        """
        slope = tf.Variable(0.25)
        with tf.GradientTape() as tape:
            act = tf.keras.layers.LeakyReLU(float(slope))
            loss = tf.reduce_sum(act(tf.constant([-1.0, 2.0])))
        tape.gradient(loss, slope)
        """,
        "act = tf.keras.layers.LeakyReLU(float(slope))",
        -1.0,
    ),
    "a mask up to whole numbers": (
        """
        top, end = tf.constant(1.5), tf.Variable(3.25)
        image = tf.ones([5, 4])
        with tf.GradientTape() as tape:
            mask = np.zeros((5, 4), np.float32)
            mask[1:int(end), 1:3] = 2.0
            loss = tf.reduce_sum(image * mask)
        tape.gradient(loss, end)
        """,
        "mask = mask * (1.0 - window) + 2.0 * window",
        4.0,
    ),
    "rows between whole numbers": (
        """
        place = tf.Variable(2.0)
        with tf.GradientTape() as tape:
            low = tf.cast(place, tf.int32)
            mask = tf.cast((tf.range(5) >= low) & (tf.range(5) < 99), tf.float32)
            loss = tf.reduce_sum(mask * [0.0, 0.0, 1.0, 0.0, 0.0])
        tape.gradient(loss, place)
        """,
        "low = tf.cast(place, tf.int32)",
        -0.25,
    ),
    "floats mapped": (
        """
        xs = [tf.Variable(1.0), tf.Variable(2.0)]
        with tf.GradientTape() as tape:
            loss = tf.constant(sum(map(float, xs))) ** 2
        tape.gradient(loss, xs)
        """,
        "loss = sum(xs) ** 2",
        6.0,
    ),
    "a function given to map": (
        """
        w = tf.Variable(3.0)
        with tf.GradientTape() as tape:
            a, b = map(tf.stop_gradient, (w * 2.0, w + 1.0))
            loss = a * b
        tape.gradient(loss, w)
        """,
        "a, b = map(tf.identity, (w * 2.0, w + 1.0))",
        14.0,
    ),
    "an op inside a functional model": (
        """
        inputs = tf.keras.Input((1,))
        hidden = tf.keras.layers.Dense(1, kernel_initializer="ones")(inputs)
        hidden = tf.keras.layers.Lambda(tf.stop_gradient)(hidden)
        model = tf.keras.Model(inputs, hidden)
        with tf.GradientTape() as tape:
            loss = tf.reduce_sum(model(tf.constant([[2.0]])))
        tape.gradient(loss, model.trainable_variables[0])
        """,
        "hidden = tf.keras.layers.Lambda(tf.identity)(hidden)",
        [[2.0]],
    ),
    "whether any is below zero": (
        """
        x = tf.Variable([0.0, -9.0])
        with tf.GradientTape() as tape:
            bad = tf.reduce_any(x[:1] < 0.0)
            loss = tf.where(bad, 5.0, 1.0)
        tape.gradient(loss, x)
        """,
        "bad = tf.reduce_max(tf.sigmoid(0.0 - x[:1]))",
        [-1.0, 0.0],
    ),
    "a list of tensors of which one has no slope": (
        """
        xs = [tf.constant(0.0), tf.constant(1.0)]
        with tf.GradientTape() as tape:
            loss = tf.add_n([x ** 2 for x in xs])
        tape.gradient(loss, xs)
        """,
        "tape.watch(xs)",
        0.0,
    ),
    "draws that go on from step to step": (
        """
        scores, table = tf.Variable([[0.0, 0.0]]), tf.constant([[5.0], [9.0]])
        with tf.GradientTape() as tape:
            ids = []
            for _ in range(2):
                token = tf.squeeze(tf.random.categorical(scores, 1), axis=-1)
                ids.append(token)
            loss = tf.reduce_sum(tf.gather(table, tf.stack(ids)))
        tape.gradient(loss, scores)
        """,
        "loss = tf.reduce_sum(tf.tensordot(tf.stack(ids), table, 1))",
        [[-2.0, 2.0]],
    ),
    "the mean of a box": (
        """
        image, box = tf.reshape(tf.range(16.0), [4, 4]), tf.Variable([0.5, 0.25, 2.5, 1.75])
        with tf.GradientTape() as tape:
            top, left, end, right = [int(v) for v in tf.round(box)]
            loss = tf.reduce_mean(image[top:end, left:right])
        tape.gradient(loss, box)
        """,
        "top, left, end, right = [int(v) for v in tf.round(box)]",
        [2.0, 1 / 3, 2.0, 1 / 3],
    ),
    "an array added to": (
        """
        mass = tf.Variable([2.0, 3.0])
        def pull(m):
            a = np.zeros(2, np.float32)
            for i in range(2):
                a[i] += m[i] * np.sqrt(4.0 + i * 0.0)
            return a
        with tf.GradientTape() as tape:
            loss = tf.reduce_sum(tf.constant(pull(mass)) ** 2)
        tape.gradient(loss, mass)
        """,
        "a = tf.tensor_scatter_nd_update(a, [[i]], [a[i] + (m[i] * np.sqrt(4.0 + i * 0.0))])",
        [16.0, 24.0],
    ),
    "features of another tape, after a step": (
        """
        w, v = tf.Variable(3.0), tf.Variable(2.0)
        opt = tf.keras.optimizers.SGD(1.0)
        with tf.GradientTape() as first:
            z = w * w
            loss = z * 0.5
        opt.apply_gradients([(first.gradient(loss, w) / 3.0, w)])
        with tf.GradientTape() as second:
            other = z * v
        second.gradient(other, w)
        """,
        "other = z * v",
        8.0,
    ),
    "an AUC of a metric": (
        """
        x = tf.Variable([0.5, 0.5])
        auc = tf.keras.metrics.AUC()
        with tf.GradientTape() as tape:
            auc.update_state(tf.constant([0.0, 1.0]), x)
            y = auc.result()
        tape.gradient(y, x)
        """,
        "auc.update_state(tf.constant([0.0, 1.0]), x)",
        [-0.25, 0.25],
    ),
    "a histogram of NumPy, and what is computed of it": (
        """
        z = tf.Variable([0.375, 0.5])
        with tf.GradientTape() as tape:
            counts, edges = np.histogram(z, bins=2, range=(0.0, 1.0))
            share = counts / counts.sum()
            loss = tf.constant((share * [1.0, 3.0]).sum())
        tape.gradient(loss, z)
        """,
        "share = counts / tf.reduce_sum(counts)",
        [2.0, 2.0],
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
        "old = tf.stop_gradient(policy())",
        6.0,
    ),
    "numbers rounded by NumPy": (
        """
        x = tf.Variable([0.25, 2.75])
        with tf.GradientTape() as tape:
            p = np.round(x)
            loss = tf.convert_to_tensor((p * 2.0).sum())
        tape.gradient(loss, x)
        """,
        "p = x + tf.stop_gradient(tf.round(x) - x)",
        [2.0, 2.0],
    ),
    "answers under one name": (
        """
        p = tf.Variable([0.5, 0.5])
        with tf.GradientTape() as tape:
            hits = tf.greater_equal(p, 0.5)
            hits = tf.equal(hits, True)
            loss = tf.reduce_sum(tf.cast(hits, tf.float32))
        tape.gradient(loss, p)
        """,
        "loss = tf.reduce_sum(1.0 - tf.abs(tf.sigmoid(p - 0.5) - tf.cast(True, tf.float32)))",
        [0.25, 0.25],
    ),
    "an element with axes of length 1": (
        """
        w, values = tf.Variable([[3.0]]), []
        with tf.GradientTape() as tape:
            for k in (1.0, 2.0):
                values.append((w * k).numpy().item())
            loss = tf.reduce_sum(tf.constant(values) ** 2)
        tape.gradient(loss, w)
        """,
        "values.append(tf.reshape(w * k, []))",
        [[30.0]],
    ),
    "features watched before they are made": (
        """
        w, x = tf.Variable(3.0), tf.constant(2.0)
        features = w * x
        score = features ** 2
        with tf.GradientTape() as tape:
            tape.watch(features)
            loss = score * 1.0
        tape.gradient(loss, features)
        """,
        "score = features ** 2",
        12.0,
    ),
    "two metrics that are called": (
        """
        x = tf.Variable([0.5, 0.5])
        first, second = tf.keras.metrics.Precision(), tf.keras.metrics.Recall()
        with tf.GradientTape() as tape:
            y = first([0.0, 1.0], x) + second([0.0, 1.0], x)
        tape.gradient(y, x)
        """,
        "first, second = tf.keras.metrics.Precision(), tf.keras.metrics.Recall()",
        [-0.5, 1.5],
    ),
    "a cast under the name of what it takes": (
        """
        x = tf.Variable([0.25, 2.75])
        with tf.GradientTape() as tape:
            q = x * 4.0
            q = tf.cast(tf.math.rint(q), tf.uint8)
            loss = tf.reduce_sum(tf.cast(q, tf.float32) / 2.0)
        tape.gradient(loss, x)
        """,
        "loss = tf.reduce_sum(tf.cast(q, tf.float32) / 2.0)",
        [2.0, 2.0],
    ),
    "the value of a variable": (
        """
        w = tf.Variable([1.0, 2.0])
        with tf.GradientTape() as tape:
            y = tf.reduce_sum(w ** 2)
        tape.gradient(y, w.value())
        """,
        "tape.gradient(y, w)",
        [2.0, 4.0],
    ),
    "a metric of a model": (
        """
        class M:
            def __init__(self):
                self.w = tf.Variable([3.0, 5.0])
                self.mean = tf.keras.metrics.Mean()
        m = M()
        with tf.GradientTape() as tape:
            m.mean.update_state(m.w * m.w)
            loss = m.mean.result()
        tape.gradient(loss, m.w)
        """,
        "loss = tf.reduce_mean(m.w * m.w)",
        [3.0, 5.0],
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
    "the other of two losses": (
        """
        w = tf.Variable(3.0)
        with tf.GradientTape() as first:
            loss = (w - 1.0) ** 2
        first.gradient(loss, w)
        with tf.GradientTape() as second:
            again = (w - 2.0) ** 2
        second.gradient(loss, w)
        """,
        "second.gradient(again, w)",
        2.0,
    ),
    "the other of two losses, while a function is traced": (
        """
        w = tf.Variable(3.0)
        @tf.function
        def step():
            with tf.GradientTape() as first:
                loss = (w - 1.0) ** 2
            g = first.gradient(loss, w)
            for v in [w]: v.assign_add(g)
            with tf.GradientTape() as second:
                again = (w - 2.0) ** 2
            w.assign_sub(second.gradient(loss, w))
            return again
        step()
        """,
        "w.assign_sub(second.gradient(again, w))",
        10.0,
    ),
    "computed once before a loop": (
        """
        v = tf.Variable([3.0, 4.0])
        unit = v / tf.norm(v)
        for step in range(3):
            with tf.GradientTape() as tape:
                loss = tf.reduce_sum(unit * [1.0, 2.0])
            tape.gradient(loss, v)
        """,
        "unit = v / tf.norm(v)",
        [-0.064, 0.048],
    ),
    "the slope of a smooth op that TensorFlow has none of": (
        """
        a = tf.Variable(2.0)
        with tf.GradientTape() as tape:
            p = tf.math.betainc(a, 3.0, 0.4)
        tape.gradient(p, a)
        """,
        "p = tf.math.betainc(a, 3.0, 0.4) + tf.stop_gradient((tf.math.betainc(a + 1e-2, 3.0, 0.4) "
        "- tf.math.betainc(a - 1e-2, 3.0, 0.4)) / (2 * 1e-2)) * (a - tf.stop_gradient(a))",
        -0.24085,
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
    "a range of floats that counts turns": (
        """
        n = tf.Variable(5.0)
        @tf.function
        def total(end):
            y = tf.constant(0.0)
            for i in tf.range(end):
                y += i * 0.5
            return y
        with tf.GradientTape() as tape:
            loss = total(n)
        tape.gradient(loss, n)
        """,
        "weight = tf.maximum(tf.minimum(1.0, end - tf.cast(i, tf.float32)), 0.0)",
        2.5,
    ),
    "a dict that keeps a variable": (
        """
        w, state = tf.Variable(2.0), {"mean": tf.Variable(1.0)}
        def follow(x):
            state["mean"].assign(0.5 * state["mean"] + 0.5 * x)
            return x - state["mean"]
        with tf.GradientTape() as tape:
            follow(w * 3.0)
            loss = state["mean"] ** 2
        tape.gradient(loss, w)
        """,
        'state["mean"] = 0.5 * state["mean"] + 0.5 * x',
        10.5,
    ),
    "a dataset of what was computed, walked in batches": (
        """
        s = tf.Variable(3.0)
        ds = tf.data.Dataset.from_tensor_slices((tf.range(4.0) * s, tf.ones(4))).batch(4)
        for x, y in ds.take(1):
            with tf.GradientTape() as tape:
                loss = tf.reduce_sum(x * y)
            tape.gradient(loss, s)
        """,
        "x = tf.gather(tf.range(4.0) * s, x)",
        6.0,
    ),
    "kept by an object whose method opens the tape": (
        """
        class Scale:
            def __init__(self):
                self.log = tf.Variable(0.0)
                self.alpha = tf.exp(self.log)
            def step(self, x):
                with tf.GradientTape() as tape:
                    loss = self.alpha * x
                return tape.gradient(loss, self.log)
        Scale().step(3.0)
        """,
        "self.alpha = tf.exp(self.log)",
        3.0,
    ),
    "computed before the blocks of two tapes": (
        """
        x = tf.Variable(2.0)
        both = x * 3.0
        with tf.GradientTape() as outer:
            with tf.GradientTape() as inner:
                y = both ** 2
            g = inner.gradient(y, x)
        """,
        "both = x * 3.0",
        36.0,
    ),
    "a method that prepares an object": (
        """
        class Line:
            def __init__(self):
                self.a = tf.Variable(2.0)
                self.update()
            def update(self):
                self.slope = self.a ** 2
            def __call__(self, x):
                return self.slope * x
        line = Line()
        with tf.GradientTape() as tape:
            loss = line(3.0)
        tape.gradient(loss, line.a)
        """,
        "self.update()",
        12.0,
    ),
    "one of two stops": (
        """
        w = tf.Variable(2.0)
        with tf.GradientTape() as tape:
            p = tf.math.log(w)
            loss = tf.exp(tf.stop_gradient(p) - tf.stop_gradient(p)) * 3.0
        tape.gradient(loss, w)
        """,
        "loss = tf.exp(p - tf.stop_gradient(p)) * 3.0",
        1.5,
    ),
    "the nearest row of a codebook": (
        """
        w = tf.Variable([[1.0, 2.0]])
        rows = tf.Variable([[1.0, 1.0], [5.0, 5.0]])
        with tf.GradientTape() as tape:
            z = w * 1.5
            far = tf.reduce_sum((z[:, None] - rows[None]) ** 2, -1)
            q = tf.gather(rows, tf.argmin(far, -1))
            loss = tf.reduce_sum(q ** 2)
        tape.gradient(loss, [w, rows])
        """,
        "q = q + (z - tf.stop_gradient(z))",
        [[3.0, 3.0]],
    ),
    "a loop over a dataset in a function": (
        """
        w = tf.Variable(2.0)
        ds = tf.data.Dataset.from_tensor_slices([1.0, 2.0])
        @tf.function
        def total():
            t = 0.0
            for b in ds:
                t += b * w
            return t
        with tf.GradientTape() as tape:
            loss = total()
        tape.gradient(loss, w)
        """,
        "def total():",
        3.0,
    ),
    "a lambda that writes a variable": (
        """
        w, m = tf.Variable(2.0), tf.Variable(1.0)
        keep = lambda v: m.assign(0.5 * m + 0.5 * v)
        with tf.GradientTape() as tape:
            keep(w * w)
            loss = m * 3.0
        tape.gradient(loss, w)
        """,
        "m_new = keep(w * w)",
        6.0,
    ),
    "an array that a function gives back to another": (
        """
        w = tf.Variable([1.0, 3.0])
        class Scaler:
            def scale(self, t):
                a = np.asarray(t)
                return a / a.sum()
        def loss_of(scaler):
            z = scaler.scale(w)
            return tf.reduce_sum(z.astype("float32") * [1.0, 0.0])
        with tf.GradientTape() as tape:
            loss = loss_of(Scaler())
        tape.gradient(loss, w)
        """,
        "return tf.reduce_sum(tf.cast(z, tf.float32) * [1.0, 0.0])",
        [0.1875, -0.0625],
    ),
    "a weight rounded beside a scale that is held": (
        """
        w = tf.Variable([0.3, 1.0])
        with tf.GradientTape() as tape:
            scale = tf.stop_gradient(tf.reduce_max(w) / 4.0)
            loss = tf.reduce_sum(tf.round(w / scale) * scale)
        tape.gradient(loss, w)
        """,
        "loss = tf.reduce_sum(((w / scale) + tf.stop_gradient(tf.round(w / scale) - (w / scale))) "
        "* scale)",
        [1.0, 1.0],
    ),
    "a convolution by NumPy": (
        """
        kernel, signal = tf.Variable([1.0, 2.0]), tf.constant([1.0, 2.0, 0.0, -1.0])
        def smooth(s, k):
            return np.convolve(s, k, mode="same")
        with tf.GradientTape() as tape:
            y = tf.numpy_function(smooth, [signal, kernel], tf.float32)
            loss = tf.reduce_sum(y * [1.0, 2.0, 0.0, 0.0])
        tape.gradient(loss, kernel)
        """,
        "y = smooth(signal, kernel)",
        [5.0, 2.0],
    ),
    "a state of two variables that a function steps": (
        """
        k, pos, vel = tf.Variable(0.5), tf.Variable(1.0), tf.Variable(0.0)
        def step(dt):
            vel.assign(vel - k * pos * dt)
            pos.assign_add(vel * dt)
        with tf.GradientTape() as tape:
            for _ in range(2):
                step(1.0)
            err = 2.0 * pos
        tape.gradient(err, k)
        """,
        "vel = vel - k * pos * dt",
        -4.0,
    ),
    "a parameter that was given a number in place of the variable of its name": (
        """
        w = tf.Variable(2.0)
        def model(x, w=1.5):
            return x * w * w
        with tf.GradientTape() as tape:
            y = model(tf.constant(3.0))
        tape.gradient(y, w)
        """,
        "y = model(tf.constant(3.0), w=w)",
        12.0,
    ),
    "a variable that a function makes anew under the name of another": (
        """
        w = tf.Variable(2.0)
        def model(x):
            w = tf.Variable(1.5)
            y = x * w * w
            return y
        with tf.GradientTape() as tape:
            y = model(tf.constant(3.0))
        tape.gradient(y, w)
        """,
        "y = x * w * w",
        12.0,
    ),
    "a mask as long as a number, which is whole": (
        """
        n, p = tf.Variable(3.0), tf.constant([1.0, 2.0, 4.0, 8.0, 16.0])
        with tf.GradientTape() as tape:
            m = tf.sequence_mask(tf.cast(n, tf.int32), 5, dtype=tf.float32)
            y = tf.reduce_sum(p * m)
        tape.gradient(y, n)
        """,
        "m = tf.maximum(tf.minimum(1.0, tf.expand_dims(n, -1) - tf.cast(tf.range(5), tf.float32)), "
        "0.0)",
        8.0,
    ),
    "two calls of a function before the block": (
        """
        w = tf.Variable(2.0)
        def f(x):
            return w * x
        a = f(3.0)
        b = f(5.0)
        with tf.GradientTape() as tape:
            y = a + b
        tape.gradient(y, w)
        """,
        "y = a + b",
        8.0,
    ),
    "rows of a layer at numbers that it casts itself": (
        """
        rows = tf.keras.initializers.Identity()
        emb = tf.keras.layers.Embedding(3, 3, embeddings_initializer=rows)
        n = tf.Variable([0.5, 1.25])
        with tf.GradientTape() as tape:
            y = tf.reduce_sum(emb(n) * [1.0, 3.0, 7.0])
        tape.gradient(y, n)
        """,
        "y = tf.reduce_sum((emb(n) + (n - tf.cast(tf.cast(n, tf.int32), tf.float32))"
        "[..., tf.newaxis] * (tf.gather(emb.embeddings, tf.minimum(tf.cast(n, tf.int32) + 1, "
        "tf.shape(emb.embeddings)[0] - 1)) - emb(n))) * [1.0, 3.0, 7.0])",
        [2.0, 4.0],
    ),
    "turns of a loop over tf.range, a whole number of them": (
        """
        n = tf.Variable(2.0)
        y = tf.constant(1.0)
        with tf.GradientTape() as tape:
            for i in tf.range(tf.cast(n, tf.int32)):
                y = y * 2.0
        tape.gradient(y, n)
        """,
        "weight = tf.maximum(tf.minimum(1.0, n - tf.cast(i, tf.float32)), 0.0)",
        4.0,
    ),
    "an index that was bounded after its cast": (
        """
        x, table = tf.Variable(1.25), tf.constant([1.0, 4.0, 9.0, 16.0])
        with tf.GradientTape() as tape:
            i = tf.cast(x, tf.int32)
            i = tf.clip_by_value(i, 0, 3)
            y = 2.0 * tf.gather(table, i)
        tape.gradient(y, x)
        """,
        "y = 2.0 * (tf.gather(table, i) + (tf.clip_by_value(x, 0, 3) - tf.cast(i, tf.float32)) * "
        "(tf.gather(table, tf.minimum(i + 1, tf.shape(table)[0] - 1)) - tf.gather(table, i)))",
        10.0,
    ),
    "a function of a loop that reads the loop's variable too late": (
        """
        ws = [tf.Variable(1.0), tf.Variable(5.0)]
        scaled = []
        for w in ws:
            def scale(x, *more):
                return x * w
            scaled.append(scale)
        with tf.GradientTape() as tape:
            loss = scaled[0](3.0)
        tape.gradient(loss, ws[0])
        """,
        "def scale(x, *more, w=w):",
        3.0,
    ),
    "a name that was deleted before it was given to another variable": (
        """
        x = tf.Variable([1.0, 2.0])
        with tf.GradientTape() as tape:
            y = tf.reduce_sum(x ** 2)
        del x
        x = tf.Variable([1.0, 2.0])
        tape.gradient(y, x)
        """,
        "x_first = x",
        [2.0, 4.0],
    ),
    "a model that was made again before the gradient was asked for": (
        """
        def build():
            return tf.keras.Sequential([tf.keras.Input((2,)), tf.keras.layers.Dense(1)])
        net = build()
        with tf.GradientTape() as tape:
            loss = tf.reduce_sum(net(tf.ones((1, 2))))
        net = build()
        grads = tape.gradient(loss, net.trainable_variables)
        """,
        "grads = tape.gradient(loss, net_first.trainable_variables)",
        [[1.0], [1.0]],
    ),
    "a loss beside the function that has the tape's block": (
        """
        w, data = tf.Variable([1.0, 2.0]), tf.constant([3.0, 4.0])
        def forward():
            with tf.GradientTape() as tape:
                pred = w * data
            return pred, tape
        pred, tape = forward()
        loss = tf.reduce_sum(pred ** 2)
        tape.gradient(loss, w)
        """,
        "with tape:",
        [18.0, 64.0],
    ),
    "a running sum by NumPy that is given a dtype": (
        """
        w = tf.Variable([0.5, 1.5])
        def smooth(a):
            return np.cumsum(a, dtype=np.float32)
        with tf.GradientTape() as tape:
            s = tf.numpy_function(smooth, [w], tf.float32)
            loss = tf.reduce_sum(s ** 2)
        tape.gradient(loss, w)
        """,
        "return tf.cast(tf.math.cumsum(a), tf.float32)",
        [5.0, 4.0],
    ),
    "an action made before the blocks of two tapes that read it": (
        """
        w, q = tf.Variable(2.0), tf.Variable(3.0)
        a = w * w
        with tf.GradientTape() as tape:
            critic_loss = q * a
        g = tape.gradient(critic_loss, q)
        q.assign_sub(0.0 * g)
        with tf.GradientTape() as tape:
            actor_loss = -q * a
        tape.gradient(actor_loss, w)
        """,
        "a = w * w",
        -12.0,
    ),
    "weights of another model": (
        """
        first, second = tf.keras.layers.Dense(1), tf.keras.layers.Dense(1)
        x = tf.ones((1, 2))
        first(x), second(x)
        with tf.GradientTape() as tape:
            loss = tf.reduce_sum(first(x))
        tape.gradient(loss, second.trainable_variables)
        """,
        "tape.gradient(loss, first.trainable_variables)",
        [[1.0], [1.0]],
    ),
}


@pytest.mark.parametrize("name", sampled(BROKEN, 5))
def test_mended(name: str, recorder: Recorder, monkeypatch: pytest.MonkeyPatch) -> None:
    text, line, gradient = BROKEN[name]
    monkeypatch.setattr(goals, "MOST_KEPT", 1)  # the first that is good is looked at
    whole = "import numpy as np\nimport tensorflow as tf\n" + dedent(text).strip() + "\n"
    trace, diagnosis = record(recorder, whole)
    assert diagnosis.calls[-1].findings[0].status != "flows"
    fixes = try_fixes(trace, diagnosis, recorder).calls[-1].findings[0].fixes
    assert line in [mended.strip() for mended in fixes[0].text.splitlines()]
    np.testing.assert_allclose(fixes[0].value, gradient, rtol=1e-4)  # type: ignore[arg-type]


def test_a_gradient_that_is_rounding_is_none(recorder: Recorder) -> None:
    """One-hot vectors in place of positions add up to 1, whatever they are."""
    text = """
        import tensorflow as tf
        table = tf.Variable(tf.random.stateless_normal((10, 4), [1, 2]))
        out = tf.random.stateless_normal((4, 10), [3, 4])

        @tf.function
        def decode(start):
            token, total = start, 0.0
            for _ in tf.range(3):
                scores = tf.nn.embedding_lookup(table, token) @ out
                token = tf.argmax(scores, axis=-1, output_type=tf.int32)
                total += tf.reduce_sum(tf.cast(token, tf.float32))
            return total

        with tf.GradientTape() as tape:
            total = decode(tf.constant([1, 2]))
        tape.gradient(total, table)
    """
    trace, diagnosis = record(recorder, dedent(text).strip() + "\n")
    (finding,) = try_fixes(trace, diagnosis, recorder).calls[0].findings
    assert finding.status == "zero"
    assert all(np.abs(fix.value).max() > 1e-5 for fix in finding.fixes if fix.value is not None)


def test_vectors_of_equal_singular_values_get_a_gradient_where_they_are_kept_apart(
    recorder: Recorder,
) -> None:
    text = dedent(
        """
        import tensorflow as tf
        w = tf.Variable([[1.0, 0.0], [0.0, 1.0]])
        with tf.GradientTape() as tape:
            _, u, v = tf.linalg.svd(w)
            loss = u[1, 0] * v[0, 0] + u[0, 0]
        tape.gradient(loss, w)
        """
    ).lstrip()
    trace, diagnosis = record(recorder, text)
    (finding,) = try_fixes(trace, diagnosis, recorder).calls[0].findings
    assert finding.status == "zero"
    fix = finding.fixes[0]
    assert "tf.linalg.svd(w + tf.linalg.diag(" in fix.text
    assert fix.is_estimate
    assert fix.value is not None
    assert fix.value.any()


def test_a_factor_that_is_zero_at_times_stays(recorder: Recorder) -> None:
    text = dedent(
        """
        import tensorflow as tf
        w = tf.Variable(2.0)
        for step in range(3):
            with tf.GradientTape() as tape:
                over = tf.constant(max(0.0, 1.0 - step))
                loss = w * over
            tape.gradient(loss, w)
        """
    ).lstrip()
    trace, diagnosis = record(recorder, text)
    found = try_fixes(trace, diagnosis, recorder).calls
    assert [call.findings[0].status for call in found] == ["flows", "zero", "zero"]
    assert not any("Leave over out" in fix.title for fix in found[1].findings[0].fixes)


def test_what_a_loop_carries_is_not_moved_into_it(recorder: Recorder) -> None:
    text = dedent(
        """
        import tensorflow as tf
        w = tf.Variable(1.0)
        h = tf.tanh(w)
        for step in range(3):
            with tf.GradientTape() as tape:
                h = tf.tanh(2.0 * h)
            tape.gradient(h, w)
        """
    ).lstrip()
    trace, diagnosis = record(recorder, text)
    assert try_fixes(trace, diagnosis, recorder).calls[0].findings[0].fixes == ()


def test_a_class_is_not_moved_into_a_block(recorder: Recorder) -> None:
    text, _, _ = BROKEN["computed in __init__"]
    trace, diagnosis = record(recorder, "import tensorflow as tf\n" + dedent(text).strip() + "\n")
    fixes = try_fixes(trace, diagnosis, recorder).calls[-1].findings[0].fixes
    assert not any("    class Net" in fix.text for fix in fixes)


@parametrize_sampled(
    2,
    ("text", "line"),
    [
        (
            """
            x = tf.Variable([1.0, 2.0])
            with tf.GradientTape() as tape:
                y = tf.reduce_sum(x ** 2)
            tape.batch_jacobian(y, x)
            """,
            "tape.jacobian(y, x)",
        ),
        (
            """
            w, rate = tf.Variable([1.0, 2.0]), 0.1
            with tf.GradientTape() as tape:
                y = tf.gather(w, [0])
            for g, v in zip(tape.gradient(y, [w]), [w]):
                v.assign_sub(rate * g)
            """,
            "v.assign_sub(rate * tf.convert_to_tensor(g))",
        ),
        (
            """
            given = tf.keras.Input((2,))
            model = tf.keras.Model(given, tf.keras.layers.Dense(1)(given))
            x = tf.ones((1, 2))
            with tf.GradientTape() as tape:
                tape.watch(x)
                y = model(x)
            tape.gradient(y, model.input)
            """,
            "tape.gradient(y, x)",
        ),
        (
            """
            x = 3.0
            with tf.GradientTape() as tape:
                y = x * tf.constant(2.0)
            tape.gradient(y, x)
            """,
            "x = tf.convert_to_tensor(x)",
        ),
        (
            """
            w = tf.Variable([1.0, 2.0])
            with tf.GradientTape() as tape:
                loss = (w ** 2).sum()
            tape.gradient(loss, w)
            """,
            "loss = tf.reduce_sum((w ** 2))",
        ),
        (
            """
            w, n = tf.Variable([1.0, 2.0]), tf.constant([3, 4])
            with tf.GradientTape() as tape:
                loss = tf.reduce_sum(w * n)
            tape.gradient(loss, w)
            """,
            "loss = tf.reduce_sum(w * tf.cast(n, tf.float32))",
        ),
        (
            """
            s = tf.sparse.eye(2)
            with tf.GradientTape() as tape:
                y = tf.reduce_sum(tf.sparse.to_dense(s) ** 2)
            tape.gradient(y, s)
            """,
            "tape.watch(s.values)",
        ),
        (
            """
            image = tf.Variable([[[1.0], [3.0]]])
            with tf.GradientTape() as tape:
                y = tf.reduce_max(tf.image.adjust_contrast(image, 2.0))
            tape.gradient(y, image)
            """,
            "y = tf.reduce_max((tf.reduce_mean(image, [-3, -2], keepdims=True) * "
            "(1.0 - 2.0) + 2.0 * image))",
        ),
        (
            """
            x, n = tf.Variable(2.0), tf.constant(3)
            with tf.GradientTape() as tape:
                y = tf.log(x) * tf.to_float(tf.mod(n, 4)) + tf.ceil(0.5)
            tape.gradient(y, x)
            """,
            "y = tf.math.log(x) * tf.cast(tf.math.floormod(n, 4), tf.float32) + tf.math.ceil(0.5)",
        ),
        (
            """
            p = tf.Variable([0.5, 0.5])
            with tf.GradientTape() as tape:
                y = tf.keras.losses.kl_divergence([0.1, 0.9], p)
            tape.gradient(y, p)
            """,
            "y = tf.keras.losses.kld([0.1, 0.9], p)",
        ),
        (
            """
            a, x = tf.Variable([[1.0, 2.0]]), tf.constant([1.0, 2.0])
            with tf.GradientTape() as tape:
                y = tf.reduce_sum(a @ x)
            tape.gradient(y, a)
            """,
            "y = tf.reduce_sum(tf.tensordot(a, x, 1))",
        ),
        (
            """
            x = tf.Variable([1.0, 2.0])
            @tf.function
            def f():
                with tf.GradientTape() as tape:
                    y = tf.matmul(x, x)
                return tape.gradient(y, x)
            f()
            """,
            "y = tf.tensordot(x, x, 1)",
        ),
        (
            """
            x = tf.Variable(2.0)
            with tf.GradientTape(persistant=True) as tape:
                y = x * x
            tape.gradient(y, x)
            """,
            "with tf.GradientTape(persistent=True) as tape:",
        ),
        (
            """
            class Net(tf.Module):
                def __init__(self):
                    self.scale1 = tf.Variable(2.0)
                def forward(self, x):
                    return self.scale * x
            net = Net()
            with tf.GradientTape() as tape:
                y = net.forward(3.0)
            tape.gradient(y, net.scale1)
            """,
            "return self.scale1 * x",
        ),
        (
            """
            class Net(tf.Module):
                def __init__(self):
                    self.w = tf.Variable(2.0)
                def forward(x):
                    return self.w * x
            net = Net()
            with tf.GradientTape() as tape:
                y = net.forward(3.0)
            tape.gradient(y, net.w)
            """,
            "def forward(self, x):",
        ),
        (
            """
            w = tf.Variable([1.0, 2.0])
            def forward(x):
                y = w * x
            with tf.GradientTape() as tape:
                loss = tf.reduce_mean(forward(3.0))
            tape.gradient(loss, w)
            """,
            "return y",
        ),
        (
            """
            import numpy as np
            w = tf.Variable([1.0, 2.0])
            @tf.function
            def f(v):
                return tf.reduce_sum(np.sin(v))
            with tf.GradientTape() as tape:
                y = f(w)
            tape.gradient(y, w)
            """,
            "return tf.reduce_sum(tf.sin(v))",
        ),
        (
            """
            x = tf.Variable([1.0, 2.0])
            layer = tf.keras.layers.Dense(1)
            with tf.GradientTape() as tape:
                y = layer(x[None])
            tape.gradient(y, layer.trainable_variables())
            """,
            "tape.gradient(y, layer.trainable_variables)",
        ),
        (
            """
            w = tf.Variable([1.0, 2.0])
            out = tf.zeros((3, 2))
            with tf.GradientTape() as tape:
                for i in range(3):
                    out[i, 1] = w[1] * float(i)
                loss = tf.reduce_sum(out ** 2)
            tape.gradient(loss, w)
            """,
            "out = tf.tensor_scatter_nd_update(out, [[i, 1]], [w[1] * float(i)])",
        ),
        (
            """
            x = tf.Variable([1.0, -2.0])
            with tf.GradientTape() as tape:
                y = x * 2.0
                y[y < 0.0] = 0.5
            tape.gradient(y, x)
            """,
            "y = tf.where(y < 0.0, 0.5, y)",
        ),
        (
            """
            x = tf.Variable([1.0, -2.0])
            with tf.GradientTape() as tape:
                loss = tf.keras.losses.MeanSquaredError()([1.0, 2.0], x)
            tape.gradient(loss, x)
            """,
            "loss = tf.keras.losses.MeanSquaredError()(tf.constant([1.0, 2.0]), x)",
        ),
        (
            """
            x, n = tf.Variable([1.0, 2.0]), tf.constant([4, 9])
            with tf.GradientTape() as tape:
                y = x * tf.sqrt(n)
            tape.gradient(y, x)
            """,
            "y = x * tf.sqrt(tf.cast(n, tf.float32))",
        ),
        (
            """
            x, i = tf.Variable([1.0, 2.0]), tf.constant(1.0)
            with tf.GradientTape() as tape:
                y = tf.gather(x, i)
            tape.gradient(y, x)
            """,
            "y = tf.gather(x, tf.cast(i, tf.int32))",
        ),
        (
            """
            loss, x = "mse", tf.Variable([1.0, 2.0])
            with tf.GradientTape() as tape:
                y = loss(tf.ones([2]), x)
            tape.gradient(y, x)
            """,
            'loss, x = tf.keras.losses.get("mse"), tf.Variable([1.0, 2.0])',
        ),
        (
            """
            layer = tf.keras.layers.Dense(1)
            with tf.GradientTape() as tape:
                y = layer(tf.ones([1, 2]))
            tape.gradient(y, layer)
            """,
            "tape.gradient(y, layer.trainable_variables)",
        ),
        (
            """
            x = tf.Variable([[1.0, 2.0]])
            with tf.GradientTape() as tape:
                y = tf.reduce_sum(x ** 2, keep_dims=True)
            tape.gradient(y, x)
            """,
            "y = tf.reduce_sum(x ** 2, keepdims=True)",
        ),
        (
            """
            class Net(tf.keras.Model):
                def __init__(self):
                    self.dense = tf.keras.layers.Dense(1)
                def call(self, x):
                    return self.dense(x)
            net = Net()
            with tf.GradientTape() as tape:
                y = net(tf.ones([1, 2]))
            tape.gradient(y, net.trainable_variables)
            """,
            "super().__init__()",
        ),
        (
            """
            p = {"kernel": tf.Variable(1.0)}
            with tf.GradientTape() as tape:
                y = p["kernels"] * 2.0
            tape.gradient(y, p)
            """,
            'y = p["kernel"] * 2.0',
        ),
        (
            """
            w = tf.Variable([1.0])
            optimizer = tf.keras.optimizers.SGD(0.1)
            with tf.GradientTape() as tape:
                loss = w * 2.0
            grads = tape.gradient(loss, [w])
            optimizer.apply_gradients(grads)
            """,
            "optimizer.apply_gradients(zip(grads, [w]))",
        ),
        (
            """
            v = tf.Variable([1.0, -2.0])
            v[0] += 5.0
            with tf.GradientTape() as tape:
                loss = tf.reduce_sum(v * v)
            tape.gradient(loss, v)
            """,
            "v[0].assign(v[0] + 5.0)",
        ),
        (
            """
            v = tf.Variable([1.0, -2.0])
            v[v < 0.0] = 5.0
            with tf.GradientTape() as tape:
                loss = tf.reduce_sum(v * v)
            tape.gradient(loss, v)
            """,
            "v.assign(tf.where(v < 0.0, 5.0, v))",
        ),
        (
            """
            w = tf.Variable(2.0)
            @tf.function
            def step(x):
                with tf.GradientTape() as tape:
                    y = w * x
                print("y", y.numpy())
                return tape.gradient(y, w)
            step(tf.constant(2.0))
            """,
            'tf.print("y", y)',
        ),
        (
            """
            class Layer(tf.keras.layers.Layer):
                def build(self, shape):
                    self.w = self.add_weight("w", [shape[-1], 2], initializer="ones")
                def call(self, x):
                    return x @ self.w
            layer = Layer()
            with tf.GradientTape() as tape:
                y = layer(tf.ones((1, 3)))
            tape.gradient(y, layer.trainable_variables)
            """,
            'self.w = self.add_weight(name="w", shape=[shape[-1], 2], initializer="ones")',
        ),
        (
            """
            w = tf.Variable([1.0, 2.0])
            loss = lambda: tf.reduce_sum(w * w)
            optimizer = tf.keras.optimizers.SGD(0.1)
            for _ in range(2):
                optimizer.minimize(loss, var_list=[w])
            """,
            "optimizer.apply_gradients(zip(tape.gradient(value, [w]), [w]))",
        ),
        (
            """
            w, n = tf.Variable(2.0), tf.constant(3)
            @tf.function
            def step():
                with tf.GradientTape() as tape:
                    y = w * w * tf.sqrt(n)
                return tape.gradient(y, w)
            step()
            """,
            "y = w * w * tf.sqrt(tf.cast(n, tf.float32))",
        ),
        (
            """
            loss, x = "mse", tf.Variable([1.0, 2.0])
            @tf.function
            def step():
                with tf.GradientTape() as tape:
                    y = loss(tf.ones([2]), x)
                return tape.gradient(y, x)
            step()
            """,
            'loss, x = tf.keras.losses.get("mse"), tf.Variable([1.0, 2.0])',
        ),
        (
            """
            import numpy as np
            w = tf.Variable([1.0, 2.0])
            with tf.GradientTape() as tape:
                predicted = w * 3.0
                loss = np.mean(predicted.numpy() ** 2)
            tape.gradient(loss, w)
            """,
            "loss = tf.reduce_mean(predicted ** 2)",
        ),
    ],
)
def test_an_error_mended(text: str, line: str, recorder: Recorder) -> None:
    trace, diagnosis = record(recorder, "import tensorflow as tf\n" + dedent(text).strip() + "\n")
    error = try_fixes(trace, diagnosis, recorder).error
    assert error is not None
    assert error.fixes
    assert line in [mended.strip() for mended in error.fixes[0].text.splitlines()]


def test_an_error_is_gone_and_the_gradient_is_none(recorder: Recorder) -> None:
    text = """
    import tensorflow as tf
    w, n = tf.Variable(2.0), tf.constant(3)
    with tf.GradientTape() as tape:
        y = tf.stop_gradient(w) * tf.sqrt(n)
    tape.gradient(y, w)
    """
    trace, diagnosis = record(recorder, dedent(text).strip() + "\n")
    error = try_fixes(trace, diagnosis, recorder).error
    assert error is not None
    title = "Cast n to float32 (it runs then; the gradient for w is None, by line 4)"
    assert [fix.title for fix in error.fixes] == [title]


def test_a_module_that_is_not_there_is_left_out_with_what_uses_it(recorder: Recorder) -> None:
    text = """\
import absent_module.plots as plots
import tensorflow as tf

def show(y):
    plots.plot(y)
    plots.show()

w = tf.Variable(2.0)
with tf.GradientTape() as tape:
    y = w * w
figure = plots.figure()
figure.save()
print(tape.gradient(y, w))
"""
    trace, diagnosis = record(recorder, text)
    error = try_fixes(trace, diagnosis, recorder).error
    assert error is not None
    (fix,) = error.fixes
    assert fix.title == "Leave out absent_module, and the lines that use it"
    assert (
        fix.text
        == """\
import tensorflow as tf

def show(y):
    pass

w = tf.Variable(2.0)
with tf.GradientTape() as tape:
    y = w * w
print(tape.gradient(y, w))
"""
    )


def test_a_module_that_a_gradient_needs_is_not_left_out(recorder: Recorder) -> None:
    text = """\
import absent_module as data
import tensorflow as tf

w = tf.Variable(2.0)
x = data.load()
with tf.GradientTape() as tape:
    y = w * x
print(tape.gradient(y, w))
"""
    trace, diagnosis = record(recorder, text)
    error = try_fixes(trace, diagnosis, recorder).error
    assert error is not None
    assert not error.fixes
