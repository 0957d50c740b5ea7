"""The marks of the text's lines: targets, sources, cuts, errors."""

from __future__ import annotations

import time
from collections.abc import Iterator
from dataclasses import dataclass, replace
from itertools import islice
from typing import Literal

from ...analysis.alike import harmless_places, lacks_some
from ...analysis.findings import Finding, Status
from ...analysis.inside_words import runs_words
from ...analysis.model import CallDiagnosis, Diagnosis
from ...analysis.rounds.call_sites import CallSite
from ...analysis.rounds.round_words import series_words, troubled_rounds
from ...analysis.run_words import plain_message
from ...analysis.status import STATUS_WORDS, WORST_FIRST, joint_word, round_word, word_of
from ...document import Document
from ...trace.compiled.raised import op_that_raised
from ...trace.model import Trace
from ..look import Theme, mix

Tint = Literal["", "linked", "trouble", "call", "step", "left-out"]
FLOWS = "✓"


@dataclass(frozen=True, slots=True)
class LineMark:
    """A mark of a line of the text. ``tint``: of the whole line; ``has_bar``: a red bar at its left
    edge; ``badge``: at its right, green if it ``is_good``; ``sign``: beside its number (``source``,
    ``target``, ``step``, ``error``)."""

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


def marks_of(document: Document, groups: GroupMarks | None = None) -> tuple[LineMark, ...]:
    """All marks, the most important last; lines edited since the run have none. ``groups``: those
    of gradient calls, as far as they are made; without it all are made now."""
    of_groups = _group_marks(document.diagnosis, document.trace) if groups is None else groups.marks
    marks = [
        *_linked_marks(document),
        *_operand_marks(document),
        *filter(None, of_groups),
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
        if line:
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
SLICE = 0.01
"""Seconds for which marks are made in one turn of the event loop."""
_LOOK = 64
"""Findings between two looks at the clock."""


class GroupMarks:
    """The marks of calls and call sites, made in slices of time: they may name thousands of cuts.

    ``marks``: those of the diagnosis shown last; none until all are made. They stay while the round
    or the step changes.
    """

    def __init__(self) -> None:
        self.marks: tuple[LineMark, ...] = ()
        self._shown: Diagnosis | None = None
        self._made: list[LineMark] = []
        self._rest: Iterator[LineMark | None] = iter(())

    def make_more(self, diagnosis: Diagnosis, trace: Trace) -> bool:
        """Make the marks of another slice; returns whether more are to be made."""
        if diagnosis is not self._shown:
            self._shown, self.marks, self._made = diagnosis, (), []
            self._rest = _group_marks(diagnosis, trace)
        until = time.perf_counter() + SLICE
        while looked := list(islice(self._rest, _LOOK)):
            self._made += filter(None, looked)
            if time.perf_counter() > until:
                return True
        self.marks = self.marks or tuple(self._made)
        return False


def _group_marks(diagnosis: Diagnosis, trace: Trace) -> Iterator[LineMark | None]:
    """The marks of all calls and call sites; None for each finding that adds no mark yet."""
    for group in diagnosis.groups:
        if isinstance(group, CallSite):
            yield from _site_marks(diagnosis, group)
        else:
            yield from _call_marks(diagnosis, group, trace)


def _site_marks(diagnosis: Diagnosis, site: CallSite) -> Iterator[LineMark | None]:
    """The marks of all rounds of a call site, each once."""
    tips = []
    few = _FewMarks()
    worst: Status = "flows"
    harmless = harmless_places(diagnosis, site) if site.is_troubled else frozenset()
    left_out: set[int] = set()
    """Rounds in which the gradients of a scaled loss were too large."""
    for series in site.sources:
        if series.place in harmless:
            left_out.update(series.rounds_with("nonfinite"))
        else:
            for number, finding in troubled_rounds(diagnosis, site, series):
                worst = min(worst, finding.status, key=WORST_FIRST.index)
                few.add(diagnosis.round(site, number), finding, f" (round {number:,})")
                yield None
        tips.append(f"∂{series.target}/∂{series.source}: {series_words(diagnosis, site, series)}")
    yield from few.marks()
    if worst == "flows":
        badge = f"{len(site) - len(left_out):,} flow"
    else:
        found = [(n, series) for series in site.sources for n in series.rounds_with(worst)]
        word = joint_word(round_word(series, n) for n, series in found)
        badge = f"{word} {len({n for n, _ in found}):,}/{len(site):,}"
    yield LineMark(
        site.line, "call", False, badge, worst == "flows", tip="\n".join(tips[:MOST_TIPS])
    )


def _call_marks(
    diagnosis: Diagnosis, call: CallDiagnosis, trace: Trace
) -> Iterator[LineMark | None]:
    few = _FewMarks()
    harmless = harmless_places(diagnosis, call) if call.is_troubled else frozenset()
    for place, finding in enumerate(call.findings if call.is_troubled else ()):
        if place not in harmless:
            few.add(call, finding)
            yield None
    yield from few.marks()
    worst = min((status for status, _ in call.outcomes), key=WORST_FIRST.index, default=None)
    if harmless and not lacks_some(diagnosis, call):
        worst = "flows"
    if worst is not None:
        tip = f"{call.call.method}: " + ", ".join(
            f"∂{f.target}/∂{f.source} {_badge(f.status, f.nonfinite)}"
            for f in call.findings[:MOST_TIPS]
        )
        runs = runs_words(trace, call.call)
        tip += f"\n{' · '.join(runs)}" if runs else ""
        badge = joint_word(_badge(*outcome) for outcome in call.outcomes if outcome[0] == worst)
        yield LineMark(call.call.line, "call", False, badge, worst == "flows", tip=tip)


class _FewMarks:
    """The lines at which gradients have trouble: the marks of the first findings with each badge on
    each line, and how many more there are."""

    def __init__(self) -> None:
        self._few: list[LineMark] = []
        self._counts: dict[tuple[int, str], int] = {}

    def add(self, call: CallDiagnosis, finding: Finding, end: str = "") -> None:
        """Add the cuts of a finding; ``end``: of the tip."""
        for cause in (finding.cause, *finding.others):
            line = cause.line if cause is not None else 0
            if cause is None or not line:
                continue
            sign = "✂" if finding.status == "none" else word_of(finding)
            badge = "" if line == call.call.line else sign
            count = self._counts[line, badge] = self._counts.get((line, badge), 0) + 1
            if count <= MOST_TIPS:
                happens = "stops" if finding.status == "none" else f"becomes {word_of(finding)}"
                tip = f"{cause.kind}: the gradient for {finding.source} {happens} here{end}"
                self._few.append(LineMark(line, "trouble", True, badge, tip=tip))

    def marks(self) -> Iterator[LineMark]:
        yield from self._few
        for (line, _), count in self._counts.items():
            if count > MOST_TIPS:
                yield LineMark(line, tip=f"and {count - MOST_TIPS:,} more")


def _badge(status: Status, nonfinite: str) -> str:
    return FLOWS if status == "flows" else nonfinite or STATUS_WORDS[status]


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
