"""The nouns of repeated gradient calls: call sites, and what each round gave.

A *call site* is the place in the source that gradient calls ran from, through the frames of the
snippet's functions; its n-th call is *round* n.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from ...trace.ids import CallId

if TYPE_CHECKING:
    from ..findings import Status

Numbers = NDArray[np.float64]
"""A number for each round; NaN where there is none."""
ShapeId = int
"""Rounds with equal ids recorded the same ops, from the same places, on tensors of one shape."""
MOST_LISTED, FIRST_LISTED, LAST_LISTED = 1_000, 60, 10


@dataclass(frozen=True, eq=False)
class SourceSeries:
    """One source of a call site, round by round.

    ``place``: its position among the results of each call. ``statuses``: of each round; None where
    a round asked for fewer sources. ``norms``: the Euclidean norm where all elements are finite;
    ``values``: the gradient itself where it has one element in each round, else empty.
    ``rank``: how many dimensions it has. ``nonfinite``: the word for each
    round with NaN or infinity, by its number (from 1).
    """

    place: int
    target: str
    source: str
    statuses: tuple[Status | None, ...]
    norms: Numbers
    values: Numbers
    rank: int = 0
    nonfinite: Mapping[int, str] = field(default_factory=dict)

    @cached_property
    def usual(self) -> Status:
        """The status of most rounds; ``flows`` where as many flow."""
        counts = Counter(status for status in self.statuses if status is not None)
        return max(counts, key=lambda status: (counts[status], status == "flows"))

    def rounds_with(self, status: Status) -> tuple[int, ...]:
        """Numbers (from 1) of the rounds that had this status."""
        return tuple(n for n, found in enumerate(self.statuses, 1) if found == status)

    def begins_anew(self) -> tuple[int, ...]:
        """Rounds (from 1) worth a look: where a status begins that was not there before, or that
        most rounds do not have. That it flows again as usual is nothing to look at."""
        found: list[int] = []
        seen: set[Status | None] = {self.usual if self.statuses[0] == self.usual else None}
        before: Status | None = None
        for number, status in enumerate(self.statuses, 1):
            is_news = status not in seen or status != self.usual
            if status not in (before, None) and is_news and not status == self.usual == "flows":
                found.append(number)
            seen.add(status)
            before = status
        return tuple(found)

    @property
    def shown(self) -> Numbers:
        """One number for each round: the gradient, or its norm if it has several elements."""
        return self.values if self.values.size else self.norms

    @cached_property
    def is_troubled(self) -> bool:
        return any(status not in ("flows", None) for status in self.statuses)

    @cached_property
    def telling(self) -> int:
        """The round to show: the first one in which something is wrong, else the last."""
        rounds = list(enumerate(self.statuses, 1))
        troubled = (number for number, status in rounds if status not in ("flows", None))
        there = (number for number, status in reversed(rounds) if status is not None)
        return next(troubled, next(there))


@dataclass(frozen=True, eq=False)
class CallSite:
    """The calls that ran from one place, in the order in which they ran; in a compiled function
    those of one trace, if its traces are told apart, see :func:`.traces.trace_number`; if it asks
    about several models in turn, those of one, see :func:`.rounds.find_rounds`.

    ``calls``: their ids; ``places``: their positions among the calls of the diagnosis.
    ``sources``: in their order among the results of each call; none of a site of one call, whose
    findings tell all.
    ``target_values``: the target's value by round, NaN where it is no single number. ``shapes``:
    see :data:`ShapeId`.
    """

    line: int
    calls: tuple[CallId, ...]
    places: tuple[int, ...]
    sources: tuple[SourceSeries, ...]
    target_values: Numbers
    shapes: tuple[ShapeId, ...]

    def __len__(self) -> int:
        return len(self.calls)

    @property
    def target(self) -> str:
        return self.sources[0].target if self.sources else "target"

    def round_of(self, call: CallId) -> int:
        """The number (from 1) of a call among the rounds; 0 if it is none of them."""
        return self._numbers.get(call, 0)

    @cached_property
    def _numbers(self) -> Mapping[CallId, int]:
        return {call: number for number, call in enumerate(self.calls, 1)}

    @property
    def is_troubled(self) -> bool:
        return any(series.is_troubled for series in self.sources)

    @cached_property
    def layers(self) -> tuple[SourceSeries, ...]:
        """The sources of several dimensions, as the weights of layers are, in their order."""
        return tuple(series for series in self.sources if series.rank > 1)

    @cached_property
    def layer_norms(self) -> Numbers:
        """The norms of :attr:`layers`, of shape [layers, rounds]."""
        rows = [series.norms for series in self.layers]
        return np.array(rows, np.float64).reshape(len(rows), len(self))

    @cached_property
    def odd_shapes(self) -> tuple[int, ...]:
        """Rounds of another shape than most; none where no shape is that of half the rounds."""
        usual, count = Counter(self.shapes).most_common(1)[0]
        if 2 * count <= len(self.shapes):
            return ()
        return tuple(n for n, shape in enumerate(self.shapes, 1) if shape != usual)

    @cached_property
    def special(self) -> tuple[int, ...]:
        """Rounds worth a look: where a source begins to have another status than in most rounds,
        and where rounds of another shape begin."""
        found = {number for series in self.sources for number in series.begins_anew()}
        odd = self.odd_shapes
        found.update(n for n, before in zip(odd, (-1, *odd), strict=False) if n - before != 1)
        return tuple(sorted(found))

    @cached_property
    def telling(self) -> int:
        """The round to show first: the first one in which something is wrong, else the last."""
        troubled = (series.telling for series in self.sources if series.is_troubled)
        return min(troubled, default=len(self.calls))

    def filmed(self, most: int) -> tuple[int, ...]:
        """The rounds of a film of about so many frames: first, last, special, evenly between."""
        total = len(self.calls)
        even = {1 + round(n * (total - 1) / (most - 1)) for n in range(most)}
        return tuple(sorted(even.union(self.special[:most])))

    def gaps(self) -> Iterator[tuple[int, int]]:
        """The rounds that a list leaves out: after which round (from 1), and how many.

        Up to 1,000 rounds are listed in full; of more the first 60, the last 10 and the first of
        each status of each source.
        """
        total = len(self.calls)
        if total <= MOST_LISTED:
            return
        listed = {*range(1, FIRST_LISTED + 1), *range(total - LAST_LISTED + 1, total + 1)}
        for series in self.sources:
            listed.update(series.statuses.index(status) + 1 for status in {*series.statuses})
        for before, after in pairwise(sorted(listed)):
            if after - before > 1:
                yield before, after - before - 1


@dataclass(frozen=True, eq=False)
class Rounds:
    """All call sites of a run, in the order of their first calls."""

    sites: tuple[CallSite, ...] = ()

    @cached_property
    def _by_call(self) -> Mapping[CallId, CallSite]:
        return {call: site for site in self.sites for call in site.calls}

    def site_of(self, call: CallId | None) -> CallSite | None:
        return self._by_call.get(call) if call is not None else None

    def words(self, call: CallId | None) -> str:
        """``round 137 of 200``; empty for a call that is the only one of its place."""
        site = self.site_of(call)
        if call is None or site is None or len(site) == 1:
            return ""
        return f"round {site.round_of(call):,} of {len(site):,}"


NO_ROUNDS = Rounds()
