"""The recording of a compiled function in, its one group out."""

from __future__ import annotations

from pathlib import Path

import pytest

from tapeviz.graph.build import build
from tapeviz.graph.fold import fold
from tapeviz.graph.opening import choose_open
from tapeviz.graph.tree import GROUPINGS, grow
from tapeviz.recording import trace_of
from tapeviz.trace.file import load

TAPE = Path(__file__).parents[1] / "recordings" / "compiled_function.tape"


@pytest.mark.parametrize("grouping", ["", *GROUPINGS])
def test_a_call_is_one_node_that_unfolds(grouping: str) -> None:
    trace = trace_of(load(TAPE))
    graph = build(trace)
    tree = grow(graph, trace, grouping)
    (entry,) = (op for op in trace.ops.values() if op.is_compiled_call and op.body)
    (call,) = {group.title for group in tree.groups.values() if group.entry == entry.id}
    assert call == "energy"
    inside = {node for node, path in tree.home.items() if call in path.split("/")}
    folded = fold(graph, tree, choose_open(graph, tree))
    assert inside.isdisjoint(folded)
    opened = fold(graph, tree, choose_open(graph, tree, unfolded=tree.groups))
    shown = {node for node in inside if opened.nodes[node]["node"].op is not None}
    types = {trace.ops[opened.nodes[node]["node"].op].type for node in shown}
    assert {"MatMul", "Softplus", "Sum"} <= types
    values = [trace.value(opened.nodes[node]["node"].tensor) for node in shown]
    assert all(value is not None for value in values)
