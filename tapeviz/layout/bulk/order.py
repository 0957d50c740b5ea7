"""Order the rows of a large graph with few crossings, all rows at once."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from ..arrays import Floats, Ints
from ..layered.crossings import count_crossings
from .rows import BulkRows, row_ends

SWEEPS = 40
EXCHANGES = 20
MANY = 12
"""Vertices with more segments are not exchanged."""


def order_all(rows: BulkRows, starts: Iterable[Floats]) -> Ints:
    """Vertices sorted by row and, inside a row, from left to right.

    From each of ``starts`` even rows are ordered by their neighbours in odd rows and odd rows by
    those in even rows, in turns; the order with the fewest crossings is kept. Then neighbours are
    exchanged where that removes crossings.
    """
    best: Ints | None = None
    fewest = 0
    for start in starts:
        order = np.lexsort((start, rows.rank))
        for sweep in range(SWEEPS):
            if sweep % 8 == 0:
                crossings = inversions(rows, order)
                if best is None or crossings < fewest:
                    best, fewest = order, crossings
            order = _swept(rows, order, sweep)
    return _exchanged(rows, np.arange(len(rows.rank)) if best is None else best)


def places(rows: BulkRows, order: Ints) -> Ints:
    """The place of each vertex in its row, from 0."""
    ends = row_ends(rows.rank, rows.rows)
    place = np.empty(len(order), dtype=np.intp)
    place[order] = np.arange(len(order)) - ends[rows.rank[order]]
    return place


def _swept(rows: BulkRows, order: Ints, sweep: int) -> Ints:
    """Sort the rows of one parity by the mean place of the neighbours above, below, or both."""
    place = places(rows, order)
    width = np.bincount(rows.rank, minlength=rows.rows)
    # Rows of different length are compared by their middles.
    where = place - (width[rows.rank] - 1) / 2
    size = len(order)
    up, down = sweep % 6 != 4, sweep % 6 != 2
    total, moment = np.zeros(size), np.zeros(size)
    if up:
        total += np.bincount(rows.below, minlength=size)
        moment += np.bincount(rows.below, where[rows.above], size)
    if down:
        total += np.bincount(rows.above, minlength=size)
        moment += np.bincount(rows.above, where[rows.below], size)
    moving = (rows.rank % 2 == sweep % 2) & (total > 0)
    key = np.where(moving, moment / np.maximum(total, 1), where)
    return np.lexsort((where, key, rows.rank))


def inversions(rows: BulkRows, order: Ints) -> int:
    """The number of crossings between segments, in all rows."""
    place = places(rows, order)
    return count_crossings(rows.rank[rows.above], place[rows.above], place[rows.below])


def _exchanged(rows: BulkRows, order: Ints) -> Ints:
    """Exchange neighbours in a row where that removes crossings, all disjoint pairs at once."""
    links = _Links(rows)
    for _ in range(EXCHANGES):
        changed = 0
        for parity in (0, 1):
            for first in (0, 1):
                place = places(rows, order)
                left = order[:-1]
                right = order[1:]
                pairs = (
                    (rows.rank[left] == rows.rank[right])
                    & (rows.rank[left] % 2 == parity)
                    & (place[left] % 2 == first)
                    & (links.degree[left] <= MANY)
                    & (links.degree[right] <= MANY)
                )
                at = np.flatnonzero(pairs)
                gain = links.gain(order[at], order[at + 1], place)
                at = at[gain > 0]
                order = order.copy()
                order[at], order[at + 1] = order[at + 1], order[at]
                changed += len(at)
        if not changed:
            break
    return order


class _Links:
    """The segments of each vertex, in one flat array; ``upwards`` marks those to the row above."""

    def __init__(self, rows: BulkRows) -> None:
        here = np.concatenate([rows.below, rows.above])
        self.other = np.concatenate([rows.above, rows.below])
        self.upwards = np.arange(len(here)) < len(rows.below)
        sorted_ = np.argsort(here, kind="stable")
        self.other, self.upwards = self.other[sorted_], self.upwards[sorted_]
        self.degree = np.bincount(here, minlength=len(rows.rank))
        self.start = np.cumsum(self.degree) - self.degree

    def gain(self, left: Ints, right: Ints, place: Ints) -> Ints:
        """Crossings saved by exchanging each pair."""
        sizes = self.degree[left] * self.degree[right]
        pair = np.repeat(np.arange(len(left)), sizes)
        step = np.arange(len(pair)) - np.repeat(np.cumsum(sizes) - sizes, sizes)
        across = self.degree[right][pair]
        a = self.start[left][pair] + step // np.maximum(across, 1)
        b = self.start[right][pair] + step % np.maximum(across, 1)
        same_side = self.upwards[a] == self.upwards[b]
        difference = np.sign(place[self.other[a]] - place[self.other[b]]) * same_side
        return np.bincount(pair, difference, len(left)).astype(np.intp)
