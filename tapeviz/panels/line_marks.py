"""The document in, the marks that stand at the lines of its text out."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from ..analysis.model import CallDiagnosis, Status
from ..document import Document

Tint = Literal["", "trouble", "call", "step"]
BADGES: dict[Status, str] = {"none": "None", "zero": "zero", "nonfinite": "NaN", "flows": "✓"}
WORST: tuple[Status, ...] = ("none", "nonfinite", "zero", "flows")


@dataclass(frozen=True, slots=True)
class LineMark:
    """``tint``: of the whole line; ``bar``: a red bar at its left edge; ``badge``: at its right;
    ``sign``: beside its number (``source``, ``target``, ``step``, ``error``)."""

    line: int
    tint: Tint = ""
    has_bar: bool = False
    badge: str = ""
    is_good: bool = False
    sign: str = ""
    tip: str = ""


def marks_of(document: Document) -> tuple[LineMark, ...]:
    """All marks, those that matter most last; lines edited since the run have none."""
    marks = [
        *_operand_marks(document),
        *(mark for call in document.diagnosis.calls for mark in _call_marks(call)),
        *_error_marks(document),
        *_step_marks(document),
    ]
    moved = []
    for mark in marks:
        line = document.text.line_now(mark.line)
        if line:
            moved.append(LineMark(line, *_rest(mark)))
    return tuple(moved)


def _rest(mark: LineMark) -> tuple[Tint, bool, str, bool, str, str]:
    return mark.tint, mark.has_bar, mark.badge, mark.is_good, mark.sign, mark.tip


def _operand_marks(document: Document) -> list[LineMark]:
    call = document.current_call
    if call is None:
        return []
    marks = []
    for tensors, sign in ((call.flow.sources, "source"), (call.flow.targets, "target")):
        for tensor in list(tensors)[:50]:
            node = document.links.node_of_tensor(tensor)
            line = document.links.nodes[node].line if node else 0
            marks.append(LineMark(line, sign=sign, tip=f"{sign} of the gradient"))
    return marks


def _call_marks(call: CallDiagnosis) -> list[LineMark]:
    marks = []
    for finding in call.findings:
        for cause in (finding.cause, *finding.others):
            if cause is not None and cause.line:
                is_cut = finding.status == "none"
                happens = "stops" if is_cut else f"becomes {BADGES[finding.status]}"
                tip = f"{cause.kind}: the gradient for {finding.source} {happens} here"
                badge = "✂" if is_cut else BADGES[finding.status]
                badge = "" if cause.line == call.call.line else badge
                marks.append(LineMark(cause.line, "trouble", True, badge, tip=tip))
    statuses = {finding.status for finding in call.findings}
    worst = next((status for status in WORST if status in statuses), None)
    if worst is not None:
        tip = f"{call.call.method}: " + ", ".join(
            f"∂{f.target}/∂{f.source} {BADGES[f.status]}" for f in call.findings[:8]
        )
        mark = LineMark(call.call.line, "call", False, BADGES[worst], worst == "flows", tip=tip)
        marks.append(mark)
    return marks


def _error_marks(document: Document) -> list[LineMark]:
    error, failure = document.diagnosis.error, document.trace.failure
    line = error.line if error else failure.line if failure else 0
    message = error.message if error else failure.message if failure else ""
    return [LineMark(line, "trouble", True, "✕", sign="error", tip=message[:400])] if line else []


def _step_marks(document: Document) -> list[LineMark]:
    if not document.step:
        return []
    step = document.steps[document.step - 1]
    return [LineMark(step.line, "step", sign="step", tip=f"step {document.step}: {step.title}")]
