"""A drawing (boxes and polylines) in; what a critic would count in it out."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import pairwise

import numpy as np

from tapeviz.layout.model import EdgeKey, Point, Rect

Rects = Mapping[str, Rect]
Routes = Mapping[EdgeKey, Sequence[Point]]


def overlapping_boxes(rects: Rects, margin: float) -> list[tuple[str, str]]:
    """Pairs of boxes nearer to each other than ``margin`` in both axes."""
    names = list(rects)
    left, right, top, bottom = (
        np.array([getattr(rects[n], side) for n in names])
        for side in ("left", "right", "top", "bottom")
    )
    near_x = np.minimum(right[:, None], right) - np.maximum(left[:, None], left) > -margin + 1e-6
    near_y = np.minimum(bottom[:, None], bottom) - np.maximum(top[:, None], top) > -margin + 1e-6
    first, second = np.nonzero(np.triu(near_x & near_y, 1))
    return [(names[i], names[j]) for i, j in zip(first, second, strict=True)]


def boxes_hit(rects: Rects, routes: Routes, clearance: float) -> list[tuple[EdgeKey, str]]:
    """Edges that come nearer than ``clearance`` to a box that is neither of their ends."""
    found = []
    names = list(rects)
    half_w = np.array([rects[n].width / 2 for n in names]) + clearance - 1e-6
    half_h = np.array([rects[n].height / 2 for n in names]) + clearance - 1e-6
    centre = np.array([(rects[n].x, rects[n].y) for n in names]).reshape(-1, 2)
    for key, route in routes.items():
        hit = np.zeros(len(names), dtype=bool)
        for start, end in pairwise(route):
            hit |= _segment_hits(np.array(start), np.array(end), centre, half_w, half_h)
        found += [(key, names[i]) for i in np.flatnonzero(hit) if names[i] not in key[:2]]
    return found


def _segment_hits(start, end, centre, half_w, half_h):
    """Separating axes: x, y and the segment's normal."""
    middle, reach = (start + end) / 2 - centre, np.abs(end - start) / 2
    normal = np.array([end[1] - start[1], start[0] - end[0]])
    return (
        (np.abs(middle[:, 0]) < half_w + reach[0])
        & (np.abs(middle[:, 1]) < half_h + reach[1])
        & (np.abs(middle @ normal) <= half_w * abs(normal[0]) + half_h * abs(normal[1]))
    )


def crossings(rects: Rects, routes: Routes, near: float = 12.0) -> int:
    """Points where two routes cross, not counting those at a box that both belong to."""
    owner, starts, ends = _segments(routes)
    keys = list(routes)
    total = 0
    for i in range(len(starts)):
        rest = slice(i + 1, None)
        meets, x, y = _meetings(starts[i], ends[i], starts[rest], ends[rest])
        meets &= owner[rest] != owner[i]
        for j in np.flatnonzero(meets):
            first, second = keys[owner[i]], keys[owner[i + 1 + j]]
            total += not any(
                abs(x[j] - rects[name].x) < rects[name].width / 2 + near
                and abs(y[j] - rects[name].y) < rects[name].height / 2 + near
                for name in set(first[:2]) & set(second[:2])
            )
    return total


def straight_crossings(rects: Rects, keys: Sequence[EdgeKey]) -> int:
    """Crossings of the centre lines, whatever the routes."""
    lines = {
        key: ((rects[key[0]].x, rects[key[0]].y), (rects[key[1]].x, rects[key[1]].y))
        for key in keys
        if key[0] != key[1]
    }
    return crossings(rects, lines, near=0.0)


def _segments(routes: Routes):
    owner, starts, ends = [], [], []
    for k, route in enumerate(routes.values()):
        for start, end in pairwise(route):
            owner.append(k)
            starts.append(start)
            ends.append(end)
    shape = (-1, 2)
    return np.array(owner), np.array(starts).reshape(shape), np.array(ends).reshape(shape)


def _meetings(start, end, starts, ends):
    """Proper crossings of one segment with many (half-open, so that a joint counts once)."""
    along, others = end - start, ends - starts
    between = starts - start
    cross = along[0] * others[:, 1] - along[1] * others[:, 0]
    with np.errstate(divide="ignore", invalid="ignore"):
        t = (between[:, 0] * others[:, 1] - between[:, 1] * others[:, 0]) / cross
        u = (between[:, 0] * along[1] - between[:, 1] * along[0]) / cross
    meets = np.isfinite(t) & (np.abs(cross) > 1e-9) & (t >= 0) & (t < 1) & (u >= 0) & (u < 1)
    t = np.where(meets, t, 0.0)
    return meets, start[0] + t * along[0], start[1] + t * along[1]


def edge_length(routes: Routes) -> float:
    return sum(
        float(np.hypot(b[0] - a[0], b[1] - a[1]))
        for route in routes.values()
        for a, b in pairwise(route)
    )


def bends(routes: Routes) -> int:
    return sum(len(route) - 2 for route in routes.values())


def extent(rects: Rects, routes: Routes) -> tuple[float, float]:
    """Width and height of everything drawn."""
    x = [p[0] for r in routes.values() for p in r]
    y = [p[1] for r in routes.values() for p in r]
    x += [side for r in rects.values() for side in (r.left, r.right)]
    y += [side for r in rects.values() for side in (r.top, r.bottom)]
    return max(x) - min(x), max(y) - min(y)
