"""Join the edges of sources that all go to the same readers into one trunk.

Three variables that two calls of a model take would cross three times. Since each of them goes to
each of the calls, nothing is lost if their edges meet in a point and go on from there together.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import product, takewhile
from typing import NamedTuple

import networkx as nx

from .layered.routing import HIGHEST_BAND, LEAVE
from .model import EdgeKey, Layout, Point

LEAST_SAVED = 1
"""A trunk takes the place of at least this many more edges than lead to it and away from it."""
_SIZE = 2.0
"""Px of the point in which edges meet."""
_STRAIGHT = 4.0
"""Weight of the edges of a trunk, which should run straight."""


_TRUNK = "trunk:"


def is_trunk(node: str) -> bool:
    """Whether a node of a bundled graph is the point in which edges meet."""
    return node.startswith(_TRUNK)


class Bundle(NamedTuple):
    """Sources that each have an edge to each of the readers."""

    sources: tuple[str, ...]
    readers: tuple[str, ...]

    @property
    def saved(self) -> int:
        """How many edges fewer there are with a trunk."""
        count, others = len(self.sources), len(self.readers)
        return count * others - count - others


def find_bundles(graph: nx.MultiDiGraph) -> list[Bundle]:
    """The bundles that save the most edges, no edge in two of them.

    Sources of a bundle have no inputs and stand in the same frame. Takes time linear in the edges.
    """
    readers: dict[str, dict[str, None]] = {}
    sources: dict[str, dict[str, None]] = {}
    for source, reader, carried in graph.edges(data="carried"):
        if not (graph.in_degree(source) or carried):
            readers.setdefault(source, {})[reader] = None
            sources.setdefault(reader, {})[source] = None
    homes = graph.nodes(data="frame", default="")
    alike = _alike((source, (homes[source], frozenset(r))) for source, r in readers.items())
    taken = _alike((reader, frozenset(s)) for reader, s in sources.items())
    found = [Bundle(tuple(some), tuple(readers[some[0]])) for some in alike]
    for some in taken:
        of_frame = _alike((source, homes[source]) for source in sources[some[0]])
        found += [Bundle(tuple(inside), tuple(some)) for inside in of_frame]
    used: set[tuple[str, str]] = set()
    bundles: list[Bundle] = []
    for bundle in sorted(found, key=lambda bundle: -bundle.saved):
        pairs = set(product(*bundle))
        if bundle.saved >= LEAST_SAVED and used.isdisjoint(pairs):
            used |= pairs
            bundles.append(bundle)
    return bundles


def _alike(keyed: Iterable[tuple[str, Hashable]]) -> Iterator[list[str]]:
    """The names with the same key."""
    found: dict[Hashable, list[str]] = {}
    for name, key in keyed:
        found.setdefault(key, []).append(name)
    return iter(found.values())


class Bundled:
    """A graph in which trunks take the place of edges. ``graph``: a graph with a point for each
    bundle, through which its edges go; :meth:`unbundled` gives a layout of it the edges back."""

    def __init__(self, graph: nx.MultiDiGraph) -> None:
        self._whole = graph
        self._joints: dict[tuple[str, str], str] = {}
        self.graph = graph
        bundles = find_bundles(graph)
        if not bundles:
            return
        for number, bundle in enumerate(bundles):
            self._joints |= dict.fromkeys(product(*bundle), f"{_TRUNK}{number}")
        self.graph = nx.MultiDiGraph()
        self.graph.add_nodes_from(graph.nodes(data=True))
        for source, reader, key, data in graph.edges(keys=True, data=True):
            if (source, reader) not in self._joints:
                self.graph.add_edge(source, reader, key, **data)
        for number, (sources, readers) in enumerate(bundles):
            name, frame = f"{_TRUNK}{number}", graph.nodes[sources[0]].get("frame", "")
            self.graph.add_node(name, width=_SIZE, height=_SIZE, frame=frame)
            for source in sources:
                self.graph.add_edge(source, name, 0, weight=1.0, carried=False)
            for reader in readers:
                self.graph.add_edge(name, reader, 0, weight=_STRAIGHT, carried=False)

    def unbundled(self, layout: Layout) -> Layout:
        """The layout of the graph with trunks as one of the graph before."""
        if not self._joints:
            return layout
        routes: dict[EdgeKey, tuple[Point, ...]] = {}
        lines = {key: _swapped(line, layout.direction) for key, line in layout.routes.items()}
        buses = self._buses(lines)
        for edge in self._whole.edges(keys=True):
            joint = self._joints.get(edge[:2])
            if joint is None:
                routes[edge] = layout.routes[edge]
                continue
            at = _swapped([(layout.rects[joint].x, layout.rects[joint].y)], layout.direction)[0][0]
            first = _arriving(lines[edge[0], joint, 0], at, buses.get(joint, 0.0))
            onward = lines[joint, edge[1], 0][1:]
            line = [*first, *_leaving(onward, at)]
            routes[edge] = tuple(_swapped(line, layout.direction))
        rects = {name: layout.rects[name] for name in self._whole}
        return replace(layout, rects=rects, routes=routes)

    def _buses(self, lines: Mapping[EdgeKey, Sequence[Point]]) -> dict[str, float]:
        """For each joint the y at which the edges from the sides reach its trunk."""
        found: dict[str, float] = {}
        for (source, _), joint in self._joints.items():
            line = lines[source, joint, 0]
            if _turns_at_end(line):
                found[joint] = max(found.get(joint, 0.0), line[-3][1], line[-4][1])
        return found


def _swapped(line: Sequence[Point], direction: str) -> list[Point]:
    """The points of a route as if the layout ran down; or back again."""
    return [(y, x) for x, y in line] if direction == "right" else list(line)


def _turns_at_end(line: Sequence[Point]) -> bool:
    """Whether a route moves sideways in the band above the row where it ends."""
    if len(line) < 4:
        return False
    (above_x, above), (x, y), (end_x, end_y), (_, end) = line[-4:]
    comes_down = above_x == x and above <= y + LEAVE  # as from a stack, a little below its boxes
    is_low = end - end_y <= HIGHEST_BAND  # not right below the upper boxes of a stack
    return comes_down and is_low and x != end_x and 0 <= end_y - y <= HIGHEST_BAND


def _leaving(line: Sequence[Point], x: float) -> list[Point]:
    """A route that leaves the trunk at ``x``, straight as long as it runs near it."""
    trunk = [(x, y) for _, y in takewhile(lambda point: abs(point[0] - x) < _SIZE, line)]
    return [*trunk, *line[len(trunk) :]]


def _arriving(line: Sequence[Point], x: float, bus: float) -> list[Point]:
    """A route that ends in the trunk at ``x``, which it reaches at the height ``bus``."""
    if _turns_at_end(line):
        return [*line[:-3], (line[-3][0], bus), (x, bus), (x, line[-1][1])]
    return [*line[:-2], (x, line[-2][1]), (x, line[-1][1])]
