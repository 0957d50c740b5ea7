"""Place the vertices of ordered rows of a large graph across the flow."""

from __future__ import annotations

import numpy as np

from ..arrays import Floats, Ints
from ..layered.coordinates import BOX_GAP, BOX_TO_WIRE, WIRE_GAP
from .rows import BulkRows, mean_of_neighbours, row_ends

ROUNDS = 40
WIRE = 6.0
"""Weight of a segment between two dummies: long edges should not wave."""
HOLDS = 5
"""Rounds that level the dummies of each edge."""
HOLD = 60.0
"""Weight of a dummy against that of a box, in those rounds."""
PLAY = 1.5
"""Room kept between neighbours so that the last pass can make almost straight edges straight."""


def place_all(rows: BulkRows, order: Ints, across: Floats, beside: Floats) -> Floats:
    """The centre of each vertex: near the mean of its neighbours, as far as its row allows."""
    packed = _packed(rows, order, across, beside)
    ends = row_ends(rows.rank, rows.rows)
    row = rows.rank[order]
    middle = (packed[ends[:-1]] + packed[ends[1:] - 1]) / 2
    x = np.empty(len(order))
    x[order] = packed - middle[row]
    weight = np.where((rows.above >= rows.real) & (rows.below >= rows.real), WIRE, 1.0)
    for round_ in range(ROUNDS):
        wish = mean_of_neighbours(rows, x, weight)
        moving = (rows.rank % 2) == round_ % 2
        x = _in_order(np.where(moving, wish, x), order, row, packed)
    heavy = np.where(np.arange(len(x)) < rows.real, 1.0, HOLD)
    loose = packed + PLAY * np.arange(len(packed))
    for _ in range(HOLDS):
        wish = np.where(heavy > 1, x, mean_of_neighbours(rows, x, weight))
        x = _held(_levelled(rows, wish), heavy, order, row, loose)
    return _straightened(rows, x, order, packed)


def _levelled(rows: BulkRows, x: Floats) -> Floats:
    """Move all dummies of an edge to their mean."""
    inner = rows.below >= rows.real
    owner, dummies = rows.owner[inner], rows.below[inner]
    result: Floats = x.copy()
    if len(owner):
        mean = np.bincount(owner, x[dummies]) / np.maximum(1, np.bincount(owner))
        result[dummies] = mean[owner]
    return result


def _held(wish: Floats, weight: Floats, order: Ints, row: Ints, packed: Floats) -> Floats:
    """The positions with the least weighted squares from the wishes that keep order and distances
    (isotonic regression of each row)."""
    means: list[float] = []
    totals: list[float] = []
    counts: list[int] = []
    first = 0  # of the blocks of the present row
    present = -1
    free = wish[order] - packed
    for value, load, level in zip(free.tolist(), weight[order].tolist(), row.tolist(), strict=True):
        if level != present:
            present, first = level, len(means)
        count = 1
        while len(means) > first and means[-1] > value:
            other = totals.pop()
            value = (value * load + means.pop() * other) / (load + other)
            load += other
            count += counts.pop()
        means.append(value)
        totals.append(load)
        counts.append(count)
    x = np.empty(len(wish))
    x[order] = np.repeat(means, counts) + packed
    return x


def _packed(rows: BulkRows, order: Ints, across: Floats, beside: Floats) -> Floats:
    """The leftmost position of each place of ``order`` if all rows are packed tight."""
    before, after = np.zeros(len(order)), np.zeros(len(order))
    before[: rows.real] = across / 2
    after[: rows.real] = across / 2 + beside
    left, right = order[:-1], order[1:]
    boxes = (left < rows.real).astype(np.intp) + (right < rows.real)
    step = after[left] + before[right] + np.array([WIRE_GAP, BOX_TO_WIRE, BOX_GAP])[boxes]
    return np.concatenate([[0.0], np.cumsum(step)])


def _in_order(wish: Floats, order: Ints, row: Ints, packed: Floats) -> Floats:
    """The mean of the nearest positions from the left and from the right that keep the order."""
    free = wish[order] - packed
    # One running maximum serves all rows when each row lies beyond the last.
    apart = row * (np.ptp(free) + 1.0)
    pushed_right = np.maximum.accumulate(free + apart) - apart
    pushed_left = np.minimum.accumulate((free + apart)[::-1])[::-1] - apart
    x = np.empty(len(wish))
    x[order] = (pushed_right + pushed_left) / 2 + packed
    return x


def _straightened(rows: BulkRows, x: Floats, order: Ints, packed: Floats) -> Floats:
    """Put each vertex, from top to bottom, below the vertex that it continues, if there is room."""
    parent = _parents(rows)
    result = x.tolist()
    sequence, packing, rank = order.tolist(), packed.tolist(), rows.rank.tolist()
    last = len(sequence) - 1
    for k, vertex in enumerate(sequence):
        above = parent[vertex]
        if above < 0:
            continue
        wish = result[above]
        if k < last and rank[sequence[k + 1]] == rank[vertex]:
            wish = min(wish, result[sequence[k + 1]] - (packing[k + 1] - packing[k]))
        if k > 0 and rank[sequence[k - 1]] == rank[vertex]:
            wish = max(wish, result[sequence[k - 1]] + (packing[k] - packing[k - 1]))
        result[vertex] = wish
    return np.array(result)


def _parents(rows: BulkRows) -> list[int]:
    """The vertex in the row above that each vertex continues, -1 for none.

    A dummy continues its edge; a node continues the only node above that has inputs, else its only
    neighbour above.
    """
    size = len(rows.rank)
    rooted = np.bincount(rows.below, minlength=size) > 0
    direct = (rows.above < rows.real) | (rows.below >= rows.real)
    good = direct & rooted[rows.above] | (rows.below >= rows.real)
    parent = np.full(size, -1, dtype=np.intp)
    for choice in (np.ones(len(good), dtype=bool), good):
        count = np.bincount(rows.below[choice], minlength=size)
        only = choice & (count[rows.below] == 1)
        parent[rows.below[only]] = rows.above[only]
    # Several children under one vertex: only a lone child may stand straight below it.
    children = np.bincount(parent[parent >= 0], minlength=size)
    crowded = (parent >= 0) & (children[parent] > 1) & (np.arange(size) < rows.real)
    parent[crowded] = -1
    return [int(v) for v in parent.tolist()]
