"""Groups of a graph in, the same groups split so that folding leaves no cycle out.

Nodes of one path that are not connected are several groups (two calls of one layer). Where paths
leave a group and come back into it, it is split, by how often they have changed groups before.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

import networkx as nx

from .model import NodeId

Block = tuple[str, int, int]
"""Path so far, component, part."""


def split(
    graph: nx.MultiDiGraph, paths: Mapping[NodeId, str], *, connected: bool = True
) -> dict[NodeId, str]:
    """Paths such that contracting groups of any depth leaves ``graph`` acyclic.

    ``connected``: a group's members hang together, else it is several groups.
    The parts of ``a`` are called ``a``, ``a #2``, … in the order of the graph. ``graph`` itself
    must be acyclic. It is enough to see to each depth by itself: a cycle through groups of several
    depths would be one among the outermost, or all inside of one.
    """
    order = list(nx.lexicographical_topological_sort(graph, key=_positions(graph).__getitem__))
    parts = {node: path.split("/") for node, path in paths.items()}
    names: dict[NodeId, str] = {}
    depth = 0
    inside = [node for node in order if node in parts]
    while inside:
        blocks = {
            node: (f"{names[node]}/{parts[node][depth]}" if depth else parts[node][0], 0, 0)
            for node in inside
        }
        if connected:
            blocks = _components(graph, inside, blocks)
        blocks = _without_cycles(graph, order, blocks)
        names.update(_named(inside, blocks))
        depth += 1
        inside = [node for node in inside if len(parts[node]) > depth]
    return names


def _positions(graph: nx.MultiDiGraph) -> dict[NodeId, int]:
    return {node: index for index, node in enumerate(graph)}


def _components(
    graph: nx.MultiDiGraph, inside: Iterable[NodeId], blocks: Mapping[NodeId, Block]
) -> dict[NodeId, Block]:
    found: dict[NodeId, Block] = {}
    count = 0
    for first in inside:
        if first in found:
            continue
        count += 1
        path = blocks[first][0]
        waiting = [first]
        found[first] = (path, count, 0)
        while waiting:
            node = waiting.pop()
            for near in (*graph.succ[node], *graph.pred[node]):
                if near not in found and near in blocks and blocks[near][0] == path:
                    found[near] = (path, count, 0)
                    waiting.append(near)
    return found


def _without_cycles(
    graph: nx.MultiDiGraph, order: list[NodeId], blocks: Mapping[NodeId, Block]
) -> dict[NodeId, Block]:
    """Split the blocks on cycles by the number of changes of block on the longest way there.

    Along an edge that number never falls, and it rises where the block changes: then what is left
    of a block at one number can be on no cycle.
    """
    contracted: dict[Block | NodeId, set[Block | NodeId]] = {}
    for node in order:
        here = blocks.get(node, node)
        onward = contracted.setdefault(here, set())
        for target in graph.succ[node]:
            there = blocks.get(target, target)
            if there != here:
                onward.add(there)
    tangles: dict[Block | NodeId, int] = {}
    quotient = nx.DiGraph(contracted)
    for number, knot in enumerate(nx.strongly_connected_components(quotient)):
        if len(knot) > 1:
            tangles.update(dict.fromkeys(knot, number))
    if not tangles:
        return dict(blocks)
    result = dict(blocks)
    changes: dict[NodeId, int] = {}
    for node in order:
        here = blocks.get(node, node)
        knot_number = tangles.get(here)
        if knot_number is None:
            continue
        most = 0
        for source in graph.pred[node]:
            before = blocks.get(source, source)
            if tangles.get(before) == knot_number:
                most = max(most, changes[source] + (before != here))
        changes[node] = most
        if node in blocks:
            path, component, _ = blocks[node]
            result[node] = (path, component, most)
    return result


def _named(order: Iterable[NodeId], blocks: Mapping[NodeId, Block]) -> dict[NodeId, str]:
    names: dict[Block, str] = {}
    used: dict[str, int] = {}
    for node in order:
        block = blocks[node]
        if block not in names:
            path = block[0]
            used[path] = used.get(path, 0) + 1
            names[block] = path if used[path] == 1 else f"{path} #{used[path]}"
    return {node: names[block] for node, block in blocks.items()}
