"""Keep the order from left to right of the picture before, where a group was opened or closed."""

from __future__ import annotations

from itertools import combinations, islice

import numpy as np

from ..arrays import Floats
from .blocks import gather_blocks
from .layers import Layers, neighbours
from .ordering import attempts, sift, straight_edges, total_crossings

_ATTEMPTS = 3
"""Orders that are found from the one before: one for each rule that joins links to paths."""


def like_before(layers: Layers, key: Floats, before: Floats, *, may_turn: bool) -> Floats:
    """The order ``key``, or another one with as few crossings in which more boxes of a row stand as
    they stood before: one that is found from the order before, or, if it ``may_turn``, the mirror
    image of either.

    ``before``: for each node its place across the flow in the picture before, px, or nan.
    """
    pairs = _pairs(layers, before)
    if not pairs or not _swapped(pairs, key):
        return key
    start = _order_before(layers, before)
    fine = gather_blocks(layers, straight_edges(layers))
    found = [key]
    for paths, _ in islice(attempts(layers, fine.of), _ATTEMPTS):
        coarse, _ = sift(gather_blocks(layers, paths), start)
        found.append(sift(fine, coarse)[0])
    if may_turn:
        found += [each.max() - each for each in found]
    return min(found, key=lambda each: (total_crossings(layers, each), _swapped(pairs, each)))


def _pairs(layers: Layers, before: Floats) -> list[tuple[int, int]]:
    """Two nodes of a row each, that on the left in the picture before first."""
    rows: dict[int, list[int]] = {}
    for node in np.argsort(before)[: int((~np.isnan(before)).sum())].tolist():
        rows.setdefault(int(layers.rank[node]), []).append(node)
    return [pair for row in rows.values() for pair in combinations(row, 2)]


def _swapped(pairs: list[tuple[int, int]], key: Floats) -> int:
    return sum(bool(key[left] > key[right]) for left, right in pairs)


def _order_before(layers: Layers, before: Floats) -> Floats:
    """A number for each vertex; one that was not in the picture before stands between its
    neighbours."""
    count = len(layers.rank)
    key = np.full(count, np.nan)
    key[: layers.real] = before
    near = neighbours(count, layers.above, layers.below)
    waiting = np.flatnonzero(np.isnan(key)).tolist()
    while waiting:
        known = {
            vertex: [key[other] for other in near[vertex] if not np.isnan(key[other])]
            for vertex in waiting
        }
        for vertex, places in known.items():
            key[vertex] = np.mean(places) if places else np.nan
        left = [vertex for vertex in waiting if np.isnan(key[vertex])]
        if len(left) == len(waiting):  # not linked to any other
            key[left] = np.nanmean(key)
            break
        waiting = left
    return key
