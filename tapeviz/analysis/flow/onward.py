"""Positions in, where their edges lead on: found once for all sources of a call.

A call may have thousands of sources, and the ways of most lead through the same ops. So nothing is
worked out for a source alone: what is known of a position follows from the positions that edges
lead to from there, and holds for every source that leads to it.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Collection, Sequence
from typing import Generic, TypeVar

from .dataflow import Ancestry, DataEdge, Position

_Value = TypeVar("_Value")
PASSES = -1
"""In place of a number, on an edge that has nothing on it."""


class ByPosition(Generic[_Value]):
    """Values by position, worked out for the first ``done`` positions that were found."""

    def __init__(self, otherwise: _Value) -> None:
        self._values: dict[Position, _Value] = {}
        self._otherwise = otherwise
        self.done = 0

    def at(self, position: Position) -> _Value:
        return self._values.get(position, self._otherwise)

    def update(self, position: Position, value: _Value) -> bool:
        """Whether something else was known before."""
        is_new = self.at(position) != value
        if is_new:
            self._values[position] = value
        return is_new


class Onward(ABC):
    """The edges of an ancestry that lead on from the positions that were asked about."""

    def __init__(self, ancestry: Ancestry) -> None:
        self.ancestry = ancestry
        self.edges: dict[Position, tuple[tuple[Position, int], ...]] = {}
        """The edges from each position that was found, in an order in which those that they lead to
        come first: their ends, and what :meth:`number` gives."""
        self.is_passed_by = False
        """Whether some position begins both an edge with a number and one without."""
        self._found: list[Position] = []
        self._has_circles = False

    @abstractmethod
    def number(self, edge: DataEdge) -> int:
        """The number of what is on an edge, else :data:`PASSES`. Asked once for each edge."""

    def edges_out_of(self, position: Position) -> Sequence[DataEdge]:
        return self.ancestry.edges_out_of(position)

    def find(self, starts: Collection[Position]) -> Collection[Position]:
        """Find what these positions lead to. Gives those of them that the targets are made from."""
        begun = self.ancestry.into.keys() & starts
        for start in begun:
            if start not in self.edges:
                self._find_onward(start)
        return begun

    def _find_onward(self, start: Position) -> None:
        edges = self.edges_out_of(start)
        waiting, entered = [(start, edges, iter(edges))], {start}
        while waiting:
            position, edges, rest = waiting[-1]
            for edge in rest:
                end = edge.end
                if end in entered:
                    self._has_circles = True
                elif end not in self.edges:
                    onward = self.edges_out_of(end)
                    waiting.append((end, onward, iter(onward)))
                    entered.add(end)
                    break
            else:
                waiting.pop()
                entered.remove(position)
                self.edges[position] = tuple([(edge.end, self.number(edge)) for edge in edges])
                self._found.append(position)
                if len(edges) > 1 and not self.is_passed_by:
                    passing = [number == PASSES for _, number in self.edges[position]]
                    self.is_passed_by = any(passing) and not all(passing)

    def settle(self, known: ByPosition[_Value], work_out: Callable[[Position], _Value]) -> None:
        """Work out what is not known yet: once, and where ways lead in a circle until nothing
        changes."""
        lacking = self._found[known.done :]
        known.done = len(self._found)
        is_changing = bool(lacking)
        while is_changing:
            changes = [known.update(position, work_out(position)) for position in lacking]
            is_changing = self._has_circles and any(changes)
