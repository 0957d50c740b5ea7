"""Functions whose body would behave otherwise if it ran op by op: what they print, raise, compute.

TensorFlow runs the Python of a ``tf.function`` when it traces it, with symbolic tensors, and then
the optimised graph.
"""

from __future__ import annotations

from .snippets import Snippet, snippet

FUNCTION_SNIPPETS: tuple[Snippet, ...] = (
    snippet(
        "functions are numbered as tensors are counted",
        """
        import warnings
        import tensorflow as tf
        x = tf.Variable(2.0)
        @tf.function
        def f():
            return tf.py_function(lambda a: a ** 3, [x], tf.float32)
        for _ in range(3): f()
        ds = tf.data.Dataset.range(3)
        @tf.function
        def total(k):
            for i in ds:
                k += i
            return k
        for _ in range(3): total(tf.constant(0, tf.int64))
        @tf.function
        def g(k):
            warnings.warn("once", stacklevel=2)
            x.assign_add(1.0)
            return tf.cond(x > 0, lambda: tf.gather([1, 2], k), lambda: k)
        with warnings.catch_warnings(record=True) as caught:
            g(tf.constant(1))
        print([one.lineno for one in caught])
        print(g.get_concrete_function(tf.constant(1)).name)
        try: g(tf.constant(7))
        except tf.errors.InvalidArgumentError as error: print(error.message[-40:])
        """,
    ),
    snippet(
        "the locals of a function stand in their order and die when they are dropped",
        """
        import weakref
        import tensorflow as tf
        class Held: pass
        def gradient(x):
            with tf.GradientTape() as tape:
                tape.watch(x)
                y = x * x
            return tape.gradient(y, x)
        @tf.function
        def f(x, k=2):
            held = Held()
            alive = weakref.ref(held)
            with tf.GradientTape() as tape:
                tape.watch(x)
                y = x * k
            g = tape.gradient(y, x)
            del held
            print(alive())
            last = gradient(g) + g
            print(list(locals()))
            return last
        print(f(tf.constant(3.0)))
        """,
    ),
    snippet(
        "a generator is closed when the iterator that it feeds is dropped",
        """
        import tensorflow as tf
        def numbers():
            try:
                for i in range(3): yield i
            finally: print("closed")
        ds = tf.data.Dataset.from_generator(
            numbers, output_signature=tf.TensorSpec([], tf.int32))
        for x in ds:
            if x == 1: break
        print("stopped at", x)
        it = iter(ds)
        print(next(it))
        del it
        print("dropped")
        """,
    ),
    snippet(
        "what nothing needs does not run in a wrapped function",
        """
        import tensorflow as tf
        def seen(what): print("seen", what); return what
        @tf.function
        def inner(x): return tf.numpy_function(seen, [x - 1.0], tf.float32)
        def f(x):
            unused = tf.numpy_function(seen, [x], tf.float32) * 2.0
            inner(x)
            tf.cond(x > 0.0, lambda: tf.numpy_function(seen, [x + 5.0], tf.float32), lambda: x)
            return tf.numpy_function(seen, [x + 1.0], tf.float32) * x
        wrapped = tf.compat.v1.wrap_function(f, [tf.TensorSpec([], tf.float32)])
        print(wrapped(tf.constant(1.0)))
        traced = tf.function(wrapped)
        print(traced(tf.constant(2.0)))
        x = tf.Variable(3.0)
        with tf.GradientTape() as tape: y = wrapped(x) * x
        print(tape.gradient(y, x))
        """,
    ),
    snippet(
        "a warning of the text is given once",
        """
        import warnings
        import tensorflow as tf
        warnings.simplefilter("always")
        @tf.function
        def f(x):
            warnings.warn("traced"); return x
        for _ in range(2): f(tf.constant(1.0)); warnings.warn("again")
        warnings.simplefilter("default")
        for _ in range(2): f(tf.constant([1.0])); warnings.warn("once"); len("\\d")
        """,
    ),
    snippet(
        "a logger looks for its caller in what AutoGraph made",
        """
        import logging, sys
        import tensorflow as tf
        logging.basicConfig(format="%(lineno)d %(funcName)s %(message)s", stream=sys.stdout)
        @tf.function
        def f(x):
            logging.warning("traced"); logging.getLogger("a").warning("b", stacklevel=2); return x
        f(tf.constant(1.0))
        """,
    ),
    snippet(
        "variables and custom gradients are numbered as tensors are counted",
        """
        import tensorflow as tf
        v = tf.Variable(1.0); w = tf.Variable([1.0, 2.0])
        @tf.custom_gradient
        def square(x):
            return x * x, lambda upstream: 2 * x * upstream
        @tf.function
        def f(x):
            return square(x) + w
        with tf.GradientTape() as tape: y = f(v) * v
        tape.gradient(y, [v, w])
        for _ in range(3): w.assign_add([1.0, 1.0])
        graph = f.get_concrete_function(v).graph.as_graph_def()
        print({n.attr["_gradient_op_type"].s for n in graph.node} - {b""})
        print(v._unique_id, w._unique_id, tf.Variable(2)._unique_id)
        f.get_concrete_function(tf.TensorSpec([2]))(tf.ones([3, 3]))
        """,
    ),
    snippet(
        "AutoGraph converts a layer that predict calls",
        """
        import tensorflow as tf
        class Layer(tf.keras.layers.Layer):
            def call(self, x):
                if tf.reduce_sum(x) > 0.0:
                    return x
                return tf.matmul(x, tf.ones([3, 1]))
        model = tf.keras.Sequential([Layer()])
        try: print(model.predict(tf.ones([2, 4]), verbose=0))
        except Exception as error: print(type(error).__name__, str(error)[-200:])
        """,
    ),
    snippet(
        "restoring in a function takes from a list of tensors",
        """
        import os
        import tensorflow as tf
        module = tf.Module()
        module.v = tf.Variable(3.0)
        module.f = tf.function(lambda x: x * module.v, input_signature=[tf.TensorSpec([None])])
        words = tf.lookup.KeyValueTensorInitializer(["a"], [1])
        module.table = tf.lookup.StaticHashTable(words, -1)
        module.g = tf.function(module.table.lookup, input_signature=[tf.TensorSpec([], tf.string)])
        tf.saved_model.save(module, "saved")
        loaded = tf.saved_model.load("saved")
        print(sorted(os.listdir("saved")), loaded.f([2.0]), loaded.g("a"))
        """,
    ),
    snippet(
        "frames of hooks are in no list of frames and no traceback",
        """
        import inspect, threading, traceback, unittest
        import tensorflow as tf
        v = tf.Variable([1.0, 2.0])
        def names(frames): return [each.name for each in frames if each.filename == __file__]
        @tf.custom_gradient
        def cut(x):
            def gradient(upstream):
                stack = [each.name for each in traceback.extract_stack()]
                print(stack[stack.index("step"):], len(list(traceback.walk_stack(None))) > 3)
                raise ValueError("no gradient")
            return x, gradient
        def step():
            with tf.GradientTape() as tape: y = cut(v * 2.0)
            return tape.gradient(y, v)
        class Test(unittest.TestCase):
            def test(self): step()
        result = unittest.TestResult()
        unittest.defaultTestLoader.loadTestsFromTestCase(Test).run(result)
        print(result.errors[0][1])
        thread = threading.Thread(target=step); thread.start(); thread.join()
        @tf.function
        def f(x):
            stack = [each.function for each in inspect.stack()]
            print(stack[:stack.index("<module>")])
            try: input("name? ")
            except EOFError as error: print(error)
            return x
        f(1.0)
        def deep(n, *args, **named):
            if n: return deep(n - 1, *args, **named)
            walk = traceback.walk_stack(*args, **named)
            assert inspect.isgenerator(walk)
            return [frame.f_code.co_name for frame, _ in list(walk)].index("<module>")
        print(deep(6, None), deep(6, f=None), deep(6, f=inspect.currentframe()))
        """,
    ),
    snippet(
        "texts as targets, constants in a vectorized loop, an end that is seen",
        """
        import tensorflow as tf
        class Ends:
            def __del__(self): print("ends")
        x = tf.Variable(2.0)
        with tf.GradientTape(persistent=True) as tape: y = x * 2.0
        print(tape.gradient(tf.strings.as_string(y), x))
        def turns(n):
            body = lambda k, a: (k + 1, a * 2.0)
            return tf.while_loop(lambda k, a: k < n, body, (0, 1.0))[1]
        print(tf.vectorized_map(turns, tf.constant([1, 2, 3])))
        z = y * 2.0; z.tag = Ends(); z = None
        print("over")
        """,
    ),
    snippet(
        "an op callback of the snippet's changes what ops give",
        """
        import tensorflow as tf
        tf.debugging.enable_check_numerics()
        @tf.function
        def f(x): return tf.sqrt(x) * 2.0
        print(f(tf.constant(4.0)))
        try: f(tf.constant(-1.0))
        except tf.errors.InvalidArgumentError as error: print(error.message.splitlines()[-2:])
        """,
    ),
    snippet(
        "functions that trace each other reach as deep as without hooks",
        """
        import tensorflow as tf
        def depth(n):
            try: return depth(n + 1)
            except RecursionError: return n
        top = depth(1)
        @tf.function(autograph=False)
        def f(k):
            if k: return f(k - 1)
            print(round((top - depth(1)) / 12))
            return k
        f(12)
        """,
    ),
    snippet(
        "what TensorFlow logs from C++ is logged once",
        """
        import atexit
        import tensorflow as tf
        tf.debugging.set_log_device_placement(True)
        atexit.register(print, "at exit")
        v = tf.Variable(2.0)
        @tf.function
        def f(x): return x * v
        with tf.GradientTape() as tape: y = f(tf.constant(3.0))
        print(tape.gradient(y, v))
        """,
    ),
    snippet(
        "a function prints while it is traced",
        """
        import tensorflow as tf
        @tf.function
        def f(x):
            print("tracing", x)
            return x * 2.0
        print(f(tf.constant(1.0))); print(f(tf.constant(2.0))); print(f(tf.constant([1.0])))
        """,
    ),
    snippet(
        "a traced function asks for numpy()",
        """
        import tensorflow as tf
        @tf.function
        def f(x):
            return x.numpy() * 2.0
        print(f(tf.constant(1.0)))
        """,
    ),
    snippet(
        "a traced function counts its tracings",
        """
        import tensorflow as tf
        count = 0
        seen = []
        @tf.function
        def f(x):
            global count
            count += 1
            seen.append(x.shape)
            return x * count
        for i in range(3): print(f(tf.constant(1.0)))
        print(count, seen)
        """,
    ),
    snippet(
        "what a function does after a loop that draws random numbers or writes to a variable",
        """
        import tensorflow as tf
        tf.random.set_seed(3)
        v = tf.Variable(tf.random.stateless_normal([40], [1, 2]))
        w = tf.Variable(tf.random.stateless_normal([40], [1, 9]))
        @tf.function
        def noisy(x):
            return x / 7 + tf.random.normal([40]) + tf.cos(x)
        @tf.function
        def scaled(x):
            return x / 3 + w / 7 + tf.random.normal([40])
        @tf.function
        def draws():
            with tf.GradientTape() as tape:
                y = v
                for i in tf.range(3):
                    y += v / 3 + tf.random.normal([40], seed=1) * tf.cast(i, tf.float32)
                y += noisy(v)
                loss = tf.reduce_sum(y * v * 1.533)
            return y, tape.gradient(loss, v)
        @tf.function
        def writes():
            with tf.GradientTape() as tape:
                for i in tf.range(2):
                    w.assign_add(tf.random.normal([40], seed=2) * 0.1)
                y, z = v * w / 7, scaled(v)
                loss = tf.reduce_sum(y * z)
            return z, *tape.gradient(loss, [v, w])
        for _ in range(3):
            for y in (*draws(), *writes()): print(y.numpy().tobytes().hex())
        """,
        merges_sums=True,
    ),
    snippet(
        "random numbers in a function after set_seed",
        """
        import tensorflow as tf
        tf.random.set_seed(3)
        @tf.function
        def f(x):
            return x + tf.random.normal([2]) + tf.random.uniform([2], seed=4)
        print(f(1.0), f(1.0))
        """,
    ),
    snippet(
        "loops over shuffled datasets: what they add up, and what TensorFlow makes of their bodies",
        """
        import tensorflow as tf
        tf.random.set_seed(3)
        x = tf.random.stateless_normal([90, 7], [1, 2])
        v = tf.Variable(x[0] + 1.0)
        words = tf.ragged.constant([["a"] * (n % 3) for n in range(90)])
        rows = tf.data.Dataset.from_tensor_slices({"x": x, "y": (x / 3, x * 1e3), "words": words})
        @tf.function
        def epoch(rows):
            total, found = tf.zeros([7]), tf.constant("")
            for row in rows.shuffle(30).map(lambda row: row | {"noise": tf.random.normal([7])}):
                with tf.GradientTape() as tape:
                    z = tf.sin(row["x"] * v) / 3 * tf.random.uniform([7])
                v.assign_sub(0.1 * tape.gradient(z, v) * 0.3)
                total = tf.add_n([*row["y"], row["noise"], row["x"], total, z])
                found += tf.strings.reduce_join(row["words"])
                if total[0] > 5e3:
                    break
            return total, found
        for _ in range(4):
            total, found = epoch(rows)
            print(total.numpy().tobytes().hex(), found, v.numpy().tobytes().hex())
        """,
    ),
    snippet(
        "sums of random numbers or Python's gradients: their order depends on what keeps memory",
        """
        import tensorflow as tf
        tf.random.set_seed(3)
        v = tf.Variable(tf.random.stateless_normal([200], [1, 2]))
        numbers = tf.data.Dataset.range(800).map(lambda n: tf.cast(n, tf.float32) / 7)
        batches = iter(numbers.batch(200))
        @tf.function
        def noise():
            return tf.random.normal([200])
        @tf.function
        def f(x):
            return v + noise() + tf.random.normal([200]), v + next(batches) + x / 3 + noise()
        def python(x):
            y = tf.py_function(lambda z: tf.sin(z) * 1.7 + z / 3, [x], tf.float32)
            return tf.ensure_shape(y, [200])
        @tf.function
        def g(x):
            return python(x) + python(x / 7) + tf.sin(x) + x / 3
        print(g(v).numpy().tobytes().hex())
        for _ in range(2):
            with tf.GradientTape() as tape:
                y = g(v)
            for y in (*f(v), y, tape.gradient(y, v)): print(y.numpy().tobytes().hex())
        """,
    ),
    snippet(
        "a shuffle in a function",
        """
        import tensorflow as tf
        tf.random.set_seed(1)
        @tf.function
        def f(x):
            return tf.random.shuffle(x)
        print(f(tf.range(5)), f(tf.range(5)))
        """,
    ),
    snippet(
        "dropout in a function",
        """
        import tensorflow as tf
        tf.random.set_seed(1)
        @tf.function
        def f(x):
            return tf.nn.dropout(x, 0.5)
        print(f(tf.ones(8)))
        """,
    ),
    snippet(
        "a function that the graph optimiser rounds otherwise",
        """
        import tensorflow as tf
        x = tf.abs(tf.random.stateless_normal([100], seed=[1, 2]))
        @tf.function
        def f(x):
            powers = x**3.0, x**0.5, x**-0.5, tf.pow(x, 1.5), x / 3.0
            roots = tf.math.log(1.0 + x), tf.exp(x) - 1.0, x / tf.sqrt(x + 1.0)
            return (*powers, *roots, x * 2.0 + x * 3.0, (x * 0.1) * 0.3, x + 0.1 + 0.2)
        for t in f(x): print(t.numpy().tobytes().hex()[:800])
        """,
    ),
    snippet(
        "a dense layer in a function",
        """
        import tensorflow as tf
        x = tf.random.stateless_normal([16, 8], seed=[1, 2])
        w = tf.Variable(tf.random.stateless_normal([8, 8], seed=[1, 3]))
        b = tf.Variable(tf.random.stateless_normal([8], seed=[1, 5]))
        @tf.function
        def f(x):
            h = tf.nn.relu(tf.matmul(x, w) + b)
            h = tf.nn.tanh(tf.nn.bias_add(tf.matmul(h, w), b))
            return tf.reduce_mean(tf.nn.softmax(h) ** 2)
        with tf.GradientTape() as t:
            l = f(x)
        gs = t.gradient(l, [w, b])
        print([one.numpy().tobytes().hex()[:200] for one in (l, *gs)])
        """,
    ),
    snippet(
        "a mean in a function is divided otherwise",
        """
        import tensorflow as tf

        x = tf.random.stateless_normal([16, 8], seed=[1, 2])
        w = tf.Variable(tf.random.stateless_normal([8, 8], seed=[1, 3]))

        @tf.function
        def loss_of(x):
            h = tf.nn.relu(tf.matmul(x, w))
            return tf.reduce_mean(tf.nn.softmax(h / 3.0) ** 2)

        with tf.GradientTape() as tape:
            loss = loss_of(x)
        print(loss, tape.gradient(loss, w)[0])
        """,
    ),
    snippet(
        "a function that makes a variable anew",
        """
        import tensorflow as tf
        @tf.function
        def f(x):
            v = tf.Variable(1.0)
            return v * x
        print(f(1.0))
        """,
    ),
    snippet(
        "a signature that casts",
        """
        import tensorflow as tf
        @tf.function(input_signature=[tf.TensorSpec([None], tf.float32)])
        def f(x):
            return x * 2
        print(f([1, 2, 3]))
        try:
            print(f(tf.constant(1)))
        except Exception as e: print(type(e).__name__, e)
        """,
    ),
    snippet(
        "Python's random numbers and clock in a function",
        """
        import tensorflow as tf
        import time, random
        import numpy as np
        @tf.function
        def f(x):
            return x + random.random() + np.random.rand() + time.perf_counter()
        print(f(1.0) == f(1.0))
        """,
    ),
    snippet(
        "NumPy in a traced function",
        """
        import tensorflow as tf
        import numpy as np
        @tf.function
        def f(x):
            return np.sin(x)
        print(f(tf.constant(1.0)))
        """,
    ),
    snippet(
        "float() in a traced function",
        """
        import tensorflow as tf
        @tf.function
        def f(x):
            return float(x) * 2
        print(f(tf.constant(1.0)))
        """,
    ),
    snippet(
        "a loop over a symbolic tensor",
        """
        import tensorflow as tf
        @tf.function
        def f(x):
            return sum([v for v in x])
        print(f(tf.constant([1.0, 2.0])))
        """,
    ),
    snippet(
        "branches of two dtypes",
        """
        import tensorflow as tf
        @tf.function
        def f(x):
            if x > 0:
                y = 1
            else:
                y = 2.0
            return y
        print(f(tf.constant(1.0)))
        """,
    ),
    snippet(
        "a name that one branch does not bind",
        """
        import tensorflow as tf
        @tf.function
        def f(x):
            if x > 0:
                y = x
            return y
        print(f(tf.constant(1.0)))
        """,
    ),
    snippet(
        "a loop that changes a shape",
        """
        import tensorflow as tf
        @tf.function
        def f(x):
            for i in tf.range(3):
                x = tf.concat([x, x], 0)
            return x
        print(f(tf.constant([1.0])))
        """,
    ),
    snippet(
        "a function that changes its argument",
        """
        import tensorflow as tf
        @tf.function
        def f(l):
            l.append(1)
            return l[0]
        print(f([tf.constant(1.0)]))
        """,
    ),
    snippet(
        "a method that keeps state",
        """
        import tensorflow as tf
        class A:
            def __init__(self): self.n = 0; self.last = None
            @tf.function
            def step(self, x):
                self.n += 1
                self.last = x
                return x
        a = A()
        a.step(tf.constant(1.0)); a.step(tf.constant(2.0))
        print(a.n, a.last)
        """,
    ),
    snippet(
        "a callee that prints",
        """
        import tensorflow as tf
        def helper(x):
            print("helper")
            return x + 1
        @tf.function
        def f(x):
            return helper(x)
        f(tf.constant(1.0)); f(tf.constant(2.0))
        """,
    ),
    snippet(
        "a shape that is not known when it is traced",
        """
        import tensorflow as tf
        @tf.function(input_signature=[tf.TensorSpec([None, 2], tf.float32)])
        def f(x):
            n = x.shape[0]
            return tf.zeros([2]) if n is None else tf.ones([2])
        print(f(tf.ones([3, 2])))
        """,
    ),
    snippet(
        "a function that asks for eager mode",
        """
        import tensorflow as tf
        @tf.function
        def f(x):
            if tf.executing_eagerly(): return x
            return x * 2
        print(f(tf.constant(1.0)))
        """,
    ),
    snippet(
        "a function that asks what its tensor can do",
        """
        import tensorflow as tf
        @tf.function
        def f(x):
            return x * 2 if hasattr(x, "numpy") else x
        print(f(tf.constant(1.0)), type(f).__name__)
        """,
    ),
    snippet(
        "a Python number that a function keeps",
        """
        import tensorflow as tf
        a = 1.0
        @tf.function
        def f(x):
            return x * a
        print(f(tf.constant(1.0)))
        a = 5.0
        print(f(tf.constant(1.0)))
        """,
    ),
    snippet(
        "a compiled function gives zeros for None",
        """
        import tensorflow as tf
        @tf.function
        def f(x, y):
            return tf.reduce_sum(x), tf.reduce_sum(y)
        x = tf.Variable([1., 2.]); z = tf.Variable([1., 2.])
        with tf.GradientTape() as tape:
            a, b = f(x, z)
        print(tape.gradient(a, z))
        """,
    ),
    snippet(
        "keras compiles its train_step",
        """
        import tensorflow as tf
        class M(tf.keras.Model):
            def train_step(self, data):
                print("tracing")
                return super().train_step(data)
        tf.keras.utils.set_random_seed(1)
        i = tf.keras.Input((2,)); m = M(i, tf.keras.layers.Dense(1)(i))
        m.compile("sgd", "mse")
        h = m.fit(tf.ones((8, 2)), tf.ones((8, 1)), batch_size=2, epochs=2, verbose=0)
        print(h.history)
        """,
    ),
    snippet(
        "an assert in a function",
        """
        import tensorflow as tf
        @tf.function
        def f(x):
            assert x > 0, "no"
            return x
        print(f(tf.constant(1.0)))
        try: f(tf.constant(-1.0))
        except Exception as e: print(type(e).__name__, str(e)[:80])
        """,
    ),
    snippet(
        "a function that cannot be traced",
        """
        import tensorflow as tf
        @tf.function
        def f(x):
            return tf.linalg.matmul(x, tf.ones([3, 3]))
        print(f(tf.ones([2, 2])))
        """,
    ),
    snippet(
        "a train step with a tape of its own",
        """
        import tensorflow as tf
        v = tf.Variable(2.0)
        @tf.function
        def step(x):
            with tf.GradientTape() as tape:
                l = v * v * x
            g = tape.gradient(l, v)
            v.assign_sub(0.1 * g)
            return l, g
        for i in range(3): print(step(tf.constant(1.0)))
        """,
    ),
)
