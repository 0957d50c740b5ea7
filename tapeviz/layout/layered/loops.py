"""Take the self-loops out of a graph, and draw them once the rest has its places."""

from __future__ import annotations

import numpy as np

from ..arrays import LOOP_OUT, LOOP_STEP, GraphArrays, Ints
from ..picture import IndexedLayout, Line


def without_loops(graph: GraphArrays) -> tuple[GraphArrays, Ints]:
    """The graph without its self-loops, and the numbers of the edges that it kept."""
    kept = np.flatnonzero(graph.tails != graph.heads)
    if len(kept) == len(graph.keys):
        return graph, kept
    return graph.part(np.arange(graph.size), kept), kept


def with_loops(graph: GraphArrays, picture: IndexedLayout, kept: Ints) -> IndexedLayout:
    """Add the routes of the self-loops that ``without_loops`` removed."""
    if len(kept) == len(graph.keys):
        return picture
    routes: list[Line] = [[] for _ in graph.keys]
    for edge, line in zip(kept.tolist(), picture.routes, strict=True):
        routes[edge] = line
    seen: dict[int, int] = {}
    total = np.bincount(graph.tails[graph.tails == graph.heads], minlength=graph.size)
    for edge in np.flatnonzero(graph.tails == graph.heads).tolist():
        node = int(graph.tails[edge])
        k = seen.get(node, 0)
        seen[node] = k + 1
        side = float(picture.x[node] + graph.across[node] / 2)
        y = float(picture.y[node])
        reach = float(graph.along[node]) * 0.4 * (k + 1) / float(total[node])
        out = side + LOOP_OUT + LOOP_STEP * k
        routes[edge] = [(side, y - reach), (out, y - reach), (out, y + reach), (side, y + reach)]
    return IndexedLayout(picture.x, picture.y, routes)
