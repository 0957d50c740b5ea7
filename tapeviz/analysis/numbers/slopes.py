"""Slopes that are 0 because of what a gradient function leaves aside, or of a dtype's limits."""

from __future__ import annotations

from math import inf, sqrt

import numpy as np

from ...trace.calls import Step
from ...trace.ids import TensorId
from ...trace.op_kinds import ops_with
from ...trace.ops import Op
from ..call_facts import CallFacts
from ..status import is_zero

_FOLLOWED = {"LogMatrixDeterminant": 1}
"""The output whose gradient alone is used, of ops with several: the sign of a determinant has no
slope (``_LogMatrixDeterminantGrad`` in linalg_grad.py, 2.15-2.21)."""
_PRODUCTS = ops_with("product")
_DECOMPOSING = frozenset({"SelfAdjointEigV2", "Svd"})


def is_of_other_output(facts: CallFacts, step: Step | None, op: Op) -> bool:
    """Whether a gradient came only for outputs whose gradients the gradient function ignores."""
    followed = _FOLLOWED.get(op.type)
    if followed is None or step is None or followed >= len(step.upstream):
        return False
    given = step.upstream[followed]
    return given is None or is_zero(facts.trace.stats(given))


def becomes_complex(facts: CallFacts, op: Op) -> bool:
    """Whether a cast makes complex numbers of real ones: of the gradient it takes the real part."""
    is_cast = op.type == "Cast" and facts.dtype(op.outputs[0]).startswith("complex")
    return is_cast and not facts.dtype(op.inputs[0]).startswith("complex")


def has_equal_values(facts: CallFacts, op: Op) -> bool:
    """Whether two eigenvalues, or singular values, are equal: the slope of their vectors is not
    defined there, and is taken as 0 (``_SafeReciprocal`` and ``_SvdGrad`` in linalg_grad.py,
    2.15-2.21)."""
    values = facts.trace.value(op.outputs[0]) if op.type in _DECOMPOSING else None
    return values is not None and bool((np.diff(np.sort(values)) == 0).any())


SLOPED = {
    **dict.fromkeys(("Erf", "Softsign", "Tanh"), (-1.0, 1.0)),
    **dict.fromkeys(("Exp", "Relu", "Softplus"), (0.0, inf)),
    "Elu": (-1.0, inf),
    "Relu6": (0.0, 6.0),
    "Sigmoid": (0.0, 1.0),
}
"""Ops of one input, with the open range of their outputs for which they have a slope."""


def has_no_element(facts: CallFacts, tensor: TensorId) -> bool:
    known = facts.trace.tensors.get(tensor)
    return known is not None and known.size == 0


def is_underflow(facts: CallFacts, step: Step, op: Op, smallest: float) -> bool:
    """Whether the upstream gradient times each input is below the smallest number of the dtype."""
    if op.type != "Cast" and op.type not in _PRODUCTS:
        return False
    upstream = largest(facts, step.upstream[0]) if step.upstream else 0.0
    factors = [1.0] if op.type == "Cast" else [largest(facts, tensor) for tensor in op.inputs]
    return 0 < upstream * max(factors) < smallest


def has_slope_everywhere(facts: CallFacts, op: Op) -> bool:
    """Whether the slope is not 0 at any element, by the values that the op gave. No floating-point
    number is a zero of the cosine, which is the slope of ``Sin``."""
    if op.type == "Sin":
        return True
    stats = facts.trace.stats(op.outputs[0]) if op.outputs else None
    if op.type not in SLOPED or stats is None or stats.min is None or stats.max is None:
        return False
    low, high = SLOPED[op.type]
    return stats.has_range and low < stats.min and stats.max < high


def largest(facts: CallFacts, tensor: TensorId | None) -> float:
    """The largest absolute value of the elements, of a large tensor their root mean square."""
    stats = facts.trace.stats(tensor) if tensor is not None else None
    if stats is None or tensor is None:
        return 0.0
    if stats.has_range:
        return max(abs(stats.min or 0.0), abs(stats.max or 0.0))
    return (stats.norm or 0.0) / sqrt(facts.trace.tensors[tensor].size or 1)


def is_by_element(facts: CallFacts, step: Step, op: Op) -> bool:
    """Whether each element of the gradients given is one of the upstream gradient times a slope.

    Where an input was broadcast, elements were added up, and may have cancelled.
    """
    known = facts.trace.tensors
    given = {t for t, gradient in zip(step.taken(op), step.downstream, strict=False) if gradient}
    return all(known[t].size == known[op.outputs[0]].size for t in given)


_ELEMENT_PRODUCTS = frozenset({"Prod", "Cumprod", "SegmentProd", "UnsortedSegmentProd"})


def zeros_multiplied(facts: CallFacts, op: Op) -> int | None:
    """The number of zeros among the elements that an op multiplies with each other; None if it does
    not do so, or they are not known."""
    if op.type not in _ELEMENT_PRODUCTS or not op.inputs:
        return None
    value = facts.trace.value(op.inputs[0])
    return None if value is None else int((value == 0).sum())
