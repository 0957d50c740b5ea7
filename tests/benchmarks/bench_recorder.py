"""The cost of recording: the same 20,000 tiny eager ops, plain and recorded, side by side.

    python tests/benchmarks/bench_recorder.py [rounds]

For each snippet the ratios of CPU time and of the clock, and the memory that recording adds;
encoding included. The tiny ops also as users run them, in a kernel.

Where the time goes, for the loop ``x = tf.sin(x); x = x * 1.0001`` outside of functions, as a
fraction of a plain op (13 to 18 µs on an idle machine). Parts were left out or replaced by stubs,
in turn with a plain run in one process: medians of 40 to 100 rounds on a busy machine.

    0.04          C++ makes tuples of inputs and attributes, and calls the op callback
    0.07 to 0.10  a row for the op, which holds its tensors: new ones cannot have their memory
    0.09 to 0.15  the site: Python makes objects of TensorFlow's frames
    0.05 to 0.10  the wrapper of the fast path, the name scope, the state of the thread
    0.10          a name for a tensor, with its event
    0.09          a name for a number, such as the loop's counter, with its event
    0.15 to 0.20  the events of an op and its tensors, on the recorder's thread
    below 0.02    sending them

Python between two ops runs with cold caches: it costs three to five times what ``timeit`` shows,
and what counts is how many objects it touches. Tried in pairs without gain: columns in place of
lines (0 to 0.15, for 450 lines of code), ids that the callback reads, encoding on the snippet's
thread, options of the allocator.
"""

from __future__ import annotations

import sys

from side_by_side import compare, compare_in_kernel, load_both

SNIPPETS = {
    "20,000 ops on constants": """
x = tf.constant(1.0)
for i in range(10_000):
    x = tf.sin(x)
    x = x * 1.0001
""",
    "20,000 ops in functions of the snippet": """
def wave(v):
    return tf.sin(v)
def step(v):
    return wave(v) + 0.5
x = tf.constant(1.0)
for i in range(10_000):
    x = step(x)
""",
    "20,000 ops under a tape, with variables and the gradient": """
w = tf.Variable(0.5)
for i in range(500):
    with tf.GradientTape() as tape:
        x = tf.constant(1.0)
        for j in range(10):
            x = tf.sin(x * w)
    g = tape.gradient(x, w)
    w.assign_sub(0.001 * g)
""",
    "20,000 ops on vectors of 100": """
x = tf.ones([100])
for i in range(10_000):
    x = tf.tanh(x)
    x = x - 0.01
""",
    "a step of ResNet50, 16 pictures of 64 x 64": """
import keras
model = keras.applications.ResNet50(weights=None, input_shape=(64, 64, 3), classes=10)
x, y = tf.random.normal([16, 64, 64, 3]), tf.zeros([16], tf.int32)
_started()
with tf.GradientTape() as tape:
    p = model(x, training=True)
    loss = tf.reduce_mean(keras.losses.sparse_categorical_crossentropy(y, p))
g = tape.gradient(loss, model.trainable_variables)
_stopped()
""",
    "a step of 12 transformer blocks, 8 texts of 128": """
def dense(x, w, b):
    return tf.einsum("bsi,io->bso", x, w) + b
def norm(x):
    mean = tf.reduce_mean(x, -1, keepdims=True)
    return (x - mean) * tf.math.rsqrt(tf.reduce_mean((x - mean) ** 2, -1, keepdims=True) + 1e-5)
def split(x):
    return tf.transpose(tf.reshape(x, [8, 128, 8, 32]), [0, 2, 1, 3])
shapes = [(256, 768), (768,), (256, 256), (256,), (256, 1024), (1024,), (1024, 256), (256,)]
blocks = [[tf.Variable(tf.random.normal(s, stddev=0.02)) for s in shapes] for _ in range(12)]
x = tf.random.normal([8, 128, 256])
with tf.GradientTape() as tape:
    for qkv, qkv_b, out, out_b, up, up_b, down, down_b in blocks:
        q, k, v = (split(t) for t in tf.split(dense(norm(x), qkv, qkv_b), 3, axis=-1))
        a = tf.matmul(tf.nn.softmax(tf.matmul(q, k, transpose_b=True) / 32**0.5), v)
        x = x + dense(tf.reshape(tf.transpose(a, [0, 2, 1, 3]), [8, 128, 256]), out, out_b)
        x = x + dense(tf.nn.gelu(dense(norm(x), up, up_b)), down, down_b)
    loss = tf.reduce_mean(x**2)
g = tape.gradient(loss, [w for block in blocks for w in block])
""",
}

LARGEST = {title: 1.1 for title in SNIPPETS if title.startswith("a step")}
"""The cost that a recorded snippet may have, times its plain run; 1.5 for the others."""


def main(rounds: int) -> None:
    load_both()
    import keras  # noqa: F401

    for title, source in SNIPPETS.items():
        is_large = title in LARGEST
        often = max(1, rounds // 2) if is_large else rounds
        compare(title, source, often, LARGEST.get(title, 1.5))
    tiny = {title: source for title, source in SNIPPETS.items() if title not in LARGEST}
    compare_in_kernel(tiny, rounds, 1.5)


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 5)
