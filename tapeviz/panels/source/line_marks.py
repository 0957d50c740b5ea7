"""The marks of the text's lines: targets, sources, cuts, errors."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from typing import Literal, NamedTuple

from ...analysis.inside_words import runs_words
from ...analysis.model import CallDiagnosis, Cause, Diagnosis, Finding, Status
from ...analysis.rounds.call_sites import CallSite
from ...analysis.rounds.round_words import series_words, troubled_rounds
from ...analysis.run_words import plain_message
from ...analysis.status import WORST_FIRST, joint_word, round_word, word_of
from ...document import Document
from ...trace.compiled.raised import op_that_raised
from ...trace.model import Trace
from ..look import Theme, mix

Tint = Literal["", "linked", "trouble", "call", "step", "left-out"]
FLOWS = "✓"


@dataclass(frozen=True, slots=True)
class LineMark:
    """``tint``: of the whole line; ``has_bar``: a red bar at its left edge; ``badge``: at its
    right, green if it ``is_good``; ``sign``: beside its number (``source``, ``target``, ``step``,
    ``error``)."""

    line: int
    tint: Tint = ""
    has_bar: bool = False
    badge: str = ""
    is_good: bool = False
    sign: str = ""
    tip: str = ""


def fill_of(tint: Tint, theme: Theme) -> str:
    """The colour of a line with this tint; empty without one."""
    fills: dict[Tint, str] = {
        "trouble": theme.trouble_fill,
        "call": theme.accent_fill,
        "step": theme.gradient_fill,
        "linked": mix(theme.panel, theme.accent, 0.09),
        "left-out": mix(theme.panel, theme.text, 0.05),
    }
    return fills.get(tint, "")


def marks_of(document: Document) -> tuple[LineMark, ...]:
    """All marks, the most important last; lines edited since the run have none."""
    marks = [
        *_linked_marks(document),
        *_operand_marks(document),
        *_group_marks(document.diagnosis, document.trace),
        *_error_marks(document),
        *_step_marks(document),
    ]
    moved = []
    for mark in marks:
        line = document.text.line_now(mark.line)
        if line:
            moved.append(replace(mark, line=line))
    return (*_left_out_marks(document), *moved)


def _left_out_marks(document: Document) -> Iterator[LineMark]:
    """Lines of a page that do not run; these are lines of the text of now."""
    for first, last, why in document.text.left_out():
        for line in range(first, last + 1):
            yield LineMark(line, "left-out", tip=f"Left out: {why}")


def _linked_marks(document: Document) -> Iterator[LineMark]:
    """The lines of what is pointed at, else of what is selected."""
    lines = {frame.line for frame in document.selecting.lit_spans}
    for line in lines or {document.selection.line}:
        yield LineMark(line, "linked")


def _operand_marks(document: Document) -> list[LineMark]:
    call = document.current_call
    if call is None:
        return []
    marks = []
    for tensors, sign in ((call.flow.sources, "source"), (call.flow.targets, "target")):
        for tensor in list(tensors)[:50]:
            line = document.links.line_of_operand(tensor)
            marks.append(LineMark(line, sign=sign, tip=f"{sign} of the gradient"))
    return marks


MOST_TIPS = 8
"""The tip of a line says so much of each kind of mark; of more it says how many there are."""
_latest: list[tuple[Diagnosis, tuple[LineMark, ...]]] = []
"""The marks of the diagnosis shown last: they stay while the round or the step changes."""


def _group_marks(diagnosis: Diagnosis, trace: Trace) -> tuple[LineMark, ...]:
    for known, marks in _latest:
        if known is diagnosis:
            return marks
    made = tuple(
        mark
        for group in diagnosis.groups
        for mark in (
            _site_marks(diagnosis, group)
            if isinstance(group, CallSite)
            else _call_marks(group, trace)
        )
    )
    _latest[:] = [(diagnosis, made)]
    return made


def _site_marks(diagnosis: Diagnosis, site: CallSite) -> Iterator[LineMark]:
    """The marks of all rounds of a call site, each once."""
    tips = []
    places: list[_Place] = []
    worst: Status = "flows"
    for series in site.sources:
        for number, finding in troubled_rounds(diagnosis, site, series):
            worst = min(worst, finding.status, key=WORST_FIRST.index)
            places += _cause_places(diagnosis.round(site, number), finding, f" (round {number:,})")
        tips.append(f"∂{series.target}/∂{series.source}: {series_words(diagnosis, site, series)}")
    yield from _few(places)
    if worst == "flows":
        badge = f"{len(site):,} flow"
    else:
        found = [(n, series) for series in site.sources for n in series.rounds_with(worst)]
        word = joint_word(round_word(series, n) for n, series in found)
        badge = f"{word} {len({n for n, _ in found}):,}/{len(site):,}"
    yield LineMark(
        site.line, "call", False, badge, worst == "flows", tip="\n".join(tips[:MOST_TIPS])
    )


def _call_marks(call: CallDiagnosis, trace: Trace) -> list[LineMark]:
    marks = _few(place for finding in call.findings for place in _cause_places(call, finding))
    statuses = {finding.status for finding in call.findings}
    worst = next((status for status in WORST_FIRST if status in statuses), None)
    if worst is not None:
        tip = f"{call.call.method}: " + ", ".join(
            f"∂{f.target}/∂{f.source} {_badge(f)}" for f in call.findings[:MOST_TIPS]
        )
        runs = runs_words(trace, call.call)
        tip += f"\n{' · '.join(runs)}" if runs else ""
        badge = joint_word(_badge(f) for f in call.findings if f.status == worst)
        mark = LineMark(call.call.line, "call", False, badge, worst == "flows", tip=tip)
        marks.append(mark)
    return marks


class _Place(NamedTuple):
    """A line at which a gradient has trouble, with the badge and the end of the tip."""

    line: int
    badge: str
    finding: Finding
    cause: Cause
    end: str

    def mark(self) -> LineMark:
        is_cut = self.finding.status == "none"
        happens = "stops" if is_cut else f"becomes {word_of(self.finding)}"
        tip = f"{self.cause.kind}: the gradient for {self.finding.source} {happens} here{self.end}"
        return LineMark(self.line, "trouble", True, self.badge, tip=tip)


def _few(places: Iterable[_Place]) -> list[LineMark]:
    """The marks of the first places with each badge on each line, and how many more there are."""
    few: list[LineMark] = []
    counts: dict[tuple[int, str], int] = {}
    for place in places:
        count = counts[place.line, place.badge] = counts.get((place.line, place.badge), 0) + 1
        if count <= MOST_TIPS:
            few.append(place.mark())
    for (line, _), count in counts.items():
        if count > MOST_TIPS:
            few.append(LineMark(line, tip=f"and {count - MOST_TIPS:,} more"))
    return few


def _badge(finding: Finding) -> str:
    return FLOWS if finding.status == "flows" else word_of(finding)


def _cause_places(call: CallDiagnosis, finding: Finding, end: str = "") -> Iterator[_Place]:
    for cause in (finding.cause, *finding.others):
        line = cause.line if cause is not None else 0
        if cause is not None and line:
            badge = "✂" if finding.status == "none" else word_of(finding)
            yield _Place(line, "" if line == call.call.line else badge, finding, cause, end)


def _error_marks(document: Document) -> list[LineMark]:
    error = document.diagnosis.error or document.trace.failure
    tip = plain_message(error.message)[:400] if error is not None else ""
    raised = op_that_raised(document.trace)  # inside of the compiled function that the line calls
    lines = dict.fromkeys((error.line if error else 0, raised.line if raised is not None else 0))
    return [LineMark(line, "trouble", True, "✕", sign="error", tip=tip) for line in lines if line]


def _step_marks(document: Document) -> list[LineMark]:
    if not document.step:
        return []
    step = document.steps[document.step - 1]
    return [LineMark(step.line, "step", sign="step", tip=f"step {document.step}: {step.title}")]
