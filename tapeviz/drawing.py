"""Arrange the graph of a diagnosed trace under a view, and compose its scene.

The one sequence that the window, the command line and the tests run: build, fold, lay out, compose.
"""

from __future__ import annotations

import math
from collections.abc import Hashable, Mapping
from dataclasses import dataclass, field, replace

import networkx as nx

from .analysis.diagnose import default_call
from .analysis.model import CallDiagnosis, Diagnosis
from .analysis.python.outside import follow
from .errors import go_on
from .graph.alike import counterparts, matches
from .graph.build import build
from .graph.chips import chip
from .graph.groups.fold import fold
from .graph.groups.opening import MOST_BOXES, OpenGroups, any_turn, choose_open
from .graph.groups.tree import Tree, grow
from .graph.model import NodeId
from .graph.nodes import op_id
from .graph.op_graph import OpGraph
from .graph.union import edge_in_union, frames_in, unite
from .layout import lay_out_nested
from .layout.model import EMPTY_LAYOUT, Layout, Rect
from .layout.squeezing import squeezed
from .layout.widening import widened
from .layout.wrapping import scale_in
from .scene.compose import compose
from .scene.model import Overlay, Scene
from .scene.parts.frames import frame_width
from .scene.sizes import LEGIBLE, with_sizes
from .trace.compiled.raised import op_that_raised
from .trace.model import Call, CallId, Trace
from .view import DEFAULT_VIEW, View


@dataclass(frozen=True, slots=True)
class FirstOpening:
    """The groups that the program opened, before the user's choices. ``place``: the gradient call's
    site and method; ``most``: how many boxes there may be; ``pins``: the
    index of the nodes that are never folded away in :attr:`OpGraph.pins`; ``ruled``: see
    :func:`choose_open`."""

    place: Hashable = None
    most: int = MOST_BOXES
    pins: int = 0
    ruled: Mapping[str, bool] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Arranged:
    """The place of everything: a folded graph whose nodes have sizes, and its layout."""

    graph: nx.MultiDiGraph = field(default_factory=nx.MultiDiGraph)
    layout: Layout = EMPTY_LAYOUT
    successors: Mapping[NodeId, NodeId] = field(default_factory=dict)
    """The counterpart of each node of the arrangement before, where the graphs are alike. It
    stands in the same place, unless a box needed more room."""
    view: View = DEFAULT_VIEW
    first_opening: FirstOpening = FirstOpening()
    laid: nx.MultiDiGraph | None = None
    """The graph that was laid out: this one, or its union with those of other rounds."""


_ONWARD = 8.0

_RINGS = (11.0, 32.0)
"""Px that rings and their words reach out beyond a layout, across and along: together of both
sides."""
_SMALL = 4
"""The power with which smaller text counts: of a picture that is too large, parts are out of
sight."""
_MORE = 0.25
"""How much more boxes count against text that is smaller than it should be."""
_STEP = 0.95
"""The part of its boxes that the next smaller picture to be tried has at most; less if its text is
much too small."""
_LARGER = 1.1
"""A picture too small to be read is left for a draft that can be read or is larger by this."""
_GAPS = 1.3
"""The most boxes of several rounds together, as a multiple of those of one."""
_FEW, _BARE = 8, 2
"""Fewer boxes say little, as a model is more than its name; the power with which that counts."""


def arrange(
    trace: Trace, view: View, call: int | None = None, before: Arranged | None = None
) -> Arranged:
    """The graph of a gradient call as the view wants it, each node and edge in its place.

    Depends on everything in the view but its overlay. ``call``: the id of the gradient call;
    None: the one that a diagnosis would show first. ``before``: the arrangement of another call, or
    before the user folded something. Of another call whose graph is alike nothing moves, unless a
    wider value has no room; another round of the same call opens the same groups.
    """
    built = built_graph(trace, view, call)
    go_on()
    drawn = _drawn_call(trace, call)
    place = (drawn.site.id, drawn.method) if drawn is not None else None
    if before is not None and _plain(before.view) == _plain(view):
        first = before.first_opening
        tree = _grown(built, trace, view, first.pins)
        is_round = first.place == place
        ruled = first.ruled if is_round else {}
        opening = opening_in(built, tree, trace, view, first.most, ruled)
        if ruled and any(opening.ruled[path] for path in opening.ruled.keys() - ruled.keys()):
            most = _most_legible(built, tree, trace, _plain(view), ruled).most
            opening = opening_in(built, tree, trace, view, most, ruled)
        sized = folded_in(built, tree, trace, view, opening)
        is_folded = (before.view.folded, before.view.unfolded) != (view.folded, view.unfolded)
        same = {} if is_folded else counterparts(before.graph, sized)
        if same or is_round:
            first = replace(first, place=place, ruled={**opening.ruled, **ruled})
            kept = _kept(before, sized, same) if same else None
            if kept is not None:
                return Arranged(sized, kept, same, view, first, before.laid)
            if is_round and not is_folded:
                return _beside(before, sized, view, first)
            return Arranged(sized, placed(sized, view), same, view, first, sized)
    # What the user folds or opens leaves the other groups as they are.
    pins, best = _first_view(built, trace, _plain(view))
    sized = best.sized
    if _plain(view) != view:
        tree = _grown(built, trace, view, pins)
        sized = folded_in(built, tree, trace, view, opening_in(built, tree, trace, view, best.most))
    first = FirstOpening(place, best.most, pins, best.opening.ruled)
    return Arranged(sized, placed(sized, view), {}, view, first, sized)


def _beside(before: Arranged, sized: nx.MultiDiGraph, view: View, first: FirstOpening) -> Arranged:
    """The arrangement of a round of another shape: what it shares with those before it stands in
    the same place, and what it lacks leaves a gap, unless that is too much."""
    laid = before.laid if before.laid is not None else before.graph
    renamed, paths = _with_frames_of(laid, sized)
    both = unite(laid, renamed, matches(laid, sized))
    if len(both.graph) > _GAPS * min(len(laid), len(sized)):
        return Arranged(sized, placed(sized, view), {}, view, first, sized)
    both.graph.graph["frames"] = both.frames
    layout = part_of(placed(both.graph, view), renamed, both.after)
    layout = replace(layout, frames={paths[path]: rect for path, rect in layout.frames.items()})
    is_same = len(both.graph) == len(laid) and layout.bounds == before.layout.bounds
    stays = matches(before.graph, sized) if is_same else {}
    return Arranged(sized, layout, stays, view, first, both.graph)


def _with_frames_of(
    laid: nx.MultiDiGraph, sized: nx.MultiDiGraph
) -> tuple[nx.MultiDiGraph, Mapping[str, str]]:
    """A copy whose frames have the paths that they have in another round, where another turn of a
    loop may be shown; and the own path of each."""
    theirs = {any_turn(frame.path): frame.path for frame in frames_in(laid)}
    called = {
        frame.path: theirs.get(any_turn(frame.path), frame.path) for frame in frames_in(sized)
    }
    copy = sized.copy()
    for _, data in copy.nodes(data=True):
        data["frame"] = called.get(data.get("frame", ""), "")
    copy.graph["frames"] = tuple(
        replace(frame, path=called[frame.path], parent=called.get(frame.parent, ""))
        for frame in frames_in(sized)
    )
    return copy, {path: own for own, path in called.items()}


def _plain(view: View) -> View:
    """The view without what the user folded or opened."""
    return replace(
        view, folded=frozenset(), unfolded=frozenset(), turns=(), overlay=DEFAULT_VIEW.overlay
    )


@dataclass(frozen=True, slots=True)
class _Chosen:
    """A folded graph; ``most``: the most boxes that it was chosen with; ``scale``: at which its
    draft fits into the room."""

    sized: nx.MultiDiGraph
    opening: OpenGroups
    most: int
    scale: float = LEGIBLE

    @property
    def worth(self) -> float:
        return worth_of(self.scale, len(self.sized))


def _grown(built: OpGraph, trace: Trace, view: View, pins: int) -> Tree:
    """The groups of a graph with all nodes pinned that can be, or with fewer."""
    built.pinned = built.pins[min(pins, len(built.pins) - 1)]
    go_on()
    tree = grow(built, trace, view.grouping)
    go_on()
    return tree


def _first_view(built: OpGraph, trace: Trace, view: View) -> tuple[int, _Chosen]:
    """The folded graph of a first view, and the index of the pins that it was made with."""
    found: list[_Chosen] = []
    for pins in range(len(built.pins)):
        tree = _grown(built, trace, view, pins)
        found.append(_most_legible(built, tree, trace, view))
        if found[-1].scale >= LEGIBLE:
            break
    best = max(found, key=lambda chosen: chosen.worth)
    return found.index(best), best


def _most_legible(
    built: OpGraph,
    tree: Tree,
    trace: Trace,
    view: View,
    ruled: Mapping[str, bool] | None = None,
) -> _Chosen:
    """The folded graph with as many boxes as can still be read, of those with more or fewer groups
    open. Drafts tell how large their pictures are. ``ruled``: see :func:`opening_in`."""
    most = 0 if view.grouping else MOST_BOXES
    best: _Chosen | None = None
    closed: frozenset[str] = frozenset()
    while True:
        opening = opening_in(built, tree, trace, view, most, ruled)
        if best is not None and opening.closed == closed:  # the rest is never closed
            return best
        closed = opening.closed
        sized = folded_in(built, tree, trace, view, opening)
        if view.layout != "layered" or view.grouping:
            return _Chosen(sized, opening, most)
        go_on()
        scale = shown_scale(placed(sized, view, is_draft=True), view.room)
        chosen = _Chosen(sized, opening, most, scale)
        if best is None or chosen.worth > best.worth:
            best = chosen
        if scale >= LEGIBLE:
            return best
        most = math.ceil(opening.boxes * math.sqrt(scale / LEGIBLE))
        most = min(most, int(opening.boxes * _STEP))


def shown_scale(layout: Layout, room: tuple[float, float]) -> float:
    """The scale, at most 1, at which a layout and its rings fit into a room (width, height)."""
    bounds, (across, along) = layout.bounds, _RINGS
    return scale_in(Rect(0, 0, bounds.width + across, bounds.height + along), room)


def worth_of(scale: float, boxes: int) -> float:
    """How good a first view is that shows all of a picture of so many boxes at a scale."""
    size, fullness = min(scale / LEGIBLE, 1.0), min(boxes / _FEW, 1.0)
    return math.pow(size, _SMALL) * math.pow(boxes, _MORE) * math.pow(fullness, _BARE)


def placed(sized: nx.MultiDiGraph, view: View, *, is_draft: bool = False) -> Layout:
    """The layout of a graph whose boxes have sizes, its frames among them; its rows are a little
    closer where all of it can then be read."""
    frames = frames_in(sized)
    layout = lay_out_nested(
        sized,
        {frame.path: frame.parent for frame in frames},
        {frame.path: frame_width(frame) for frame in frames},
        name=view.layout,
        direction=view.direction,
        room=view.room,
        is_draft=is_draft,
    )
    if view.layout != "layered":
        return layout
    across, along = view.room[0] / LEGIBLE - _RINGS[0], view.room[1] / LEGIBLE - _RINGS[1]
    made = squeezed(layout, (across, along))
    if not is_draft and (scale := shown_scale(made, view.room)) < LEGIBLE:
        draft = placed(sized, view, is_draft=True)  # it has more crossings
        return draft if shown_scale(draft, view.room) >= min(_LARGER * scale, LEGIBLE) else made
    return made


def part_of(layout: Layout, graph: nx.MultiDiGraph, called: Mapping[NodeId, NodeId]) -> Layout:
    """The part of a union's layout that belongs to one graph; the bounds stay the same."""
    return replace(
        layout,
        rects={name: layout.rects[called[name]] for name in graph},
        routes={key: layout.routes[edge_in_union(key, called)] for key in graph.edges(keys=True)},
        frames={f.path: layout.frames[f.path] for f in frames_in(graph) if f.path in layout.frames},
    )


def _kept(before: Arranged, after: nx.MultiDiGraph, same: Mapping[NodeId, NodeId]) -> Layout | None:
    """The layout from before for a graph that is alike; None where something has no room in it."""
    layout = widened(_renamed(before, after, same), _keep_sizes(before.graph, after, same))
    if layout is None:
        return None
    has_room = all(
        layout.frames[frame.path].width >= sum(frame_width(frame)) for frame in frames_in(after)
    )
    return layout if has_room else None


def _keep_sizes(
    before: nx.MultiDiGraph, after: nx.MultiDiGraph, same: Mapping[NodeId, NodeId]
) -> dict[NodeId, float]:
    """Give each box the room that it had before, or more where its value needs it; these, with
    their widths."""
    wider: dict[NodeId, float] = {}
    for old, new in same.items():
        had, wants = before.nodes[old], after.nodes[new]
        if wants["width"] > had["width"]:
            wider[new] = wants["width"]
        wants["width"] = max(wants["width"], had["width"])
    return wider


def _renamed(before: Arranged, after: nx.MultiDiGraph, same: Mapping[NodeId, NodeId]) -> Layout:
    layout = before.layout
    pairs = zip(frames_in(before.graph), frames_in(after), strict=True)
    paths = {old.path: new.path for old, new in pairs}
    return replace(
        layout,
        rects={same[name]: rect for name, rect in layout.rects.items()},
        routes={(same[a], same[b], key): points for (a, b, key), points in layout.routes.items()},
        frames={paths[path]: rect for path, rect in layout.frames.items()},
    )


def sized_graph(trace: Trace, view: View, call: int | None = None) -> nx.MultiDiGraph:
    """The folded graph, ready to be laid out: boxes have sizes, and edges weights."""
    return arrange(trace, view, call).graph


def opening_in(
    built: OpGraph,
    tree: Tree,
    trace: Trace,
    view: View,
    most: int,
    ruled: Mapping[str, bool] | None = None,
) -> OpenGroups:
    """The groups that a view opens, with at most so many boxes by itself; ``ruled``: what it opened
    of another round."""
    return choose_open(
        built,
        tree,
        () if view.grouping else built.pinned,
        folded=view.folded,
        unfolded=view.unfolded | _around_what_raised(built, tree, trace),
        turns=dict(view.turns),
        most=most,
        ruled=ruled,
    )


def folded_in(
    built: OpGraph, tree: Tree, trace: Trace, view: View, opening: OpenGroups
) -> nx.MultiDiGraph:
    """The folded graph, ready to be laid out: boxes have sizes, and edges weights."""
    unfolded = view.unfolded | _around_what_raised(built, tree, trace)
    # Edges along which values go on weigh more than those of values that begin there. So the
    # layout keeps the run of the computation straight, and its weights and constants aside.
    pinned = [built.names[place] for place in built.pinned]
    graph = with_sizes(chip(fold(built, tree, opening, unfolded), pinned), trace)
    for source, _, attributes in graph.edges(data=True):
        group = tree.groups.get(graph.nodes[source]["node"].opens)
        is_onward = graph.in_degree(source) or (group and group.kind != "values")
        attributes["weight"] = _ONWARD if is_onward else 1.0
        attributes["carried"] = attributes["edge"].is_carried
    return graph


def _around_what_raised(built: OpGraph, tree: Tree, trace: Trace) -> frozenset[str]:
    """The group in which an op of a compiled function raised, known by running it again."""
    raised = op_that_raised(trace)
    place = built.places.get(op_id(raised.id)) if raised is not None else None
    return frozenset({tree.home[place]} - {""} if place is not None else ())


def group_paths(trace: Trace, view: View, call: int | None = None) -> list[str]:
    """Paths of the groups that the view could fold and unfold."""
    built = built_graph(trace, view, call)
    opens = set(map(built.maker.opens, built.parts)) - {""}
    return sorted(opens | set(grow(built, trace, view.grouping).groups))


def repeats(trace: Trace, view: View, call: int | None = None) -> dict[str, int]:
    """The paths of what repeats, those with the most ops first, each with its number of turns."""
    tree = grow(built_graph(trace, view, call), trace, view.grouping)
    found = sorted(tree.groups.values(), key=lambda group: -group.ops)
    return {group.path: group.count for group in found if group.count}


def built_graph(trace: Trace, view: View, call: int | None = None) -> OpGraph:
    """Every node that the view shows, before anything is folded."""
    chosen = _drawn_call(trace, call)
    links = follow(trace).links
    return build(trace, chosen, shows_all=view.shows_all, links=links, opened=view.unfolded)


def _drawn_call(trace: Trace, call: int | None) -> Call | None:
    if call is not None:
        for known in trace.calls:
            if known.id == call:
                return known
    return default_call(trace)


def compose_over(
    arranged: Arranged, trace: Trace, shown: CallDiagnosis | None, overlay: Overlay
) -> Scene:
    """The scene of an arranged graph: selection, flow and step lie over it and move nothing."""
    return compose(arranged.graph, arranged.layout, trace, shown, overlay)


def shown_call(diagnosis: Diagnosis, overlay: Overlay) -> CallDiagnosis | None:
    """The gradient call that the overlay is about."""
    return diagnosis.call(CallId(overlay.call) if overlay.call is not None else None)


def draw(trace: Trace, diagnosis: Diagnosis, view: View) -> tuple[Arranged, Scene]:
    """The whole way from a trace to what a painter needs."""
    shown = shown_call(diagnosis, view.overlay)
    arranged = arrange(trace, view, shown.call.id if shown is not None else None)
    return arranged, compose_over(arranged, trace, shown, view.overlay)
