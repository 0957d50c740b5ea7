"""Sources that the target does not use."""

from __future__ import annotations

from . import Row

ROWS: dict[str, Row] = {
    "a number that an if chose, beside what is not used": (
        """
        price = tf.Variable(12.0)
        with tf.GradientTape() as tape:
            revenue = price * 2.0
            if price > 11.0:
                fee = 3.0
            else:
                fee = 1.0
            loss = tf.constant(fee) ** 2
        tape.gradient(loss, price)
        """,
        "fee = weight * 3.0 + (1.0 - weight) * 1.0",
        1.93633,
    ),
    "the target network called in place of the one that is trained": (
        """
        q = tf.keras.layers.Dense(1, use_bias=False, kernel_initializer="ones")
        target = tf.keras.layers.Dense(1, use_bias=False, kernel_initializer="ones")
        x = tf.constant([[2.0]])
        q(x), target(x)
        with tf.GradientTape() as tape:
            loss = tf.reduce_sum(target(x) ** 2)
        g = tape.gradient(loss, q.trainable_variables)
        pairs = list(zip(g, q.trainable_variables))
        """,
        "loss = tf.reduce_sum(q(x) ** 2)",
        [[8.0]],
    ),
    "a second loss in a compiled step, beside one of a name like it": (
        """
        a, b = tf.Variable(2.0), tf.Variable(3.0)
        @tf.function
        def step():
            with tf.GradientTape() as tape:
                loss_a, loss_b = a ** 2, b ** 2
                loss = loss_a
            return tape.gradient(loss, [b, a])
        step()
        """,
        "loss = loss_a + loss_b",
        6.0,
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
        "weight = (end - time_before) / (time - time_before)",
        4.0,
    ),
    "a layer of Keras that a compiled loss does not use": (
        """
        used, idle = tf.Variable([[1.0]], trainable=False), tf.keras.layers.Dense(1, use_bias=False)
        idle.build((None, 2))
        @tf.function
        def step(x):
            with tf.GradientTape() as tape:
                loss = tf.reduce_sum(x * used)
            return tape.gradient(loss, idle.kernel)
        step(tf.ones([1, 2]))
        """,
        "return tape.gradient(loss, idle.kernel.value, "
        "unconnected_gradients=tf.UnconnectedGradients.ZERO)",
        [[0.0], [0.0]],
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
    "all variables of a module, among them one that is not trainable": (
        """
        class Scale(tf.Module):
            def __init__(self):
                self.average = tf.Variable(1.0, trainable=False)
                self.rate = tf.Variable(0.5)
        scale = Scale()
        asked = scale.variables
        with tf.GradientTape() as tape:
            loss = 3.0 * scale.rate
        pairs = list(zip(tape.gradient(loss, asked), scale.variables))
        """,
        "pairs = list(zip(tape.gradient(loss, asked), scale.trainable_variables))",
        None,
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
    "what was given to a function, in place of what it gave": (
        """
        w, v = tf.Variable([1.0, 2.0]), tf.Variable([[1.0], [3.0]])
        def head(h):
            return h @ v
        with tf.GradientTape() as tape:
            a, b = w * tf.ones([3, 2]), w * tf.ones([3, 2]) * 2.0
            za, zb = head(a), head(b)
            loss = tf.reduce_sum(a * b)
        tape.gradient(loss, v)
        """,
        "loss = tf.reduce_sum(za * zb)",
        [[84.0], [168.0]],
    ),
}
