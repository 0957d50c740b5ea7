"""Variables that were written, made anew, or kept by an object."""

from __future__ import annotations

from . import Row

ROWS: dict[str, Row] = {
    "two attributes that a method writes in each turn": (
        """
        class Ball:
            def __init__(self):
                self.x, self.v = tf.Variable(0.0), tf.Variable(2.0)
            def step(self, force):
                self.v.assign_add(force)
                self.x.assign_add(self.v)
        force, ball = tf.Variable(1.0), Ball()
        with tf.GradientTape() as tape:
            for _ in range(3):
                ball.step(force)
            miss = ball.x - 1.0
        tape.gradient(miss, force)
        """,
        "self.x = self.x + self.v",
        6.0,
    ),
    "a variable that a layer makes of a weight when it is built": (
        """
        class Positive(tf.keras.layers.Layer):
            def build(self, shape):
                self.raw = self.add_weight(shape=(), initializer="zeros")
                self.scale = tf.Variable(2.0 * self.raw, trainable=False)
            def call(self, x):
                return x * self.scale
        layer, x = Positive(), tf.constant([[1.0, 2.0]])
        layer(x)
        with tf.GradientTape() as tape:
            loss = tf.reduce_sum(layer(x))
        tape.gradient(loss, layer.raw)
        """,
        "self.scale = 2.0 * self.raw",
        6.0,
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
            start = tf.lookup.KeyValueTensorInitializer(keys, w * 2.0)
            table = tf.lookup.StaticHashTable(start, 0.0)
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
    "a variable that an object was made with, and that is read by its own name": (
        """
        class Descent:
            def __init__(self, w, rate):
                self.w = w
                self.rate = rate
            def step(self):
                with tf.GradientTape() as tape:
                    loss = tf.reduce_sum(self.w ** 2)
                self.w.assign_sub(self.rate * tape.gradient(loss, self.w))
        w, rate = tf.Variable([1.0, 2.0]), tf.Variable(0.25)
        descent = Descent(w, rate)
        with tf.GradientTape() as outer:
            descent.step()
            descent.step()
            y = tf.reduce_sum(w)
        outer.gradient(y, rate)
        """,
        "y = tf.reduce_sum(descent.w)",
        -6.0,
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
    "a list that map_structure writes": (
        """
        vs, x = [tf.Variable(1.0), tf.Variable(2.0)], tf.Variable(3.0)
        with tf.GradientTape() as tape:
            steps = [x * 0.1, x * 0.2]
            tf.nest.map_structure(lambda v, step: v.assign_sub(step), vs, steps)
            y = vs[0] * vs[1]
        tape.gradient(y, x)
        """,
        "vs_new = tf.nest.map_structure(lambda v, step: v - step, vs, steps)",
        -0.28,
    ),
    "a list that a comprehension writes": (
        """
        vs, x = [tf.Variable(1.0), tf.Variable(2.0)], tf.Variable(3.0)
        with tf.GradientTape() as tape:
            [v.assign(v * x) for v in vs]
            y = tf.add_n([v ** 2 for v in vs])
        tape.gradient(y, x)
        """,
        "vs_new = [v * x for v in vs]",
        30.0,
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
    "a method on one line, which writes and reads": (
        """
        w, s = tf.Variable(2.0), tf.Variable(0.0)
        class Model:
            def run(self): s.assign(w * 3.0); return s * 1.0  # kept
        with tf.GradientTape() as tape:
            loss = Model().run() ** 2
        tape.gradient(loss, w)
        """,
        "def run(self):  # kept",
        36.0,
    ),
    "a write, a new variable and NumPy, one after the other": (
        """
        w, s = tf.Variable([0.5, 0.2]), tf.Variable([0.1, 0.2])
        with tf.GradientTape() as tape:
            s.assign_add(w)
            x = tf.Variable(s * s) * w
            y = tf.numpy_function(lambda t: np.float32(np.square(t)), [x], tf.float32)
            loss = tf.reduce_sum(y)
        tape.gradient(loss, w)
        """,
        "y = (lambda t: tf.cast(tf.square(t), tf.float32))(x)",
        [0.3456, 0.02048],
    ),
}
