from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest

from tapeviz.graph.model import Edge, Node
from tapeviz.layout.model import Rect
from tapeviz.scene.compose import compose
from tapeviz.scene.lighting import spread_of, width_of
from tapeviz.scene.model import Box, Overlay, Scene, Wire
from tapeviz.scene.parts.boxes import outer_rect
from tapeviz.scene.parts.geometry import curve, flattened
from tapeviz.scene.sizes import with_sizes
from tapeviz.scene.text import text_width

from .pictured import G_X, MESSAGE, Pictured, Y, pictured


@pytest.fixture(scope="module")
def example() -> Pictured:
    return pictured()


def scene(example: Pictured, overlay: Overlay | None = None) -> Scene:
    return compose(
        example.graph, example.layout, example.trace, example.shown, overlay or Overlay()
    )


def wire(drawn: Scene, source: str, target: str) -> Wire:
    return next(wire for wire in drawn.wires if wire.edge[:2] == (source, target))


def box(drawn: Scene, node: str) -> Box:
    return next(box for box in drawn.boxes if box.node == node)


def test_flow_decides_the_state_of_a_wire(example: Pictured) -> None:
    drawn = scene(example)
    states = {wire.edge[:2]: wire.state for wire in drawn.wires}
    assert states == {
        ("patch", "assign"): "cut",
        ("x", "assign"): "unrecorded",
        ("assign", "x′"): "unrecorded",
        ("x′", "transpose"): "gradient",
        ("x′", "y"): "gradient",
        ("transpose", "y"): "gradient",
        ("y", "o"): "gradient",
    }


def test_without_a_call_there_is_no_flow(example: Pictured) -> None:
    drawn = compose(example.graph, example.layout, example.trace, None, Overlay(step=2))
    assert {wire.state for wire in drawn.wires} == {"recorded", "unrecorded"}
    assert not drawn.marks
    assert not drawn.title
    assert all(not box.ring for box in drawn.boxes)
    assert [entry.state for entry in drawn.legend] == ["recorded", "unrecorded"]


def test_a_bridge_takes_the_place_of_the_cut_and_goes_through_the_state(example: Pictured) -> None:
    drawn = scene(example, Overlay(show_bridge=True))
    assert wire(drawn, "patch", "assign").state == "bridge"
    assert wire(drawn, "assign", "x′").state == "bridge"
    assert wire(drawn, "x", "assign").state == "unrecorded", "nobody asked for the rest of x"
    assert "across the cut" in [entry.text for entry in drawn.legend]
    assert len(drawn.marks) == 1


def test_scissors_stand_on_the_cut_wire_clear_of_every_box(example: Pictured) -> None:
    drawn = scene(example)
    (mark,) = drawn.marks
    cut = wire(drawn, "patch", "assign")
    path = flattened(curve(cut.points, cut.axis), 200)
    assert min(math.dist(point, (mark.x, mark.y)) for point in path) < 1
    for box in drawn.boxes:
        outer = outer_rect(box)
        beside = max(outer.left - mark.x, mark.x - outer.right)
        above = max(outer.top - mark.y, mark.y - outer.bottom)
        assert max(beside, above) > mark.radius
    assert MESSAGE in mark.tooltip
    assert "line 5" in mark.tooltip
    assert mark.tooltip == cut.tooltip


def test_sources_and_targets_are_ringed_in_words_too(example: Pictured) -> None:
    drawn = scene(example)
    assert {box.node: box.ring for box in drawn.boxes if box.ring} == {
        "patch": "cut",
        "o": "target",
    }
    assert box(drawn, "patch").ring_label == "source · None"
    assert box(drawn, "o").ring_label == "target"
    assert drawn.title == "∂o/∂patch · None"


def test_widths_follow_the_norm_between_their_bounds() -> None:
    norms = [1e-6, 1e-3, 1.0, 1e3, 0.0, None]
    spread = spread_of(norms)
    widths = {norm: width_of(norm, spread) for norm in norms}
    rising = [widths[norm] for norm in norms[:4]]
    assert rising == sorted(rising)
    assert (rising[0], rising[-1]) == (1.5, 5.0)
    assert widths[0.0] == 1.5
    assert all(1.5 <= width <= 5 for width in widths.values())


def test_equal_norms_are_drawn_alike_and_not_at_an_end() -> None:
    assert width_of(2.0, spread_of([2.0, 2.0])) == 3.25


@pytest.mark.parametrize(
    ("step", "lit"),
    [
        (0, set()),
        (1, {("y", "o")}),
        (2, {("y", "o"), ("x′", "y"), ("transpose", "y")}),
        (4, {("y", "o"), ("x′", "y"), ("transpose", "y"), ("x′", "transpose")}),
    ],
)
def test_a_step_lights_what_was_walked(
    example: Pictured, step: int, lit: set[tuple[str, str]]
) -> None:
    drawn = scene(example, Overlay(step=step))
    found = {wire.edge[:2] for wire in drawn.wires if wire.state == "gradient" and wire.is_lit}
    assert found == lit
    assert sum(wire.state == "gradient" for wire in drawn.wires) == 4
    assert ("pending" in [entry.state for entry in drawn.legend]) == (len(lit) < 4)


def test_gradients_build_up_and_a_fan_out_waits_for_its_sum(example: Pictured) -> None:
    two, four = scene(example, Overlay(step=2)), scene(example, Overlay(step=4))
    assert box(two, "o").gradient == "1.0"
    assert box(two, "y").gradient == "all 0.25"
    assert box(two, "x′").gradient == ""
    assert wire(two, "x′", "y").label == "norm 36.8"
    assert wire(two, "x′", "transpose").label == ""
    assert box(four, "x′").gradient == "[[1,2,52],[1,2,52]]"
    picture = box(four, "x′").gradient_picture
    assert picture is not None
    value = example.trace.value(G_X)
    assert value is not None
    assert np.allclose(np.array(picture.rows, float), (value - 1) / 51, atol=1e-4)


def test_a_wire_in_a_trunk_has_no_share_of_a_sum(example: Pictured) -> None:
    routes = dict(example.layout.routes)
    for source in ("x′", "transpose"):  # both bend where neither of them bends alone
        first, *bends, last = routes[source, "y", 0]
        routes[source, "y", 0] = (first, *bends, (200.0, 330.0), last)
    joined = replace(example, layout=replace(example.layout, routes=routes))
    assert wire(scene(joined, Overlay(step=2)), "x′", "y").label == ""


def test_a_share_of_a_sum_covers_no_header_of_a_frame(example: Pictured) -> None:
    at = wire(scene(example, Overlay(step=2)), "x′", "y").label_at
    assert at is not None
    frame = Rect.from_sides(at[0] - 90, at[1] - 18, at[0] + 90, at[1] + 200)
    framed = replace(example, layout=replace(example.layout, frames={"a": frame}))
    aside = wire(scene(framed, Overlay(step=2)), "x′", "y")
    assert not aside.label or aside.label_at != at


def test_the_op_of_the_last_step_is_current(example: Pictured) -> None:
    current = [
        [box.node for box in scene(example, Overlay(step=step)).boxes if box.is_current]
        for step in range(5)
    ]
    assert current == [[], ["o"], ["y"], ["transpose"], ["x′"]]


def test_an_overlay_moves_nothing(example: Pictured) -> None:
    plain = scene(example)
    over = scene(example, Overlay(step=2, selected_nodes=frozenset({"y", "gone"})))
    assert [box.rect for box in plain.boxes] == [box.rect for box in over.boxes]
    assert {wire.edge: wire.points for wire in plain.wires} == {
        wire.edge: wire.points for wire in over.wires
    }
    assert [box.node for box in over.boxes if box.is_selected] == ["y"]
    again = scene(example)
    assert again == plain


def test_wires_end_at_the_ring_around_a_box(example: Pictured) -> None:
    drawn = scene(example)
    assert wire(drawn, "y", "o").points[-1][1] == box(drawn, "o").rect.top - 4.5
    assert wire(drawn, "patch", "assign").points[0][1] == box(drawn, "patch").rect.bottom + 4.5


def test_boxes_are_wide_enough_for_their_words(example: Pictured) -> None:
    drawn = scene(example)
    for box in drawn.boxes:
        room = box.rect.width - 2 * 13
        assert text_width(box.title, "mono", 13) <= room
        assert text_width(box.subtitle, "sans", 11) <= room
        if box.value:
            assert text_width(box.value, "mono", 13) + text_width(box.title, "mono", 13) < room


def test_bounds_hold_rings_labels_and_marks(example: Pictured) -> None:
    bounds = scene(example, Overlay(step=4)).bounds
    for box in scene(example, Overlay(step=4)).boxes:
        outer = outer_rect(box)
        assert bounds.left <= outer.left
        assert bounds.right >= outer.right
        assert bounds.top <= outer.top
        assert bounds.bottom >= outer.bottom


def test_a_source_that_flows_is_ringed_in_the_flow(example: Pictured) -> None:
    (finding,) = example.shown.findings
    flows = replace(finding, status="flows", cause=None, tensor=G_X)
    shown = replace(example.shown, findings=(flows,))
    drawn = compose(example.graph, example.layout, example.trace, shown, Overlay())
    assert box(drawn, "patch").ring == "source"
    assert box(drawn, "patch").ring_label == "source"
    assert drawn.title == "∂o/∂patch · flows"


@pytest.mark.parametrize("role", ["op", "variable", "constant", "group"])
@pytest.mark.parametrize("title", ["x", "a_name_of_exactly_24_chr", "n" * 200, "梯度" * 8])
def test_a_lone_node_has_room_for_its_title(example: Pictured, role: str, title: str) -> None:
    import networkx as nx

    graph = nx.MultiDiGraph()
    node = Node("n", role, title, "kernel · 2×3", "Add", 1)  # type: ignore[arg-type]
    graph.add_node("n", node=node)
    data = with_sizes(graph, example.trace).nodes["n"]
    shown = title if len(title) <= 24 else "n" * 24
    size = 14
    assert data["width"] >= text_width(shown, "mono", size)
    assert data["height"] in (26, 46)
    assert "width" not in graph.nodes["n"]


def test_edges_without_a_route_and_nodes_without_a_place_are_left_out(example: Pictured) -> None:
    graph = example.graph.copy()
    graph.add_node("lost", node=Node("lost", "op", "lost", "", "Add", 1))
    graph.add_edge("y", "lost", 0, edge=Edge("y", "lost", 0, Y, None))
    drawn = compose(graph, example.layout, example.trace, example.shown, Overlay())
    assert len(drawn.boxes) == 7
    assert len(drawn.wires) == 7


def test_an_empty_graph_is_an_empty_scene(example: Pictured) -> None:
    import networkx as nx

    layout = replace(example.layout, rects={}, routes={}, bounds=Rect(0, 0, 0, 0))
    drawn = compose(nx.MultiDiGraph(), layout, example.trace, example.shown, Overlay(step=1))
    assert (drawn.boxes, drawn.wires, drawn.marks, drawn.legend) == ((), (), (), ())
