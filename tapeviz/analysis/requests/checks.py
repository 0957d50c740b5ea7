"""Choose the gradients that are compared with finite differences."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterator
from itertools import accumulate
from operator import attrgetter
from typing import Any

from ...trace.calls import Call
from ...trace.ids import TensorId
from ...trace.model import Trace
from ..flow.dataflow import DataFlow
from ..flow.paths import Paths
from .replays import run_shown, seeds_of, starts_of, unconnected


def checks(flow: DataFlow, *, also_flowing: bool) -> Iterator[dict[str, Any]]:
    """The arguments of the kernel's ``check`` for each gradient that a replay gave.

    ``also_flowing``: for those that the tape gave, too.
    """
    trace = flow.trace
    calls = [
        call
        for call in trace.calls
        if call.method == "gradient" and call.ended and (call.replay or also_flowing)
    ]
    if not calls:
        return
    numbers = _EagerNumbers(trace)
    for call in calls:
        without = unconnected(trace, call)
        wanted = [
            (source.tensor, found)
            for place, source in enumerate(call.sources)
            if (found := _to_be_checked(call, place, place in without, also_flowing)) is not None
            and source.tensor is not None
        ]
        if not wanted or not trace.variables.keys().isdisjoint(call.target_tensors):
            continue  # what a variable holds is not computed again
        until = max(numbers.last_before(call.when), call.within or 0)
        paths, starts = Paths(flow, call), starts_of(flow, call)
        since = paths.writes_since(starts)
        updates = 0 if paths.ancestry_from(starts) is paths.recent else paths.begin
        for tensor, found in wanted:
            yield {
                "call": call.id,
                **run_shown(trace, call),
                "source": tensor,
                "gradient": found,
                "seeds": seeds_of(trace, call),
                "writes_since": numbers.last_before(since) + 1,
                "updates_since": numbers.last_before(updates) + 1,
                "until": until,
            }


class _EagerNumbers:
    """The numbers of the ops that ran eagerly, by their position in the order of events.

    The inside of a compiled call has numbers of its own; it counts where its call stands.
    """

    def __init__(self, trace: Trace) -> None:
        eager = (op for op in trace.ops.values() if op.within is None)
        ordered = sorted(eager, key=attrgetter("when"))
        self._whens = [op.when for op in ordered]
        self._highest = list(accumulate((op.id for op in ordered), max))

    def last_before(self, when: int) -> int:
        """The highest number of an op before that position; 0 if there is none."""
        place = bisect_left(self._whens, when)
        return self._highest[place - 1] if place else 0


def _to_be_checked(
    call: Call, place: int, is_unconnected: bool, also_flowing: bool
) -> TensorId | None:
    """The gradient of a source that is worth to be compared with finite differences."""
    key = str(call.sources[place].tensor)
    replayed = call.replay.results.get(key) if call.replay is not None else None
    if is_unconnected:
        return replayed or call.beyond.get(key)
    return replayed or call.results[place] if also_flowing else None
