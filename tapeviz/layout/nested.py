"""Lay a graph out whose nodes stand in frames, with a rectangle for each frame.

The inside of each frame is laid out by itself, the innermost first, and is then a box in the level
around it. An edge across a border goes through a port: a small node at the border of the inside,
shared by all edges of one value.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import pairwise
from math import inf

import networkx as nx

from .bundling import Bundled
from .engines import lay_out
from .layered.routing import LEAVE
from .level import FrameLevel, LevelPart, boxes_in, frame_box, is_port_in, sides
from .model import EdgeKey, Layout, Point, Rect
from .room.fitting import fitted

HEADER = 36.0
"""Px above the inside of a frame, for its title. Values that come in run straight down behind it:
their ports stand in it, and wires bend below it."""
_SLACK = 0.01
"""Weight of the edges that keep the first nodes below the ports."""
PADDING = 22.0
LANE = 16.0
"""Px on the right of the inside for each value that goes back to the first turn's beginning."""
_STUB = 13.0
_CORNER = 14.0
_LABEL = 12.0
"""Px below the title, for the words of a ring above a box."""
_PORT = 2.0
_ANCHOR = 60.0
"""Weight of the edges that hold ports at the border."""


def lay_out_nested(
    graph: nx.MultiDiGraph,
    parents: Mapping[str, str],
    widths: Mapping[str, tuple[float, float]],
    *,
    name: str = "layered",
    direction: str = "down",
    room: tuple[float, float] | None = None,
    may_wrap: bool = True,
    is_draft: bool = False,
) -> Layout:
    """Like :func:`lay_out`, with a rectangle for each frame in the result's ``frames``.

    ``parents``: the frame around each frame (``""`` for none); the attribute ``frame`` of a node is
    its innermost one, ``before`` its place across the flow in the picture before, px. ``widths``:
    px that the words on the left and those on the right of a frame's header need. An edge with the
    attribute ``carried`` runs back to the beginning of a frame, along its border. ``room``: width
    and height in px that the picture should fill, for which a tall one, or a tall inside of a
    frame, is cut into columns if it ``may_wrap``. Only the layered layout draws frames.
    """
    if name != "layered":
        return lay_out(graph, name=name, direction=direction)
    bundled = Bundled(graph)
    if not parents:
        made = fitted(bundled.graph, direction, room, may_wrap=may_wrap, is_draft=is_draft)
        return bundled.unbundled(made)
    carried = [(a, b, k) for a, b, k, is_back in graph.edges(keys=True, data="carried") if is_back]
    nested = _Nested(bundled.graph, parents, widths, direction, carried, room, may_wrap, is_draft)
    return bundled.unbundled(nested.laid())


class _Nested:
    def __init__(
        self,
        graph: nx.MultiDiGraph,
        parents: Mapping[str, str],
        widths: Mapping[str, tuple[float, float]],
        direction: str,
        carried: Sequence[EdgeKey],
        room: tuple[float, float] | None,
        may_wrap: bool,
        is_draft: bool,
    ) -> None:
        self._room = room
        self._is_draft = is_draft
        self._may_wrap = may_wrap
        self._graph = graph
        self._parents = parents
        self._widths = widths
        self._is_down = direction == "down"
        self._direction = direction
        self._carried = frozenset(carried)
        self._home: dict[str, str] = dict(graph.nodes(data="frame", default=""))
        self._levels: dict[str, FrameLevel] = {path: FrameLevel() for path in ("", *parents)}
        self._parts: dict[EdgeKey, list[tuple[str, LevelPart, str]]] = {}

    def laid(self) -> Layout:
        self._split()
        for path in sorted(self._parents, key=self._depth, reverse=True):
            self._lay_inside(path)
        root = self._levels[""]
        root.layout = self._laid_out(root.graph)
        rects: dict[str, Rect] = {}
        frames: dict[str, Rect] = {}
        for path in sorted(self._parents, key=self._depth):
            self._place(path, frames)
        for node, home in self._home.items():
            level = self._levels[home]
            assert level.layout is not None
            rects[node] = level.layout.rects[node].moved(*level.corner)
        keys = list(self._graph.edges(keys=True))
        found = {key: self._joined(key, frames) for key in keys if key not in self._carried}
        for key in keys:
            if key in self._carried:
                found[key] = self._back(key, rects, frames, found)
        order = {node: rects[node] for node in self._graph}
        routes = {key: found[key] for key in keys}
        return replace(root.layout, rects=order, routes=routes, frames=frames)

    def _laid_out(self, graph: nx.MultiDiGraph, may_wrap: bool = True) -> Layout:
        may_wrap, is_draft = may_wrap and self._may_wrap, self._is_draft
        return fitted(graph, self._direction, self._room, may_wrap=may_wrap, is_draft=is_draft)

    def _depth(self, path: str) -> int:
        return len(self._chain(path))

    def _chain(self, path: str) -> list[str]:
        """The frame, then the frames around it; the last is the whole picture (``""``)."""
        chain = [path]
        while chain[-1]:
            chain.append(self._parents[chain[-1]])
        return chain

    # The graph of each level.

    def _split(self) -> None:
        for node, home in self._home.items():
            data = self._graph.nodes[node]
            sizes = {name: data[name] for name in ("width", "height", "before") if name in data}
            self._levels[home].graph.add_node(node, **sizes)
        for path in sorted(self._parents, key=self._depth, reverse=True):
            inside = self._levels[path].graph.nodes(data="before")
            known = [before for _, before in inside if before is not None]
            sizes = {"before": sum(known) / len(known)} if known else {}
            around = self._levels[self._parents[path]].graph
            around.add_node(frame_box(path), width=0, height=0, **sizes)
        for source, target, key, data in self._graph.edges(keys=True, data=True):
            edge = (source, target, key)
            if edge in self._carried:
                lanes = self._levels[self._common(source, target)[0]].lanes
                if source not in lanes:
                    lanes.append(source)
            else:
                self._add_edge(edge, float(data.get("weight", 1.0)))

    def _common(self, source: str, target: str) -> tuple[str, list[str], list[str]]:
        """The innermost frame around both nodes, then the frames between it and each of them, the
        innermost first."""
        out, into = self._chain(self._home[source]), self._chain(self._home[target])
        shared = next(path for path in out if path in into)
        return shared, out[: out.index(shared)], into[: into.index(shared)]

    def _add_edge(self, edge: EdgeKey, weight: float) -> None:
        source, target, key = edge
        shared, out, into = self._common(source, target)
        parts: list[tuple[str, LevelPart, str]] = []
        at = source
        for path in out:
            port = f"out:{source}"
            parts.append((path, self._part(path, at, port, source, weight), "out"))
            at = frame_box(path)
        end = frame_box(into[-1]) if into else target
        name = source if out or into else f"{source} {key}"
        parts.append((shared, self._part(shared, at, end, name, weight), ""))
        for place in range(len(into) - 1, -1, -1):
            inner = frame_box(into[place - 1]) if place else target
            path, port = into[place], f"in:{source}"
            parts.append(
                (
                    path,
                    self._part(
                        path, port, inner, f"{source} {key}" if not place else source, weight
                    ),
                    "in",
                )
            )
        self._parts[edge] = parts

    def _part(self, path: str, start: str, end: str, name: str, weight: float) -> LevelPart:
        level = self._levels[path]
        known = level.made.get((start, end, name))
        if known is None:
            for port in (start, end):
                if port not in level.graph:
                    is_behind = self._is_down and is_port_in(port)
                    height = HEADER - 2 * LEAVE if is_behind else _PORT
                    level.graph.add_node(port, width=_PORT, height=height)
                    if is_port_in(port):
                        self._anchor(level, "top", port)
                    else:
                        self._anchor(level, port, "bottom")
            number = level.graph.add_edge(start, end, weight=weight)
            known = level.made[start, end, name] = (start, end, number)
        return known

    def _anchor(self, level: FrameLevel, start: str, end: str) -> None:
        level.graph.add_node("top" if start == "top" else "bottom", width=_PORT, height=_PORT)
        level.graph.add_edge(start, end, weight=_ANCHOR, pull=0.0)

    # Sizes and places.

    def _lay_inside(self, path: str) -> None:
        level = self._levels[path]
        title = self._widths.get(path, (0.0, 0.0))
        has_row = self._is_down and "top" in level.graph
        lanes = LANE * len(level.lanes) if self._is_down else 0.0
        margins = 2 * PADDING + lanes
        if has_row:
            port = next(iter(level.graph.successors("top")))
            begins = [n for n in level.graph if n != "top" and not level.graph.in_degree(n)]
            for node in begins:  # below the ports
                level.graph.add_edge(port, node, weight=_SLACK, pull=0.0)
        level.layout = self._laid_out(level.graph, may_wrap=not level.lanes)
        left, top, right, bottom = sides(level)
        # What goes out bends in the lower margin.
        above, below = HEADER, PADDING
        if has_row:
            above = LEAVE
        elif self._is_down:
            above = HEADER + _LABEL
        if self._is_down:
            below = max(0.0, PADDING - (bottom - max(r.bottom for r in boxes_in(level))))
        across = right - left + margins
        along = bottom - top + above + below
        if not self._is_down:
            along += LANE * len(level.lanes)
        spare = max(0.0, sum(title) - across)
        level.corner = (PADDING + spare / 2 - left, above - top)
        self._hold_ports(path, across + spare, along)

    def _hold_ports(self, path: str, width: float, height: float) -> None:
        """Set the size of the frame in the level around it, and dock its edges at the ports."""
        level, around = self._levels[path], self._levels[self._parents[path]]
        box = frame_box(path)
        around.graph.nodes[box].update(width=width, height=height)
        for (start, end, name), part in around.made.items():
            if start == box:
                around.graph.edges[part]["tail_at"] = self._aside(level, f"out:{name}", box, around)
            if end == box:
                around.graph.edges[part]["head_at"] = self._aside(level, f"in:{name}", box, around)

    def _aside(self, level: FrameLevel, port: str, box: str, around: FrameLevel) -> float:
        """Px from the middle of a frame's border to a port in it."""
        assert level.layout is not None
        rect, data = level.layout.rects[port], around.graph.nodes[box]
        if self._is_down:
            return rect.x + level.corner[0] - float(data["width"]) / 2
        return rect.y + level.corner[1] - float(data["height"]) / 2

    def _place(self, path: str, frames: dict[str, Rect]) -> None:
        around = self._levels[self._parents[path]]
        assert around.layout is not None
        rect = around.layout.rects[frame_box(path)].moved(*around.corner)
        frames[path] = rect
        level = self._levels[path]
        level.corner = (level.corner[0] + rect.left, level.corner[1] + rect.top)

    # Routes.

    def _joined(self, edge: EdgeKey, frames: Mapping[str, Rect]) -> tuple[Point, ...]:
        """The route of an edge: its parts in all levels, joined at the ports."""
        points: list[Point] = []
        for path, part, side in self._parts[edge]:
            level = self._levels[path]
            assert level.layout is not None
            dx, dy = level.corner
            line = [(x + dx, y + dy) for x, y in level.layout.routes[part]]
            if side == "out":
                line.append(self._border(line[-1], frames[path], is_end=True))
            elif side == "in":
                line.insert(0, self._border(line[0], frames[path], is_end=False))
            points.extend(line[1:] if points else line)
        return tuple(points)

    def _border(self, port: Point, frame: Rect, *, is_end: bool) -> Point:
        if self._is_down:
            return (port[0], frame.bottom if is_end else frame.top)
        return (frame.right if is_end else frame.left, port[1])

    def _back(
        self,
        edge: EdgeKey,
        rects: Mapping[str, Rect],
        frames: Mapping[str, Rect],
        routes: Mapping[EdgeKey, tuple[Point, ...]],
    ) -> tuple[Point, ...]:
        """The route of an edge that goes from turn to turn: from the source to the border of the
        frame, along it, and back into the target. ``routes``: those of the edges before it."""
        source, target = rects[edge[0]], rects[edge[1]]
        path = self._common(edge[0], edge[1])[0]
        if self._is_down:
            start, end = source.right - _CORNER, target.right - _CORNER
            low, high = source.bottom + _STUB, target.top - _STUB
            x = self._lane_beside(edge, rects, frames, routes)
            return (
                *((start, source.bottom), (start, low), (x, low)),
                *((x, high), (end, high), (end, target.top)),
            )
        lane = LANE * (self._levels[path].lanes.index(edge[0]) + 0.5)
        y = frames[path].bottom - PADDING / 2 - lane if path else source.bottom + lane
        start, end = source.y + source.height / 4, target.y + target.height / 4
        far, near = source.right + _STUB, target.left - _STUB
        return (
            *((source.right, start), (far, start), (far, y)),
            *((near, y), (near, end), (target.left, end)),
        )

    def _lane_beside(
        self,
        edge: EdgeKey,
        rects: Mapping[str, Rect],
        frames: Mapping[str, Rect],
        routes: Mapping[EdgeKey, tuple[Point, ...]],
    ) -> float:
        """The x at which a way up from the source to the target passes right of all boxes and
        frames, and of all upright wires but those of the same value."""
        path = self._common(edge[0], edge[1])[0]
        source, target = rects[edge[0]], rects[edge[1]]
        beside = [(rect, LANE) for rect in rects.values()]
        beside += [(frames[name], LANE) for name in frames if path in self._chain(name)[1:]]
        for (start, _, _), line in routes.items():
            if start != edge[0]:
                beside += [
                    (Rect.from_sides(x, min(y, low), x, max(y, low)), LANE / 2)
                    for (x, y), (other, low) in pairwise(line)
                    if x == other
                ]
        border = frames[path].right if path else inf
        x = max(source.right, target.right) + LANE
        for rect, gap in sorted(beside, key=lambda each: each[0].left):
            is_level = rect.bottom > target.top - LANE and rect.top < source.bottom + LANE
            if is_level and rect.left - gap < x < rect.right + gap and rect.left < border:
                x = rect.right + gap
        return x
