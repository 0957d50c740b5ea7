"""Shorten routes that run down beside a column only to come up again next to where they were."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import pairwise

from ..model import EdgeKey, Point, Rect

_STUB = 16.0
"""Px that a route leaves its box straight down."""
_WORTH = 24.0
"""Px of height that a dip has at least."""


def without_dips(
    rects: Mapping[str, Rect], routes: Mapping[EdgeKey, tuple[Point, ...]]
) -> dict[EdgeKey, tuple[Point, ...]]:
    """The routes, each dip (down, across, up beyond where it began) cut off where the way across is
    free of boxes and routes."""
    made = dict(routes)
    for key, points in routes.items():
        shortcuts = list(_shortcuts(_plain(points)))
        apart = (route for name, route in made.items() if shortcuts and name[0] != key[0])
        others = [piece for route in apart for piece in pairwise(route)]
        for short, way in shortcuts:
            source, (lane, end) = rects.get(key[0]), (way[0][0], way[1][0])
            if source is not None and (lane - source.x) * (end - lane) < 0:
                continue  # it would pass through between the source and what comes after it
            is_free = not any(_meets(way, rect) for rect in rects.values())
            if is_free and not any(_cross(way, other) for other in others):
                made[key] = short
                break
    return made


def _plain(points: Sequence[Point]) -> list[Point]:
    """The points without those within a straight vertical or horizontal piece."""
    found: list[Point] = []
    for point in points:
        if len(found) > 1 and any(found[-2][i] == found[-1][i] == point[i] for i in (0, 1)):
            found.pop()
        found.append(point)
    return found


_Piece = tuple[Point, Point]


def _shortcuts(points: list[Point]) -> Iterator[tuple[tuple[Point, ...], _Piece]]:
    """For each dip of a route the route without it, and the new piece."""
    for at, ((x, top), (_, low), (beside, level), (end, high)) in enumerate(
        zip(points, points[1:], points[2:], points[3:], strict=False)
    ):
        is_dip = points[at + 1][0] == x and level == low and end == beside and x != beside
        start = top if at else top + _STUB
        if is_dip and high < start < low - _WORTH:
            way = (x, start), (beside, start)
            before = points[: at + 1] if at else [*points[:1], way[0]]
            yield (*before, way[1], *points[at + 3 :]), way


def _meets(piece: _Piece, rect: Rect) -> bool:
    (x1, y), (x2, _) = piece
    across = rect.left - _STUB / 2 < max(x1, x2) and min(x1, x2) < rect.right + _STUB / 2
    return across and rect.top - _STUB / 2 < y < rect.bottom + _STUB / 2


def _cross(first: _Piece, second: _Piece) -> bool:
    """Whether two pieces cross or touch each other."""
    is_apart = any(
        max(min(first[0][i], first[1][i]), min(second[0][i], second[1][i]))
        > min(max(first[0][i], first[1][i]), max(second[0][i], second[1][i]))
        for i in (0, 1)
    )
    if is_apart:
        return False
    across = _side(first, second[0]) * _side(first, second[1])
    along = _side(second, first[0]) * _side(second, first[1])
    return across <= 0 and along <= 0


def _side(piece: _Piece, point: Point) -> float:
    """Above 0 for a point on one side of a piece, below on the other."""
    (x1, y1), (x2, y2) = piece
    return (x2 - x1) * (point[1] - y1) - (y2 - y1) * (point[0] - x1)
