"""The cost of recording compiled functions, and how long it takes to look into a call of one.

    python tests/benchmarks/bench_functions.py [rounds]

The ratios, recorded to plain, of calls of a compiled train step, of ``fit`` and of a loop over a
shuffled dataset in a compiled function, 50 calls or 100 batches at a time in turn; then how many
milliseconds of CPU it takes to compute the inside of a call of a function of 300 ops, the first
time and again; and to read and diagnose a recording with another call opened, by the number of
calls that it has.
"""

from __future__ import annotations

import json
import statistics
import sys
import time
from typing import Any

from alternating import compare_blocks
from figures import exponent, print_row
from side_by_side import NAME, in_a_child, load_both, record

from tapeviz.analysis.diagnose import diagnose
from tapeviz.trace.growing import GrowingTrace

_MODEL = """
import numpy as np
keras = tf.keras
keras.utils.set_random_seed(1)
x = np.random.rand(32, 128).astype("float32")
y = np.random.rand(32, 1).astype("float32")
model = keras.Sequential([keras.Input((128,)), keras.layers.Dense(256, activation="relu"),
                          keras.layers.Dense(256, activation="relu"), keras.layers.Dense(1)])
"""
_WITH_ADAM = f"""{_MODEL}
optimizer = keras.optimizers.Adam()
optimizer.build(model.trainable_variables)
"""
TRAIN_STEP = (
    _WITH_ADAM
    + """
@tf.function
def train_step(x, y):
    with tf.GradientTape() as tape:
        loss = tf.reduce_mean(tf.square(model(x, training=True) - y))
    gradients = tape.gradient(loss, model.trainable_variables)
    optimizer.apply_gradients(zip(gradients, model.trainable_variables))
    return loss
x, y = tf.constant(x), tf.constant(y)
train_step(x, y)
def block():
    for _ in range(50):
        train_step(x + 0.0, y)
_in_turn(block)
"""
)
FIT = (
    _MODEL
    + """
x, y = np.tile(x, (100, 1)), np.tile(y, (100, 1))
model.compile("adam", "mse")
def block():
    model.fit(x, y, batch_size=32, verbose=0)
_in_turn(block)
"""
)
EPOCHS = (
    _WITH_ADAM
    + """
@tf.function
def epoch(dataset):
    for x, y in dataset:
        with tf.GradientTape() as tape:
            loss = tf.reduce_mean(tf.square(model(x, training=True) - y))
        gradients = tape.gradient(loss, model.trainable_variables)
        optimizer.apply_gradients(zip(gradients, model.trainable_variables))
pairs = np.tile(x, (100, 1)), np.tile(y, (100, 1))
dataset = tf.data.Dataset.from_tensor_slices(pairs).shuffle(3200).batch(32)
epoch(dataset)
def block():
    epoch(dataset)
_in_turn(block)
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


def opened(source: str) -> list[float]:
    """Milliseconds of CPU to open calls 11 and 12, and call 12 again."""
    _, lines = record(source)
    events = [json.loads(line) for line in lines]
    ops = [event["id"] for event in events if event["e"] == "op" and event["type"].startswith("__")]
    recorder: Any = sys.modules[NAME]
    found = []
    for op in (ops[10], ops[11], ops[11]):
        began = time.process_time()
        answer, _ = recorder.answer("inside", {"op": op})
        found.append(1000 * (time.process_time() - began))
        assert "events" in answer, answer
    return found


CALLS = (10, 100, 1_000, 5_000)
TRAINING = TRAIN_STEP.replace("range(50)", "range({calls})").replace("_in_turn(block)", "block()")


def opened_in(source: str) -> float:
    """Milliseconds of CPU to open one more call of a recording; the median of five calls."""
    lines, values = list[bytes](), bytearray()

    def send(more: list[str], blob: bytes) -> None:
        lines.extend(line.encode() for line in more)
        values.extend(blob)

    recorder: Any = sys.modules[NAME]
    recorder.run(source, "snippet.py", ["snippet.py"], {"provide": ["tf"]}, send)
    growing = GrowingTrace(source, "snippet.py")
    growing.extend(lines, bytes(values))
    growing.choose_calls()
    function = max(growing.finish().functions.values(), key=lambda known: len(known.calls))
    found = []
    for call in function.calls[:6]:
        op = growing.whole.ops[call].ran_as
        began = time.process_time()
        answer, buffers = recorder.answer("inside", {"op": op})
        growing.extend([line.encode() for line in answer["events"]], b"".join(buffers))
        growing.open(op)
        diagnose(growing.finish())
        found.append(1000 * (time.process_time() - began))
    return statistics.median(found[1:])


def main(rounds: int) -> None:
    load_both()
    compare_blocks("calls of a compiled train step", TRAIN_STEP, 30 * rounds, 1.1)
    compare_blocks("fit over batches", FIT, 10 * rounds, 1.1)
    compare_blocks("epochs of a compiled loop over a dataset", EPOCHS, 10 * rounds, 1.1)
    openings = [in_a_child(opened, THREE_HUNDRED_OPS) for _ in range(rounds)]
    first, other, again = (statistics.median(each) for each in zip(*openings, strict=True))
    print_row(
        "opening a call of 300 ops",
        f"{first:.0f} ms the first time, {other:.0f} ms another call, {again:.0f} ms again",
        "300 ms, then 50 ms",
    )
    found = [in_a_child(opened_in, TRAINING.format(calls=calls)) for calls in CALLS]
    print_row(
        "a call of a train step opened, read and diagnosed: 10; 100; 1,000; 5,000 calls",
        f"{'; '.join(f'{each:.0f}' for each in found)} ms, n^{exponent(CALLS, found):.1f}",
        "n^0.2",
    )


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 3)
