"""Find every op that ran inside of an opened call, in each turn of its loops.

The trace has the ops of one turn of a loop, those drawn. The process of the run keeps the ops of
all turns that were computed again, and knows them by numbers.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

from .. import events as e
from ..body_events import InsidePath
from ..ids import OpId

OpPath = tuple[str, ...]
Turns = tuple[int, ...]


class Place(NamedTuple):
    """The place of an op in a call. ``names``: those of the ops that ran the graphs around it, from
    the outermost, and its own; ``branches``: for each graph around it which one of its op's it
    is."""

    names: OpPath
    branches: tuple[int, ...]


class DrawnOp(NamedTuple):
    """An op of the trace. ``turns``: one for each graph around it, of a loop the turn drawn, else
    0; ``loops``: the positions of the loops among them."""

    op: OpId
    turns: Turns
    loops: tuple[int, ...]


class RerunOp(NamedTuple):
    """One run of an op. ``number``: by which a replay knows it; ``op``: the one of the trace that
    is drawn for it, None if it ran in a loop that had no turn while the loop around it was in the
    turn drawn; ``turns``: of the loops around it, outermost first, from 0."""

    number: int
    op: OpId | None
    turns: Turns


class RerunOps:
    """The ops of one opened call. Nothing is computed before somebody asks."""

    def __init__(self, event: e.InsideComputed, drawn: Mapping[Place, Sequence[DrawnOp]]) -> None:
        self._event = event
        self._drawn = drawn

    def all(self) -> Iterator[RerunOp]:
        """Yield all ops that ran, in that order."""
        return (ran for _, _, ran in self._placed())

    def inside(self, op: OpId) -> Iterator[RerunOp]:
        """Yield the ops that ran inside of a call, loop or conditional, while the loops around it
        were in the turns drawn; and that op itself, once for each value that it passed on."""
        at = [
            (place, known) for place, ops in self._drawn.items() for known in ops if known.op == op
        ]
        for place, drawn in at:
            depth = len(place.names)
            for other, turns, ran in self._placed():
                if other.names[:depth] == place.names and turns[: depth - 1] == drawn.turns:
                    yield ran

    def _placed(self) -> Iterator[tuple[Place, Turns, RerunOp]]:
        branches: dict[tuple[OpPath, Turns], int] = {}
        for path, name, which in self._event.branches:
            around, turns = split(path)
            branches[(*around, name), turns] = which
        seen: dict[tuple[Place, Turns], int] = defaultdict(int)
        for path, name, number in self._event.ops:
            around, turns = split(path)
            taken = tuple(
                branches.get((around[: depth + 1], turns[:depth]), 0) for depth in range(len(turns))
            )
            place = Place((*around, name), taken)
            known, at = self._drawn.get(place, ()), seen[place, turns]
            seen[place, turns] += 1
            if not known:
                yield place, turns, RerunOp(number, None, ())
                continue
            # Of a loop there are as many as results that it passes on, and one is drawn.
            drawn = known[min(at, len(known) - 1)]
            of_loops = tuple(turns[loop] for loop in drawn.loops)
            yield place, turns, RerunOp(number, drawn.op, of_loops)


def split(path: InsidePath) -> tuple[OpPath, Turns]:
    """The names of the ops in a path, and the turn of each (0: it is no loop)."""
    return tuple(str(part) for part in path[::2]), tuple(int(part) for part in path[1::2])
