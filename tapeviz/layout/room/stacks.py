"""Stack sources that stand side by side in one wide row.

The boxes of a stack stand one below the other, each a little further right, so that the edges of
those above run down straight beside it; if all lead to one trunk, this runs down between the stacks
instead. The layered layout sees a stack as one box.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import groupby

import networkx as nx

from ..bundling import is_trunk
from ..model import EdgeKey, Layout, Point, Rect

LEAST = 2
"""Sources in a row that are worth it, at least."""
WIDE = 0.35
"""The part of the picture's width that such a row has at least."""
DOCK = 19.0
"""Px from the left end of a box to its edges."""
BESIDE = 11.0
"""Px from such an edge to the next box of the stack."""
GAP = 24.0
"""Px between two boxes of a stack."""
TO_TRUNK = 14.0
"""Px from the widest box of a stack to the trunk beside it."""
CLEAR = 11.0
"""Px below a box at which its edge goes over to the trunk, clear of a ring."""
LEAST_TO_TRUNK = 3
"""Boxes of such a stack, at least."""


@dataclass(frozen=True, slots=True)
class _Stack:
    """``boxes``: each node's box, the uppermost first; ``docks``: where its edges leave; ``trunk``:
    where their common trunk runs, if they have one; all from the middle of the stack."""

    name: str
    width: float
    height: float
    boxes: Mapping[str, Rect]
    docks: Mapping[str, float]
    trunk: float | None = None


def choose_stacks(graph: nx.MultiDiGraph, layout: Layout, rows: int) -> list[list[str]]:
    """The sources of each wide row, ``rows`` to a stack; neighbours stay neighbours, those that
    lead into frames in the order of the places where they enter."""
    if layout.direction != "down":
        return []
    stacks: list[list[str]] = []
    by_row = sorted(layout.rects.items(), key=lambda item: (round(item[1].y), item[1].x))
    for _, row in groupby(by_row, key=lambda item: round(item[1].y)):
        boxes = list(row)
        width = boxes[-1][1].right - boxes[0][1].left
        sources = [name for name, _ in boxes if _is_free(graph, name)]
        sources.sort(key=lambda name: _leads_to(graph, layout, name))
        if width > WIDE * layout.bounds.width:
            for some, least in _of_one_kind(graph, sources, rows):
                if len(some) >= least:
                    starts = range(0, len(some), rows)
                    stacks += (some[start : start + rows] for start in starts)
    return [stack for stack in stacks if len(stack) > 1]


def _leads_to(graph: nx.MultiDiGraph, layout: Layout, name: str) -> float:
    """The mean x at which the edges of a source enter frames; its own x if some enter none."""
    docks = [(target, at) for _, target, at in graph.out_edges(name, data="head_at")]
    if not docks or any(at is None for _, at in docks):
        return layout.rects[name].x
    return float(sum([layout.rects[target].x + at for target, at in docks]) / len(docks))


def _of_one_kind(
    graph: nx.MultiDiGraph, sources: Sequence[str], rows: int
) -> Iterator[tuple[list[str], int]]:
    """The sources that lead to one trunk, for each trunk, then all others; with the least number
    of them that makes stacks."""
    trunks = {name: _trunk_of(graph, name) for name in sources}
    for trunk in dict.fromkeys(trunks.values()):
        some = [name for name in sources if trunks[name] == trunk]
        yield some, max(LEAST_TO_TRUNK, rows) if trunk else max(LEAST, rows)


def _trunk_of(graph: nx.MultiDiGraph, name: str) -> str:
    """The only node that a source leads to, if that is a trunk; else empty."""
    readers = set(graph.successors(name))
    return next(filter(is_trunk, readers), "") if len(readers) == 1 else ""


def _is_free(graph: nx.MultiDiGraph, name: str) -> bool:
    """Whether a node is a source, and its edges may dock anywhere."""
    docks = (at for _, _, at in graph.out_edges(name, data="tail_at"))
    return not graph.in_degree(name) and all(at is None for at in docks)


class Stacked:
    """A graph in which stacks take the place of sources. ``graph``: a graph with one node in place
    of each stack; :meth:`unstacked` gives a layout of it the boxes back."""

    def __init__(self, graph: nx.MultiDiGraph, stacks: Sequence[Sequence[str]]) -> None:
        self.graph = nx.MultiDiGraph()
        self._order = list(graph)
        trunks = [_trunk_of(graph, names[0]) for names in stacks]
        self._stacks = {
            names[0]: _stack_of(graph, names, trunk, _is_right(number, trunks))
            for number, (names, trunk) in enumerate(zip(stacks, trunks, strict=True))
        }
        homes = {name: stack for stack in self._stacks.values() for name in stack.boxes}
        for name, data in graph.nodes(data=True):
            if name not in homes:
                self.graph.add_node(name, **data)
            elif name in self._stacks:
                stack = homes[name]
                self.graph.add_node(stack.name, width=stack.width, height=stack.height)
        self._edges: dict[EdgeKey, EdgeKey] = {}
        """For each edge the one that is laid out for it."""
        for source, target, key, data in graph.edges(keys=True, data=True):
            home = homes.get(source)
            start = home.name if home is not None else source
            number = 0
            if home is None:
                number = self.graph.add_edge(start, target, **data)
            elif home.trunk is None:
                number = self.graph.add_edge(
                    start, target, **{**data, "tail_at": home.docks[source]}
                )
            elif not self.graph.has_edge(start, target):
                self.graph.add_edge(start, target, **{**data, "tail_at": home.trunk})
            self._edges[source, target, key] = (start, target, number)
        self._homes = homes

    def unstacked(self, layout: Layout) -> Layout:
        """The layout of the graph with stacks as one of the graph before."""
        rects = dict(layout.rects)
        for stack in self._stacks.values():
            whole = rects.pop(stack.name)
            rects |= {name: box.moved(whole.x, whole.y) for name, box in stack.boxes.items()}
        routes: dict[EdgeKey, tuple[Point, ...]] = {}
        for edge, made in self._edges.items():
            first, *others = layout.routes[made]
            routes[edge] = (*self._leaving(edge[0], first, rects), *others)
        return replace(layout, rects={name: rects[name] for name in self._order}, routes=routes)

    def _leaving(self, source: str, first: Point, rects: Mapping[str, Rect]) -> list[Point]:
        """The beginning of a route that leaves its box, or the stack that this is in, at
        ``first``."""
        stack, box = self._homes.get(source), rects[source]
        if stack is None:
            return [first]
        if stack.trunk is None:
            return [(first[0], box.bottom)]
        dock, beside = box.x - stack.boxes[source].x + stack.docks[source], box.bottom + CLEAR
        return [(dock, box.bottom), (dock, beside), (first[0], beside)]


def _is_right(number: int, trunks: Sequence[str]) -> bool:
    """Whether a stack stands right of its trunk, as do half of those that share one."""
    count = trunks.count(trunks[number])
    return trunks[:number].count(trunks[number]) >= (count + 1) // 2


def _stack_of(graph: nx.MultiDiGraph, names: Sequence[str], trunk: str, is_right: bool) -> _Stack:
    x = y = width = 0.0
    corners: list[tuple[str, float, float]] = []
    docks: list[float] = []
    for name in names:
        data = graph.nodes[name]
        corners.append((name, x, y))
        width = max(width, x + data["width"])
        near_end = min(DOCK, data["width"] / 2)
        docks.append(data["width"] - near_end if trunk and not is_right else x + near_end)
        x = 0.0 if trunk else docks[-1] + BESIDE
        y += data["height"] + GAP
    left = 0.0
    """Px from the left end of the stack to its boxes."""
    if trunk:
        width += TO_TRUNK
        left = TO_TRUNK if is_right else 0.0
    height = y - GAP
    boxes = {}
    for name, start, top in corners:
        across, along = graph.nodes[name]["width"], graph.nodes[name]["height"]
        middle = left + start + across / 2
        boxes[name] = Rect(middle - width / 2, top + along / 2 - height / 2, across, along)
    return _Stack(
        f"stack:{names[0]}",
        width,
        height,
        boxes,
        {name: left + dock - width / 2 for name, dock in zip(names, docks, strict=True)},
        (-width / 2 if is_right else width / 2) if trunk else None,
    )
