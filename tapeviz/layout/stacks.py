"""Stack sources that stand side by side in one wide row.

The boxes of a stack stand one below the other, each a little further right, so that the edges of
those above run down straight beside it. The layered layout sees a stack as one box.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import groupby

import networkx as nx

from .model import EdgeKey, Layout, Point, Rect

LEAST = 4
"""Sources in a row that are worth it, at least."""
WIDE = 0.7
"""The part of the picture's width that such a row has at least."""
DOCK = 19.0
"""Px from the left end of a box to its edges."""
BESIDE = 11.0
"""Px from such an edge to the next box of the stack."""
GAP = 24.0
"""Px between two boxes of a stack."""


@dataclass(frozen=True, slots=True)
class _Stack:
    """``boxes``: each node's box, the uppermost first; ``docks``: where its edges leave; both from
    the middle of the stack."""

    name: str
    width: float
    height: float
    boxes: Mapping[str, Rect]
    docks: Mapping[str, float]


def choose_stacks(graph: nx.MultiDiGraph, layout: Layout, rows: int) -> list[list[str]]:
    """The sources of each wide row, ``rows`` to a stack; neighbours stay neighbours."""
    if layout.direction != "down":
        return []
    stacks: list[list[str]] = []
    by_row = sorted(layout.rects.items(), key=lambda item: (round(item[1].y), item[1].x))
    for _, row in groupby(by_row, key=lambda item: round(item[1].y)):
        boxes = list(row)
        width = boxes[-1][1].right - boxes[0][1].left
        sources = [name for name, _ in boxes if _is_free(graph, name)]
        if width > WIDE * layout.bounds.width and len(sources) >= max(LEAST, 2 * rows - 1):
            starts = range(0, len(sources), rows)
            stacks += (sources[start : start + rows] for start in starts)
    return [stack for stack in stacks if len(stack) > 1]


def _is_free(graph: nx.MultiDiGraph, name: str) -> bool:
    """Whether a node is a source, and its edges may dock anywhere."""
    docks = (at for _, _, at in graph.out_edges(name, data="tail_at"))
    return not graph.in_degree(name) and all(at is None for at in docks)


class Stacked:
    """``graph``: a graph with one node in place of each stack; :meth:`unstacked` gives a layout of
    it the boxes back."""

    def __init__(self, graph: nx.MultiDiGraph, stacks: Sequence[Sequence[str]]) -> None:
        self.graph = nx.MultiDiGraph()
        self._order = list(graph)
        self._stacks = {names[0]: _stack_of(graph, names) for names in stacks}
        homes = {name: stack for stack in self._stacks.values() for name in stack.boxes}
        for name, data in graph.nodes(data=True):
            if name not in homes:
                self.graph.add_node(name, **data)
            elif name in self._stacks:
                stack = homes[name]
                self.graph.add_node(stack.name, width=stack.width, height=stack.height)
        self._edges: dict[EdgeKey, EdgeKey] = {}
        for source, target, key, data in graph.edges(keys=True, data=True):
            home = homes.get(source)
            start = home.name if home is not None else source
            docked = {**data, "tail_at": home.docks[source]} if home is not None else data
            number = self.graph.add_edge(start, target, **docked)
            self._edges[start, target, number] = (source, target, key)

    def unstacked(self, layout: Layout) -> Layout:
        """The layout of the graph with stacks as one of the graph before."""
        rects = dict(layout.rects)
        for stack in self._stacks.values():
            whole = rects.pop(stack.name)
            rects |= {name: box.moved(whole.x, whole.y) for name, box in stack.boxes.items()}
        routes: dict[EdgeKey, tuple[Point, ...]] = {}
        for made, (source, target, key) in self._edges.items():
            first, *others = layout.routes[made]
            is_stacked = source != made[0]
            routes[source, target, key] = (
                (first[0], rects[source].bottom) if is_stacked else first,
                *others,
            )
        return replace(layout, rects={name: rects[name] for name in self._order}, routes=routes)


def _stack_of(graph: nx.MultiDiGraph, names: Sequence[str]) -> _Stack:
    x = y = width = 0.0
    corners: list[tuple[str, float, float]] = []
    docks: list[float] = []
    for name in names:
        data = graph.nodes[name]
        corners.append((name, x, y))
        width = max(width, x + data["width"])
        docks.append(x + min(DOCK, data["width"] / 2))
        x = docks[-1] + BESIDE
        y += data["height"] + GAP
    height = y - GAP
    boxes = {}
    for name, left, top in corners:
        across, along = graph.nodes[name]["width"], graph.nodes[name]["height"]
        boxes[name] = Rect(
            left + across / 2 - width / 2, top + along / 2 - height / 2, across, along
        )
    return _Stack(
        f"stack:{names[0]}",
        width,
        height,
        boxes,
        {name: dock - width / 2 for name, dock in zip(names, docks, strict=True)},
    )
