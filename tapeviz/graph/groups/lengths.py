"""Tell which loops and comprehensions are repeats in every round of a call site, whose rounds may
differ in turns.

A loop of few turns is drawn turn by turn. If it has more turns in another round, it is a repeat in
both: what a reader sees of a round must not change its shape with the length of a sequence.
"""

from __future__ import annotations

import numpy as np

from ...latest import for_latest
from ...trace.calls import Call
from ...trace.levels.op_levels import comprehensions, turns_begun
from ...trace.model import Trace

Lasting = tuple[frozenset[int], frozenset[int]]
_NONE: Lasting = frozenset(), frozenset()


@for_latest
def _answers(trace: Trace) -> dict[tuple[int, str], Lasting]:
    """Keep the answers for the places of a trace: the rounds of a place are drawn one after the
    other."""
    return {}


def repeats_in_all_rounds(trace: Trace, call: Call | None) -> Lasting:
    """The header lines of the loops that had two turns or more in a round of a call's site, and the
    lines of the comprehensions that ran more ops in one round than in another.

    No loops if each had the same number of turns in all rounds. A round is what the tape recorded
    before the call: a loop around tape and call has no turn that begins in there.
    """
    if call is None or call.tape is None or call.traced:  # one that was traced has no own turns
        return _NONE
    place = call.site.id, call.method
    known = _answers(trace)
    if place not in known:
        known[place] = _lasting(trace, place)
    return known[place]


def _lasting(trace: Trace, place: tuple[int, str]) -> Lasting:
    spans = [_span(trace, other) for other in _rounds(trace, place)]
    if len(spans) < 2:
        return _NONE
    starts, ends = np.array(spans).T
    found, differ = set(), False
    for line, begun in turns_begun(trace).items():
        turns = np.searchsorted(begun, ends) - np.searchsorted(begun, starts)
        differ |= bool(turns.min() != turns.max())
        if turns.max() > 1:
            found.add(line)
    whens: dict[int, list[int]] = {line: [] for line in comprehensions(trace)}
    for op in trace.ops.values() if whens else ():
        if op.line in whens:
            whens[op.line].append(op.when)
    ran = {line: np.sort(np.array(each)) for line, each in whens.items() if each}
    counts = {
        line: np.searchsorted(each, ends) - np.searchsorted(each, starts)
        for line, each in ran.items()
    }
    varying = frozenset(line for line, count in counts.items() if count.min() != count.max())
    return frozenset(found if differ else ()), varying


def _rounds(trace: Trace, place: tuple[int, str]) -> list[Call]:
    """The calls of a site and method that asked a tape while the snippet ran."""
    return [
        call
        for call in trace.calls
        if (call.site.id, call.method) == place and call.tape in trace.tapes and not call.traced
    ]


def _span(trace: Trace, call: Call) -> tuple[int, int]:
    """The stretch in the order of events in which the tape recorded before the call: its first
    position, and the one after its last."""
    tape = trace.tape(call.tape)
    if tape is None or not tape.intervals:
        return call.when, call.when
    return tape.intervals[0].start, min(call.when, tape.intervals[-1].end)
