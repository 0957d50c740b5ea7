"""Find the counterpart of each node in another op graph, if the graphs are alike.

Rounds of one call site ran the same lines, so their graphs differ only in ids, values and what is
folded: a loop may have had more turns. Nodes are in the order in which they were made, so
counterparts have the same position.
"""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from difflib import SequenceMatcher

import networkx as nx

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
    pairs = zip(before.nodes(data="node"), after.nodes(data="node"), strict=True)
    found: dict[NodeId, NodeId] = {}
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
    names, others = list(before), list(after)
    kinds, theirs = (
        [_kind(node) for _, node in graph.nodes(data="node")] for graph in (before, after)
    )
    found: dict[NodeId, NodeId] = {}
    for first, second, size in SequenceMatcher(None, kinds, theirs, False).get_matching_blocks():
        found.update(zip(names[first : first + size], others[second : second + size], strict=True))
    return found


def _kind(node: Node) -> Hashable:
    """A key that is the same for counterparts."""
    return (
        node.role,
        node.type,
        node.line if node.role != "variable" else 0,  # of its last write
        node.name,
        node.is_recorded,
        node.assigns,
        node.is_backward,
        node.is_chip,
    )
