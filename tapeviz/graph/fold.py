"""An op graph, its groups and what the user folded in, the op graph with closed groups out."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import replace

import networkx as nx

from ..trace.model import OpId
from .model import Edge, EdgeState, Link, Node, NodeId
from .weak import weakly_closed

GROUP_PREFIX = "group:"
_ENTRY = re.compile(r".*@(?P<op>\d+)(?: #\d+)?$")


def fold(
    graph: nx.MultiDiGraph,
    groups: Mapping[NodeId, str],
    folded: frozenset[str] = frozenset(),
    unfolded: frozenset[str] = frozenset(),
    *,
    closes_all: bool = False,
) -> nx.MultiDiGraph:
    """The graph with each closed group as one node, and every node's :attr:`Node.group` set.

    ``folded``/``unfolded``: paths that the user closed or opened: his choice is strong. For the
    others see :func:`tapeviz.graph.weak.weakly_closed`; ``closes_all``: the user chose by what to
    group.
    """
    if not groups:
        return graph
    weak = weakly_closed(groups, len(graph), closes_all=closes_all)
    opened = {above for path in unfolded for above in upwards(path)}
    closed = folded | (weak - opened)
    outermost: dict[str, str] = {}
    inside: dict[NodeId, str] = {}
    for node, path in groups.items():
        if path not in outermost:
            outermost[path] = next((one for one in _downwards(path) if one in closed), "")
        if outermost[path]:
            inside[node] = outermost[path]
    return _contract(graph, groups, inside)


def group_id(path: str) -> NodeId:
    return GROUP_PREFIX + path


def path_of(node: Node) -> str:
    """The path of the group that this node is, or else stands in: what folds and unfolds it."""
    return node.id.removeprefix(GROUP_PREFIX) if node.role == "group" else node.group


def upwards(path: str) -> Iterable[str]:
    """The path, and those of the groups around it, outwards."""
    while path:
        yield path
        path = path.rpartition("/")[0]


def _downwards(path: str) -> Iterable[str]:
    return reversed(list(upwards(path)))


def _contract(
    graph: nx.MultiDiGraph, groups: Mapping[NodeId, str], inside: Mapping[NodeId, str]
) -> nx.MultiDiGraph:
    members: dict[str, list[Node]] = {}
    result = nx.MultiDiGraph(**graph.graph)
    node: Node
    for name, node in graph.nodes(data="node"):
        path = inside.get(name)
        if path is None:
            shown = replace(node, group=groups[name]) if name in groups else node
            result.add_node(name, node=shown)
        elif path in members:
            members[path].append(node)
        else:
            members[path] = [node]
            result.add_node(group_id(path))
    for path, some in members.items():
        result.nodes[group_id(path)]["node"] = _group_node(graph, path, some)
    _carry_edges(graph, result, inside)
    return result


def _carry_edges(
    graph: nx.MultiDiGraph, result: nx.MultiDiGraph, inside: Mapping[NodeId, str]
) -> None:
    merged: dict[tuple[NodeId, NodeId], list[Edge]] = {}
    edge: Edge
    for source, target, key, edge in graph.edges(keys=True, data="edge"):
        start, end = inside.get(source), inside.get(target)
        if start is None and end is None:
            result.add_edge(source, target, key, edge=edge)
        elif start is None or start != end:
            ends = (group_id(start) if start else source, group_id(end) if end else target)
            merged.setdefault(ends, []).append(edge)
    for (source, target), some in merged.items():
        entry = result.nodes[target]["node"].op if target.startswith(GROUP_PREFIX) else None
        result.add_edge(source, target, 0, edge=_merged(source, target, some, entry))


def _merged(source: NodeId, target: NodeId, edges: list[Edge], entry: OpId | None) -> Edge:
    """One edge for several; the way into a recorded operation as a whole stands first."""
    links: list[Link] = list(dict.fromkeys(link for edge in edges for link in edge.links))
    links.sort(key=lambda link: entry is None or link[1] != entry)
    is_recorded = any(edge.state == "recorded" for edge in edges)
    (tensor, consumer), *others = links
    state: EdgeState = "recorded" if is_recorded else "unrecorded"
    return Edge(source, target, 0, tensor, consumer, state, tuple(others))


def _group_node(graph: nx.MultiDiGraph, path: str, members: list[Node]) -> Node:
    ops = [node for node in members if node.op is not None]
    inside = {node.id for node in members}
    given = {
        edge.tensor
        for node in members
        for _, target, edge in graph.out_edges(node.id, data="edge")
        if target not in inside
    }
    ends = [node for node in members if not inside.intersection(graph.succ[node.id])]
    tensor = given.pop() if len(given) == 1 else None
    if tensor is None and len(ends) == 1:
        tensor = ends[0].tensor
    lines = tuple(sorted({line for node in members for line in node.lines}))
    first = next((node.line for node in members if node.line), 0)
    known = _recorded_operation(path, graph.graph.get("entries", {}))
    if known is not None:
        return replace(
            known,
            id=group_id(path),
            lines=tuple(dict.fromkeys((*known.lines, *lines))),
            is_recorded=known.is_recorded or any(node.is_recorded for node in ops),
            group=path.rpartition("/")[0],
            members=tuple(node.id for node in members),
            opens=path,
        )
    count = len(ops) or len(members)
    noun = "op" if ops else "node"
    title = path.rpartition("/")[2]
    return Node(
        id=group_id(path),
        role="group",
        title=title,
        subtitle=f"{count} {noun}{'s' if count != 1 else ''}",
        type="group",
        line=first,
        tensor=tensor,
        is_recorded=any(node.is_recorded for node in ops) or not ops,
        assigns=any(node.assigns for node in ops),
        is_backward=bool(ops) and all(node.is_backward for node in ops),
        name=title,
        lines=lines,
        group=path.rpartition("/")[0],
        members=tuple(node.id for node in members),
        opens=path,
    )


def _recorded_operation(path: str, entries: Mapping[OpId, Node]) -> Node | None:
    """The node that was prepared for a group that is the inside of a recorded operation."""
    named = _ENTRY.match(path)
    return entries.get(OpId(int(named["op"]))) if named is not None else None
