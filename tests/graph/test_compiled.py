"""The recording of a compiled function in, its one group out."""

from __future__ import annotations

from dataclasses import replace
from itertools import chain, pairwise
from pathlib import Path

import networkx as nx
import numpy as np
import pytest
from msgspec import structs

from tapeviz.analysis import diagnose
from tapeviz.drawing import arrange, compose_over
from tapeviz.graph.build import build
from tapeviz.graph.groups.fold import fold, group_id
from tapeviz.graph.groups.opening import choose_open
from tapeviz.graph.groups.tree import GROUPINGS, grow
from tapeviz.graph.model import Edge, Frame, Node
from tapeviz.graph.nodes import op_id
from tapeviz.recording.kept import KeptRecording
from tapeviz.scene.model import Overlay
from tapeviz.trace import events as e
from tapeviz.trace.ops import Op
from tapeviz.trace.read import read
from tapeviz.trace.stored.file import load
from tapeviz.view import DEFAULT_VIEW

TAPE = Path(__file__).parents[1] / "recordings" / "compiled_function.tape"
LOOP = Path(__file__).with_name("compiled_loop.tape")
"""``tf.while_loop`` in a function: 12 turns of ``h = tf.tanh(tf.matmul(h, w))``."""

LIST_LOOP = Path(__file__).with_name("list_loop.tape")
"""Three turns of ``ys = ys.write(i, x); x = x * w``, of which ``ys.stack()`` is returned."""

BRANCH_LOOP = Path(__file__).with_name("branch_loop.tape")
"""Seven turns of ``x = i + 1``; where ``i % 3 == 1`` with a tape of ``y = w * x``, asked there."""

SILU = Path(__file__).with_name("compiled_silu.tape")
"""Two turns of ``x = tf.nn.silu(x * w)`` in a function with a tape. It is a custom gradient, and
two ops take its constant beta."""

GRAPH_MODE = Path(__file__).with_name("graph_mode.tape")
"""``tf.gradients`` through a ``tf.while_loop`` and a ``tf.cond``, in a graph of no function."""


@pytest.mark.parametrize("grouping", ["", *GROUPINGS])
def test_a_call_is_one_node_that_unfolds(grouping: str) -> None:
    trace = KeptRecording(load(TAPE)).wait()
    graph = build(trace)
    tree = grow(graph, trace, grouping)
    (entry,) = (op for op in trace.ops.values() if op.is_compiled_call and op.body)
    (call,) = {group.title for group in tree.groups.values() if group.entry == entry.id}
    assert call == "energy"
    inside = {node for node, path in zip(graph, tree.home, strict=True) if call in path.split("/")}
    folded = fold(graph, tree, choose_open(graph, tree, folded=tree.groups))
    assert inside.isdisjoint(folded)
    opened = fold(graph, tree, choose_open(graph, tree, unfolded=tree.groups))
    shown = {node for node in inside if opened.nodes[node]["node"].op is not None}
    types = {trace.ops[opened.nodes[node]["node"].op].type for node in shown}
    assert {"MatMul", "Softplus", "Sum"} <= types
    values = [trace.value(opened.nodes[node]["node"].tensor) for node in shown]
    assert all(value is not None for value in values)


def test_a_call_is_open_at_first_if_its_inside_is_known_and_a_gradient_passes_it() -> None:
    recording = KeptRecording(load(TAPE))
    trace = recording.wait()
    graph = build(trace)
    tree = grow(graph, trace)
    (path,) = (path for path, group in tree.groups.items() if group.title == "energy")
    assert path not in choose_open(graph, tree).closed
    assert path in choose_open(graph, tree, most=3).closed
    unknown = structs.replace(tree.groups[path], is_passed=False)
    closed = replace(tree, groups={**tree.groups, path: unknown})
    assert path in choose_open(graph, closed).closed


def test_a_compiled_loop_shows_any_of_its_turns() -> None:
    trace = KeptRecording(load(LOOP)).wait()
    graph = build(trace)
    tree = grow(graph, trace)
    (path,) = (path for path, group in tree.groups.items() if group.loop is not None)
    (loop,) = trace.loops.values()
    closed = fold(graph, tree, choose_open(graph, tree, folded=[path]))
    assert "× 12 turns" in closed.nodes[group_id(path)]["node"].subtitle

    def shown(turn: int) -> tuple[Frame, dict[str, Node], list[Edge]]:
        opening = choose_open(graph, tree, unfolded=[path], turns={path: turn})
        folded = fold(graph, tree, opening)
        nodes = {node.type: node for _, node in folded.nodes(data="node") if node.op in loop.body}
        carried = [edge for *_, edge in folded.edges(data="edge") if edge.is_carried]
        return folded.graph["frames"][-1], nodes, carried

    last = trace.ops[shown(12)[1]["Tanh"].op or 0].outputs[0]
    values = [trace.value(shown(turn)[1]["Tanh"].tensor) for turn in range(1, 13)]
    for turn, value in enumerate(values, 1):
        frame, nodes, (carried,) = shown(turn)
        assert (frame.turn, frame.count) == (turn, 12)
        assert (carried.source, carried.target) == (nodes["Tanh"].id, nodes["MatMul"].id)
        assert value is not None
    assert values[-1] == pytest.approx(trace.value(last))
    weights = [[0.9, 0.1], [-0.2, 0.8]]
    for before, after in pairwise(values):  # the recurrence of the snippet
        assert after == pytest.approx(np.tanh(np.asarray(before) @ weights), abs=1e-6)


@pytest.mark.parametrize(("turn", "values"), [(None, (10.0, 5.0)), (2, (4.0, 2.0)), (7, (7.0,))])
def test_a_loop_shows_the_last_turn_that_asked_for_the_gradient(
    turn: int | None, values: tuple[float, ...]
) -> None:
    trace = KeptRecording(load(BRANCH_LOOP)).wait()
    (diagnosed,) = diagnose(trace).calls
    tree = grow(build(trace, diagnosed.call), trace)
    (path,) = (path for path, group in tree.groups.items() if group.loop is not None)
    view = DEFAULT_VIEW.turned({path: turn} if turn else {})
    drawn = arrange(trace, view, diagnosed.call.id)
    (frame,) = (frame for frame in drawn.graph.graph["frames"] if frame.count)
    assert (frame.turn, frame.count) == (turn or 5, 7)
    nodes = [node for _, node in drawn.graph.nodes(data="node")]
    found = {node.title: trace.value(node.tensor) for node in nodes if node.title in ("x", "y")}
    assert tuple(found[name] for name in ("y", "x") if found[name] is not None) == values


def test_a_value_that_only_the_next_turn_uses_is_drawn() -> None:
    """w reaches the list one turn later; the counter is left out."""
    trace = KeptRecording(load(LIST_LOOP)).wait()
    graph = build(trace)
    nodes = {place: part for place, part in enumerate(graph.parts) if isinstance(part, Op)}
    ops = {part.type: graph.names[place] for place, part in nodes.items()}
    lists = {"TensorListReserve", "TensorListSetItem", "TensorListStack"}
    assert set(ops) == {"Const", "Mul", "Sum", *lists}
    (source,) = (place for place, name in enumerate(graph.names) if name.startswith("var:"))
    assert [graph.names[place] for place in graph.successors(source)] == [ops["Mul"]]
    (handed,) = graph.carried.values()
    assert {(edge.source, edge.target) for edge in handed} == {
        (ops["TensorListSetItem"], ops["TensorListSetItem"]),
        (ops["Mul"], ops["TensorListSetItem"]),
        (ops["Mul"], ops["Mul"]),
    }


def test_no_constant_of_a_custom_gradient_stands_alone() -> None:
    graph = build(KeptRecording(load(SILU)).wait())
    constants = [at for at, name in enumerate(graph.names) if name.startswith("const:")]
    assert len(constants) > 1
    assert all(list(graph.successors(at)) for at in constants)


def test_what_a_custom_gradient_gives_goes_on_to_the_next_turn() -> None:
    trace = KeptRecording(load(SILU)).wait()
    edges = chain.from_iterable(build(trace).carried.values())
    types = {op_id(op.id): op.type for op in trace.ops.values()}
    pairs = {(types[edge.source], types[edge.target]) for edge in edges}
    assert ("IdentityN", "Mul") in pairs


def test_the_flow_goes_through_loops_and_conditionals_of_graph_mode() -> None:
    trace = KeptRecording(load(GRAPH_MODE)).wait()
    (shown,) = diagnose(trace).calls
    scene = compose_over(arrange(trace, DEFAULT_VIEW), trace, shown, Overlay())
    lit = nx.DiGraph(wire.edge[:2] for wire in scene.wires if wire.state == "gradient")
    (target,) = (box.node for box in scene.boxes if box.ring == "target")
    sources = {box.title: box.node for box in scene.boxes if box.ring == "source"}
    assert set(sources) == {"w", "u"}
    assert all(nx.has_path(lit, source, target) for source in sources.values())


def test_a_closed_loop_shows_what_it_gives_and_not_its_counter() -> None:
    trace = KeptRecording(load(GRAPH_MODE)).wait()
    graph = build(trace)
    tree = grow(graph, trace)
    (path,) = (path for path, group in tree.groups.items() if group.loop is not None)
    folded = fold(graph, tree, choose_open(graph, tree, folded=[path]))
    (loop,) = (node for _, node in folded.nodes(data="node") if node.type == "StatelessWhile")
    assert trace.ops[trace.producers[loop.tensor]].type == "Tanh"


def test_what_a_compiled_call_gives_goes_on() -> None:
    trace = KeptRecording(load(LOOP)).wait()
    graph = build(trace)
    tree = grow(graph, trace)
    folded = fold(graph, tree, choose_open(graph, tree, folded=tree.groups))
    (call,) = (name for name, node in folded.nodes(data="node") if node.role == "group")
    assert [folded.nodes[name]["node"].type for name in folded.successors(call)] == ["Pow"]


# def step(): with tf.GradientTape() as t: y = v * tf.cast(w > w, tf.float32)
#     v.assign_sub(t.gradient(y, [v, w])[0]); return y
TRAINED: list[e.Event] = [
    e.Begin(1, "2.21.0", "3.11.7"),
    e.SiteSeen(1, [("<module>", 7, 0, 7, 9)]),
    e.SiteSeen(2, [("step", 4, 0, 4, 9), ("<module>", 7, 0, 7, 9)]),
    *(e.TensorSeen(handle, "resource", [], handle=True) for handle in (10, 11)),
    *(
        e.VariableMade(handle, name, "float32", [], site=1)
        for handle, name in ((10, "v"), (11, "w"))
    ),
    *(e.TensorSeen(symbol, "float32", []) for symbol in (-1, -2, -4, -5, -6, 12, 13, 14)),
    e.TensorSeen(-3, "bool", []),
    e.BodyTraced(on=True, site=1),
    e.TapeOpened(1, site=2),
    e.TapeTurned(1, True, "enter", site=2),
    e.OpRan(1, "ReadVariableOp", [10], [-1], site=2, graph=1, name="Read"),
    e.OpRan(2, "ReadVariableOp", [11], [-2], site=2, graph=1, name="Read_1"),
    e.OpRan(3, "Greater", [-2, -2], [-3], site=2, graph=1, name="Greater"),
    e.OpRan(4, "Cast", [-3], [-4], site=2, graph=1, name="Cast"),
    e.OpRan(5, "Mul", [-1, -4], [-5], site=2, graph=1, name="mul"),
    e.CallBegan(1, "gradient", 1, [e.RawOperand(-5)], [e.RawOperand(10), e.RawOperand(11)], site=2),
    e.OpRan(6, "Mul", [-4, -4], [-6], site=2, graph=1, name="grad", call=1),
    e.StepRan(1, 5, "Mul", [0], [-6, 0]),
    e.CallEnded(1, [-6, 0]),
    e.OpRan(7, "AssignSubVariableOp", [10, -6], [], site=2, graph=1, name="AssignSub"),
    e.BodyTraced(on=False, graph=1, inputs=[10, 11], outputs=[-5], function="step", line=2),
]


def test_earlier_calls_that_trained_a_variable_are_no_way_from_a_source() -> None:
    """w is among what the calls before were given, and they wrote v: by its gradient alone."""
    calls: list[e.Event] = []
    for number in (1, 2, 3):
        calls.append(e.BodiesRun([1], call=number))
        calls.append(e.OpRan(7 + number, "__inference_step_1", [10, 11], [11 + number], site=1))
    trace = read([*TRAINED, *calls, e.Ended("finished")], b"", "", "snippet.py")
    assert trace.calls[0].results[1] is None
    graph = build(trace, trace.calls[0])
    assert {part.type for part in graph.parts if isinstance(part, Op)} == {"Greater", "Cast", "Mul"}
