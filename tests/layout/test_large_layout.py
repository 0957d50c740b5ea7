"""The layout of graphs that are too large for the careful one."""

from __future__ import annotations

from itertools import pairwise

import pytest
from layout_checks import check_clear, check_complete, check_forward
from odd_graphs import ODD
from tape_graphs import TAPES, lstm, random_dag, residual

from tapeviz.layout import lay_out
from tapeviz.layout.arrays import read_graph
from tapeviz.layout.components import components
from tapeviz.layout.engines import CAREFUL, drawn_in_parts
from tapeviz.layout.layered.layered import draw_layered, rank
from tapeviz.layout.picture import finished


@pytest.mark.parametrize("direction", ["down", "right"])
@pytest.mark.parametrize(
    "graph",
    [lstm(40), residual(120, backward=True), random_dag(500, 1.3, 2)],
    ids=["lstm", "residual", "random"],
)
def test_large_graphs_are_clear_and_run_forward(graph, direction: str) -> None:
    assert len(graph) > CAREFUL
    layout = lay_out(graph, direction=direction)
    check_complete(graph, layout)
    check_clear(layout)
    check_forward(layout)
    assert layout == lay_out(graph, direction=direction)


@pytest.mark.parametrize("name", [*TAPES, *ODD])
def test_the_same_engine_on_small_graphs(name: str) -> None:
    graph = TAPES[name]() if name in TAPES else ODD[name]
    arrays = read_graph(graph, "down")
    picture = drawn_in_parts(arrays, lambda part: draw_layered(rank(part, is_large=True)), 1.5)
    layout = finished(arrays, picture, "layered", "down")
    check_complete(graph, layout)
    check_clear(layout)
    if name in TAPES:
        check_forward(layout)


def test_edges_of_one_source_share_their_lane() -> None:
    layout = lay_out(lstm(40))
    lanes: dict[str, set[float]] = {}
    for (tail, _, _), route in layout.routes.items():
        longest = max(pairwise(route), key=lambda s: s[1][1] - s[0][1])
        if longest[1][1] - longest[0][1] > 1500:
            lanes.setdefault(tail, set()).add(longest[0][0])
    assert len(lanes) == 3  # kernel, recurrent kernel, bias
    assert all(len(positions) == 1 for positions in lanes.values())


def test_parts_keep_their_own_numbering() -> None:
    graph = random_dag(200, 0.8, 4)
    arrays = read_graph(graph, "down")
    parts = components(arrays)
    assert len(parts) > 5
    assert [part.graph.size for part in parts] == sorted(
        (part.graph.size for part in parts), reverse=True
    )
    for part in parts:
        for edge, key in zip(part.edges.tolist(), part.graph.keys, strict=True):
            assert arrays.keys[edge] == key
        for tail, head, key in zip(
            part.graph.tails, part.graph.heads, part.graph.keys, strict=True
        ):
            assert (part.graph.nodes[tail], part.graph.nodes[head]) == key[:2]
