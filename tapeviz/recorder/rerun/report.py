"""The report about the inside of a call that was run again."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass, field
from typing import Any

from ..history import KeptOp


@dataclass(slots=True)
class InsideReport:
    """The report about one call's inside.

    ``event``: the fields of the ``inside`` event but for the numbers of ops; ``tensors``: the
    values that it names; ``ops``: each op with its path and its name.
    """

    event: dict[str, Any]
    tensors: list[tuple[int, Any]] = field(default_factory=list)
    ops: list[tuple[list[Any], str, KeptOp]] = field(default_factory=list)
    has_gaps: bool = False
    """Something on the way from the arguments to the results is none of the ops."""
    is_turned: bool = False
    """It has loops, and ``ops`` are all that ran in all their turns."""

    def keep_turns(self, turns: Collection[int]) -> None:
        """Leave only the values of these turns of loops: the others were emitted before."""
        rows = [row for row in self.event["values"] if not set(turns).isdisjoint(row[0][1::2])]
        names = {name for _, _, name, _ in rows}
        self.event |= {"values": rows, "branches": [], "turns": [], "adds": True}
        self.tensors = [(name, tensor) for name, tensor in self.tensors if name in names]
        self.ops, self.has_gaps = [], True


def report_without_function(op: int) -> InsideReport:
    """The report about a call, the eager op of this number, whose function is gone."""
    why = "the snippet dropped the function"
    event = {"op": op, "state": "unchecked", "why": why, "values": []}
    return InsideReport(event, has_gaps=True)
