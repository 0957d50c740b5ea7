"""Snippets whose gradient is missing, each with its cause; and near misses, in which it flows.

The line that has to be named carries the mark ``# cut``.
"""

from __future__ import annotations

from dataclasses import dataclass
from textwrap import dedent

MARK = "# cut"


@dataclass(frozen=True)
class Case:
    name: str
    kind: str | None
    """The cause; None: the gradient flows."""
    text: str
    bridged: object = None
    words: str = ""
    """Part of the message."""
    is_zero: bool = False
    """The gradient is zero, not None."""
    needs_columns: bool = False
    """What runs on a line is told apart by its columns, which Python gives since 3.11."""

    @property
    def line(self) -> int | None:
        lines = self.text.splitlines()
        return next((n for n, line in enumerate(lines, 1) if MARK in line), None)


def case(
    name: str,
    kind: str | None,
    text: str,
    bridged: object = None,
    words: str = "",
    *,
    is_zero: bool = False,
    needs_columns: bool = False,
) -> Case:
    text = "import tensorflow as tf\n" + dedent(text).strip() + "\n"
    return Case(name, kind, text, bridged, words, is_zero, needs_columns)


CASES = (
    case(
        "a tensor that tf.gradients is told to stop at",
        "stop-gradient",
        """
        with tf.Graph().as_default():
            w = tf.compat.v1.get_variable("w", initializer=[2.0], use_resource=True)
            hidden = w * 3.0
            loss = tf.reduce_sum(hidden * hidden)
            slopes = tf.gradients(loss, [w], stop_gradients=[hidden])  # cut
            with tf.compat.v1.Session() as session:
                session.run(tf.compat.v1.global_variables_initializer())
                session.run([slope for slope in slopes if slope is not None])
        """,
        words="gives hidden as stop_gradients",
    ),
    case(
        "of two values that leave, the one that NumPy does less with",
        "left-tensorflow",
        """
        import numpy as np
        w = tf.Variable([1.0, 2.0])
        with tf.GradientTape() as tape:
            q = (w * 2.0).numpy()  # cut
            after = (w * 3.0).numpy()
            y = 1.0 + 0.9 * np.max(after)
            loss = tf.reduce_sum((y - q) ** 2)
        tape.gradient(loss, w)
        """,
    ),
    case(
        "what fit hands to the snippet's own step",
        "not-watched",
        """
        import numpy as np
        class Adversary(tf.keras.Model):
            def __init__(self):
                super().__init__()
                self.dense = tf.keras.layers.Dense(1)
            def call(self, x):
                return self.dense(x)
            def train_step(self, data):
                x, y = data  # cut
                with tf.GradientTape() as t:
                    loss = tf.reduce_mean((self(x) - y) ** 2)
                t.gradient(loss, x)
                return {"loss": loss}
        model = Adversary()
        model.compile("sgd")
        model.fit(np.ones((4, 2)), np.zeros((4, 1)), batch_size=4, verbose=0)
        """,
    ),
    case(
        "a constant in an object",
        "not-watched",
        """
        from dataclasses import dataclass, replace
        @dataclass
        class State:
            w: tf.Tensor
        state = State(tf.constant([1.0, 2.0]))  # cut
        with tf.GradientTape() as t:
            after = replace(state, w=state.w * 2.0)
            loss = tf.reduce_sum(after.w ** 2)
        t.gradient(loss, state.w)
        """,
    ),
    case(
        "the number that test_on_batch gives",
        "left-tensorflow",
        """
        model = tf.keras.Sequential([tf.keras.Input((2,)), tf.keras.layers.Dense(1)])
        model.compile("sgd", "mse")
        x, y = tf.ones((4, 2)), tf.ones((4, 1))
        with tf.GradientTape() as t:
            loss = model.test_on_batch(x, y)  # cut
            loss = tf.constant(loss)
        t.gradient(loss, model.trainable_variables)
        """,
        words="by test_on_batch(), which gives plain numbers",
        needs_columns=True,
    ),
    case(
        "an operation of TensorFlow that an executor runs",
        "outside-tape",
        """
        from concurrent.futures import ThreadPoolExecutor
        w = tf.Variable(3.0)
        with tf.GradientTape() as t, ThreadPoolExecutor(1) as pool:
            later = pool.submit(tf.square, w)
            loss = later.result() * 2.0  # cut
        t.gradient(loss, w)
        """,
        12.0,
    ),
    case(
        "a count of what a mask picked",
        "not-differentiable",
        """
        x = tf.Variable([1.0, -2.0, 3.0])
        with tf.GradientTape() as t:
            few, some = tf.boolean_mask(x, x < 0.0), tf.boolean_mask(x, x > 0.0)
            n = tf.cast(tf.size(some), tf.float32) if tf.size(few) > 0 else 0.0  # cut
            out = n * 2.0
        t.gradient(out, x)
        """,
        words="goes through tf.size(some) on line 5. It counts the elements that were picked",
    ),
    case(
        "a length of an expression that a mask picks",
        "not-differentiable",
        """
        x = tf.Variable([1.0, -2.0, 3.0])
        with tf.GradientTape() as t:
            out = tf.constant(2.0) * len(x[x > 0.0])  # cut
        t.gradient(out, x)
        """,
        words="goes through len(x[x > 0.0]) on line 4",
        needs_columns=True,
    ),
    case(
        "a branch of a function that rounds, in the second call",
        "not-differentiable",
        """
        w = tf.Variable(0.75)
        @tf.function
        def act(x, training):
            if training:
                return x * w
            else:
                return tf.floor(x * w)  # cut
        with tf.GradientTape(persistent=True) as t:
            first = act(tf.constant(3.0), tf.constant(True))
            second = act(tf.constant(3.0), tf.constant(False))
        t.gradient(second, w)
        """,
        3.0,
        is_zero=True,
    ),
    case(
        "a deep copy of a variable",
        "new-variable",
        """
        import copy
        w = tf.Variable([1.0, 2.0])
        other = copy.deepcopy(w)  # cut
        with tf.GradientTape() as t:
            loss = tf.reduce_sum(other ** 2)
        t.gradient(loss, w)
        """,
        [2.0, 4.0],
        words="makes a new tf.Variable (other) with the value of w.",
    ),
    case(
        "assign",
        "assign",
        """
        p = tf.Variable(2.0)
        q = tf.Variable(0.0)
        with tf.GradientTape() as t:
            q.assign(3.0 * p)  # cut
            out = q * q
        t.gradient(out, p)
        """,
        36.0,
    ),
    case(
        "assign, and the variable itself is the target",
        "assign",
        """
        p = tf.Variable(2.0)
        q = tf.Variable(1.0)
        with tf.GradientTape() as t:
            q.assign(3.0 * p + q)  # cut
        t.gradient(q, p)
        """,
        3.0,
    ),
    case(
        "a constant made of a number as the target",
        "left-tensorflow",
        """
        p = tf.Variable(2.0)
        with tf.GradientTape() as t:
            loss = 0.0
            for i in range(3):
                loss = loss + float(p) * i  # cut
        t.gradient(tf.constant(loss), p)
        """,
    ),
    case(
        "assign, but the tensor itself is used",
        None,
        """
        p = tf.Variable(2.0)
        q = tf.Variable(0.0)
        with tf.GradientTape() as t:
            r = 3.0 * p
            q.assign(r)
            out = r * r
        t.gradient(out, p)
        """,
    ),
    case(
        "assign_add",
        "assign",
        """
        p = tf.Variable(2.0)
        q = tf.Variable(1.0)
        with tf.GradientTape() as t:
            q.assign_add(p * p)  # cut
            out = 2.0 * q
        t.gradient(out, p)
        """,
        8.0,
    ),
    case(
        "assign_sub",
        "assign",
        """
        p = tf.Variable(2.0)
        q = tf.Variable(1.0)
        with tf.GradientTape() as t:
            q.assign_sub(p * p)  # cut
            out = 2.0 * q
        t.gradient(out, p)
        """,
        -8.0,
    ),
    case(
        "slice assign",
        "assign",
        """
        table = tf.Variable(tf.ones([2, 3]))
        row = tf.Variable([1.0, 2.0, 3.0])
        with tf.GradientTape() as t:
            table[0].assign(row * 2.0)  # cut
            out = tf.reduce_sum(table ** 2)
        t.gradient(out, row)
        """,
        [8.0, 16.0, 24.0],
    ),
    case(
        "scatter_nd_update",
        "assign",
        """
        table = tf.Variable([1.0, 2.0, 3.0])
        new = tf.Variable([5.0])
        with tf.GradientTape() as t:
            table.scatter_nd_update([[1]], new)  # cut
            out = tf.reduce_sum(table * table)
        t.gradient(out, new)
        """,
        [10.0],
    ),
    case(
        "chain of assigns",
        "assign",
        """
        a = tf.Variable(2.0)
        b = tf.Variable(0.0)
        c = tf.Variable(0.0)
        with tf.GradientTape() as t:
            b.assign(a * 3.0)
            c.assign(b * b)  # cut
            out = c * 1.0
        t.gradient(out, a)
        """,
        36.0,
    ),
    case(
        "assign in a loop of two lists",
        "assign",
        """
        old = [tf.Variable(1.0), tf.Variable(2.0)]
        new = [tf.Variable(0.0), tf.Variable(0.0)]
        k = tf.Variable(0.5)
        with tf.GradientTape() as t:
            for o, n in zip(old, new):
                n.assign(o * k)  # cut
            out = tf.add_n([n * 1.0 for n in new])
        t.gradient(out, k)
        """,
        3.0,
    ),
    case(
        "new variable",
        "new-variable",
        """
        p = tf.Variable(2.0)
        with tf.GradientTape() as t:
            v = tf.Variable(p * 5.0)  # cut
            out = v * v
        t.gradient(out, p)
        """,
        100.0,
    ),
    case(
        "variable made before its use as source",
        None,
        """
        p = tf.Variable(2.0)
        v = tf.Variable(p * 5.0)
        with tf.GradientTape() as t:
            out = v * v
        t.gradient(out, v)
        """,
    ),
    case(
        "stop_gradient",
        "stop-gradient",
        """
        x = tf.Variable(2.0)
        with tf.GradientTape() as t:
            y = x * x
            z = tf.stop_gradient(y)  # cut
            out = z * 3.0
        t.gradient(out, x)
        """,
    ),
    case(
        "stop_gradient by another name",
        "stop-gradient",
        """
        sg = tf.stop_gradient
        x = tf.Variable(2.0)
        with tf.GradientTape() as t:
            out = sg(x * x) * 3.0  # cut
        t.gradient(out, x)
        """,
        words="Line 5 calls tf.stop_gradient",
    ),
    case(
        "argmax beside a value that is stopped on purpose",
        "not-differentiable",
        """
        w = tf.Variable([[0.5, -0.3]])
        with tf.GradientTape() as t:
            best = tf.cast(tf.argmax(w, axis=1), tf.float32)  # cut
            loss = tf.square(tf.stop_gradient(1.0 + tf.reduce_max(w)) - best)
        t.gradient(loss, w)
        """,
    ),
    case(
        "stop_gradient on one of two ways",
        None,
        """
        x = tf.Variable(2.0)
        with tf.GradientTape() as t:
            out = tf.stop_gradient(x) * x
        t.gradient(out, x)
        """,
    ),
    case(
        "constant nobody watched",
        "not-watched",
        """
        x = tf.constant(3.0)  # cut
        with tf.GradientTape() as t:
            y = x * x
        t.gradient(y, x)
        """,
        6.0,
    ),
    case(
        "watched constant",
        None,
        """
        x = tf.constant(3.0)
        with tf.GradientTape() as t:
            t.watch(x)
            y = x * x
        t.gradient(y, x)
        """,
    ),
    case(
        "watched after its use",
        "not-watched",
        """
        x = tf.constant(3.0)
        with tf.GradientTape() as t:
            y = x * x
            t.watch(x)  # cut
        t.gradient(y, x)
        """,
    ),
    case(
        "non-trainable variable",
        "not-watched",
        """
        x = tf.Variable(3.0, trainable=False)  # cut
        with tf.GradientTape() as t:
            y = x * x
        t.gradient(y, x)
        """,
    ),
    case(
        "tape that does not watch",
        "not-watched",
        """
        w = tf.Variable(3.0)
        u = tf.Variable(4.0)
        with tf.GradientTape(watch_accessed_variables=False) as t:  # cut
            t.watch(w)
            y = w * u
        t.gradient(y, u)
        """,
    ),
    case(
        "before the block",
        "outside-tape",
        """
        x = tf.Variable(3.0)
        y = x * x  # cut
        with tf.GradientTape() as t:
            z = y + 1.0
        t.gradient(z, x)
        """,
        6.0,
    ),
    case(
        "after the block",
        "outside-tape",
        """
        x = tf.Variable(3.0)
        with tf.GradientTape() as t:
            y = x * x
        z = tf.sin(y)  # cut
        w = z * 2.0
        t.gradient(w, x)
        """,
    ),
    case(
        "stop_recording",
        "outside-tape",
        """
        x = tf.Variable(3.0)
        with tf.GradientTape() as t:
            with t.stop_recording():
                y = x * x  # cut
            z = y + 1.0
        t.gradient(z, x)
        """,
    ),
    case(
        "reset",
        "outside-tape",
        """
        x = tf.Variable(3.0)
        with tf.GradientTape() as t:
            y = x * x
            t.reset()  # cut
            z = y + 1.0
        t.gradient(z, x)
        """,
    ),
    case(
        "inner gradient outside the outer tape",
        "outside-tape",
        """
        x = tf.Variable(3.0)
        with tf.GradientTape() as outer:
            with tf.GradientTape() as inner:
                y = x * x * x
        first = inner.gradient(y, x)  # cut
        outer.gradient(first, x)
        """,
    ),
    case(
        "inner gradient inside the outer tape",
        None,
        """
        x = tf.Variable(3.0)
        with tf.GradientTape() as outer:
            with tf.GradientTape() as inner:
                y = x * x * x
            first = inner.gradient(y, x)
        outer.gradient(first, x)
        """,
    ),
    case(
        "unused variable",
        "not-connected",
        """
        used = tf.Variable(3.0)
        unused = tf.Variable(4.0)
        with tf.GradientTape() as t:
            y = used * used
        t.gradient(y, unused)  # cut
        """,
    ),
    case(
        "target is a constant",
        "not-connected",
        """
        x = tf.Variable(3.0)
        with tf.GradientTape() as t:
            y = tf.constant(1.0)
        t.gradient(y, x)  # cut
        """,
    ),
    case(
        "Python chooses by the source, for a target made from something else",
        "not-connected",
        """
        w, v = tf.Variable(0.8), tf.Variable(2.0)
        def penalty(t):
            if t > 0.5:  # cut
                return 2.0
            return 1.0
        with tf.GradientTape() as t:
            loss = v * v + penalty(w * 2.0)
        t.gradient(loss, w)
        """,
    ),
    case(
        "elements of an array that NumPy keeps",
        "left-tensorflow",
        """
        import numpy as np
        w = tf.Variable([0.5, 2.0])
        rows = np.zeros((2, 2), np.float32)
        with tf.GradientTape() as t:
            for i in range(2):
                rows[i] = w * float(i + 1)  # cut
            loss = tf.reduce_sum(tf.square(rows))
        t.gradient(loss, w)
        """,
    ),
    case(
        "elements of a list keep their tensors",
        None,
        """
        w = tf.Variable([0.5, 2.0])
        rows, total = [None, None], {"sum": 0.0}
        with tf.GradientTape() as t:
            for i in range(2):
                rows[i] = w * float(i + 1)
                total["sum"] += rows[i]
            loss = tf.reduce_sum(total["sum"])
        t.gradient(loss, w)
        """,
    ),
    case(
        "a loop runs as often as the source says",
        "not-connected",
        """
        x = tf.Variable(0.3)
        with tf.GradientTape() as t:
            turns, grown = 0, x
            while grown < 5.0:  # cut
                grown = grown * 2.0
                turns += 1
            loss = tf.square(tf.constant(float(turns)))
        t.gradient(loss, x)
        """,
    ),
    case(
        "weights copied before the block into a model that is used in place of the source's",
        "not-connected",
        """
        online, target = (tf.keras.Sequential([tf.keras.layers.Dense(2)]) for _ in range(2))
        x = tf.ones([1, 3])
        online(x), target(x)
        target.set_weights(online.get_weights())
        with tf.GradientTape() as t:
            loss = tf.reduce_sum(target(x) ** 2)
        t.gradient(loss, online.trainable_variables[0])  # cut
        """,
        words="line 5 gave its value to another variable",
    ),
    case(
        "a changed copy written before the block",
        "assign",
        """
        p, q = tf.Variable(2.0), tf.Variable(0.0)
        q.assign(0.5 * p)  # cut
        with tf.GradientTape() as t:
            out = q * q
        t.gradient(out, p)
        """,
    ),
    case(
        "an area that two boxes do not share",
        "saturated",
        """
        a, b = tf.Variable([0.0, 1.0]), tf.constant([3.0, 4.0])
        with tf.GradientTape() as t:
            low, high = tf.maximum(a, b), tf.minimum(a + 1.0, b + 1.0)
            sides = tf.nn.relu(high - low)  # cut
            shared = sides[0] * sides[1]
            loss = 1.0 - shared / (2.0 - shared)
        t.gradient(loss, a)
        """,
        is_zero=True,
    ),
    case(
        "an area of two boxes side by side",
        "saturated",
        """
        a, b = tf.Variable([0.0, 0.0]), tf.constant([3.0, 0.5])
        with tf.GradientTape() as t:
            wide = tf.maximum(a[0] + 1.0 - b[0], 0.0)  # cut
            high = tf.maximum(a[1] + 1.0 - b[1], 0.0)
            shared = wide * high
            loss = 1.0 - shared / (2.0 + a[0] - shared)
        t.gradient(loss, a)
        """,
        is_zero=True,
    ),
    case(
        "a list made anew before the gradients are asked for, in each round",
        "replaced-source",
        """
        params = [tf.Variable(1.0), tf.Variable(2.0)]
        def line(p, x):
            return p[0] * x + p[1]
        for _ in range(2):
            with tf.GradientTape() as t:
                loss = (line(params, 3.0) - 1.0) ** 2
            params = [tf.Variable(p - 0.1) for p in params]  # cut
            t.gradient(loss, params)
        """,
    ),
    case(
        "Python only shows what the source chooses",
        "not-connected",
        """
        w, v = tf.Variable(0.8), tf.Variable(2.0)
        with tf.GradientTape() as t:
            if w > 0.5:
                print("large")
            loss = v * v
        t.gradient(loss, w)  # cut
        """,
    ),
    case(
        "the gradient of what is linear in the source",
        "not-connected",
        """
        x = tf.Variable(3.0)
        with tf.GradientTape() as outer:
            with tf.GradientTape() as t:
                y = 4.0 * x + 1.0
            g = t.gradient(y, x)
        outer.gradient(g, x)  # cut
        """,
    ),
    case(
        "the gradient of what is not linear in it",
        None,
        """
        x = tf.Variable(3.0)
        with tf.GradientTape() as outer:
            with tf.GradientTape() as t:
                y = 4.0 * x * x
            g = t.gradient(y, x)
        outer.gradient(g, x)
        """,
    ),
    case(
        "a name given its own value in NumPy",
        "left-tensorflow",
        """
        import numpy as np
        p = tf.Variable(2.0)
        with tf.GradientTape() as t:
            h = np.multiply(3.0, p.numpy())  # cut
            for _ in range(2):
                h = np.maximum(h, 0.0)
            out = tf.square(tf.constant(h, tf.float32))
        t.gradient(out, p)
        """,
    ),
    case(
        "argmax",
        "not-differentiable",
        """
        x = tf.Variable([1.0, 5.0, 2.0])
        with tf.GradientTape() as t:
            k = tf.argmax(x)  # cut
            y = tf.cast(k, tf.float32) * 2.0
        t.gradient(y, x)
        """,
    ),
    case(
        "argmax beside a way that flows",
        None,
        """
        x = tf.Variable([1.0, 5.0, 2.0])
        with tf.GradientTape() as t:
            y = tf.gather(x, tf.argmax(x)) * 2.0
        t.gradient(y, x)
        """,
    ),
    case(
        "round",
        "not-differentiable",
        """
        x = tf.Variable(2.6)
        with tf.GradientTape() as t:
            y = tf.round(x) * 3.0  # cut
        t.gradient(y, x)
        """,
    ),
    case(
        "floor division",
        "not-differentiable",
        """
        x = tf.Variable(7.0)
        with tf.GradientTape() as t:
            y = x // 2.0  # cut
            z = y * y
        t.gradient(z, x)
        """,
    ),
    case(
        "comparison",
        "not-differentiable",
        """
        x = tf.Variable([0.2, 0.7])
        with tf.GradientTape() as t:
            hit = x > 0.5  # cut
            y = tf.reduce_mean(tf.cast(hit, tf.float32))
        t.gradient(y, x)
        """,
    ),
    case(
        "integer source",
        "integer",
        """
        x = tf.Variable(3)  # cut
        with tf.GradientTape() as t:
            y = x * x
        t.gradient(y, x)
        """,
    ),
    case(
        "cast to integer",
        "integer",
        """
        x = tf.Variable(3.5)
        with tf.GradientTape() as t:
            n = tf.cast(x, tf.int32)  # cut
            y = tf.cast(n, tf.float32) * 2.0
        t.gradient(y, x)
        """,
    ),
    case(
        "numpy()",
        "left-tensorflow",
        """
        import numpy as np
        x = tf.Variable([1.0, 2.0])
        with tf.GradientTape() as t:
            y = x * 2.0
            n = y.numpy()  # cut
            m = np.sqrt(n)
            z = tf.reduce_sum(m)
        t.gradient(z, x)
        """,
    ),
    case(
        "numpy() inline",
        "left-tensorflow",
        """
        x = tf.Variable([1.0, 2.0])
        with tf.GradientTape() as t:
            y = tf.constant(x.numpy())  # cut
            z = tf.reduce_sum(y * y)
        t.gradient(z, x)
        """,
    ),
    case(
        "numpy() only for printing",
        None,
        """
        x = tf.Variable([1.0, 2.0])
        with tf.GradientTape() as t:
            y = x * 2.0
            print(y.numpy())
            z = tf.reduce_sum(y * y)
        t.gradient(z, x)
        """,
    ),
    case(
        "float()",
        "left-tensorflow",
        """
        x = tf.Variable(2.0)
        with tf.GradientTape() as t:
            scale = float(x * 3.0)  # cut
            out = scale * tf.ones([2])
            total = tf.reduce_sum(out)
        t.gradient(total, x)
        """,
    ),
    case(
        "a number given to a compiled function",
        "left-tensorflow",
        """
        x = tf.Variable(2.0)
        @tf.function
        def halved(a):
            return a / 2.0
        with tf.GradientTape() as t:
            y = halved(float(x))  # cut
        t.gradient(y, x)
        """,
    ),
    case(
        "a number given to a compiled function beside the tensor",
        None,
        """
        x = tf.Variable(2.0)
        @tf.function
        def scaled(a, b):
            return a * b
        with tf.GradientTape() as t:
            y = scaled(x, float(x))
        t.gradient(y, x)
        """,
    ),
    case(
        "a tensor that a custom gradient uses without being given it",
        "custom-gradient",
        """
        x, w = tf.constant(2.0), tf.constant(3.0)
        @tf.custom_gradient
        def weighed(a):  # cut
            return a * w, lambda upstream: upstream * w
        with tf.GradientTape() as t:
            t.watch([x, w])
            y = weighed(x)
        t.gradient(y, w)
        """,
    ),
    case(
        "a tensor that a custom gradient uses and the rest, too",
        None,
        """
        x, w = tf.constant(2.0), tf.constant(3.0)
        @tf.custom_gradient
        def weighed(a):
            return a * w, lambda upstream: upstream * w
        with tf.GradientTape() as t:
            t.watch([x, w])
            y = weighed(x) + w
        t.gradient(y, w)
        """,
    ),
    case(
        "a head that nothing uses in a compiled step, of which the loss is printed",
        "not-connected",
        """
        w, spare = tf.Variable([[1.0, 2.0]]), tf.Variable([[3.0, 1.0]])
        @tf.function
        def train(y):
            with tf.GradientTape() as t:
                head = y * spare
                loss = tf.reduce_mean(tf.square(y * w))
            t.gradient(loss, spare)  # cut
            return loss
        for _ in range(3):
            print(float(train(tf.ones((1, 2)))))
        """,
        needs_columns=True,
    ),
    case(
        "an array of Keras",
        "left-tensorflow",
        """
        v = tf.Variable([1.0, 2.0])
        with tf.GradientTape() as t:
            h = tf.keras.ops.convert_to_numpy(v) * 2.0  # cut
            y = tf.reduce_sum(tf.convert_to_tensor(h))
        t.gradient(y, v)
        """,
    ),
    case(
        "a function that is mapped over elements",
        "integer",
        """
        v = tf.Variable([1.2, 0.7])
        def steps(x):
            scaled = x * 10.0
            return tf.cast(scaled, tf.int32)  # cut
        with tf.GradientTape() as t:
            whole = tf.map_fn(steps, v, fn_output_signature=tf.int32)
            y = tf.reduce_sum(tf.cast(whole, tf.float32))
        t.gradient(y, v)
        """,
    ),
    case(
        "an array filled with tensors",
        "left-tensorflow",
        """
        import numpy as np
        v = tf.Variable(0.5)
        with tf.GradientTape() as t:
            grid = np.zeros((2, 3), np.float32)
            for i in range(2):
                for j in range(3):
                    grid[i, j] = tf.sin(v * i + j)  # cut
            y = tf.reduce_mean(tf.constant(grid))
        t.gradient(y, v)
        """,
    ),
    case(
        "pixels made whole numbers and floats again",
        "integer",
        """
        v = tf.Variable([0.2, 0.7])
        with tf.GradientTape() as t:
            whole = tf.image.convert_image_dtype(v, tf.uint8)  # cut
            y = tf.reduce_sum(tf.image.convert_image_dtype(whole, tf.float32))
        t.gradient(y, v)
        """,
    ),
    case(
        "rows gathered by the best of a function",
        "not-differentiable",
        """
        v = tf.Variable([[0.5, -1.0], [2.0, 0.3]])
        keys, rows = tf.constant([[1.0, 0.0], [0.0, 1.0], [1.0, 1.0]]), tf.eye(3)
        @tf.function
        def attend(v):
            scores = v @ tf.transpose(keys)
            best = tf.math.top_k(scores, k=1).indices[:, 0]  # cut
            return tf.gather(rows, best)
        with tf.GradientTape() as t:
            y = tf.reduce_sum(attend(v) * [1.0, 2.0, 3.0])
        t.gradient(y, v)
        """,
    ),
    case(
        "numbers kept in functions that a function calls",
        "left-tensorflow",
        """
        from functools import partial, reduce
        v = tf.Variable([1.1, 0.9])
        def scale(by, x):
            return by * x / (1.0 + x)
        stages = lambda v: [partial(scale, k.item()) for k in v.numpy()]  # cut
        def run(stages, x):
            return reduce(lambda x, stage: stage(x), stages, x)
        with tf.GradientTape() as t:
            y = run(stages(v), tf.constant(2.0))
        t.gradient(y, v)
        """,
    ),
    case(
        "rounded in a vectorized function",
        "not-differentiable",
        """
        v = tf.Variable(1.5)
        def steps(x):
            scaled = x * v
            return tf.round(scaled) + 1.0  # cut
        with tf.GradientTape() as t:
            y = tf.reduce_sum(tf.vectorized_map(steps, tf.constant([1.1, 2.3])))
        t.gradient(y, v)
        """,
    ),
    case(
        "a loop without its backward pass",
        "stop-gradient",
        """
        w = tf.Variable(2.0)
        @tf.function
        def power():
            step = lambda i, y: (i + 1, y * w)
            _, y = tf.while_loop(lambda i, y: i < 3, step, (0, 1.0), back_prop=False)  # cut
            return y
        with tf.GradientTape() as t:
            y = power()
        t.gradient(y, w)
        """,
        12.0,
        words="back_prop=False on line 6 puts tf.stop_gradient around what the loop gives",
    ),
    case(
        "labels of a loss of TensorFlow 1",
        "stop-gradient",
        """
        v = tf.Variable([1.0, 2.0])
        with tf.GradientTape() as t:
            to = tf.constant([1.0, 3.0])
            y = tf.compat.v1.nn.softmax_cross_entropy_with_logits(labels=v, logits=to)  # cut
        t.gradient(y, v)
        """,
    ),
    case(
        "a vectorized function in a vectorized function",
        "stop-gradient",
        """
        v = tf.Variable(1.5)
        def rows(row):
            def each(x):
                return x * tf.stop_gradient(v)  # cut
            return tf.reduce_sum(tf.vectorized_map(each, row) ** 2)
        with tf.GradientTape() as t:
            y = tf.reduce_sum(tf.vectorized_map(rows, tf.ones((2, 3))))
        t.gradient(y, v)
        """,
    ),
    case(
        "rounded in a vectorized function, but only to count",
        None,
        """
        v = tf.Variable(1.5)
        def steps(x):
            count = tf.round(x)
            return count * v + x
        with tf.GradientTape() as t:
            y = tf.reduce_sum(tf.vectorized_map(steps, tf.constant([1.1, 2.3])))
        t.gradient(y, v)
        """,
    ),
    case(
        "made a float by Python's library",
        "left-tensorflow",
        """
        import statistics
        v = tf.Variable([1.5, 0.5])
        with tf.GradientTape() as t:
            parts = tf.unstack(tf.exp(v))
            middle = statistics.fmean(parts)  # cut
            y = middle * 2.0 * tf.ones(())
        t.gradient(y, v)
        """,
    ),
    case(
        "computed before a function is called that opens the tape",
        "outside-tape",
        """
        v = tf.Variable([1.5, 0.5])
        def slope(values):
            with tf.GradientTape() as t:
                y = tf.reduce_sum(values ** 2)
            return t.gradient(y, v)
        squashed = tf.tanh(v)  # cut
        slope(squashed)
        """,
    ),
    case(
        "after the block of a context manager that opens the tape",
        "outside-tape",
        """
        from contextlib import contextmanager
        @contextmanager
        def recording():
            with tf.GradientTape() as t:
                yield t
        v = tf.Variable([1.5, 0.5])
        with recording() as t:
            z = tf.exp(v)
        y = tf.reduce_sum(z)  # cut
        t.gradient(y, v)
        """,
    ),
    case(
        "on another thread, started and joined on one line",
        "outside-tape",
        """
        import threading
        v, made = tf.Variable(1.5), []
        def work():
            made.append(v ** 2)  # cut
        with tf.GradientTape() as t:
            worker = threading.Thread(target=work); worker.start(); worker.join()
            y = made[0] * 3.0
        t.gradient(y, v)
        """,
    ),
    case(
        "a generator that a dataset calls, on a thread of TensorFlow's",
        "left-tensorflow",
        """
        w = tf.Variable(2.0)
        def steps():
            for i in range(3):
                yield float(i) * w.numpy()  # cut
        data = tf.data.Dataset.from_generator(steps, output_signature=tf.TensorSpec(()))
        with tf.GradientTape() as tape:
            loss = tf.add_n([v for v in data])
        tape.gradient(loss, w)
        """,
    ),
    case(
        "tf.py_function that a dataset maps by",
        "left-tensorflow",
        """
        w = tf.Variable(2.0)
        def scale(x):
            return x * w  # cut
        data = tf.data.Dataset.from_tensor_slices([1.0, 2.0])
        data = data.map(lambda x: tf.py_function(scale, [x], tf.float32)).prefetch(1)
        with tf.GradientTape() as tape:
            loss = tf.add_n([v ** 2 for v in data])
        tape.gradient(loss, w)
        """,
    ),
    case(
        "a compiled function that rounds, in forward mode",
        "not-differentiable",
        """
        x = tf.Variable([1.2, 2.7])
        @tf.function
        def half(v):
            return tf.round(v) * 0.5
        with tf.autodiff.ForwardAccumulator(x, tf.ones([2])) as accumulator:
            y = half(x * 2.0) * 3.0  # cut
        accumulator.jvp(y)
        """,
    ),
    case(
        "the function of a tf.py_function keeps its result in a list",
        "left-tensorflow",
        """
        w, kept = tf.Variable(2.0), []
        def put(x):
            kept.append(x * 3.0)
            return x
        with tf.GradientTape() as tape:
            _ = tf.py_function(put, [w], tf.float32)  # cut
            loss = kept[0] ** 2
        tape.gradient(loss, w)
        """,
    ),
    case(
        "tf.numpy_function in a compiled function, with a variable that it was not given",
        "left-tensorflow",
        """
        w = tf.Variable(2.0)
        def scale(x):
            return x * w.numpy()  # cut
        @tf.function
        def scaled(x):
            return tf.numpy_function(scale, [x], tf.float32)
        with tf.GradientTape() as tape:
            loss = scaled(tf.constant(3.0)) ** 2
        tape.gradient(loss, w)
        """,
    ),
    case(
        "a generator that a dataset calls reads the variable, but so does the tape's block",
        None,
        """
        w = tf.Variable(2.0)
        def steps():
            for i in range(3):
                yield float(i) * w.numpy()
        data = tf.data.Dataset.from_generator(steps, output_signature=tf.TensorSpec(()))
        with tf.GradientTape() as tape:
            loss = tf.add_n([v * w for v in data])
        tape.gradient(loss, w)
        """,
    ),
    case(
        "a generator that a dataset calls reads another variable",
        "not-connected",
        """
        w, b = tf.Variable(2.0), tf.Variable(1.0)
        def steps():
            for i in range(3):
                yield float(i) * w.numpy()
        data = tf.data.Dataset.from_generator(steps, output_signature=tf.TensorSpec(()))
        with tf.GradientTape() as tape:
            loss = tf.add_n([v * w for v in data])
        tape.gradient(loss, b)  # cut
        """,
    ),
    case(
        "one of several branches that did not run",
        "not-connected",
        """
        w, x = tf.Variable(0.5), tf.constant(1.0)
        @tf.function
        def step(i):
            with tf.GradientTape() as tape:
                y = tf.switch_case(i, [lambda: x * 2.0, lambda: w * x, lambda: x])  # cut
            return tape.gradient(y, w)
        step(tf.constant(2))
        """,
        is_zero=True,
    ),
    case(
        "one of several branches, which ran",
        None,
        """
        w, x = tf.Variable(0.5), tf.constant(1.0)
        @tf.function
        def step(i):
            with tf.GradientTape() as tape:
                y = tf.switch_case(i, [lambda: x * 2.0, lambda: w * x, lambda: x])
            return tape.gradient(y, w)
        step(tf.constant(1))
        """,
    ),
    case(
        "a gradient is asked for in a branch that did not run",
        "not-differentiable",
        """
        w = tf.Variable(2.0)
        @tf.function
        def step(x, is_second):
            with tf.GradientTape() as tape:
                y = tf.round(w) * x  # cut
            g = x
            if is_second:
                g += tape.gradient(y, w, unconnected_gradients="zero")
            return g
        for is_second in [True, False]:
            step(tf.constant(3.0), tf.constant(is_second))
        """,
        is_zero=True,
    ),
    case(
        "a branch that did not run, beside one that calls Python",
        "not-connected",
        """
        w = tf.Variable(0.5)
        @tf.function
        def step(x):
            with tf.GradientTape() as tape:
                if x > 10.0:  # cut
                    y = w * x
                else:
                    y = tf.py_function(lambda a: a * 2.0, [x], tf.float32)
            return tape.gradient(y, w)
        step(tf.constant(1.0))
        """,
        is_zero=True,
    ),
    case(
        "a loop over tf.range, which runs eagerly",
        "not-connected",
        """
        k, x = tf.Variable(2.5), tf.Variable(1.1)
        with tf.GradientTape() as tape:
            n, y = tf.cast(k, tf.int32), 1.0
            for _ in tf.range(n):  # cut
                y = y * x
        tape.gradient(y, k)
        """,
    ),
    case(
        "a loop over tf.range, whose numbers it computes with",
        "integer",
        """
        k, y = tf.Variable(2.5), 0.0
        with tf.GradientTape() as tape:
            n = tf.cast(k, tf.int32)  # cut
            for i in tf.range(n):
                y = y + tf.cast(n + i, tf.float32)
        tape.gradient(y, k)
        """,
    ),
    case(
        "a variable that tf.py_function takes without being given it",
        "left-tensorflow",
        """
        w, v = tf.Variable(2.0), tf.Variable(3.0)
        def scale(a):
            return a * v  # cut
        with tf.GradientTape() as tape:
            loss = tf.py_function(scale, [w * 1.0], tf.float32) ** 2
        tape.gradient(loss, v)
        """,
    ),
    case(
        "the same in a compiled function",
        "left-tensorflow",
        """
        w, v = tf.Variable(2.0), tf.Variable(3.0)
        @tf.function
        def scaled(x):
            return tf.py_function(lambda a: a * v, [x], tf.float32)  # cut
        with tf.GradientTape() as tape:
            loss = scaled(w * 1.0) ** 2
        tape.gradient(loss, v)
        """,
    ),
    case(
        "a variable that tf.py_function is given",
        None,
        """
        w, v = tf.Variable(2.0), tf.Variable(3.0)
        with tf.GradientTape() as tape:
            loss = tf.py_function(lambda a, b: a * b, [w * 1.0, v], tf.float32) ** 2
        tape.gradient(loss, v)
        """,
    ),
    case(
        "tf.py_function that takes another variable",
        "not-connected",
        """
        w, v, b = tf.Variable(2.0), tf.Variable(3.0), tf.Variable(1.0)
        with tf.GradientTape() as tape:
            unused = b * 2.0
            loss = tf.py_function(lambda a: a * v, [w * 1.0], tf.float32) ** 2
        tape.gradient(loss, b)  # cut
        """,
    ),
    case(
        "an unused argument of a compiled step, whose gradient another variable is given",
        "not-connected",
        """
        w, rate = tf.Variable(0.5), tf.Variable(0.1)
        @tf.function
        def step(w, rate):
            with tf.GradientTape() as tape:
                y = w * 1.0
                for _ in tf.range(2):
                    y = y * 1.1
                loss = (y - 2.0) ** 2
            return loss, tape.gradient(loss, [rate, w])  # cut
        for _ in range(3):
            loss, (none, slope) = step(w, rate)
            w.assign_sub(0.1 * slope)
        """,
        words="loss was not computed from rate. Nothing that ran while the tape recorded uses rate",
    ),
    case(
        "NumPy in a lambda of tf.py_function, in a compiled function",
        "left-tensorflow",
        """
        w = tf.Variable(2.0)
        @tf.function
        def f(x):
            return tf.py_function(lambda a: a.numpy() ** 2, [x], tf.float32)  # cut
        with tf.GradientTape() as tape:
            loss = f(w * 1.0)
        tape.gradient(loss, w)
        """,
        is_zero=True,
    ),
    case(
        "a value that is computed where the object is made",
        "outside-tape",
        """
        class Net:
            def __init__(self, w):
                self.scaled = w * 2.0  # cut
            def __call__(self, x):
                return self.scaled * x
        w = tf.Variable(2.0)
        net = Net(w)
        with tf.GradientTape() as t:
            y = net(3.0)
        t.gradient(y, w)
        """,
        bridged=6.0,
        words="__init__ runs once",
    ),
    case(
        "an attribute given another variable after its use",
        "replaced-source",
        """
        class Net(tf.Module):
            def __init__(self):
                self.w = tf.Variable(2.0)
            def __call__(self, x):
                return self.w * x
        net = Net()
        with tf.GradientTape() as t:
            y = net(3.0)
        net.w = tf.Variable(1.0)  # cut
        t.gradient(y, net.w)
        """,
    ),
    case(
        "an attribute that the call gives another variable",
        "replaced-source",
        """
        class Net(tf.Module):
            def __init__(self):
                self.w = tf.Variable(2.0)
            def __call__(self, x):
                self.w = tf.Variable(2.5)  # cut
                return self.w * x
        net = Net()
        first = net.w
        with tf.GradientTape() as t:
            y = net(3.0)
        t.gradient(y, first)
        """,
    ),
    case(
        "a function that makes its layer anew at each call",
        "replaced-source",
        """
        def model(x):
            layer = tf.keras.layers.Dense(1)  # cut
            return layer(x), layer
        x = tf.ones([2, 3])
        _, layer = model(x)
        with tf.GradientTape() as t:
            y, _ = model(x)
            loss = tf.reduce_sum(y ** 2)
        t.gradient(loss, layer.kernel)
        """,
    ),
    case(
        "a function that makes a layer of its own, with weights of the same shape",
        "replaced-source",
        """
        def forward(x):
            layer = tf.keras.layers.Dense(1)  # cut
            return layer(x)
        x = tf.ones([2, 3])
        layer = tf.keras.layers.Dense(1)
        layer.build([None, 3])
        with tf.GradientTape() as t:
            loss = tf.reduce_sum(forward(x) ** 2)
        t.gradient(loss, layer.kernel)
        """,
    ),
    case(
        "an argument of a compiled function, watched by its name outside of it",
        "not-watched",
        """
        start = tf.constant(3.0)  # cut

        @tf.function
        def step(x):
            with tf.GradientTape() as t:
                t.watch(start)
                y = x * x
            return t.gradient(y, x)
        step(start)
        """,
    ),
    case(
        "a layer made without a name where one of the same shape was handed in",
        "not-connected",
        """
        def forward(x, layer):
            return tf.keras.layers.Dense(1)(x)
        x = tf.ones([2, 3])
        layer = tf.keras.layers.Dense(1)
        layer.build([None, 3])
        with tf.GradientTape() as t:
            loss = tf.reduce_sum(forward(x, layer) ** 2)
        t.gradient(loss, layer.kernel)  # cut
        """,
    ),
    case(
        "an attribute of an object of Python given another variable after its use",
        "replaced-source",
        """
        from types import SimpleNamespace
        net = SimpleNamespace(w=tf.Variable(2.0))
        with tf.GradientTape() as t:
            y = net.w * 3.0
        net.w = tf.Variable(1.0)  # cut
        t.gradient(y, net.w)
        """,
    ),
    case(
        "an attribute of this name of what a function is handed",
        "not-connected",
        """
        from types import SimpleNamespace
        net = tf.Module()
        def fill(net):
            net.w = tf.Variable(2.0)
            return net
        other = fill(SimpleNamespace())
        with tf.GradientTape() as t:
            y = other.w * 2.0
        net.w = tf.Variable(1.0)
        t.gradient(y, net.w)  # cut
        """,
    ),
    case(
        "an attribute of this name read of what a function is handed",
        "not-connected",
        """
        from types import SimpleNamespace
        def step(net, x):
            return net.w * x
        first = SimpleNamespace(w=tf.Variable(2.0))
        with tf.GradientTape() as t:
            y = step(first, 3.0)
        net = SimpleNamespace(w=tf.Variable(1.0))
        t.gradient(y, net.w)  # cut
        """,
    ),
    case(
        "the attribute of this name of another object",
        "not-connected",
        """
        class Net(tf.Module):
            def __init__(self):
                self.w = tf.Variable(2.0)
            def __call__(self, x):
                return self.w * x
        net = Net()
        other = Net()
        with tf.GradientTape() as t:
            y = net(3.0)
        t.gradient(y, other.w)  # cut
        """,
    ),
    case(
        "the attribute of this name of another object of Python",
        "not-connected",
        """
        class Net:
            def __init__(self):
                self.w, self.h = tf.Variable(2.0), tf.Variable(1.0)
            def __call__(self, x):
                return self.w * x + self.h
        net = Net()
        other = Net()
        with tf.GradientTape() as t:
            y = net(3.0)
        t.gradient(y, [other.w, other.h])  # cut
        """,
    ),
    case(
        "numbers that a loop takes one by one",
        "left-tensorflow",
        """
        p = tf.Variable([0.2, 0.3, 0.5])
        with tf.GradientTape() as t:
            total = 0.0
            for v in p.numpy().tolist():  # cut
                total = total + v * v
            y = tf.convert_to_tensor(total, dtype=tf.float32)
        t.gradient(y, p)
        """,
    ),
    case(
        "numbers that a generator makes for a loop",
        "left-tensorflow",
        """
        w = tf.Variable(2.0)
        def numbers():
            for i in range(1, 4):
                yield i * w.numpy()  # cut
        with tf.GradientTape() as t:
            y = tf.constant(0.0)
            for v in numbers():
                y += v ** 2
        t.gradient(y, w)
        """,
    ),
    case(
        "the branch that ran in another round, beside one that only follows the gradient call",
        "not-connected",
        """
        w = tf.Variable(1.0)
        for step in range(3):
            with tf.GradientTape() as t:
                if step < 2:  # cut
                    y = (w - 2.0) ** 2
                else:
                    y = (tf.constant(1.0) - 2.0) ** 2
            g = t.gradient(y, w)
            if g is not None:
                w.assign_sub(0.1 * g)
        """,
        words="step < 2 on line 5 was False",
    ),
    case(
        "numbers that a dataset gives as arrays",
        "left-tensorflow",
        """
        w = tf.Variable([1.0, 2.0])
        with tf.GradientTape() as t:
            total = 0.0
            for v in tf.data.Dataset.from_tensor_slices(w * 2.0).as_numpy_iterator():  # cut
                total = total + v * v
            y = tf.constant(total)
        t.gradient(y, w)
        """,
        words="as_numpy_iterator",
    ),
    case(
        "an element of a TensorArray that runs eagerly",
        "left-tensorflow",
        """
        i = tf.Variable(1.25)
        with tf.GradientTape() as t:
            values = tf.TensorArray(tf.float32, 3).unstack([1.0, 5.0, 7.0])
            y = values.read(tf.cast(i, tf.int32)) ** 2  # cut
        t.gradient(y, i)
        """,
        words="which element line 5 takes",
    ),
    case(
        "a function that a dataset reduces with",
        "stateful",
        """
        u = tf.Variable(1.0)
        data = tf.data.Dataset.from_tensor_slices([2.0, 3.0])
        with tf.GradientTape() as t:
            y = data.reduce(tf.constant(0.0), lambda s, x: s + (x - u) ** 2)  # cut
        t.gradient(y, u)
        """,
        words="the method reduce of a dataset",
    ),
    case(
        "an array that the backend of Keras gives",
        "left-tensorflow",
        """
        from tensorflow.keras import backend as K
        w = tf.Variable([1.0, 2.0])
        with tf.GradientTape() as t:
            y = tf.reduce_sum(K.eval(w * 2.0) ** 2)  # cut
        t.gradient(y, w)
        """,
        words="by eval(), which gives a NumPy array",
    ),
    case(
        "a tensor that is pickled and read again",
        "left-tensorflow",
        """
        import pickle
        w = tf.Variable([1.0, 2.0])
        with tf.GradientTape() as t:
            h = w * 3.0
            text = pickle.dumps(h)  # cut
            again = pickle.loads(text)
            y = tf.reduce_sum(again ** 2)
        t.gradient(y, w)
        """,
        words="when it is pickled",
    ),
    case(
        "variables that were listed before the model was made again",
        "replaced-source",
        """
        def build():
            return tf.keras.Sequential([tf.keras.Input((2,)), tf.keras.layers.Dense(1)])
        model = build()
        weights = model.trainable_variables
        model = build()  # cut
        with tf.GradientTape() as t:
            y = tf.reduce_sum(model(tf.ones((1, 2))))
        t.gradient(y, weights)
        """,
        words="was listed on line 5 and belongs to the one before it",
    ),
    case(
        "variables that were listed again after the model was",
        None,
        """
        def build():
            return tf.keras.Sequential([tf.keras.Input((2,)), tf.keras.layers.Dense(1)])
        model = build()
        weights = model.trainable_variables
        model = build()
        weights = model.trainable_variables
        with tf.GradientTape() as t:
            y = tf.reduce_sum(model(tf.ones((1, 2))))
        t.gradient(y, weights)
        """,
    ),
    case(
        "Python that rounds a large tensor, whose norm is an estimate",
        "not-differentiable",
        """
        x = tf.Variable(tf.random.normal([512, 512], seed=1))
        def inner(a):
            return tf.round(a) * 2.0  # cut
        with tf.GradientTape() as tape:
            h = x * 3.0
            y = tf.reduce_sum(tf.py_function(inner, [h], tf.float32))
        tape.gradient(y, x)
        """,
        is_zero=True,
    ),
)
