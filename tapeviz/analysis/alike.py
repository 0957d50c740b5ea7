"""Findings of one gradient call in, groups of those that tell one story out.

A layer's bias has mostly no gradient for the reason for which its kernel has none. What is said of
both is said once.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TypeVar

from .model import CallDiagnosis, Diagnosis, Finding
from .rounds.call_sites import CallSite, SourceSeries
from .rounds.round_words import troubled_rounds

_Item = TypeVar("_Item", Finding, SourceSeries)
_IN_A_NAME, _LETTER = re.compile(r"[\w.]"), re.compile(r"\w")

FEWEST_TROUBLED, FEWEST_FLOWING = 2, 6
"""So many findings with the same story share one text; fewer have one each."""
MOST_NAMED = 2
"""A heading names so many sources; of more it says how many there are."""


@dataclass(frozen=True, slots=True)
class SourceResult:
    """The source at ``place`` of ``call``. ``series``: its rounds where the call site has several;
    then the call is that of the round that says most."""

    call: CallDiagnosis
    place: int
    series: SourceSeries | None = None

    @property
    def finding(self) -> Finding:
        return self.call.findings[self.place]

    @property
    def is_troubled(self) -> bool:
        return self.finding.status != "flows" if self.series is None else self.series.is_troubled


def alike_results(
    diagnosis: Diagnosis, group: CallSite | CallDiagnosis
) -> list[tuple[SourceResult, ...]]:
    """The sources of a call or call site, those together of which one card can speak."""
    if isinstance(group, CallSite):
        return [
            tuple(_series_result(diagnosis, group, series) for series in alike)
            for alike in alike_series(diagnosis, group)
        ]
    places = {id(finding): place for place, finding in enumerate(group.findings)}
    return [
        tuple(SourceResult(group, places[id(finding)]) for finding in alike)
        for alike in alike_findings(group.findings)
    ]


def _series_result(diagnosis: Diagnosis, site: CallSite, series: SourceSeries) -> SourceResult:
    return SourceResult(diagnosis.round(site, series.telling), series.place, series)


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
    rounds = troubled_rounds(diagnosis, site, series) if series.is_troubled else ()
    stories = [(number, _story(finding)) for number, finding in rounds]
    return (series.target, series.statuses, *stories)


def _story(finding: Finding) -> object:
    cause = finding.cause
    return (
        finding.target,
        finding.status,
        finding.nonfinite,
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
    """The message with a sign in place of each mention of the source. A pattern for each of many
    sources would have to be compiled."""
    kept: list[str] = []
    end = at = 0
    while source and (at := message.find(source, at)) >= 0:
        after = at + len(source)
        if _IN_A_NAME.match(message[at - 1 : at]) or _LETTER.match(message[after : after + 1]):
            at += 1
            continue
        kept += (message[end:at], "…")
        end = at = after
    return "".join((*kept, message[end:]))


def _grouped(items: Iterable[tuple[_Item, object, bool]]) -> list[tuple[_Item, ...]]:
    listed = list(items)
    groups: dict[object, list[_Item]] = {}
    for item, story, _ in listed:
        groups.setdefault(story, []).append(item)
    together: list[tuple[_Item, ...]] = []
    for item, story, is_troubled in listed:
        group = groups[story]
        if len(group) < (FEWEST_TROUBLED if is_troubled else FEWEST_FLOWING):
            together.append((item,))
        elif item is group[0]:
            together.append(tuple(group))
    return together
