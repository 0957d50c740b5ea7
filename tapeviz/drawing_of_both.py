"""Make one drawing of two compared runs: same ops in the same place."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

import networkx as nx
from msgspec import structs

from .analysis.comparing import Comparison
from .analysis.model import Diagnosis
from .drawing import Arranged, built_graph, compose_over, shown_call, sized_graph
from .graph.model import Edge, NodeId
from .graph.nodes import op_id
from .graph.union import Union, edge_in_union, unite
from .layout import lay_out
from .layout.model import Layout
from .scene.model import ChangeKind, Scene
from .scene.together import Side, moved_layout, together
from .trace.model import CallId, OpId, Trace
from .view import View


@dataclass(frozen=True, slots=True)
class Shown:
    """A run to be drawn; ``name``: what it is called above its picture; ``call``: the gradient
    call that the picture is of, None for the one that a picture alone would show."""

    name: str
    trace: Trace
    diagnosis: Diagnosis
    call: CallId | None = None


def draw_both(
    before: Shown, after: Shown, comparison: Comparison, view: View
) -> tuple[Arranged, Scene]:
    """Both graphs, each drawn from the layout of their union, and what differs marked."""
    graphs = (
        sized_graph(before.trace, view, before.call),
        sized_graph(after.trace, view, after.call),
    )
    union = unite(*graphs, comparison.pairs)
    layout = lay_out(union.graph, name=view.layout, direction=view.direction)
    kinds = _kinds(union, graphs, comparison)
    drawn, other = (
        _part(layout, graph, called)
        for graph, called in zip(graphs, (union.before, union.after), strict=True)
    )
    first = _side(before, view, Arranged(graphs[0], drawn), "before:", kinds[0])
    second = _side(after, view, Arranged(graphs[1], other), "after:", kinds[1])
    scene, by = together(first, second, f"{before.name} → {after.name}")
    where = moved_layout(drawn, first, (0.0, 0.0)), moved_layout(other, second, by)
    merged = replace(
        layout,
        rects={**where[0].rects, **where[1].rects},
        routes={**where[0].routes, **where[1].routes},
        bounds=scene.bounds,
    )
    graph = nx.union(_renamed(graphs[0], first), _renamed(graphs[1], second))
    return Arranged(graph, merged), scene


def only_drawn(before: Shown, after: Shown, comparison: Comparison, view: View) -> Comparison:
    """Without the ops that the picture leaves out, as they say nothing about a gradient."""
    first, second = (_drawn_ops(shown, view) for shown in (before, after))
    return replace(
        comparison,
        removed=tuple(op for op in comparison.removed if op in first),
        added=tuple(op for op in comparison.added if op in second),
        turned=tuple(
            (op, other) for op, other in comparison.turned if op in first or other in second
        ),
    )


def _drawn_ops(shown: Shown, view: View) -> frozenset[OpId]:
    built = built_graph(shown.trace, view, shown.call)
    made = map(built.maker.maker_of, built.parts)
    return frozenset(op for op in made if op is not None)


Kinds = dict[NodeId, ChangeKind]


def _kinds(
    union: Union, graphs: tuple[nx.MultiDiGraph, nx.MultiDiGraph], comparison: Comparison
) -> tuple[Kinds, Kinds]:
    """Change marks for the nodes of the first graph, and for those of the second."""
    shared = union.shared
    removed: Kinds = {node: "removed" for node in graphs[0] if union.before[node] not in shared}
    added: Kinds = {node: "added" for node in graphs[1] if union.after[node] not in shared}
    turned: Kinds = {op_id(op): "turned" for op, _ in comparison.turned}
    again: Kinds = {op_id(other): "turned" for _, other in comparison.turned}
    return turned | removed, again | added


def _side(shown: Shown, view: View, arranged: Arranged, prefix: str, kinds: Kinds) -> Side:
    overlay = replace(view.overlay, call=shown.call)
    call = shown_call(shown.diagnosis, overlay)
    scene = compose_over(arranged, shown.trace, call, overlay)
    return Side(scene, prefix, shown.name, kinds)


def _part(layout: Layout, graph: nx.MultiDiGraph, called: Mapping[NodeId, NodeId]) -> Layout:
    """The part of a layout of two graphs that belongs to one graph; the bounds stay the same."""
    return replace(
        layout,
        rects={name: layout.rects[called[name]] for name in graph},
        routes={key: layout.routes[edge_in_union(key, called)] for key in graph.edges(keys=True)},
    )


def _renamed(graph: nx.MultiDiGraph, side: Side) -> nx.MultiDiGraph:
    renamed = nx.relabel_nodes(graph, {name: side.called(name) for name in graph})
    for name, data in renamed.nodes(data=True):
        data["node"] = replace(data["node"], id=name)
    for start, end, data in renamed.edges(data=True):
        edge: Edge = data["edge"]
        data["edge"] = structs.replace(edge, source=start, target=end)
    return renamed
