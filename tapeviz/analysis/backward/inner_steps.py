"""Compare the steps inside of a compiled op, computed after the run, with what TensorFlow gave."""

from __future__ import annotations

from typing import Literal

import numpy as np

from ...trace.calls import Replay, Step
from ...trace.model import Trace
from ...trace.stats import Array
from ...trace.values import norm_of

StepAgreement = Literal["equal", "near", "differs", "unknown"]
"""``equal``: bit for bit; ``near``: but for rounding; ``unknown``: no values can be compared."""

_HALVES = ("float16", "bfloat16")
_ROUNDING, _ROUNDING_OF_HALVES = 1e-3, 0.1
"""Parts of the largest element by which sums of many steps may differ."""
_NOISE = 4 * float(np.finfo(np.float32).eps)
"""Part of the largest element of all gradients below which one may be rounding alone: that of the
bias of an attention's keys is zero but for it."""


def agreement(trace: Trace, step: Step, inner: Replay) -> StepAgreement:
    """How the sums of the steps inside compare with the gradients that the op as a whole gave."""
    op = trace.op(step.op)
    if op is None:
        return "unknown"
    pairs = []
    for tensor, given in zip(step.taken(op), step.downstream, strict=False):
        value, other = trace.value(given), trace.value(inner.results.get(str(tensor)))
        if value is not None and other is not None and value.shape == other.shape:
            pairs.append((trace.tensors[tensor].dtype, value, other))
    sizes = [_largest(value) for _, value, _ in pairs]
    largest = max(sizes, default=0.0)
    found: set[StepAgreement] = set()
    for (dtype, value, other), size in zip(pairs, sizes, strict=True):
        part = _ROUNDING_OF_HALVES if dtype in _HALVES else _ROUNDING
        slack = max(part * size, _NOISE * largest)
        is_near = np.allclose(value, other, 0.0, slack, equal_nan=True)
        is_same = value.tobytes() == other.tobytes()
        found.add("equal" if is_same else "near" if is_near else "differs")
    words: tuple[StepAgreement, ...] = ("differs", "near", "equal")
    return next((word for word in words if word in found), "unknown")


def _largest(value: Array) -> float:
    return float(np.max(np.abs(value), initial=0.0, where=np.isfinite(value)))


def trouble_of(trace: Trace, step: Step, inner: Replay) -> str:
    """Why the steps inside do not stand for the step; empty if they do."""
    error = next((each.error for each in inner.steps if each.error), "")
    if error:
        return error
    op = trace.op(step.op)
    if op is not None:
        for tensor, gradient in zip(step.taken(op), step.downstream, strict=False):
            is_given = gradient is not None and (norm_of(trace, gradient) or 0.0) > 0.0
            if is_given and str(tensor) not in inner.results:
                return "not all values inside of it are known"
    if agreement(trace, step, inner) == "differs":
        return (
            "they do not add up to what TensorFlow gave; values in there had gradients of their "
            "own, as in a second derivative, or a variable that a custom gradient reads has "
            "changed since"
        )
    return ""
