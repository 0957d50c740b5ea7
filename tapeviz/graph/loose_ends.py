"""Find the versions, writes and constants of an op graph that lead to nothing."""

from __future__ import annotations

from collections.abc import Collection

from ..trace.ids import VariableId
from ..trace.model import Trace
from ..trace.ops import Op
from ..trace.variables import Version
from .model import NodeId
from .op_graph import OpGraph
from .words import is_assign


def loose_ends(
    graph: OpGraph, trace: Trace, wanted: Collection[NodeId], variables: Collection[VariableId]
) -> set[int]:
    """The places of versions of variables, of assigns, and of ops drawn as values, that nothing
    shown takes, and of the nodes that only led to those.

    They may be read by bookkeeping that is not shown (a random generator's state, the counter of a
    loop). The ``wanted`` nodes and at least one version of each of the ``variables`` stay.
    """
    versions: dict[VariableId, int] = {}
    waiting: list[int] = []
    for place, part in enumerate(graph.parts):
        if isinstance(part, Version):
            versions[part.variable] = versions.get(part.variable, 0) + 1
            waiting.append(place)
        elif isinstance(part, Op) and (
            graph.maker.is_value(part) or (part.id in trace.writes and is_assign(trace, part))
        ):
            waiting.append(place)
    taken: dict[int, int] = {}
    """The number of edges that are left to nodes that lost a reader."""
    sources = graph.edges.sources
    dropped: set[int] = set()
    while waiting:
        place = waiting.pop()
        if place in dropped or taken.get(place, graph.out.count(place)):
            continue
        part = graph.parts[place]
        if graph.names[place] in wanted:
            continue
        if isinstance(part, Version):
            if versions[part.variable] == 1 and part.variable in variables:
                continue
            versions[part.variable] -= 1
        for row in graph.into[place]:
            source = sources[row]
            taken[source] = taken.get(source, graph.out.count(source)) - 1
        waiting.extend(graph.predecessors(place))
        dropped.add(place)
    return dropped
