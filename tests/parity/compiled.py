"""Cuts, zeros and NaN inside of a ``tf.function``, with the kind and line of each."""

from __future__ import annotations

from dataclasses import dataclass
from textwrap import dedent


@dataclass(frozen=True)
class Case:
    """``status``, ``kind`` and ``line`` are those of the compiled function, as TensorFlow runs it.

    ``is_whole``: what the gradient across the cut would be comes out as well.
    """

    name: str
    text: str
    status: str
    kind: str
    line: int
    is_whole: bool = True


def _case(
    name: str, body: str, status: str, kind: str, line: int, *, is_whole: bool = True
) -> Case:
    """``body``: of a function of ``x``, which begins on line 6."""
    text = """
        import tensorflow as tf
        v = tf.Variable([0.5, 0.25])
        x = tf.Variable([1.0, 2.0])
        @tf.function
        def f(x):
        {body}
        with tf.GradientTape() as tape:
            y = f(x)
        g = tape.gradient(y, x)
        """
    lines = dedent(text).lstrip("\n")
    inside = "\n".join(f"    {line}" for line in dedent(body).strip().splitlines())
    return Case(name, lines.replace("{body}", inside), status, kind, line, is_whole)


CASES = (
    _case(
        "assign",
        """
        v.assign(x * 2.0)
        return tf.reduce_sum(v * v)
        """,
        *("none", "assign", 6),
    ),
    _case(
        "stop_gradient",
        """
        z = tf.stop_gradient(x)
        return tf.reduce_sum(z * z)
        """,
        *("none", "stop-gradient", 6),
    ),
    _case(
        "argmax",
        """
        i = tf.argmax(x)
        return tf.cast(i, tf.float32) * 2.0
        """,
        *("none", "not-differentiable", 6),
    ),
    _case(
        "a cast to integers",
        """
        i = tf.cast(x, tf.int32)
        return tf.reduce_sum(tf.cast(i, tf.float32))
        """,
        *("none", "integer", 6),
    ),
    _case("an unused argument", "return tf.reduce_sum(v)", "none", "not-connected", 9),
    _case(
        "the branch that was taken",
        """
        if tf.reduce_sum(x) > 0.0:
            y = tf.stop_gradient(x)
        else:
            y = tf.round(x)
        return tf.reduce_sum(y * 2.0)
        """,
        *("none", "stop-gradient", 7),
    ),
    _case(
        "a loop",
        """
        y = x
        for _ in tf.range(3):
            y = tf.stop_gradient(y) * 2.0
        return tf.reduce_sum(y)
        """,
        # A compiled loop gives zeros where its body gives None.
        *("zero", "stop-gradient", 8),
        is_whole=False,
    ),
    _case(
        "a dead relu",
        """
        h = tf.nn.relu(x - 5.0)
        return tf.reduce_sum(h * 3.0)
        """,
        *("zero", "saturated", 6),
        is_whole=False,
    ),
    _case(
        "a norm at 0",
        """
        n = tf.norm(x - x)
        return n * 2.0
        """,
        *("nonfinite", "nonfinite", 6),
        is_whole=False,
    ),
)
