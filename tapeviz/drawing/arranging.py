"""Arrange the graph of a diagnosed trace under a view, and compose its scene.

The one sequence that the window, the command line and the tests run: build, fold, lay out, compose.
"""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from dataclasses import dataclass, field, replace

import networkx as nx

from ..analysis.diagnose import default_call
from ..analysis.model import CallDiagnosis, Diagnosis
from ..analysis.python.outside import follow
from ..errors import go_on
from ..graph.alike import counterparts, matches
from ..graph.build import build
from ..graph.groups.fold import group_id
from ..graph.groups.opening import MOST_BOXES, any_turn
from ..graph.groups.tree import grow, upwards
from ..graph.model import NodeId
from ..graph.op_graph import OpGraph
from ..graph.trace_index import calls_by_id
from ..graph.union import edge_in_union, frames_in, unite
from ..layout.model import EMPTY_LAYOUT, Layout
from ..layout.room.widening import widened
from ..scene.compose import compose
from ..scene.model import Overlay, Scene
from ..scene.parts.frames import frame_width
from ..trace.calls import Call
from ..trace.ids import CallId
from ..trace.model import Trace
from ..view import DEFAULT_VIEW, View
from .first_view import FULL, Detail, first_view, folded_in, grown, most_legible, opening_in, placed
from .named_frames import NO_SHOWN_NAMES, ShownNames


@dataclass(frozen=True, slots=True)
class FirstOpening:
    """The groups that the program opened, before the user's choices.

    ``place``: the gradient call's site and method; ``most``: how many boxes there may be; ``pins``:
    the index in :attr:`OpGraph.pins` of the nodes that are never folded away; ``ruled``: see
    :func:`~tapeviz.graph.groups.opening.choose_open`; ``detail``: what boxes show; ``names``: the
    open groups whose name is shown.
    """

    place: Hashable = None
    most: int = MOST_BOXES
    pins: int = 0
    ruled: Mapping[str, bool] = field(default_factory=dict)
    detail: Detail = FULL
    names: ShownNames = NO_SHOWN_NAMES


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


_GAPS = 1.3
"""The most boxes of several rounds together, as a multiple of those of one."""


def arrange(
    trace: Trace, view: View, call: int | None = None, before: Arranged | None = None
) -> Arranged:
    """The graph of a gradient call as the view wants it, each node and edge in its place.

    Depends on everything in the view but its overlay. ``call``: the id of the gradient call;
    None: the one that a diagnosis would show first. ``before``: the arrangement of another call, or
    before the user folded something. Where the graph of another call is alike, nothing moves unless
    a wider value has no room; another round of the same call opens the same groups.
    """
    built = built_graph(trace, view, call)
    go_on()
    drawn = _drawn_call(trace, call)
    place = (drawn.site.id, drawn.method) if drawn is not None else None
    if before is not None and _plain(before.view) == _plain(view):
        first = before.first_opening
        tree = grown(built, trace, view, first.pins)
        is_round = first.place == place
        ruled = first.ruled if is_round else {}
        opening = opening_in(built, tree, trace, view, first.most, ruled)
        if ruled and any(opening.ruled[path] for path in opening.ruled.keys() - ruled.keys()):
            again = most_legible(built, tree, trace, _plain(view), ruled, detail=first.detail)
            opening = opening_in(built, tree, trace, view, again.most, ruled)
        sized = folded_in(built, tree, trace, view, opening, first.detail, first.names)
        is_folded = (before.view.folded, before.view.unfolded) != (view.folded, view.unfolded)
        same = {} if is_folded else counterparts(before.graph, sized)
        if same or is_round:
            first = replace(first, place=place, ruled={**opening.ruled, **ruled})
            kept = _kept(before, sized, same) if same else None
            if kept is not None:
                return Arranged(sized, kept, same, view, first, before.laid)
            if is_round and not is_folded:
                return _beside(before, sized, view, first)
            _note_places(before, sized)
            return Arranged(sized, placed(sized, view), same, view, first, sized)
    # What the user folds or opens leaves the other groups as they are.
    best = first_view(built, trace, _plain(view))
    sized = best.sized
    if _plain(view) != view:
        tree = grown(built, trace, view, best.pins)
        opening = opening_in(built, tree, trace, view, best.most, best.opening.ruled)
        sized = folded_in(built, tree, trace, view, opening, best.detail, best.names)
    ruled = best.opening.ruled
    first = FirstOpening(place, best.most, best.pins, ruled, best.detail, best.names)
    return Arranged(sized, placed(sized, view), {}, view, first, sized)


def _note_places(before: Arranged, sized: nx.MultiDiGraph) -> None:
    """Note where each node, or the group that it was in, stood across the flow, so that the layout
    keeps the order of what stays."""
    rects, is_down = before.layout.rects, before.view.direction == "down"
    for name, data in sized.nodes(data=True):
        node = data["node"]
        around = (group_id(path) for path in upwards(node.group))
        stood = next((each for each in (name, *around) if each in rects), None)
        found = [rects[each] for each in ((stood,) if stood else node.members) if each in rects]
        if found:
            data["before"] = sum(rect.x if is_down else rect.y for rect in found) / len(found)


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
    came_back = follow(trace).came_back
    return build(trace, chosen, shows_all=view.shows_all, came_back=came_back, opened=view.unfolded)


def _drawn_call(trace: Trace, call: int | None) -> Call | None:
    known = calls_by_id(trace).get(CallId(call)) if call is not None else None
    return known if known is not None else default_call(trace)


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
