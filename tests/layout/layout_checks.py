"""Invariants of the layout of any graph, as assertions."""

from __future__ import annotations

import networkx as nx
from measure import boxes_hit, overlapping_boxes

from tapeviz.layout import Layout, Point, Rect
from tapeviz.layout.layered.routing import STRAIGHT_GAP


def check_complete(graph: nx.MultiDiGraph, layout: Layout) -> None:
    """Every node and edge is there, sized as asked, docked on its boxes, inside the bounds."""
    assert list(layout.rects) == list(graph.nodes)
    assert list(layout.routes) == list(graph.edges(keys=True))
    for node, data in graph.nodes(data=True):
        rect = layout.rects[node]
        assert (rect.width, rect.height) == (data["width"], data["height"])
        assert inside(layout.bounds, (rect.left, rect.top))
        assert inside(layout.bounds, (rect.right, rect.bottom))
    for (tail, head, _), route in layout.routes.items():
        assert len(route) >= 2
        assert on_border(layout.rects[tail], route[0])
        assert on_border(layout.rects[head], route[-1])
        assert all(inside(layout.bounds, point) for point in route)
        assert all(type(value) is float for point in route for value in point)


def check_clear(layout: Layout, margin: float = 16, clearance: float = 6) -> None:
    """No box near another, no edge near a box that is not its own."""
    assert overlapping_boxes(layout.rects, margin) == []
    assert boxes_hit(layout.rects, layout.routes, clearance) == []


def check_forward(layout: Layout) -> None:
    """Every edge runs with the flow all the way."""
    axis = 0 if layout.direction == "right" else 1
    for (tail, head, _), route in layout.routes.items():
        if tail != head:
            along = [point[axis] for point in route]
            assert along == sorted(along)
            assert along[-1] - along[0] >= STRAIGHT_GAP - 0.1


def check_apart(layout: Layout) -> None:
    """Edges between the same two nodes are different lines with different ends."""
    seen: dict[tuple[str, str], list[tuple[Point, ...]]] = {}
    for (tail, head, _), route in layout.routes.items():
        seen.setdefault((tail, head), []).append(route)
    for routes in seen.values():
        assert len(set(routes)) == len(routes)


def on_border(rect: Rect, point: Point) -> bool:
    dx = abs(point[0] - rect.x) - rect.width / 2
    dy = abs(point[1] - rect.y) - rect.height / 2
    return abs(max(dx, dy)) < 1e-6


def inside(bounds: Rect, point: Point) -> bool:
    dx = abs(point[0] - bounds.x) - bounds.width / 2
    dy = abs(point[1] - bounds.y) - bounds.height / 2
    return max(dx, dy) < 1e-6
