"""Copy each widely used value to its readers as a chip.

A weight that a thousand ops read would draw a thousand edges across the picture. In a large graph
a few readers are enough to make chips, in a small one it takes more, or a constant whose readers
are far apart: its edge would run around all that is between them.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import replace

import networkx as nx
from msgspec import structs

from .model import Edge, Node, NodeId

_LARGE = 300
_MOST_EDGES = 3
_MOST_EDGES_OF_SMALL = 16
_FAR = 6
"""Rows between the readers of a constant that gets copies."""


def chip(graph: nx.MultiDiGraph, pinned: Collection[NodeId] = ()) -> nx.MultiDiGraph:
    """Replace each variable or constant without inputs and with many readers by copies, and each
    constant whose readers are far apart, but none that is ``pinned``.

    The id of a copy is ``<id>@<reader>``; its edges carry the same links.
    """
    most = _MOST_EDGES if len(graph) > _LARGE else _MOST_EDGES_OF_SMALL
    shared = {
        name for name, node in graph.nodes(data="node") if _is_shared(graph, name, node, most)
    }
    shared |= _with_far_readers(graph).difference(pinned)
    if not shared:
        return graph
    result = nx.MultiDiGraph(**graph.graph)
    node: Node
    edge: Edge
    frames = dict(graph.nodes(data="frame", default=""))
    for name, node in graph.nodes(data="node"):
        if name in shared:
            for taker in graph.successors(name):
                copy = f"{name}@{taker}"
                made = replace(node, id=copy, is_chip=True)
                result.add_node(copy, node=made, frame=frames[taker])
        else:
            result.add_node(name, node=node, frame=frames[name])
    for source, target, key, edge in graph.edges(keys=True, data="edge"):
        start = f"{source}@{target}" if source in shared else source
        result.add_edge(start, target, key, edge=structs.replace(edge, source=start))
    return result


def _with_far_readers(graph: nx.MultiDiGraph) -> set[NodeId]:
    """The constants of a graph whose first and last reader are more than ``_FAR`` rows apart."""
    found = {
        name
        for name, node in graph.nodes(data="node")
        if node.role == "constant" and not graph.in_degree(name) and len(graph.succ[name]) > 1
    }
    if not found or len(graph) > _LARGE:
        return set()
    forward = nx.MultiDiGraph()
    forward.add_nodes_from(graph)
    edges = graph.edges(data="edge")
    forward.add_edges_from((a, b) for a, b, edge in edges if a != b and not edge.is_carried)
    if not nx.is_directed_acyclic_graph(forward):
        return set()
    rows: dict[NodeId, int] = {}
    for name in nx.topological_sort(forward):
        rows[name] = max((rows[before] + 1 for before in forward.pred[name]), default=0)
    reach = {name: [rows[taker] for taker in graph.succ[name]] for name in found}
    return {name for name, at in reach.items() if max(at) - min(at) > _FAR}


def _is_shared(graph: nx.MultiDiGraph, name: str, node: Node, most: int) -> bool:
    return (
        node.role in ("variable", "constant")
        and not graph.in_degree(name)
        and len(graph.succ[name]) > most
    )
