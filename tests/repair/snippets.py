"""Code as it was before a page scarred it, and the scars."""

from __future__ import annotations

import html
from collections.abc import Callable

SIMPLE = """\
import tensorflow as tf

w = tf.Variable(1.5)
with tf.GradientTape() as tape:
    height = 2.0 * w + 1.0
    loss = height**2
slope = tape.gradient(loss, w)
print("slope:", slope)
"""

NESTED = """\
p = tf.constant(0.5)
q = tf.constant(4.0)
with tf.GradientTape() as outer:
    outer.watch(q)
    with tf.GradientTape() as inner:
        inner.watch(p)
        area = p * q * q
    by_p = inner.gradient(area, p)
    tf.print(by_p)
by_pq = outer.gradient(by_p, q)
tf.print(by_pq)
"""

SIDE_BY_SIDE = """\
u = tf.Variable(1.0)
v = tf.Variable(2.0)
with tf.GradientTape() as one, tf.GradientTape() as two:
    first = u * v
    second = u + 3 * v
print(one.gradient(first, u))
print(two.gradient(second, v))
"""

PERSISTENT = """\
u = tf.Variable([1.0, 2.0])
with tf.GradientTape(persistent=True) as tape:
    squares = u * u
    total = tf.reduce_sum(squares)
slope = tape.gradient(total, u)
bend = tape.jacobian(squares, u)
del tape
print(slope, bend)
"""

PENALTY = """\
def penalty(critic, real):
    with tf.GradientTape() as tape:
        tape.watch(real)
        score = critic(real)
    slope = tape.gradient(score, real)
    return tf.reduce_mean((tf.norm(slope, axis=1) - 1.0) ** 2)


layer = keras.layers.Dense(1)
points = tf.ones([4, 2])
with tf.GradientTape() as tape:
    cost = penalty(layer, points)
print(tape.gradient(cost, layer.trainable_variables))
"""

TRAINING = """\
w = tf.Variable(5.0)
rate = 0.1
for step in range(20):
    with tf.GradientTape() as tape:
        loss = (w - 3.0) ** 2
    slope = tape.gradient(loss, w)
    w.assign_sub(rate * slope)
    if step % 10 == 0:
        print(step, float(loss))

print("done", w.numpy())
"""

CUSTOM = """\
@tf.custom_gradient
def clipped(x):
    y = tf.square(x)
    def grad(upstream):
        return tf.clip_by_value(upstream * 2.0 * x, -1.0, 1.0)
    return y, grad

x = tf.Variable(9.0)
with tf.GradientTape() as tape:
    y = clipped(x)
print(tape.gradient(y, x))
"""

MODEL = """\
class Scale(keras.layers.Layer):
    def __init__(self):
        super().__init__()
        self.factor = tf.Variable(2.0)
    def call(self, x):
        return self.factor * x

layer = Scale()
with tf.GradientTape() as tape:
    out = layer(tf.ones([3]))
    loss = tf.reduce_sum(out)
print(tape.gradient(loss, layer.trainable_variables))
"""

BRANCHES = """\
def pick(x):
    if x > 0:
        y = x * 2
    else:
        y = -x
    return y

def root(x):
    try:
        return x ** 0.5
    except TypeError:
        return None

print(pick(3), root(4))
"""

TEXTS = """\
note = "it's 3 > 2 & ‘quoted’ — ok"
doc = '''
>>> not a prompt
  kept   as it is
'''
print(note, doc,
      "several lines",
      end="\\n")
"""

ALL = {
    "simple": SIMPLE,
    "nested": NESTED,
    "side by side": SIDE_BY_SIDE,
    "persistent": PERSISTENT,
    "penalty": PENALTY,
    "training": TRAINING,
    "custom": CUSTOM,
    "model": MODEL,
    "branches": BRANCHES,
    "texts": TEXTS,
}

Scar = Callable[[str], str]


def flush_left(code: str) -> str:
    """Drop the white space at the start of each line, as some pages do."""
    return "".join(line.lstrip(" ") for line in code.splitlines(keepends=True))


def without_blank_lines(code: str) -> str:
    return "".join(line for line in code.splitlines(keepends=True) if line.strip())


def prompted(code: str) -> str:
    lines = []
    for line in code.splitlines():
        more = line.startswith((" ", ")", "else", "except", "'''", "kept")) or not line
        lines.append(f"{'...' if more else '>>>'} {line}".rstrip())
    return "\n".join(lines)


def notebook_prompted(code: str) -> str:
    lines = code.splitlines()
    return "\n".join([f"In [7]: {lines[0]}", *(f"   ...: {line}" for line in lines[1:])])


def numbered(code: str) -> str:
    return "\n".join(f"{number:2} {line}" for number, line in enumerate(code.splitlines(), 1))


def _marked(code: str) -> list[str]:
    """The lines of the new side of a diff, every third one in place of another."""
    lines: list[str] = []
    for number, line in enumerate(code.rstrip().splitlines()):
        lines += (
            [f"-old({number})", f"+{line}"] if number % 3 == 1 else [f" {line}" if line else ""]
        )
    return lines


def as_diff(code: str) -> str:
    head = ["diff --git a/run.py b/run.py", "index 1234567..89abcde 100644", "--- a/run.py"]
    return "\n".join([*head, "+++ b/run.py", "@@ -1,40 +1,40 @@ def run():", *_marked(code), ""])


def in_diff_fence(code: str) -> str:
    return "\n".join(["```diff", *_marked(code), "```", ""])


def numbered_in_frame(code: str) -> str:
    """As a code frame shows it, with a mark at one line."""
    lines = enumerate(code.splitlines(), 1)
    return "\n".join(f"{'❱ ' if n == 2 else '  '}{n:3} | {line}".rstrip() for n, line in lines)


def numbered_ragged(code: str) -> str:
    return "\n".join(f"{number}. {line}" for number, line in enumerate(code.splitlines(), 1))


def numbered_from_98(code: str) -> str:
    return "\n".join(f"{number}: {line}" for number, line in enumerate(code.splitlines(), 98))


def fenced(code: str) -> str:
    return f"```python\n{code.rstrip()}\n```\n"


def curly(code: str) -> str:
    """The quotes of a word processor."""
    parts = code.split('"')
    return (
        "".join(part + ("“", "”")[index % 2] for index, part in enumerate(parts[:-1])) + parts[-1]
    )


def hard_spaces(code: str) -> str:
    return "\n".join(
        "\u00a0" * (len(line) - len(line.lstrip())) + line.lstrip() for line in code.split("\n")
    )


def ideographic_margins(code: str) -> str:
    return code.replace("    ", "\u3000\u3000")


def escaped(code: str) -> str:
    return html.escape(code)


def full_width(code: str) -> str:
    signs = str.maketrans({"(": "（", ")": "）", ",": "，", ":": "：", "=": "＝"})
    parts = code.split('"')
    parts[::2] = [part.translate(signs) for part in parts[::2]]
    return '"'.join(parts)


def with_buttons(code: str) -> str:
    return f"python\nCopy code\n{code}Run Code Online (Sandbox Code Playgroud)\n"


def indented(code: str) -> str:
    return "\n".join(f"      {line}" if line else "" for line in code.split("\n"))


def first_line_flush(code: str) -> str:
    """Selected from the first letter on, the way a hand does it."""
    return indented(code).lstrip(" ")


def in_sentences(code: str) -> str:
    return f"How can I get the slope of the loss here?\n\n{code}\nThis prints None, 为什么?\n"


def zero_width(code: str) -> str:
    return code.replace("tf.", "tf\u200b.").replace("(", "(\ufeff")
