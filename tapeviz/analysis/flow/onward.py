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
Place: TypeAlias = int
"""A position, by its number in the ancestry."""
_ENTERED, _FOLLOWED = 1, 2
PASSES = -1
"""The number of an edge that a gradient passes: there is no cut on it."""


class ByPlace(Generic[_Value]):
    """A value for each place, known for the first ``done`` places of :attr:`Onward._followed`."""

    def __init__(self, otherwise: _Value) -> None:
        self._otherwise = otherwise
        self._values: list[_Value] = []
        self.done = 0

    def grow(self, count: int) -> None:
        """Have room for so many places."""
        self._values += [self._otherwise] * (count - len(self._values))

    def at(self, place: Place) -> _Value:
        return self._values[place]

    def update(self, place: Place, value: _Value) -> bool:
        """Set a value. Returns whether another one was known before."""
        is_new = self._values[place] != value
        if is_new:
            self._values[place] = value
        return is_new


class Onward(ABC):
    """The edges of an ancestry that lead on from the positions that were asked about.

    They stand in arrays: there may be as many as the recording has ops.
    """

    def __init__(self, ancestry: Ancestry) -> None:
        self.ancestry = ancestry
        self.is_passed_by = False
        """Whether both a cut edge and one without a cut begin at some position."""
        self._entered = bytearray(len(ancestry))
        """For each place 0, ``_ENTERED`` if it was found, ``_FOLLOWED`` if all that edges lead to
        from there was found, too."""
        self._followed = array("i")
        """The places that were followed, each after those that its edges lead to."""
        self._first, self._count = (array("i", [0]) * len(ancestry) for _ in range(2))
        """Where the edges from each place begin, and how many there are."""
        self._ends, self._numbers = array("i"), array("i")
        self._has_circles = False

    @abstractmethod
    def number(self, edge: DataEdge) -> int:
        """The number of the cut on an edge, else :data:`PASSES`. Asked once for each edge."""

    def edges_out_of(self, place: Place) -> Sequence[DataEdge]:
        return self.ancestry.edges_out_of(place)

    def onward(self, place: Place) -> Iterable[tuple[Place, int]]:
        """The edges from a place: their ends, and what :meth:`number` gives."""
        first = self._first[place]
        beyond = first + self._count[place]
        return zip(self._ends[first:beyond], self._numbers[first:beyond], strict=True)

    def find(self, starts: Collection[Position]) -> Collection[Place]:
        """Follow the edges that lead on from these positions. Returns the places of those from
        which the targets are made."""
        places = self.ancestry.places
        begun = [places[start] for start in places.keys() & starts]
        for place in begun:
            if not self._entered[place]:
                self._follow(place)
        return begun

    def _follow(self, place: Place) -> None:
        places, entered = self.ancestry.places, self._entered
        edges = self.edges_out_of(place)
        waiting = [(place, edges, iter(edges))]
        entered[place] = _ENTERED
        while waiting:
            place, edges, rest = waiting[-1]
            for edge in rest:
                end = places[edge.end]
                if not entered[end]:
                    entered[end] = _ENTERED
                    onward = self.edges_out_of(end)
                    waiting.append((end, onward, iter(onward)))
                    break
                if entered[end] == _ENTERED:
                    self._has_circles = True
            else:
                waiting.pop()
                entered[place] = _FOLLOWED
                self._first[place], self._count[place] = len(self._ends), len(edges)
                numbers = [self.number(edge) for edge in edges]
                self._ends.extend([places[edge.end] for edge in edges])
                self._numbers.extend(numbers)
                self._followed.append(place)
                if len(edges) > 1 and not self.is_passed_by:
                    passing = [number == PASSES for number in numbers]
                    self.is_passed_by = any(passing) and not all(passing)

    def settle(self, known: ByPlace[_Value], work_out: Callable[[Place], _Value]) -> None:
        """Compute the values that are not known yet: once, or where edges lead in a circle, again
        and again until none changes."""
        lacking = self._followed[known.done :]
        known.done = len(self._followed)
        known.grow(len(self._entered))
        is_changing = bool(lacking)
        while is_changing:
            changes = [known.update(place, work_out(place)) for place in lacking]
            is_changing = self._has_circles and any(changes)
