"""Say below the cards of the diagnosis what there is in all."""

from __future__ import annotations

from typing import NamedTuple

from ...analysis.model import Diagnosis
from ...analysis.rounds.call_sites import CallSite, SourceSeries
from ...analysis.run_words import NO_CODE, ran_no_code
from ...analysis.unasked import unasked_words
from ...document import Document
from ...trace.model import EMPTY_TRACE
from ...wording import counted


class Outcomes(NamedTuple):
    """How many gradients were asked for, how many of these do not flow, and how many of the others
    are zero as they should be."""

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
        verb = "is" if harmless == 1 else "are"
        zero = f"{harmless:,} {verb} zero as it should be"
        verdict = f"{verdict} · {zero}" if troubled else f"{zero}, the others flow"
    parts = [asked_for, verdict] if asked else [asked_for]
    if "fixes" in document.background.busy:
        parts.append("trying fixes …")
    return " · ".join(parts)


def outcomes_of(document: Document) -> Outcomes:
    """Count the outcomes of all sources; those of all rounds of a call site are one. Where no
    source beside it gets a gradient, a zero counts as trouble in any case."""
    diagnosis = document.diagnosis
    asked = troubled = harmless = 0
    for group in diagnosis.groups:
        if isinstance(group, CallSite):
            count = len(group.sources)
            in_trouble = [series for series in group.sources if series.is_troubled]
            flowing = count - len(in_trouble)
            zeros = sum(_is_harmless(diagnosis, group, series) for series in in_trouble)
        else:
            count = len(group.findings)
            flowing = sum(n for (status, _), n in group.outcomes.items() if status == "flows")
            zeros = group.harmless
        zeros = zeros if flowing else 0
        asked += count
        harmless += zeros
        troubled += count - flowing - zeros
    return Outcomes(asked, troubled, harmless)


def _is_harmless(diagnosis: Diagnosis, site: CallSite, series: SourceSeries) -> bool:
    """Whether a source is zero as it should be in the first round in which it does not flow, and
    never None or not finite."""
    finding = diagnosis.round(site, series.telling).findings[series.place]
    return finding.is_harmless and {"flows", "zero", None}.issuperset(series.statuses)
