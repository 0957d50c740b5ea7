"""Say below the cards of the diagnosis what there is in all."""

from __future__ import annotations

from typing import NamedTuple

from ...analysis.alike import harmless_places
from ...analysis.rounds.call_sites import CallSite
from ...analysis.run_words import NO_CODE, ran_no_code
from ...analysis.unasked import unasked_words
from ...document import Document
from ...trace.model import EMPTY_TRACE
from ...wording import counted


class Outcomes(NamedTuple):
    """How many gradients were asked for, how many of these do not flow, and how many of the others
    do not, as it should be."""

    asked: int
    troubled: int
    harmless: int


def summary_words(document: Document, outcomes: Outcomes) -> str:
    """``2 gradients asked for, 30 times · 1 does not flow``; without a call why there is none."""
    asked, troubled, harmless = outcomes
    diagnosis = document.diagnosis
    if document.is_running and not diagnosis.calls:
        return "Running …"
    if "diagnose" in document.background.busy:
        return "Looking for the cause …"
    if document.trace is EMPTY_TRACE:
        return "Each gradient that the snippet asks for gets a card here."
    calls, groups = len(diagnosis.calls), diagnosis.groups
    if ran_no_code(document.trace):
        return NO_CODE
    if not calls and any(warned.kind == "caught-error" for warned in diagnosis.warnings):
        return "No gradient that was asked for was computed."
    if not calls and not diagnosis.error:
        return unasked_words(document.trace.source)
    if not calls:
        return "It ended before a gradient was asked for."
    asked_for = f"{counted(asked, 'gradient')} asked for"
    if len(groups) > 1:
        asked_for += f" in {len(groups):,} places"
    if len(groups) < calls:
        asked_for += f", {calls:,} times" + (" in all" if len(groups) > 1 else "")
    if asked == calls == 1:
        verdict = "it does not flow" if troubled else "it flows"
    else:
        verb = "does" if troubled == 1 else "do"
        verdict = f"{troubled:,} {verb} not flow" if troubled else "all flow"
    if harmless:
        words = "not in all rounds" if harmless == asked else f"all flow but {harmless:,}"
        words = f"{verdict} · {harmless:,} more" if troubled else words
        verdict = f"{words}, as it should be"
    parts = [asked_for, verdict] if asked else [asked_for]
    if "fixes" in document.background.busy:
        parts.append("trying fixes …")
    return " · ".join(parts)


def outcomes_of(document: Document) -> Outcomes:
    """Count the outcomes of all sources; those of all rounds of a call site are one."""
    diagnosis = document.diagnosis
    asked = troubled = harmless = 0
    for group in diagnosis.groups:
        if isinstance(group, CallSite):
            count = len(group.sources)
            flowing = sum(not series.is_troubled for series in group.sources)
        else:
            count = len(group.findings)
            flowing = sum(n for (status, _), n in group.outcomes.items() if status == "flows")
        expected = len(harmless_places(diagnosis, group)) if flowing < count else 0
        asked += count
        harmless += expected
        troubled += count - flowing - expected
    return Outcomes(asked, troubled, harmless)
