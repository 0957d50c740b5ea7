"""Copy each widely used value to its readers as a chip.

A weight that a thousand ops read would draw a thousand edges across the picture. In a large graph
a few readers are enough to make chips, in a small one it takes more.
"""

from __future__ import annotations

from dataclasses import replace

import networkx as nx
from msgspec import structs

from .model import Edge, Node

_LARGE = 300
_MOST_EDGES = 3
_MOST_EDGES_OF_SMALL = 16


def chip(graph: nx.MultiDiGraph) -> nx.MultiDiGraph:
    """Replace each variable or constant without inputs and with many readers by copies.

    The id of a copy is ``<id>@<reader>``; its edges carry the same links.
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
        result.add_edge(start, target, key, edge=structs.replace(edge, source=start))
    return result


def _is_shared(graph: nx.MultiDiGraph, name: str, node: Node, most: int) -> bool:
    return (
        node.role in ("variable", "constant")
        and not graph.in_degree(name)
        and len(graph.succ[name]) > most
    )
