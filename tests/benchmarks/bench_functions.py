"""What recording compiled functions costs, and how long it takes to look into a call of one.

    python tests/benchmarks/bench_functions.py [rounds]

Prints the ratios of CPU time (user and system), recorded to plain, of 1,000 calls of a compiled
train step and of ``fit`` over 1,000 batches; then how many milliseconds it takes to open a call of
a function of 300 ops, the first time and again. Each run has a process of its own, forked from one
that has imported TensorFlow; the plain and the recorded one follow each other.
"""

from __future__ import annotations

import builtins
import importlib.util
import io
import json
import os
import statistics
import sys
import tempfile
import time
from collections.abc import Callable
from contextlib import redirect_stdout
from pathlib import Path
from typing import Any

from figures import tell

RECORDER = Path(__file__).parents[2] / "tapeviz" / "recorder"
NAME = "_tapeviz_recorder"

_MODEL = """
import numpy as np
keras = tf.keras
keras.utils.set_random_seed(1)
x = np.random.rand(32, 128).astype("float32")
y = np.random.rand(32, 1).astype("float32")
model = keras.Sequential([keras.Input((128,)), keras.layers.Dense(256, activation="relu"),
                          keras.layers.Dense(256, activation="relu"), keras.layers.Dense(1)])
"""
TRAIN_STEP = (
    _MODEL
    + """
optimizer = keras.optimizers.Adam()
optimizer.build(model.trainable_variables)
@tf.function
def train_step(x, y):
    with tf.GradientTape() as tape:
        loss = tf.reduce_mean(tf.square(model(x, training=True) - y))
    gradients = tape.gradient(loss, model.trainable_variables)
    optimizer.apply_gradients(zip(gradients, model.trainable_variables))
    return loss
x, y = tf.constant(x), tf.constant(y)
train_step(x, y)
_started()
for _ in range(1000):
    train_step(x + 0.0, y)
_stopped()
"""
)
FIT = (
    _MODEL
    + """
x, y = np.tile(x, (1000, 1)), np.tile(y, (1000, 1))
model.compile("adam", "mse")
model.fit(x[:64], y[:64], batch_size=32, verbose=0)
_started()
model.fit(x, y, batch_size=32, verbose=0)
_stopped()
"""
)
THREE_HUNDRED_OPS = """
v = tf.Variable(tf.ones([16, 16]))
@tf.function
def f(x):
    for _ in range(60):
        x = tf.matmul(x, v)
        x = tf.sin(x) + 0.5 * x
        x = x / (1.0 + tf.abs(x))
    v.assign_add(0.01 * x)
    return x
_started()
for step in range(20):
    f(tf.fill([16, 16], 0.1 * step))
_stopped()
"""


def load_recorder() -> Any:
    spec = importlib.util.spec_from_file_location(
        NAME, RECORDER / "__init__.py", submodule_search_locations=[str(RECORDER)]
    )
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[NAME] = module
    spec.loader.exec_module(module)
    return module


class Clock:
    """CPU seconds from ``_started()`` to ``_stopped()`` in a snippet."""

    def __init__(self) -> None:
        self.seconds = 0.0

    def start(self) -> None:
        self.seconds = -time.process_time()

    def stop(self) -> None:
        self.seconds += time.process_time()

    def hands(self) -> dict[str, Callable[[], None]]:
        return {"_started": self.start, "_stopped": self.stop}


def plain(source: str) -> list[float]:
    import tensorflow as tf

    clock = Clock()
    name = Path(tempfile.mkdtemp()) / "snippet.py"
    name.write_text(source, encoding="utf-8")  # AutoGraph reads it
    exec(compile(source, str(name), "exec"), {"tf": tf, "__name__": "__main__", **clock.hands()})
    return [clock.seconds]


def record(source: str) -> tuple[list[float], list[Any]]:
    clock, events = Clock(), []

    def send(lines: list[str], blob: bytes) -> None:
        events.extend(lines)

    vars(builtins).update(clock.hands())
    recorder: Any = sys.modules[NAME]
    began = time.process_time()
    recorder.run(source, "snippet.py", ["snippet.py"], {"provide": ["tf"]}, send)
    whole = time.process_time() - began
    return [clock.seconds, whole], [json.loads(line) for line in events]


def recorded(source: str) -> list[float]:
    return record(source)[0]


def opened(source: str) -> list[float]:
    """Milliseconds of CPU to open calls 11 and 12, and call 12 again."""
    _, events = record(source)
    ops = [event["id"] for event in events if event["e"] == "op" and event["type"].startswith("__")]
    recorder: Any = sys.modules[NAME]
    found = []
    for op in (ops[10], ops[11], ops[11]):
        began = time.process_time()
        answer, _ = recorder.answer("inside", {"op": op})
        found.append(1000 * (time.process_time() - began))
        assert "events" in answer, answer
    return found


def in_a_child(run: Callable[[str], list[float]], source: str) -> list[float]:
    """What ``run(source)`` says in a process of its own."""
    reading, writing = os.pipe()
    child = os.fork()
    if child == 0:
        status = 1
        try:
            with redirect_stdout(io.StringIO()):
                told = run(source)
            os.write(writing, json.dumps(told).encode())
            status = 0
        finally:
            os._exit(status)
    os.close(writing)
    os.waitpid(child, 0)
    with os.fdopen(reading) as pipe:
        found: list[float] = json.loads(pipe.read())
    return found


def main(rounds: int) -> None:
    os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
    import tensorflow  # noqa: F401

    load_recorder()
    for title, source in {
        "1,000 calls of a compiled train step": TRAIN_STEP,
        "fit over 1,000 batches": FIT,
    }.items():
        ratios, times = [], []
        for _ in range(rounds):
            (base,) = in_a_child(plain, source)
            cost, _ = in_a_child(recorded, source)
            times.append(base)
            ratios.append(cost / base)
        print(
            f"{title}: {statistics.median(ratios):.2f} times the plain run"
            f" (best {min(ratios):.2f}, worst {max(ratios):.2f}; plain {min(times):.3f} s of CPU)"
        )
        tell(f"recording {title}", f"{statistics.median(ratios):.2f} times")
    openings = [in_a_child(opened, THREE_HUNDRED_OPS) for _ in range(rounds)]
    first, other, again = (statistics.median(each) for each in zip(*openings, strict=True))
    print(
        f"opening a call of 300 ops: {first:.0f} ms the first time, {other:.0f} ms another call,"
        f" {again:.0f} ms again"
    )


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 3)
