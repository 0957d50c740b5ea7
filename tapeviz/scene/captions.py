"""A call and the wires drawn in, the picture's title and the entries of its legend out."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from ..analysis.model import CallDiagnosis, Finding
from .model import LegendEntry, Wire
from .rings import STATUS_WORDS
from .strokes import wire_look
from .text import clean, shorten

_WORDS = {
    "gradient": "gradient",
    "pending": "not walked yet",
    "recorded": "value",
    "unrecorded": "not recorded",
    "cut": "cut",
    "bridge": "across the cut",
}
_MOST = 3


def legend_of(wires: Iterable[Wire]) -> tuple[LegendEntry, ...]:
    """One entry for each look that occurs, always in the same order."""
    looks = {wire_look(wire) for wire in wires}
    return tuple(LegendEntry(look, words) for look, words in _WORDS.items() if look in looks)


def title_of(shown: CallDiagnosis | None) -> str:
    """``∂o/∂patch · None``; ``∂loss/∂(w, b) · flows``; empty without a call."""
    if shown is None or not shown.findings:
        return ""
    findings = shown.findings
    targets = list(dict.fromkeys(shorten(clean(f.target), 24) for f in findings))
    sources = list(dict.fromkeys(shorten(clean(f.source), 24) for f in findings))
    return f"∂{_joined(targets)}/∂{_joined(sources)} · {_outcome(findings)}"


def _joined(names: Sequence[str]) -> str:
    if len(names) == 1:
        name = names[0]
        return f"({name})" if "," in name and not name.endswith(")") else name
    shown = ", ".join(names[:_MOST])
    return f"({shown}, …)" if len(names) > _MOST else f"({shown})"


def _outcome(findings: Sequence[Finding]) -> str:
    statuses = [f.status for f in findings]
    worst = next((s for s in ("none", "nonfinite", "zero") if s in statuses), None)
    if worst is None:
        return "flows"
    words = STATUS_WORDS[worst]
    count = statuses.count(worst)
    return words if count == len(statuses) else f"{count} of {len(statuses)} {words}"
