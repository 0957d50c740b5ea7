"""The recording of a compiled function in, its one group out."""

from __future__ import annotations

from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest

from tapeviz.graph.build import build
from tapeviz.graph.groups.fold import fold, group_id
from tapeviz.graph.groups.opening import choose_open
from tapeviz.graph.groups.tree import GROUPINGS, grow
from tapeviz.graph.model import Edge, Frame, Node
from tapeviz.kept_recording import KeptRecording
from tapeviz.trace.file import load

TAPE = Path(__file__).parents[1] / "recordings" / "compiled_function.tape"
LOOP = Path(__file__).with_name("compiled_loop.tape")
"""``tf.while_loop`` in a function: 12 turns of ``h = tf.tanh(tf.matmul(h, w))``."""


@pytest.mark.parametrize("grouping", ["", *GROUPINGS])
def test_a_call_is_one_node_that_unfolds(grouping: str) -> None:
    trace = KeptRecording(load(TAPE)).wait()
    graph = build(trace)
    tree = grow(graph, trace, grouping)
    (entry,) = (op for op in trace.ops.values() if op.is_compiled_call and op.body)
    (call,) = {group.title for group in tree.groups.values() if group.entry == entry.id}
    assert call == "energy"
    inside = {node for node, path in zip(graph, tree.home, strict=True) if call in path.split("/")}
    folded = fold(graph, tree, choose_open(graph, tree))
    assert inside.isdisjoint(folded)
    opened = fold(graph, tree, choose_open(graph, tree, unfolded=tree.groups))
    shown = {node for node in inside if opened.nodes[node]["node"].op is not None}
    types = {trace.ops[opened.nodes[node]["node"].op].type for node in shown}
    assert {"MatMul", "Softplus", "Sum"} <= types
    values = [trace.value(opened.nodes[node]["node"].tensor) for node in shown]
    assert all(value is not None for value in values)


def test_a_compiled_loop_shows_any_of_its_turns() -> None:
    trace = KeptRecording(load(LOOP)).wait()
    graph = build(trace)
    tree = grow(graph, trace)
    (path,) = (path for path, group in tree.groups.items() if group.loop is not None)
    (loop,) = trace.loops.values()
    closed = fold(graph, tree, choose_open(graph, tree, unfolded=[path.rpartition("/")[0]]))
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


def test_what_a_compiled_call_gives_goes_on() -> None:
    trace = KeptRecording(load(LOOP)).wait()
    graph = build(trace)
    tree = grow(graph, trace)
    folded = fold(graph, tree, choose_open(graph, tree))
    (call,) = (name for name, node in folded.nodes(data="node") if node.role == "group")
    assert [folded.nodes[name]["node"].type for name in folded.successors(call)] == ["Pow"]
