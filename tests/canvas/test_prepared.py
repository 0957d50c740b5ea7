from __future__ import annotations

from dataclasses import replace

from tapeviz.canvas.neighbours import neighbour
from tapeviz.canvas.prepared import NOTHING_PREPARED, Prepared
from tapeviz.layout.model import Rect
from tapeviz.scene.model import FrameBox
from tests.canvas.scenes import chain, crowd


def test_points_hit_boxes_and_wires() -> None:
    prepared = Prepared(chain())
    hit = prepared.box_at((10, 210))
    assert hit is not None
    assert hit.node == "n2"
    assert prepared.box_at((10, 150)) is None
    wire = prepared.wire_at((4, 150), 6)
    assert wire is not None
    assert wire.edge == ("n1", "n2", 0)
    assert prepared.wire_at((40, 150), 6) is None


def test_the_header_of_a_frame_is_no_free_room() -> None:
    frame = FrameBox("f", Rect(500, 300, 200, 400), "f", 1)
    prepared = Prepared(replace(chain(), frames=(frame,)))
    assert prepared.has_boxes(Rect(450, 110, 60, 40))
    assert not prepared.has_boxes(Rect(450, 200, 60, 40))


def test_only_what_is_in_sight_is_found() -> None:
    prepared = Prepared(chain(50))
    assert prepared.boxes_in(Rect(0, 1000, 100, 100)).tolist() == [9, 10, 11]
    assert prepared.wires_in(Rect(0, 1000, 100, 10)).tolist() == [9, 10]


def test_a_frame_takes_what_lies_wholly_in_it() -> None:
    prepared = Prepared(chain())
    assert prepared.boxes_within(Rect(0, 100, 300, 160)) == {"n1"}
    assert prepared.bounds_of(frozenset(("n0", "n1"))) == Rect(0, 50, 120, 150)
    assert prepared.bounds_of(frozenset(("nobody",))) is None


def test_routes_are_kept_when_only_looks_change() -> None:
    scene = chain()
    prepared = Prepared(scene)
    routes = prepared.routes
    lit = replace(scene, wires=tuple(replace(wire, is_lit=False) for wire in scene.wires))
    assert Prepared(lit, prepared).routes is routes
    assert Prepared(chain(), prepared).routes is not routes
    latest = prepared
    for _ in range(2_000):  # a minimized window paints none of the scenes of a long run
        latest = Prepared(lit, latest)
    assert latest.routes is routes


def test_nothing_is_nowhere() -> None:
    assert NOTHING_PREPARED.box_at((0, 0)) is None
    assert NOTHING_PREPARED.wire_at((0, 0), 10) is None
    assert NOTHING_PREPARED.wires_in(Rect(0, 0, 10, 10)).size == 0


def test_boxes_out_of_sight_are_culled() -> None:
    prepared = Prepared(crowd(50_000))
    assert 0 < prepared.boxes_in(Rect(5000, 5000, 1600, 1000)).size < 300


def test_arrows_go_along_edges_else_to_the_nearest_box() -> None:
    import networkx as nx

    prepared = Prepared(chain())
    graph = nx.MultiDiGraph()
    nx.add_path(graph, [f"n{i}" for i in range(5)])
    assert neighbour(prepared, graph, "n1", "down") == "n2"
    assert neighbour(prepared, graph, "n1", "up") == "n0"
    assert neighbour(prepared, graph, "n0", "up") is None
    assert neighbour(Prepared(crowd(9)), nx.MultiDiGraph(), "n0", "right") == "n1"
