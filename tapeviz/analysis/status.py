"""A gradient in, its status out."""

from __future__ import annotations

from ..trace.model import TensorId, Trace
from .model import Status


def status_of(trace: Trace, gradient: TensorId | None) -> Status:
    """``none``, ``zero`` (every element exactly 0), ``nonfinite`` or ``flows``."""
    if gradient is None:
        return "none"
    stats = trace.stats(trace.fetched.get(gradient, gradient))
    if stats is None:
        return "flows"
    if stats.nonfinite:
        return "nonfinite"
    return "zero" if stats.min == stats.max == 0 or _is_empty(trace, gradient) else "flows"


def _is_empty(trace: Trace, tensor: TensorId) -> bool:
    """Of no elements all are 0."""
    known = trace.tensors.get(tensor)
    return known is not None and known.shape is not None and 0 in known.shape
