"""Swap ordered blocks with fixed docks until fewer edges cross.

The order of rows was found as if all edges of a box met in one point. Where edges have fixed docks,
the vertices that they lead to are exchanged as long as that removes crossings.
"""

from __future__ import annotations

from itertools import combinations

import numpy as np

from ..arrays import Floats, Ints
from .crossings import count_crossings
from .layers import Layers

ROUNDS = 6


def untangle(layers: Layers, key: Floats, fixed: Floats) -> Floats:
    """A new ``key``: a number for each vertex, by which each row is sorted.

    ``fixed`` (edges, 2): where the ends of each edge dock, px from the centre, nan for anywhere.
    """
    links = _Links(layers, fixed)
    fewest = links.crossings(key)
    pairs = [pair for pair in _pairs(layers, fixed) if key[pair[0][0]] != key[pair[1][0]]]
    for _ in range(ROUNDS):
        before = fewest
        for first, second in pairs:
            for count in (1, 2):
                tried = key
                for left, right in list(zip(first, second, strict=False))[:count]:
                    tried = _exchanged(tried, float(tried[left]), float(tried[right]))
                crossings = links.crossings(tried)
                if crossings < fewest:
                    key, fewest = tried, crossings
        if fewest == before:
            break
    return key


def _exchanged(key: Floats, left: float, right: float) -> Floats:
    """The key with two blocks exchanged."""
    return np.where(key == left, right, np.where(key == right, left, key))


class _Links:
    """Counts crossings of links, taking fixed docks into account."""

    def __init__(self, layers: Layers, fixed: Floats) -> None:
        upper: dict[tuple[int, int], float] = {}
        lower: dict[tuple[int, int], float] = {}
        for chain, (leaves, arrives) in zip(layers.chains, np.nan_to_num(fixed), strict=True):
            upper[chain[0], chain[1]] = float(leaves)
            lower[chain[-2], chain[-1]] = float(arrives)
        links = list(zip(layers.above.tolist(), layers.below.tolist(), strict=True))
        self._above, self._below = layers.above, layers.below
        self._gap = layers.rank[layers.above]
        self._leaves = np.array([upper.get(link, 0.0) for link in links])
        self._arrives = np.array([lower.get(link, 0.0) for link in links])

    def crossings(self, key: Floats) -> int:
        upper = _ranks(key[self._above], self._leaves)
        lower = _ranks(key[self._below], self._arrives)
        return count_crossings(self._gap, upper, lower)


def _ranks(key: Floats, aside: Floats) -> Ints:
    """Ranks by key, then by ``aside``; equal ones have the same rank."""
    order = np.lexsort((aside, key))
    steps = (np.diff(key[order]) != 0) | (np.diff(aside[order]) != 0)
    ranks = np.empty(len(key), dtype=np.intp)
    ranks[order] = np.concatenate([[0], np.cumsum(steps)])
    return ranks


def _pairs(layers: Layers, fixed: Floats) -> list[tuple[list[int], list[int]]]:
    """For each two edges with fixed docks on one side of a box: of each edge its next vertex and
    its far end."""
    docking: dict[tuple[int, int], list[list[int]]] = {}
    for chain, ends in zip(layers.chains, fixed, strict=True):
        for side in (0, 1):
            if not np.isnan(ends[side]):
                box, near, far = (0, 1, -1) if side == 0 else (-1, -2, 0)
                beyond = list(dict.fromkeys((chain[near], chain[far])))
                docking.setdefault((side, chain[box]), []).append(beyond)
    return [pair for some in docking.values() for pair in combinations(some, 2)]
