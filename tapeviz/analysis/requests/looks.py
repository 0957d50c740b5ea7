"""Choose the calls of compiled functions that are run again, so that their inside is known.

TensorFlow keeps no value of what a compiled function computes on the way. Most of them nobody asks
for; a diagnosis needs some.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterator, Sequence

from ...trace.calls import Call
from ...trace.ids import OpId
from ...trace.model import Trace
from ...trace.ops import Op
from ..numbers.began import calls_to_compare
from ..status import is_troubled, status_of

MOST_SEARCHED = 8
"""Calls of a function, the last ones, that are looked into for one that took a branch which asks
for gradients."""
MOST_CALLS = 20
"""Looked into only because an eager gradient that went through them is not as it should be."""
MOST_DRAWN = 8
"""Looked into so that a first view can show their inside,"""
MOST_OPS_DRAWN = 1_000
"""with so many ops in them at most,"""
MOST_OPS_AROUND = 20_000
"""in a trace of so many ops at most: it is diagnosed once more."""


def calls_to_look_into(trace: Trace, number: int | None = None) -> list[OpId]:
    """The calls to ask the kernel's ``inside`` for (:attr:`Op.ran_as`), the most wanted first.

    These are the calls that an eager gradient may have gone through if it is None, zero or not
    finite, and small ones that are drawn at first; and for each function that asks for
    gradients itself the calls that may tell where NaN began, and the one of
    :func:`standing_calls`. Their results may be a reason for more: ask again until there are none.
    """
    eager = [call for call in trace.calls if not call.traced and call.ended]
    troubled = [call for call in eager if is_troubled(trace, call)]
    drawn = _drawn(trace, _first_shown(eager, troubled, number))
    through = sorted((_gone_through(trace, troubled) | drawn).values(), key=lambda op: op.when)
    asked = [op.ran_as for op in through if op.ran_as is not None]
    wanted = (*standing_calls(trace, number), *asked, *calls_to_compare(trace))
    known = {op.ran_as for op in trace.ops.values() if op.inside is not None}
    return [op for op in dict.fromkeys(wanted) if op not in known]


def standing_calls(trace: Trace, number: int | None = None) -> list[OpId]:
    """One call of each function that asks for gradients itself: the last, or this ``number``.

    Numbers count from 1.
    """
    within = (call.within for call in trace.calls if call.within is not None)
    shown = (trace.ops[op] for op in within if op in trace.ops)
    calls = dict.fromkeys(_numbered(trace, op, number).ran_as for op in shown)
    return [call for call in calls if call is not None]


def calls_without_branch(trace: Trace) -> list[OpId]:
    """The calls that stand for a branch of their function which asks for gradients and did not take
    it: nothing is known of these gradients there."""
    asking = (call for call in trace.calls if call.in_branch and not _is_known(trace, call))
    within = dict.fromkeys(call.within for call in asking if call.within is not None)
    return [
        op
        for op in within
        if (inside := trace.ops[op].inside) is not None and inside.state == "equal"
    ]


def _is_known(trace: Trace, call: Call) -> bool:
    tensors = (*call.target_tensors, *(each for each in call.results if each is not None))
    return any(trace.stats(tensor) is not None for tensor in tensors)


def call_before(trace: Trace, call: Op) -> OpId | None:
    """The call of the same function before this one, if it is of the last :data:`MOST_SEARCHED`."""
    function = trace.functions.get(call.runs)
    calls = function.calls[-MOST_SEARCHED:] if function is not None else ()
    place = calls.index(call.id) if call.id in calls else 0
    return trace.ops[calls[place - 1]].ran_as if place else None


def _gone_through(trace: Trace, troubled: Sequence[Call]) -> dict[OpId, Op]:
    """Calls of compiled functions under the tapes of troubled eager calls: of each place first
    those of the round in which NaN began, then those of the latest rounds. Where a gradient is
    None, also those that the target was made from before."""
    first: dict[tuple[int, str], Call] = {}
    for call in troubled:
        if any(status_of(trace, result) == "nonfinite" for result in call.results):
            first.setdefault((call.site.id, call.method), call)
    runs = [op for op in trace.ops.values() if op.runs]
    through: dict[OpId, Op] = {}
    for call in (*first.values(), *reversed(troubled)):
        for op in _under_tape(trace, call, runs):
            if len(through) >= MOST_CALLS:
                return through
            through[op.id] = op
    seen: set[OpId] = set()
    for call in reversed(troubled):
        for op in _behind(trace, call, seen) if None in call.results else ():
            if len(through) >= MOST_CALLS:
                return through
            through[op.id] = op
    return through


def _behind(trace: Trace, call: Call, seen: set[OpId]) -> Iterator[Op]:
    """The calls of compiled functions that the targets were made from, on paths of tensors; each
    op that is passed is added to ``seen``, and is not passed again."""
    waiting = list(call.target_tensors)
    while waiting:
        op = trace.maker(waiting.pop())
        if op is not None and op.id not in seen:
            seen.add(op.id)
            waiting.extend(op.inputs)
            ran = op if op.within is None else trace.ops[op.within]
            if ran.runs and (ran is op or ran.id not in seen):
                seen.add(ran.id)
                yield ran


def _first_shown(
    calls: Sequence[Call], troubled: Sequence[Call], number: int | None
) -> Sequence[Call]:
    """The call of each place that is drawn at first (``default_call``): the first in trouble, else
    the last; or this ``number``."""
    rounds: dict[tuple[int, str], list[Call]] = {}
    for call in calls:
        rounds.setdefault((call.site.id, call.method), []).append(call)
    if number is not None:
        return [each[number - 1] if number <= len(each) else each[-1] for each in rounds.values()]
    shown = {place: each[-1] for place, each in rounds.items()}
    shown |= {(call.site.id, call.method): call for call in reversed(troubled)}
    return list(shown.values())


def _drawn(trace: Trace, shown: Sequence[Call]) -> dict[OpId, Op]:
    """Small calls of compiled functions under the tapes of the gradient calls that are drawn at
    first: the picture shows their inside."""
    if len(trace.ops) > MOST_OPS_AROUND:
        return {}
    runs = [op for op in trace.ops.values() if op.runs]
    drawn: dict[OpId, Op] = {}
    size = 0
    for call in reversed(shown):
        for op in _under_tape(trace, call, runs):
            size += trace.functions[op.runs].size
            if len(drawn) >= MOST_DRAWN or size > MOST_OPS_DRAWN:
                return drawn
            drawn[op.id] = op
    return drawn


def _under_tape(trace: Trace, call: Call, runs: Sequence[Op]) -> Iterator[Op]:
    """The calls of compiled functions before a gradient call that its tape was open for, the last
    one first; all of them where the tape is not known. ``runs``: those of the trace, in order."""
    tape = trace.tape(call.tape)
    for op in reversed(runs[: bisect_left(runs, call.when, key=lambda op: op.when)]):
        if tape is not None and op.when < tape.when:
            return
        if tape is None or tape.is_recording(op.when):
            yield op


def _numbered(trace: Trace, call: Op, number: int | None) -> Op:
    """The call of this number of the same function; this one where there is none."""
    calls = trace.functions[call.runs].calls if call.runs in trace.functions else ()
    if number is None or number > len(calls):
        return call
    return trace.ops[calls[number - 1]]
