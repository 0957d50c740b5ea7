"""Each step of the layered layout against a slow and simple oracle."""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Sequence

import networkx as nx
import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from tape_graphs import TAPES, mlp, random_dag, residual

from tapeviz.layout.arrays import GraphArrays, read_graph
from tapeviz.layout.components import components
from tapeviz.layout.layered.acyclic import edges_to_turn
from tapeviz.layout.layered.balance import Fences, Springs, balance, within_fences
from tapeviz.layout.layered.bands import levels
from tapeviz.layout.layered.blocks import gather_blocks
from tapeviz.layout.layered.layers import Layers, cut_into_layers
from tapeviz.layout.layered.ordering import (
    attempts,
    first_orders,
    order_blocks,
    rows_by,
    straight_edges,
    total_crossings,
)
from tapeviz.layout.layered.ports import keep_apart, spread
from tapeviz.layout.layered.ranking import longest_path, rank_nodes, tightened_rows
from tapeviz.layout.layered.sweeping import order_by_sweeps
from tapeviz.layout.packing import pack


def arrays_of(graph: nx.MultiDiGraph) -> GraphArrays:
    return components(read_graph(graph, "down"))[0].graph


def pairs(graph: GraphArrays) -> list[tuple[int, int]]:
    return list(zip(graph.tails.tolist(), graph.heads.tolist(), strict=True))


@st.composite
def dags(draw: st.DrawFn, most: int = 8) -> tuple[int, list[tuple[int, int]]]:
    """A connected acyclic graph."""
    count = draw(st.integers(2, most))
    edges = [(draw(st.integers(0, k - 1)), k) for k in range(1, count)]
    edges += [
        (min(a, b), max(a, b))
        for a, b in draw(st.lists(st.tuples(*[st.integers(0, count - 1)] * 2), max_size=2 * count))
        if a != b
    ]
    names = draw(st.permutations(range(count)))
    return count, [(names[a], names[b]) for a, b in edges]


@given(dags(most=6))
def test_rows_are_as_short_as_any_rows(case: tuple[int, list[tuple[int, int]]]) -> None:
    count, edges = case
    ranks = rank_nodes(count, edges, [1.0] * len(edges))
    assert min(ranks) == 0
    assert all(ranks[head] > ranks[tail] for tail, head in edges)
    shortest = min(
        sum(rows[head] - rows[tail] for tail, head in edges)
        for rows in itertools.product(range(count), repeat=count)
        if all(rows[head] > rows[tail] for tail, head in edges)
    )
    assert sum(ranks[head] - ranks[tail] for tail, head in edges) == shortest


@pytest.mark.parametrize("name", ["mlp 4 adam", "lstm 3 gradient", "random 100 sparse"])
def test_rows_of_tapes_are_optimal_by_their_dual(name: str) -> None:
    """Row length is optimal when a flow of the same cost exists (linear programming duality)."""
    graph = arrays_of(TAPES[name]())
    edges = pairs(graph)
    weights = [1] * len(edges)
    ranks = rank_nodes(graph.size, edges, [1.0] * len(edges))
    flow = nx.DiGraph()
    flow.add_nodes_from(range(graph.size), demand=0)
    for (tail, head), weight in zip(edges, weights, strict=True):
        flow.nodes[tail]["demand"] -= weight
        flow.nodes[head]["demand"] += weight
        # No edge carries more than all there is; networkx 3.4 takes much for no bound at all.
        flow.add_edge(tail, head, weight=-1, capacity=sum(weights))
    length = sum(
        weight * (ranks[head] - ranks[tail])
        for (tail, head), weight in zip(edges, weights, strict=True)
    )
    assert length == -nx.min_cost_flow_cost(flow)


@given(st.lists(st.tuples(st.integers(0, 6), st.integers(0, 6)), max_size=15))
def test_turned_edges_leave_no_cycle(edges: list[tuple[int, int]]) -> None:
    graph = nx.MultiDiGraph()
    graph.add_nodes_from((str(k) for k in range(7)), width=60.0, height=30.0)
    graph.add_edges_from((str(a), str(b)) for a, b in edges)
    arrays = read_graph(graph, "down")
    turned = edges_to_turn(arrays)
    left = nx.DiGraph()
    left.add_edges_from(
        (b, a) if k in turned else (a, b) for k, (a, b) in enumerate(pairs(arrays)) if a != b
    )
    assert nx.is_directed_acyclic_graph(left)
    if nx.is_directed_acyclic_graph(nx.DiGraph([e for e in pairs(arrays) if e[0] != e[1]])):
        assert turned == set()


def layers_of(count: int, edges: list[tuple[int, int]]) -> Layers:
    return cut_into_layers(rank_nodes(count, edges, [1.0] * len(edges)), edges)


def crossings_by_hand(layers: Layers, key: np.ndarray) -> int:
    links = zip(layers.above.tolist(), layers.below.tolist(), strict=True)
    return sum(
        layers.rank[a] == layers.rank[c] and (key[a] - key[c]) * (key[b] - key[d]) < 0
        for (a, b), (c, d) in itertools.combinations(links, 2)
    )


@given(dags(), st.integers(0, 2**32 - 1))
def test_crossings_are_counted_exactly(case: tuple[int, list[tuple[int, int]]], seed: int) -> None:
    layers = layers_of(*case)
    key = np.random.default_rng(seed).random(len(layers.rank))
    assert total_crossings(layers, key) == crossings_by_hand(layers, key)


@given(dags(), st.integers(0, 2**32 - 1))
def test_a_block_knows_what_each_place_would_cost(
    case: tuple[int, list[tuple[int, int]]], seed: int
) -> None:
    layers = layers_of(*case)
    random = np.random.default_rng(seed)
    for of in (straight_edges(layers), next(attempts(layers, straight_edges(layers)))[0]):
        blocks = gather_blocks(layers, of)
        place = random.permutation(blocks.count)
        for block in range(blocks.count):
            cost = blocks.crossings_by_place(block, place)
            moved = place.astype(float)
            for before in range(blocks.count + 1):
                moved[block] = before - 0.5
                change = total_crossings(layers, moved[of]) - total_crossings(layers, place[of])
                assert cost[before] - cost[place[block]] == change


@settings(max_examples=25, deadline=None, derandomize=True)
@given(dags(most=6))
def test_small_graphs_get_the_fewest_crossings(case: tuple[int, list[tuple[int, int]]]) -> None:
    layers = layers_of(*case)
    rows = [np.flatnonzero(layers.rank == row).tolist() for row in range(layers.rows)]
    assume(np.prod([float(np.prod(range(1, len(row) + 1))) for row in rows]) <= 3000)

    def crossings(orders: Iterable[Sequence[int]]) -> int:
        key = np.zeros(len(layers.rank))
        for order in orders:
            key[list(order)] = np.arange(len(order))
        return total_crossings(layers, key)

    fewest = min(map(crossings, itertools.product(*map(itertools.permutations, rows))))
    found = rows_by(layers, order_blocks(layers))
    assert [sorted(row.tolist()) for row in found] == rows
    assert crossings([row.tolist() for row in found]) == fewest


def test_sweeps_leave_few_crossings() -> None:
    graph = arrays_of(random_dag(120, 1.5, 3))
    edges = pairs(graph)
    ranks = tightened_rows(graph.size, edges)
    layers = cut_into_layers(ranks, edges, 12)
    short = [e for e in edges if ranks[e[1]] - ranks[e[0]] <= 12]
    assert len(layers.in_lanes) == len(edges) - len(short) > 0
    key = order_by_sweeps(layers)
    assert total_crossings(layers, key) == crossings_by_hand(cut_into_layers(ranks, short), key)
    first = min(total_crossings(layers, start) for start in first_orders(layers))
    assert total_crossings(layers, key) < 0.6 * first


def test_tightened_rows_run_forward_and_are_not_much_longer() -> None:
    cases = [(mlp(4, backward=True), 1.1), (residual(12), 1.1), (random_dag(300, 1.2, 1), 1.5)]
    for tape, most in cases:
        graph = arrays_of(tape)
        edges = pairs(graph)
        ranks = tightened_rows(graph.size, edges)
        assert all(ranks[head] > ranks[tail] for tail, head in edges)
        best = rank_nodes(graph.size, edges, [1.0] * len(edges))
        length, least = (sum(r[h] - r[t] for t, h in edges) for r in (ranks, best))
        assert length <= most * least
        assert length <= sum(
            r[h] - r[t] for r in [longest_path(graph.size, edges)] for t, h in edges
        )


@given(
    st.lists(st.floats(-500, 500), min_size=1, max_size=12),
    st.floats(0, 40),
)
def test_docks_keep_apart_and_near_their_wishes(wanted: list[float], gap: float) -> None:
    found = keep_apart(wanted, [1.0] * len(wanted), gap)
    assert all(b - a >= gap - 1e-6 for a, b in itertools.pairwise(found))
    spaced = [min(wanted) + k * gap for k in range(len(wanted))]
    mean = sum(w - s for w, s in zip(wanted, spaced, strict=True)) / len(wanted)

    def miss(positions: list[float]) -> float:
        return sum((p - w) ** 2 for p, w in zip(positions, wanted, strict=True))

    assert miss(found) <= miss([s + mean for s in spaced]) + 1e-3


def test_docks_stay_on_their_side() -> None:
    for count in range(1, 40):
        docks = list(spread(100.0, 30.0, [float("nan")] * count))
        assert docks == sorted(docks)
        assert min(docks) >= 70
        assert max(docks) <= 130
        assert sum(docks) / count == pytest.approx(100)


def test_balance_finds_what_is_known() -> None:
    """Two children 100 apart, their parent pulled by both: the middle. A chain: straight."""
    springs = Springs(
        np.array([0, 0, 1, 2]), np.array([1, 2, 3, 4]), np.zeros(4), np.array([1.0, 1, 1, 1])
    )
    fences = Fences(np.array([1, 3]), np.array([2, 4]), np.array([100.0, 60.0]))
    x, bend = balance(5, springs, fences, np.zeros(5))
    x = within_fences(x, fences)
    assert x[2] - x[1] == pytest.approx(100, abs=0.2)
    assert x[0] == pytest.approx((x[1] + x[2]) / 2, abs=0.2)
    assert bend[2] == bend[3] == 0
    assert x[3] == pytest.approx(x[1], abs=0.2)


def test_fences_are_kept_whatever_is_wanted() -> None:
    random = np.random.default_rng(3)
    left, right = np.triu_indices(12, 1)
    fences = Fences(left, right, random.random(len(left)) * 50)
    x = within_fences(random.random(12) * 300, fences)
    assert (x[right] - x[left] >= fences.gap - 1e-9).all()
    with pytest.raises(ValueError, match="circle"):
        within_fences(np.zeros(2), Fences(np.array([0, 1]), np.array([1, 0]), np.ones(2)))


def test_flat_edges_side_by_side_turn_at_different_heights() -> None:
    left = [(400.0 + 14 * k, 14.0 * k) for k in range(4)]
    right = [(a, b) for b, a in left]
    assert levels(left, 24) == [0, 1, 2, 3]
    assert levels(right, 24) == [3, 2, 1, 0]
    assert levels([(0.0, 20.0), (100.0, 120.0)], 24) == [0, 0]


@given(st.lists(st.tuples(st.floats(10, 900), st.floats(10, 900)), max_size=25))
def test_packed_pictures_do_not_overlap(sizes: list[tuple[float, float]]) -> None:
    sizes.sort(reverse=True)
    boxes = [(x, y, x + w, y + h) for (x, y), (w, h) in zip(pack(sizes), sizes, strict=True)]
    for a, b in itertools.combinations(boxes, 2):
        gap = max(b[0] - a[2], a[0] - b[2], b[1] - a[3], a[1] - b[3])
        assert gap >= 40


def test_very_many_pictures_do_not_overlap_and_fill_the_sheet() -> None:
    random = np.random.default_rng(7)
    sizes = [(w, h) for w, h in random.uniform(20, 300, (900, 2)).tolist()]
    left, top = np.array(pack(sizes)).T
    right, bottom = left + np.array(sizes)[:, 0], top + np.array(sizes)[:, 1]
    gap = np.maximum.reduce(
        [left - right[:, None], left[:, None] - right, top - bottom[:, None], top[:, None] - bottom]
    )
    assert (gap[~np.eye(900, dtype=bool)] >= 40).all()
    boxes = sum((w + 44) * (h + 44) for w, h in sizes)
    assert (right.max() + 44) * (bottom.max() + 44) < 1.25 * boxes
