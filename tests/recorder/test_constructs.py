"""Many ways to write TensorFlow: each prints what it does plainly, and every step finds its op."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from tapeviz.trace import events as e

from ..sampling import sampled
from .conftest import Recorded

Record = Callable[..., Recorded]

CONSTRUCTS = {
    "while_loop": """
        x = tf.constant(1.5)
        with tf.GradientTape() as t:
            t.watch(x)
            _, y = tf.while_loop(lambda i, y: i < 3, lambda i, y: (i + 1, y * x), [0, x])
        print(t.gradient(y, x))
        """,
    "map and scan": """
        x = tf.constant([1.0, 2.0, 3.0])
        with tf.GradientTape() as t:
            t.watch(x)
            y = [tf.map_fn(lambda v: v * v, x), tf.scan(lambda a, b: a * b, x)]
        print(t.gradient(y, x))
        """,
    "vectorized map": """
        x = tf.constant([1.0, 2.0])
        with tf.GradientTape() as t:
            t.watch(x)
            y = tf.vectorized_map(lambda v: v * v, x)
        print(t.gradient(y, x))
        """,
    "recompute_grad": """
        v, x = tf.Variable(2.0), tf.Variable(1.0)
        f = tf.recompute_grad(lambda a: tf.sin(a) * v)
        with tf.GradientTape() as t:
            y = f(x)
        print(t.gradient(y, [x, v]))
        """,
    "custom gradient of variables": """
        v, x = tf.Variable(2.0), tf.Variable(3.0)
        @tf.custom_gradient
        def product(a):
            def grad(up, variables=None):
                return up * v, [up * a for _ in variables]
            return a * v, grad
        with tf.GradientTape() as t:
            y = product(x)
        print(t.gradient(y, [x, v]))
        """,
    "grad_pass_through": """
        x = tf.Variable(1.7)
        with tf.GradientTape() as t:
            y = tf.grad_pass_through(tf.round)(x) * 2.0
        print(t.gradient(y, x))
        """,
    "TensorArray": """
        x = tf.constant([1.0, 2.0])
        with tf.GradientTape() as t:
            t.watch(x)
            array = tf.TensorArray(tf.float32, 2)
            y = array.write(0, x[0] * 2.0).write(1, x[1] * 3.0).stack()
        print(t.gradient(y, x))
        """,
    "ragged and sparse": """
        x = tf.constant([1.0, 2.0])
        with tf.GradientTape() as t:
            t.watch(x)
            s = tf.sparse.SparseTensor([[0, 0], [1, 2]], x, [2, 3])
            r = tf.RaggedTensor.from_row_lengths(x, [2, 0])
            y = tf.sparse.sparse_dense_matmul(s, tf.ones([3, 2]))
            z = tf.reduce_sum(r * r, axis=1)
        print(t.gradient([y, z], x))
        """,
    "py_function": """
        x = tf.constant(3.0)
        with tf.GradientTape() as t:
            t.watch(x)
            y = tf.py_function(lambda v: v * v, [x], tf.float32)
        print(t.gradient(y, x))
        """,
    "jacobian of a gradient": """
        x = tf.Variable([1.0, 2.0])
        with tf.GradientTape() as outer:
            with tf.GradientTape() as inner:
                y = tf.reduce_sum(x ** 3)
            g = inner.gradient(y, x)
        print(outer.jacobian(g, x))
        """,
    "jacobians in a loop": """
        x = tf.Variable([[1.0, 2.0]])
        with tf.GradientTape(persistent=True) as t:
            y = x ** 3
        print(t.jacobian(y, x, experimental_use_pfor=False), t.batch_jacobian(y, x + 0.0))
        """,
    "linear algebra": """
        x = tf.constant([[4.0, 1.0], [1.0, 3.0]])
        with tf.GradientTape(persistent=True) as t:
            t.watch(x)
            ys = [tf.linalg.det(x), tf.linalg.cholesky(x), tf.linalg.eigh(x)[0]]
            ys += [tf.linalg.svd(x)[0], tf.einsum("ij,jk->ik", x, x), tf.linalg.inv(x)]
        for y in ys:
            print(t.gradient(y, x))
        """,
    "selection": """
        x = tf.constant([3.0, 1.0, 2.0])
        with tf.GradientTape(persistent=True) as t:
            t.watch(x)
            ys = [tf.sort(x), tf.math.top_k(x, 2)[0], tf.cumsum(x), tf.where(x > 1.5, x, 0.0)]
            ys += [tf.concat([x, x], 0)[::2], tf.pad(x, [[1, 1]]), tf.tile(x, [2]), x[::-1]]
        for y in ys:
            print(t.gradient(y, x))
        """,
    "complex numbers": """
        x = tf.Variable(2.0)
        with tf.GradientTape() as t:
            z = tf.complex(x, x * 2.0)
            y = tf.abs(z * tf.math.conj(z)) + tf.math.real(tf.signal.fft(tf.stack([z, z]))[0])
        print(t.gradient(y, x))
        """,
    "branches": """
        x = tf.Variable(2.0)
        with tf.GradientTape() as t:
            y = tf.cond(x > 1.0, lambda: x * x, lambda: x)
            z = tf.switch_case(tf.constant(1), [lambda: x, lambda: x * 3.0])
        print(t.gradient([y, z], x))
        """,
    "a dataset": """
        data = tf.data.Dataset.from_tensor_slices([1.0, 2.0, 3.0, 4.0]).map(lambda v: v * 2.0)
        w = tf.Variable(1.0)
        for batch in data.batch(2):
            with tf.GradientTape() as t:
                loss = tf.reduce_sum(batch * w)
            w.assign_sub(0.1 * t.gradient(loss, w))
        print(w)
        """,
    "recurrent layers": """
        import keras
        keras.utils.set_random_seed(1)
        model = keras.Sequential([keras.layers.LSTM(3), keras.layers.Dense(1)])
        with tf.GradientTape() as t:
            y = model(tf.ones([2, 3, 2]))
        for g in t.gradient(y, model.trainable_variables):
            print(g)
        """,
    "an own train_step": """
        import keras
        keras.utils.set_random_seed(1)
        class Model(keras.Model):
            def __init__(self):
                super().__init__()
                self.dense = keras.layers.Dense(1)
            def call(self, x):
                return self.dense(x)
            def train_step(self, data):
                x, y = data
                with tf.GradientTape() as tape:
                    loss = tf.reduce_mean((self(x, training=True) - y) ** 2)
                grads = tape.gradient(loss, self.trainable_variables)
                self.optimizer.apply_gradients(zip(grads, self.trainable_variables))
                return {"loss": loss}
        model = Model()
        model.compile("sgd")
        ones = np.ones([4, 2], "float32")
        print(model.fit(ones, ones[:, :1], batch_size=2, verbose=0).history)
        """,
    "embeddings and an optimizer": """
        import keras
        keras.utils.set_random_seed(1)
        model = keras.Sequential([keras.layers.Embedding(5, 3), keras.layers.Flatten()])
        optimizer = keras.optimizers.Adam(0.1)
        for _ in range(2):
            with tf.GradientTape() as t:
                loss = tf.reduce_sum(model(tf.constant([[1, 2, 1]])) ** 2)
            grads = t.gradient(loss, model.trainable_variables)
            optimizer.apply_gradients(zip(grads, model.trainable_variables))
            print(type(grads[0]).__name__, loss.numpy())
        """,
    "a graph within": """
        with tf.Graph().as_default():
            a = tf.constant(2.0)
            d = tf.gradients(a * a, a)[0]
            with tf.compat.v1.Session() as session:
                print(session.run({"d": d}))
        print(tf.constant(1.0) + 1.0)
        """,
    "an overridden gradient": """
        @tf.RegisterGradient("Triple")
        def triple(op, up):
            return 3.0 * up
        tf.compat.v1.disable_eager_execution()
        x = tf.constant(2.0)
        with tf.compat.v1.get_default_graph().gradient_override_map({"Identity": "Triple"}):
            y = tf.identity(x)
        with tf.compat.v1.Session() as session:
            print(session.run(tf.gradients(y, x)))
        """,
    "Python of all kinds": """
        import asyncio, enum
        from dataclasses import dataclass
        from typing import NamedTuple
        @dataclass
        class Point:
            x: float = 1.0
            rest: list = None
        class Kind(enum.Enum):
            A = 1
        class Pair(NamedTuple):
            t: object
            n: float = 2.0
        async def square(v):
            await asyncio.sleep(0)
            return v * v
        def counting():
            got = yield 1
            print(got)
        pair = Pair(tf.constant(1.0))
        (k, j) = pair
        print(j)
        print(Point(), Kind.A, [q := 3, q], asyncio.run(square(tf.constant(3.0))))
        steps = counting(); next(steps)
        try:
            steps.send(4)
        except StopIteration as stop:
            print(stop.value)
        finally:
            print(f"{q=} {q:>4}")
        del q
        print("q" in globals())
        """,
}


@pytest.mark.parametrize("name", sampled(CONSTRUCTS, 2))
def test_nothing_is_changed(record: Record, run_plainly: Record, name: str) -> None:
    plain = run_plainly(CONSTRUCTS[name])
    seen = record(CONSTRUCTS[name])
    assert not seen.of(e.Raised)
    assert not seen.of(e.Noted)
    assert seen.out == plain.out
    assert plain.out
    ops = {op.id: op for op in seen.events if isinstance(op, (e.OpRan, e.OperationRecorded))}
    assert list(ops) == sorted(ops)
    for step in seen.of(e.StepRan):
        op = ops[step.op]
        assert op.type == step.type or isinstance(op, e.OperationRecorded)
        assert len(step.upstream) == len(op.outputs)
        assert len(step.downstream) == len(op.inputs)
    known = {tensor.id for tensor in seen.of(e.TensorSeen)}
    assert all(tensor in known for op in ops.values() for tensor in (*op.inputs, *op.outputs))
    assert all(
        tensor in known for call in seen.of(e.CallEnded) for tensor in call.results if tensor
    )
