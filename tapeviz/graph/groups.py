"""An op graph and its trace in, the group of every node out, as a path ``a/b/c``.

:data:`GROUPINGS` is the menu. A grouping is a function from graph and trace to paths; it need not
care for form: :func:`group` takes what only serves one group into it, and splits groups so that
folding any of them leaves the graph acyclic.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from types import MappingProxyType

import networkx as nx

from ..trace.model import Op, TensorId, Trace
from .loops import find_loop
from .model import Node, NodeId
from .scope import asked_for, shown_calls
from .split import split
from .weak import FEW, LARGE, READABLE, readable_depth

Paths = Mapping[NodeId, str]
Grouping = Callable[[nx.MultiDiGraph, Trace], Paths]

_NO_FUNCTIONS = frozenset(("<module>", "<listcomp>", "<dictcomp>", "<setcomp>", "<genexpr>"))


def by_layer(graph: nx.MultiDiGraph, trace: Trace) -> dict[NodeId, str]:
    """The Keras layer or name scope that an op ran in."""
    return {node: op.scope.strip("/") for node, op in _ops(graph, trace) if op.scope.strip("/")}


def by_function(graph: nx.MultiDiGraph, trace: Trace) -> dict[NodeId, str]:
    """The snippet's functions around an op, the outermost first; ``tf.function`` or plain."""
    paths: dict[NodeId, str] = {}
    for node, op in _ops(graph, trace):
        names = [frame.function for frame in reversed(op.site.frames)]
        path = "/".join(name for name in names if name not in _NO_FUNCTIONS)
        if path:
            paths[node] = path
    return paths


def by_line(graph: nx.MultiDiGraph, trace: Trace) -> dict[NodeId, str]:
    """The line of the snippet that an op ran on."""
    return {node: f"line {op.line}" for node, op in _ops(graph, trace) if op.line}


def by_iteration(graph: nx.MultiDiGraph, trace: Trace) -> dict[NodeId, str]:
    """The iteration of a Python loop that an op ran in, many of them in ranges of ranges."""
    ops = sorted(_ops(graph, trace), key=lambda pair: pair[1].when)
    loop = find_loop([(op.type, op.site.id) for _, op in ops])
    return {node: path for (node, _), path in zip(ops, loop, strict=True) if path}


def by_recorded_operation(graph: nx.MultiDiGraph, trace: Trace) -> dict[NodeId, str]:
    """The ``custom_gradient`` or compiled function that an op ran inside of."""
    return {node: attr.group for node, attr in graph.nodes(data="node") if attr.group}


RECORDED_OPERATION = "custom_gradient"
GROUPINGS: Mapping[str, Grouping] = MappingProxyType(
    {
        "layer": by_layer,
        "function": by_function,
        "line": by_line,
        "iteration": by_iteration,
        RECORDED_OPERATION: by_recorded_operation,
    }
)
"""In the order of the menu."""
_AUTOMATIC = ("layer", "iteration", "function", "line")


def group(graph: nx.MultiDiGraph, trace: Trace, grouping: str) -> Paths:
    """The paths of one of :data:`GROUPINGS`, its groups connected and safe to fold.

    Without a name: of recorded operations, or for a large graph of the first grouping that makes
    it readable. Raises ``KeyError`` for a name that is not there.
    """
    if grouping:
        return _grouped(graph, trace, GROUPINGS[grouping])
    if len(graph) <= LARGE:
        return _grouped(graph, trace, by_recorded_operation)
    return _most_readable(graph, trace)


def _most_readable(graph: nx.MultiDiGraph, trace: Trace) -> Paths:
    best: Paths = {}
    fewest = len(graph)
    for name in _AUTOMATIC:
        paths = _grouped(graph, trace, GROUPINGS[name])
        _, in_sight = readable_depth(paths, len(graph))
        if in_sight < fewest:
            best, fewest = paths, in_sight
        if FEW <= in_sight <= READABLE:
            return paths
    return best


def _grouped(graph: nx.MultiDiGraph, trace: Trace, grouping: Grouping) -> Paths:
    paths = dict(grouping(graph, trace))
    if grouping is not by_recorded_operation:
        for node, inside in by_recorded_operation(graph, trace).items():
            paths[node] = _merged(paths[node], inside) if node in paths else inside
    if not paths:
        return {}
    if grouping is not by_recorded_operation:
        # The weights of a layer belong to it; elsewhere a source is what the picture starts from.
        in_sight = grouping is not by_layer and len(graph) <= LARGE
        _take_in(graph, paths, asked_for(trace, shown_calls(trace)) if in_sight else frozenset())
    # The update of a weight belongs to its iteration, though state alone links the two.
    return split(graph, paths, connected=grouping is not by_iteration)


def _merged(path: str, inside: str) -> str:
    """A path with recorded operations ``f@5/g@7`` in the place of the functions of that name."""
    parts, at = path.split("/"), 0
    for entry in inside.split("/"):
        name = entry.rpartition("@")[0]
        if name in parts[at:]:
            at = parts.index(name, at) + 1
            parts[at - 1] = entry
        else:
            parts.append(entry)
            at = len(parts)
    return "/".join(parts)


def _ops(graph: nx.MultiDiGraph, trace: Trace) -> Iterator[tuple[NodeId, Op]]:
    node: Node
    for name, node in graph.nodes(data="node"):
        if node.op is not None and node.op in trace.ops:
            yield name, trace.ops[node.op]


def _take_in(
    graph: nx.MultiDiGraph, paths: dict[NodeId, str], in_sight: frozenset[TensorId]
) -> None:
    """Variables and constants that only one group takes belong to it."""
    node: Node
    for name, node in reversed(list(graph.nodes(data="node"))):
        if name in paths or node.role not in ("variable", "constant") or graph.in_degree(name):
            continue
        if node.tensor in in_sight or _handle(node) in in_sight:
            continue
        takers = {paths.get(taker, "") for taker in graph.successors(name)}
        shared = _shared_path(takers)
        if shared:
            paths[name] = shared


def _handle(node: Node) -> TensorId | None:
    return TensorId(node.variable) if node.variable is not None else None


def _shared_path(paths: set[str]) -> str:
    """The longest path that is above, or the same as, all of these."""
    first, *others = [path.split("/") for path in sorted(paths)] or [[""]]
    length = len(first)
    for other in others:
        same = 0
        while same < min(length, len(other)) and other[same] == first[same]:
            same += 1
        length = same
    return "/".join(first[:length])
