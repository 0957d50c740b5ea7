"""Group the findings of one gradient call, and the errors of a page, that tell the same story.

A layer's bias has mostly no gradient for the reason for which its kernel has none. What is said of
both is said once.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import overload

from ..trace.ids import CallId
from ..wording import listed
from .findings import Finding
from .model import CallDiagnosis, Diagnosis, ExplainedError, Warned
from .rounds.call_sites import CallSite, SourceSeries
from .rounds.round_words import troubled_rounds
from .stories import grouped, story_of

MOST_NAMED = 2
"""The most sources that a heading names; of more it gives the number."""


@dataclass(frozen=True, slots=True)
class SourceResult:
    """The source number ``place`` of a call. ``series``: its rounds, where the call site has
    several; ``call`` is then the round to show (:attr:`SourceSeries.telling`)."""

    call: CallDiagnosis
    place: int
    series: SourceSeries | None = None

    @property
    def finding(self) -> Finding:
        return self.call.findings[self.place]

    @property
    def is_troubled(self) -> bool:
        return self.finding.status != "flows" if self.series is None else self.series.is_troubled


class CallResults(Sequence[SourceResult]):
    """Sources of one call, given by their places. An element is made when it is asked for: a call
    may have thousands of sources, of which a card shows a few."""

    def __init__(self, call: CallDiagnosis, places: Sequence[int]) -> None:
        self._call, self._places = call, places

    def __len__(self) -> int:
        return len(self._places)

    @overload
    def __getitem__(self, at: int) -> SourceResult: ...
    @overload
    def __getitem__(self, at: slice) -> CallResults: ...
    def __getitem__(self, at: int | slice) -> SourceResult | CallResults:
        if isinstance(at, slice):
            return CallResults(self._call, self._places[at])
        return SourceResult(self._call, self._places[at])


def reported_in_order(
    diagnosis: Diagnosis, first: CallId | None = None
) -> Iterator[CallSite | CallDiagnosis | Warned]:
    """Calls and call sites in trouble, then the warnings, then the calls whose gradients flow: a
    warning may say that these numbers are wrong all the same. ``first``: a call that comes before
    all others, as one that a fix has mended."""
    called = diagnosis.call(first) if first is not None else None
    ahead = diagnosis.site_of(called) or called
    if ahead is not None:
        yield ahead
    groups = [group for group in diagnosis.groups if group is not ahead]
    troubled = {id(group) for group in groups if lacks_some(diagnosis, group)}
    yield from (group for group in groups if id(group) in troubled)
    yield from diagnosis.warnings
    yield from (group for group in groups if id(group) not in troubled)


def lacks_some(diagnosis: Diagnosis, group: CallSite | CallDiagnosis) -> bool:
    """Whether a gradient does not flow that should."""
    if not group.is_troubled:
        return False
    harmless = harmless_places(diagnosis, group)
    if isinstance(group, CallSite):
        return any(each.is_troubled and each.place not in harmless for each in group.sources)
    flowing = sum(n for (status, _), n in group.outcomes.items() if status == "flows")
    return flowing + len(harmless) < len(group.findings)


def harmless_places(diagnosis: Diagnosis, group: CallSite | CallDiagnosis) -> frozenset[int]:
    """The places of the sources whose gradients do not flow in all rounds, as it should be: zero
    beside others that flow, or too large for a scaled loss, but not in the last round."""
    if isinstance(group, CallSite):
        flows = any("flows" in series.statuses for series in group.sources)
        troubled = [series for series in group.sources if series.is_troubled]
        found = [each.place for each in troubled if _is_harmless(diagnosis, group, each)]
    else:
        flows = any(status == "flows" for status, _ in group.outcomes)
        findings = enumerate(group.findings if group.harmless else ())
        found = [n for n, each in findings if each.is_harmless and each.status == "zero"]
    return frozenset(found if flows else ())


def _is_harmless(diagnosis: Diagnosis, site: CallSite, series: SourceSeries) -> bool:
    last = next((status for status in reversed(series.statuses) if status), None)
    found = (finding for _, finding in troubled_rounds(diagnosis, site, series))
    return last != "nonfinite" and all(finding.is_harmless for finding in found)


def alike_results(
    diagnosis: Diagnosis, group: CallSite | CallDiagnosis
) -> list[Sequence[SourceResult]]:
    """The sources of a call or call site, grouped so that one card can speak of each group; those
    in trouble come first, and those last that do not flow as it should be."""
    found: list[Sequence[SourceResult]]
    if isinstance(group, CallSite):
        found = [
            tuple(_series_result(diagnosis, group, series) for series in alike)
            for alike in alike_series(diagnosis, group)
        ]
    else:
        found = [CallResults(group, places) for places in group.alike]
    harmless = harmless_places(diagnosis, group) if group.is_troubled else ()

    def order(results: Sequence[SourceResult]) -> tuple[bool, bool]:
        return results[0].place in harmless, not results[0].is_troubled

    return sorted(found, key=order)


def _series_result(diagnosis: Diagnosis, site: CallSite, series: SourceSeries) -> SourceResult:
    return SourceResult(diagnosis.round(site, series.telling), series.place, series)


def alike_series(diagnosis: Diagnosis, site: CallSite) -> list[tuple[SourceSeries, ...]]:
    """The sources of a call site, grouped by the story that they had in the same rounds."""
    return grouped(
        (series, _series_story(diagnosis, site, series), series.is_troubled)
        for series in site.sources
    )


def shared_title(target: str, sources: Sequence[str]) -> str:
    """The gradients of a group in one heading: ``∂loss / ∂w, ∂b``; of many only how many."""
    if len(sources) > MOST_NAMED:
        return f"∂{target} · {len(sources)} sources"
    return f"∂{target} / {', '.join(f'∂{source}' for source in sources)}"


def same_words(sources: Sequence[str]) -> str:
    """The sentence that what was said about the first source holds for the others, too."""
    others = sources[1] if len(sources) == 2 else f"the other {len(sources) - 1}"
    return f"The same holds for {others}."


def alike_errors(diagnosis: Diagnosis) -> list[tuple[ExplainedError, ...]]:
    """The errors, those together that differ in nothing but their lines and fixes: the blocks of a
    page that use the same value mostly fail for the same reason."""
    return grouped((error, _error_story(error), True) for error in diagnosis.errors)


def _error_story(error: ExplainedError) -> object:
    line = re.compile(rf"\b([Ll]ine) {error.line}\b")
    texts = (error.message, error.explanation)
    return (error.type, error.command, *(line.sub("\\1 …", text) for text in texts))


def same_error_words(errors: Sequence[ExplainedError]) -> str:
    """``The same happens on lines 242 and 314.``; empty for one error."""
    lines = [str(error.line) for error in errors[1:] if error.line]
    noun = "line" if len(lines) == 1 else "lines"
    return f"The same happens on {noun} {listed(lines)}." if lines else ""


def _series_story(diagnosis: Diagnosis, site: CallSite, series: SourceSeries) -> object:
    rounds = troubled_rounds(diagnosis, site, series) if series.is_troubled else ()
    stories = [(number, story_of(finding)) for number, finding in rounds]
    return (series.target, series.statuses, *stories)
