"""The layered layout against what a reader of the picture would demand of it."""

from __future__ import annotations

from itertools import pairwise

import networkx as nx
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from layout_checks import check_apart, check_clear, check_complete, check_forward
from measure import crossings
from odd_graphs import ODD, graph_of
from tape_graphs import TAPES, chain, mlp, residual

from tapeviz.layout import lay_out
from tests.sampling import sampled

SMALL = [name for name, make in TAPES.items() if len(make()) <= 90]
DIRECTIONS = ["down", "right"]


@pytest.mark.parametrize("direction", DIRECTIONS)
@pytest.mark.parametrize("name", SMALL)
def test_tapes_are_clear_and_run_forward(name: str, direction: str) -> None:
    graph = TAPES[name]()
    layout = lay_out(graph, direction=direction)
    check_complete(graph, layout)
    check_clear(layout)
    check_apart(layout)
    check_forward(layout)


@pytest.mark.parametrize("direction", DIRECTIONS)
@pytest.mark.parametrize("name", ODD)
def test_odd_graphs_are_clear(name: str, direction: str) -> None:
    layout = lay_out(ODD[name], direction=direction)
    check_complete(ODD[name], layout)
    check_clear(layout)
    check_apart(layout)


@st.composite
def graphs(draw: st.DrawFn) -> nx.MultiDiGraph:
    count = draw(st.integers(1, 14))
    graph = nx.MultiDiGraph()
    for k in range(count):
        graph.add_node(
            f"n{k}",
            width=float(draw(st.integers(60, 190))),
            height=float(draw(st.integers(30, 52))),
        )
    node = st.integers(0, count - 1)
    for tail, head, weight in draw(
        st.lists(st.tuples(node, node, st.sampled_from([1.0, 3.0])), max_size=30)
    ):
        graph.add_edge(f"n{tail}", f"n{head}", weight=weight)
    return graph


@settings(max_examples=60, deadline=None)
@given(graphs(), st.sampled_from(DIRECTIONS))
def test_any_graph_is_clear(graph: nx.MultiDiGraph, direction: str) -> None:
    layout = lay_out(graph, direction=direction)
    check_complete(graph, layout)
    check_clear(layout)
    check_apart(layout)
    if nx.is_directed_acyclic_graph(graph):
        check_forward(layout)


@pytest.mark.parametrize("direction", DIRECTIONS)
def test_same_graph_same_layout(direction: str) -> None:
    first, second = (lay_out(mlp(2, backward=True), direction=direction) for _ in range(2))
    assert first == second


def test_right_is_as_long_as_its_boxes_are_wide() -> None:
    graph = chain(6)
    down, right = lay_out(graph), lay_out(graph, direction="right")
    assert down.bounds.height > down.bounds.width
    assert right.bounds.width > right.bounds.height


def test_a_chain_is_one_straight_line() -> None:
    layout = lay_out(chain(12))
    assert len({round(rect.x, 6) for rect in layout.rects.values()}) == 1
    assert all(len(route) == 2 for route in layout.routes.values())


def test_the_main_chain_stays_straight_beside_its_skips() -> None:
    graph = residual(4)
    layout = lay_out(graph)
    chain_of_ops = [n for n in graph if n.startswith(("Conv2D", "Relu", "BiasAdd", "AddV2"))]
    assert len({round(layout.rects[n].x, 3) for n in chain_of_ops}) == 1


def test_a_fan_in_of_two_is_symmetric() -> None:
    graph = graph_of(3, (0, 2), (1, 2))
    for node in graph:
        graph.nodes[node]["width"] = 100.0
    left, right, middle = (lay_out(graph).rects[n].x for n in ("n0", "n1", "n2"))
    assert middle == pytest.approx((left + right) / 2)


def test_arrows_arrive_apart_and_in_the_order_of_their_sources() -> None:
    graph = graph_of(6, *((k, 5) for k in range(5)))
    layout = lay_out(graph)
    by_source = sorted(
        (layout.rects[tail].x, route[-1][0]) for (tail, _, _), route in layout.routes.items()
    )
    arrivals = [x for _, x in by_source]
    assert all(b - a >= 6 for a, b in pairwise(arrivals))


def test_a_constant_stands_right_above_its_reader() -> None:
    graph = chain(8)
    last = list(graph)[-1]
    graph.add_node("late", width=80.0, height=40.0)
    graph.add_edge("late", last)
    layout = lay_out(graph)
    before = next(iter(graph.predecessors(last)))
    assert layout.rects["late"].y == layout.rects[before].y


def test_a_heavier_edge_is_the_straight_one() -> None:
    graph = graph_of(3, (0, 2))
    graph.add_edge("n1", "n2", weight=3.0)
    layout = lay_out(graph)
    assert layout.rects["n1"].x == pytest.approx(layout.rects["n2"].x)


def test_planar_tapes_have_no_crossings() -> None:
    for name in ("mlp 3", "mlp 2 gradient", "residual 12", "norm of 24"):
        layout = lay_out(TAPES[name]())
        assert crossings(layout.rects, layout.routes) == 0, name


def test_parts_do_not_waste_the_sheet() -> None:
    layout = lay_out(graph_of(60))
    boxes = sum((r.width + 44) * (r.height + 44) for r in layout.rects.values())
    assert layout.bounds.width * layout.bounds.height < 1.25 * boxes
    assert 0.8 < layout.bounds.width / layout.bounds.height < 2.5


def test_unknown_words_are_refused() -> None:
    with pytest.raises(KeyError):
        lay_out(graph_of(2), name="tidy")
    with pytest.raises(ValueError, match="sideways"):
        lay_out(graph_of(2), direction="sideways")


def test_a_draft_is_a_layout_of_nearly_the_same_size() -> None:
    for name in sampled(SMALL, 2):
        graph = TAPES[name]()
        draft, layout = lay_out(graph, is_draft=True), lay_out(graph)
        check_complete(graph, draft)
        check_forward(draft)
        check_apart(draft)
        assert layout == lay_out(graph), name
        assert draft.bounds.width == pytest.approx(layout.bounds.width, rel=0.25), name
        assert draft.bounds.height == pytest.approx(layout.bounds.height, rel=0.1), name


def test_what_stood_on_the_left_stays_on_the_left_where_that_crosses_nothing() -> None:
    graph = nx.MultiDiGraph()
    for node in ("top", "one", "two", "new", "end"):
        graph.add_node(node, width=60.0, height=40.0)
    for edge in (("top", "one"), ("top", "two"), ("one", "end"), ("two", "new"), ("new", "end")):
        graph.add_edge(*edge)
    made = lay_out(graph).rects
    left, right = sorted(("one", "two"), key=lambda node: made[node].x)
    graph.nodes[left]["before"], graph.nodes[right]["before"] = 200.0, 100.0
    turned = lay_out(graph).rects
    assert turned[right].x < turned[left].x
