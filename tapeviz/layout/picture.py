"""Turn an engine's result (positions and routes by index, top to bottom) into a layout."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from .arrays import Floats, GraphArrays
from .model import Layout, Point, Rect

Line = list[Point]


@dataclass(frozen=True, slots=True)
class IndexedLayout:
    """Centres of the nodes, px, and a polyline for each edge, in the order of the arrays."""

    x: Floats
    y: Floats
    routes: list[Line]

    def moved(self, dx: float, dy: float) -> IndexedLayout:
        routes = [[(x + dx, y + dy) for x, y in line] for line in self.routes]
        return IndexedLayout(self.x + dx, self.y + dy, routes)


def extent(graph: GraphArrays, picture: IndexedLayout) -> tuple[float, float, float, float]:
    """(left, top, right, bottom) of all boxes and routes."""
    if not graph.size:
        return 0.0, 0.0, 0.0, 0.0
    x = np.array([x for line in picture.routes for x, _ in line])
    y = np.array([y for line in picture.routes for _, y in line])
    return (
        min(float((picture.x - graph.across / 2).min()), float(x.min(initial=np.inf))),
        min(float((picture.y - graph.along / 2).min()), float(y.min(initial=np.inf))),
        max(float((picture.x + graph.across / 2).max()), float(x.max(initial=-np.inf))),
        max(float((picture.y + graph.along / 2).max()), float(y.max(initial=-np.inf))),
    )


def finished(graph: GraphArrays, picture: IndexedLayout, name: str, direction: str) -> Layout:
    """The layout of a picture: by name, with its top left corner at 0, in the direction asked
    for."""
    left, top, right, bottom = extent(graph, picture)
    x, y = (picture.x - left).tolist(), (picture.y - top).tolist()
    across, along = graph.across.tolist(), graph.along.tolist()
    width, height = right - left, bottom - top
    if direction == "right":
        x, y, across, along = y, x, along, across
        width, height = height, width
        routes = [tuple((b - top, a - left) for a, b in line) for line in picture.routes]
    else:
        routes = [tuple((a - left, b - top) for a, b in line) for line in picture.routes]
    return Layout(
        name=name,
        direction=direction,
        rects=dict(zip(graph.nodes, map(Rect, x, y, across, along), strict=True)),
        routes=dict(zip(graph.keys, routes, strict=True)),
        bounds=Rect(width / 2, height / 2, width, height),
    )
