"""Snippets built as in the questions that people ask: helpers, classes, loops, kept results.

Each trigger of a rule stands beside a near miss of it; the line to be named carries the mark.
"""

from __future__ import annotations

from .cases import Case, case

QUESTIONS: tuple[Case, ...] = (
    case(
        "an object that each step makes anew from the one before it",
        "replaced-source",
        """
        class State:
            def __init__(self, pos, vel):
                self.pos, self.vel = pos, vel

        def advance(s):
            return State(s.pos + 0.1 * s.vel, s.vel * 0.9)

        s = State(tf.Variable(0.0), tf.Variable(1.0))
        with tf.GradientTape() as tape:
            for _ in range(2):
                s = advance(s)  # cut
            loss = (s.pos - 1.0) ** 2
        tape.gradient(loss, s.vel)
        """,
    ),
    case(
        "a tuple made anew with a tensor in the place of its variable",
        "replaced-source",
        """
        from collections import namedtuple
        Params = namedtuple("Params", "w b")
        p = Params(tf.Variable(1.0), 0.5)
        for _ in range(2):
            with tf.GradientTape() as tape:
                loss = (p.w + p.b) ** 2
            slope = tape.gradient(loss, p.w)
            if slope is not None:
                p = p._replace(w=p.w - 0.1 * slope)  # cut
        """,
    ),
    case(
        "a cut in a loop over a dataset that asks for the gradient",
        "not-differentiable",
        """
        w = tf.Variable([[1.0, 2.0], [3.0, 4.0]])

        @tf.function
        def epoch(data):
            total = 0.0
            for x in data:
                with tf.GradientTape() as tape:
                    place = tf.argmax(tf.linalg.matvec(w, x))  # cut
                    loss = tf.abs(tf.cast(place, tf.float32) - x[0])
                if tape.gradient(loss, w) is None:
                    total += loss
            return total

        epoch(tf.data.Dataset.from_tensor_slices([[1.0, 2.0], [2.0, 0.0]]))
        """,
    ),
    case(
        "a slope of straight lines in a jacobian",
        "flat-op",
        """
        w = tf.Variable([1.0, 2.0])
        with tf.GradientTape() as outer:
            with tf.GradientTape() as inner:
                y = tf.nn.relu(w)  # cut
            z = tf.reduce_sum(inner.jacobian(y, w))
        outer.gradient(z, w)
        """,
        is_zero=True,
    ),
    case(
        "labels that a loss makes whole",
        "integer",
        """
        y = tf.Variable([0.0, 1.0])
        logits = tf.constant([[1.0, 2.0], [0.5, 0.1]])
        losses = tf.keras.losses
        with tf.GradientTape() as t:
            each = losses.sparse_categorical_crossentropy(y * 1.0, logits, from_logits=True)  # cut
            out = tf.reduce_sum(each)
        t.gradient(out, y)
        """,
    ),
    case(
        "a name that was a variable's",
        "replaced-source",
        """
        w = tf.Variable(1.0)
        for _ in range(2):
            with tf.GradientTape() as tape:
                loss = (w * 3.0 - 1.0) ** 2
            step = tape.gradient(loss, w)
            if step is not None:
                w = w - 0.1 * step  # cut
        """,
    ),
    case(
        "a name that was another variable's",
        "not-watched",
        """
        w = tf.Variable(1.0)
        print(w)
        w = tf.constant(3.0)  # cut
        with tf.GradientTape() as tape:
            loss = w * 3.0
        tape.gradient(loss, w)
        """,
    ),
    case(
        "an attribute that was a variable",
        "replaced-source",
        """
        class Linear(tf.Module):
            def __init__(self):
                self.w = tf.Variable([[1.0], [2.0]])
        linear = Linear()
        for _ in range(2):
            with tf.GradientTape() as tape:
                loss = tf.reduce_sum(tf.ones([1, 2]) @ linear.w)
            step = tape.gradient(loss, linear.w)
            if step is not None:
                linear.w = linear.w - 0.1 * step  # cut
        """,
    ),
    case(
        "elements of a list that were variables",
        "replaced-source",
        """
        ws = [tf.Variable(1.0), tf.Variable(2.0)]
        for _ in range(2):
            with tf.GradientTape() as tape:
                loss = (ws[0] * ws[1] - 1.0) ** 2
            steps = tape.gradient(loss, ws)
            if steps[0] is not None:
                ws = [w - 0.1 * step for w, step in zip(ws, steps)]  # cut
        """,
    ),
    case(
        "elements of a dict that were variables",
        "replaced-source",
        """
        ws = {"a": tf.Variable(1.0), "b": tf.Variable(2.0)}
        for _ in range(2):
            with tf.GradientTape() as tape:
                loss = (ws["a"] * ws["b"] - 1.0) ** 2
            steps = tape.gradient(loss, ws)
            for key in ws:
                if steps[key] is not None:
                    ws[key] = ws[key] - 0.1 * steps[key]  # cut
        """,
    ),
    case(
        "the original of a copied layer",
        "replaced-source",
        """
        import copy
        dense = tf.keras.layers.Dense(2)
        dense.build((None, 3))
        other = copy.deepcopy(dense)  # cut
        with tf.GradientTape() as tape:
            loss = tf.reduce_sum(other(tf.ones([1, 3])))
        tape.gradient(loss, dense.kernel)
        """,
    ),
    case(
        "a variable changed in place",
        None,
        """
        w = tf.Variable(1.0)
        for _ in range(2):
            with tf.GradientTape() as tape:
                loss = (w * 3.0 - 1.0) ** 2
            w.assign(w - 0.1 * tape.gradient(loss, w))
        """,
    ),
    case(
        "a copy made by way of NumPy in the call",
        "replaced-source",
        """
        x = tf.constant([1.0, 2.0])
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = tf.reduce_sum(x * 3.0)
        tape.gradient(y, tf.convert_to_tensor(x.numpy()))  # cut
        """,
    ),
    case(
        "equal numbers given in the call",
        "not-connected",
        """
        x = tf.constant([1.0, 2.0])
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = tf.reduce_sum(x * 3.0)
        print(x.numpy())
        tape.gradient(y, tf.constant([1.0, 2.0]))  # cut
        """,
    ),
    case(
        "a default that left TensorFlow",
        "left-tensorflow",
        """
        scale = tf.Variable(0.5)
        def penalty(w, by=scale.numpy()):  # cut
            return by * tf.reduce_sum(w ** 2)
        w = tf.Variable([1.0, 2.0])
        with tf.GradientTape() as tape:
            loss = penalty(w)
        tape.gradient(loss, scale)
        """,
    ),
    case(
        "a default that the call overrides",
        "not-connected",
        """
        scale = tf.Variable(0.5)
        def penalty(w, by=scale.numpy()):
            return by * tf.reduce_sum(w ** 2)
        w = tf.Variable([1.0, 2.0])
        with tf.GradientTape() as tape:
            loss = penalty(w, by=3.0)
        tape.gradient(loss, scale)  # cut
        """,
    ),
    case(
        "a result kept by a method that another calls",
        "replaced-source",
        """
        class Scaled:
            def __init__(self, scale):
                self.scale, self.kept = scale, {}
            def inverse(self):
                if "inverse" not in self.kept:
                    self.kept["inverse"] = 1.0 / self.scale  # cut
                return self.kept["inverse"]
            def loss(self, x):
                return tf.reduce_sum(x * self.inverse())
        scale = tf.Variable(2.0)
        scaled = Scaled(scale)
        for _ in range(2):
            with tf.GradientTape() as tape:
                loss = scaled.loss(tf.constant([1.0, 2.0]))
            tape.gradient(loss, scale)
        """,
    ),
    case(
        "a result kept by lru_cache",
        "replaced-source",
        """
        from functools import lru_cache
        w = tf.Variable(2.0)
        @lru_cache(maxsize=None)
        def power(n):
            return tf.exp(w) * n  # cut
        def step():
            with tf.GradientTape() as tape:
                loss = power(3.0) ** 2
            return tape.gradient(loss, w)
        print(step())
        print(step())
        """,
    ),
    case(
        "a number kept in a global",
        "left-tensorflow",
        """
        w = tf.Variable(2.5)
        total = 0.0
        def add(x):
            global total
            total += float(w * x)  # cut
        with tf.GradientTape() as tape:
            for x in (1.0, 2.0):
                add(x)
            loss = tf.constant(total) ** 2
        tape.gradient(loss, w)
        """,
    ),
    case(
        "numbers in a list of the module",
        "left-tensorflow",
        """
        import numpy as np
        w = tf.Variable(2.5)
        history = []
        def remember(x):
            loss = (w * x - 1.0) ** 2
            history.append(loss.numpy())  # cut
        with tf.GradientTape() as tape:
            for x in (1.0, 2.0):
                remember(x)
            loss = tf.constant(np.mean(history))
        tape.gradient(loss, w)
        """,
    ),
    case(
        "a number put into a list that was given",
        "left-tensorflow",
        """
        w = tf.Variable(2.5)
        def put(into, value):
            into.append(value.numpy())  # cut
        with tf.GradientTape() as tape:
            found = []
            put(found, w * 3.0)
            loss = tf.reduce_sum(tf.constant(found))
        tape.gradient(loss, w)
        """,
    ),
    case(
        "a number printed that stands in the text elsewhere",
        "not-connected",
        """
        w = tf.Variable(2.5)
        x = tf.Variable(3.0)
        print(float(w))
        with tf.GradientTape() as tape:
            y = x * 2.5
        tape.gradient(y, w)  # cut
        """,
    ),
    case(
        "a literal with the value of what left",
        "left-tensorflow",
        """
        w = tf.Variable(2.0)
        with tf.GradientTape() as tape:
            y = tf.constant(v if (v := float(w)) > 1.0 else 0.0) * 2.0  # cut
        tape.gradient(y, w)
        """,
    ),
    case(
        "a helper called after the block",
        "outside-tape",
        """
        def squares(x):
            return tf.reduce_sum(x * x)
        x = tf.Variable([1.0, 2.0])
        with tf.GradientTape() as tape:
            y = 2.0 * x
        loss = squares(y)  # cut
        tape.gradient(loss, x)
        """,
    ),
    case(
        "a loss made where its gradient is asked for",
        "outside-tape",
        """
        def slope(tape, out):
            loss = out ** 2  # cut
            return tape.gradient(loss, w)
        w = tf.Variable(2.0)
        with tf.GradientTape() as tape:
            out = w * 3.0
        slope(tape, out)
        """,
    ),
    case(
        "a value computed in a class's body",
        "outside-tape",
        """
        class Penalty:
            raw = tf.Variable(0.3)
            scale = tf.nn.softplus(raw)  # cut
            @classmethod
            def of(cls, w):
                return cls.scale * tf.reduce_sum(w ** 2)
        with tf.GradientTape() as tape:
            loss = Penalty.of(tf.constant([1.0, 2.0]))
        tape.gradient(loss, Penalty.raw)
        """,
    ),
    case(
        "a pause inside a helper",
        "outside-tape",
        """
        def frozen(x, tape):
            with tape.stop_recording():
                return x * 3.0  # cut
        w = tf.Variable(2.0)
        with tf.GradientTape() as tape:
            y = frozen(w, tape) + 1.0
        tape.gradient(y, w)
        """,
    ),
    case(
        "a helper called in a pause",
        "outside-tape",
        """
        def thrice(x):
            return x * 3.0
        w = tf.Variable(2.0)
        with tf.GradientTape() as tape:
            with tape.stop_recording():
                y = thrice(w)  # cut
            z = y + 1.0
        tape.gradient(z, w)
        """,
    ),
    case(
        "a method that ran before another method's block",
        "outside-tape",
        """
        class Agent:
            def __init__(self):
                self.w, self.kept = tf.Variable(1.0), []
            def act(self, x):
                score = self.w * x  # cut
                self.kept.append(tf.sigmoid(score))
            def learn(self):
                with tf.GradientTape() as tape:
                    loss = tf.add_n([tf.math.log(one) for one in self.kept])
                return tape.gradient(loss, self.w)
        agent = Agent()
        for step in range(3):
            agent.act(float(step))
        agent.learn()
        """,
    ),
    case(
        "a number that became text",
        "integer",
        """
        w = tf.Variable(2.0)
        with tf.GradientTape() as tape:
            text = tf.strings.as_string(w * 2.0)  # cut
            y = tf.strings.to_number(text) * 3.0
        tape.gradient(y, w)
        """,
    ),
    case(
        "of the source only its shape is used",
        "not-connected",
        """
        x = tf.constant([[0.3, 0.4]])
        dense = tf.keras.layers.Dense(1)
        dense.build((None, 2))
        with tf.GradientTape() as outer:
            with tf.GradientTape() as inner:
                inner.watch(x)
                score = dense(x)
            slope = inner.gradient(score, x)
            loss = tf.reduce_sum(slope ** 2)
        outer.gradient(loss, dense.bias)  # cut
        """,
    ),
    case(
        "a gradient function that gives zeros",
        "custom-gradient",
        """
        @tf.custom_gradient
        def bounded(x):
            def grad(upstream):
                return tf.clip_by_value(upstream, 0.0, 0.0)  # cut
            return tf.identity(x), grad
        x = tf.Variable(3.0)
        with tf.GradientTape() as tape:
            y = bounded(x) ** 2
        tape.gradient(y, x)
        """,
        is_zero=True,
    ),
    case(
        "zeros of a batch_jacobian that has a cut",
        "not-differentiable",
        """
        x = tf.constant([[1.0, 2.0], [3.0, 4.0]])
        with tf.GradientTape() as tape:
            tape.watch(x)
            best = tf.argmax(x * x, axis=1)  # cut
            y = tf.cast(best, tf.float32)[:, None] * tf.ones((2, 2))
        tape.batch_jacobian(y, x)
        """,
        is_zero=True,
    ),
    case(
        "zeros of a batch_jacobian of slopes that ran after the block",
        "outside-tape",
        """
        x = tf.constant([[1.0, 2.0], [3.0, 4.0]])
        with tf.GradientTape(persistent=True) as tape:
            tape.watch(x)
            y = tf.sin(x)
        slopes = tape.batch_jacobian(y, x)  # cut
        tape.batch_jacobian(slopes, x)
        """,
        is_zero=True,
    ),
    case(
        "a bias that a checkpoint brought into another layer, beside its kernel",
        "assign",
        """
        import tempfile
        first, second = tf.keras.layers.Dense(2), tf.keras.layers.Dense(2)
        x, folder = tf.ones((1, 3)), tempfile.mkdtemp()
        first(x), second(x)
        with tf.GradientTape() as tape:
            path = tf.train.Checkpoint(layer=first).write(folder + "/kept")
            tf.train.Checkpoint(layer=second).read(path)  # cut
            loss = tf.reduce_sum(second(x) ** 2)
        tape.gradient(loss, [first.bias])
        """,
    ),
    case(
        "the one of two numbers of an object that its method returns",
        "left-tensorflow",
        """
        class Filter:
            def __init__(self):
                self.noise = tf.Variable(0.5)
                self.mean = self.spread = 1.0
            def update(self, seen):
                gain = self.spread / (self.spread + self.noise)
                self.mean = (self.mean + gain * (seen - self.mean)).numpy()  # cut
                self.spread = ((1.0 - gain) * self.spread).numpy()
                return self.mean
        filter = Filter()
        with tf.GradientTape() as tape:
            means = [filter.update(seen) for seen in (1.5, 0.25)]
            loss = tf.reduce_sum(tf.stack(means) ** 2)
        tape.gradient(loss, [filter.noise])
        """,
    ),
    case(
        "one of two outputs asked for in forward mode",
        "not-differentiable",
        """
        x = tf.Variable([1.0, 2.0])
        with tf.autodiff.ForwardAccumulator(x, tf.constant([1.0, 0.0])) as accumulator:
            y = tf.round(tf.reduce_sum(x))  # cut
        print(accumulator.jvp(y))
        """,
    ),
    case(
        "a layer's output computed beside the model",
        "replaced-source",
        """
        hidden, head = tf.keras.layers.Dense(2), tf.keras.layers.Dense(1)
        model, x = tf.keras.Sequential([hidden, head]), tf.ones((1, 2))
        with tf.GradientTape() as tape:
            score = model(x)
            features = hidden(x)  # cut
        tape.gradient(score, features)
        """,
    ),
    case(
        "a saved model whose input nobody watched",
        "not-watched",
        """
        import tempfile
        class Net(tf.Module):
            def __init__(self):
                self.w = tf.Variable([[2.0]])
            @tf.function(input_signature=[tf.TensorSpec([None, 1])])
            def __call__(self, x):
                return tf.tanh(x @ self.w)
        folder = tempfile.mkdtemp()
        tf.saved_model.save(Net(), folder)
        net = tf.saved_model.load(folder)
        x = tf.constant([[0.5]])  # cut
        with tf.GradientTape() as t:
            y = net(x)
        t.gradient(y, x)
        """,
    ),
    case(
        "tf.cond chooses a constant",
        "not-connected",
        """
        v = tf.Variable(1.6)
        with tf.GradientTape() as t:
            high = v > 1.0
            y = tf.cond(high, lambda: tf.constant(1.0), lambda: tf.constant(5.0))  # cut
            loss = y * 2.0
        t.gradient(loss, v)
        """,
    ),
    case(
        "tf.cond chooses, and takes the value, too",
        None,
        """
        v = tf.Variable(1.6)
        with tf.GradientTape() as t:
            y = tf.cond(v > 1.0, lambda: v * 2.0, lambda: tf.constant(5.0))
            loss = y * 2.0
        t.gradient(loss, v)
        """,
    ),
    case(
        "tf.switch_case picks by a whole number",
        "not-connected",
        """
        v, w = tf.Variable(1.6), tf.Variable(2.0)
        with tf.GradientTape() as t:
            place = tf.cast(v, tf.int32)
            y = tf.switch_case(place, [lambda: w * 1.0, lambda: w * 5.0])  # cut
            loss = y * 2.0
        t.gradient(loss, v)
        """,
    ),
    case(
        "tf.while_loop turns as long as a value says",
        "not-connected",
        """
        v = tf.Variable(3.6)
        with tf.GradientTape() as t:
            more = lambda i, y: i < v
            _, y = tf.while_loop(more, lambda i, y: (i + 1.0, y * 2.0), [0.0, 1.0])  # cut
            loss = y * 2.0
        t.gradient(loss, v)
        """,
    ),
    case(
        "a comprehension keeps the large ones",
        "not-connected",
        """
        v = tf.Variable([0.3, 0.6, 0.7])
        with tf.GradientTape() as t:
            large = [x for x in tf.unstack(v) if x > 0.5]  # cut
            y = tf.constant(float(len(large))) / 3.0
        t.gradient(y, v)
        """,
    ),
    case(
        "a comprehension keeps the large ones, and they are summed",
        None,
        """
        v = tf.Variable([0.3, 0.6, 0.7])
        with tf.GradientTape() as t:
            large = [x for x in tf.unstack(v) if x > 0.5]
            y = tf.add_n(large) / 3.0
        t.gradient(y, v)
        """,
    ),
    case(
        "a part that is computed again rounds",
        "not-differentiable",
        """
        v = tf.Variable([1.0, 2.0])
        def part(x):
            scaled = x * v
            return tf.round(scaled)  # cut
        again = tf.recompute_grad(part)
        with tf.GradientTape() as t:
            y = tf.reduce_sum(again(tf.constant([3.0, 4.0])) ** 2)
        t.gradient(y, v)
        """,
        is_zero=True,
    ),
    case(
        "a part that is computed again does not round",
        None,
        """
        v = tf.Variable([1.0, 2.0])
        again = tf.recompute_grad(lambda x: tf.nn.softplus(x * v))
        with tf.GradientTape() as t:
            y = tf.reduce_sum(again(tf.constant([3.0, 4.0])) ** 2)
        t.gradient(y, v)
        """,
    ),
    case(
        "an empty list added to a loss",
        "multiplied-by-zero",
        """
        v, penalties = tf.Variable([0.3, 0.6]), []
        with tf.GradientTape() as t:
            y = tf.reduce_sum(v ** 2)
            y = tf.reduce_sum(y + penalties)  # cut
        t.gradient(y, v)
        """,
        is_zero=True,
    ),
    case(
        "as many as were kept, by len",
        "not-differentiable",
        """
        v = tf.Variable([0.3, 0.6, 0.7])
        with tf.GradientTape() as t:
            kept = tf.boolean_mask(v, v > 0.5)
            y = len(kept) / 3.0 * tf.ones(())  # cut
        t.gradient(y, v)
        """,
    ),
    case(
        "as many as were kept, by the shape and under a name",
        "not-differentiable",
        """
        v = tf.Variable([0.3, 0.6, 0.7])
        with tf.GradientTape() as t:
            kept = tf.boolean_mask(v, v > 0.5)
            many = kept.shape[0]  # cut
            share = many / 3.0
            y = tf.constant(share) ** 2
        t.gradient(y, v)
        """,
    ),
    case(
        "as many as were kept, and these as well",
        None,
        """
        v = tf.Variable([0.3, 0.6, 0.7])
        with tf.GradientTape() as t:
            kept = tf.boolean_mask(v, v > 0.5)
            y = tf.reduce_sum(kept) / len(kept)
        t.gradient(y, v)
        """,
    ),
    case(
        "as many as were kept are only shown",
        "not-connected",
        """
        v, w = tf.Variable([0.3, 0.6, 0.7]), tf.Variable(2.0)
        with tf.GradientTape() as t:
            kept = tf.boolean_mask(v, v > 0.5)
            print(len(kept))
            y = w ** 2
        t.gradient(y, v)  # cut
        """,
    ),
    case(
        "Python's max takes the other one",
        "not-connected",
        """
        v, w = tf.Variable(1.0), tf.Variable(2.0)
        with tf.GradientTape() as t:
            y = max(v * 3.0, w * 2.0)  # cut
            loss = y ** 2
        t.gradient(loss, v)
        """,
    ),
    case(
        "Python's max takes this one",
        None,
        """
        v, w = tf.Variable(1.0), tf.Variable(2.0)
        with tf.GradientTape() as t:
            y = max(v * 5.0, w * 2.0)
            loss = y ** 2
        t.gradient(loss, v)
        """,
    ),
    case(
        "one line of a compiled loop rounds a value and hands it to the next turn",
        "not-differentiable",
        """
        v = tf.Variable(1.5)
        @tf.function
        def turns(x):
            last = x
            for _ in tf.range(3):
                last, x = tf.round(x), x * 2.0  # cut
                x = x + 1.0
            return last
        with tf.GradientTape() as t:
            y = turns(v * 1.0)
        t.gradient(y, v)
        """,
        is_zero=True,
    ),
    case(
        "one turn of a compiled loop stops the gradient, on the line of the other branch",
        "stop-gradient",
        """
        v = tf.Variable(1.5)
        @tf.function
        def turns(x):
            for i in tf.range(4):
                x = tf.cond(i == 2, lambda: tf.stop_gradient(x), lambda: x * 2.0)  # cut
                x = x + 1.0
            return x
        with tf.GradientTape() as t:
            y = turns(v * 1.0)
        t.gradient(y, v)
        """,
        is_zero=True,
    ),
    case(
        "a number decides how often Python repeats, before a loop of TensorFlow's of many turns",
        "left-tensorflow",
        """
        v, w = tf.Variable(2.6), tf.Variable(1.5)
        with tf.GradientTape() as t:
            more = lambda i, y: i < 70.0
            count = int(v * 1.0)  # cut
            y = w * 1.0
            for _ in range(count):
                y = y * 1.1
            _, y = tf.while_loop(more, lambda i, y: (i + 1.0, y * 1.01), [tf.constant(0.0), y])
        t.gradient(y, v)
        """,
    ),
    case(
        "an attribute given the variable of another object",
        "replaced-source",
        """
        class Net(tf.Module):
            def __init__(self):
                self.w = tf.Variable(2.0)
        a, b = Net(), Net()
        first = a.w
        a.w = b.w  # cut
        with tf.GradientTape() as t:
            y = a.w * 3.0
        t.gradient(y, first)
        """,
        words="Line 7 assigns another tensor to a.w, and y was computed with that. first is what",
    ),
    case(
        "a variable of the branch that Python passed by",
        "not-connected",
        """
        x, a, b = tf.constant(1.0), tf.Variable(2.0), tf.Variable(3.0)
        with tf.GradientTape() as t:
            if x > 0.0:  # cut
                y = a * x
            else:
                y = b * x
        t.gradient(y, b)
        """,
        words="was True, and b is used only in a branch that did not run (line 7)",
    ),
    case(
        "a variable that is used after a return in a branch",
        "not-connected",
        """
        class Net(tf.Module):
            def __init__(self):
                self.a, self.b = tf.Variable(2.0), tf.Variable(3.0)
            def __call__(self, x, mode="train"):
                h = self.a * x
                if mode == "train":  # cut
                    return h
                return h * self.b
        net = Net()
        with tf.GradientTape() as t:
            y = net(tf.constant(3.0))
        t.gradient(y, net.b)
        """,
        words='mode == "train" on line 7 was True, and net.b is used only in a branch that did not',
    ),
    case(
        "a variable that is used before a return in a branch as well",
        None,
        """
        a, b = tf.Variable(2.0), tf.Variable(3.0)
        def model(x, short):
            if short:
                return b * x
            return a * x + b
        with tf.GradientTape() as t:
            y = model(3.0, True)
        t.gradient(y, b)
        """,
    ),
    case(
        "a parameter that has the name of a variable",
        "not-connected",
        """
        w = tf.Variable(2.0)
        def model(x, w):
            return x * w
        with tf.GradientTape() as t:
            y = model(tf.constant(3.0), 2.0)
        t.gradient(y, w)  # cut
        """,
        words="the w that line 4 reads is the parameter of the function on line 3",
    ),
    case(
        "elements that go into a dataset and come out as arrays",
        "left-tensorflow",
        """
        w = tf.Variable([1.0, 2.0])
        with tf.GradientTape() as t:
            ds = tf.data.Dataset.from_tensor_slices(w * 3.0)
            y = tf.add_n([tf.reduce_sum(part) for part in ds.as_numpy_iterator()])  # cut
        t.gradient(y, w)
        """,
        words="by as_numpy_iterator(), which gives NumPy arrays",
    ),
    case(
        "a number that picks an element of a list",
        "left-tensorflow",
        """
        ws, sel = [tf.Variable(3.0), tf.Variable(1.0)], tf.Variable(0.2)
        with tf.GradientTape() as t:
            k = int(tf.round(sel))  # cut
            y = ws[k] * 2.0
        t.gradient(y, sel)
        """,
        words="only decides which element line 5 takes: y is not computed from its value",
    ),
    case(
        "a number that picks what is shown",
        "not-connected",
        """
        ws, sel = [tf.Variable(3.0), tf.Variable(1.0)], tf.Variable(0.2)
        with tf.GradientTape() as t:
            k = int(tf.round(sel))
            print("the choice", ["first", "second"][k])
            y = ws[0] * 2.0
        t.gradient(y, sel)  # cut
        """,
    ),
    case(
        "attributes that one line gives their tensors",
        "not-connected",
        """
        class Net:
            def __init__(self):
                self.s, self.t = tf.Variable(2.0), tf.Variable(3.0)
            def run(self, x):
                return x * self.s
        net = Net()
        with tf.GradientTape() as t:
            y = net.run(2.0)
        t.gradient(y, net.t)  # cut
        """,
        words="y (line 6) is made from self.s alone",
    ),
    case(
        "functions that a comprehension makes, each with the variable of the last turn",
        "not-connected",
        """
        ws = [tf.Variable(float(i)) for i in range(3)]
        layers = [lambda x: x * w for w in ws]  # cut
        with tf.GradientTape() as t:
            y = layers[0](tf.constant(2.0))
        t.gradient(y, ws[0])
        """,
        words="The lambda on line 3 reads w when it is called",
    ),
    case(
        "a function that a loop makes and calls in its turn",
        "not-connected",
        """
        ws = [tf.Variable(1.0), tf.Variable(2.0)]
        with tf.GradientTape() as t:
            y = 0.0
            for i, w in enumerate(ws):
                f = lambda x: x * w
                if i > 0:
                    y += f(2.0)
        t.gradient(y, ws[0])  # cut
        """,
    ),
    case(
        "a model that was made again under its name",
        "replaced-source",
        """
        def build():
            return tf.keras.Sequential([tf.keras.Input((3,)), tf.keras.layers.Dense(1)])
        net = build()
        with tf.GradientTape() as t:
            y = net(tf.ones((1, 3)))
        net = build()  # cut
        t.gradient(y, net.trainable_variables)
        """,
        words="gives the name net to another object, and y was computed with the one before it",
    ),
    case(
        "a model under whose name another stood before the target was made",
        "not-connected",
        """
        def build():
            return tf.keras.Sequential([tf.keras.Input((3,)), tf.keras.layers.Dense(1)])
        net, other = build(), tf.Variable(2.0)
        net = build()
        with tf.GradientTape() as t:
            y = other * other
        t.gradient(y, net.trainable_variables)  # cut
        """,
    ),
    case(
        "how many elements two sets share",
        "not-differentiable",
        """
        a = tf.Variable([[1.0, 2.0]])
        with tf.GradientTape() as t:
            both = tf.sets.intersection(tf.cast(a, tf.int32), tf.constant([[2, 3]]))
            y = tf.cast(tf.size(both.values), tf.float32)  # cut
        t.gradient(y, a)
        """,
    ),
    case(
        "a variable of an elif, and of a branch before it, that Python passed by",
        "not-connected",
        """
        kind, a, b = "plain", tf.Variable(2.0), tf.Variable(3.0)
        with tf.GradientTape() as t:
            if kind == "twice":
                y = 2.0 * b
            elif kind == "plain":  # cut
                y = a * a
            else:
                y = a + b
        t.gradient(y, b)
        """,
        words="was True, and b is used only in branches that did not run (lines 5 and 9)",
    ),
    case(
        "an element of a dict in a case that did not match",
        "not-connected",
        """
        kind, w = "scale", {"scale": tf.Variable(2.0), "shift": tf.Variable(3.0)}
        with tf.GradientTape() as t:
            match kind:
                case "scale":
                    y = w["scale"] * 3.0
                case "shift":  # cut
                    y = w["shift"] + 3.0
        t.gradient(y, w["shift"])
        """,
        words='case "shift" on line 7 was no match, and w["shift"] is used only in a branch that',
    ),
    case(
        "a layer that its model uses in training alone",
        "not-connected",
        """
        class Net(tf.Module):
            def __init__(self):
                self.a, self.b = tf.Variable(2.0), tf.Variable(3.0)
            def __call__(self, x, training=False):
                h = self.a * x
                if training:  # cut
                    h = h * self.b
                return h
        net = Net()
        with tf.GradientTape() as t:
            y = net(tf.constant(3.0))
        t.gradient(y, net.b)
        """,
        words="training on line 7 was False, and net.b is used only in a branch that did not run",
    ),
    case(
        "the other value of an if in an expression",
        "not-connected",
        """
        a, b, both = tf.Variable(2.0), tf.Variable(3.0), False
        with tf.GradientTape() as t:
            y = a * (b if both else 1.0)  # cut
        t.gradient(y, b)
        """,
        words="both on line 4 was False",
    ),
    case(
        "a branch that ran and asked for the shape alone",
        "not-connected",
        """
        a, b, flag, sizes = tf.Variable(2.0), tf.Variable([3.0]), True, []
        with tf.GradientTape() as t:
            if flag:
                sizes.append(b.shape[0])
            y = a * 2.0
        t.gradient(y, b)  # cut
        """,
        words="Nothing that ran while the tape recorded uses b",
    ),
    case(
        "a branch of a function that nobody called",
        "not-connected",
        """
        a, b = tf.Variable(2.0), tf.Variable(3.0)
        def unused(flag):
            if flag:
                return b * 2.0
        with tf.GradientTape() as t:
            y = a * 2.0
        t.gradient(y, b)  # cut
        """,
        words="Nothing that ran while the tape recorded uses b",
    ),
    case(
        "a branch that was not reached",
        "not-connected",
        """
        a, b = tf.Variable(2.0), tf.Variable(3.0)
        def loss(x):
            h = a * x
            if x is not None:  # cut
                return h
            if x == 3:
                h = h * b
            return h
        with tf.GradientTape() as t:
            y = loss(2.0)
        t.gradient(y, b)
        """,
        words="x is not None on line 5 was True, and b is used only in a branch that did not run",
    ),
    case(
        "a target that is a variable itself",
        "not-connected",
        """
        a, b = tf.Variable(2.0), tf.Variable(3.0)
        with tf.GradientTape() as t:
            y = a
        t.gradient(y, b)  # cut
        """,
        words="y is the variable a",
    ),
)
