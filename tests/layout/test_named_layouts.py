"""networkx's own layouts as tapeviz draws them."""

from __future__ import annotations

import pytest
from layout_checks import check_apart, check_clear, check_complete
from measure import crossings, overlapping_boxes
from odd_graphs import ODD
from tape_graphs import TAPES, mlp, random_dag

from tapeviz.layout import LAYOUTS, lay_out

NAMED = [name for name in LAYOUTS if name != "layered"]
SOME = ["assign cut", "residual 3", "lstm 2", "random 30"]


def test_layered_comes_first_in_the_menu() -> None:
    assert LAYOUTS[0] == "layered"


@pytest.mark.parametrize("name", NAMED)
@pytest.mark.parametrize("graph", ODD)
def test_odd_graphs(name: str, graph: str) -> None:
    layout = lay_out(ODD[graph], name=name)
    assert layout.name == name
    check_complete(ODD[graph], layout)
    check_apart(layout)
    assert overlapping_boxes(layout.rects, 16) == []


@pytest.mark.parametrize("name", NAMED)
@pytest.mark.parametrize("tape", SOME)
def test_tapes_are_clear(name: str, tape: str) -> None:
    graph = TAPES[tape]()
    layout = lay_out(graph, name=name, direction="right")
    check_complete(graph, layout)
    check_apart(layout)
    check_clear(layout, clearance=1)


@pytest.mark.parametrize("name", NAMED)
def test_same_graph_same_layout(name: str) -> None:
    assert lay_out(mlp(3), name=name) == lay_out(mlp(3), name=name)


@pytest.mark.parametrize("name", NAMED)
def test_graphs_too_large_for_networkx_without_scipy(name: str) -> None:
    graph = random_dag(1300, 1.1, 8)
    layout = lay_out(graph, name=name)
    check_complete(graph, layout)
    assert overlapping_boxes(layout.rects, 16) == []


def test_planar_graphs_are_drawn_without_crossings() -> None:
    layout = lay_out(mlp(2), name="planar")
    assert crossings(layout.rects, layout.routes) == 0


def test_kamada_kawai_follows_the_distances_in_the_graph() -> None:
    rects = lay_out(ODD["path"], name="kamada-kawai").rects

    def apart(a: str, b: str) -> float:
        return ((rects[a].x - rects[b].x) ** 2 + (rects[a].y - rects[b].y) ** 2) ** 0.5

    assert apart("n0", "n39") > 1.7 * apart("n0", "n20") > 2.5 * apart("n0", "n8")
