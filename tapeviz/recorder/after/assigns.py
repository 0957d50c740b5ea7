"""Split the gradient of a state after an assign into that of the value and of the state before.

TensorFlow has no gradient for these ops: no tape records them. They are linear in the assigned
value and in the state before, so the gradient is a slice, a gather or a mask of the one that came.
:func:`after` is the same ops forward, on tensors.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
import tensorflow as tf


class Assign(NamedTuple):
    """An assign that ran: its inputs without the handle, the value last; its attributes."""

    type: str
    operands: list[Any]
    attrs: dict[str, Any]


class Split(NamedTuple):
    """The gradients of the assigned value and of the state before it (``None``: no gradient)."""

    value: Any
    prior: Any


class NoGradient(Exception):
    """The op has no gradient here; the words say why."""


def split(assign: Assign, gradient: Any) -> Split:
    """Share out the gradient of the state after ``assign``. Raises :class:`NoGradient`."""
    rule = _RULES.get(assign.type)
    if rule is None:
        raise NoGradient(f"no gradient is known for the values that {assign.type} writes")
    value, prior = rule(assign, gradient)
    if value is not None and assign.operands:
        value = summed_to(value, assign.operands[-1].shape)
    return Split(value, prior)


def _whole(assign: Assign, gradient: Any) -> tuple[Any, Any]:
    return gradient, None


def _add(assign: Assign, gradient: Any) -> tuple[Any, Any]:
    return gradient, gradient


def _subtract(assign: Assign, gradient: Any) -> tuple[Any, Any]:
    return tf.negative(gradient), gradient


def _slice(assign: Assign, gradient: Any) -> tuple[Any, Any]:
    where = _where(assign)
    value = tf.raw_ops.StridedSlice(input=gradient, **where)
    rest = tf.raw_ops.TensorStridedSliceUpdate(input=gradient, value=tf.zeros_like(value), **where)
    return value, rest


def _where(assign: Assign) -> dict[str, Any]:
    """The arguments of ``StridedSlice`` for the part that an assign to a slice writes."""
    names = ("begin_mask", "end_mask", "ellipsis_mask", "new_axis_mask", "shrink_axis_mask")
    begin, end, strides, _ = assign.operands
    where = {name: assign.attrs.get(name, 0) for name in names}
    return where | {"begin": begin, "end": end, "strides": strides}


def _scatter(sign: int, keeps: bool, is_nd: bool) -> Callable[[Assign, Any], tuple[Any, Any]]:
    """``ResourceScatter…``: rows named by indices; ``Nd``: slices named by index vectors."""
    gather = tf.gather_nd if is_nd else tf.gather

    def rule(assign: Assign, gradient: Any) -> tuple[Any, Any]:
        places = assign.operands[0]
        value = gather(gradient, places)
        if keeps:
            return value if sign > 0 else tf.negative(value), gradient
        places = places if is_nd else tf.expand_dims(places, -1)
        return value * _last_ones(places, value), _without(gradient, places, value)

    return rule


def _descent(assign: Assign, gradient: Any) -> tuple[Any, Any]:
    """``var -= alpha * delta``."""
    return tf.negative(assign.operands[0] * gradient), gradient


def _without(gradient: Any, places: Any, value: Any) -> Any:
    return tf.tensor_scatter_nd_update(gradient, places, tf.zeros_like(value))


def _last_ones(places: Any, value: Any) -> Any:
    """1 for the last of several updates of one place, 0 for those that it overwrote."""
    depth = int(places.shape[-1])
    rows = np.asarray(places.numpy()).reshape(-1, depth)
    last = {tuple(row): number for number, row in enumerate(rows)}
    ones = np.zeros(len(rows))
    ones[list(last.values())] = 1.0
    lead = list(places.shape[:-1])
    shape = lead + [1] * (len(value.shape) - len(lead))
    return tf.cast(tf.reshape(tf.constant(ones), shape), value.dtype)


def summed_to(gradient: Any, shape: Any) -> Any:
    """The gradient of a value that was broadcast: summed over what was repeated."""
    if gradient.shape == shape:
        return gradient
    extra = len(gradient.shape) - len(shape)
    gradient = tf.reduce_sum(gradient, axis=list(range(extra))) if extra > 0 else gradient
    repeated = [axis for axis, size in enumerate(shape) if size == 1 and gradient.shape[axis] != 1]
    if repeated:
        gradient = tf.reduce_sum(gradient, axis=repeated, keepdims=True)
    return tf.reshape(gradient, shape)


_RULES: dict[str, Callable[[Assign, Any], tuple[Any, Any]]] = {
    "AssignVariableOp": _whole,
    "AssignAddVariableOp": _add,
    "AssignSubVariableOp": _subtract,
    "ResourceStridedSliceAssign": _slice,
    "ResourceScatterUpdate": _scatter(1, keeps=False, is_nd=False),
    "ResourceScatterAdd": _scatter(1, keeps=True, is_nd=False),
    "ResourceScatterSub": _scatter(-1, keeps=True, is_nd=False),
    "ResourceScatterNdUpdate": _scatter(1, keeps=False, is_nd=True),
    "ResourceScatterNdAdd": _scatter(1, keeps=True, is_nd=True),
    "ResourceScatterNdSub": _scatter(-1, keeps=True, is_nd=True),
    "ResourceApplyGradientDescent": _descent,
}


def is_write(op_type: str) -> bool:
    """Whether such an op changes the variable that is its first input."""
    return op_type in _FORWARD or op_type.startswith(("ResourceApply", "ResourceSparseApply"))


def after(assign: Assign, prior: Any) -> Any:
    """The state after ``assign``; ``None`` where it does not follow from what is known."""
    rule = _FORWARD.get(assign.type)
    if rule is None or (prior is None and assign.type != "AssignVariableOp"):
        return None
    return rule(assign, prior)


def _sliced(assign: Assign, prior: Any) -> Any:
    where = _where(assign)
    value = tf.broadcast_to(
        assign.operands[-1], tf.raw_ops.StridedSlice(input=prior, **where).shape
    )
    return tf.raw_ops.TensorStridedSliceUpdate(input=prior, value=value, **where)


def _scattered(write: Callable[..., Any], is_nd: bool) -> Callable[[Assign, Any], Any]:
    def rule(assign: Assign, prior: Any) -> Any:
        places, value = assign.operands
        if not is_nd:
            value = tf.broadcast_to(value, [*places.shape, *prior.shape[1:]])
            places = tf.expand_dims(places, -1)
        return write(prior, places, value)

    return rule


_FORWARD: dict[str, Callable[[Assign, Any], Any]] = {
    "AssignVariableOp": lambda assign, prior: assign.operands[-1],
    "AssignAddVariableOp": lambda assign, prior: prior + assign.operands[-1],
    "AssignSubVariableOp": lambda assign, prior: prior - assign.operands[-1],
    "ResourceStridedSliceAssign": _sliced,
    "ResourceScatterUpdate": _scattered(tf.tensor_scatter_nd_update, is_nd=False),
    "ResourceScatterAdd": _scattered(tf.tensor_scatter_nd_add, is_nd=False),
    "ResourceScatterSub": _scattered(tf.tensor_scatter_nd_sub, is_nd=False),
    "ResourceScatterNdUpdate": _scattered(tf.tensor_scatter_nd_update, is_nd=True),
    "ResourceScatterNdAdd": _scattered(tf.tensor_scatter_nd_add, is_nd=True),
    "ResourceScatterNdSub": _scattered(tf.tensor_scatter_nd_sub, is_nd=True),
    "ResourceApplyGradientDescent": lambda assign, prior: (
        prior - assign.operands[0] * assign.operands[1]
    ),
}
