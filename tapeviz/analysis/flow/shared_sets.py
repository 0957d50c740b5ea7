"""Sets of numbers that share what they have in common, so that each of many costs what it adds."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import Generic, TypeAlias, TypeVar

_Value = TypeVar("_Value")


class SomeNumbers:
    """A number, and the set of the lower ones. Equal sets are one object."""

    __slots__ = ("highest", "lower", "lowest")

    def __init__(self, highest: int, lower: SomeNumbers | None) -> None:
        self.highest = highest
        self.lower = lower
        self.lowest: int = highest if lower is None else lower.lowest


SharedSet: TypeAlias = SomeNumbers | None
"""None: the empty set."""
EVERYTHING: SharedSet = SomeNumbers(0, None)
"""The set of all numbers."""


class SharedSets:
    """Makes such sets. Joining or intersecting two looks at the numbers above what they share."""

    def __init__(self) -> None:
        self._made: dict[int | tuple[int, SomeNumbers], SomeNumbers] = {}

    def join(self, sets: Iterable[SharedSet]) -> SharedSet:
        """The union, joined two by two, so that no number is looked at once for each of many
        sets."""
        joined = list(dict.fromkeys(sets))
        while len(joined) > 1:
            pairs = [self._union(*joined[k : k + 2]) for k in range(0, len(joined) - 1, 2)]
            joined = pairs + joined[len(pairs) * 2 :]
        return joined[0] if joined else None

    def _union(self, first: SharedSet, second: SharedSet) -> SharedSet:
        if first is EVERYTHING or second is EVERYTHING:
            return EVERYTHING
        above: list[int] = []
        while first is not second:
            if first is None or (second is not None and first.highest < second.highest):
                first, second = second, first
            assert first is not None
            above.append(first.highest)
            if second is not None and second.highest == first.highest:
                second = second.lower
            first = first.lower
            if second is None:
                break
        return self._on_top(above, first)

    def intersect(self, first: SharedSet, second: SharedSet) -> SharedSet:
        if first is EVERYTHING:
            return second
        if second is EVERYTHING:
            return first
        both: list[int] = []
        while first is not second and first is not None and second is not None:
            if first.highest < second.highest:
                first, second = second, first
            elif second.highest == first.highest:
                both.append(first.highest)
                second = second.lower
            first = first.lower
        return self._on_top(both, first if first is second else None)

    def _on_top(self, numbers: list[int], lower: SharedSet) -> SharedSet:
        """``numbers``: from the highest."""
        for number in reversed(numbers):
            key = number if lower is None else (number, lower)  # many are alone
            if key not in self._made:
                self._made[key] = SomeNumbers(number, lower)
            lower = self._made[key]
        return lower

    def of(self, number: int) -> SharedSet:
        return self._on_top([number], None)


class BySet(Generic[_Value]):
    """Values by set, each worked out from that of the set of its lower numbers.

    Those of sets with one number are not kept: there may be as many as numbers, and they cost
    little.
    """

    def __init__(self, empty: _Value) -> None:
        self._empty = empty
        self._known: dict[SomeNumbers, _Value] = {}

    def of(self, some: SharedSet, with_highest: Callable[[SomeNumbers, _Value], _Value]) -> _Value:
        """The value of a set. ``with_highest``: makes it from the set and the value of the set of
        its lower numbers."""
        above: list[SomeNumbers] = []
        for each in lower_sets(some):
            if each in self._known:
                value = self._known[each]
                break
            above.append(each)
        else:
            value = self._empty
        for each in reversed(above):
            value = with_highest(each, value)
            if each.lower is not None:
                self._known[each] = value
        return value


def lower_sets(some: SharedSet, lowest: int = 0) -> Iterator[SomeNumbers]:
    """The set, the set without its highest number, and so on, while the highest is at least
    ``lowest``."""
    while some is not None and some.highest >= lowest:
        yield some
        some = some.lower


def numbers_in(some: SharedSet) -> Iterator[int]:
    """Yield the numbers in a set, the highest first."""
    return (lower.highest for lower in lower_sets(some))


def contains(some: SharedSet, number: int) -> bool:
    if some is EVERYTHING:
        return True
    if some is None or not some.lowest <= number <= some.highest:
        return False
    return number == some.lowest or any(each.highest == number for each in lower_sets(some, number))
