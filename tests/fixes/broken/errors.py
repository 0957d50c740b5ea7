"""Snippets that raise."""

from __future__ import annotations

# The text (``tf`` is imported), a line of the mended text.
ROWS: list[tuple[str, str]] = [
    (
        """
        model = tf.keras.Sequential([tf.keras.layers.Dense(3, activation="softmax")])
        model.compile("sgd", loss="categorical_crossentropy")
        model.fit(tf.ones([4, 2]), tf.constant([0, 1, 2, 0]), verbose=0)
        """,
        'model.compile("sgd", loss="sparse_categorical_crossentropy")',
    ),
    (
        """
        rows = tf.data.Dataset.range(3).map(lambda n: tf.range(n))
        for batch in rows.batch(3):
            print(batch)
        """,
        "for batch in rows.padded_batch(3):",
    ),
    (
        """
        data = tf.data.Dataset.from_tensor_slices((tf.ones([3]), tf.zeros([3])))
        data = data.map(lambda pair: pair[0] - pair[1])
        """,
        "data = data.map(lambda *pair: pair[0] - pair[1])",
    ),
    (
        """
        noise = tf.random.normal(3)
        """,
        "noise = tf.random.normal((3,))",
    ),
    (
        """
        layer, x = tf.keras.layers.Dense(2), tf.ones([3])
        y = layer(x)
        """,
        "y = layer(x[tf.newaxis])",
    ),
    (
        """
        @tf.function
        def double(x):
            for _ in tf.range(3):
                x = tf.concat([x, x], 0)
            return x
        double(tf.ones([1, 2]))
        """,
        "tf.autograph.experimental.set_loop_options("
        "shape_invariants=[(x, tf.TensorShape([None, 2]))])",
    ),
    (
        """
        class Kept:
            def keep(self, x):
                self.last = x * 2.0
        kept = Kept()
        @tf.function
        def f(x):
            for i in tf.range(tf.shape(x)[0]):
                for row in x:
                    kept.keep(row + x[i])
            return kept.last
        f(tf.ones([3, 2]))
        """,
        "for row in tf.unstack(x):",
    ),
    (
        """
        @tf.custom_gradient
        def rounded(x):
            return tf.round(x), lambda dy: dy
        w = tf.keras.Variable([1.5])
        with tf.GradientTape() as tape:
            y = rounded(w) * 2.0
        tape.gradient(y, w.value)
        """,
        "y = rounded(tf.convert_to_tensor(w)) * 2.0",
    ),
    (
        """
        w = tf.Variable(2.0)
        @tf.function
        def step(x):
            total = tf.Variable(0.0)
            for _ in range(2):
                total.assign_add(w * x)
            return total
        step(tf.constant(3.0)), step(tf.constant(4.0))
        """,
        "total = total + w * x",
    ),
    (
        """
        a, b = tf.Variable([1.0, 2.0]), tf.Variable([[3.0]])
        with tf.GradientTape() as tape:
            loss = tf.reduce_sum(a) * tf.reduce_sum(b)
        grads = tape.gradient(loss, [a, b])
        tf.keras.optimizers.SGD().apply_gradients(zip(grads, [b, a]))
        """,
        "tf.keras.optimizers.SGD().apply_gradients(zip(grads, [a, b]))",
    ),
    (
        """
        class Scaled(tf.keras.layers.Layer):
            def build(self, shape):
                self.w = self.add_weight(shape=(2,), initializer="ones")
                self.scaled = self.w * 3.0
            def call(self, x):
                y = x * self.scaled
                return y
        class Net(tf.keras.Model):
            def __init__(self):
                super().__init__()
                self.inner = Scaled()
            def call(self, x):
                return self.inner(x)
        Net()(tf.ones([1, 2]))
        """,
        "self.scaled = self.w * 3.0",
    ),
    (
        """
        best = 9.0
        def keep(loss):
            if loss < best:
                best = loss
        keep(3.0)
        """,
        "global best",
    ),
    (
        """
        model = tf.keras.Sequential([tf.keras.layers.Dense(1)])
        model.compile("sgd", "mse", metrics=["acuracy"])
        model.fit(tf.ones([4, 2]), tf.ones([4, 1]), verbose=0)
        """,
        'model.compile("sgd", "mse", metrics=["accuracy"])',
    ),
    (
        """
        @tf.function(input_signature=[tf.TensorSpec([None], tf.float32)])
        def f(x):
            return tf.reduce_sum(x)
        f(tf.constant([1, 2]))
        """,
        "f(tf.cast(tf.constant([1, 2]), tf.float32))",
    ),
    (
        """
        import numpy as np
        @tf.function
        def norm(x):
            return np.sqrt(np.sum(x ** 2))
        norm(tf.ones([2]))
        """,
        "return tf.sqrt(tf.reduce_sum(x ** 2))",
    ),
    (
        """
        w, goals = tf.Variable(2.0), {"a": 1.0, "b": 2.0}
        with tf.GradientTape() as tape:
            loss = 0.0
            for name, goal in goals:
                loss += (w - goal) ** 2
        tape.gradient(loss, w)
        """,
        "for name, goal in goals.items():",
    ),
    (
        """
        layer = tf.keras.layers.Dense(1)
        with tf.GradientTape() as tape:
            loss = tf.reduce_sum(layer(tf.ones([1, 2])))
        slopes = tape.gradient(loss, layer.trainable_variables)
        layer.kernel -= 0.1 * slopes[0]
        """,
        "layer.kernel.assign_sub(0.1 * slopes[0])",
    ),
    (
        """
        import numpy as np
        rows, w = np.ones([2, 2]), tf.Variable([[1.0], [2.0]])
        with tf.GradientTape() as tape:
            loss = tf.reduce_sum(tf.matmul(rows, w))
        tape.gradient(loss, w)
        """,
        "loss = tf.reduce_sum(tf.matmul(tf.cast(rows, tf.float32), w))",
    ),
    (
        """
        w, xs, ys = tf.Variable(2.0), tf.ones([3, 2]), tf.ones([3, 2])
        data = tf.data.Dataset.from_tensor_slices(xs, ys)
        for x, y in data:
            with tf.GradientTape() as tape:
                loss = tf.reduce_sum((w * x - y) ** 2)
            tape.gradient(loss, w)
        """,
        "data = tf.data.Dataset.from_tensor_slices((xs, ys))",
    ),
    (
        """
        w = tf.Variable(2.0)
        with tf.GradientTape() as tape:
            parts, weights = [w * 2.0, w * 3.0], [1.0, 2.0]
            loss = tf.reduce_sum(parts * weights)
        tape.gradient(loss, w)
        """,
        "loss = tf.reduce_sum(tf.stack(parts) * tf.stack(weights))",
    ),
    (
        """
        w = tf.Variable(2.0)
        with tf.GradientTape() as tape:
            loss = w ** 2
        g = tape.gradient(loss, w)
        tf.keras.optimizers.SGD(0.1).apply_gradients(zip(g, w))
        """,
        "tf.keras.optimizers.SGD(0.1).apply_gradients(zip([g], [w]))",
    ),
    (
        """
        w = tf.Variable([2.0, 1.0])
        with tf.GradientTape() as tape:
            loss = tf.reduce_sum(w ** 2)
        g = tf.clip_by_global_norm(tape.gradient(loss, [w]), 1.0)
        tf.keras.optimizers.SGD(0.1).apply_gradients(zip(g, [w]))
        """,
        "tf.keras.optimizers.SGD(0.1).apply_gradients(zip(g[0], [w]))",
    ),
    (
        """
        w = tf.Variable(2.0)
        @tf.function
        def f(n):
            total = 0
            for i in tf.range(n):
                total += w
            return total
        with tf.GradientTape() as tape:
            y = f(3)
        tape.gradient(y, w)
        """,
        "total = 0.0",
    ),
    (
        """
        w = tf.Variable(2.0)
        @tf.function(input_signature=[tf.TensorSpec([None])])
        def f(x):
            return tf.reduce_sum(w * x + tf.random.normal(x.shape))
        with tf.GradientTape() as tape:
            y = f(tf.ones(3))
        tape.gradient(y, w)
        """,
        "return tf.reduce_sum(w * x + tf.random.normal(tf.shape(x)))",
    ),
    (
        """
        params = {"w": tf.Variable(2.0), "b": tf.Variable(1.0)}
        with tf.GradientTape() as tape:
            loss = params["w"] * 3.0 + params["b"]
        grads = tape.gradient(loss, params)
        opt = tf.keras.optimizers.SGD(0.1)
        opt.apply_gradients(zip(grads, params))
        """,
        "opt.apply_gradients([(grads[key], params[key]) for key in params])",
    ),
    (
        """
        w = tf.Variable(2.0)
        data = tf.data.Dataset.from_tensor_slices((tf.ones(3), tf.ones(3)))
        for i, x, y in enumerate(data):
            with tf.GradientTape() as tape:
                loss = (w * x - y) ** 2
            tape.gradient(loss, w)
        """,
        "for i, (x, y) in enumerate(data):",
    ),
    (
        """
        w = tf.Variable([1.0, 2.0])
        data = tf.data.Dataset.from_tensor_slices({"image": tf.ones([3, 2]), "label": tf.ones(3)})
        for batch in data.batch(3):
            with tf.GradientTape() as tape:
                y = tf.reduce_sum(batch["images"] * w)
            tape.gradient(y, w)
        """,
        'y = tf.reduce_sum(batch["image"] * w)',
    ),
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
        "loss = tf.reduce_sum(w ** 2)",
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
        class Line(tf.Module):
            def __init__(self):
                self.w = tf.Variable(2.0)
            def __call__(self, x):
                with self.name_scope:
                    return self.w * x
        line = Line()
        with tf.GradientTape() as tape:
            y = line(3.0)
        tape.gradient(y, line.w)
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
    (
        """
        x = tf.Variable([1.0, 2.0, 1.0])
        with tf.GradientTape() as tape:
            kinds, _ = tf.unique(x)
            loss = tf.reduce_sum(kinds ** 2)
        tape.gradient(loss, x)
        """,
        "kinds, _ = (tf.math.unsorted_segment_mean(x, tf.unique(x)[1], "
        "tf.reduce_max(tf.unique(x)[1]) + 1), tf.unique(x)[1])",
    ),
    (
        """
        x = tf.constant([[1.0, 2.0, 3.0]])
        w = tf.Variable(tf.ones([3, 2]))
        with tf.GradientTape() as tape:
            y = tf.reduce_sum(tf.einsum("bi,ji->bj", x, w))
        tape.gradient(y, w)
        """,
        'y = tf.reduce_sum(tf.einsum("bi,ij->bj", x, w))',
    ),
    (
        """
        q = tf.Variable(tf.ones([3, 2]))
        with tf.GradientTape() as tape:
            y = tf.reduce_sum(tf.gather_nd(q, tf.constant([0, 1, 1])) ** 2)
        tape.gradient(y, q)
        """,
        "y = tf.reduce_sum(tf.gather(q, tf.constant([0, 1, 1]), axis=1, batch_dims=1) ** 2)",
    ),
    (
        """
        x = tf.Variable(2.0)
        with tf.GradientTape() as tape:
            z = [x ** 2, 3 * x]
        tape.jacobian(z, x)
        """,
        "z = tf.stack([x ** 2, 3 * x])",
    ),
    (
        """
        w = tf.Variable(1.0)
        @tf.function
        def train(points):
            for x in points:
                with tf.GradientTape() as tape:
                    loss = (w * x - 1.0) ** 2
                w.assign_sub(0.1 * tape.gradient(loss, w))
            return loss
        train(tf.data.Dataset.from_tensor_slices([1.0, 2.0]))
        """,
        "loss = tf.constant(0.0)",
    ),
    (
        """
        @tf.function
        def size(x):
            if x < 1.0:
                words = "small"
                size = 2.0 * x
            return words, size
        size(tf.constant(3.0))
        """,
        'words = ""',
    ),
    (
        """
        @tf.function
        def turns(n):
            count = 0
            while n != 1:
                if n % 2 == 0:
                    n = n / 2
                else:
                    n = 3 * n + 1
                count += 1
            return count
        turns(tf.constant(7))
        """,
        "n = n // 2",
    ),
    (
        """
        opt = tf.keras.optimizers.SGD(0.1)
        a, b = tf.Variable(1.0), tf.Variable(2.0)
        opt.apply_gradients([(a, a)])
        with tf.GradientTape() as tape:
            loss = b ** 2
        opt.apply_gradients([(tape.gradient(loss, b), b)])
        """,
        "opt_2.apply_gradients([(tape.gradient(loss, b), b)])",
    ),
    (
        """
        given = tf.keras.Input((4,))
        hidden = tf.keras.layers.Dense(3)(given)
        total = tf.keras.layers.Dense(1)(tf.square(hidden))
        tf.keras.Model(given, total)
        """,
        "total = tf.keras.layers.Dense(1)"
        "(tf.keras.layers.Lambda(lambda hidden: tf.square(hidden))(hidden))",
    ),
    (
        """
        model = tf.keras.Sequential([tf.keras.Input((2,)), tf.keras.layers.Dense(1)])
        tf.keras.Model(model.inputs, model.output)
        """,
        "tf.keras.Model(model.inputs, model.outputs[0])",
    ),
    (
        """
        @tf.custom_gradient
        def clip(x):
            def grad(dy):
                return dy, dy
            return tf.clip_by_value(x, 0.0, 1.0), grad
        x = tf.Variable(0.5)
        with tf.GradientTape() as tape:
            y = clip(x)
        tape.gradient(y, x)
        """,
        "return dy",
    ),
    (
        """
        x = tf.Variable(tf.ones([3, 4]))
        with tf.GradientTape() as tape:
            mean, log_var = tf.split(x ** 2, 2)
            y = tf.reduce_sum(mean * tf.exp(log_var))
        tape.gradient(y, x)
        """,
        "mean, log_var = tf.split(x ** 2, 2, axis=-1)",
    ),
    (
        """
        model = tf.keras.Sequential([tf.keras.Input((2,)), tf.keras.layers.Dense(1)])
        with tf.GradientTape() as tape:
            tape.watch(model.trainable_variables)
            y = tf.reduce_sum(model(tf.ones([3, 2])))
        tape.gradient(y, model.trainable_variables)
        """,
        "y = tf.reduce_sum(model(tf.ones([3, 2])))",
    ),
    (
        """
        x = tf.Variable([1.0, 2.0, 3.0])
        with tf.GradientTape() as tape:
            y = 0.0
            for i in range(4):
                y += x[i] ** 2
        tape.gradient(y, x)
        """,
        "for i in range(x.shape[0]):",
    ),
    (
        """
        x = tf.Variable([[1.0, 2.0], [3.0, 4.0]])
        with tf.GradientTape() as tape:
            y = tf.reduce_sum(tf.concat([x, tf.reduce_sum(x, axis=1)], axis=1))
        tape.gradient(y, x)
        """,
        "y = tf.reduce_sum(tf.concat([x, tf.reduce_sum(x, axis=1, keepdims=True)], axis=1))",
    ),
    (
        """
        class Block(tf.keras.layers.Layer):
            def call(self, x, training):
                return 2.0 * x
        x = tf.Variable([1.0, 2.0])
        with tf.GradientTape() as tape:
            y = Block()(x)
        tape.gradient(y, x)
        """,
        "def call(self, x, training=None):",
    ),
    (
        """
        @tf.function(input_signature=[tf.TensorSpec([None, 2], tf.float32)])
        def f(x):
            return tf.reduce_sum(x ** 2)
        x = tf.Variable([1.0, 2.0])
        with tf.GradientTape() as tape:
            y = f(x)
        tape.gradient(y, x)
        """,
        "y = f(x[tf.newaxis])",
    ),
    (
        """
        x, labels = tf.ones([4, 3]), tf.constant([0, 1, 2, 0])
        w = tf.Variable(tf.ones([3, 3]))
        with tf.GradientTape() as tape:
            y = tf.keras.losses.categorical_crossentropy(labels, tf.nn.softmax(x @ w))
        tape.gradient(y, w)
        """,
        "y = tf.keras.losses.sparse_categorical_crossentropy(labels, tf.nn.softmax(x @ w))",
    ),
]
