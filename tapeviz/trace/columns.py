"""Look up pairs of numbers by their first one, in two sorted columns."""

from __future__ import annotations

from array import array
from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Iterator, Mapping
from itertools import islice
from typing import TypeVar, cast

import numpy as np

Key = TypeVar("Key", bound=int)
Value = TypeVar("Value", bound=int)
_PIECE = 20_000


class NumberPairs:
    """Pairs of 64-bit integers, looked up by the first; several may have the same.

    A pair takes 16 bytes, where a dictionary takes 100 and more.
    """

    def __init__(self, keys: array[int], values: array[int]) -> None:
        """``keys``, ``values``: arrays of type ``"q"``, as long as each other; they are copied."""
        found = np.frombuffer(keys, np.int64)
        order = np.argsort(found, kind="stable")
        self.keys = array("q", found[order].tobytes())
        """The first numbers, in order."""
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


def _column(numbers: Iterable[int]) -> array[int]:
    """The numbers as an array, made piece by piece: Python runs no other thread while it makes one
    of a million numbers at a time."""
    column, left = array("q"), iter(numbers)
    while piece := list(islice(left, _PIECE)):
        column.fromlist(piece)
    return column


class NumberMap(Mapping[Key, Value]):
    """A mapping of numbers to numbers, in the order of the keys, in 16 bytes an entry. Looking one
    up takes a few times longer than in a dictionary."""

    def __init__(self, pairs: NumberPairs) -> None:
        """The last of several pairs with one key holds, as in a dictionary."""
        self._pairs = pairs
        keys = np.frombuffer(pairs.keys, np.int64)
        self._count = len(keys) - int(np.count_nonzero(keys[1:] == keys[:-1]))

    @classmethod
    def of(cls, known: Mapping[Key, Value]) -> NumberMap[Key, Value]:
        return cls(NumberPairs(_column(known), _column(known.values())))

    def __getitem__(self, key: Key) -> Value:
        value = self._pairs.last(key)
        if value is None:
            raise KeyError(key)
        return cast("Value", value)

    def get(self, key: Key, default: Value | None = None) -> Value | None:  # type: ignore[override]
        value = self._pairs.last(key)
        return default if value is None else cast("Value", value)

    def __contains__(self, key: object) -> bool:
        return isinstance(key, int) and self._pairs.last(key) is not None

    def __iter__(self) -> Iterator[Key]:
        return cast("Iterator[Key]", self._pairs.distinct())

    def __len__(self) -> int:
        return self._count
