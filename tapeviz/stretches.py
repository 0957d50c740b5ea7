"""Find the stretches in which a sequence of tokens repeats with a period."""

from __future__ import annotations

from collections.abc import Hashable, Sequence

import numpy as np
from numpy.typing import NDArray

_CANDIDATES = 12
_LONGEST, _FURTHER = 32, 3
"""The longest runs of tokens that are compared, and the distances between equal ones to be tried.
"""


def find_stretches(tokens: Sequence[Hashable], least: int = 2) -> list[tuple[int, int, int]]:
    """Disjoint (start, end, period), in ascending order, of at least ``least`` periods each.

    The period that covers most tokens wins, the shortest among equals; the rest is searched again.
    Takes time linear in the length, since only some periods are tried.
    """
    known: dict[Hashable, int] = {}
    codes = np.fromiter((known.setdefault(t, len(known)) for t in tokens), np.int64, len(tokens))
    return sorted(_search(codes, 0, least, depth=3))


def _search(
    codes: NDArray[np.int64], offset: int, least: int, depth: int
) -> list[tuple[int, int, int]]:
    if len(codes) < least or not depth:
        return []
    best, best_covered = 0, 0
    for period in _periods(codes):
        covered = sum(end - start for start, end in _runs(codes, period, least))
        # A multiple of the true period covers about as much: a longer one must cover clearly more.
        if covered > best_covered * 1.02:
            best, best_covered = period, covered
    if not best:
        return []
    found: list[tuple[int, int, int]] = []
    at = 0
    for start, end in _runs(codes, best, least):
        if start < at:
            continue
        found.extend(_search(codes[at:start], offset + at, least, depth - 1))
        found.append((offset + start, offset + end, _shortest(codes[start:end], best)))
        at = end
    found.extend(_search(codes[at:], offset + at, least, depth - 1))
    return found


def _shortest(run: NDArray[np.int64], period: int) -> int:
    """The shortest period of a stretch of which one is known: that of another stretch, which
    covers more, may be a multiple of it."""
    divisors = (part for part in range(1, period) if not period % part)
    return next((part for part in divisors if (run[part:] == run[:-part]).all()), period)


def _periods(codes: NDArray[np.int64]) -> list[int]:
    """The commonest distances between equal tokens and between equal runs of tokens, in ascending
    order.

    Tokens that occur several times a turn at uneven distances hide the period; the longer the runs
    that are compared, the fewer of them occur twice in a turn.
    """
    found: set[int] = set()
    size, count = 1, _CANDIDATES
    while size <= _LONGEST and len(codes) > 1:
        order = np.argsort(codes, kind="stable")
        is_equal = codes[order[1:]] == codes[order[:-1]]
        distances = np.bincount(np.diff(order)[is_equal], minlength=1)
        common = np.argsort(-distances, kind="stable")[:count]
        found.update(common[distances[common] > 0].tolist())
        pairs = codes[:-size] * (codes.max() + 1) + codes[size:]
        codes = np.unique(pairs, return_inverse=True)[1]
        size, count = 2 * size, _FURTHER
    return sorted(found)


def _runs(codes: NDArray[np.int64], period: int, least: int) -> list[tuple[int, int]]:
    """The ranges [start, end) that repeat with this period at least ``least`` times."""
    if len(codes) < least * period:
        return []
    same = np.concatenate(([False], codes[:-period] == codes[period:], [False]))
    turns = np.flatnonzero(same[1:] != same[:-1])
    return [
        (int(start), int(end) + period)
        for start, end in zip(turns[::2], turns[1::2], strict=True)
        if end - start + period >= least * period
    ]
