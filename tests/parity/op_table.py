"""A tensor's shape in, expressions that may be made of it and their shapes out.

Everything keeps its numbers moderate, so that most programs stay finite. ``D`` and ``H`` are
dtypes that the program names in its head: finite differences want both wide.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass

Shape = tuple[int, ...]
LARGEST = 24


@dataclass(frozen=True)
class Operand:
    """A name of the program with a shape that is known."""

    name: str
    shape: Shape

    @property
    def size(self) -> int:
        return math.prod(self.shape)


Made = tuple[str, Shape]

SMOOTH = (
    "tf.sin({a})",
    "tf.cos({a})",
    "tf.tanh({a})",
    "tf.sigmoid({a})",
    "tf.exp(-tf.abs({a}))",
    "tf.square({a})",
    "-{a}",
    "tf.abs({a})",
    "tf.nn.relu({a})",
    "tf.nn.softplus({a})",
    "tf.nn.elu({a})",
    "tf.nn.leaky_relu({a})",
    "tf.math.log1p(tf.abs({a}))",
    "tf.sqrt(tf.abs({a}) + 0.5)",
    "tf.math.reciprocal(tf.abs({a}) + 1.0)",
    "tf.math.erf({a})",
    "tf.atan({a})",
    "tf.math.l2_normalize({a} + 0.1)",
    "{a} ** 3",
    "0.5 * {a} + 1.0",
    "tf.clip_by_value({a}, -0.8, 0.9)",
    "tf.identity({a})",
    "tf.where({a} > 0.0, {a}, 0.1 * {a})",
    "tf.cast(tf.cast({a}, H), D) * 1.0",
    "tf.grad_pass_through(tf.tanh)({a})",
    "tripled({a})",
)
CUT = (
    "tf.stop_gradient({a})",
    "tf.round({a})",
    "tf.sign({a})",
    "tf.floor({a})",
    "{a} // 0.3",
    "tf.cast(tf.cast({a} * 3.0, tf.int32), D)",
    "tf.cast({a} > 0.1, D)",
    "tf.constant({a}.numpy())",
    "tf.constant(np.sin(tf.abs({a})), D)",
)
ALONG = (
    "tf.nn.softmax({a})",
    "tf.nn.log_softmax({a})",
    "tf.cumsum({a})",
    "tf.reverse({a}, [0])",
    "tf.sort({a})",
    "tf.roll({a}, 1, 0)",
    "tf.concat([{a}[1:], {a}[:1]], 0)",
    "tf.gather({a}, tf.argsort({a}[(...,) + (0,) * (len({a}.shape) - 1)]))",
)
PAIRED = (
    "{a} + {b}",
    "{a} - {b}",
    "{a} * {b}",
    "{a} / (tf.abs({b}) + 1.0)",
    "tf.maximum({a}, {b})",
    "tf.minimum({a}, {b})",
    "tf.math.squared_difference({a}, {b})",
    "tf.atan2({a}, tf.abs({b}) + 1.0)",
    "tf.where({a} > {b}, tf.cos({a}), {b} * 1.0)",
    "tf.add_n([{a} * 1.0, {b} * 1.0, {a} * 1.0])",
    "{a} * tf.stop_gradient({b})",
)
REDUCED = (
    "tf.reduce_sum({a}{axis})",
    "tf.reduce_mean({a}{axis})",
    "tf.reduce_max({a}{axis})",
    "tf.reduce_min({a}{axis})",
    "tf.reduce_prod({a}{axis})",
    "tf.reduce_logsumexp({a}{axis})",
    "tf.norm({a} + 0.3{axis})",
    "tf.math.reduce_variance({a}{axis})",
)


def of_one(a: Operand) -> Iterator[Made]:
    """Everything that can be made of one operand."""
    for template in (*SMOOTH, *CUT):
        yield template.format(a=a.name), a.shape
    yield from _reduced(a)
    yield from _reshaped(a)
    if a.shape:
        for template in ALONG:
            yield template.format(a=a.name), a.shape


def of_two(a: Operand, b: Operand) -> Iterator[Made]:
    """Everything that can be made of two operands."""
    if a.shape == b.shape:
        for template in PAIRED:
            yield template.format(a=a.name, b=b.name), a.shape
        if a.size * 2 <= LARGEST:
            yield f"tf.stack([{a.name}, {b.name}])", (2, *a.shape)
    elif not b.shape or b.shape == a.shape[1:]:
        for template in PAIRED[:9]:
            yield template.format(a=a.name, b=b.name), a.shape
    if a.shape and b.shape and a.shape[1:] == b.shape[1:] and a.size + b.size <= LARGEST:
        yield f"tf.concat([{a.name}, {b.name}], 0)", (a.shape[0] + b.shape[0], *a.shape[1:])
    if len(a.shape) == 2 and len(b.shape) == 2 and a.shape[1] == b.shape[0]:
        yield f"tf.matmul({a.name}, {b.name})", (a.shape[0], b.shape[1])
    if len(a.shape) == 2 and b.shape == a.shape[1:]:
        yield f"tf.linalg.matvec({a.name}, {b.name})", a.shape[:1]
    if len(a.shape) == 1 and len(b.shape) == 1:
        yield f'tf.einsum("i,j->", {a.name}, {b.name})', ()
        if a.size * b.size <= LARGEST:
            yield f"tf.tensordot({a.name}, {b.name}, 0)", (*a.shape, *b.shape)


def _reduced(a: Operand) -> Iterator[Made]:
    for template in REDUCED:
        yield template.format(a=a.name, axis=""), ()
        if a.shape:
            yield template.format(a=a.name, axis=", axis=0"), a.shape[1:]
            kept = (*a.shape[:-1], 1)
            yield template.format(a=a.name, axis=", axis=-1, keepdims=True"), kept


def _reshaped(a: Operand) -> Iterator[Made]:
    size = a.size
    yield f"tf.reshape({a.name}, [{size}])", (size,)
    yield f"tf.expand_dims({a.name}, 0)", (1, *a.shape)
    if size % 2 == 0:
        yield f"tf.reshape({a.name}, [2, -1])", (2, size // 2)
    if len(a.shape) == 2:
        yield f"tf.transpose({a.name})", (a.shape[1], a.shape[0])
        if a.shape[0] ** 2 <= LARGEST:
            square = (a.shape[0], a.shape[0])
            yield f"tf.matmul({a.name}, {a.name}, transpose_b=True)", square
    if a.shape:
        rest = a.shape[1:]
        yield f"{a.name}[0]", rest
        yield f"{a.name}[-1:]", (1, *rest)
        yield f"tf.unstack({a.name} * 1.0)[-1]", rest
        yield f"tf.gather({a.name}, [0, -1 + {a.shape[0]}, 0])", (3, *rest)
        pads = ", ".join(["[1, 0]"] + ["[0, 0]"] * len(rest))
        yield f"tf.pad({a.name}, [{pads}])", (a.shape[0] + 1, *rest)
        if 1 in a.shape:
            squeezed = tuple(size for size in a.shape if size != 1)
            yield f"tf.squeeze({a.name})", squeezed
        if size * 2 <= LARGEST:
            times = ", ".join(["2"] + ["1"] * len(rest))
            yield f"tf.tile({a.name}, [{times}])", (a.shape[0] * 2, *rest)
