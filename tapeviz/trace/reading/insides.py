"""The part of a trace that one opened call of a compiled function adds."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

from .. import events as e
from ..ids import OpId
from ..ops import Op
from .tables import Tables
from .versions import Touched


class InsideKey(NamedTuple):
    """All that an inside depends on: the call, the graphs that it stands for, and what came of
    running it again."""

    call: OpId
    standing: frozenset[int]
    computed: e.InsideComputed | None

    def __hash__(self) -> int:
        return hash((self.call, self.standing, id(self.computed)))

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, InsideKey):
            return False
        return self[:2] == other[:2] and self.computed is other.computed


@dataclass(frozen=True, slots=True)
class Inside:
    """The tables of a call of a compiled function. ``tables``: what was read, over the tables of
    the whole; ``touched``: what it did to variables; ``emitted``: the graphs whose gradient calls
    were; ``call``: the op that stands for the call, as it is with its inside (None: of graphs that
    never ran)."""

    tables: Tables
    touched: Touched
    emitted: frozenset[int] = frozenset()
    call: Op | None = None


def inside_of(ran_as: OpId, stands: Op, tables: Tables, emitted: frozenset[int]) -> Inside:
    """The inside of a call that was read as the op ``ran_as``. ``stands``: the op that stands for
    it in the whole, which has that inside from now on."""
    read = tables.ops.pop(ran_as)
    for tensor in read.outputs:
        if tables.producers.get(tensor) == ran_as:
            del tables.producers[tensor]
    reruns = tables.functions.reruns
    if ran_as in reruns:
        reruns[stands.id] = reruns.pop(ran_as)
    call = stands.having(body=read.body, inside=read.inside, is_open=read.is_open)
    touched = Touched(ran_as, stands.id, tables.states.touched())
    return Inside(tables, touched, emitted, call)


def rest_of(tables: Tables) -> Inside:
    """The inside of graphs that never ran, read after all else."""
    nothing = OpId(0)
    return Inside(tables, Touched(nothing, nothing, tables.states.touched()))
