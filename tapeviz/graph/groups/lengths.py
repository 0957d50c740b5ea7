"""Tell which loops are repeats in every round of a call site, whose rounds may differ in turns.

A loop of few turns is drawn turn by turn. If it has more turns in another round, it is a repeat in
both: what a reader sees of a round must not change its shape with the length of a sequence.
"""

from __future__ import annotations

import numpy as np

from ...trace.model import Call, Trace
from .levels import turns_begun


def loops_in_all_rounds(trace: Trace, call: Call | None) -> frozenset[int]:
    """The header lines of the loops that had two turns or more in a round of a call's site.

    Empty if each loop had the same number of turns in all rounds. A round is what the tape recorded
    before the call: a loop around tape and call has no turn that begins in there.
    """
    spans = [_span(trace, other) for other in _rounds(trace, call)]
    if len(spans) < 2:
        return frozenset()
    starts, ends = np.array(spans).T
    found, differ = set(), False
    for line, begun in turns_begun(trace).items():
        turns = np.searchsorted(begun, ends) - np.searchsorted(begun, starts)
        differ |= bool(turns.min() != turns.max())
        if turns.max() > 1:
            found.add(line)
    return frozenset(found if differ else ())


def _rounds(trace: Trace, call: Call | None) -> list[Call]:
    """The calls of the same site that asked a tape while the snippet ran: one in a function that
    was traced has no turns of its own."""
    if call is None or call.tape is None or call.traced:
        return []
    place = call.site.id, call.method
    return [
        other
        for other in trace.calls
        if (other.site.id, other.method) == place and other.tape in trace.tapes and not other.traced
    ]


def _span(trace: Trace, call: Call) -> tuple[int, int]:
    """From where on in the order of events the tape recorded, and where the call began."""
    tape = trace.tape(call.tape)
    start = tape.intervals[0].start if tape is not None and tape.intervals else call.when
    return start, call.when
