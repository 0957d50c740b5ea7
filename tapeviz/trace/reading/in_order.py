"""Put what happened inside of opened calls among what happened around them."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable, Iterable, Sequence
from typing import TypeVar

Happened = TypeVar("Happened")


def in_order(
    around: Sequence[Happened],
    insides: Iterable[Sequence[Happened]],
    when: Callable[[Happened], int],
) -> list[Happened]:
    """All in the order of time. ``around`` is in that order, so are the ``insides``, and nothing of
    ``around`` happened while one of these did."""
    found: list[Happened] = []
    at = 0
    for inside in insides:
        if inside:
            place = bisect_left(around, when(inside[0]), key=when)
            found += around[at:place]
            found += inside
            at = place
    found += around[at:]
    return found
