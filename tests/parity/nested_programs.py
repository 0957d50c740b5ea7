"""Random choices in, programs out whose compiled functions, loops and branches lie in each other.

The last line prints for each source ``None``, ``zero`` or ``flows``.
"""

from __future__ import annotations

from random import Random

_HEAD = """\
import tensorflow as tf

w, b, v = tf.Variable([0.5, 0.2]), tf.Variable([0.1, 0.3]), tf.Variable([1.0, 1.0])
x, second = tf.constant([0.7, -0.4]), tf.constant(1)


@tf.custom_gradient
def doubled(a):
    return a * 1.5, lambda upstream: upstream * 2.0


"""
_LAST = """
def told(gradient):
    if gradient is None:
        return "None"
    return "flows" if tf.reduce_any(tf.convert_to_tensor(gradient) != 0.0) else "zero"


print(*map(told, gradients))
"""
_LEAVES = ("h", "h * w", "h + b", "x * h", "tf.sin(h)", "tf.stop_gradient(h)", "tf.nn.relu(h)")
_FUNCTIONS = ("tf.sin(h * w) + b", "h * h", "tf.exp(h) * b", "tf.stop_gradient(h) + w")
_COMPILED_STEP = """\
@tf.function
def step(x):
    with tf.GradientTape() as tape:
        tape.watch(x)
        h = x * w
{body}
        loss = tf.reduce_sum(h)
    return tape.gradient(loss, [w, b, x, v])


for _ in range(2):
    gradients = step(x)
"""
_COMPILED_MODEL = """\
@tf.function
def model(x):
    h = x * w
{body}
    return tf.reduce_sum(h)


with tf.GradientTape() as tape:
    tape.watch(x)
    loss = model(x)
gradients = tape.gradient(loss, [w, b, x, v])
"""
_SECOND_ORDER = """\
@tf.function
def step(x):
    with tf.GradientTape() as outer:
        with tf.GradientTape() as tape:
            h = x * w
{body}
            loss = tf.reduce_sum(h)
        slope = tape.gradient(loss, w)
        if slope is None:
            slope = w * 1.0
        steepness = tf.reduce_sum(slope * slope)
    return outer.gradient(steepness, [w, b])


gradients = step(x)
"""
_FRAMES = ((_COMPILED_STEP, 2), (_COMPILED_MODEL, 1), (_SECOND_ORDER, 3))
"""Programs, and the depth at which their body is indented."""


def nested_program(random: Random) -> str:
    """A program of one to a few dozen ops; the same for the same choices."""
    functions = "\n\n".join(
        f"@tf.function\ndef f{number}(h):\n    return {random.choice(_FUNCTIONS)}\n"
        for number in range(3)
    )
    frame, indent = random.choice(_FRAMES)
    body = "\n".join(_block(random, indent, depth=2))
    return f"{_HEAD}{functions}\n\n{frame.format(body=body)}\n{_LAST}"


def _block(random: Random, indent: int, depth: int) -> list[str]:
    before = "    " * indent
    lines = []
    for _ in range(random.randint(1, 2)):
        kind = random.choice(("expression", "while", "if", "for", "write")) if depth else ""
        if kind == "while":
            lines.append(f"{before}for t in tf.range({random.randint(0, 3)}):")
            lines += _block(random, indent + 1, depth - 1)
        elif kind == "for":
            lines.append(f"{before}for t in range({random.randint(1, 2)}):")
            lines += _block(random, indent + 1, depth - 1)
        elif kind == "if":
            lines.append(f"{before}if tf.reduce_sum(h) > {random.choice((0.0, 1.0, 99.0))}:")
            lines += _block(random, indent + 1, depth - 1)
            if random.random() < 0.5:
                lines += [f"{before}else:", *_block(random, indent + 1, depth - 1)]
        elif kind == "write":
            lines += [f"{before}v.assign(tf.ensure_shape(h, [2]))", f"{before}h = h * v"]
        else:
            lines.append(f"{before}h = {_expression(random, depth=2)}")
    return lines


def _expression(random: Random, depth: int) -> str:
    if depth == 0 or random.random() < 0.2:
        return random.choice(_LEAVES)
    made, other = _expression(random, depth - 1), _expression(random, depth - 1)
    leaf, turns = random.choice(_LEAVES), random.randint(0, 3)
    turn = f"lambda i, h: (i + 1, {made})"
    return random.choice(
        (
            f"tf.tanh({made})",
            f"({made}) * ({other})",
            f"tf.where({leaf} > 0.0, {made}, {other})",
            f"f{random.randint(0, 2)}({made})",
            f"tf.map_fn(lambda each: each * 2.0, {made})",
            f"tf.cond(tf.reduce_sum({leaf}) > 0.5, lambda: {made}, lambda: {other})",
            f"tf.while_loop(lambda i, h: i < {turns}, {turn}, (0, {leaf}))[1]",
            f"tf.concat([({made})[:1], ({other})[1:]], 0)",
            f"doubled({made})",
            f"tf.switch_case(second, [lambda: {leaf}, lambda: {made}])",
            f"tf.scan(lambda a, each: a * each, {made})",
        )
    )
