"""Placed boxes and edges in; straight lines from border to border out.

Edges between the same two boxes are drawn apart, bent a little at their middles.
"""

from __future__ import annotations

from math import hypot

from tapeviz.layout.arrays import Floats, GraphArrays
from tapeviz.layout.model import Point
from tapeviz.layout.picture import Line

APART = 18.0
"""Between the middles of two edges that join the same boxes, px."""


def straight_routes(graph: GraphArrays, x: Floats, y: Floats) -> list[Line]:
    """One route for each edge; there must be no self-loop."""
    tails, heads = graph.tails.tolist(), graph.heads.tolist()
    together: dict[tuple[int, int], list[int]] = {}
    for edge, (tail, head) in enumerate(zip(tails, heads, strict=True)):
        together.setdefault((min(tail, head), max(tail, head)), []).append(edge)
    centres = list(zip(x.tolist(), y.tolist(), strict=True))
    sizes = list(zip(graph.across.tolist(), graph.along.tolist(), strict=True))
    routes: list[Line] = [[] for _ in graph.keys]
    for (first, second), edges in together.items():
        for k, edge in enumerate(edges):
            aside = (k - (len(edges) - 1) / 2) * APART
            line = _line(centres[first], sizes[first], centres[second], sizes[second], aside)
            routes[edge] = line if tails[edge] == first else line[::-1]
    return routes


def _line(start: Point, start_size: Point, end: Point, end_size: Point, aside: float) -> Line:
    dx, dy = end[0] - start[0], end[1] - start[1]
    length = hypot(dx, dy) or 1.0
    shift = (-dy / length * aside, dx / length * aside)
    middle = ((start[0] + end[0]) / 2 + shift[0], (start[1] + end[1]) / 2 + shift[1])
    first, last = on_border(start, start_size, middle), on_border(end, end_size, middle)
    return [first, middle, last] if aside else [first, last]


def on_border(centre: Point, size: Point, towards: Point) -> Point:
    """Where the line from a box's centre towards a point outside leaves the box."""
    dx, dy = towards[0] - centre[0], towards[1] - centre[1]
    reach = max(abs(dx) / (size[0] / 2), abs(dy) / (size[1] / 2))
    if reach <= 0:
        return centre[0], centre[1] + size[1] / 2
    return centre[0] + dx / reach, centre[1] + dy / reach
