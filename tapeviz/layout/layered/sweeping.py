"""Order the rows of many layers with few crossings, all rows at once: for large graphs, for which
sifting would take minutes."""

from __future__ import annotations

from itertools import islice

import numpy as np

from ..arrays import Floats, Ints
from .layers import Layers
from .ordering import first_orders, total_crossings

SWEEPS = 40
EXCHANGES = 20
MANY = 12
"""Vertices with more links are not exchanged."""
SEVERAL_STARTS = 30_000
"""Vertices up to which a second first order is tried."""


def order_by_sweeps(layers: Layers) -> Floats:
    """A number for each vertex, which orders the rows from left to right with few crossings.

    Even rows are ordered by their neighbours in odd rows and odd rows by those in even rows, in
    turns; the order with the fewest crossings is kept. Then neighbours are exchanged where that
    removes crossings.
    """
    best: Ints | None = None
    fewest = 0
    starts = islice(first_orders(layers), 3 if len(layers.rank) <= SEVERAL_STARTS else 1)
    for start in [*starts][::2]:
        order = np.lexsort((start, layers.rank))
        for sweep in range(SWEEPS):
            if sweep % 8 == 0:
                crossings = total_crossings(layers, places(layers, order))
                if best is None or crossings < fewest:
                    best, fewest = order, crossings
            order = _swept(layers, order, sweep)
    assert best is not None
    return places(layers, _exchanged(layers, best))


def places(layers: Layers, order: Ints) -> Floats:
    """The place of each vertex in its row, from 0."""
    width = np.bincount(layers.rank)
    first = np.cumsum(width) - width
    place = np.empty(len(order))
    place[order] = np.arange(len(order)) - first[layers.rank[order]]
    return place


def _swept(layers: Layers, order: Ints, sweep: int) -> Ints:
    """Sort the rows of one parity by the mean place of the neighbours above, below, or both."""
    place = places(layers, order)
    width = np.bincount(layers.rank, minlength=layers.rows)
    # Rows of different length are compared by their middles.
    where = place - (width[layers.rank] - 1) / 2
    size = len(order)
    up, down = sweep % 6 != 4, sweep % 6 != 2
    total, moment = np.zeros(size), np.zeros(size)
    if up:
        total += np.bincount(layers.below, minlength=size)
        moment += np.bincount(layers.below, where[layers.above], size)
    if down:
        total += np.bincount(layers.above, minlength=size)
        moment += np.bincount(layers.above, where[layers.below], size)
    moving = (layers.rank % 2 == sweep % 2) & (total > 0)
    key = np.where(moving, moment / np.maximum(total, 1), where)
    return np.lexsort((where, key, layers.rank))


def _exchanged(layers: Layers, order: Ints) -> Ints:
    """Exchange neighbours in a row where that removes crossings, all disjoint pairs at once."""
    links = _Links(layers)
    for _ in range(EXCHANGES):
        changed = 0
        for parity in (0, 1):
            for first in (0, 1):
                place = places(layers, order)
                left = order[:-1]
                right = order[1:]
                pairs = (
                    (layers.rank[left] == layers.rank[right])
                    & (layers.rank[left] % 2 == parity)
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
    """The links of each vertex, in one flat array; ``upwards`` marks those to the row above."""

    def __init__(self, layers: Layers) -> None:
        here = np.concatenate([layers.below, layers.above])
        self.other = np.concatenate([layers.above, layers.below])
        self.upwards = np.arange(len(here)) < len(layers.below)
        sorted_ = np.argsort(here, kind="stable")
        self.other, self.upwards = self.other[sorted_], self.upwards[sorted_]
        self.degree = np.bincount(here, minlength=len(layers.rank))
        self.start = np.cumsum(self.degree) - self.degree

    def gain(self, left: Ints, right: Ints, place: Floats) -> Ints:
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
