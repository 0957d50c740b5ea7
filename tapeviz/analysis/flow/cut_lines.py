"""A set of cuts in, those of them that come first in an order out, line by line.

A source may have thousands of cuts on its paths, and the next source nearly the same ones. So the
first lines of a set follow from those of the set of its lower numbers, and no more than
:data:`MOST_LINES` are listed.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable, Hashable, Sequence
from dataclasses import replace
from functools import cached_property
from operator import attrgetter
from typing import Any

from ..findings import MOST_OTHERS, Cause, Link
from .shared_lists import SharedList, in_front
from .shared_sets import BySet, SharedSet, SomeNumbers, lower_sets

MOST_LINES = MOST_OTHERS + 2
"""The deciding one, as many others as are kept, and one that tells that there are more."""


class CutLine:
    """The cuts of a set that have a label. ``key``: that of the first of them in an order, whose
    cause is ``first``; ``links``: the edges of all."""

    def __init__(self, label: Hashable, key: Any, first: Cause, links: SharedList[Link] | None):
        self.label = label
        self.key = key
        self.first = first
        self.links = links

    @cached_property
    def cause(self) -> Cause:
        """The first cause, with the edges of all."""
        links = self.links
        if links is None or len(links) == len(self.first.links):
            return self.first
        return replace(self.first, links=links)


class CutLines:
    """The first lines of sets of cuts, whose numbers are places in ``causes``.

    ``order``: gives the key of a cut, which is less for one that comes before another; ``label``:
    cuts with the same label are a line, those without one (None) are left out.
    """

    def __init__(
        self,
        causes: Sequence[Cause],
        order: Callable[[int], Any],
        label: Callable[[int], Hashable],
    ) -> None:
        self._causes = causes
        self._order = order
        self._label = label
        self._first = BySet[tuple[CutLine, ...]](())
        self._beyond: dict[SomeNumbers, CutLine] = {}
        """Lines that are not among the first of a set, by the sets of which they have the highest
        number."""
        self._lowest: dict[Hashable, int] = {}
        self._numbered = 0

    def of(self, cuts: SharedSet) -> tuple[CutLine, ...]:
        """The first lines in their order, at most :data:`MOST_LINES`."""
        return self._first.of(cuts, self._with_highest)

    def line(self, cuts: SharedSet, label: Hashable) -> CutLine | None:
        """The line of this label, be it among the first or not."""
        first = self.of(cuts)
        known = next((line for line in first if line.label == label), None)
        if known is not None or len(first) < MOST_LINES:
            return known
        line: CutLine | None = None
        above: list[SomeNumbers] = []
        for some in lower_sets(cuts, self._lowest_with(label)):
            if self._label(some.highest) == label:
                line = self._beyond.get(some)
                if line is not None:
                    break
                above.append(some)
        for some in reversed(above):
            line = self._beyond[some] = self._with(some.highest, label, line)
        return line

    def _with_highest(self, some: SomeNumbers, lines: tuple[CutLine, ...]) -> tuple[CutLine, ...]:
        """``lines``: the first ones of the lower numbers."""
        label = self._label(some.highest)
        if label is None:
            return lines
        known = next((line for line in lines if line.label == label), None)
        if known is None and len(lines) == MOST_LINES:
            if self._key(some.highest) > lines[-1].key:
                return lines
            known = self.line(some.lower, label)
        line = self._with(some.highest, label, known)
        found = [other for other in lines if other is not known]
        found.insert(bisect_left(found, line.key, key=attrgetter("key")), line)
        return tuple(found[:MOST_LINES])

    def _with(self, cut: int, label: Hashable, line: CutLine | None) -> CutLine:
        """The line with one more cut, whose number is higher than those of the others."""
        key, first = self._key(cut), self._causes[cut]
        links = in_front(first.links, line.links if line is not None else None)
        if line is not None and line.key < key:
            key, first = line.key, line.first
        return CutLine(label, key, first, links)

    def _key(self, cut: int) -> Any:
        """The last of cuts that are alike in the order comes first."""
        return self._order(cut), -cut

    def _lowest_with(self, label: Hashable) -> int:
        """The lowest number of a cut with this label."""
        for cut in range(self._numbered, len(self._causes)):
            self._lowest.setdefault(self._label(cut), cut)
        self._numbered = len(self._causes)
        return self._lowest.get(label, self._numbered)
