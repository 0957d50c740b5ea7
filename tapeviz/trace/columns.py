"""Pairs of numbers in; the second ones of each first one out, from two sorted columns."""

from __future__ import annotations

from array import array
from bisect import bisect_left

import numpy as np


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

    def first(self, key: int) -> int | None:
        """The second number of the first pair with this one; None if there is no such pair."""
        at = bisect_left(self.keys, key)
        return self._values[at] if at < len(self.keys) and self.keys[at] == key else None

    def all(self, key: int) -> list[int]:
        """The second numbers of all pairs with this one, in the order in which they were given."""
        keys = self.keys
        start = end = bisect_left(keys, key)
        while end < len(keys) and keys[end] == key:
            end += 1
        return self._values[start:end].tolist()
