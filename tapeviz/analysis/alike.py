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
    yield from (group for group in groups if group.is_troubled)
    yield from diagnosis.warnings
    yield from (group for group in groups if not group.is_troubled)


def alike_results(
    diagnosis: Diagnosis, group: CallSite | CallDiagnosis
) -> list[Sequence[SourceResult]]:
    """The sources of a call or call site, grouped so that one card can speak of each group; groups
    in trouble come first."""
    found: list[Sequence[SourceResult]]
    if isinstance(group, CallSite):
        found = [
            tuple(_series_result(diagnosis, group, series) for series in alike)
            for alike in alike_series(diagnosis, group)
        ]
    else:
        found = [CallResults(group, places) for places in group.alike]
    return sorted(found, key=lambda results: not results[0].is_troubled)


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
