"""How the flow of a call marks sources, targets, constants and folded groups."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import replace

import networkx as nx
import numpy as np
import pytest
from msgspec import structs

from tapeviz.analysis.backward.steps import Flow
from tapeviz.analysis.causes.connections.not_connected import NotConnected
from tapeviz.analysis.causes.ops.not_differentiable import IntegerValue
from tapeviz.analysis.causes.tapes.outside_tape import OutsideTape
from tapeviz.analysis.findings import Cause, Status
from tapeviz.analysis.model import CallDiagnosis
from tapeviz.graph.model import Edge, Node
from tapeviz.layout.model import Layout, Rect
from tapeviz.scene.compose import compose
from tapeviz.scene.model import Box, Overlay, Scene
from tapeviz.scene.parts.boxes import label_rect
from tapeviz.scene.parts.frames import header_in
from tapeviz.scene.parts.geometry import curve, flattened
from tapeviz.scene.sizes import CHIP_HEIGHT, with_sizes
from tapeviz.scene.strokes import box_group
from tapeviz.scene.theme import THEMES
from tapeviz.trace.ids import OpId, TensorId

from .pictured import (
    LOSS,
    MATMUL,
    MEAN,
    PATCH_ID,
    READ,
    TRANSPOSE,
    TURNED,
    Pictured,
    Y,
    pictured,
    with_flow,
)


@pytest.fixture(scope="module")
def example() -> Pictured:
    return pictured()


def scene(made: Pictured, shown: CallDiagnosis, overlay: Overlay | None = None) -> Scene:
    return compose(made.graph, made.layout, made.trace, shown, overlay or Overlay())


def box(drawn: Scene, node: str) -> Box:
    return next(box for box in drawn.boxes if box.node == node)


def states(drawn: Scene) -> dict[tuple[str, str], str]:
    return {(wire.edge[0], wire.edge[1]): wire.state for wire in drawn.wires}


def test_a_source_whose_own_nature_is_the_cut_is_cut_on_its_way_to_the_target(
    example: Pictured,
) -> None:
    (finding,) = example.shown.findings
    cause = Cause(IntegerValue("int32"), 3, "patch = tf.Variable([[0, 1], [2, 3]])")
    flow = Flow(targets=frozenset({LOSS}))
    shown = with_flow(example.shown, flow, findings=(replace(finding, cause=cause),))
    drawn = scene(example, shown)
    assert states(drawn)["patch", "assign"] == "cut"
    assert [mark.edge[:2] for mark in drawn.marks] == [("patch", "assign")]


def test_nothing_is_cut_where_nothing_leads_to_the_target(example: Pictured) -> None:
    (finding,) = example.shown.findings
    cause = Cause(NotConnected(None), 8, "g.gradient(o, patch)")
    graph = example.graph.copy()
    graph.remove_edge("assign", "x′")
    made = replace(example, graph=graph)
    flow = Flow(targets=frozenset({LOSS}))
    shown = with_flow(example.shown, flow, findings=(replace(finding, cause=cause),))
    assert not scene(made, shown).marks


def test_a_cut_on_one_of_an_edges_values_cuts_the_edge(example: Pictured) -> None:
    graph = example.graph.copy()
    read = OpId(99)
    edge = graph.edges["x′", "y", 0]["edge"]
    graph.edges["x′", "y", 0]["edge"] = structs.replace(edge, folded=((None, read),))
    cause = Cause(OutsideTape("before"), 6, "")
    flow = replace(example.shown.flow, cuts={(None, read): cause})
    drawn = scene(replace(example, graph=graph), with_flow(example.shown, flow))
    assert states(drawn)["x′", "y"] == "cut"
    assert states(drawn)["x′", "transpose"] == "gradient"


def test_a_value_that_gets_a_gradient_on_a_wire_is_not_cut_there(example: Pictured) -> None:
    graph, read = example.graph.copy(), OpId(99)
    edge = graph.edges["x′", "y", 0]["edge"]
    graph.edges["x′", "y", 0]["edge"] = structs.replace(edge, folded=((READ, read),))
    made, cause = replace(example, graph=graph), Cause(OutsideTape("before"), 6, "")
    flow = replace(example.shown.flow, cuts={(READ, read): cause})
    assert (READ, MATMUL) in flow.walked
    assert states(scene(made, with_flow(example.shown, flow)))["x′", "y"] == "gradient"
    walked = {link: norm for link, norm in flow.walked.items() if link != (READ, MATMUL)}
    alone = replace(flow, walked=walked)
    assert states(scene(made, with_flow(example.shown, alone)))["x′", "y"] == "cut"


def with_constant(example: Pictured) -> Pictured:
    """The picture with a constant that the mean takes too."""
    graph, two = example.graph.copy(), TensorId(16)
    graph.add_node("two", node=Node("two", "constant", "2.0", "", "Constant", 7, tensor=two))
    graph.add_edge("two", "o", 0, edge=Edge("two", "o", 0, two, MEAN))
    graph = with_sizes(graph, example.trace)
    rects = {**example.layout.rects, "two": Rect(400, 375, 40, CHIP_HEIGHT)}
    routes = {**example.layout.routes, ("two", "o", 0): ((400.0, 387.0), (300.0, 438.0))}
    layout = replace(example.layout, rects=rects, routes=routes)
    return replace(example, graph=graph, layout=layout)


def test_what_a_constant_would_get_is_not_drawn(example: Pictured) -> None:
    made, two = with_constant(example), TensorId(16)
    flow = replace(example.shown.flow, walked={**example.shown.flow.walked, (two, MEAN): 1.0})
    drawn = scene(made, with_flow(example.shown, flow), Overlay(step=4))
    assert states(drawn)["two", "o"] == "recorded"
    assert box(drawn, "two").gradient == ""


def test_a_constant_that_is_a_source_is_drawn_in_the_flow(example: Pictured) -> None:
    made, two = with_constant(example), TensorId(16)
    flow = replace(
        example.shown.flow,
        walked={**example.shown.flow.walked, (two, MEAN): 1.0},
        sources=frozenset({two}),
    )
    drawn = scene(made, with_flow(example.shown, flow, findings=()))
    assert states(drawn)["two", "o"] == "gradient"
    assert box(drawn, "two").ring == "source"


@pytest.mark.parametrize(
    ("status", "nonfinite", "words"),
    [
        ("flows", "", "source"),
        ("zero", "", "source · zero"),
        ("none", "", "source · None"),
        ("nonfinite", "Inf", "source · Inf"),
    ],
)
def test_a_ring_says_in_words_what_it_means(
    example: Pictured, status: Status, nonfinite: str, words: str
) -> None:
    (finding,) = example.shown.findings
    found = replace(finding, status=status, nonfinite=nonfinite)
    shown = replace(example.shown, findings=(found,))
    assert box(scene(example, shown), "patch").ring_label == words


@pytest.mark.parametrize("order", [("none", "flows"), ("flows", "none"), ("none", "none")])
def test_a_group_of_sources_says_how_many_have_no_gradient(
    example: Pictured, order: Sequence[Status]
) -> None:
    """The ring is that of the worst, wherever it is among them."""
    graph = nx.MultiDiGraph()
    group = Node("group:g", "group", "g", "2 ops", "group", 6, members=("op:2", "op:3"))
    graph.add_node("group:g", node=group)
    graph.add_node("o", node=Node("o", "op", "o", "Mean", "Mean", 7, tensor=LOSS, op=MEAN))
    graph.add_edge("group:g", "o", 0, edge=Edge("group:g", "o", 0, Y, MEAN))
    graph = with_sizes(graph, example.trace)
    rects = {"group:g": Rect(0, 0, 120, 50), "o": Rect(0, 100, 120, 50)}
    routes = {("group:g", "o", 0): ((0.0, 25.0), (0.0, 75.0))}
    layout = Layout("layered", "down", rects, routes, Rect(0, 50, 120, 150))
    (finding,), (operand,) = example.shown.findings, example.shown.call.sources
    sources = tuple(replace(operand, tensor=tensor) for tensor in (TURNED, Y))
    shown = with_flow(
        example.shown,
        replace(example.shown.flow, sources=frozenset({TURNED, Y}), targets=frozenset({LOSS})),
        call=replace(example.shown.call, sources=sources),
        findings=tuple(replace(finding, status=status) for status in order),
    )
    found = box(scene(replace(example, graph=graph, layout=layout), shown), "group:g")
    words = "source · None" if order.count("none") == 2 else "1 of 2 None"
    assert (found.ring, found.ring_label) == ("cut", words)


def test_words_of_a_ring_keep_clear_of_wires_and_boxes(example: Pictured) -> None:
    (finding,) = example.shown.findings
    operand = replace(example.shown.call.sources[0], tensor=READ)
    shown = with_flow(
        example.shown,
        replace(example.shown.flow, sources=frozenset({READ}), targets=frozenset({Y, LOSS})),
        call=replace(example.shown.call, sources=(operand,)),
        findings=(replace(finding, source="x"),),
    )
    drawn = scene(example, shown)
    labelled = [box for box in drawn.boxes if box.ring_label]
    assert {box.node for box in labelled} == {"x′", "y", "o"}
    for box in labelled:
        rect = label_rect(box)
        for wire in drawn.wires:
            if box.node in wire.edge[:2]:
                path = flattened(curve(wire.points, wire.axis), 100)
                assert not any(
                    abs(x - rect.x) < rect.width / 2 and abs(y - rect.y) < rect.height / 2 - 1
                    for x, y in path
                ), (box.node, wire.edge)


def test_a_step_inside_a_folded_group_is_shown_on_the_group(example: Pictured) -> None:
    graph = nx.MultiDiGraph()
    group = Node("group:g", "group", "g", "2 ops", "group", 6, members=("op:2", "op:3"))
    graph.add_node("group:g", node=group)
    graph.add_node("o", node=Node("o", "op", "o", "Mean", "Mean", 7, tensor=LOSS, op=MEAN))
    graph.add_edge("group:g", "o", 0, edge=Edge("group:g", "o", 0, Y, MEAN))
    graph = with_sizes(graph, example.trace)
    rects = {"group:g": Rect(0, 0, 120, 50), "o": Rect(0, 100, 120, 50)}
    routes = {("group:g", "o", 0): ((0.0, 25.0), (0.0, 75.0))}
    layout = Layout("layered", "down", rects, routes, Rect(0, 50, 120, 150))
    made = replace(example, graph=graph, layout=layout)
    flow = replace(example.shown.flow, targets=frozenset({Y}))
    drawn = scene(made, with_flow(example.shown, flow), Overlay(step=2))
    assert box(drawn, "group:g").is_current
    assert box(drawn, "group:g").ring == "target"
    assert states(drawn) == {("group:g", "o"): "gradient"}
    assert {TRANSPOSE, MATMUL} == {OpId(2), OpId(3)}


def test_copies_of_a_widely_used_variable_are_small_and_say_it_once(example: Pictured) -> None:
    graph = nx.MultiDiGraph()
    node = Node("v", "variable", "w", "Variable · 9×9", "Variable", 1, variable=PATCH_ID)
    for copy in ("v@1", "v@2"):
        graph.add_node(copy, node=replace(node, id=copy, is_chip=True))
    graph.add_node("o", node=Node("o", "op", "o", "Mean", "Mean", 7, tensor=LOSS, op=MEAN))
    for copy in ("v@1", "v@2"):
        graph.add_edge(copy, "o", 0, edge=Edge(copy, "o", 0, READ, MEAN))
    graph = with_sizes(graph, example.trace)
    assert graph.nodes["v@1"]["height"] == CHIP_HEIGHT
    rects = {
        name: Rect(100 * place, 0, data["width"], data["height"])
        for place, (name, data) in enumerate(graph.nodes(data=True))
    }
    layout = Layout("layered", "down", rects, {}, Rect(100, 0, 400, 100))
    flow = Flow(walked={(READ, MEAN): 1.0}, sources=frozenset({TensorId(PATCH_ID)}))
    shown = with_flow(example.shown, flow, findings=())
    drawn = scene(replace(example, graph=graph, layout=layout), shown)
    copies = [box for box in drawn.boxes if box.is_small]
    assert [copy.shape for copy in copies] == ["capsule", "capsule"]
    assert [copy.ring for copy in copies] == ["source", "source"]
    assert [copy.ring_label for copy in copies] == ["source", ""]
    roles = [primitive.role for primitive in box_group(copies[0], THEMES["light"]).primitives]
    assert roles == ["ring-source", "variable", "constant-text", "ring-label-ground", "ring-label"]


def test_a_value_that_is_not_finite_is_crossed_out(example: Pictured) -> None:
    from .pictured import make_trace

    trace = make_trace({Y: np.float32([[1, np.nan], [np.inf, 2]])})
    graph = nx.MultiDiGraph()
    graph.add_node("y", node=Node("y", "op", "y", "MatMul", "MatMul", 1, tensor=Y, op=MATMUL))
    graph = with_sizes(graph, trace)
    data = graph.nodes["y"]
    layout = Layout(
        "layered", "down", {"y": Rect(0, 0, data["width"], 50)}, {}, Rect(0, 0, data["width"], 50)
    )
    drawn = compose(graph, layout, trace, None, Overlay())
    group = box_group(drawn.boxes[0], THEMES["dark"])
    crossed = [primitive for primitive in group.primitives if primitive.role == "cell-not-finite"]
    assert len(crossed) == 2
    assert "1 NaN" in group.tooltip
    assert "1 infinite" in group.tooltip


def test_scissors_stand_only_where_the_gradient_comes_to_a_cut(example: Pictured) -> None:
    cause = Cause(OutsideTape("before"), 6, "")
    cuts = {(READ, TRANSPOSE): cause, (READ, MATMUL): cause, (TensorId(13), MATMUL): cause}
    flow = replace(example.shown.flow, walked={(Y, MEAN): 1.0}, cuts=cuts)
    drawn = scene(example, with_flow(example.shown, flow, findings=()))
    cut = {ends for ends, state in states(drawn).items() if state == "cut"}
    assert cut == {("x′", "transpose"), ("x′", "y"), ("transpose", "y")}
    assert {mark.edge[:2] for mark in drawn.marks} == {("x′", "y"), ("transpose", "y")}


def test_scissors_stand_clear_of_the_words_and_buttons_of_a_frame(example: Pictured) -> None:
    cause = Cause(OutsideTape("before"), 6, "")
    flow = replace(example.shown.flow, walked={(Y, MEAN): 1.0}, cuts={(READ, MATMUL): cause})
    shown = with_flow(example.shown, flow, findings=())
    (before,) = scene(example, shown).marks
    bounds = example.layout.bounds
    frame = Rect.from_sides(bounds.left - 9, before.y - 9, bounds.right + 9, bounds.bottom + 9)
    framed = replace(example, layout=replace(example.layout, frames={"f": frame}))
    (mark,) = scene(framed, shown).marks
    header = header_in(frame)
    assert header.contains(Rect(before.x, before.y, 1, 1))
    assert not header.meets(Rect(mark.x, mark.y, 2 * mark.radius, 2 * mark.radius))


def test_edges_that_join_before_their_end_have_one_pair_of_scissors(example: Pictured) -> None:
    cause = Cause(OutsideTape("before"), 6, "")
    cuts = {(READ, MATMUL): cause, (TensorId(13), MATMUL): cause}
    flow = replace(example.shown.flow, walked={(Y, MEAN): 1.0}, cuts=cuts)
    shown = with_flow(example.shown, flow, findings=())
    ends = {("x′", "y"), ("transpose", "y")}
    target = example.layout.rects["y"]
    joint, end = (target.x + 5, target.top - 60), (target.x + 5, target.top)
    routes = {
        key: (*route[:1], joint, end) if key[:2] in ends else route
        for key, route in example.layout.routes.items()
    }
    joined = replace(example, layout=replace(example.layout, routes=routes))
    (mark,) = scene(joined, shown).marks
    assert {mark.edge[:2], *(edge[:2] for edge in mark.others)} == ends
    assert joint[1] < mark.y < end[1]
    assert len(scene(example, shown).marks) == 2


def test_edges_that_leave_a_box_together_have_one_pair_of_scissors(example: Pictured) -> None:
    cause = Cause(OutsideTape("before"), 6, "")
    cuts = {(READ, TRANSPOSE): cause, (READ, MATMUL): cause}
    flow = replace(example.shown.flow, walked={(Y, MEAN): 1.0, (TensorId(13), MATMUL): 1.0})
    shown = with_flow(example.shown, replace(flow, cuts=cuts), findings=())
    ends = {("x′", "transpose"), ("x′", "y")}
    source = example.layout.rects["x′"]
    start, fork = (source.x, source.bottom), (source.x, source.bottom + 60)

    def with_trunk(of: Collection[tuple[str, str]]) -> Pictured:
        routes = {
            key: (start, fork, *route[-1:]) if key[:2] in of else route
            for key, route in example.layout.routes.items()
        }
        return replace(example, layout=replace(example.layout, routes=routes))

    (mark,) = scene(with_trunk(ends), shown).marks
    assert {mark.edge[:2], *(edge[:2] for edge in mark.others)} == ends
    assert start[1] < mark.y < fork[1]
    assert len(scene(with_trunk([("x′", "y")]), shown).marks) == 2
    flows = with_flow(
        example.shown,
        replace(flow, walked={**flow.walked, (READ, TRANSPOSE): 1.0}, cuts={(READ, MATMUL): cause}),
        findings=(),
    )
    (mark,) = scene(with_trunk(ends), flows).marks
    assert not mark.others
