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


def chained(length: int) -> Script:
    """A chain of ops whose first and last read the same constant."""
    s = Script()
    w = s.variable("w", value=[1.0])
    tape = s.tape()
    batch = s.tensor((1,), name="batch")
    state = s.op("Mul", [s.read(w, (1,)), batch], (1,))
    for _ in range(length):
        state = s.op("Sin", [state], (1,))
    state = s.op("Sub", [state, batch], (1,))
    with s.call(tape, [state], [w], variables=[w]) as results:
        results.append(0)
    return s


def test_a_constant_with_readers_far_apart_stands_beside_each() -> None:
    graph = unfolded(chained(10).trace())
    chipped = chip(graph)
    assert len(chipped) == len(graph) + 1
    copies = [node for _, node in chipped.nodes(data="node") if node.role == "constant"]
    assert [node.is_chip for node in copies] == [True, True]
    assert len({node.tensor for node in copies}) == 1
    assert all(len(chipped.succ[node.id]) == 1 for node in copies)


def test_a_constant_that_is_a_source_or_whose_readers_are_near_is_one_node() -> None:
    graph = unfolded(chained(10).trace())
    batch = [name for name, node in graph.nodes(data="node") if node.role == "constant"]
    assert chip(graph, batch) is graph
    near = unfolded(chained(2).trace())
    assert chip(near) is near
