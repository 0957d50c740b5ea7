"""Tall pictures in columns: larger in their room, nothing overlaps, every edge still arrives."""

from __future__ import annotations

import random
from itertools import pairwise

import networkx as nx
import pytest

from tapeviz.layout import Layout, lay_out, lay_out_nested
from tapeviz.layout.model import EdgeKey, Point, Rect
from tapeviz.layout.room.dips import without_dips
from tapeviz.layout.room.wrapping import READABLE, in_columns, scale_in

ROOM = (960.0, 690.0)


def chain(length: int, seed: int = 0) -> nx.MultiDiGraph:
    """A chain with a weight beside each third node, and a few edges that skip."""
    rng = random.Random(seed)
    graph = nx.MultiDiGraph()
    for i in range(length):
        graph.add_node(str(i), width=rng.randint(80, 160), height=50, frame="")
        if i:
            graph.add_edge(str(i - 1), str(i), weight=8.0, carried=False)
        if i % 3 == 0:
            graph.add_node(f"w{i}", width=120, height=50, frame="")
            graph.add_edge(f"w{i}", str(i), weight=1.0, carried=False)
        if seed and i > 9 and i % 7 == 0:
            graph.add_edge(str(i - 9), str(i), weight=1.0, carried=False)
    return graph


def apart(rect: Rect, other: Rect) -> bool:
    across = rect.right <= other.left or other.right <= rect.left
    return across or rect.bottom <= other.top or other.bottom <= rect.top


def check(layout: Layout, graph: nx.MultiDiGraph) -> None:
    assert set(layout.rects) == set(graph)
    rects = list(layout.rects.values())
    assert all(apart(a, b) for i, a in enumerate(rects) for b in rects[:i])
    for (source, target, _), points in layout.routes.items():
        start, end = layout.rects[source], layout.rects[target]
        assert points[0][1] == pytest.approx(start.bottom)
        assert start.left <= points[0][0] <= start.right
        assert points[-1][1] == pytest.approx(end.top)
        assert end.left <= points[-1][0] <= end.right
        for x, y in points:
            assert layout.bounds.left - 1 <= x <= layout.bounds.right + 1
            assert layout.bounds.top - 1 <= y <= layout.bounds.bottom + 1


@pytest.mark.parametrize("seed", [0, 1, 2])
@pytest.mark.parametrize("length", [12, 24, 36])
def test_a_tall_chain_fills_its_room(length: int, seed: int) -> None:
    graph = chain(length, seed)
    plain = lay_out(graph)
    wrapped = in_columns(plain, ROOM)
    check(wrapped, graph)
    assert scale_in(wrapped.bounds, ROOM) > 1.15 * scale_in(plain.bounds, ROOM)
    assert wrapped == in_columns(plain, ROOM)


def test_what_can_be_read_stays_as_it_is() -> None:
    plain = lay_out(chain(5))
    assert scale_in(plain.bounds, ROOM) >= READABLE
    assert in_columns(plain, ROOM) is plain


def test_what_runs_to_the_right_is_cut_into_rows() -> None:
    graph = chain(30)
    right = lay_out_nested(graph, {}, {}, direction="right", room=ROOM)
    assert scale_in(right.bounds, ROOM) > 1.5 * scale_in(plain_right(graph).bounds, ROOM)
    rects = list(right.rects.values())
    assert all(apart(a, b) for i, a in enumerate(rects) for b in rects[:i])
    for (source, target, _), line in right.routes.items():
        assert line[0][0] == pytest.approx(right.rects[source].right)
        assert line[-1][0] == pytest.approx(right.rects[target].left)


def plain_right(graph: nx.MultiDiGraph) -> Layout:
    return lay_out(graph, direction="right")


def test_routes_over_columns_do_not_lie_on_each_other() -> None:
    """As the values that a U-net keeps for its way up."""
    graph = nx.MultiDiGraph()
    graph.add_nodes_from(map(str, range(30)), width=120, height=50, frame="")
    skips = [("2", "27"), ("5", "24")]
    graph.add_edges_from([*pairwise(graph), *skips], weight=8.0, carried=False)
    layout = in_columns(lay_out(graph), ROOM)
    assert layout.bounds.width > 2 * lay_out(graph).bounds.width
    level = [
        (y, min(x1, x2), max(x1, x2), source)
        for (source, _, _), line in layout.routes.items()
        for (x1, y), (x2, other) in pairwise(line)
        if y == other and x1 != x2
    ]
    for n, (y, left, right, source) in enumerate(level):
        for other, start, end, name in level[:n]:
            assert source == name or y != other or end <= left or right <= start


def test_a_chain_with_many_values_beside_it_is_not_cut() -> None:
    """Each would run around a whole column."""
    graph = chain(24)
    assert in_columns(lay_out(graph), ROOM).bounds.width > 2 * lay_out(graph).bounds.width
    for i in (0, 1, 2):
        graph.add_edge(str(i), "23", weight=1.0, carried=False)
    beside = lay_out(graph)
    assert in_columns(beside, ROOM) is beside


def test_a_route_left_of_a_column_enters_it_from_the_side() -> None:
    """It comes up between the columns and turns where it turned; it needs no room beside it."""
    rects = {str(i): Rect(300, 25 + 80 * i, 100, 50) for i in range(20)}
    routes: dict[EdgeKey, tuple[Point, ...]] = {
        (str(i), str(i + 1), 0): ((300, 50 + 80 * i), (300, 80 + 80 * i)) for i in range(19)
    }
    routes["0", "17", 0] = (
        *((270.0, 50.0), (270.0, 60.0), (100.0, 62.0)),
        *((100.0, 1340.0), (270.0, 1345.0), (270.0, 1360.0)),
    )
    plain = Layout("layered", "down", rects, routes, Rect(225, 785, 250, 1570))
    room = (500.0, 900.0)
    made = in_columns(plain, room)
    assert made is not plain
    skips, target = made.routes["0", "17", 0], made.rects["17"]
    left = min(rect.left for name, rect in made.rects.items() if int(name) > 10)
    assert skips[-1] == (pytest.approx(target.x - 30), pytest.approx(target.top))
    turn = target.top - 20
    assert min(y for x, y in skips if made.rects["0"].right < x < left) == pytest.approx(turn)


def test_a_route_leaves_a_column_straight_down_where_nothing_is_in_its_way() -> None:
    """It does not turn first towards what stood below it, and now is in a column beside."""
    rects = {str(i): Rect(300, 25 + 80 * i, 100, 50) for i in range(20)}
    routes: dict[EdgeKey, tuple[Point, ...]] = {
        (str(i), str(i + 1), 0): ((300, 50 + 80 * i), (300, 80 + 80 * i)) for i in range(19)
    }
    for i in range(6, 12):
        foot = 50.0 + 80 * i
        routes[str(i), "17", 0] = (
            *((270.0, foot), (270.0, foot + 8), (100.0 + i, foot + 12)),
            *((100.0 + i, 1340.0), (270.0, 1345.0), (270.0, 1360.0)),
        )
        routes[str(i), "18", 0] = (
            *((320.0, foot), (320.0, foot + 8), (480.0 + i, foot + 12)),
            *((480.0 + i, 1420.0), (320.0, 1425.0), (320.0, 1440.0)),
        )
    plain = Layout("layered", "down", rects, routes, Rect(225, 785, 250, 1570))
    made = in_columns(plain, (500.0, 900.0))
    first = [int(name) for name, rect in made.rects.items() if rect.x == made.rects["0"].x]
    lowest = max(first)
    assert lowest in range(6, 12), "a column ends with one of these"
    route = made.routes[str(lowest), "17", 0]
    assert min(x for x, _ in route) == route[0][0]
    assert made.routes[str(lowest), "18", 0][:2] == route[:2], "one value leaves in one place"


def test_values_of_one_frame_run_to_the_next_column_in_lanes_of_their_own() -> None:
    graph = nx.MultiDiGraph()
    for name in "abcdefghijkl":
        graph.add_node(name, width=150, height=50, frame="f" if name in "ab" else "")
    for start, end in [*pairwise("cdefghijkl"), ("a", "c"), ("a", "k"), ("b", "l")]:
        graph.add_edge(start, end, weight=8.0 if start > "b" else 1.0, carried=False)
    layout = lay_out_nested(graph, {"f": ""}, {"f": (60.0, 30.0)}, room=(520.0, 400.0))
    first, second = layout.routes["a", "k", 0], layout.routes["b", "l", 0]
    assert layout.bounds.width > layout.bounds.height, "it is in columns"
    upright = [
        {(x, min(y, low), max(y, low)) for (x, y), (other, low) in pairwise(route) if x == other}
        for route in (first, second)
    ]
    for x, top, bottom in upright[0]:
        for other, high, low in upright[1]:
            assert abs(x - other) > 4 or bottom <= high or low <= top


def test_sources_that_move_down_to_one_reader_stand_side_by_side() -> None:
    """Their boxes are of different heights: a folded model, and a value."""
    rects = {str(i): Rect(300, 25 + 80 * i, 100, 50) for i in range(20)}
    rects |= {"a": Rect(500, 25, 160, 50), "b": Rect(700, 25, 120, 26)}
    routes: dict[EdgeKey, tuple[Point, ...]] = {
        (str(i), str(i + 1), 0): ((300, 50 + 80 * i), (300, 80 + 80 * i)) for i in range(19)
    }
    routes["a", "10", 0] = ((500, 50), (500, 780), (330, 790), (330, 800))
    routes["b", "10", 0] = ((700, 38), (700, 780), (340, 790), (340, 800))
    plain = Layout("layered", "down", rects, routes, Rect(430, 785, 660, 1570))
    made = in_columns(plain, (700.0, 900.0))
    assert min(made.rects[name].left for name in "ab") > made.rects["0"].right, "they moved"
    assert apart(made.rects["a"], made.rects["b"])


def test_a_source_that_moves_down_stands_beside_one_with_several_readers() -> None:
    rects = {str(i): Rect(300, 25 + 80 * i, 100, 50) for i in range(20)}
    rects |= {"a": Rect(700, 25, 120, 26), "b": Rect(430, 25, 120, 26)}
    routes: dict[EdgeKey, tuple[Point, ...]] = {
        (str(i), str(i + 1), 0): ((300, 50 + 80 * i), (300, 80 + 80 * i)) for i in range(19)
    }
    routes["a", "10", 0] = ((700, 38), (700, 780), (330, 790), (330, 800))
    routes["b", "10", 0] = ((420, 38), (420, 780), (320, 790), (320, 800))
    routes["b", "12", 0] = ((440, 38), (440, 950), (330, 950), (330, 960))
    plain = Layout("layered", "down", rects, routes, Rect(430, 785, 660, 1570))
    made = in_columns(plain, (700.0, 900.0))
    assert min(made.rects[name].left for name in "ab") > made.rects["0"].right, "they moved"
    assert apart(made.rects["a"], made.rects["b"])


def test_columns_may_be_of_different_heights_where_one_is_wide() -> None:
    """A wide part above a narrow one: cut at half of the height, both columns would be wide."""
    graph = nx.MultiDiGraph()
    for row in range(7):
        for side in ("a", "b"):
            graph.add_node(f"{side}{row}", width=220, height=50, frame="")
            if row:
                graph.add_edge(f"{side}{row - 1}", f"{side}{row}", weight=8.0, carried=False)
    ends = [f"end{number}" for number in range(5)]
    graph.add_nodes_from(ends, width=110, height=50, frame="")
    graph.add_edge("a6", ends[0], weight=8.0, carried=False)
    graph.add_edge("b6", ends[0], weight=8.0, carried=False)
    graph.add_edges_from(pairwise(ends), weight=8.0, carried=False)
    layout = lay_out_nested(graph, {}, {}, room=(590.0, 410.0))
    check(layout, graph)
    assert scale_in(layout.bounds, (590.0, 410.0)) > 10 / 14


def test_sources_alone_are_no_column() -> None:
    graph = nx.MultiDiGraph()
    graph.add_node("v", width=200, height=300, frame="")
    for i in range(8):
        graph.add_node(str(i), width=120, height=50, frame="")
        graph.add_edge(str(i - 1) if i else "v", str(i), weight=8.0, carried=False)
    plain = lay_out(graph)
    made = in_columns(plain, ROOM)
    check(made, graph)
    assert made is not plain
    assert made.rects["0"].left < made.rects["v"].right < made.rects["7"].left


@pytest.mark.parametrize(
    ("rects", "others", "is_short"),
    [
        ({}, [], True),
        ({"below": Rect(0, 150, 60, 40)}, [], True),
        ({"right": Rect(70, 70, 20, 40)}, [], False),
        ({}, [((70.0, 0.0), (70.0, 90.0))], False),
        ({}, [((70.0, 70.0), (70.0, 300.0))], True),
        ({"a": Rect(20, 0, 50, 40)}, [], True),
        ({"a": Rect(60, 0, 50, 40)}, [], False),
    ],
)
def test_a_way_up_does_not_go_down_first(
    rects: dict[str, Rect], others: list[tuple[Point, ...]], is_short: bool
) -> None:
    dip = ((0.0, 20.0), (40.0, 60.0), (40.0, 200.0), (100.0, 200.0), (100.0, -20.0), (150.0, -20.0))
    routes = {("a", "b", 0): dip} | {(f"c{n}", "d", 0): other for n, other in enumerate(others)}
    made = without_dips(rects, routes)
    short = ((0.0, 20.0), (40.0, 60.0), (100.0, 60.0), (100.0, -20.0), (150.0, -20.0))
    assert made == {**routes, ("a", "b", 0): short if is_short else dip}


def test_a_way_up_from_a_box_leaves_it_downwards() -> None:
    dip = ((0.0, 20.0), (0.0, 90.0), (0.0, 200.0), (100.0, 200.0), (100.0, -20.0), (150.0, -20.0))
    (made,) = without_dips({}, {("a", "b", 0): dip}).values()
    assert made == ((0.0, 20.0), (0.0, 36.0), (100.0, 36.0), (100.0, -20.0), (150.0, -20.0))
