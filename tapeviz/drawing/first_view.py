"""Choose what stands open when a picture is first seen, so that it can be read.

Groups open as long as the text stays legible in the room that there is; drafts of the layout tell.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping
from dataclasses import dataclass, replace
from typing import NamedTuple

import networkx as nx

from ..errors import go_on
from ..graph.chips import chip
from ..graph.groups.fold import fold
from ..graph.groups.opening import MOST_BOXES, OpenGroups, any_turn, choose_open
from ..graph.groups.tree import Tree, grow, upwards
from ..graph.nodes import op_id
from ..graph.op_graph import OpGraph
from ..graph.union import frames_in
from ..layout import lay_out_nested
from ..layout.model import Layout, Rect
from ..layout.room.row_gaps import loosened, squeezed
from ..layout.room.wrapping import scale_in
from ..scene.parts.frames import frame_width
from ..scene.sizes import LEGIBLE, with_sizes
from ..trace.calls import Call
from ..trace.compiled.raised import op_that_raised
from ..trace.model import Trace
from ..trace.ops import Op
from ..view import View
from .named_frames import (
    NO_SHOWN_NAMES,
    ShownNames,
    around,
    telling_in,
    worth_a_frame,
    worth_a_name,
)

_ONWARD = 8.0
_NEARLY = 0.98
"""The part of a legible scale at which no source is folded away to make a picture larger."""
_QUICK = 20_000
"""Ops of a recording, or nodes of a graph, of which more ways to fold are tried."""
_RINGS = (11.0, 32.0)
"""Px that rings and their words reach out beyond a layout, across and along: together of both
sides."""
_SMALL = 4
"""The power with which smaller text counts: of a picture that is too large, parts are out of
sight."""
_MORE = 0.25
"""The weight of the number of boxes against that of text that is smaller than it should be."""
_STEP = 0.95
"""The part of its boxes that the next smaller picture to be tried has at most; less if its text is
much too small."""
_LARGER = 1.1
"""A picture too small to be read is left for a draft that can be read, or is larger by this
factor."""
_FEW, _BARE = 8, 2
"""Fewer boxes say little, as a model is more than its name; the power with which that counts."""

_SEVERAL = 2
"""Variables of which it is worth to try boxes with a single line; frames that tell what is alike
apart, as two calls of a model, so that fewer boxes are worth them."""
_NARROWER = 1.5
"""Without pictures of arrays at most this many times as many boxes are tried."""
_MOST_OF = 0.7
"""The part of the boxes of ops and groups that stay where a frame with a name is drawn instead."""
_TELLING = 4
"""With fewer boxes of ops and groups, or with the main loop closed, beside as many of sources and
other values, another way to show the sources is tried."""


class Detail(NamedTuple):
    """The content of boxes. ``arrays``: small pictures of arrays; ``flat``: variables have a single
    line; ``short``: titles are cut earlier, so that boxes are narrower."""

    arrays: bool = True
    flat: bool = False
    short: bool = False


FULL, FLAT, BARE, LEAST = Detail(), Detail(True, True), Detail(False), Detail(False, True)


@dataclass(frozen=True, slots=True)
class Chosen:
    """A folded graph; ``most``: the most boxes that it was chosen with; ``scale``: at which its
    draft fits into the room; ``detail``: what its boxes show; ``pins``: the index of the pins in
    :attr:`OpGraph.pins`; ``names``: the open groups whose name it shows."""

    sized: nx.MultiDiGraph
    opening: OpenGroups
    most: int
    scale: float = LEGIBLE
    detail: Detail = FULL
    pins: int = 0
    names: ShownNames = NO_SHOWN_NAMES

    @property
    def worth(self) -> float:
        return worth_of(self.scale, len(self.sized))

    @property
    def is_legible(self) -> bool:
        """Whether its text can be read, or nearly."""
        return self.scale >= _NEARLY * LEGIBLE

    @property
    def narrower(self) -> int:
        """The most boxes to try without pictures of arrays."""
        return min(math.ceil(_NARROWER * self.opening.boxes), MOST_BOXES)

    @property
    def telling(self) -> int:
        """The number of boxes that show what was computed: of ops and groups."""
        return telling_in(self.sized)


def grown(built: OpGraph, trace: Trace, view: View, pins: int) -> Tree:
    """The groups of a graph with all nodes pinned that can be, or with fewer."""
    built.pin(built.pins[min(pins, len(built.pins) - 1)])
    go_on()
    tree = grow(built, trace, view.grouping)
    go_on()
    return tree


def first_view(built: OpGraph, trace: Trace, view: View) -> Chosen:
    """The folded graph of a first view, with the names of open layers and functions where its text
    can be read with them, too."""
    views = _Views(built, trace, view)
    return views.with_names(views.with_frames(_opened(views, built, trace)))


def _opened(views: _Views, built: OpGraph, trace: Trace) -> Chosen:
    """The folded graph of a first view, without frames.

    Where there is no room for the boxes of sources with two lines, these get one line. Sources
    that stand apart are folded into their model where even that leaves no room for more of it than
    its name, or for a loop to stand open that has most of the ops; those that got no gradient only
    where no picture with them can be read. Boxes show no arrays where that lets the text be read,
    sources without gradient and the origin of NaN be shown, or a loop stand open.
    """
    choices = [(pins, detail) for pins in range(len(built.pins)) for detail in views.details(pins)]
    found: list[Chosen] = []
    for pins, detail in choices:
        found.append(views.most_legible(pins, detail))
        if found[-1].is_legible:
            break
    best = max(found, key=lambda chosen: chosen.worth)
    if not best.is_legible or built.pins[best.pins].hides > built.pins[0].hides:
        return _without_pictures(views, built, best)
    for pins, detail in choices[len(found) :]:
        is_veiled = best.telling < _TELLING or views.hides_main_loop(best)
        others = len(best.sized) - best.telling
        takes_room = others >= _TELLING and (is_veiled or (detail.flat and others >= best.telling))
        is_bare = len(best.sized) < _FEW and len(trace.ops) <= _QUICK
        hides_more = built.pins[pins].hides > built.pins[best.pins].hides
        if not (takes_room or is_bare) or not best.opening.closed or hides_more:
            break
        other = views.most_legible(pins, detail)
        is_poor = is_bare or best.telling < _TELLING
        is_worth = is_poor or pins == best.pins or not views.hides_main_loop(other)
        if other.scale >= LEGIBLE and other.telling > best.telling and is_worth:
            best = other
    if best.opening.has_closed_loops and len(trace.ops) <= _QUICK:
        for detail in (BARE, LEAST)[: len(views.details(best.pins))]:
            other = views.most_legible(best.pins, detail, best.narrower)
            if other.scale >= LEGIBLE and other.opening.open_loops > best.opening.open_loops:
                return other
    return best


def _without_pictures(views: _Views, built: OpGraph, best: Chosen) -> Chosen:
    """The first graph without pictures of arrays that can be read, where ``best``, which has them,
    cannot be read, or hides more; else the best of all."""
    choices = [(pins, detail) for pins in range(len(built.pins)) for detail in views.details(pins)]
    for pins, detail in choices:
        if best.is_legible and built.pins[pins].hides:
            break
        other = views.most_legible(pins, detail._replace(arrays=False), best.narrower)
        if other.is_legible:
            return other
        best = max(best, other, key=lambda chosen: chosen.worth)
    return best


class _Views:
    """The most legible graphs with other nodes pinned. A tree is grown once for each of these."""

    def __init__(self, built: OpGraph, trace: Trace, view: View) -> None:
        self._built, self._trace, self._view = built, trace, view
        self._trees: dict[int, Tree] = {}

    def details(self, pins: int) -> tuple[Detail, ...]:
        """The contents that boxes may have with these pins: variables in a single line, too, where
        several of them stand apart."""
        built = self._built
        variables = sum(built.role(place) == "variable" for place in built.pins[pins].pinned)
        return (FULL, FLAT) if variables >= _SEVERAL and len(built) <= _QUICK else (FULL,)

    def most_legible(
        self, pins: int, detail: Detail, most: int = MOST_BOXES, *, is_framed: bool = False
    ) -> Chosen:
        """The most legible graph with these pins, with at most so many boxes; ``is_framed``: with
        frames around open layers and functions."""
        built, trace, view = self._built, self._trace, self._view
        if pins not in self._trees:
            self._trees[pins] = grown(built, trace, view, pins)
        built.pin(built.pins[pins])
        tree = self._trees[pins]
        chosen = most_legible(
            built, tree, trace, view, most=most, detail=detail, is_framed=is_framed
        )
        return replace(chosen, pins=pins)

    def with_frames(self, chosen: Chosen) -> Chosen:
        """The same graph with frames around open layers and functions. Where its text could not be
        read, one with most of its boxes and several frames; else with frames around the outermost
        of them, or without any."""
        built, trace, view = self._built, self._trace, self._view
        if view.layout != "layered" or view.grouping or len(built) > _QUICK:
            return chosen
        tree = self._trees[chosen.pins]
        built.pin(built.pins[chosen.pins])
        every = worth_a_frame(chosen.sized, tree)
        if not every or not chosen.is_legible:
            return chosen
        drafts = _Drafts(built, tree, trace, view, None, chosen.detail)
        if (framed := drafts.named(chosen, _framing(every))).is_legible:
            return framed
        if len(every) >= _SEVERAL:
            fewer = self.most_legible(chosen.pins, chosen.detail, chosen.most, is_framed=True)
            are_open = fewer.opening.open_loops >= chosen.opening.open_loops
            tells = (
                len(fewer.names.framed) >= _SEVERAL and fewer.telling >= _MOST_OF * chosen.telling
            )
            if fewer.is_legible and are_open and tells:
                return fewer
        outermost = {path for path in every if every.isdisjoint(around(path))}
        if outermost != every:
            framed = drafts.named(chosen, _framing(outermost))
            return framed if framed.is_legible else chosen
        return chosen

    def with_names(self, chosen: Chosen) -> Chosen:
        """The same graph in which closed groups tell the open layer or function without a frame
        that they are in, if its text can be read then."""
        built, trace, view = self._built, self._trace, self._view
        if view.layout != "layered" or view.grouping or len(built) > _QUICK:
            return chosen
        tree = self._trees[chosen.pins]
        paths = worth_a_name(chosen.sized, tree) if chosen.is_legible else set()
        written = frozenset(map(any_turn, paths)) - chosen.names.framed
        if not written:
            return chosen
        built.pin(built.pins[chosen.pins])
        drafts = _Drafts(built, tree, trace, view, None, chosen.detail)
        named = drafts.named(chosen, chosen.names._replace(written=written))
        return named if named.is_legible else chosen

    def hides_main_loop(self, chosen: Chosen) -> bool:
        """Whether a loop with more than half of the ops is closed, or is in a closed group."""
        if len(self._trace.ops) > _QUICK or not chosen.opening.has_closed_loops:
            return False
        most = sum(isinstance(part, Op) for part in self._built.parts) / 2
        groups = self._trees[chosen.pins].groups.values()
        return any(
            group.count and group.ops > most and group.path in chosen.opening.closed
            for group in groups
        )


def most_legible(
    built: OpGraph,
    tree: Tree,
    trace: Trace,
    view: View,
    ruled: Mapping[str, bool] | None = None,
    *,
    most: int = MOST_BOXES,
    detail: Detail = FULL,
    is_framed: bool = False,
) -> Chosen:
    """The folded graph with as many boxes as can still be read, of those with more or fewer groups
    open. Drafts tell how large their pictures are. ``ruled``: see :func:`opening_in`; ``most``: the
    most boxes to begin with; ``is_framed``: with frames around open layers and functions."""
    drafts = _Drafts(built, tree, trace, view, ruled, detail, is_framed)
    opening = drafts.opening(0 if view.grouping else most)
    best = chosen = drafts.chosen(opening, 0 if view.grouping else most)
    larger: OpenGroups | None = None
    while chosen.scale < LEGIBLE:
        larger = opening
        most = math.ceil(larger.boxes * math.sqrt(chosen.scale / LEGIBLE))
        most = min(most, int(larger.boxes * _STEP))
        opening = drafts.opening(most)
        if opening.closed == larger.closed:  # the rest is never closed
            return best
        chosen = drafts.chosen(opening, most)
        if chosen.worth > best.worth:
            best = chosen
    if larger is None or best is not chosen or len(built) > _QUICK:
        return best
    return drafts.fuller(best, larger)


class _Drafts:
    """Folded graphs with more or fewer groups open; see :func:`most_legible`."""

    def __init__(
        self,
        built: OpGraph,
        tree: Tree,
        trace: Trace,
        view: View,
        ruled: Mapping[str, bool] | None,
        detail: Detail,
        is_framed: bool = False,
    ) -> None:
        self._parts = built, tree, trace, view
        self._ruled = ruled
        self._detail = detail
        self._is_framed = is_framed

    def opening(self, most: int, ruled: Mapping[str, bool] | None = None) -> OpenGroups:
        """The groups to open with at most so many boxes; ``ruled``: groups that are decided."""
        return opening_in(*self._parts, most, {**(ruled or {}), **(self._ruled or {})})

    def chosen(self, opening: OpenGroups, most: int) -> Chosen:
        """The graph with these groups open, at the scale of its draft."""
        view = self._parts[-1]
        sized = folded_in(*self._parts, opening, self._detail)
        if view.layout != "layered" or view.grouping:
            return Chosen(sized, opening, most)
        chosen = Chosen(sized, opening, most, detail=self._detail)
        paths = worth_a_frame(sized, self._parts[1]) if self._is_framed else set()
        return self.named(chosen, _framing(paths))

    def named(self, chosen: Chosen, names: ShownNames) -> Chosen:
        """The same graph with the names of these groups, at the scale of its draft."""
        view, sized = self._parts[-1], chosen.sized
        if names != NO_SHOWN_NAMES:
            sized = folded_in(*self._parts, chosen.opening, self._detail, names)
        go_on()
        scale = shown_scale(placed(sized, view, is_draft=True), view.room)
        return replace(chosen, sized=sized, scale=scale, names=names)

    def fuller(self, best: Chosen, larger: OpenGroups) -> Chosen:
        """A graph with more boxes than ``best`` that can be read, too, if one is found: nearly as
        many as the next ``larger`` one, which could not be read, or more groups than those open in
        it but closed in ``best``."""
        opened = best.opening.ruled
        ruled = {path: False for path, is_open in larger.ruled.items() if is_open}
        ruled |= {path: True for path, is_open in opened.items() if is_open}
        has_room = int(best.opening.boxes * (best.scale / LEGIBLE) ** 2)
        most = min(max(has_room, larger.boxes), MOST_BOXES)
        found = best
        for count, is_ruled in ((larger.boxes - 1, False), (most, True), (has_room, True)):
            opening = self.opening(count, ruled if is_ruled else None)
            if opening.boxes > found.opening.boxes and opening.closed != larger.closed:
                chosen = self.chosen(opening, count)
                found = chosen if chosen.scale >= LEGIBLE else found
        return found


def _framing(paths: Collection[str]) -> ShownNames:
    return ShownNames(framed=frozenset(map(any_turn, paths)))


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
    closer where all of it can then be read, and farther apart where there is room."""
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
    made = fitted_rows(layout, view.room, _NEARLY * LEGIBLE)
    if not is_draft and (scale := shown_scale(made, view.room)) < LEGIBLE:
        draft = placed(sized, view, is_draft=True)  # it has more crossings
        return draft if shown_scale(draft, view.room) >= min(_LARGER * scale, LEGIBLE) else made
    return made


def fitted_rows(layout: Layout, room: tuple[float, float], least: float) -> Layout:
    """The layout with its rows closer where its text is too small in a room (width, height), if
    that makes a scale of ``least``; and farther apart where there is more room than it needs."""
    (across, along), (beside, above) = room, _RINGS
    made = squeezed(layout, (across / LEGIBLE - beside, along / LEGIBLE - above))
    made = made if shown_scale(made, room) >= least else layout
    return loosened(made, (across - beside, along - above))


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
        turns={**_turns_of_branch(built.call, tree), **dict(view.turns)},
        most=most,
        ruled=ruled,
    )


def _turns_of_branch(call: Call | None, tree: Tree) -> dict[str, int]:
    """Map the paths of compiled loops to the turn that they show, if it is not the last: that in
    which the gradient call ran, which is in a branch."""
    found: dict[str, int] = {}
    if call is None or not call.in_branch:
        return found
    for path, group in tree.groups.items():
        key = group.loop.earlier_turn(call.results) if group.loop is not None else ()
        loops = [above for above in upwards(path) if tree.groups[above].loop is not None]
        found |= {above: turn + 1 for above, turn in zip(reversed(loops), key, strict=False)}
    return found


def folded_in(
    built: OpGraph,
    tree: Tree,
    trace: Trace,
    view: View,
    opening: OpenGroups,
    detail: Detail = FULL,
    names: ShownNames = NO_SHOWN_NAMES,
) -> nx.MultiDiGraph:
    """The folded graph, ready to be laid out: boxes have sizes, and edges weights. ``names``: see
    :class:`Chosen`."""
    framed, written = ({path for path in tree.groups if any_turn(path) in some} for some in names)
    framed |= view.unfolded | _around_what_raised(built, tree, trace)
    # Edges along which values go on weigh more than those of values that begin there. So the
    # layout keeps the run of the computation straight, and its weights and constants aside.
    pinned = [built.names[place] for place in built.pinned]
    folded = chip(fold(built, tree, opening, framed, written), pinned)
    if detail != FULL:
        for _, attributes in folded.nodes(data=True):
            node = attributes["node"]
            is_flat = detail.flat and node.role == "variable"
            attributes["node"] = replace(
                node, has_picture=detail.arrays, is_flat=is_flat, is_short=detail.short
            )
    graph = with_sizes(folded, trace)
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
