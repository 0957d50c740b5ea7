"""Make some boxes of a layout wider where they stand."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from itertools import pairwise

from ..model import Layout, Rect

APART = 6.0
"""Px between a wider box and what is beside it."""


def widened(layout: Layout, widths: Mapping[str, float]) -> Layout | None:
    """The layout with boxes of these widths (px), each about its centre; None if one would come too
    near to another box, a frame or the edge of another, so that all has to be laid out anew."""
    if not widths:
        return layout
    if layout.direction != "down":
        return None
    rects = dict(layout.rects)
    for name, width in widths.items():
        rects[name] = replace(rects[name], width=width)
    bounds = layout.bounds
    left, right = bounds.left, bounds.right
    for name in widths:
        before, after = layout.rects[name], rects[name]
        near = replace(after, width=after.width + 2 * APART)
        if any(near.meets(rect) for other, rect in rects.items() if other != name):
            return None
        for frame in layout.frames.values():
            if near.meets(frame) and (frame.contains(before) != frame.contains(near)):
                return None
        for key, points in layout.routes.items():
            if name not in key[:2] and any(
                near.meets(_around(*piece)) for piece in pairwise(points)
            ):
                return None
        left, right = min(left, after.left), max(right, after.right)
    bounds = Rect.from_sides(left, bounds.top, right, bounds.bottom)
    return replace(layout, rects=rects, bounds=bounds)


def _around(a: tuple[float, float], b: tuple[float, float]) -> Rect:
    """The rectangle around a piece of a route, which is horizontal, vertical or short."""
    return Rect.from_sides(min(a[0], b[0]), min(a[1], b[1]), max(a[0], b[0]), max(a[1], b[1]))
