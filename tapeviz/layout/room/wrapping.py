"""Wrap a tall layered layout into columns side by side, a wide one into rows.

The layout is cut between rows where few edges cross. An edge from one column to another leaves its
column at the bottom, runs up beside it and enters the other column at the top.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Sequence
from dataclasses import replace
from itertools import pairwise, product
from math import inf

from ..level import is_port_in, value_of
from ..model import Layout, Rect
from .columns import ColumnLayout

READABLE = 0.8
"""A picture that fits its room at this scale is not cut."""
_MOST_COLUMNS = 6
_WORTH = 1.1
"""Columns must enlarge the picture by this factor."""
_DETOUR = 1.15
"""And by this factor for each further value that goes from one column to another."""
_MOST_OVER = 2
"""Further values that go from one column to another, at most: each runs around a whole column."""
_MOST_CROSSING = 6
"""The same of all values whose edges cross a cut; sources among them may move to their readers."""
_FEW_GAPS = 30
"""Gaps of which each is tried."""
_CHOICES = ((26.0, 0.4), (160.0, 0.65))
"""(px that a cut is moved to cross an edge less, most parts of a column's height): one choice for
columns of nearly the same height, one for few edges between them."""


def scale_in(bounds: Rect, room: tuple[float, float]) -> float:
    """The scale, at most 1, at which all of a picture fits into a room (width, height)."""
    return min(room[0] / max(bounds.width, 1.0), room[1] / max(bounds.height, 1.0), 1.0)


def worth_in(bounds: Rect, room: tuple[float, float]) -> float:
    """How well a picture can be read in a room (width, height): the scale at which all of it fits;
    below ``READABLE`` less, by the part of it that is in sight at that scale."""
    scale = scale_in(bounds, room)
    if scale >= READABLE:
        return scale
    across = min(room[0] / (READABLE * max(bounds.width, 1.0)), 1.0)
    along = min(room[1] / (READABLE * max(bounds.height, 1.0)), 1.0)
    return READABLE * across * along


def in_columns(layout: Layout, room: tuple[float, float]) -> Layout:
    """The layout in columns if these are larger in ``room`` (width, height in px), else as it is.
    One that runs to the right is cut into rows, unless it is the inside of a frame."""
    if layout.direction == "right" and not any(map(is_port_in, layout.rects)):
        down = transposed(layout)
        columns = in_columns(down, room[::-1])
        return layout if columns is down else transposed(columns)
    plain = scale_in(layout.bounds, room)
    if plain >= READABLE or layout.direction != "down" or len(layout.rects) < 3:
        return layout
    gaps = _gaps(layout)
    best, least = layout, plain * _WORTH
    for cuts in _choices(layout, gaps):
        crossing_values = sum(edges for gap, edges in gaps if gap in cuts) - len(cuts)
        ends = pairwise((layout.bounds.top, *cuts, layout.bounds.bottom))
        if crossing_values > _MOST_CROSSING or room[1] / max(b - a for a, b in ends) <= least:
            continue
        made, over = ColumnLayout(layout, cuts).laid()
        if made is None or over > _MOST_OVER:
            continue
        scale = scale_in(made.bounds, room) / _DETOUR ** max(over, 0)
        if scale > least:
            best, least = made, scale * 1.04
    return best


def transposed(layout: Layout) -> Layout:
    """The layout that runs to the right in place of down, or the other way round."""
    return replace(
        layout,
        rects={name: Rect(*_swapped(rect)) for name, rect in layout.rects.items()},
        routes={key: tuple((y, x) for x, y in line) for key, line in layout.routes.items()},
        bounds=Rect(*_swapped(layout.bounds)),
        direction="down" if layout.direction == "right" else "right",
    )


def _swapped(rect: Rect) -> tuple[float, float, float, float]:
    return rect.y, rect.x, rect.height, rect.width


def _choices(layout: Layout, gaps: Sequence[tuple[float, int]]) -> list[list[float]]:
    """Ways to cut: at each gap, so that two columns may be as different as their widths allow; and
    into more columns, of nearly equal height."""
    found = [[gap] for gap, _ in gaps] if len(gaps) <= _FEW_GAPS else []
    counts = range(2, min(_MOST_COLUMNS, len(gaps) + 1) + 1)
    for count, (crossing, most_moved) in product(counts, _CHOICES):
        cuts = _cuts(layout, gaps, count, crossing, most_moved)
        if len(cuts) == count - 1 and cuts not in found:
            found.append(cuts)
    return found


def _gaps(layout: Layout) -> list[tuple[float, int]]:
    """(y, number of values whose edges cross there) of each gap between rows of boxes, below the
    first row that has more than sources."""
    spans = sorted((rect.top, rect.bottom) for rect in layout.rects.values())
    first = min([layout.rects[target].top for _, target, _ in layout.routes], default=inf)
    gaps: list[float] = []
    reach = spans[0][1]
    for top, bottom in spans:
        if top > reach + 1 > first:
            gaps.append((reach + top) / 2)
        reach = max(reach, bottom)
    crossing: list[set[tuple[str, float]]] = [set() for _ in gaps]
    for (source, _, _), points in layout.routes.items():
        heights = [y for _, y in points]
        for place in range(bisect_left(gaps, min(heights)), bisect_left(gaps, max(heights))):
            crossing[place].add(value_of(source, points))
    return [(gap, len(sources)) for gap, sources in zip(gaps, crossing, strict=True)]


def _cuts(
    layout: Layout,
    gaps: Sequence[tuple[float, int]],
    count: int,
    crossing: float,
    most_moved: float,
) -> list[float]:
    """The gaps at which to cut into ``count`` columns of nearly equal height: to cross an edge
    less, a cut is moved by ``crossing`` px, at most by the part ``most_moved`` of a column."""
    top, height = layout.bounds.top, layout.bounds.height
    cuts: list[float] = []
    for number in range(1, count):
        ideal = top + height * number / count
        near = [gap for gap in gaps if abs(gap[0] - ideal) < most_moved * height / count]
        if near:
            cuts.append(min(near, key=lambda gap: abs(gap[0] - ideal) + crossing * gap[1])[0])
    return sorted(set(cuts))
