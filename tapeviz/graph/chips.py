"""A folded graph in, for a large one the same with a copy of each widely used value out.

A weight that a thousand ops read would draw a thousand edges across the picture. In a large graph
every reader has a chip of its own beside it.
"""

from __future__ import annotations

from dataclasses import replace

import networkx as nx

from .model import Edge, Node
from .weak import LARGE

_MOST_EDGES = 3


def chip(graph: nx.MultiDiGraph) -> nx.MultiDiGraph:
    """Copies for what nothing leads into and more than three nodes take, in a large graph.

    The copies' ids are ``<id>@<taker>``; they carry the same links. Small graphs stay as they are.
    """
    if len(graph) <= LARGE:
        return graph
    result = nx.MultiDiGraph(**graph.graph)
    shared = {name for name, node in graph.nodes(data="node") if _is_shared(graph, name, node)}
    node: Node
    edge: Edge
    for name, node in graph.nodes(data="node"):
        if name in shared:
            for taker in graph.successors(name):
                copy = f"{name}@{taker}"
                result.add_node(copy, node=replace(node, id=copy, is_chip=True))
        else:
            result.add_node(name, node=node)
    for source, target, key, edge in graph.edges(keys=True, data="edge"):
        start = f"{source}@{target}" if source in shared else source
        result.add_edge(start, target, key, edge=replace(edge, source=start))
    return result


def _is_shared(graph: nx.MultiDiGraph, name: str, node: Node) -> bool:
    return (
        node.role in ("variable", "constant")
        and not graph.in_degree(name)
        and len(graph.succ[name]) > _MOST_EDGES
    )
