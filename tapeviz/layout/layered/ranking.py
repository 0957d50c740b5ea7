"""Choose the row of each node of an acyclic graph, with a small sum of edge lengths."""

from __future__ import annotations

from collections.abc import Sequence

from .simplex import EdgePairs, shortest_ranks


def rank_nodes(count: int, edges: EdgePairs, weights: Sequence[float]) -> list[int]:
    """Rows from 0: every edge goes down at least one row, the weighted edge length is minimal.

    So a constant or a variable is right above its first reader. A node that could be in several
    rows at the same cost goes to the emptiest. The graph must be connected and without self-loops;
    it may have parallel edges.
    """
    merged: dict[tuple[int, int], float] = {}
    for edge, weight in zip(edges, weights, strict=True):
        merged[edge] = merged.get(edge, 0.0) + weight
    pairs = list(merged)
    loads = list(merged.values())
    ranks = shortest_ranks(count, pairs, loads, longest_path(count, pairs))
    lowest = min(ranks)
    return _balanced([rank - lowest for rank in ranks], pairs, loads)


def tightened_rows(count: int, edges: EdgePairs) -> list[int]:
    """Rows as those of `rank_nodes` in linear time, with longer edges: by longest path, then each
    node moved towards the side with more edges.

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


def topological_order(count: int, edges: EdgePairs) -> list[int]:
    """The nodes in an order in which every edge points forward; ties in insertion order. Those on a
    cycle, and behind one, are left out."""
    out: list[list[int]] = [[] for _ in range(count)]
    waiting = [0] * count
    for tail, head in edges:
        out[tail].append(head)
        waiting[head] += 1
    order = [v for v in range(count) if not waiting[v]]
    for vertex in order:  # grows while it is walked
        for head in out[vertex]:
            waiting[head] -= 1
            if not waiting[head]:
                order.append(head)
    return order


def longest_path(count: int, edges: EdgePairs) -> list[int]:
    """Rows by longest path from the top; each source is moved to the row above its first reader."""
    out: list[list[int]] = [[] for _ in range(count)]
    indegree = [0] * count
    for tail, head in edges:
        out[tail].append(head)
        indegree[head] += 1
    ranks = [0] * count
    for vertex in topological_order(count, edges):
        below = ranks[vertex] + 1
        for head in out[vertex]:
            if ranks[head] < below:
                ranks[head] = below
    for vertex in range(count):
        if not indegree[vertex] and out[vertex]:
            ranks[vertex] = min(ranks[head] for head in out[vertex]) - 1
    return ranks


def _balanced(ranks: list[int], edges: EdgePairs, weights: Sequence[float]) -> list[int]:
    above: list[list[int]] = [[] for _ in ranks]
    below: list[list[int]] = [[] for _ in ranks]
    pull = [0.0] * len(ranks)
    for (tail, head), weight in zip(edges, weights, strict=True):
        below[tail].append(head)
        above[head].append(tail)
        pull[tail] += weight
        pull[head] -= weight
    filled = [0] * (max(ranks) + 1)
    for rank in ranks:
        filled[rank] += 1
    for vertex, rank in enumerate(ranks):
        if abs(pull[vertex]) > 1e-9 or not above[vertex] or not below[vertex]:
            continue
        first = max(ranks[v] for v in above[vertex]) + 1
        last = min(ranks[v] for v in below[vertex]) - 1
        best = min(range(first, last + 1), key=lambda r: (filled[r], abs(r - rank)))
        if filled[best] < filled[rank] - 1:
            filled[rank] -= 1
            filled[best] += 1
            ranks[vertex] = best
    return ranks
