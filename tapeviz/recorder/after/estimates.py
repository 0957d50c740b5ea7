"""Estimate the gradient of the inputs of an op that has no slope.

Straight-through: what rounds passes the gradient on as if it were not there (Bengio, Léonard and
Courville 2013); a comparison slopes like a sigmoid, the place of the largest like a softmax.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import tensorflow as tf

from .assigns import summed_to

STOPS = frozenset({"StopGradient", "PreventGradient"})


class Flat(NamedTuple):
    """An op without a slope: its type, attributes, inputs and outputs."""

    type: str
    attrs: dict[str, Any]
    inputs: list[Any]
    outputs: list[Any]


class Picks:
    """The gradient of an index: how the target would change for each other index.

    ``of(n)``: for n indices a tensor of the shape of the index with one more axis of length n, the
    last.
    """

    def __init__(self, of: Callable[[int], Any]) -> None:
        self.of = of


Rule = Callable[[Flat, Any], Sequence[Any]]


def estimate(op: Flat, upstream: Any) -> Sequence[Any] | None:
    """A gradient, :class:`Picks` or None for each input; None if the op has a slope of its own.

    Raises ``ValueError`` where shapes do not allow an estimate.
    """
    rule = _RULES.get(op.type)
    if rule is None and op.outputs[0].dtype.is_integer:
        rule = _WHOLE.get(op.type)
    return rule(op, upstream) if rule is not None else None


def _pass(op: Flat, upstream: Any) -> list[Any]:
    return [upstream]


def _cast(op: Flat, upstream: Any) -> list[Any]:
    if isinstance(upstream, Picks):
        return [upstream]
    dtype = op.inputs[0].dtype
    return [tf.cast(upstream, dtype if dtype.is_floating else _real(upstream))]


def _real(upstream: Any) -> Any:
    return upstream.dtype if upstream.dtype.is_floating else tf.float32


def _divided(op: Flat, upstream: Any) -> list[Any]:
    """The gradients of ``a / b``, as an estimate for ``a // b``."""
    a, b = (tf.cast(tensor, upstream.dtype) for tensor in op.inputs)
    return _both(op, upstream / b, -upstream * a / (b * b))


def _remainder(op: Flat, upstream: Any) -> list[Any]:
    """The gradients of ``a - b * n`` with a constant n, as an estimate for ``a % b``."""
    a, b = (tf.cast(tensor, upstream.dtype) for tensor in op.inputs)
    return _both(op, upstream + tf.zeros_like(b), -upstream * tf.floor(a / b))


def _compared(sign: float) -> Rule:
    def rule(op: Flat, upstream: Any) -> list[Any]:
        a, b = (tf.cast(tensor, _real(upstream)) for tensor in op.inputs)
        slope = tf.sigmoid(a - b) * tf.sigmoid(b - a)
        return _both(op, sign * upstream * slope, -sign * upstream * slope)

    return rule


def _both(op: Flat, first: Any, second: Any) -> list[Any]:
    return [summed_to(first, op.inputs[0].shape), summed_to(second, op.inputs[1].shape)]


def _chosen(op: Flat, upstream: Any) -> list[Any]:
    """An estimate for the condition of a ``where``: how much more the target gains by the first
    branch."""
    condition, x, y = op.inputs
    worth = summed_to(upstream * (x - y), condition.shape)
    zeros = tf.zeros_like(upstream)
    return [
        worth,
        summed_to(tf.where(condition, upstream, zeros), x.shape),
        summed_to(tf.where(condition, zeros, upstream), y.shape),
    ]


def _largest(sign: float) -> Rule:
    def rule(op: Flat, upstream: Any) -> list[Any]:
        given, axis = op.inputs[0], int(op.inputs[1])
        count = given.shape[axis]
        chances = tf.nn.softmax(sign * given, axis)
        if isinstance(upstream, Picks):
            gains = tf.cast(_moved(upstream.of(count), axis), given.dtype)
        else:
            shape = [1] * given.shape.rank
            shape[axis] = count
            places = tf.reshape(tf.range(count, dtype=given.dtype), shape)
            gains = tf.expand_dims(tf.cast(upstream, given.dtype), axis) * places
        mean = tf.reduce_sum(chances * gains, axis, keepdims=True)
        return [sign * chances * (gains - mean), None]

    return rule


def _moved(gains: Any, axis: int) -> Any:
    """Move the last axis to the place of ``axis``."""
    rank = gains.shape.rank
    order = list(range(rank - 1))
    order.insert(axis % rank, rank - 1)
    return tf.transpose(gains, order)


def _one_hot(op: Flat, upstream: Any) -> list[Any]:
    axis = op.attrs.get("axis")
    axis = -1 if axis is None else int(axis)
    depth, on, off = op.inputs[1:4]
    rank = upstream.shape.rank
    order = [other_axis for other_axis in range(rank) if other_axis != axis % rank] + [axis % rank]
    gains = tf.transpose(upstream, order) * tf.cast(on - off, upstream.dtype)

    def of(count: int) -> Any:
        if count != int(depth):
            raise ValueError("as many choices as the depth of one_hot are needed")
        return gains

    return [Picks(of), None, None, None]


def _gathered(op: Flat, upstream: Any) -> list[Any]:
    params, indices, axis = op.inputs
    if op.attrs.get("batch_dims") or int(axis) != 0:
        raise ValueError("only a choice among the first axis is followed")
    rows = tf.reshape(upstream, [-1, max(1, params.shape[1:].num_elements())])
    gains = tf.matmul(rows, tf.reshape(params, [params.shape[0], -1]), transpose_b=True)
    flat = tf.reshape(upstream, [-1, *params.shape[1:]])
    given = tf.math.unsorted_segment_sum(flat, tf.reshape(indices, [-1]), params.shape[0])
    return [given, Picks(lambda count: tf.reshape(gains, [*indices.shape, count])), None]


def _equal(op: Flat, upstream: Any) -> list[Any]:
    """Whether a position is the one wanted: what each choice gains is 1 at that one."""

    def picks(wanted: Any) -> Picks:
        return Picks(
            lambda count: (
                tf.expand_dims(upstream, -1) * tf.one_hot(wanted, count, dtype=upstream.dtype)
            )
        )

    a, b = op.inputs
    return [picks(b), picks(a)] if a.dtype.is_integer and a.shape == b.shape else [None, None]


def _arithmetic(op: Flat, upstream: Any) -> list[Any]:
    """The gradients of the same arithmetic on real numbers."""
    real = _real(upstream)
    a, b = (tf.cast(tensor, real) for tensor in op.inputs)
    upstream = tf.cast(upstream, real)
    if op.type == "Mul":
        return _both(op, upstream * b, upstream * a)
    if op.type == "Pow":
        return [summed_to(upstream * b * tf.pow(a, b - 1), op.inputs[0].shape), None]
    sign = -1.0 if op.type == "Sub" else 1.0
    return _both(op, upstream + tf.zeros_like(b), sign * upstream + tf.zeros_like(a))


def _own_sign(op: Flat, upstream: Any) -> list[Any]:
    sign = tf.sign(op.inputs[0]) if op.type == "Abs" else -tf.ones_like(op.inputs[0])
    return [tf.cast(upstream, _real(upstream)) * tf.cast(sign, _real(upstream))]


def _squared(op: Flat, upstream: Any) -> list[Any]:
    return [2.0 * tf.cast(op.inputs[0], _real(upstream)) * tf.cast(upstream, _real(upstream))]


_ROUNDING = ("Round", "Rint", "Floor", "Ceil", "Sign", *STOPS)
_RULES: dict[str, Rule] = {
    **dict.fromkeys(_ROUNDING, _pass),
    "Cast": _cast,
    "FloorDiv": _divided,
    "TruncateDiv": _divided,
    "FloorMod": _remainder,
    **dict.fromkeys(("Greater", "GreaterEqual"), _compared(1.0)),
    **dict.fromkeys(("Less", "LessEqual"), _compared(-1.0)),
    "SelectV2": _chosen,
    "ArgMax": _largest(1.0),
    "ArgMin": _largest(-1.0),
    "OneHot": _one_hot,
    "GatherV2": _gathered,
    "Equal": _equal,
}
_WHOLE: dict[str, Rule] = {
    **dict.fromkeys(("AddV2", "Add", "Sub", "Mul", "Pow"), _arithmetic),
    "Square": _squared,
    "Abs": _own_sign,
    "Neg": _own_sign,
}
