"""What ran outside of the tape, and a source that it did not watch."""

from __future__ import annotations

from . import Row

ROWS: dict[str, Row] = {
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
    "a compiled loop that goes on from what the gradient changes": (
        """
        @tf.function
        def search(z):
            for _ in tf.range(3):
                with tf.GradientTape() as tape:
                    loss = (z - 1.0) ** 2
                slope = tape.gradient(loss, z)
                if slope is not None:
                    z = z - 0.1 * slope
            return z
        search(tf.constant(3.0))
        """,
        "tape.watch(z)",
        2.56,
    ),
    "the weights of a target network that was called before the block": (
        """
        q = tf.keras.layers.Dense(1, use_bias=False, kernel_initializer="ones")
        target = tf.keras.layers.Dense(1, use_bias=False, kernel_initializer="ones")
        x = tf.constant([[2.0]])
        y = 1.0 + target(x)
        with tf.GradientTape() as tape:
            loss = tf.reduce_sum((y - q(x)) ** 2)
        tape.gradient(loss, target.trainable_variables)
        """,
        "tape.gradient(loss, q.trainable_variables)",
        [[-4.0]],
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
}
