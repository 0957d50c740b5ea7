"""Give a large acyclic graph rows, with dummies for edges of moderate length, as arrays."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ..arrays import Floats, Ints
from ..layered.ranking import longest_path, topological_order
from ..layered.simplex import EdgePairs

REACH = 12
"""Rows; longer edges get no dummies and run in lanes beside the rows."""


@dataclass(frozen=True, slots=True)
class BulkRows:
    """Vertices 0 … ``real - 1`` are nodes, the others dummies, those of an edge one after another.

    Segment k joins ``above[k]`` and ``below[k]`` in neighbouring rows and belongs to edge
    ``owner[k]``; the segments of one edge stand together, from top to bottom. ``far`` are the
    edges without dummies. Edge e runs from ``upper[e]`` down to ``lower[e]``.
    """

    real: int
    upper: Ints
    lower: Ints
    rank: Ints
    above: Ints
    below: Ints
    owner: Ints
    far: Ints

    @property
    def rows(self) -> int:
        return int(self.rank.max()) + 1


def tightened_rows(count: int, edges: EdgePairs) -> list[int]:
    """The row of each node: by longest path, then moved towards the side with more edges.

    Edges from sources do not count; at the end each source moves to the row above its first reader.
    """
    out: list[list[int]] = [[] for _ in range(count)]
    into: list[list[int]] = [[] for _ in range(count)]
    for tail, head in edges:
        out[tail].append(head)
        into[head].append(tail)
    held = [sum(1 for tail in tails if into[tail]) for tails in into]
    ranks = longest_path(count, edges)
    order = topological_order(count, edges)
    for _ in range(2):
        for vertex in reversed(order):
            if len(out[vertex]) > held[vertex]:
                ranks[vertex] = min(map(ranks.__getitem__, out[vertex])) - 1
        for vertex in order:
            if held[vertex] > len(out[vertex]):
                ranks[vertex] = max(map(ranks.__getitem__, into[vertex])) + 1
    for vertex in order:
        if not into[vertex] and out[vertex]:
            ranks[vertex] = min(map(ranks.__getitem__, out[vertex])) - 1
    used = {rank: k for k, rank in enumerate(sorted(set(ranks)))}
    return [used[rank] for rank in ranks]


def bulk_rows(ranks: Ints, upper: Ints, lower: Ints) -> BulkRows:
    """Rows whose edges of at most ``REACH`` rows are cut into segments."""
    span = ranks[lower] - ranks[upper]
    near = np.flatnonzero(span <= REACH)
    span = span[near]
    owner = np.repeat(near, span)
    first = np.cumsum(span) - span
    step = np.arange(len(owner)) - np.repeat(first, span)
    dummies = np.cumsum(span - 1) - (span - 1) + len(ranks)
    dummy = np.repeat(dummies, span) + step
    above = np.where(step == 0, upper[owner], dummy - 1)
    below = np.where(step == np.repeat(span, span) - 1, lower[owner], dummy)
    rank = np.concatenate([ranks, np.zeros(int((span - 1).sum()), dtype=np.intp)])
    inner = below >= len(ranks)
    rank[below[inner]] = (ranks[upper[owner]] + step + 1)[inner]
    far = np.flatnonzero(ranks[lower] - ranks[upper] > REACH)
    return BulkRows(len(ranks), upper, lower, rank, above, below, owner, far)


def row_ends(rank: Ints, rows: int) -> Ints:
    """The index of the first vertex of each row, among vertices sorted by row; then their
    number."""
    return np.concatenate([[0], np.cumsum(np.bincount(rank, minlength=rows))]).astype(np.intp)


def mean_of_neighbours(rows: BulkRows, values: Floats, weight: Floats) -> Floats:
    """The weighted mean of ``values`` over the neighbours of each vertex; its own without any."""
    size = len(rows.rank)
    total = np.bincount(rows.above, weight, size) + np.bincount(rows.below, weight, size)
    moment = np.bincount(rows.above, weight * values[rows.below], size)
    moment += np.bincount(rows.below, weight * values[rows.above], size)
    return np.where(total > 0, moment / np.maximum(total, 1e-9), values)
