"""Draw edges as straight lines from border to border.

Edges between the same two boxes are bent a little at their middles, which keeps them apart.
"""

from __future__ import annotations

from math import hypot

from .arrays import Floats, GraphArrays
from .model import Point
from .picture import Line

APART = 18.0
"""Px between the middles of two edges that join the same boxes."""


def straight_routes(graph: GraphArrays, x: Floats, y: Floats) -> list[Line]:
    """A route for each edge of a graph without self-loops."""
    routes: list[Line] = [[] for _ in graph.keys]
    for edges in joined(graph):
        for edge, line in zip(edges, side_by_side(graph, x, y, edges, APART), strict=True):
            routes[edge] = line
    return routes


def joined(graph: GraphArrays) -> list[list[int]]:
    """The edges of each pair of joined boxes, in either direction."""
    together: dict[tuple[int, int], list[int]] = {}
    for edge, (tail, head) in enumerate(
        zip(graph.tails.tolist(), graph.heads.tolist(), strict=True)
    ):
        together.setdefault((min(tail, head), max(tail, head)), []).append(edge)
    return list(together.values())


def side_by_side(
    graph: GraphArrays, x: Floats, y: Floats, edges: list[int], apart: float
) -> list[Line]:
    """Routes for edges between the same two boxes, their middles ``apart`` px from each other."""
    first, second = int(graph.tails[edges[0]]), int(graph.heads[edges[0]])
    ends = [
        ((float(x[v]), float(y[v])), (float(graph.across[v]), float(graph.along[v])))
        for v in (first, second)
    ]
    lines = []
    for k, edge in enumerate(edges):
        line = _line(*ends[0], *ends[1], (k - (len(edges) - 1) / 2) * apart)
        lines.append(line if graph.tails[edge] == first else line[::-1])
    return lines


def _line(start: Point, start_size: Point, end: Point, end_size: Point, aside: float) -> Line:
    dx, dy = end[0] - start[0], end[1] - start[1]
    length = hypot(dx, dy) or 1.0
    shift = (-dy / length * aside, dx / length * aside)
    middle = ((start[0] + end[0]) / 2 + shift[0], (start[1] + end[1]) / 2 + shift[1])
    first, last = on_border(start, start_size, middle), on_border(end, end_size, middle)
    return [first, middle, last] if aside else [first, last]


def on_border(centre: Point, size: Point, towards: Point) -> Point:
    """The point at which a line from the centre of a box to a point outside leaves the box."""
    dx, dy = towards[0] - centre[0], towards[1] - centre[1]
    reach = max(abs(dx) / (size[0] / 2), abs(dy) / (size[1] / 2))
    if reach <= 0:
        return centre[0], centre[1] + size[1] / 2
    return centre[0] + dx / reach, centre[1] + dy / reach
