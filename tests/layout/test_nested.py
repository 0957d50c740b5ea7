"""Frames around nodes: their inside lies in them, their outside out of them, and edges arrive."""

from __future__ import annotations

import random

import networkx as nx
import pytest

from tapeviz.layout import Layout, lay_out_nested
from tapeviz.layout.model import Rect


def layered_graph(seed: int, frames: dict[str, str]) -> nx.MultiDiGraph:
    """A random graph; stretches of its nodes stand in the frames."""
    rng = random.Random(seed)
    graph = nx.MultiDiGraph()
    homes = ["", *frames, ""]
    for i in range(24):
        home = homes[i * len(homes) // 24]
        graph.add_node(str(i), width=rng.randint(30, 160), height=50, frame=home)
        for j in rng.sample(range(i), min(i, rng.randint(1, 2))):
            graph.add_edge(str(j), str(i), weight=1.0, carried=False)
    return graph


def holds(outer: Rect, inner: Rect) -> bool:
    return (
        outer.left <= inner.left
        and inner.right <= outer.right
        and outer.top <= inner.top
        and inner.bottom <= outer.bottom
    )


def apart(one: Rect, other: Rect) -> bool:
    return (
        one.right <= other.left
        or other.right <= one.left
        or one.bottom <= other.top
        or other.bottom <= one.top
    )


def check(graph: nx.MultiDiGraph, parents: dict[str, str], layout: Layout) -> None:
    assert list(layout.rects) == list(graph)
    assert set(layout.routes) == set(graph.edges(keys=True))
    for node, home in graph.nodes(data="frame"):
        around = {home}
        while home:
            home = parents[home]
            around.add(home)
        for path, rect in layout.frames.items():
            if path in around:
                assert holds(rect, layout.rects[node])
            else:
                assert apart(rect, layout.rects[node])
    nodes = list(layout.rects.values())
    assert all(apart(a, b) for i, a in enumerate(nodes) for b in nodes[:i])
    for (source, target, _), points in layout.routes.items():
        for point, rect in ((points[0], layout.rects[source]), (points[-1], layout.rects[target])):
            assert rect.left - 1 <= point[0] <= rect.right + 1
            assert rect.top - 1 <= point[1] <= rect.bottom + 1
    for frame in layout.frames.values():
        assert holds(layout.bounds, frame)


@pytest.mark.parametrize("direction", ["down", "right"])
@pytest.mark.parametrize("seed", range(3))
def test_each_frame_holds_its_own_and_nothing_else(seed: int, direction: str) -> None:
    parents = {"a": "", "b": "", "b/c": "b"}
    graph = layered_graph(seed, parents)
    layout = lay_out_nested(graph, parents, {"a": 260.0}, direction=direction)
    check(graph, parents, layout)
    assert layout.frames["a"].width >= 260
    assert layout == lay_out_nested(graph, parents, {"a": 260.0}, direction=direction)


@pytest.mark.parametrize("direction", ["down", "right"])
def test_what_is_carried_goes_back_inside_of_its_frame(direction: str) -> None:
    parents = {"loop": ""}
    graph = layered_graph(3, parents)
    inside = [node for node, home in graph.nodes(data="frame") if home]
    key = graph.add_edge(inside[-1], inside[0], weight=1.0, carried=True)
    again = graph.add_edge(inside[-1], inside[-1], weight=1.0, carried=True)
    layout = lay_out_nested(graph, parents, {}, direction=direction)
    check(graph, parents, layout)
    for edge in ((inside[-1], inside[0], key), (inside[-1], inside[-1], again)):
        for x, y in layout.routes[edge]:
            frame = layout.frames["loop"]
            assert frame.left <= x <= frame.right
            assert frame.top <= y <= frame.bottom
