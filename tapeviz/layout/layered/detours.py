"""Lead straight routes around the boxes of other nodes.

A route that hits a box becomes the shortest path over corners of the boxes that it hits; if the
new path hits others, the search is repeated with these too.
"""

from __future__ import annotations

from collections.abc import Sequence

import networkx as nx
import numpy as np

from ..arrays import Bools, Floats, GraphArrays
from ..model import Point
from ..picture import IndexedLayout, Line
from ..straight import joined, on_border, side_by_side

CLEARANCE = 6.0
"""Px between a route and the boxes of other nodes, at least."""
MARGIN = 9.0
"""Px from a bend to the corner that it goes around, at least; edges differ by steps."""
MARGIN_STEP = 4.0
NARROW = 4.0
"""Px between edges of the same two boxes, where there is no room for more."""
ROUNDS = 12


def around_boxes(graph: GraphArrays, picture: IndexedLayout) -> IndexedLayout:
    """Lead the routes around boxes; a route that finds no path stays as it is."""
    boxes = np.column_stack([picture.x, picture.y, graph.across / 2, graph.along / 2])
    routes = list(picture.routes)
    for edges in joined(graph):
        ends = (int(graph.tails[edges[0]]), int(graph.heads[edges[0]]))
        if not any(_hit(routes[edge], boxes, ends).any() for edge in edges):
            continue
        close = side_by_side(graph, picture.x, picture.y, edges, NARROW)
        for k, edge in enumerate(edges):
            way = None
            if _hit(close[k], boxes, ends).any():
                here = (int(graph.tails[edge]), int(graph.heads[edge]))
                way = _detour(boxes, here, MARGIN + MARGIN_STEP * (edge % 4 + 4 * k))
            routes[edge] = way if way and len(way) > 2 else close[k]
    return IndexedLayout(picture.x, picture.y, routes)


def _hit(line: Sequence[Point], boxes: Floats, ends: tuple[int, int]) -> Bools:
    """For each box whether the line comes too near; False for the boxes at its ends."""
    points = np.array(line)
    hit: Bools = np.any(segments_hit(points[:-1], points[1:], boxes), axis=0)
    hit[list(ends)] = False
    return hit


def segments_hit(starts: Floats, ends: Floats, boxes: Floats) -> Bools:
    """``hit[s, b]``: segment s comes nearer than ``CLEARANCE`` to box b (x, y, half width, half
    height).

    They do not if they are apart along x, along y, or across the segment (separating axes).
    """
    middle = (starts + ends)[:, None] / 2 - boxes[:, :2]
    half = np.abs(ends - starts)[:, None] / 2
    size = boxes[:, 2:] + CLEARANCE - 1e-6
    near_x, near_y = np.moveaxis(np.abs(middle) < size + half, 2, 0)
    dx, dy = (ends - starts).T
    across = middle[..., 0] * dy[:, None] - middle[..., 1] * dx[:, None]
    reach = size[:, 0] * np.abs(dy)[:, None] + size[:, 1] * np.abs(dx)[:, None]
    hit: Bools = near_x & near_y & (np.abs(across) < reach)
    return hit


def _detour(boxes: Floats, ends: tuple[int, int], margin: float) -> Line | None:
    """The shortest route found that is clear of all boxes; None if there is none."""
    start, end = boxes[ends[0]].tolist(), boxes[ends[1]].tolist()
    way: list[Point] = [(start[0], start[1]), (end[0], end[1])]
    obstacles: list[int] = []
    for _ in range(ROUNDS):
        hit = np.flatnonzero(_hit(way, boxes, ends)).tolist()
        if not hit:
            break
        if set(hit) <= set(obstacles):
            return None
        obstacles += [box for box in hit if box not in obstacles]
        found = _shortest(way[0], way[-1], boxes[obstacles], margin)
        if found is None:
            return None
        way = found
    else:
        return None
    first = on_border(way[0], (2 * start[2], 2 * start[3]), way[1])
    last = on_border(way[-1], (2 * end[2], 2 * end[3]), way[-2])
    return [first, *way[1:-1], last]


def _shortest(start: Point, end: Point, obstacles: Floats, margin: float) -> list[Point] | None:
    """The shortest path over the corners of the obstacles; None if there is none."""
    corners = np.concatenate(
        [
            obstacles[:, :2] + (obstacles[:, 2:] + margin) * np.array(side)
            for side in ((-1, -1), (1, -1), (-1, 1), (1, 1))
        ]
    )
    size = obstacles[:, 2:] + CLEARANCE
    off_x, off_y = np.moveaxis(np.abs(corners[:, None] - obstacles[:, :2]) < size - 1e-6, 2, 0)
    inside = np.any(off_x & off_y, axis=1)
    points = np.concatenate([np.array([start, end]), corners[~inside]])
    first, second = np.triu_indices(len(points), 1)
    free = ~np.any(segments_hit(points[first], points[second], obstacles), axis=1)
    length = np.hypot(*(points[first] - points[second]).T)
    seen = nx.Graph()
    seen.add_nodes_from(range(len(points)))
    seen.add_weighted_edges_from(
        zip(first[free].tolist(), second[free].tolist(), length[free].tolist(), strict=True)
    )
    try:
        order = nx.dijkstra_path(seen, 0, 1)
    except nx.NetworkXNoPath:
        return None
    return [(float(points[k, 0]), float(points[k, 1])) for k in order]
