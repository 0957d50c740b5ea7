"""Find a free point near a wire for scissors or a label."""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from ...layout.model import Point, Rect
from ..model import Wire
from .geometry import curve, flattened, point_along

_SHARES = (0.36, 0.44, 0.5, 0.28, 0.58, 0.66, 0.22, 0.74, 0.82, 0.16)
_SPACING = 4.0
_MARGIN = 3.0
"""Px that a label may come closer than it should; it is larger than it looks by about that."""
_ASIDE = 3.0
"""Px between a wire and what stands beside it."""


def clear_point(
    wire: Wire,
    rects: NDArray[np.float64],
    taken: Sequence[tuple[float, float, float, float]],
    half: tuple[float, float],
    shares: Sequence[float] = _SHARES,
) -> Point:
    """The first point on the wire where a rectangle of half size ``half`` (px) covers nothing in
    ``rects`` or ``taken``; if there is none, the point where it overlaps least.

    ``rects``, ``taken``: (left, top, right, bottom). ``shares``: the points to try, as parts of
    the wire's length.
    """
    return _roomiest(wire, rects, taken, half, shares, None)[0]


def free_point(
    wire: Wire,
    rects: NDArray[np.float64],
    taken: Sequence[tuple[float, float, float, float]],
    half: tuple[float, float],
    shares: Sequence[float],
    within: Rect,
) -> Point | None:
    """As :func:`clear_point`, but None if the rectangle would cover more than its margin of
    something. Points to the left and right of the wire are tried, too, so that the rectangle
    touches it and stays ``within``."""
    point, room = _roomiest(wire, rects, taken, half, shares, within)
    return point if room >= -_MARGIN else None


def _roomiest(
    wire: Wire,
    rects: NDArray[np.float64],
    taken: Sequence[tuple[float, float, float, float]],
    half: tuple[float, float],
    shares: Sequence[float],
    within: Rect | None,
) -> tuple[Point, float]:
    """The first point with room, or the one with the most, and the px of room around it."""
    path = flattened(curve(wire.points, wire.axis))
    reach = (2 * half[0], half[1])  # beside the wire it reaches twice as far
    obstacles = np.vstack([_near(path, rects, reach), np.array(taken, np.float64).reshape(-1, 4)])
    best, best_room = path[0], -np.inf
    on_wire = [point_along(path, share) for share in shares]
    beside = [] if within is None else _beside(on_wire, half, within)
    for point in (*on_wire, *beside):
        room = _room(point, obstacles, half)
        if room >= 0:
            return point, room
        if room > best_room:
            best, best_room = point, room
    return best, best_room


def _beside(points: Sequence[Point], half: tuple[float, float], within: Rect) -> list[Point]:
    found = ((x + side * half[0], y) for x, y in points for side in (-1, 1))
    return [(x, y) for x, y in found if within.left <= x - half[0] and x + half[0] <= within.right]


def length_of(wire: Wire) -> float:
    """Px along a wire as it is drawn."""
    path = flattened(curve(wire.points, wire.axis))
    return sum(math.dist(start, end) for start, end in pairwise(path))


def point_beside(
    wire: Wire,
    others: Sequence[Wire],
    rects: NDArray[np.float64],
    taken: Sequence[tuple[float, float, float, float]],
    radius: float,
) -> Point | None:
    """The middle of a disc beside the middle of the wire (above or below a level one) that covers
    nothing in ``rects`` or ``taken`` and none of the other wires; None if there is no room."""
    path, *paths = (flattened(curve(each.points, each.axis)) for each in (wire, *others))
    x, y = point_along(path, 0.5)
    is_level = abs(path[-1][0] - path[0][0]) > abs(path[-1][1] - path[0][1])
    out = radius + _ASIDE
    obstacles = np.vstack([rects, np.array(taken, np.float64).reshape(-1, 4)])
    for sign in (-1, 1):
        spot = (x, y + sign * out) if is_level else (x + sign * out, y)
        is_free = _room(spot, obstacles, (radius, radius)) >= 0
        if is_free and not _touches(spot, radius, paths):
            return spot
    return None


def shares_apart(wire: Wire, others: Sequence[Wire], radius: float) -> list[float]:
    """The points to try for a disc on the wire, as parts of its length: first those where it
    touches none of the ``others``."""
    path, *paths = (flattened(curve(each.points, each.axis)) for each in (wire, *others))
    return sorted(_SHARES, key=lambda share: _touches(point_along(path, share), radius, paths))


def _touches(spot: Point, radius: float, paths: Sequence[Sequence[Point]]) -> bool:
    """Whether a disc covers a part of one of the polylines."""
    disc = Rect(*spot, 2 * radius, 2 * radius)
    points = np.concatenate([np.empty((0, 2)), *(dense(path, disc) for path in paths)])
    return bool((np.hypot(*(points - spot).T) < radius).any())


def dense(path: Sequence[Point], within: Rect) -> NDArray[np.float64]:
    """Points every 4 px along the parts of a polyline that may lie ``within``; shape (n, 2)."""
    points = np.array(path, dtype=np.float64).reshape(-1, 2)
    low, high = np.minimum(points[:-1], points[1:]), np.maximum(points[:-1], points[1:])
    is_near = ((high >= (within.left, within.top)) & (low <= (within.right, within.bottom))).all(
        axis=1
    )
    pieces = [np.empty((0, 2))]
    for place in np.flatnonzero(is_near).tolist():
        start, end = points[place], points[place + 1]
        count = min(400, int(math.dist(start, end) / _SPACING) + 1)
        pieces.append(start + (end - start) * np.linspace(0.0, 1.0, count + 1)[:, None])
    return np.concatenate(pieces)


def around(centre: Point, half: tuple[float, float]) -> tuple[float, float, float, float]:
    """(left, top, right, bottom) of a rectangle with this centre and half size."""
    x, y = centre
    return x - half[0], y - half[1], x + half[0], y + half[1]


def _near(
    path: Sequence[Point], rects: NDArray[np.float64], half: tuple[float, float]
) -> NDArray[np.float64]:
    """The rectangles that something of half size ``half`` on the path could cover."""
    xs, ys = [x for x, _ in path], [y for _, y in path]
    low, high = (min(xs) - half[0], min(ys) - half[1]), (max(xs) + half[0], max(ys) + half[1])
    return rects[Rect.from_sides(*low, *high).meets_each(rects)]


def _room(point: Point, rects: NDArray[np.float64], half: tuple[float, float]) -> float:
    """Px between a rectangle of half size ``half`` at ``point`` and the nearest of ``rects``;
    negative if they overlap."""
    if not len(rects):
        return 0.0
    across = np.maximum(rects[:, 0] - point[0], point[0] - rects[:, 2]) - half[0]
    down = np.maximum(rects[:, 1] - point[1], point[1] - rects[:, 3]) - half[1]
    return float(np.maximum(across, down).min())
