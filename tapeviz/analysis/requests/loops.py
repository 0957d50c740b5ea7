"""Choose the calls whose loops are run again, so that each turn is known."""

from __future__ import annotations

from collections.abc import Sequence

from ...trace.calls import Call
from ...trace.compiled.model import Loop
from ...trace.ids import OpId, TensorId
from ...trace.model import Trace
from ...trace.ops import Op
from ..flow.dataflow import DataFlow
from ..flow.paths import Paths
from ..status import is_zero
from .replays import starts_of

MOST_OPS = 10_000
"""Ops in all turns of a call's loops, up to which a gradient is led back through every turn."""


def loops_to_complete(flow: DataFlow) -> list[OpId]:
    """Calls with loops of which some turns were not recorded, on the path of gradients that are
    None or zero, or of which one may have run the branch in which gradients are asked for; as the
    numbers that a kernel knows them by."""
    trace = flow.trace
    lacking = {trace.ops[loop.op].within for loop in trace.loops.values() if lacked_turns(loop)}
    found: dict[OpId, None] = {}
    for call in trace.calls if lacking else ():
        around = {call.within} if call.in_branch and not has_values(trace, call) else set()
        if call.ended and any(_is_missing(trace, result) for result in call.results):
            edges = Paths(flow, call).ancestry_from(starts_of(flow, call)).into.values()
            ops = {edge.op for into in edges for edge in into if edge.op is not None}
            around.update(trace.ops[op].within for op in ops)
        for function in lacking.intersection(around):
            known = trace.op(function)
            if known is not None and known.ran_as is not None and _is_worth_turning(trace, known):
                found[known.ran_as] = None
    return list(found)


def has_values(trace: Trace, call: Call) -> bool:
    """Whether any gradient that a call gave is known."""
    results = [result for result in call.results if result is not None]
    return any(trace.stats(result) is not None for result in results)


def _is_missing(trace: Trace, result: TensorId | None) -> bool:
    return result is None or is_zero(trace.stats(result))


def _is_worth_turning(trace: Trace, function: Op) -> bool:
    loops = loops_of(trace, function)
    return ops_in_turns(loops) <= MOST_OPS and any(map(lacked_turns, loops))


def loops_of(trace: Trace, function: Op) -> list[Loop]:
    """The loops that ran in a call of a compiled function."""
    return [loop for loop in trace.loops.values() if trace.ops[loop.op].within == function.id]


def loops_around(trace: Trace, call: Call) -> tuple[Loop, ...]:
    """The compiled loops around a gradient call, in the opened call whose values it has: their
    bodies hold ops of the graph in which the gradient was asked for."""
    return tuple(
        loop
        for loop in trace.loops.values()
        if call.traced
        and trace.ops[loop.op].within == call.within
        and any(trace.ops[op].traced == call.traced for op in loop.body)
    )


def ops_in_turns(loops: Sequence[Loop]) -> int:
    """How many ops ran in all turns of these loops."""
    return sum((loop.count or 0) * len(loop.body) for loop in loops)


def lacked_turns(loop: Loop) -> int:
    """How many turns of an outermost loop were not recorded."""
    return max((loop.count or 0) - len(loop.turns), 0)
