"""Maps from numbers to numbers in two sorted arrays, which take less memory than dictionaries."""

from __future__ import annotations

from array import array
from bisect import bisect_left, bisect_right
from collections.abc import Iterator, Mapping
from heapq import merge
from typing import Any, TypeVar, cast

import numpy as np

Key = TypeVar("Key", bound=int)
Value = TypeVar("Value", bound=int)
_NOTHING = -1


class NumberPairs:
    """Pairs of 64-bit integers, looked up by the first; several may have the same.

    A pair takes 16 bytes, where a dictionary takes 100 and more.
    """

    def __init__(self, keys: array[int], values: array[int]) -> None:
        """``keys``, ``values``: arrays of type ``"q"``, as long as each other; they are copied."""
        self.keys, self._values = keys[:], values[:]
        """The first numbers, in order, and the second ones."""
        found = np.frombuffer(self.keys, np.int64)
        if np.any(found[1:] < found[:-1]):  # sorting lets no other thread run
            order = np.argsort(found, kind="stable")
            self.keys = array("q", found[order].tobytes())
            self._values = array("q", np.frombuffer(values, np.int64)[order].tobytes())

    def __len__(self) -> int:
        return len(self.keys)

    def last(self, key: int) -> int | None:
        """The second number of the last pair with this one; None if there is no such pair."""
        at = bisect_right(self.keys, key) - 1
        return self._values[at] if at >= 0 and self.keys[at] == key else None

    def all(self, key: int) -> list[int]:
        """The second numbers of all pairs with this one, in the order in which they were given."""
        keys = self.keys
        start = end = bisect_left(keys, key)
        while end < len(keys) and keys[end] == key:
            end += 1
        return self._values[start:end].tolist()

    def distinct(self) -> Iterator[int]:
        """The first numbers in order, each once."""
        before = None
        for key in self.keys:
            if key != before:
                yield key
            before = key


class GrowingMap:
    """A growing map from numbers to numbers, none of them negative; the last value of a key holds.

    It takes 16 bytes an entry, and looks nothing up until a :class:`NumberMap` is made of it.
    """

    def __init__(self) -> None:
        self._keys, self._values = array("q"), array("q")
        self._copied: dict[int, int] = {}
        """For the places of copied entries, the key whose value at that time belongs there."""
        self._map: NumberMap[Any, Any] | None = None

    def add(self, key: int, value: int) -> None:
        self._keys.append(key)
        self._values.append(value)

    def copy(self, key: int, other: int) -> None:
        """Give the key ``other`` the value that ``key`` has now, if it has one."""
        self._copied[len(self._keys)] = key
        self.add(other, _NOTHING)

    def map(self) -> NumberMap[Any, Any]:
        """The mapping so far."""
        self._look_up_copied()
        if self._map is None or len(self._map.pairs) != len(self._keys):
            self._map = NumberMap(NumberPairs(self._keys, self._values))
        return self._map

    def _look_up_copied(self) -> None:
        if not self._copied:
            return
        places = NumberPairs(self._keys, array("q", range(len(self._keys))))
        for place, key in self._copied.items():
            before = places.all(key)
            last = bisect_left(before, place) - 1
            self._values[place] = self._values[before[last]] if last >= 0 else _NOTHING
        self._copied.clear()
        keys, values = (np.array(column, np.int64) for column in (self._keys, self._values))
        kept = values != _NOTHING
        self._keys = array("q", keys[kept].tobytes())
        self._values = array("q", values[kept].tobytes())


class NumberMap(Mapping[Key, Value]):
    """A mapping of numbers to numbers, in the order of the keys, in 16 bytes an entry. Looking one
    up takes a few times longer than in a dictionary."""

    def __init__(self, pairs: NumberPairs, more: Mapping[Key, Value] | None = None) -> None:
        """The last of several pairs with one key holds, as in a dictionary. ``more``: a few
        entries that come before those of the pairs."""
        self.pairs = pairs
        self._more: Mapping[Key, Value] = more or {}

    def with_more(self, more: Mapping[Key, Value]) -> NumberMap[Key, Value]:
        """This mapping and a few more entries, which come before its own."""
        return NumberMap(self.pairs, more)

    def __getitem__(self, key: Key) -> Value:
        value = self.get(key)
        if value is None:
            raise KeyError(key)
        return value

    def get(self, key: Key, default: Value | None = None) -> Value | None:  # type: ignore[override]
        if key in self._more:
            return self._more[key]
        value = self.pairs.last(key)
        return default if value is None else cast("Value", value)

    def __contains__(self, key: object) -> bool:
        return isinstance(key, int) and (key in self._more or self.pairs.last(key) is not None)

    def __iter__(self) -> Iterator[Key]:
        own = cast("Iterator[Key]", self.pairs.distinct())
        return merge((key for key in own if key not in self._more), sorted(self._more))

    def __len__(self) -> int:
        keys = np.frombuffer(self.pairs.keys, np.int64)
        repeated = int(np.count_nonzero(keys[1:] == keys[:-1]))
        further = sum(self.pairs.last(key) is None for key in self._more)
        return len(keys) - repeated + further
