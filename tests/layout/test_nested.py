"""Frames around nodes: their inside lies in them, their outside out of them, and edges arrive."""

from __future__ import annotations

import random
from itertools import pairwise

import networkx as nx
import pytest

from tapeviz.layout import Layout, lay_out_nested
from tapeviz.layout.model import Rect
from tapeviz.layout.nested import HEADER


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


def apart(rect: Rect, other: Rect) -> bool:
    return (
        rect.right <= other.left
        or other.right <= rect.left
        or rect.bottom <= other.top
        or other.bottom <= rect.top
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


def test_columns_within_a_frame_stand_below_its_title() -> None:
    graph = nx.MultiDiGraph()
    graph.add_node("source", width=90, height=46, frame="")
    for i in range(14):
        graph.add_node(str(i), width=110, height=46, frame="a")
        graph.add_edge(str(i - 1) if i else "source", str(i), weight=8.0, carried=False)
    graph.add_edge("source", "3", weight=1.0, carried=False)
    layout = lay_out_nested(graph, {"a": ""}, {"a": (130.0, 130.0)}, room=(700.0, 420.0))
    check(graph, {"a": ""}, layout)
    below = layout.frames["a"].top + HEADER
    inside = [rect for name, rect in layout.rects.items() if name != "source"]
    assert len({rect.x for rect in inside}) > 1  # it has columns
    assert min(rect.top for rect in inside) >= below
    levels = [y for line in layout.routes.values() for (_, y), (_, z) in pairwise(line) if y == z]
    assert not [y for y in levels if layout.frames["a"].top < y < below]


@pytest.mark.parametrize("direction", ["down", "right"])
@pytest.mark.parametrize("seed", range(3))
def test_each_frame_holds_its_own_and_nothing_else(seed: int, direction: str) -> None:
    parents = {"a": "", "b": "", "b/c": "b"}
    graph = layered_graph(seed, parents)
    layout = lay_out_nested(graph, parents, {"a": (130.0, 130.0)}, direction=direction)
    check(graph, parents, layout)
    assert layout.frames["a"].width >= 260
    assert layout == lay_out_nested(graph, parents, {"a": (130.0, 130.0)}, direction=direction)


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


@pytest.mark.parametrize("seed", range(6))
def test_what_is_carried_runs_beside_the_other_wires(seed: int) -> None:
    graph = layered_graph(seed, {"loop": ""})
    inside = [node for node, home in graph.nodes(data="frame") if home]
    back = {
        (end, start, graph.add_edge(end, start, weight=1.0, carried=True))
        for end, start in zip(inside[-3:], inside[:3], strict=True)
    }
    layout = lay_out_nested(graph, {"loop": ""}, {})
    upright = [
        (key, x, min(y, low), max(y, low))
        for key, points in layout.routes.items()
        for (x, y), (other, low) in pairwise(points)
        if x == other
    ]
    lanes = [run for run in upright if run[0] in back and run[3] - run[2] > 60]
    assert lanes
    for key, x, top, bottom in lanes:
        for another, beside, begin, end in upright:
            if another[0] != key[0] and begin < bottom and top < end:
                assert abs(x - beside) >= 8


@pytest.mark.parametrize("seed", range(6))
def test_wires_run_straight_down_behind_a_header(seed: int) -> None:
    parents = {"a": "", "a/b": "a"}
    graph = layered_graph(seed, parents)
    layout = lay_out_nested(graph, parents, {"a": (40.0, 30.0), "a/b": (30.0, 20.0)})
    behind = 0
    for frame in layout.frames.values():
        header = Rect.from_sides(frame.left, frame.top, frame.right, frame.top + HEADER)
        assert all(apart(header, rect) for rect in layout.rects.values())
        for points in layout.routes.values():
            for (x, y), (other, below) in pairwise(points):
                is_beside = min(y, below) < header.bottom and max(y, below) > header.top
                if is_beside and any(header.left < at < header.right for at in (x, other)):
                    assert abs(x - other) < 1  # px
                    behind += 1
    assert behind


def test_a_long_title_does_not_widen_its_frame_beyond_the_words_and_what_is_in_it() -> None:
    graph = nx.MultiDiGraph()
    for node in ("x", "first", "last"):
        graph.add_node(node, width=100, height=40, frame="loop" if node != "x" else "")
    graph.add_edge("x", "first", weight=1.0)
    graph.add_edge("first", "last", weight=1.0)
    layout = lay_out_nested(graph, {"loop": ""}, {"loop": (400.0, 20.0)})
    frame = layout.frames["loop"]
    assert 420 <= frame.width < 430
    for node in ("first", "last"):
        assert abs(layout.rects[node].x - frame.x) < 10
        assert layout.rects[node].top > frame.top + 40


def test_wires_come_in_as_their_ports_stand() -> None:
    graph = nx.MultiDiGraph()
    chain = [f"op{i}" for i in range(6)]
    for i, name in enumerate(chain):
        graph.add_node(name, width=120, height=50, frame="loop")
        graph.add_node(f"in{i}", width=90, height=50, frame="")
        graph.add_edge(f"in{i}", name, weight=1.0)
        if i:
            graph.add_edge(chain[i - 1], name, weight=8.0)
    layout = lay_out_nested(graph, {"loop": ""}, {"loop": (100.0, 100.0)})
    frame = layout.frames["loop"]
    starts = {name: layout.rects[name].x for name in graph if name.startswith("in")}
    doors = {
        source: next(x for x, y in points if y >= frame.top)
        for (source, _, _), points in layout.routes.items()
        if source in starts
    }
    assert sorted(starts, key=starts.__getitem__) == sorted(doors, key=doors.__getitem__)


def test_sources_of_a_wide_picture_stand_in_several_rows() -> None:
    graph = nx.MultiDiGraph()
    graph.add_node("taker", width=120, height=50, frame="")
    for i in range(8):
        graph.add_node(f"w{i}", width=230, height=50, frame="")
        graph.add_edge(f"w{i}", "taker", weight=1.0)
    wide = lay_out_nested(graph, {}, {})
    fitted = lay_out_nested(graph, {}, {}, room=(940.0, 610.0))
    check(graph, {}, fitted)
    assert fitted.bounds.width < 0.75 * wide.bounds.width
    assert len({rect.y for name, rect in fitted.rects.items() if name != "taker"}) in (2, 3)
