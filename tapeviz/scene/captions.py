"""Write the title and the legend of a picture."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from ..analysis.findings import Finding
from ..analysis.model import CallDiagnosis
from .model import Box, LegendEntry, Wire
from .parts.doubts import LEGEND_WORDS
from .parts.rings import status_words
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
_LONGEST = 28


def legend_of(wires: Iterable[Wire], boxes: Iterable[Box] = ()) -> tuple[LegendEntry, ...]:
    """An entry for each look of the wires and each doubt on the boxes, in a fixed order."""
    looks = {wire_look(wire) for wire in wires}
    looks.update(box.doubt for box in boxes)
    words = {**_WORDS, **LEGEND_WORDS}
    return tuple(LegendEntry(look, text) for look, text in words.items() if look in looks)


def title_of(shown: CallDiagnosis | None) -> str:
    """``∂o/∂patch · None``; ``∂loss/∂(w, b) · flows``; empty without a call."""
    if shown is None or not shown.findings:
        return ""
    findings = shown.findings
    targets = list(dict.fromkeys(clean(f.target) for f in findings))
    sources = list(dict.fromkeys(clean(f.source) for f in findings))
    return f"∂{_joined(targets)}/∂{_joined(sources)} · {_outcome(findings)}"


def _joined(names: Sequence[str]) -> str:
    if len(names) == 1:
        name = shorten(names[0], _LONGEST)
        return f"({name})" if "," in name and not name.endswith(")") else name
    shown = ", ".join(_last_part(name) for name in names[:_MOST])
    return f"({shown}, …)" if len(names) > _MOST else f"({shown})"


def _last_part(name: str) -> str:
    """The last two parts of a Keras path; the tooltip has the whole name."""
    return shorten("/".join(name.split("/")[-2:]), _LONGEST // 2 + 2)


def _outcome(findings: Sequence[Finding]) -> str:
    statuses = [finding.status for finding in findings]
    worst = next((s for s in ("none", "nonfinite", "zero") if s in statuses), None)
    if worst is None:
        return "flows"
    bad = [finding for finding in findings if finding.status == worst]
    words = " or ".join(dict.fromkeys(status_words(finding) for finding in bad))
    return words if len(bad) == len(statuses) else f"{len(bad):,} of {len(statuses):,} {words}"
