from __future__ import annotations

import random
import time

import networkx as nx
import pytest

from tapeviz.graph.build import build
from tapeviz.graph.fold import fold, group_id, path_of
from tapeviz.graph.groups import GROUPINGS, group
from tapeviz.graph.loops import find_loop
from tapeviz.graph.model import Edge, Node
from tapeviz.graph.split import split
from tapeviz.graph.weak import LARGE
from tapeviz.trace.model import EMPTY_TRACE

from .script import Script
from .test_build import nodes, slice_assign


def drawn(count: int, edges: list[tuple[int, int]]) -> nx.MultiDiGraph:
    """A graph of ops 0, 1, … without a trace behind it."""
    graph = nx.MultiDiGraph()
    for index in range(count):
        name = str(index)
        graph.add_node(name, node=Node(name, "op", name, "", "Op", index + 1, lines=(index + 1,)))
    for a, b in edges:
        key = graph.number_of_edges(str(a), str(b))
        graph.add_edge(str(a), str(b), key, edge=Edge(str(a), str(b), key, None, None))
    return graph


def random_graph(seed: int, count: int = 40) -> tuple[nx.MultiDiGraph, dict[str, str]]:
    rng = random.Random(seed)
    edges = [
        (a, b) for b in range(1, count) for a in rng.sample(range(b), min(b, rng.randint(0, 3)))
    ]
    graph = drawn(count, edges)
    paths = {
        str(index): "/".join(rng.choice("abc") for _ in range(rng.randint(1, 3)))
        for index in range(count)
        if rng.random() < 0.8
    }
    return graph, paths


@pytest.mark.parametrize("seed", range(40))
def test_folding_any_groups_leaves_no_cycle_and_loses_no_edge(seed: int) -> None:
    graph, paths = random_graph(seed)
    groups = split(graph, paths, connected=seed % 2 == 0)
    rng = random.Random(-seed)
    every = sorted({"/".join(p.split("/")[: n + 1]) for p in groups.values() for n in range(3)})
    for share in (0.0, 0.3, 0.7, 1.0):
        closed = frozenset(path for path in every if rng.random() < share)
        folded = fold(graph, groups, closed)
        assert nx.is_directed_acyclic_graph(folded)
        homes = {
            member: name
            for name, node in folded.nodes(data="node")
            for member in (node.members or (name,))
        }
        assert sorted(homes) == sorted(graph)
        kept = {(homes[a], homes[b]) for a, b in graph.edges() if homes[a] != homes[b]}
        assert kept == set(folded.edges())


@pytest.mark.parametrize("seed", range(10))
def test_groups_are_connected_and_keep_their_place_in_the_hierarchy(seed: int) -> None:
    graph, paths = random_graph(seed)
    groups = split(graph, paths)
    for path in set(groups.values()):
        members = [node for node in groups if (groups[node] + "/").startswith(path + "/")]
        assert len({paths[node].split("/")[0] for node in members}) == 1
    for node, path in groups.items():
        plain = [part.split(" #")[0] for part in path.split("/")]
        assert plain == paths[node].split("/")


def test_two_calls_of_one_layer_are_two_groups() -> None:
    graph = drawn(5, [(0, 1), (1, 2), (2, 3), (3, 4)])
    groups = split(graph, {"0": "dense", "1": "dense", "3": "dense", "4": "dense"})
    assert groups == {"0": "dense", "1": "dense", "3": "dense #2", "4": "dense #2"}


def test_a_path_out_of_a_group_and_back_splits_it() -> None:
    graph = drawn(3, [(0, 1), (1, 2), (0, 2)])
    groups = split(graph, {"0": "a", "2": "a"})
    assert groups["0"] != groups["2"]


def test_what_the_user_folds_and_unfolds_is_strong() -> None:
    graph = drawn(4, [(0, 1), (1, 2), (2, 3)])
    groups = {"1": "a/b", "2": "a/b", "3": "a"}
    assert set(fold(graph, groups)) == {"0", "1", "2", "3"}
    assert set(fold(graph, groups, closes_all=True)) == {"0", "group:a"}
    opened = fold(graph, groups, frozenset(), frozenset(["a"]), closes_all=True)
    assert set(opened) == {"0", "1", "2", "3"}
    inner = fold(graph, groups, frozenset(["a/b"]), frozenset(["a"]), closes_all=True)
    assert set(inner) == {"0", "group:a/b", "3"}
    assert inner.nodes["group:a/b"]["node"].group == "a"
    assert path_of(inner.nodes["group:a/b"]["node"]) == "a/b"
    assert path_of(inner.nodes["3"]["node"]) == "a"


def test_a_group_node_sums_up_its_members() -> None:
    graph = drawn(4, [(0, 1), (0, 2), (1, 3), (2, 3)])
    folded = fold(graph, {"1": "a", "2": "a"}, frozenset(["a"]))
    node = folded.nodes[group_id("a")]["node"]
    assert (node.role, node.members, node.lines, node.line) == ("group", ("1", "2"), (2, 3), 2)
    merged = folded.edges["0", group_id("a"), 0]["edge"]
    assert merged.source == "0"
    assert merged.target == group_id("a")


def test_a_recorded_operation_is_closed_until_the_user_opens_it() -> None:
    s = Script()
    x = s.tensor(value=2.0, name="x", line=1)
    tape = s.tape()
    s.watch(tape, x)
    y = x
    for _ in range(2):
        first = s.next_op
        out = s.op("Identity", [s.op("Round", [y], at=(4, 8))], line=8)
        s.recorded("steep", [y], [out], first, line=8)
        y = out
    s.bind("y", y, 8)
    with s.call(tape, [y], [x]) as results:
        results.append(0)
    trace = s.trace()
    graph = build(trace)
    groups = group(graph, trace, "")
    folded = fold(graph, groups)
    steep = [node for _, node in folded.nodes(data="node") if node.role == "group"]
    assert [(one.title, one.subtitle) for one in steep] == [
        ("steep", "custom_gradient · line 8"),
        ("y", "steep · custom_gradient"),
    ]
    entries = [op for op in trace.ops.values() if op.is_recorded_operation]
    assert [one.op for one in steep] == [op.id for op in entries]
    into = folded.edges[f"const:{x}", steep[0].id, 0]["edge"]
    assert (into.tensor, into.consumer) == (x, entries[0].id)
    opened = fold(graph, groups, frozenset(), frozenset([path_of(steep[0])]))
    assert {"Round", "y"} <= set(nodes(opened))


def test_every_grouping_folds_a_real_shape() -> None:
    trace = slice_assign().trace()
    graph = build(trace)
    for grouping in ("", *GROUPINGS):
        groups = group(graph, trace, grouping)
        folded = fold(graph, groups, closes_all=bool(grouping))
        assert nx.is_directed_acyclic_graph(folded)
    by_line = fold(graph, group(graph, trace, "line"), closes_all=True)
    titles = nodes(by_line)
    assert titles["line 5"].subtitle == "2 ops"
    assert "o" in titles  # a line of one op is that op


@pytest.mark.parametrize(
    ("keys", "paths"),
    [
        ("xababy", ["", *["iteration 1"] * 2, *["iteration 2"] * 2, ""]),
        ("abcdef", [""] * 6),
        ("", []),
        ("aabaabaab", [f"iteration {n}" for n in (1, 1, 1, 2, 2, 2, 3, 3, 3)]),
    ],
)
def test_a_loop_is_found_by_its_period(keys: str, paths: list[str]) -> None:
    assert find_loop(keys) == paths


def test_a_loop_in_a_loop_is_inside_of_its_iterations() -> None:
    paths = find_loop("xabababy" * 3)
    assert paths[:3] == ["iteration 1", "iteration 1/iteration 1.1", "iteration 1/iteration 1.1"]
    assert paths[-2] == "iteration 3/iteration 3.3"


def test_many_iterations_are_ranges_of_ranges() -> None:
    paths = find_loop("abc" * 250)
    assert paths[0] == "iterations 1–100/iterations 1–10/iteration 1"
    assert paths[-1] == "iterations 201–250/iterations 241–250/iteration 250"


def lstm(steps: int) -> tuple[nx.MultiDiGraph, object]:
    s = Script()
    w = s.variable("w", value=[1.0])
    tape = s.tape()
    state = s.tensor((1,), name="state")
    for _ in range(steps):
        gates = s.op("MatMul", [state, s.read(w, (1,), line=4)], (1,), line=4)
        state = s.op("Mul", [s.op("Tanh", [gates], (1,), line=5), gates], (1,), line=6)
    with s.call(tape, [state], [w], variables=[w]) as results:
        results.append(0)
    trace = s.trace()
    return build(trace), trace


def test_a_large_graph_is_readable_at_first_sight() -> None:
    graph, trace = lstm(2_000)
    assert len(graph) > LARGE
    start = time.perf_counter()
    folded = fold(graph, group(graph, trace, ""))  # type: ignore[arg-type]
    assert time.perf_counter() - start < 5
    assert 4 <= len(folded) <= 40
    assert nx.is_directed_acyclic_graph(folded)
    first = (
        nodes(folded)["iterations 1–100"]
        if len(folded) > 12
        else nodes(folded)["iterations 1–1000"]
    )
    opened = fold(
        graph,
        group(graph, trace, ""),  # type: ignore[arg-type]
        frozenset(),
        frozenset([path_of(first)]),
    )
    assert len(opened) > len(folded)


def test_nothing_folds_to_nothing() -> None:
    empty = build(EMPTY_TRACE)
    assert len(fold(empty, group(empty, EMPTY_TRACE, ""))) == 0
