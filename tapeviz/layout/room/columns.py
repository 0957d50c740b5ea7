"""Place the boxes of a layout in columns side by side, and lead its edges from one to another."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from math import inf

from ..layered.routing import LEAVE
from ..level import is_port_in, value_of
from ..model import EdgeKey, Layout, Point, Rect
from .dips import without_dips

_GAP = 28.0
"""Px between two columns."""
_LANE = 9.0
"""Px more for each edge between them."""
_STUB = 16.0
"""Px between a box, or a column, and an edge that passes it."""
_STACK = 100.0
"""Px of height from which a stack of sources stays in its column."""
_RISE = 22.0
"""Px between a cut and a source that is moved down to it."""

_Leaving = tuple[int, tuple[str, float]]
"""A column and a value that leaves it."""


@dataclass(slots=True)
class _Column:
    left: float
    right: float
    top: float
    bottom: float
    x: float = 0.0
    y: float = 0.0
    """Where its top stands: of one beside the ports of a frame below the frame's title."""

    @property
    def foot(self) -> float:
        """Where its bottom stands."""
        return self.y + self.bottom - self.top


class ColumnLayout:
    """A layout that runs down, to be cut at these heights (px) into columns."""

    def __init__(self, layout: Layout, cuts: list[float]) -> None:
        self._layout = layout
        self._cuts = cuts
        self._farthest: dict[_Leaving, int] = {}
        """The last column that each value goes to."""
        self._aside: set[EdgeKey] = set()
        """Edges that enter a column from the side."""
        self._routes_of: dict[str, list[tuple[EdgeKey, tuple[Point, ...]]]] = {}
        """The edges that leave each box, with their routes."""

    def laid(self) -> tuple[Layout | None, int]:
        """The layout in columns, and how many more values than cuts go from one to another; None
        if an edge would lead back to an earlier column, or through the box of another node."""
        homes = self._homes()
        layout = self._layout
        lanes = self._lanes(homes)
        levels = self._levels(lanes)
        over = len(lanes) - len(self._cuts)
        if any(homes[source] > homes[target] for source, target, _ in layout.routes):
            return None, over
        for key, points in layout.routes.items():
            self._routes_of.setdefault(key[0], []).append((key, points))
        lefts = [inf] * (len(self._cuts) + 1)
        for name, rect in layout.rects.items():
            lefts[homes[name]] = min(lefts[homes[name]], rect.left)
        parts = {key: self._parts(key, homes, lefts) for key in layout.routes}
        columns = self._extents(homes, parts)
        if columns is None:
            return None, over
        self._place(columns, lanes)
        rects = {
            name: self._moved(rect, columns[homes[name]]) for name, rect in layout.rects.items()
        }
        routes: dict[EdgeKey, tuple[Point, ...]] = {}
        for key, (first, last) in parts.items():
            passed = columns[homes[key[0]] : homes[key[1]] + 1]
            start, end = passed[0], passed[-1]
            route = [self._shifted(point, start) for point in first]
            if last:
                into = [self._shifted(point, end) for point in last]
                leaving = homes[key[0]], value_of(key[0], self._layout.routes[key])
                ends, numbers = (route[-1], into[0]), (lanes[leaving], levels[leaving])
                route += self._between(ends, passed, numbers, key in self._aside)
                route += into
                if _runs_through(route, [r for name, r in rects.items() if name not in key[:2]]):
                    return None, over
            routes[key] = tuple(route)
        routes = without_dips(rects, routes)
        return _at_origin(replace(layout, rects=rects, routes=routes)), over

    def _homes(self) -> dict[str, int]:
        """Choose the column of each box. A source whose readers all are in later columns goes into
        the next one, if nothing stands below it: the layout has it there afterwards."""
        layout = self._layout
        homes = {name: bisect_left(self._cuts, rect.y) for name, rect in layout.rects.items()}
        takers: dict[str, list[str]] = {}
        taking = set()
        cuts: dict[str, float] = {}
        for source, target, _ in layout.routes:
            takers.setdefault(source, []).append(target)
            taking.add(target)
        for name, others in takers.items():
            first = min(homes[other] for other in others)
            if name not in taking and homes[name] < first:
                cut = self._cuts[first - 1]
                is_low = layout.rects[name].height < _STACK
                if is_low and homes[name] == first - 1 and self._is_free_below(name, cut):
                    homes[name] = first
                    cuts[name] = cut
        self._lower(cuts)
        return homes

    def _is_free_below(self, name: str, cut: float) -> bool:
        """Whether no other box is between a box and the cut below it."""
        own = self._layout.rects[name]
        return not any(
            own.bottom < rect.bottom
            and rect.top < cut
            and rect.left < own.right + _STUB
            and own.left < rect.right + _STUB
            for rect in self._layout.rects.values()
        )

    def _lower(self, cuts: dict[str, float]) -> None:
        """Move sources down to right above their cut, near their readers. Their edges turn above
        the cut; below it they keep their path, which is clear of boxes."""
        rects, routes = dict(self._layout.rects), dict(self._layout.routes)
        leaving_of: dict[str, list[EdgeKey]] = {name: [] for name in cuts}
        for key in routes:
            if key[0] in leaving_of:
                leaving_of[key[0]].append(key)
        taken: dict[float, list[Rect]] = {cut: [] for cut in cuts.values()}
        reach: dict[float, float] = {}
        # Those with several readers keep their x: the others stand beside them.
        for name in sorted(cuts, key=lambda name: len(leaving_of[name]) == 1):
            rect, cut, leaving = rects[name], cuts[name], leaving_of[name]
            down = max(0.0, cut - _RISE - rect.bottom)
            x, y = rect.x, rect.y + down
            if len(leaving) == 1:
                left = max(reach.get(cut, -inf), rects[leaving[0][1]].x) + _STUB
                for other in sorted(taken[cut], key=lambda other: other.left):
                    if other.left - _STUB < left + rect.width and left < other.right + _STUB:
                        left = other.right + _STUB
                x = left + rect.width / 2
                reach[cut] = left + rect.width + _STUB
            rects[name] = moved = Rect(x, y, rect.width, rect.height)
            taken[cut].append(moved)
            for key in leaving:
                start = routes[key][0][0] + x - rect.x
                above = [point for point in routes[key] if point[1] <= cut]
                below = [point for point in routes[key] if point[1] > cut]
                if not (above and below):  # an anchor, which is not drawn
                    continue
                if above[-1][0] == below[0][0]:  # it runs straight down over the cut
                    below.insert(0, (below[0][0], cut))
                routes[key] = ((start, moved.bottom), (start, moved.bottom + LEAVE), *below)
        self._layout = replace(self._layout, rects=rects, routes=routes)

    def _parts(
        self, key: EdgeKey, homes: dict[str, int], lefts: Sequence[float]
    ) -> tuple[list[Point], list[Point]]:
        """The points of a route in the column of its source, and in the column of its target; the
        second is empty if they are the same. A route that runs down left of all boxes of a column
        (``lefts``: of each the leftmost) enters it from the side, where it turns."""
        points = self._layout.routes[key]
        start, end = homes[key[0]], homes[key[1]]
        if start == end:
            return list(points), []
        leaves, enters = self._cuts[start], self._cuts[end - 1]
        first = [points[0]]
        for point in points[1:]:
            if point[1] > leaves:
                break
            first.append(point)
        port = self._port(key[0], points, homes)
        if self._is_free_down(port, leaves):
            first = [port]  # it need not turn towards what stands below, in another column now
        last = [points[-1]]
        for point in reversed(points[:-1]):
            if point[1] < enters:
                break
            last.append(point)
        last.reverse()
        upright = next((n for n, point in enumerate(last) if point[0] != last[0][0]), len(last)) - 1
        if upright < len(last) - 1 and last[upright][0] < lefts[end]:
            at, after = last[upright], last[upright + 1]
            last[: upright + 1] = [(min(lefts[end], after[0]), at[1])]
            self._aside.add(key)
        return first, last

    def _port(self, source: str, points: Sequence[Point], homes: dict[str, int]) -> Point:
        """Where a route to another column leaves its box: all of one value leave together, at the
        middlemost of their places."""
        value, middle = value_of(source, points), self._layout.rects[source].x
        places = [
            route[0]
            for (start, end, _), route in self._routes_of.get(source, ())
            if homes[start] != homes[end] and value_of(source, route) == value
        ]
        return min(places, key=lambda point: (abs(point[0] - middle), point[0]))

    def _is_free_down(self, start: Point, cut: float) -> bool:
        """Whether no box is in the way from a point straight down to a cut."""
        (x, y), rects = start, self._layout.rects.values()
        return not any(
            rect.left - _STUB < x < rect.right + _STUB and y < rect.y < cut for rect in rects
        )

    def _extents(
        self, homes: dict[str, int], parts: dict[EdgeKey, tuple[list[Point], list[Point]]]
    ) -> list[_Column] | None:
        boxes: list[list[Rect]] = [[] for _ in range(len(self._cuts) + 1)]
        for name, rect in self._layout.rects.items():
            boxes[homes[name]].append(rect)
        if not all(boxes):
            return None
        columns = [
            _Column(
                min(r.left for r in some),
                max(r.right for r in some),
                min(r.top for r in some),
                max(r.bottom for r in some),
            )
            for some in boxes
        ]
        for (source, target, _), (first, last) in parts.items():
            for home, points in ((homes[source], first), (homes[target], last)):
                column = columns[home]
                for x, _ in points:
                    column.left, column.right = min(column.left, x), max(column.right, x)
        return columns

    def _lanes(self, homes: dict[str, int]) -> dict[_Leaving, int]:
        """The number of each value that leaves a column beside it, from the left: those that go
        farthest come first, so that they pass over the others at the top."""
        farthest: dict[_Leaving, int] = {}
        for (source, target, _), route in self._layout.routes.items():
            home, leaving = homes[source], (homes[source], value_of(source, route))
            if home != homes[target]:
                farthest[leaving] = max(farthest.get(leaving, 0), homes[target])
        self._farthest = farthest
        used = [0] * (len(self._cuts) + 1)
        lanes: dict[_Leaving, int] = {}
        for leaving in sorted(farthest, key=lambda leaving: -farthest[leaving]):
            lanes[leaving] = used[leaving[0]]
            used[leaving[0]] += 1
        return lanes

    def _levels(self, lanes: dict[_Leaving, int]) -> dict[_Leaving, int]:
        """The number of each of these values above the columns, from below: no two that pass over
        the same column have the same."""
        taken: list[list[int]] = [[] for _ in range(len(self._cuts) + 1)]
        levels: dict[_Leaving, int] = {}
        reach = self._farthest
        for leaving in sorted(
            lanes, key=lambda leaving: (reach[leaving] - leaving[0], -lanes[leaving])
        ):
            passed = range(leaving[0] + 1, reach[leaving] + 1)
            level = 1 + max([level for column in passed for level in taken[column]], default=-1)
            levels[leaving] = level
            for column in passed:
                taken[column].append(level)
        return levels

    def _place(self, columns: list[_Column], lanes: dict[_Leaving, int]) -> None:
        x, rects, first = 0.0, self._layout.rects, columns[0]
        ports = [rect.bottom for name, rect in rects.items() if is_port_in(name)]
        below = max(ports) - first.top + LEAVE + _STUB + _LANE * len(lanes) if ports else 0.0
        for number, column in enumerate(columns):
            column.x = x
            column.y = below if number else 0.0
            leaving = sum(home == number for home, _ in lanes)
            x += column.right - column.left + _GAP + _LANE * leaving
        # The last column ends where the longest does, so that what leads up to it is short.
        last = columns[-1]
        last.y += max(0.0, max(column.foot for column in columns) - last.foot)

    def _shifted(self, point: Point, column: _Column) -> Point:
        return point[0] - column.left + column.x, point[1] - column.top + column.y

    def _moved(self, rect: Rect, column: _Column) -> Rect:
        x, y = self._shifted((rect.x, rect.y), column)
        return Rect(x, y, rect.width, rect.height)

    def _between(
        self,
        ends: tuple[Point, Point],
        passed: Sequence[_Column],
        numbers: tuple[int, int],
        is_aside: bool,
    ) -> list[Point]:
        """The points from the foot of a column up beside it to the head of another, or to where the
        route enters that one from the side (``is_aside``). ``passed``: these two columns and those
        between them, above which the route passes; ``numbers``: those of the lane beside the first
        column and of the level above the others."""
        (leaves, enters), column, (lane, level) = ends, passed[0], numbers
        low = max(leaves[1], column.foot + _STUB + _LANE * lane)
        beside = column.x + column.right - column.left + _GAP / 2 + _LANE * lane
        above = min(other.y for other in passed[1:]) - (_STUB + _LANE * level)
        high = enters[1] if is_aside else above
        return [(leaves[0], low), (beside, low), (beside, high), (enters[0], high)]


def _runs_through(route: Sequence[Point], rects: Sequence[Rect]) -> bool:
    """Whether the bounding box of a piece of the route meets a box. Pieces are horizontal, vertical
    or short."""
    for (x1, y1), (x2, y2) in pairwise(route):
        left, right, top, bottom = min(x1, x2), max(x1, x2), min(y1, y2), max(y1, y2)
        for rect in rects:
            across = rect.left < right and left < rect.right
            if across and rect.top < bottom and top < rect.bottom:
                return True
    return False


def _at_origin(layout: Layout) -> Layout:
    """The layout with its top left corner at 0."""
    xs = [x for points in layout.routes.values() for x, _ in points]
    ys = [y for points in layout.routes.values() for _, y in points]
    rects = layout.rects.values()
    left, top = min([r.left for r in rects] + xs), min([r.top for r in rects] + ys)
    right, bottom = max([r.right for r in rects] + xs), max([r.bottom for r in rects] + ys)
    return replace(
        layout,
        rects={name: rect.moved(-left, -top) for name, rect in layout.rects.items()},
        routes={
            key: tuple((x - left, y - top) for x, y in points)
            for key, points in layout.routes.items()
        },
        bounds=Rect((right - left) / 2, (bottom - top) / 2, right - left, bottom - top),
    )
