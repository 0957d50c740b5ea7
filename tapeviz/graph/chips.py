"""A folded graph in, the same with a copy of each widely used value for each of its readers out.

A weight that a thousand ops read would draw a thousand edges across the picture. Every reader has
a chip of its own beside it then; in a large graph from few readers on, in a small one from many.
"""

from __future__ import annotations

from dataclasses import replace

import networkx as nx

from .model import Edge, Node

_LARGE = 300
_MOST_EDGES = 3
_MOST_EDGES_OF_SMALL = 16


def chip(graph: nx.MultiDiGraph) -> nx.MultiDiGraph:
    """Copies for what nothing leads into and more than a few nodes take.

    The copies' ids are ``<id>@<taker>``; they carry the same links.
    """
    most = _MOST_EDGES if len(graph) > _LARGE else _MOST_EDGES_OF_SMALL
    shared = {
        name for name, node in graph.nodes(data="node") if _is_shared(graph, name, node, most)
    }
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
        result.add_edge(start, target, key, edge=replace(edge, source=start))
    return result


def _is_shared(graph: nx.MultiDiGraph, name: str, node: Node, most: int) -> bool:
    return (
        node.role in ("variable", "constant")
        and not graph.in_degree(name)
        and len(graph.succ[name]) > most
    )
