from __future__ import annotations

from collections import Counter

from tapeviz.graph.chips import chip
from tapeviz.graph.model import Edge

from ..traces import Script
from .test_build import slice_assign
from .unfolded import unfolded


def recurrent(steps: int) -> Script:
    s = Script()
    w = s.variable("w", value=[1.0])
    tape = s.tape()
    state = s.tensor((1,), name="state")
    for _ in range(steps):
        state = s.op("Mul", [state, s.read(w, (1,))], (1,))
    with s.call(tape, [state], [w], variables=[w]) as results:
        results.append(0)
    return s


def test_a_weight_read_everywhere_becomes_a_chip_at_each_reader() -> None:
    graph = unfolded(recurrent(400).trace())
    chipped = chip(graph)
    weights = [node for _, node in chipped.nodes(data="node") if node.role == "variable"]
    assert len(weights) == 400
    assert all(node.is_chip and node.title == "w" for node in weights)
    assert max(chipped.out_degree(node.id) for node in weights) == 1
    links = Counter(edge.links for _, _, edge in graph.edges(data="edge"))
    edge: Edge
    for source, target, key, edge in chipped.edges(keys=True, data="edge"):
        assert (source, target, key) == (edge.source, edge.target, edge.key)
        links[edge.links] -= 1
    assert set(links.values()) == {0}


def test_a_small_graph_keeps_its_nodes() -> None:
    graph = unfolded(slice_assign().trace())
    assert chip(graph) is graph
