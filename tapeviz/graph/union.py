"""Unite two graphs with paired ops in one graph."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Mapping
from dataclasses import dataclass

import networkx as nx

from ..analysis.pairing import pair_anywhere
from ..text.op_words import friendly
from ..trace.ids import OpId
from .model import EdgeKey, Frame, Node, NodeId


@dataclass(frozen=True, slots=True)
class Union:
    """Two graphs as one. ``graph``: every node and edge of either, with the larger ``width``,
    ``height`` and ``weight``. ``before``, ``after``: node of either graph → its id in the union;
    nodes that are the same have the same id. ``frames``: those of either around its nodes."""

    graph: nx.MultiDiGraph
    before: Mapping[NodeId, NodeId]
    after: Mapping[NodeId, NodeId]
    frames: tuple[Frame, ...] = ()

    @property
    def shared(self) -> frozenset[NodeId]:
        return frozenset(self.before.values()) & frozenset(self.after.values())


def unite(before: nx.MultiDiGraph, after: nx.MultiDiGraph, same: Mapping[NodeId, NodeId]) -> Union:
    """The union of two graphs. ``same``: node of the first → the same node of the second."""
    names = {node: node for node in before}
    others = {name: f"+{name}" for name in after} | {b: a for a, b in same.items()}
    graph = nx.MultiDiGraph()
    for side, called in ((before, names), (after, others)):
        for name, data in side.nodes(data=True):
            known = graph.nodes.get(called[name], {})
            sizes = {
                size: max(data.get(size, 0.0), known.get(size, 0.0)) for size in ("width", "height")
            }
            graph.add_node(called[name], **{**data, **known, **sizes})
        for source, target, key, data in side.edges(keys=True, data=True):
            start, end, key = edge_in_union((source, target, key), called)
            weight = data.get("weight", 1.0)
            if graph.has_edge(start, end, key):
                known = graph.edges[start, end, key]
                known["weight"] = max(known.get("weight", 1.0), weight)
            else:
                graph.add_edge(start, end, key, **data)
    known = {frame.path: frame for side in (after, before) for frame in frames_in(side)}
    used = {path for _, path in graph.nodes(data="frame", default="")}
    for frame in reversed(known.values()):  # the inner ones first
        used |= {frame.parent} if frame.path in used else set()
    frames = tuple(frame for frame in known.values() if frame.path in used)
    return Union(graph, names, others, frames)


def frames_in(graph: nx.MultiDiGraph) -> tuple[Frame, ...]:
    """The frames of a folded graph, outer ones first."""
    found: tuple[Frame, ...] = graph.graph.get("frames", ())
    return found


def edge_in_union(edge: EdgeKey, called: Mapping[NodeId, NodeId]) -> EdgeKey:
    """The key in the union of an edge of one side; ``called``: node → its id in the union."""
    return called[edge[0]], called[edge[1]], edge[2]


def same_nodes(
    before: nx.MultiDiGraph, after: nx.MultiDiGraph, pairs: Iterable[tuple[OpId, OpId]]
) -> dict[NodeId, NodeId]:
    """Map nodes of the first graph to those of the second: paired ops, then variables, constants
    and groups with the same title, preferably those with the same readers."""
    ops, of_op = dict(pairs), dict(_drawn_ops(after))
    same = {name: of_op[ops[op]] for op, name in _drawn_ops(before) if ops.get(op) in of_op}
    for is_strict in (True, False):
        back = {other: name for name, other in same.items()}
        left = [name for name in before if name not in same and not _is_op(before, name)]
        right = [name for name in after if name not in back and not _is_op(after, name)]
        first = _key(before, {name: name for name in same}, is_strict)
        second = _key(after, back, is_strict)
        same.update(pair_anywhere(left, right, first, second))
    return same


def _drawn_ops(graph: nx.MultiDiGraph) -> Iterable[tuple[OpId, NodeId]]:
    node: Node
    for name, node in graph.nodes(data="node"):
        if node.role == "op" and node.op is not None:
            yield node.op, name


def _is_op(graph: nx.MultiDiGraph, name: NodeId) -> bool:
    node: Node = graph.nodes[name]["node"]
    return node.role == "op" and node.op is not None


def _key(
    graph: nx.MultiDiGraph, called: Mapping[NodeId, NodeId], is_strict: bool
) -> Callable[[NodeId], Hashable]:
    def key(name: NodeId) -> Hashable:
        node: Node = graph.nodes[name]["node"]
        takers = (
            frozenset(called.get(reader) for reader in graph.successors(name))
            if is_strict
            else None
        )
        return node.role, friendly(node.type), node.title, node.version, node.is_chip, takers

    return key
