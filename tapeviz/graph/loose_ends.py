"""Drop the versions and writes of an op graph that lead to nothing."""

from __future__ import annotations

from collections.abc import Collection

from ..trace.model import Op, Trace, VariableId, Version
from .model import NodeId, Part
from .op_graph import OpGraph
from .words import is_assign


def drop_loose_ends(
    graph: OpGraph, trace: Trace, wanted: Collection[NodeId], variables: Collection[VariableId]
) -> None:
    """Remove versions of variables, and assigns, that nothing shown takes, and then the nodes that
    only led to those.

    Such a version may be read by bookkeeping that is not shown (a random generator's state, a step
    counter). The ``wanted`` nodes and at least one version of each of the ``variables`` stay.
    """
    versions: dict[VariableId, int] = {}
    for part in graph.parts.values():
        if isinstance(part, Version):
            versions[part.variable] = versions.get(part.variable, 0) + 1
    waiting = [name for name, part in graph.parts.items() if _is_state(trace, part)]
    taken: dict[NodeId, int] = {}
    """For nodes that lost a reader: the number of edges that are left."""
    dropped: set[NodeId] = set()
    while waiting:
        name = waiting.pop()
        if name in dropped or taken.get(name, len(graph.out.of(name))):
            continue
        part = graph.parts[name]
        if isinstance(part, Version):
            if versions[part.variable] == 1 and part.variable in variables:
                continue
            versions[part.variable] -= 1
        elif name in wanted:
            continue
        for edge in graph.into.of(name):
            taken[edge.source] = taken.get(edge.source, len(graph.out.of(edge.source))) - 1
        waiting.extend(graph.predecessors(name))
        dropped.add(name)
    graph.drop(dropped)


def _is_state(trace: Trace, part: Part) -> bool:
    if isinstance(part, Op):
        return part.id in trace.writes and is_assign(trace, part)
    return isinstance(part, Version)
