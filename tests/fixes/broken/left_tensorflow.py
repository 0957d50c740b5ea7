"""Values that went through NumPy or Python."""

from __future__ import annotations

import numpy as np

from . import Row

ROWS: dict[str, Row] = {
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
        "loss = tf.reduce_sum(tf.tensordot(permutation, gains, 1) * [1.0, 2.0])",
        [
            2.0 * np.exp(-1.0) / (1 + np.exp(-1.0)) ** 2,
            -2.0 * np.exp(-1.0) / (1 + np.exp(-1.0)) ** 2,
        ],
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
    "settings that go through a text": (
        """
        import json
        settings = {"a": tf.Variable(2.0), "b": tf.Variable([1.0, 2.0])}
        with tf.GradientTape() as tape:
            text = json.dumps({k: v.numpy().tolist() for k, v in settings.items()})
            read = json.loads(text)
            loss = tf.reduce_sum(read["a"] * tf.constant(read["b"]))
        tape.gradient(loss, settings["a"])
        """,
        "read = {k: v for k, v in settings.items()}",
        3.0,
    ),
    "a draw in a model, which Keras runs once more before it is built": (
        """
        class Noisy(tf.keras.Model):
            def __init__(self):
                super().__init__()
                self.out = tf.keras.layers.Dense(1, kernel_initializer="ones")
            def call(self, x):
                return self.out(np.random.normal(x, 1.0).astype("float32"))
        x, model = tf.Variable([[1.0, 2.0]]), Noisy()
        with tf.GradientTape() as tape:
            y = tf.reduce_sum(model(x))
        tape.gradient(y, x)
        """,
        "return self.out(tf.cast(x + np.random.standard_normal(x.shape).astype('float32'), "
        "tf.float32))",
        [[1.0, 1.0]],
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
        "log_p += tf.reduce_sum(tf.cast(n, tf.float32) * tf.math.log(rate) - rate)",
        50 / 3,
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
    "a table that NumPy writes and reads": (
        """
        import io
        x, file = tf.Variable([[1.0, 2.0]]), io.StringIO()
        with tf.GradientTape() as tape:
            np.savetxt(file, x.numpy())
            file.seek(0)
            loss = tf.reduce_sum(tf.cast(np.loadtxt(file, ndmin=2), tf.float32) ** 2)
        tape.gradient(loss, x)
        """,
        "loss = tf.reduce_sum(x_kept ** 2)",
        [[2.0, 4.0]],
    ),
    "a place that Python counts with, beside a number that leaves": (
        """
        w, log_probs, seen = tf.Variable([0.5, 1.5]), [], 0.0
        with tf.GradientTape() as tape:
            for k in (1.0, 2.0):
                p = tf.nn.softmax(w * k)
                a = int(tf.argmax(p))
                seen += 0.1 * (2 * a - 1)
                log_probs.append(tf.math.log(float(p[a])))
            loss = -tf.reduce_sum(tf.stack(log_probs))
        tape.gradient(loss, w)
        """,
        "log_probs.append(tf.math.log(p[a]))",
        [0.5073473, -0.5073473],
    ),
}
