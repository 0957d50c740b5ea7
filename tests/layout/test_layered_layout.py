"""The layered layout against what a reader of the picture would demand of it."""

from __future__ import annotations

import networkx as nx
import pytest
from measure import boxes_hit, overlapping_boxes
from tape_graphs import TAPES

from tapeviz.layout import Layout, lay_out

SMALL = [name for name, make in TAPES.items() if len(make()) <= 130]


@pytest.fixture(params=["down", "right"])
def direction(request: pytest.FixtureRequest) -> str:
    return str(request.param)


def check(graph: nx.MultiDiGraph, layout: Layout) -> None:
    """What holds for every layered layout of every graph."""
    assert set(layout.rects) == set(graph.nodes)
    assert set(layout.routes) == set(graph.edges(keys=True))
    assert overlapping_boxes(layout.rects, 16) == []
    assert boxes_hit(layout.rects, layout.routes, 6) == []
    for node, data in graph.nodes(data=True):
        rect = layout.rects[node]
        assert (rect.width, rect.height) == (data["width"], data["height"])
    for (tail, head, _), route in layout.routes.items():
        assert len(route) >= 2
        assert on_border(layout.rects[tail], route[0])
        assert on_border(layout.rects[head], route[-1])
    for rect in layout.rects.values():
        assert layout.bounds.left <= rect.left + 1e-6
        assert layout.bounds.right >= rect.right - 1e-6
        assert layout.bounds.top <= rect.top + 1e-6
        assert layout.bounds.bottom >= rect.bottom - 1e-6


def on_border(rect, point) -> bool:
    dx = abs(point[0] - rect.x) - rect.width / 2
    dy = abs(point[1] - rect.y) - rect.height / 2
    return abs(max(dx, dy)) < 1e-6


@pytest.mark.parametrize("name", SMALL)
def test_boxes_stay_apart_and_edges_keep_clear(name: str, direction: str) -> None:
    graph = TAPES[name]()
    check(graph, lay_out(graph, direction=direction))


@pytest.mark.parametrize("name", SMALL)
def test_every_edge_of_a_tape_goes_forward(name: str, direction: str) -> None:
    layout = lay_out(TAPES[name](), direction=direction)
    axis = 0 if direction == "right" else 1
    for route in layout.routes.values():
        along = [point[axis] for point in route]
        assert along == sorted(along)
        assert along[-1] - along[0] >= 40
