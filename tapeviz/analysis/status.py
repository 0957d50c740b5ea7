"""Tell the status of a gradient: it flows, or it is None, zero, NaN or infinite."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from ..trace.calls import Call
from ..trace.ids import TensorId
from ..trace.model import Trace
from ..trace.stats import Stats
from .findings import Finding, Status

if TYPE_CHECKING:
    from .model import CallDiagnosis
    from .rounds.call_sites import SourceSeries

STATUS_WORDS: dict[Status, str] = {
    "flows": "flows",
    "none": "None",
    "zero": "zero",
    "nonfinite": "NaN",
}
WORST_FIRST: tuple[Status, ...] = ("none", "nonfinite", "zero", "flows")

BOTH = "NaN or Inf"


def word_of(finding: Finding) -> str:
    """``flows``, ``None``, ``zero``, ``NaN``, ``Inf`` or ``NaN or Inf``."""
    return finding.nonfinite or STATUS_WORDS[finding.status]


def round_word(series: SourceSeries, number: int) -> str:
    """The same of a round (from 1); empty where it asked for no such source."""
    status = series.statuses[number - 1]
    return "" if status is None else series.nonfinite.get(number) or STATUS_WORDS[status]


def joint_word(words: Iterable[str]) -> str:
    """One word for gradients of one status."""
    found = set(words)
    return found.pop() if len(found) == 1 else BOTH


def nonfinite_word(stats: Stats | None) -> str:
    """``NaN``, ``Inf`` or ``NaN or Inf``; empty where all elements are finite."""
    if stats is None or not stats.nonfinite:
        return ""
    return BOTH if stats.nan and stats.inf else "NaN" if stats.nan else "Inf"


def status_of(trace: Trace, gradient: TensorId | None) -> Status:
    """``none``, ``zero`` (every element exactly 0), ``nonfinite`` or ``flows``."""
    if gradient is None:
        return "none"
    stats = trace.stats(gradient)
    if stats is None:
        return "flows"
    if stats.nonfinite:
        return "nonfinite"
    return "zero" if is_zero(stats) else "flows"


def is_troubled(trace: Trace, call: Call) -> bool:
    """Whether a gradient that a call gave does not flow."""
    results = call.results[: len(call.sources)]
    return any(status_of(trace, result) != "flows" for result in results)


def is_zero(stats: Stats | None) -> bool:
    """Whether all elements are exactly 0; so they are where there is none."""
    if stats is None or stats.nonfinite:
        return False
    return not (stats.min or stats.max) if stats.has_range else not stats.norm


def lacks_bridge(call: CallDiagnosis) -> str:
    """The reason why no gradient across a cut of a call can be shown; empty if one can be."""
    if call.bridged is not None:
        return ""
    reason = next((finding.no_bridge for finding in call.findings if finding.no_bridge), "")
    if reason:
        return f"No gradient across the cut: {reason}"
    if not call.is_troubled:
        return "Nothing is cut here: every gradient flows"
    return "There is no gradient across a cut to show here"
