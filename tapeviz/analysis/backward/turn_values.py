"""List what the names in compiled loops held in one turn."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from ...trace.model import Op, TensorId, Trace


@dataclass(frozen=True, slots=True)
class TurnValues:
    """One turn (from 1) of a compiled loop in an opened ``call``; of a loop in a loop, in the last
    turn of the outer one. ``values``: name, line, and the tensor with its value."""

    call: Op
    line: int
    turn: int
    count: int
    values: tuple[tuple[str, int, TensorId], ...]


def turn_values(trace: Trace, turn: int) -> Iterator[TurnValues]:
    """The turn of each compiled loop that has it, as far as its values are known."""
    for loop in trace.loops.values():
        op = trace.ops[loop.op]
        if op.within is None or loop.count is None or not loop.turns:
            continue
        known = loop.turns.get((*max(loop.turns)[:-1], turn - 1), {})
        named = (
            (trace.names[drawn][0], trace.ops[trace.producers[drawn]].line, value)
            for drawn, value in known.items()
            if trace.names.get(drawn) and drawn in trace.producers
        )
        if known:
            rows = tuple(sorted(set(named), key=lambda row: (row[1], row[0])))
            yield TurnValues(trace.ops[op.within], op.line, turn, loop.count, rows)
