"""Functions whose Python does more than call ops, and such as only seem to."""

from __future__ import annotations

from textwrap import indent

import pytest

from tapeviz.recorder.definitions import Definitions
from tapeviz.recorder.tracing_effects import TracingEffects

NOTICED = {
    "a print": "print(x)",
    "a number asked for": "y = x.numpy()",
    "a conversion": "y = float(x)",
    "a NumPy function": "y = np.sin(x)",
    "Python's random numbers": "y = x * random.random()",
    "NumPy's random numbers": "y = x * np.random.rand()",
    "a clock": "t = time.time()",
    "a global": "global count\ncount += 1",
    "an attribute": "seen.count = 1",
    "an item of something else": "seen['x'] = x",
    "a list outside that grows": "seen.append(x)",
    "a variable made": "v = tf.Variable(x)",
    "a layer made": "y = tf.keras.layers.Dense(1)(x)",
    "a question about modes": "eager = tf.executing_eagerly()",
    "a draw from a seed": "y = tf.random.uniform([2], seed=3)",
    "a callee that prints": "y = talking(x)",
    "a function given on that prints": "y = tf.map_fn(talking, x)",
    "an assert": "assert x > 0",
    "text": "name = f'{x}'",
    "a quotient": "y = x / 3.0",
    "a mean": "y = tf.reduce_mean(x)",
    "a power": "y = x ** 2.5",
    "two constants": "y = x * 0.1 * 0.3",
    "an object that is called": "y = model(x)",
    "an object of the class": "y = self.layer(x)",
    "several outputs": "return x, x * w",
    "several outputs under names": "both = {'x': x, 'w': w}\nreturn both",
    "a loop of TensorFlow's": "return tf.while_loop(lambda x: x < 3.0, quiet, [x])",
    "a branch": "if x > 0:\n    x = x * w\nreturn x",
}
UNNOTICED = {
    "ops": "y = tf.sin(x) * w",
    "TensorFlow's print": "tf.print(x)",
    "a list of its own": "ys = []\nys.append(x)",
    "an item of its own": "ys = {}\nys['x'] = x",
    "a write to a variable": "w.assign_add(x)\nw[0].assign(x)",
    "a constant of NumPy": "y = x * np.pi + np.float32(2)",
    "stateless draws": "y = tf.random.stateless_uniform([2], seed=[1, 2])",
    "a tape": "with tf.GradientTape() as t:\n    y = w * x\ng = t.gradient(y, w)",
    "a draw under a tape": "with tf.GradientTape():\n    y = tf.random.normal([1], seed=2)",
    "a mean under a tape": "with tf.GradientTape() as t:\n    y = tf.reduce_mean(w * x)",
    "a loop around a tape": "for v in ws:\n    with tf.GradientTape() as t:\n        y = v * x",
    "a callee": "y = quiet(x)",
    "Python that is run each time": "with tf.GradientTape():\n    tf.py_function(talking, [x], [])",
}
AROUND = """
import numpy as np, random, time
import tensorflow as tf
w, ws, seen, count = tf.Variable([1.0]), [], {{}}, 0
def talking(x):
    print("x")
    return x
def quiet(x):
    return x * 2
@tf.function
def f(x):
{body}
"""


def looked_at(body: str) -> TracingEffects:
    return TracingEffects(Definitions(AROUND.format(body=indent(body, "    "))))


@pytest.mark.parametrize("name", NOTICED)
def test_noticed(name: str) -> None:
    assert looked_at(NOTICED[name]).of("f").would_tell


@pytest.mark.parametrize("name", UNNOTICED)
def test_unnoticed(name: str) -> None:
    effects = looked_at(UNNOTICED[name]).of("f")
    assert not effects.would_tell
    assert not effects.draws
    assert effects.has_tape == ("GradientTape" in UNNOTICED[name])


def test_a_function_is_found_by_its_decorator_s_line() -> None:
    effects = looked_at("print(x)")
    line = AROUND.splitlines().index("@tf.function") + 1
    assert effects.of(line).would_tell
    assert not effects.of(line - 2).would_tell


def test_draws_without_a_seed() -> None:
    effects = looked_at("y = tf.nn.dropout(x, 0.5) + tf.random.normal([1])")
    assert effects.of("f").draws
    assert not effects.of("f").would_tell
    assert effects.defines("quiet")
    assert not effects.defines("quite")
