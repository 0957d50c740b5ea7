"""A trace in; the calls of compiled functions to run again, so that their inside is known, out.

TensorFlow keeps no value of what a compiled function computes on the way. Most of them nobody asks
for; a diagnosis needs some.
"""

from __future__ import annotations

from ..trace.model import Call, Op, OpId, Trace
from .status import status_of

MOST_CALLS = 20
"""Looked into only because an eager gradient that went through them is not as it should be."""


def calls_to_look_into(trace: Trace, number: int | None = None) -> list[OpId]:
    """The calls to ask the kernel's ``inside`` for (:attr:`Op.ran_as`), the most important last.

    Of gradients asked eagerly that are None, zero or not finite the calls that they may have gone
    through. Of each function that asks for gradients itself the call that stands for all: the last
    one, or the one of this ``number``, from 1.
    """
    opened = [op for op in trace.ops.values() if op.runs and op.body]
    through: dict[OpId, Op] = {}
    for call in reversed(trace.calls):
        if not call.traced and call.ended and _is_troubled(trace, call):
            tape = trace.tapes.get(call.tape) if call.tape is not None else None
            for op in reversed(opened):
                is_under = tape is None or tape.is_recording(op.when)
                if is_under and op.when < call.when and len(through) < MOST_CALLS:
                    through[op.id] = op
    within = (call.within for call in trace.calls if call.within is not None)
    shown = (trace.ops[number] for number in within if number in trace.ops)
    standing = {op.id: op for op in (_numbered(trace, op, number) for op in shown)}
    others = sorted(through.values(), key=lambda op: op.when)
    wanted = [*(op for op in others if op.id not in standing), *standing.values()]
    return [op.ran_as for op in wanted if op.inside is None and op.ran_as is not None]


def _numbered(trace: Trace, call: Op, number: int | None) -> Op:
    """The call of this number of the same function; this one where there is none."""
    calls = trace.functions[call.runs].calls if call.runs in trace.functions else ()
    if number is None or number > len(calls):
        return call
    return trace.ops[calls[number - 1]]


def _is_troubled(trace: Trace, call: Call) -> bool:
    return any(status_of(trace, result) != "flows" for result in call.results)
