"""Make one drawing of two compared runs: same ops in the same place."""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, replace
from itertools import product
from typing import NamedTuple

import networkx as nx
from msgspec import structs

from ..analysis.comparing import Comparison
from ..analysis.model import Diagnosis
from ..errors import go_on
from ..graph.groups.changes import Segments, segments_of
from ..graph.groups.opening import MOST_BOXES
from ..graph.groups.tree import Tree, grow
from ..graph.model import Edge, Node, NodeId
from ..graph.nodes import OP_PREFIX, op_id
from ..graph.op_graph import OpGraph
from ..graph.union import Union, same_nodes, unite
from ..layout import lay_out_nested
from ..layout.model import Layout
from ..scene.model import ChangeKind, Scene
from ..scene.parts.frames import frame_width
from ..scene.sizes import LEGIBLE
from ..scene.together import Side, moved_layout, room_of_each, together
from ..trace.ids import CallId, OpId
from ..trace.model import Trace
from ..trace.ops import Op
from ..view import View
from .arranging import Arranged, built_graph, compose_over, part_of, shown_call
from .first_view import FULL, Detail, fitted_rows, folded_in, opening_in, shown_scale, worth_of


@dataclass(frozen=True, slots=True)
class Shown:
    """A run to be drawn; ``name``: what it is called above its picture; ``call``: the gradient
    call that the picture is of, None for the one that a picture alone would show."""

    name: str
    trace: Trace
    diagnosis: Diagnosis
    call: CallId | None = None


_MOST_HELD = 8
"""Ops that only one run has, of each run, that are not hidden in groups, at most."""
_MOST_OPENED = 4
_WORTH = 1.05
"""Pictures one above the other must be worth this factor."""


class _Contents(NamedTuple):
    """Whether groups leave the ``sources`` in sight, and the ops that only one run has
    (``changes``); whether boxes show ``arrays``, and whether their titles are ``short``."""

    sources: bool = True
    changes: bool = True
    arrays: bool = True
    short: bool = False


_CONTENTS = [
    _Contents(sources, changes, arrays)
    for changes, arrays, sources in product((True, False), repeat=3)
]
"""In the order in which they are tried."""


@dataclass(frozen=True, slots=True)
class _Placed:
    """``graphs``: of both runs, folded, with their ``union``, which is laid out for half of the
    room; ``most``: how many boxes each may have; ``scale``, ``worth``: of the draft, see
    :func:`worth_of`."""

    graphs: tuple[nx.MultiDiGraph, nx.MultiDiGraph]
    union: Union
    is_below: bool
    most: int
    contents: _Contents
    scale: float
    worth: float


def draw_both(
    before: Shown, after: Shown, comparison: Comparison, view: View
) -> tuple[Arranged, Scene]:
    """Both graphs, each drawn from the layout of their union, and what differs marked; beside each
    other, or one above the other where they are larger so."""
    placed = _placed(before, after, comparison, view)
    graphs, union = placed.graphs, placed.union
    layout = _laid(union, view, room_of_each(view.room, is_below=placed.is_below))
    kinds = _kinds(union, graphs, (before.trace, after.trace), comparison)
    drawn, other = (
        part_of(layout, graph, called)
        for graph, called in zip(graphs, (union.before, union.after), strict=True)
    )
    first = _side(before, view, Arranged(graphs[0], drawn), "before:", kinds[0])
    second = _side(after, view, Arranged(graphs[1], other), "after:", kinds[1])
    scene, by = together(first, second, f"{before.name} → {after.name}", is_below=placed.is_below)
    where = moved_layout(drawn, first, (0.0, 0.0)), moved_layout(other, second, by)
    merged = replace(
        layout,
        rects={**where[0].rects, **where[1].rects},
        routes={**where[0].routes, **where[1].routes},
        bounds=scene.bounds,
    )
    graph = nx.union(_renamed(graphs[0], first), _renamed(graphs[1], second))
    return Arranged(graph, merged), scene


def _placed(before: Shown, after: Shown, comparison: Comparison, view: View) -> _Placed:
    """Both graphs; what the user opens or closes leaves the other groups as they are."""
    plain = replace(view, folded=frozenset(), unfolded=frozenset())
    placed = _first_view(_grown(before, after, comparison, plain), comparison, plain)
    if plain == view:
        return placed
    first, second = _grown(before, after, comparison, view)
    for grown in (first, second):
        grown.show(placed.contents)
        grown.open(placed.most)
    graphs = _folded(first, second, comparison)
    return replace(placed, graphs=graphs, union=_united(graphs, comparison))


def _first_view(runs: tuple[_Grown, _Grown], comparison: Comparison, view: View) -> _Placed:
    """Both graphs, with as much in sight as can be read; else those that are best to read."""
    best: _Placed | None = None
    for contents in _CONTENTS:
        placed = _most_legible(*runs, comparison, view, contents)
        if best is None or placed.worth > best.worth:
            best = placed
        if best.scale >= LEGIBLE:
            return best
    assert best is not None
    short = _most_legible(*runs, comparison, view, best.contents._replace(short=True))
    return short if short.worth > best.worth else best


def _most_legible(
    first: _Grown, second: _Grown, comparison: Comparison, view: View, contents: _Contents
) -> _Placed:
    """Both graphs, with as many boxes as can be read; groups of both are open or closed in both."""
    first.show(contents)
    second.show(contents)
    best: _Placed | None = None
    most = MOST_BOXES
    closed: tuple[frozenset[str], ...] = ()
    while True:
        boxes = min(first.open(most), second.open(most))
        if best is not None and closed == (first.closed, second.closed):
            return best
        closed = first.closed, second.closed
        graphs = _folded(first, second, comparison)
        go_on()
        union = _united(graphs, comparison)
        scales = []
        for is_below in (False, True):
            room = room_of_each(view.room, is_below=is_below)
            scale = shown_scale(_laid(union, view, room, is_draft=True), room)
            worth = worth_of(scale, len(union.graph))
            if best is None or worth > best.worth * (_WORTH if is_below else 1.0):
                best = _Placed(graphs, union, is_below, most, contents, scale, worth)
            if scale >= LEGIBLE:
                return best
            scales.append(scale)
        most = min(boxes - 1, math.ceil(boxes * math.sqrt(max(scales) / LEGIBLE)))


def _grown(
    before: Shown, after: Shown, comparison: Comparison, view: View
) -> tuple[_Grown, _Grown]:
    first, second = (built_graph(run.trace, view, run.call) for run in (before, after))
    turned = frozenset(op for op, _ in comparison.turned)
    mine, its = segments_of(
        _compared(first, {op for op, _ in comparison.pairs}.union(comparison.removed)),
        _compared(second, {op for _, op in comparison.pairs}.union(comparison.added)),
        comparison.pairs,
        turned,
    )
    return (
        _Grown(before.trace, view, first, comparison.removed, mine),
        _Grown(after.trace, view, second, comparison.added, its),
    )


def _compared(built: OpGraph, ops: Collection[OpId]) -> list[OpId]:
    """Return the ids among ``ops`` whose ops are in a graph, in the order in which they ran."""
    return [part.id for part in built.parts if isinstance(part, Op) and part.id in ops]


def _folded(
    first: _Grown, second: _Grown, comparison: Comparison
) -> tuple[nx.MultiDiGraph, nx.MultiDiGraph]:
    """Both graphs with the same groups open. A closed group stands for the same ops in both, unless
    there would be too many boxes: one with ops that the other graph shows otherwise is open, too.
    """
    opened = first.opened | second.opened
    plain = graphs = first.folded(opened), second.folded(opened)
    while more := _hiding(graphs, comparison) - opened:
        opened |= more
        graphs = first.folded(opened), second.folded(opened)
        if max(map(len, graphs)) > MOST_BOXES:
            return plain
    return graphs


def _hiding(
    graphs: tuple[nx.MultiDiGraph, nx.MultiDiGraph], comparison: Comparison
) -> frozenset[str]:
    """The closed groups with paired ops that are the same as no group of the other graph, or whose
    ops that one has in its sight."""
    same = same_nodes(*graphs, comparison.pairs)
    partners = {op_id(op): op_id(other) for op, other in comparison.pairs}
    found: set[str] = set()
    for graph, other, matched, partner_of in (
        (*graphs, same.keys(), partners),
        (*reversed(graphs), set(same.values()), {b: a for a, b in partners.items()}),
    ):
        for name, node in graph.nodes(data="node"):
            theirs = [partner_of[member] for member in node.members if member in partner_of]
            is_other = name not in matched or any(partner in other for partner in theirs)
            if node.role == "group" and theirs and is_other:
                found.add(node.opens)
    return frozenset(found - {""})


def _united(graphs: tuple[nx.MultiDiGraph, nx.MultiDiGraph], comparison: Comparison) -> Union:
    return unite(*graphs, same_nodes(*graphs, comparison.pairs))


def _laid(union: Union, view: View, room: tuple[float, float], *, is_draft: bool = False) -> Layout:
    """The layout of the union for the room that each of both pictures has."""
    layout = lay_out_nested(
        union.graph,
        {frame.path: frame.parent for frame in union.frames},
        {frame.path: frame_width(frame) for frame in union.frames},
        name=view.layout,
        direction=view.direction,
        room=room,
        may_wrap=False,
        is_draft=is_draft,
    )
    return fitted_rows(layout, room, 0.0) if view.layout == "layered" else layout


class _Grown:
    """The graph of a run, with its groups. ``own``: the ops that only this run has; ``segments``:
    what differs from the other one."""

    def __init__(
        self, trace: Trace, view: View, built: OpGraph, own: Sequence[OpId], segments: Segments
    ) -> None:
        self._trace, self._view, self._built, self._segments = trace, view, built, segments
        places = (built.places.get(op_id(op)) for op in own[:_MOST_HELD])
        self._held = {place for place in places if place is not None}
        self._trees: dict[tuple[bool, bool], Tree] = {}
        self._detail = FULL
        self._tree = Tree()
        self.closed: frozenset[str] = frozenset()

    def show(self, contents: _Contents) -> None:
        """Choose what groups do not hide."""
        built, key = self._built, (contents.sources, contents.changes)
        self._detail = Detail(contents.arrays, short=contents.short)
        built.pin(built.pins[0 if contents.sources else -1])
        built.pinned |= self._held if contents.changes else set()
        if key not in self._trees:
            grouping = self._view.grouping
            self._trees[key] = grow(built, self._trace, grouping, self._segments)
        self._tree = self._trees[key]

    @property
    def opened(self) -> frozenset[str]:
        return frozenset(self._tree.groups) - self.closed

    def open(self, most: int) -> int:
        """Open groups with at most so many boxes; their number."""
        opening = opening_in(self._built, self._tree, self._trace, self._view, most)
        self.closed = opening.closed
        return opening.boxes

    def folded(self, unfolded: Collection[str]) -> nx.MultiDiGraph:
        """The graph with its open groups, and with those that are open in the other one."""
        view = replace(self._view, unfolded=self.opened.union(unfolded))
        opening = opening_in(self._built, self._tree, self._trace, view, 0)
        parts = self._built, self._tree, self._trace
        return folded_in(*parts, self._view, opening, self._detail)


def only_drawn(before: Shown, after: Shown, comparison: Comparison, view: View) -> Comparison:
    """The comparison without the ops that the picture leaves out: they say nothing about a
    gradient."""
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
    union: Union,
    graphs: tuple[nx.MultiDiGraph, nx.MultiDiGraph],
    traces: tuple[Trace, Trace],
    comparison: Comparison,
) -> tuple[Kinds, Kinds]:
    """Change marks for the nodes of the first graph, and for those of the second."""
    shared = union.shared
    paired = {op_id(op) for op, _ in comparison.pairs}, {op_id(op) for _, op in comparison.pairs}
    removed: Kinds = {
        name: "removed"
        for name, node in graphs[0].nodes(data="node")
        if union.before[name] not in shared and not _holds_only(node, traces[0], paired[0])
    }
    added: Kinds = {
        name: "added"
        for name, node in graphs[1].nodes(data="node")
        if union.after[name] not in shared and not _holds_only(node, traces[1], paired[1])
    }
    turned: Kinds = {op_id(op): "turned" for op, _ in comparison.turned}
    again: Kinds = {op_id(other): "turned" for _, other in comparison.turned}
    gone, new = set(map(op_id, comparison.removed)), set(map(op_id, comparison.added))
    # A group whose other side is marked has a counterpart: the reader sees where to open both.
    inside = {
        called
        for graph, names, differ in (
            (graphs[0], union.before, gone | turned.keys()),
            (graphs[1], union.after, new | again.keys()),
        )
        for name, node in graph.nodes(data="node")
        if (called := names[name]) in shared and node.role == "group"
        if not differ.isdisjoint(node.members)
    }
    first: Kinds = {name: "inside" for name in graphs[0] if union.before[name] in inside}
    second: Kinds = {name: "inside" for name in graphs[1] if union.after[name] in inside}
    return {**first, **turned, **removed}, {**second, **again, **added}


def open_in_picture(
    trace: Trace, view: View, call: CallId | None, look_into: Callable[[OpId], Trace]
) -> Trace:
    """The trace with the calls of compiled functions opened that the picture of a gradient call
    shows as one box each, since their inside is not known yet; at most ``_MOST_OPENED``."""
    built = built_graph(trace, view, call)
    ops = [part for part in built.parts if isinstance(part, Op) and part.description.runs]
    closed = [op.ran_as for op in ops if op.ran_as is not None and not op.body]
    for number in closed[-_MOST_OPENED:]:
        trace = look_into(number)
    return trace


def _holds_only(node: Node, trace: Trace, paired: Collection[NodeId]) -> bool:
    """Whether the ops that a node stands for, or whose value it shows, are all among these; the
    other picture has them in other groups, or does not need them."""
    ops = [name for name in (node.members or (node.id,)) if name.startswith(OP_PREFIX)]
    if node.role == "constant" and (maker := trace.maker(node.tensor)) is not None:
        ops.append(op_id(maker.id))
    return bool(ops) and all(name in paired for name in ops)


def _side(shown: Shown, view: View, arranged: Arranged, prefix: str, kinds: Kinds) -> Side:
    overlay = replace(view.overlay, call=shown.call)
    call = shown_call(shown.diagnosis, overlay)
    scene = compose_over(arranged, shown.trace, call, overlay)
    return Side(scene, prefix, shown.name, kinds)


def _renamed(graph: nx.MultiDiGraph, side: Side) -> nx.MultiDiGraph:
    renamed = nx.relabel_nodes(graph, {name: side.called(name) for name in graph})
    for name, data in renamed.nodes(data=True):
        data["node"] = replace(data["node"], id=name)
    for start, end, data in renamed.edges(data=True):
        edge: Edge = data["edge"]
        data["edge"] = structs.replace(edge, source=start, target=end)
    return renamed
