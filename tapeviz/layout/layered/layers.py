"""Make rows of vertices from ranked nodes: a long edge has a dummy in each row it passes, or a lane
beside the rows."""

from __future__ import annotations

from collections.abc import Iterable, Sequence, Set
from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from ..arrays import Floats, Ints


@dataclass(frozen=True, slots=True)
class Layers:
    """Vertices 0 … ``real - 1`` are nodes of the graph, the others dummies of long edges.

    ``rank[v]`` is the row of vertex v, 0 at the top. ``chains[e]`` are the vertices of edge e
    from its upper to its lower end. Link k joins ``above[k]`` to ``below[k]`` in the next row;
    links are sorted by row.

    The edges ``in_lanes`` have no dummies and no links: their middle vertex is the lane of their
    upper end, vertex ``len(rank) + upper``, which is in no row.
    """

    real: int
    rank: Ints
    chains: tuple[tuple[int, ...], ...]
    above: Ints
    below: Ints
    in_lanes: Set[int]

    @property
    def rows(self) -> int:
        return int(self.rank.max()) + 1

    def gaps(self) -> list[Sequence[int]]:
        """For each edge the row above each gap in which it may move sideways."""
        rank = self.rank.tolist()
        ends = [(rank[chain[0]], rank[chain[-1]]) for chain in self.chains]
        return [
            (top, bottom - 1) if edge in self.in_lanes else range(top, bottom)
            for edge, (top, bottom) in enumerate(ends)
        ]


def dummies_needed(ranks: Sequence[int], edges: Sequence[tuple[int, int]]) -> int:
    return sum(ranks[lower] - ranks[upper] - 1 for upper, lower in edges)


def cut_into_layers(
    ranks: Sequence[int], edges: Sequence[tuple[int, int]], reach: int | None = None
) -> Layers:
    """Give each edge (upper, lower) a dummy in every row that it passes; one that goes down more
    than ``reach`` rows gets a lane."""
    span = [ranks[lower] - ranks[upper] for upper, lower in edges]
    in_lanes = {edge for edge, rows in enumerate(span) if reach is not None and rows > reach}
    size = len(ranks) + sum(rows - 1 for edge, rows in enumerate(span) if edge not in in_lanes)
    rank = list(ranks)
    chains: list[tuple[int, ...]] = []
    links: list[tuple[int, int]] = []
    for edge, (upper, lower) in enumerate(edges):
        if edge in in_lanes:
            chains.append((upper, size + upper, lower))
            continue
        between = range(len(rank), len(rank) + span[edge] - 1)
        rank.extend(range(ranks[upper] + 1, ranks[lower]))
        chains.append((upper, *between, lower))
        links.extend(pairwise(chains[-1]))
    links.sort(key=lambda link: rank[link[0]])
    above, below = np.array(links, dtype=np.intp).reshape(-1, 2).T
    return Layers(len(ranks), np.array(rank), tuple(chains), above, below, in_lanes)


def neighbours(count: int, above: Ints, below: Ints) -> list[list[int]]:
    """The vertices linked to each of ``count`` vertices."""
    near: list[list[int]] = [[] for _ in range(count)]
    for upper, lower in zip(above.tolist(), below.tolist(), strict=True):
        near[upper].append(lower)
        near[lower].append(upper)
    return near


def first_met(near: list[list[int]], roots: Iterable[int]) -> Floats:
    """The number of each vertex in a depth-first walk from the ``roots``, one after the other."""
    met = [-1] * len(near)
    count = 0
    for root in roots:
        stack = [root]
        while stack:
            vertex = stack.pop()
            if met[vertex] < 0:
                met[vertex] = count
                count += 1
                stack.extend(other for other in reversed(near[vertex]) if met[other] < 0)
    return np.array(met, dtype=np.float64)
