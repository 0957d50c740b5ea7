"""Findings of one gradient call in, groups of those that tell one story out.

A layer's bias has mostly no gradient for the reason for which its kernel has none. What is said of
both is said once.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from typing import TypeVar

from .model import Diagnosis, Finding
from .rounds.call_sites import CallSite, SourceSeries
from .rounds.round_words import troubled_rounds

_Told = TypeVar("_Told", Finding, SourceSeries)

FEWEST_TROUBLED, FEWEST_FLOWING = 2, 6
"""So many findings with the same story share one text; fewer have one each."""
MOST_NAMED = 2
"""A heading names so many sources; of more it says how many there are."""


def alike_findings(findings: Sequence[Finding]) -> list[tuple[Finding, ...]]:
    """The findings, those together that differ in nothing but the source and the numbers.

    Each group stands where its first finding stood.
    """
    return _grouped((finding, _story(finding), finding.status != "flows") for finding in findings)


def alike_series(diagnosis: Diagnosis, site: CallSite) -> list[tuple[SourceSeries, ...]]:
    """The sources of a call site, those together that had the same story in the same rounds."""
    return _grouped(
        (series, _series_story(diagnosis, site, series), series.is_troubled)
        for series in site.sources
    )


def shared_title(target: str, sources: Sequence[str]) -> str:
    """The gradients of a group in one heading: ``∂loss / ∂w, ∂b``; of many only how many."""
    if len(sources) > MOST_NAMED:
        return f"∂{target} · {len(sources)} sources"
    return f"∂{target} / {', '.join(f'∂{source}' for source in sources)}"


def same_words(sources: Sequence[str]) -> str:
    """For the end of what was said about the first of them."""
    others = sources[1] if len(sources) == 2 else f"the other {len(sources) - 1}"
    return f"The same holds for {others}."


def _series_story(diagnosis: Diagnosis, site: CallSite, series: SourceSeries) -> object:
    told = troubled_rounds(diagnosis, site, series) if series.is_troubled else ()
    stories = [(number, _story(finding)) for number, finding in told]
    return (series.target, series.statuses, *stories)


def _story(finding: Finding) -> object:
    cause = finding.cause
    return (
        finding.target,
        finding.status,
        _without_name(finding.message, finding.source),
        (cause.kind, cause.line, cause.code, cause.op) if cause else None,
        finding.is_estimated,
        finding.bridged is None and finding.bridged_value is None,
        finding.check and (finding.check.agrees, finding.check.words),
        finding.no_bridge,
        finding.not_tried,
        tuple((fix.title, fix.diff) for fix in finding.fixes),
    )


def _without_name(message: str, source: str) -> str:
    return re.sub(rf"(?<![\w.]){re.escape(source)}(?!\w)", "…", message)


def _grouped(items: Iterable[tuple[_Told, object, bool]]) -> list[tuple[_Told, ...]]:
    told = list(items)
    groups: dict[object, list[_Told]] = {}
    for item, story, _ in told:
        groups.setdefault(story, []).append(item)
    together: list[tuple[_Told, ...]] = []
    for item, story, is_troubled in told:
        group = groups[story]
        if len(group) < (FEWEST_TROUBLED if is_troubled else FEWEST_FLOWING):
            together.append((item,))
        elif item is group[0]:
            together.append(tuple(group))
    return together
