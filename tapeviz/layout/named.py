"""Layouts of networkx, with the boxes moved apart.

Random starting points have a fixed seed. With more than ``SMALL`` nodes networkx's spring,
Kamada–Kawai and spectral layouts would need SciPy or minutes; `pivot_positions` replaces them.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import MappingProxyType

import networkx as nx
import numpy as np

from .arrays import Floats, GraphArrays
from .layered.acyclic import turned_down
from .layered.detours import around_boxes
from .layered.ranking import longest_path
from .picture import IndexedLayout
from .spacing import GAP, spread_out
from .straight import straight_routes
from .stress import least_stress, pivot_positions

Positions = Callable[[GraphArrays], Floats]
SMALL = 499
SEED = 7


def draw_at(positions: Positions) -> Callable[[GraphArrays], IndexedLayout]:
    """An engine that takes the places from ``positions``, moves boxes apart and draws straight
    edges."""

    def draw(graph: GraphArrays) -> IndexedLayout:
        points = positions(graph) if graph.size > 1 else np.zeros((graph.size, 2))
        x, y = spread_out(graph, points[:, 0], points[:, 1])
        picture = IndexedLayout(x, y, straight_routes(graph, x, y))
        return around_boxes(graph, picture) if graph.size <= SMALL else picture

    return draw


def _simple(graph: GraphArrays) -> nx.Graph:
    """The graph as networkx knows it: nodes are indices, without directions and parallel edges."""
    simple = nx.Graph()
    simple.add_nodes_from(range(graph.size))
    simple.add_edges_from(zip(graph.tails.tolist(), graph.heads.tolist(), strict=True))
    return simple


def _points(found: Mapping[int, Floats]) -> Floats:
    return np.array([found[k] for k in range(len(found))], dtype=np.float64).reshape(-1, 2)


def multipartite(graph: GraphArrays) -> Floats:
    _, edges = turned_down(graph)
    rows = longest_path(graph.size, edges)
    simple = _simple(graph)
    nx.set_node_attributes(simple, dict(enumerate(rows)), "row")
    points = _points(nx.multipartite_layout(simple, subset_key="row", align="horizontal"))
    size = np.array([graph.across.max(), graph.along.max()]) + GAP
    return points / _least_step(points) * size


def _least_step(points: Floats) -> Floats:
    """The least distance between two different values in each column."""
    steps = []
    for column in points.T:
        apart = np.diff(np.sort(column))
        steps.append(float(apart[apart > 1e-9].min(initial=np.inf)))
    return np.array([step if np.isfinite(step) else 1.0 for step in steps])


def spring(graph: GraphArrays) -> Floats:
    if graph.size > SMALL:
        return pivot_positions(graph)
    return _points(nx.spring_layout(_simple(graph), seed=SEED, iterations=100))


def kamada_kawai(graph: GraphArrays) -> Floats:
    if graph.size > SMALL:
        return pivot_positions(graph)
    return least_stress(graph, pivot_positions(graph))


def spectral(graph: GraphArrays) -> Floats:
    if graph.size > SMALL:
        return pivot_positions(graph)
    return _points(nx.spectral_layout(_simple(graph)))


def circular(graph: GraphArrays) -> Floats:
    return _points(nx.circular_layout(_simple(graph)))


def shell(graph: GraphArrays) -> Floats:
    """Rings by distance from the last op that ran, usually the target, in the middle."""
    simple = _simple(graph)
    rings = list(nx.bfs_layers(simple, graph.size - 1))
    reached = {node for ring in rings for node in ring}
    rest = [node for node in simple if node not in reached]
    return _points(nx.shell_layout(simple, [*rings, rest] if rest else rings))


def spiral(graph: GraphArrays) -> Floats:
    return _points(nx.spiral_layout(_simple(graph), equidistant=True))


def planar(graph: GraphArrays) -> Floats:
    """Place the nodes without crossings if the graph is planar, else with few."""
    return _points(nx.planar_layout(_planar_part(_simple(graph))))


def _planar_part(graph: nx.Graph) -> nx.Graph:
    """A large planar subgraph with all nodes, found by adding halves of halves of the edges."""
    part = nx.create_empty_copy(graph)
    part.add_edges_from(nx.minimum_spanning_edges(graph, data=False))
    if len(graph) > SMALL:
        return part
    portions = [[edge for edge in graph.edges if not part.has_edge(*edge) and edge[0] != edge[1]]]
    while portions:
        edges = portions.pop()
        part.add_edges_from(edges)
        if edges and not nx.is_planar(part):
            part.remove_edges_from(edges)
            if len(edges) > 1:
                half = len(edges) // 2
                portions += [edges[half:], edges[:half]]
    return part


IN_PARTS: Mapping[str, Positions] = MappingProxyType(
    {
        "multipartite": multipartite,
        "spring": spring,
        "kamada-kawai": kamada_kawai,
        "spectral": spectral,
        "planar": planar,
    }
)
"""Layouts that draw each connected part by itself."""
AS_ONE: Mapping[str, Positions] = MappingProxyType(
    {"circular": circular, "shell": shell, "spiral": spiral}
)
"""Layouts that put all nodes on one figure."""
