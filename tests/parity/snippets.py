"""Snippets that would notice an observer: identities, lifetimes, output, errors, Python's own ways.

Each prints what it finds; the same has to come out whether tapeviz records it or not.
"""

from __future__ import annotations

from dataclasses import dataclass
from textwrap import dedent


@dataclass(frozen=True)
class Snippet:
    """``merges_sums``: TensorFlow adds up gradients in another order than they are written in."""

    name: str
    text: str
    arguments: tuple[str, ...] = ()
    merges_sums: bool = False


def snippet(
    name: str, text: str, arguments: tuple[str, ...] = (), *, merges_sums: bool = False
) -> Snippet:
    return Snippet(name, dedent(text).lstrip("\n"), arguments, merges_sums)


SNIPPETS = (
    snippet(
        "an error beside a variable of TensorFlow 1",
        """
        import tensorflow.compat.v1 as tf
        tf.disable_v2_behavior()
        x = tf.Variable([1.0, 2.0]); several = [tf.zeros([2, 3])]
        raise ValueError("words")
        """,
    ),
    snippet(
        "ops with seeds of their own, and no other",
        """
        import tensorflow as tf

        print(tf.random.uniform([2], seed=4), tf.random.uniform([2], seed=4))
        print(tf.random.normal([2], seed=7), tf.nn.dropout(tf.ones(6), 0.5, seed=3))
        print(list(tf.data.Dataset.range(6).shuffle(6, seed=5).as_numpy_iterator()))
        tf.random.uniform([2])
        tf.random.set_seed(11)
        print(tf.random.uniform([2]), tf.random.shuffle(tf.range(5)))
        """,
    ),
    snippet(
        "keras fit with a custom train_step",
        """
        import tensorflow as tf

        tf.keras.utils.set_random_seed(4)

        class Fitted(tf.keras.Model):
            def train_step(self, data):
                x, y = data
                with tf.GradientTape() as tape:
                    loss = tf.reduce_mean((self(x, training=True) - y) ** 2)
                slopes = tape.gradient(loss, self.trainable_variables)
                self.optimizer.apply_gradients(zip(slopes, self.trainable_variables))
                return {"loss": loss}

        inputs = tf.keras.Input((3,))
        model = Fitted(inputs, tf.keras.layers.Dense(1)(inputs))
        model.compile(optimizer=tf.keras.optimizers.Adam(0.05), run_eagerly=True)
        x = tf.random.normal([12, 3])
        y = tf.reduce_sum(x, axis=1, keepdims=True)
        history = model.fit(x, y, batch_size=4, epochs=2, shuffle=False, verbose=0)
        print(history.history)
        print([weight.path for weight in model.weights], model.layers[-1].name)
        print(model.predict(x[:2], verbose=0))
        """,
    ),
    snippet(
        "keras with dropout and batch normalization",
        """
        import tensorflow as tf

        tf.keras.utils.set_random_seed(11)
        model = tf.keras.Sequential(
            [
                tf.keras.Input((4,)),
                tf.keras.layers.Dense(5, activation="relu"),
                tf.keras.layers.BatchNormalization(),
                tf.keras.layers.Dropout(0.4),
                tf.keras.layers.Dense(2),
            ]
        )
        optimizer = tf.keras.optimizers.RMSprop(0.01)
        x, y = tf.random.normal([8, 4]), tf.constant([0, 1, 1, 0, 0, 1, 0, 1])
        loss_of = tf.keras.losses.SparseCategoricalCrossentropy(from_logits=True)
        for step in range(3):
            with tf.GradientTape() as tape:
                loss = loss_of(y, model(x, training=True))
            slopes = tape.gradient(loss, model.trainable_weights)
            optimizer.apply_gradients(zip(slopes, model.trainable_weights))
            print(step, loss, len(slopes))
        for weight in model.weights:
            print(weight.path, weight.numpy().tobytes().hex()[:48])
        """,
    ),
    snippet(
        "a function that unrolls a loop",
        """
        import tensorflow as tf

        w = tf.Variable([[0.3, -0.7], [1.1, 0.4]])

        @tf.function
        def polynomial(x, times):
            total = tf.zeros_like(x)
            for _ in range(times):
                total = total * x + tf.linalg.matvec(w, x)
            return tf.reduce_sum(total)

        with tf.GradientTape() as tape:
            y = polynomial(tf.constant([1.5, -2.0]), 3)
        print(y, tape.gradient(y, w))
        """,
    ),
    snippet(
        "loops and branches in a function",
        """
        import tensorflow as tf

        w = tf.Variable(2.0)
        traced = []

        @tf.function
        def halve_until_small(x):
            traced.append(1)
            while tf.abs(x) > 1.0:
                x = x * w / 4.0
            if x > 0.0:
                x = tf.sin(x)
            else:
                x = tf.cos(x)
            return x

        for start in (9.0, -5.0, 0.5):
            with tf.GradientTape() as tape:
                y = halve_until_small(tf.constant(start))
            print(start, y, tape.gradient(y, w), len(traced))
        print(halve_until_small.get_concrete_function(tf.constant(1.0)).structured_outputs)
        """,
    ),
    snippet(
        "custom gradients with variables, nested and recomputed",
        """
        import tensorflow as tf

        w = tf.Variable([0.5, -1.5])

        @tf.custom_gradient
        def clipped(x):
            def backward(upstream):
                return tf.clip_by_norm(upstream, 0.5)
            return tf.identity(x), backward

        @tf.custom_gradient
        def scaled(x):
            y = clipped(x) * w
            def backward(upstream, variables=None):
                ones = [tf.ones_like(v) for v in variables]
                return upstream * 2.0, [tf.reduce_sum(upstream) * one for one in ones]
            return y, backward

        @tf.recompute_grad
        def heavy(x):
            print("computed")
            return tf.reduce_sum(tf.exp(x * w))

        x = tf.constant([1.0, 2.0])
        with tf.GradientTape(persistent=True) as tape:
            tape.watch(x)
            y = tf.reduce_sum(scaled(x) ** 2)
            z = heavy(x)
        print(tape.gradient(y, [x, w]))
        print(tape.gradient(z, [x, w]))
        """,
    ),
    snippet(
        "three tapes deep",
        """
        import tensorflow as tf

        x = tf.Variable(1.3)
        with tf.GradientTape() as third:
            with tf.GradientTape() as second:
                with tf.GradientTape() as first:
                    y = tf.sin(x) * x ** 3
                d = first.gradient(y, x)
            dd = second.gradient(d, x)
        ddd = third.gradient(dd, x)
        print(y, d, dd, ddd)
        """,
    ),
    snippet(
        "hessian, jacobians and a batch of them",
        """
        import tensorflow as tf

        x = tf.Variable([[1.0, 2.0], [3.0, -1.0]])
        with tf.GradientTape(persistent=True) as outer:
            with tf.GradientTape() as inner:
                y = tf.reduce_sum(x ** 3 * tf.reverse(x, [1]))
            g = inner.gradient(y, x)
            rows = tf.tanh(x @ x)
        print(outer.jacobian(g, x))
        print(outer.jacobian(rows, [x], experimental_use_pfor=False))
        batch = tf.constant([[1.0, 2.0], [3.0, -1.0], [0.5, 0.1]])
        with tf.GradientTape() as tape:
            tape.watch(batch)
            cubes = batch ** 3 + tf.reverse(batch, [1])
        print(tape.batch_jacobian(cubes, batch))
        print(tf.vectorized_map(lambda row: row * row, batch))
        """,
    ),
    snippet(
        "loop of assigns",
        """
        import tensorflow as tf

        w = tf.Variable([1.0, -2.0, 3.0])
        rate = tf.Variable(0.1)
        table = tf.Variable(tf.zeros([3, 2]))
        for step in range(4):
            with tf.GradientTape(persistent=True) as tape:
                loss = tf.reduce_sum(w ** 2) + tf.reduce_sum(table * w[:, None])
                table[step % 3, :].assign(w[:2] * rate)
                after = tf.reduce_sum(table)
            slopes = tape.gradient(loss, [w, rate, table])
            print(step, loss, after, slopes, tape.gradient(after, [w, rate, table]))
            w.assign_sub(rate * slopes[0])
            rate.assign(rate * 0.5)
            table.scatter_nd_add([[0, 1]], [1.0])
        print(w, rate, table)
        """,
    ),
    snippet(
        "graph mode with a while loop",
        """
        import tensorflow as tf

        tf.compat.v1.disable_eager_execution()
        x = tf.compat.v1.placeholder(tf.float32, [2], name="x")
        w = tf.compat.v1.get_variable("w", initializer=[2.0, 0.5])
        i = tf.constant(0)
        _, y = tf.while_loop(lambda i, y: i < 3, lambda i, y: (i + 1, y * w + x), [i, x])
        loss = tf.reduce_sum(y)
        slopes = tf.gradients(loss, [x, w])
        with tf.compat.v1.Session() as session:
            session.run(tf.compat.v1.global_variables_initializer())
            print(session.run([loss, slopes], {x: [1.0, -1.0]}))
        print(loss.name, slopes[0].name, [op.type for op in loss.graph.get_operations()][:6])
        """,
    ),
    snippet(
        "an exception of Python's",
        """
        import tensorflow as tf

        x = tf.Variable(1.0)

        def inner(value):
            raise ValueError(f"no value like {value}")

        with tf.GradientTape() as tape:
            y = x * 2.0
            inner(float(y))
        """,
    ),
    snippet(
        "an exception of TensorFlow's",
        """
        import tensorflow as tf

        a, b = tf.ones([2, 3]), tf.ones([4, 5])
        print("before")
        c = tf.matmul(a, b)
        """,
    ),
    snippet(
        "exceptions that are caught",
        """
        import sys
        import traceback

        import tensorflow as tf

        x = tf.Variable([1.0, 2.0])
        with tf.GradientTape() as tape:
            y = x * x
        tape.gradient(y, x)

        def attempt(action):
            try:
                action()
            except Exception as error:
                print(type(error).__name__, str(error).splitlines()[0])
                frames = traceback.extract_tb(error.__traceback__)
                print([frame.name for frame in frames if frame.filename == __file__])
                print(error.__cause__, error.__context__ is None, error.__suppress_context__)

        attempt(lambda: tape.gradient(y, x))
        attempt(lambda: tf.reshape(x, [3]))
        attempt(lambda: tf.concat([x, tf.ones([2, 2])], 0))
        attempt(lambda: x.assign([1.0, 2.0, 3.0]))
        attempt(lambda: tape.gradient())
        attempt(lambda: tf.GradientTape(unknown=True))
        attempt(lambda: float(x))
        attempt(lambda: tf.cast("word", tf.float32))
        attempt(lambda: x.numpy()[7])
        try:
            try:
                {}["missing"]
            except KeyError as error:
                raise RuntimeError("in place of it") from error
        except RuntimeError as error:
            print(repr(error), repr(error.__cause__))
        print(sys.exc_info())
        """,
    ),
    snippet(
        "the traceback that a snippet prints itself",
        """
        import sys
        import traceback

        import tensorflow as tf

        def broken(x):
            return tf.matmul(x, tf.ones([7, 7]))

        def show(action):
            try:
                action()
            except Exception:
                traceback.print_exc(file=sys.stdout)

        show(lambda: [1][2])
        show(lambda: int("x"))
        """,
    ),
    snippet(
        "stdout and stderr",
        """
        import sys

        import tensorflow as tf

        print("one", end="")
        print("|two", flush=True)
        print("to the other", file=sys.stderr)
        sys.stdout.write("three\\n")
        sys.stderr.write("four\\n")
        print("tab\\tbell\\x07 ünïcödé 梯度 ∂", sep="")
        print(1, 2.5, None, True, [1, {"a": (2,)}], sep=" / ", end="!\\n")
        print("\\rprogress 1\\rprogress 2")
        print()
        tf.print("from tensorflow", tf.constant([1.0, 2.0]), output_stream=sys.stdout)
        print(sys.stdout.writable(), sys.stdout.encoding.lower(), "x" * 300)
        """,
    ),
    snippet(
        "a script of its own",
        """
        import sys

        print(sys.argv, __name__, __file__, __doc__)
        print(sorted(name for name in globals() if not name.startswith("__")))
        print(sys.modules["__main__"].__dict__ is globals())
        print(locals() is globals())

        def where():
            return sys._getframe().f_code.co_filename, sys._getframe(1).f_lineno

        print(where())
        if __name__ == "__main__":
            print("as main")
            sys.exit(3)
        """,
        arguments=("--rate", "0.5", "a b"),
    ),
    snippet(
        "an interrupt of its own",
        """
        import tensorflow as tf

        def train(steps):
            for step in range(steps):
                print(tf.constant(step).numpy())
                if step == 2:
                    raise KeyboardInterrupt("enough")

        train(5)
        """,
    ),
    snippet(
        "leaving with words",
        """
        import sys
        import tensorflow as tf

        print(tf.constant(1.0))
        sys.exit("no data")
        """,
    ),
    snippet(
        "what dies when it should",
        """
        import gc
        import weakref

        import tensorflow as tf

        class Held:
            pass

        v = tf.Variable([1.0, 2.0])
        ghost = weakref.ref(v)
        with tf.GradientTape(persistent=True) as tape:
            y = v * v
            z = y + 1.0
        tape_ghost = weakref.ref(tape)
        print(tape.gradient(z, v))
        del tape
        gc.collect()
        print("tape", tape_ghost() is None)
        del v, y, z
        gc.collect()
        print("variable", ghost() is None)

        def inside():
            local = tf.Variable(3.0)
            with tf.GradientTape() as t:
                out = local * 2.0
            t.gradient(out, local)
            return weakref.ref(local), weakref.ref(t)

        refs = inside()
        gc.collect()
        print([ref() is None for ref in refs])

        thing = Held()
        thing.tensor = tf.constant(1.0)
        ref = weakref.ref(thing)
        del thing
        print("object", ref() is None)

        module = tf.Module()
        module.w = tf.Variable(1.0)
        ref = weakref.ref(module)
        weakref.finalize(module, print, "module is gone")
        del module
        gc.collect()
        print(ref() is None)

        def functions():
            @tf.function
            def f(x):
                def loop():
                    return tf.while_loop(lambda y: y < 9.0, lambda y: [y * x], [x])[0]

                return tf.cond(x > 0.0, loop, lambda: x)

            f(tf.constant(2.0))
            with tf.GradientTape() as t:
                t.watch(x := tf.constant(3.0))
                y = f(x)
            t.gradient(y, x)
            concrete = f.get_concrete_function(tf.constant(1.0))
            return [weakref.ref(each) for each in (f, concrete, concrete.graph)]

        @tf.custom_gradient
        def doubled(x):
            held = x * 2.0
            ghosts.append(weakref.ref(held))
            return x * 2.0, lambda upstream: upstream * held

        ghosts = []
        with tf.GradientTape() as t:
            t.watch(x := tf.constant(3.0))
            y = doubled(x)
        print(t.gradient(y, x))
        del t
        print("in a gradient function", ghosts[0]() is None)

        dropped = functions()
        gc.collect()
        print([each() is None for each in dropped])
        print([each for each in gc.get_objects() if type(each).__name__.endswith("FuncGraph")])
        """,
    ),
    snippet(
        "identities and types",
        """
        import numpy as np
        import tensorflow as tf

        x = tf.Variable([3.0, 1.0])
        y = x
        with tf.GradientTape() as tape:
            squared = x * x
        g = tape.gradient(squared, x)
        print(y is x, type(x).__name__, type(g).__name__, type(tape).__mro__)
        print(type(x.numpy()), type(float(g[0])), isinstance(g, tf.Tensor))
        print(tf.GradientTape.__name__, tf.GradientTape.gradient.__name__, tape.gradient.__name__)
        print(tf.GradientTape.__module__, tf.custom_gradient.__name__, tf.Variable.assign.__name__)
        a = np.arange(3.0)
        t = tf.constant(a)
        n = t.numpy()
        print(n is t.numpy(), n.flags.writeable, np.shares_memory(a, n), n.dtype)
        d = {x.ref(): "x", g.ref(): "g"}
        print(d[x.ref()], d[g.ref()], x.ref().deref() is x)
        print([v is x for v in tape.watched_variables()])
        print(x.name, x.trainable, x.shape, x.dtype, tf.is_tensor(g), tf.is_tensor(n))
        print(repr(tf.constant([1, 2])), str(x), f"{g}", f"{float(g[1]):.3f}")
        print(np.asarray(g) + 1, np.sum(g), np.mean(x), g.numpy().tolist(), [*g])
        print(bool(g[0] > 1), int(g[0]), g.shape[0], len(g), 2.0 in g.numpy())
        """,
    ),
    snippet(
        "a line of log once for each place",
        """
        import tensorflow as tf

        x = tf.constant([1.0, 2.0])
        for _ in range(2):
            with tf.GradientTape(persistent=True) as tape:
                tape.watch(x)
                y = x * x
                first = tape.gradient(y, x)
                print("once more")
                second = tape.gradient(y, x)
        print(first, second)
        """,
    ),
    snippet(
        "warnings",
        """
        import warnings

        import numpy as np
        import tensorflow as tf

        def old():
            warnings.warn("the old way", DeprecationWarning, stacklevel=2)

        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            warnings.warn("mind the gap", UserWarning)
            old()
        print([(str(one.message), one.category.__name__, one.lineno) for one in caught])
        value = np.sqrt(tf.constant(-1.0).numpy())
        for _ in range(2):
            warnings.warn("once a line")
            old()
        warnings.simplefilter("error")
        try:
            warnings.warn("now an error")
        except UserWarning as error:
            print(repr(error), value)
        """,
    ),
    snippet(
        "random numbers",
        """
        import random

        import numpy as np
        import tensorflow as tf

        tf.random.set_seed(5)
        np.random.seed(6)
        random.seed(7)
        w = tf.Variable(tf.random.uniform([3]))
        with tf.GradientTape() as tape:
            noise = tf.random.normal([3])
            y = tf.nn.dropout(w * noise, 0.5)
        print(tape.gradient(y, w), y)
        print(tf.random.uniform([2]), tf.random.shuffle([1, 2, 3, 4, 5]))
        g = tf.random.Generator.from_seed(1)
        print(g.normal([2]), np.random.rand(2), random.random())
        print(tf.random.stateless_normal([2], [1, 2]))
        """,
    ),
    snippet(
        "python's own ways",
        '''
        """A docstring."""
        from __future__ import annotations

        import dataclasses
        import functools

        import numpy as np
        import tensorflow as tf

        first, (second, *others) = 1, [2, 3, 4]
        print(first, second, others, __doc__)
        values = {}
        values["w"] = other = tf.Variable(2.0)
        values["w"].assign_add(1.0)
        print(other is values["w"], other.numpy())
        if (length := len(others)) > 1:
            print(length, [squared := n * n for n in others], squared)
        total = 0
        for index, (a, b) in enumerate(zip("ab", others)):
            total += b
        else:
            print(index, a, b, total)

        class Layer:
            count = 0
            scale: float = 2.0
            table = [n * 2 for n in range(3)]

            def __init__(self):
                type(self).count += 1
                self.w = tf.Variable(self.scale)

            @property
            def doubled(self):
                return self.w * 2.0

            @functools.lru_cache
            def cached(self, n=3, *args, key=None, **rest):
                return n

        layer = Layer()
        print(layer.doubled, layer.cached(), Layer.count, Layer.__annotations__, Layer.table)
        print(Layer.__qualname__, Layer.cached.__wrapped__.__defaults__)

        def generator(n):
            received = 0
            while n:
                received = yield n + (received or 0)
                n -= 1
            return "end"

        def delegating():
            result = yield from generator(2)
            print("result", result)

        print(list(delegating()))
        counter = 0

        def nested():
            state = 1

            def change():
                nonlocal state
                global counter
                state += 1
                counter += state
                return state

            return change() + change()

        print(nested(), counter)
        exec("made = first + 1")
        print(made, eval("made * 2"), globals()["made"])
        with tf.GradientTape() as tape, tf.name_scope("scope"):
            y = other * other; z = y + 1.0
        print(tape.gradient(z, other), z)
        x: int = 5
        del x
        try:
            print(x)
        except NameError as error:
            print(error)
        print("error" in globals())

        @dataclasses.dataclass
        class Point:
            x: float
            y: float = 0.0

        match Point(1.0):
            case Point(x=px, y=0.0):
                print("matched", px)
        numbers = np.array([1.0, 2.0, 3.0])
        numbers[1:] *= 2
        numbers += np.ones(3)
        print(numbers, np.dot(numbers, numbers), (lambda t=numbers: t.sum())())
        assert total == 7, "sum"
        print(*(i for i in range(3)), sep=",")
        print(nested.__code__.co_varnames, generator.__code__.co_argcount, nested.__doc__)
        ''',
    ),
    snippet(
        "deep recursion",
        """
        import tensorflow as tf

        x = tf.Variable(1.0)

        def deep(n):
            return tf.sin(x) if n == 0 else deep(n - 1)

        with tf.GradientTape() as tape:
            y = deep(900)
        print(tape.gradient(y, x))

        def endless(n):
            return endless(n + 1)

        try:
            endless(0)
        except RecursionError as error:
            print(type(error), str(error)[:32])
        """,
    ),
    snippet(
        "an endless recursion",
        """
        def endless(n, *more, key=None):
            return endless(n + 1, key=n)

        endless(0)
        """,
    ),
    snippet(
        "threads and closures",
        """
        import threading

        import tensorflow as tf

        w = tf.Variable(2.0)
        found = {}

        def work(name, factor):
            with tf.GradientTape() as tape:
                y = w * w * factor
            found[name] = tape.gradient(y, w)

        for n in range(4):
            thread = threading.Thread(target=work, args=(n, float(n)), name=f"worker {n}")
            thread.start()
            thread.join()
            print(thread.name, thread.is_alive(), threading.current_thread().name)
        print(sorted((name, float(value)) for name, value in found.items()))
        """,
    ),
    snippet(
        "dtypes",
        """
        import tensorflow as tf

        for dtype in (tf.float16, tf.bfloat16, tf.float64, tf.complex64, tf.complex128):
            x = tf.Variable(tf.cast([0.3, 2.1], dtype))
            with tf.GradientTape() as tape:
                y = tf.reduce_sum(x * x * x)
            print(dtype, y, tape.gradient(y, x))
        """,
    ),
    snippet(
        "slices, ragged and sparse",
        """
        import tensorflow as tf

        table = tf.Variable(tf.reshape(tf.range(8.0), [4, 2]))
        with tf.GradientTape(persistent=True) as tape:
            rows = tf.nn.embedding_lookup(table, [3, 1, 3, 0])
            y = tf.reduce_sum(rows * [[1.0, 2.0]])
            ragged = tf.RaggedTensor.from_row_lengths(table[:, 0], [1, 3])
            z = tf.reduce_sum(tf.reduce_sum(ragged, axis=1) ** 2)
            sparse = tf.SparseTensor([[0, 1], [1, 0]], tf.gather(table[:, 1], [0, 2]), [2, 2])
            q = tf.reduce_sum(tf.sparse.sparse_dense_matmul(sparse, table[:2]))
        print(tape.gradient(y, table))
        print(tape.gradient(z, table), tape.gradient(q, table))
        g = tape.gradient(y, table)
        print(type(g).__name__, g.indices, tf.convert_to_tensor(g))
        """,
    ),
    snippet(
        "accumulators, TensorArray and datasets",
        """
        import tensorflow as tf

        x = tf.Variable([1.0, 2.0])
        with tf.autodiff.ForwardAccumulator(x, tf.constant([1.0, 0.0])) as acc:
            y = x * tf.reverse(x, [0])
        print(acc.jvp(y))
        with tf.GradientTape() as tape:
            array = tf.TensorArray(tf.float32, size=3)
            for i in range(3):
                array = array.write(i, x * float(i))
            out = tf.reduce_sum(array.stack() ** 2)
        print(tape.gradient(out, x))
        data = tf.data.Dataset.from_tensor_slices([1.0, 2.0, 3.0, 4.0]).batch(2)
        for batch in data:
            with tf.GradientTape() as tape:
                loss = tf.reduce_sum(batch * x)
            print(batch, tape.gradient(loss, x))
        """,
    ),
    snippet(
        "unconnected, weighted and structured",
        """
        import tensorflow as tf

        a, b, c = (tf.Variable(v) for v in (1.0, [2.0, 3.0], 4.0))
        with tf.GradientTape(persistent=True) as tape:
            y = a * b
            z = tf.reduce_sum(b ** 2)
        print(tape.gradient(y, {"a": a, "rest": [b, (c,)]}))
        print(tape.gradient(z, [a, c], unconnected_gradients="zero"))
        print(tape.gradient([y, z], [a, b], output_gradients=[tf.constant([1.0, -1.0]), 0.5 * z]))
        print(tape.gradient(y, b, output_gradients=tf.ones([2]) * 3.0))
        print(tape.gradient({"one": y, "two": y}, b))
        print(tape.gradient(b, b), tape.gradient(y, y))
        """,
    ),
    snippet(
        "ragged source",
        """
        import tensorflow as tf

        rows = tf.ragged.constant([[1.0, 2.0], [], [3.0]])
        with tf.GradientTape() as tape:
            tape.watch(rows.flat_values)
            y = tf.reduce_sum(rows * rows)
        print(tape.gradient(y, [rows, rows.flat_values]))
        """,
    ),
    snippet(
        "arrays into functions, numbers out of them",
        """
        import numpy as np
        import tensorflow as tf

        x = tf.Variable(3.0)

        @tf.function
        def twice(a):
            return a * 2.0

        @tf.function
        def several(a):
            return {"product": a * x, "count": 3, "as it was": [a, None]}

        with tf.GradientTape(persistent=True) as tape:
            y = twice(float(x))
            z = several(np.array([1.0, 2.0], np.float32))
        print(y, z)
        print(tape.gradient(y, x), tape.gradient(z["product"], x), twice(1), twice(np.float64(2)))
        """,
    ),
    snippet(
        "classes that answer for each attribute themselves",
        """
        import numpy as np
        import tensorflow as tf

        class Loud:
            def __init__(self, number):
                self.number = number
            def __getattribute__(self, name):
                def say(*words):
                    print(name, *words)
                if name.startswith("on_"):
                    return say
                if not name.startswith("__tf_"):  # of these TensorFlow asks in the order of a set
                    print("asked for", name)
                return super().__getattribute__(name)

        class Disguised:
            @property
            def __class__(self):
                print("asked for the class")
                return int

        class List(list):
            def __getitem__(self, at):
                print("item", at)
                return super().__getitem__(at)
            def __bool__(self):
                print("bool")
                return True
            def __iter__(self):
                print("iter")
                return super().__iter__()

        class Key:
            def __str__(self):
                keys = {self: tf.constant(2.0)}
                return "key"

        loud, disguised, numbers, keys = Loud(2.0), Disguised(), List([1.0, 2.0]), Key()
        several, by_name, by_key = [loud, loud], {"loud": loud}, {keys: tf.constant(1.0)}
        for each in several:
            each.on_epoch_end(1)
        v = tf.Variable(1.0)
        with tf.GradientTape() as tape:
            y = v * loud.number
        print(tape.gradient(y, v), np.sum(numbers))

        @tf.function
        def f(x, loud, numbers):
            kept, others = loud, numbers
            return x * kept.number

        print(f(v, loud, numbers))
        """,
    ),
    snippet(
        "op callbacks of the snippet's own",
        """
        import inspect
        import tensorflow as tf
        from tensorflow.python.framework import op_callbacks

        seen = []
        def note(op_type, inputs, attrs, outputs, op_name=None, graph=None):
            seen.append((op_type, len(inputs), len(outputs), graph is not None))
        def second(op_type, inputs, attrs, outputs, op_name=None, graph=None):
            seen.append("second")

        x = tf.Variable([1.0, 2.0])
        for which in ((), (note,)):
            op_callbacks.add_op_callback(note)
            with tf.GradientTape() as tape:
                y = tf.reduce_sum(tf.sin(x) * x)
            slope = tape.gradient(y, x)
            tf.function(lambda value: value * 2)(y)
            tf.function(lambda: x * 2)()
            if which:
                op_callbacks.remove_op_callback(note)
            else:
                op_callbacks.clear_op_callbacks()
            tf.add(1, 2)
            print(len(seen), seen[-30:], slope)
        op_callbacks.add_op_callback(note)
        op_callbacks.add_op_callback(second)
        op_callbacks.clear_op_callbacks()
        print(len(seen))
        with tf.GradientTape() as tape:
            y = x * x
        print(tape.gradient(y, x), seen[-3:])
        print(tf.GradientTape.__init__.__defaults__, tf.GradientTape.gradient.__defaults__)
        print(inspect.signature(tf.GradientTape), inspect.signature(tf.GradientTape.jacobian))
        """,
    ),
)
