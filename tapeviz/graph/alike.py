"""Find the counterpart of each node in another op graph, if the graphs are alike.

Rounds of one call site ran the same lines, so their graphs differ only in ids, values and what is
folded: a loop may have had more turns. Nodes are in the order in which they were made, except that
variables are in that of their creation: one that is not updated any more would come before those
that are. So counterparts have the same position.
"""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from difflib import SequenceMatcher
from operator import itemgetter

import networkx as nx

from ..trace.ids import VariableId
from .model import Node, NodeId

_MANY = 200


def counterparts(before: nx.MultiDiGraph, after: nx.MultiDiGraph) -> Mapping[NodeId, NodeId]:
    """Node of ``before`` → node of ``after``; empty if the graphs are not alike."""
    if len(before) != len(after) or before.number_of_edges() != after.number_of_edges():
        return {}
    frames = [
        [(frame.title, frame.line) for frame in graph.graph.get("frames", ())]
        for graph in (before, after)
    ]
    if frames[0] != frames[1]:
        return {}
    found: dict[NodeId, NodeId] = {}
    pairs = zip(_in_order(before), _in_order(after), strict=True)
    for (old, old_node), (new, new_node) in pairs:
        if _kind(old_node) != _kind(new_node):
            return {}
        found[old] = new
    is_same = all(
        after.has_edge(found[source], found[target], key)
        for source, target, key in before.edges(keys=True)
    )
    return found if is_same else {}


def matches(before: nx.MultiDiGraph, after: nx.MultiDiGraph) -> Mapping[NodeId, NodeId]:
    """Node of ``before`` → node of ``after``, where these follow each other alike; empty for graphs
    with more than ``_MANY`` nodes."""
    if max(len(before), len(after)) > _MANY:
        return {}
    ours, others = _in_order(before), _in_order(after)
    kinds, theirs = ([_kind(node) for _, node in nodes] for nodes in (ours, others))
    found: dict[NodeId, NodeId] = {}
    for first, second, size in SequenceMatcher(None, kinds, theirs, False).get_matching_blocks():
        pairs = zip(ours[first : first + size], others[second : second + size], strict=True)
        found.update((old, new) for (old, _), (new, _) in pairs)
    return found


def _in_order(graph: nx.MultiDiGraph) -> list[tuple[NodeId, Node]]:
    """The nodes and their names in the graph, variables first."""
    variables: list[tuple[VariableId, int, NodeId, Node]] = []
    others: list[tuple[NodeId, Node]] = []
    for name, node in graph.nodes(data="node"):
        if node.variable is None:
            others.append((name, node))
        else:
            variables.append((node.variable, node.version, name, node))
    variables.sort(key=itemgetter(0, 1))
    return [(name, node) for _, _, name, node in variables] + others


def _kind(node: Node) -> Hashable:
    """A key that is the same for counterparts."""
    return (
        node.role,
        node.type,
        node.line if node.role in ("op", "constant") else 0,  # else perhaps that of a write
        node.name,
        node.is_recorded,
        node.assigns,
        node.is_backward,
        node.is_chip,
    )
