"""A wired graph in, the same without versions and writes that lead to nothing."""

from __future__ import annotations

from collections.abc import Collection

import networkx as nx

from ..trace.model import VariableId
from .model import Node, NodeId


def drop_loose_ends(
    graph: nx.MultiDiGraph, wanted: Collection[NodeId], variables: Collection[VariableId]
) -> None:
    """Remove variables' versions and assigns that nothing shown takes, and what only led to them.

    What read them may be bookkeeping that is not shown: the state of a random generator, a step
    counter. The ``wanted`` nodes and at least one version of each of the ``variables`` stay.
    """
    node: Node
    versions: dict[VariableId, int] = {}
    for _, node in graph.nodes(data="node"):
        if node.role == "variable" and node.variable is not None:
            versions[node.variable] = versions.get(node.variable, 0) + 1
    waiting = [name for name, node in graph.nodes(data="node") if _is_state(node)]
    while waiting:
        name = waiting.pop()
        if name not in graph or graph.out_degree(name):
            continue
        node = graph.nodes[name]["node"]
        if node.variable is not None:
            if versions[node.variable] == 1 and node.variable in variables:
                continue
            versions[node.variable] -= 1
        elif name in wanted:
            continue
        waiting.extend(graph.predecessors(name))
        graph.remove_node(name)


def _is_state(node: Node) -> bool:
    return node.role == "variable" or node.assigns
