"""Positions in, where their edges lead on: found once for all sources of a call.

A call may have thousands of sources, and the paths of most lead through the same ops. So nothing is
worked out for a source alone: what is known of a position follows from the positions that edges
lead to from there, and holds for every source that leads to it.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from array import array
from collections.abc import Callable, Collection, Iterable, Sequence
from typing import Generic, TypeAlias, TypeVar

from .ancestry import Ancestry, DataEdge, Position

_Value = TypeVar("_Value")
PositionIndex: TypeAlias = int
"""A position, by its index in the ancestry (:attr:`Ancestry.index_of`)."""
_ENTERED, _FOLLOWED = 1, 2
PASSES = -1
"""The number of an edge that a gradient passes: there is no cut on it."""


class ByPosition(Generic[_Value]):
    """A value for each position, known for the first ``done`` of :attr:`ForwardEdges._followed`."""

    def __init__(self, otherwise: _Value) -> None:
        self._otherwise = otherwise
        self._values: list[_Value] = []
        self.done = 0

    def grow(self, count: int) -> None:
        """Have room for so many positions."""
        self._values += [self._otherwise] * (count - len(self._values))

    def at(self, index: PositionIndex) -> _Value:
        return self._values[index]

    def update(self, index: PositionIndex, value: _Value) -> bool:
        """Set a value. Returns whether another one was known before."""
        is_new = self._values[index] != value
        if is_new:
            self._values[index] = value
        return is_new


class ForwardEdges(ABC):
    """The edges of an ancestry that lead on from the positions that were asked about.

    They stand in arrays: there may be as many as the recording has ops.
    """

    def __init__(self, ancestry: Ancestry) -> None:
        self.ancestry = ancestry
        self.is_passed_by = False
        """Whether both a cut edge and one without a cut begin at some position."""
        self._entered = bytearray(len(ancestry))
        """For each position 0, ``_ENTERED`` if it was found, ``_FOLLOWED`` if all that edges lead
        to from there was found, too."""
        self._followed = array("i")
        """The positions that were followed, each after those that its edges lead to."""
        self._first, self._count = (array("i", [0]) * len(ancestry) for _ in range(2))
        """Where the edges from each position begin, and how many there are."""
        self._ends, self._numbers = array("i"), array("i")
        self._has_circles = False

    @abstractmethod
    def number(self, edge: DataEdge) -> int:
        """The number of the cut on an edge, else :data:`PASSES`. Asked once for each edge."""

    def edges_out_of(self, index: PositionIndex) -> Sequence[DataEdge]:
        return self.ancestry.edges_out_of(index)

    def onward(self, index: PositionIndex) -> Iterable[tuple[PositionIndex, int]]:
        """The edges from a position: their ends, and what :meth:`number` gives."""
        first = self._first[index]
        beyond = first + self._count[index]
        return zip(self._ends[first:beyond], self._numbers[first:beyond], strict=True)

    def find(self, starts: Collection[Position]) -> Collection[PositionIndex]:
        """Follow the edges that lead on from these positions. Returns the indices of those from
        which the targets are made."""
        index_of = self.ancestry.index_of
        begun = [index_of[start] for start in index_of.keys() & starts]
        for index in begun:
            if not self._entered[index]:
                self._follow(index)
        return begun

    def _follow(self, index: PositionIndex) -> None:
        index_of, entered = self.ancestry.index_of, self._entered
        edges = self.edges_out_of(index)
        waiting = [(index, edges, iter(edges))]
        entered[index] = _ENTERED
        while waiting:
            index, edges, rest = waiting[-1]
            for edge in rest:
                end = index_of[edge.end]
                if not entered[end]:
                    entered[end] = _ENTERED
                    onward = self.edges_out_of(end)
                    waiting.append((end, onward, iter(onward)))
                    break
                if entered[end] == _ENTERED:
                    self._has_circles = True
            else:
                waiting.pop()
                entered[index] = _FOLLOWED
                self._first[index], self._count[index] = len(self._ends), len(edges)
                numbers = [self.number(edge) for edge in edges]
                self._ends.extend([index_of[edge.end] for edge in edges])
                self._numbers.extend(numbers)
                self._followed.append(index)
                if len(edges) > 1 and not self.is_passed_by:
                    passing = [number == PASSES for number in numbers]
                    self.is_passed_by = any(passing) and not all(passing)

    def settle(
        self, known: ByPosition[_Value], work_out: Callable[[PositionIndex], _Value]
    ) -> None:
        """Compute the values that are not known yet: once, or where edges lead in a circle, again
        and again until none changes."""
        lacking = self._followed[known.done :]
        known.done = len(self._followed)
        known.grow(len(self._entered))
        is_changing = bool(lacking)
        while is_changing:
            changes = [known.update(index, work_out(index)) for index in lacking]
            is_changing = self._has_circles and any(changes)
