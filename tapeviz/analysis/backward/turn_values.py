"""List what the names in compiled loops held in one turn."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from ...trace.ids import TensorId
from ...trace.model import Trace
from ...trace.ops import Op


@dataclass(frozen=True, slots=True)
class TurnValues:
    """One turn (from 1) of a compiled loop in an opened ``call``; of a loop in a loop, in the last
    turn of the outer one. ``values``: name, line, and the tensor with its value; ``begun``: of
    these the ones that the turn began with, from the turn before or from outside the loop."""

    call: Op
    line: int
    turn: int
    count: int
    values: tuple[tuple[str, int, TensorId], ...]
    begun: frozenset[TensorId]


def turn_values(trace: Trace, turn: int) -> Iterator[TurnValues]:
    """The turn of each compiled loop that has it, as far as its values are known."""
    for loop in trace.loops.values():
        op = trace.ops[loop.op]
        if op.within is None or loop.count is None or not loop.turns:
            continue
        known = loop.turns.get((*max(loop.turns)[:-1], turn - 1), {})
        given_on = dict(loop.carried)
        named = (
            (name, _line(trace, drawn), value)
            for drawn, value in known.items()
            if (name := _name(trace, drawn, given_on.get(drawn)))
        )
        if known:
            begun = frozenset(known[taken] for taken in given_on if taken in known)
            rows = sorted(set(named), key=lambda row: (row[2] not in begun, row[1], row[0]))
            call = trace.ops[op.within]
            yield TurnValues(call, op.line, turn, loop.count, tuple(rows), begun)


def _line(trace: Trace, tensor: TensorId) -> int:
    """The line that made a tensor; 0 for an argument of the function."""
    producer = trace.producers.get(tensor)
    return trace.ops[producer].line if producer is not None else 0


def _name(trace: Trace, tensor: TensorId, given: TensorId | None) -> str:
    """The name of a tensor; of one that a turn begins with the name that it shares with the tensor
    ``given`` on to the next turn, as ``y`` in a loop after ``y = x``. Empty where there is none,
    and for an argument of the function that the loop only reads."""
    names = trace.names.get(tensor, ())
    on = trace.names.get(given, ()) if given is not None else ()
    shared = next((name for name in on if name in names), "")
    return shared or next((name for name in names if tensor in trace.producers), "")
