"""Outline rectangles and polylines by lines and cubic curves."""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import pairwise

from ...layout.model import Point, Rect
from ..model import Axis
from ..primitives import Outline

_ARC = 0.5522847498
"""Handle length of the cubic that is a quarter of the unit circle to 3 in 10,000."""
_CORNER = 12.0
_END_HANDLE = 0.5


def rounded(rect: Rect, radius: float) -> Outline:
    """A rectangle with round corners, clockwise; a large radius makes a capsule."""
    r = max(0.0, min(radius, rect.width / 2, rect.height / 2))
    left, top, right, bottom = rect.sides
    if not r:
        return Outline("MLLLZ", ((left, top), (right, top), (right, bottom), (left, bottom)))
    k = r * (1 - _ARC)
    return Outline(
        "MLCLCLCLCZ",
        (
            (left + r, top),
            (right - r, top),
            *((right - k, top), (right, top + k), (right, top + r)),
            (right, bottom - r),
            *((right, bottom - k), (right - k, bottom), (right - r, bottom)),
            (left + r, bottom),
            *((left + k, bottom), (left, bottom - k), (left, bottom - r)),
            (left, top + r),
            *((left, top + k), (left + k, top), (left + r, top)),
        ),
    )


def grown(rect: Rect, by: float) -> Rect:
    """``rect`` with each side moved outwards by ``by``."""
    return Rect(rect.x, rect.y, rect.width + 2 * by, rect.height + 2 * by)


def circle(x: float, y: float, radius: float) -> Outline:
    return rounded(Rect(x, y, 2 * radius, 2 * radius), radius)


def line(*points: Point) -> Outline:
    return Outline("M" + "L" * (len(points) - 1), points)


def curve(points: Sequence[Point], axis: Axis) -> Outline:
    """A smooth path through a polyline.

    If the polyline never turns back along ``axis``: a monotone cubic (Fritsch and Carlson 1980),
    which passes every point, leaves and arrives along the axis and stays within the bends.
    Otherwise: the polyline with round corners.
    """
    points = _without_repeats(points)
    if len(points) < 2:
        return Outline("ML", (*points, *points)[:2])
    if axis and _is_monotone(points, axis):
        return _monotone_cubic(points, axis)
    return _rounded_polyline(points)


def _without_repeats(points: Sequence[Point]) -> list[Point]:
    kept = list(points[:1])
    for point in points[1:]:
        if math.dist(point, kept[-1]) > 1e-6:
            kept.append(point)
    return kept


def _is_monotone(points: Sequence[Point], axis: Axis) -> bool:
    along = 1 if axis == "y" else 0
    steps = [b[along] - a[along] for a, b in pairwise(points)]
    return all(step > 1e-3 for step in steps) or all(step < -1e-3 for step in steps)


def _monotone_cubic(points: Sequence[Point], axis: Axis) -> Outline:
    """``u`` runs along the axis, ``v`` across; slopes are dv/du, zero at both ends."""
    u = [p[1] if axis == "y" else p[0] for p in points]
    v = [p[0] if axis == "y" else p[1] for p in points]
    count = len(points)
    secants = [(v[i + 1] - v[i]) / (u[i + 1] - u[i]) for i in range(count - 1)]
    slopes = [0.0, *(_slope(u, secants, i) for i in range(1, count - 1)), 0.0]
    verbs, made = "M", [(u[0], v[0])]
    for i in range(count - 1):
        step = u[i + 1] - u[i]
        out = step * (_END_HANDLE if slopes[i] == 0 else 1 / 3)
        back = step * (_END_HANDLE if slopes[i + 1] == 0 else 1 / 3)
        if secants[i] == 0 and slopes[i] == 0 and slopes[i + 1] == 0:
            verbs += "L"
        else:
            verbs += "C"
            made.append((u[i] + out, v[i] + slopes[i] * out))
            made.append((u[i + 1] - back, v[i + 1] - slopes[i + 1] * back))
        made.append((u[i + 1], v[i + 1]))
    return Outline(verbs, tuple((b, a) if axis == "y" else (a, b) for a, b in made))


def _slope(u: Sequence[float], secants: Sequence[float], i: int) -> float:
    """Weighted harmonic mean of the secants on both sides; 0 at a turning point."""
    before, after = secants[i - 1], secants[i]
    if before * after <= 0:
        return 0.0
    left, two = abs(u[i] - u[i - 1]), abs(u[i + 1] - u[i])
    w1, w2 = 2 * two + left, two + 2 * left
    return (w1 + w2) / (w1 / before + w2 / after)


def _rounded_polyline(points: Sequence[Point]) -> Outline:
    verbs, made = "M", [points[0]]
    for before, corner, after in zip(points, points[1:], points[2:], strict=False):
        radius = min(_CORNER, math.dist(before, corner) / 2, math.dist(corner, after) / 2)
        start, end = _towards(corner, before, radius), _towards(corner, after, radius)
        verbs += "LC"
        made += [start, _between(start, corner, 2 / 3), _between(end, corner, 2 / 3), end]
    return Outline(verbs + "L", (*made, points[-1]))


def _towards(start: Point, end: Point, length: float) -> Point:
    """The point ``length`` px from ``start`` towards ``end``."""
    distance = math.dist(start, end)
    return _between(start, end, length / distance if distance else 0.0)


def _between(start: Point, end: Point, share: float) -> Point:
    return start[0] + (end[0] - start[0]) * share, start[1] + (end[1] - start[1]) * share


def end_direction(points: Sequence[Point], axis: Axis) -> Point:
    """The unit vector of the direction in which the curve through ``points`` ends."""
    points = _without_repeats(points)
    if len(points) < 2:
        return 0.0, 1.0
    (x0, y0), (x1, y1) = points[-2], points[-1]
    if axis and _is_monotone(points, axis):
        if axis == "y":
            return 0.0, math.copysign(1.0, y1 - y0)
        return math.copysign(1.0, x1 - x0), 0.0
    length = math.dist((x0, y0), (x1, y1))
    return (x1 - x0) / length, (y1 - y0) / length


def arrow(tip: Point, direction: Point, length: float, half: float) -> Outline:
    """A solid arrow head with its point at ``tip``; ``half``: half of its width, px."""
    dx, dy = direction
    x, y = tip[0] - dx * length, tip[1] - dy * length
    return Outline("MLLZ", (tip, (x - dy * half, y + dx * half), (x + dy * half, y - dx * half)))


def cut_back(points: Sequence[Point], direction: Point, length: float) -> tuple[Point, ...]:
    """``points`` with the last one moved back by ``length`` px, which leaves room for an arrow
    head."""
    x, y = points[-1]
    return (*points[:-1], (x - direction[0] * length, y - direction[1] * length))


def flattened(outline: Outline, steps: int = 12) -> list[Point]:
    """Points along an open outline, ``steps`` for each curve."""
    rest = iter(outline.points)
    made: list[Point] = []
    for verb in outline.verbs:
        if verb in "ML":
            made.append(next(rest))
        elif verb == "C":
            a, b, c, d = made[-1], next(rest), next(rest), next(rest)
            made.extend(_bezier(a, b, c, d, step / steps) for step in range(1, steps + 1))
    return made


def _bezier(a: Point, b: Point, c: Point, d: Point, t: float) -> Point:
    s = 1 - t
    w0, w1, w2, w3 = s * s * s, 3 * s * s * t, 3 * s * t * t, t * t * t
    return (
        w0 * a[0] + w1 * b[0] + w2 * c[0] + w3 * d[0],
        w0 * a[1] + w1 * b[1] + w2 * c[1] + w3 * d[1],
    )


def point_along(points: Sequence[Point], share: float) -> Point:
    """The point after ``share`` (0…1) of the length of a polyline."""
    lengths = [math.dist(a, b) for a, b in pairwise(points)]
    left = share * sum(lengths)
    for (start, end), length in zip(pairwise(points), lengths, strict=True):
        if left <= length and length:
            return _between(start, end, left / length)
        left -= length
    return points[-1]
