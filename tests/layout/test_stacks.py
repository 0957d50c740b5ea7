"""Wide rows of sources in stacks: narrower, nothing overlaps, every edge runs clear of boxes."""

from __future__ import annotations

from itertools import pairwise

import networkx as nx
import pytest
from test_wrapping import apart

from tapeviz.layout import Layout, lay_out, lay_out_nested
from tapeviz.layout.room.stacks import Stacked, choose_stacks
from tapeviz.layout.room.wrapping import in_columns, scale_in


def fan(count: int, readers: int = 1) -> nx.MultiDiGraph:
    """Variables that all readers take, and what these give to a target."""
    graph = nx.MultiDiGraph()
    for i in range(count):
        graph.add_node(f"v{i}", width=130 + 10 * (i % 4), height=46, frame="")
    for r in range(readers):
        graph.add_node(f"r{r}", width=110, height=46, frame="")
    graph.add_node("loss", width=90, height=46, frame="")
    for r in range(readers):
        for i in range(count):
            graph.add_edge(f"v{i}", f"r{r}", weight=1.0, carried=False)
        graph.add_edge(f"r{r}", "loss", weight=8.0, carried=False)
    return graph


def check(layout: Layout, graph: nx.MultiDiGraph) -> None:
    assert list(layout.rects) == list(graph)
    assert set(layout.routes) == set(graph.edges(keys=True))
    rects = list(layout.rects.values())
    assert all(apart(a, b) for i, a in enumerate(rects) for b in rects[:i])
    for (source, target, _), line in layout.routes.items():
        start, end = layout.rects[source], layout.rects[target]
        assert line[0][1] == pytest.approx(start.bottom)
        assert start.left <= line[0][0] <= start.right
        assert line[-1][1] == pytest.approx(end.top)
        for (x1, y1), (x2, y2) in pairwise(line):
            for name, rect in layout.rects.items():
                if name in (source, target) or abs(x1 - x2) > 1:
                    continue
                passes = rect.left < x1 < rect.right
                assert not (passes and min(y1, y2) < rect.bottom and max(y1, y2) > rect.top)


@pytest.mark.parametrize("readers", [1, 2])
@pytest.mark.parametrize("rows", [2, 3, 4])
def test_a_row_in_stacks_is_narrower(rows: int, readers: int) -> None:
    graph = fan(12, readers)
    plain = lay_out(graph)
    stacked = Stacked(graph, choose_stacks(graph, plain, rows))
    layout = stacked.unstacked(lay_out(stacked.graph))
    check(layout, graph)
    assert layout.bounds.width < 1.8 / rows * plain.bounds.width


def test_stacked_sources_of_a_frame_stand_in_the_order_in_which_they_enter_it() -> None:
    graph, places = fan(6), [40.0, -10.0, -40.0, 25.0, 10.0, -25.0]
    for i, at in enumerate(places):
        graph.edges[f"v{i}", "r0", 0]["head_at"] = at
    stacks = choose_stacks(graph, lay_out(graph), 2)
    assert [[int(name[1:]) for name in stack] for stack in stacks] == [[2, 5], [1, 4], [3, 0]]


def test_sources_are_stacked_where_their_row_cannot_be_read() -> None:
    graph = fan(8)
    wide, narrow = (
        lay_out_nested(graph, {}, {}, direction="down", room=room)
        for room in ((2000.0, 500.0), (600.0, 500.0))
    )
    assert wide == lay_out(graph)
    assert narrow.bounds.width < 600 / 0.8
    check(narrow, graph)


def test_a_frame_of_variables_is_stacked_inside() -> None:
    graph = fan(12)
    for i in range(12):
        graph.nodes[f"v{i}"]["frame"] = "variables"
    layout = lay_out_nested(
        graph, {"variables": ""}, {"variables": (80.0, 30.0)}, direction="down", room=(600.0, 500.0)
    )
    plain = lay_out_nested(graph, {"variables": ""}, {"variables": (80.0, 30.0)}, direction="down")
    assert layout.bounds.width < 0.6 * plain.bounds.width
    assert all(layout.frames["variables"].contains(layout.rects[f"v{i}"]) for i in range(12))


def test_few_sources_stay_in_their_row() -> None:
    graph = fan(3)
    assert choose_stacks(graph, lay_out(graph), 4) == []


@pytest.mark.parametrize("across", [420.0, 580.0, 740.0])
def test_edges_of_upper_boxes_go_over_to_their_trunk_above_the_lower_ones(across: float) -> None:
    graph = fan(6, 2)
    check(lay_out_nested(graph, {}, {}, direction="down", room=(across, 400.0)), graph)


def test_a_tall_picture_is_stacked_where_columns_then_fit() -> None:
    """The row of sources is not what makes it too large, but leaves no room for columns."""
    graph = fan(4)
    for i in range(6):
        graph.add_node(f"c{i}", width=110, height=46, frame="")
        graph.add_edge(f"c{i - 1}" if i else "loss", f"c{i}", weight=8.0, carried=False)
    room = (420.0, 330.0)
    made = lay_out_nested(graph, {}, {}, direction="down", room=room)
    check_apart = list(made.rects.values())
    assert all(apart(a, b) for i, a in enumerate(check_apart) for b in check_apart[:i])
    columns = in_columns(lay_out(graph), room)
    assert scale_in(made.bounds, room) > 1.05 * scale_in(columns.bounds, room)
