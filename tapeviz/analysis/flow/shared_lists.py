"""Lists that share their ends, so that each of many costs what it adds in front."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TypeVar, overload

_Item = TypeVar("_Item", covariant=True)
_Added = TypeVar("_Added")


class SharedList(Sequence[_Item]):
    """An item, and the list of those after it. Equal to a tuple of the same items."""

    __slots__ = ("_length", "first", "rest")

    def __init__(self, first: _Item, rest: SharedList[_Item] | None = None) -> None:
        self.first = first
        self.rest = rest
        self._length = 1 if rest is None else 1 + len(rest)

    def __len__(self) -> int:
        return self._length

    def __iter__(self) -> Iterator[_Item]:
        some: SharedList[_Item] | None = self
        while some is not None:
            yield some.first
            some = some.rest

    @overload
    def __getitem__(self, at: int) -> _Item: ...

    @overload
    def __getitem__(self, at: slice) -> tuple[_Item, ...]: ...

    def __getitem__(self, at: int | slice) -> _Item | tuple[_Item, ...]:
        return tuple(self)[at]

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, (SharedList, tuple)) or len(self) != len(other):
            return False
        if isinstance(other, tuple):
            return tuple(self) == other
        some: SharedList[object] | None = self
        others: SharedList[object] | None = other
        while some is not None and others is not None and some is not others:
            if some.first != others.first:
                return False
            some, others = some.rest, others.rest
        return True

    def __hash__(self) -> int:
        return hash(tuple(self))

    def __repr__(self) -> str:
        return repr(tuple(self))


def in_front(items: Sequence[_Added], some: SharedList[_Added] | None) -> SharedList[_Added] | None:
    """The items before those of a list, but not one twice in a row."""
    for item in reversed(items):
        if some is None or some.first != item:
            some = SharedList(item, some)
    return some


def not_seen(items: Sequence[_Added], seen: set[int]) -> Iterator[_Added]:
    """The items, up to those that another list had which was given before with the same ``seen``:
    the ids of the lists."""
    if not isinstance(items, SharedList):
        yield from items
        return
    some: SharedList[_Added] | None = items
    while some is not None and id(some) not in seen:
        seen.add(id(some))
        yield some.first
        some = some.rest
