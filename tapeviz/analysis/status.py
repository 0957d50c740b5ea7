"""A gradient in, its status out."""

from __future__ import annotations

from ..trace.model import Stats, TensorId, Trace
from .model import Status

STATUS_WORDS: dict[Status, str] = {
    "flows": "flows",
    "none": "None",
    "zero": "zero",
    "nonfinite": "NaN",
}
WORST_FIRST: tuple[Status, ...] = ("none", "nonfinite", "zero", "flows")


def status_of(trace: Trace, gradient: TensorId | None) -> Status:
    """``none``, ``zero`` (every element exactly 0), ``nonfinite`` or ``flows``."""
    if gradient is None:
        return "none"
    stats = trace.stats(trace.fetched.get(gradient, gradient))
    if stats is None:
        return "flows"
    if stats.nonfinite:
        return "nonfinite"
    return "zero" if is_zero(stats) else "flows"


def is_zero(stats: Stats | None) -> bool:
    """Whether all elements are exactly 0; so they are where there is none."""
    return stats is not None and not (stats.nonfinite or stats.min or stats.max)
