"""Ranked nodes and edges in; rows of vertices, long edges cut into one dummy a row, out."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from tapeviz.layout.arrays import Floats, Ints


@dataclass(frozen=True, slots=True)
class Layers:
    """Vertices 0 … ``real - 1`` are nodes of the graph, the others dummies of long edges.

    ``rows[r]`` lists the vertices of row r, top row first; their place in that list is their
    *slot*, which never changes: an ordering of the row is a permutation of its slots.
    ``chains[e]`` are the vertices of edge e from its upper to its lower end.
    ``links[r][i, j]`` counts the edges between slot i of row r and slot j of row r + 1.
    """

    real: int
    rank: Ints
    slot: Ints
    rows: tuple[Ints, ...]
    chains: tuple[tuple[int, ...], ...]
    links: tuple[Floats, ...]


def dummies_needed(ranks: Sequence[int], edges: Sequence[tuple[int, int]]) -> int:
    return sum(ranks[lower] - ranks[upper] - 1 for upper, lower in edges)


def cut_into_layers(ranks: Sequence[int], edges: Sequence[tuple[int, int]]) -> Layers:
    """Give each edge a vertex in every row that it passes; ``edges`` are (upper, lower)."""
    rank = list(ranks)
    chains: list[tuple[int, ...]] = []
    for upper, lower in edges:
        between = range(len(rank), len(rank) + ranks[lower] - ranks[upper] - 1)
        rank.extend(range(ranks[upper] + 1, ranks[lower]))
        chains.append((upper, *between, lower))
    rows: list[list[int]] = [[] for _ in range(max(rank, default=-1) + 1)]
    slot = [0] * len(rank)
    for vertex, row in enumerate(rank):
        slot[vertex] = len(rows[row])
        rows[row].append(vertex)
    links = [np.zeros((len(above), len(below))) for above, below in pairwise(rows)]
    for chain in chains:
        for above_vertex, below_vertex in pairwise(chain):
            links[rank[above_vertex]][slot[above_vertex], slot[below_vertex]] += 1
    return Layers(
        real=len(ranks),
        rank=np.array(rank, dtype=np.intp),
        slot=np.array(slot, dtype=np.intp),
        rows=tuple(np.array(row, dtype=np.intp) for row in rows),
        chains=tuple(chains),
        links=tuple(links),
    )
