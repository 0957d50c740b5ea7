"""Sources whose name was given to another value before the gradient was asked for."""

from __future__ import annotations

from . import Row

ROWS: dict[str, Row] = {
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
    "a part of a table of which rows are looked up": (
        """
        table = tf.Variable([[1.0], [2.0], [3.0]])
        first = table[:2]
        with tf.GradientTape() as tape:
            y = tf.reduce_sum(tf.gather(table, [0, 2]) ** 2)
        tape.gradient(y, first)
        """,
        "tf.convert_to_tensor(tape.gradient(y, table))[:2]",
        [[2.0], [0.0]],
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
    "a part of a model, and one score of what it gives": (
        """
        inputs = tf.keras.Input((2,))
        hidden = tf.keras.layers.Dense(2, use_bias=False, kernel_initializer="ones")(inputs)
        scores = tf.keras.layers.Dense(2, use_bias=False, kernel_initializer="ones")(hidden)
        model, part = tf.keras.Model(inputs, scores), tf.keras.Model(inputs, hidden)
        x = tf.constant([[1.0, 2.0]])
        with tf.GradientTape() as tape:
            maps = part(x)
            tape.watch(maps)
            score = model(x)[:, 1]
        tape.gradient(score, maps)
        """,
        "score = output[:, 1]",
        [[1.0, 1.0]],
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
}
