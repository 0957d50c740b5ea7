"""Place pictures on a compact sheet by their sizes."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import islice
from math import sqrt

Size = tuple[float, float]
Ledge = tuple[float, float, float]
"""A piece of the skyline: left, right, floor."""
UNDER_SKYLINE = 300
TINY = 1e-6
GAP = 44.0
SHAPE = 1.5
"""Width divided by height of the sheet to aim at."""


def pack(sizes: Sequence[Size], shape: float = SHAPE, gap: float = GAP) -> list[Size]:
    """The top left corner of each picture; the first is at (0, 0).

    Several widths of the sheet are tried; the one that can be shown largest is kept.
    """
    if not sizes:
        return []
    grown = [(width + gap, height + gap) for width, height in sizes]
    widest = max(width for width, _ in grown)
    side = sqrt(sum(width * height for width, height in grown) * shape)
    limits = [widest, *(max(widest, side * factor) for factor in (0.9, 1.1, 1.35, 1.7, 2.2))]
    second = max((width for width, _ in grown[1:]), default=0.0)
    limits += [widest + second, widest + 2 * second]
    tried = [_fill(grown, limit) for limit in limits]

    def sheet(corners: list[Size]) -> Size:
        width = max(x + w for (x, _), (w, _) in zip(corners, grown, strict=True))
        height = max(y + h for (_, y), (_, h) in zip(corners, grown, strict=True))
        return max(width, height * shape), width + height * shape

    return min(tried, key=sheet)


def _fill(sizes: Sequence[Size], limit: float) -> list[Size]:
    """Put each picture at the highest free place below the skyline, which is ``limit`` px wide.

    The time grows with the square of the number of pictures, so all but the first 300 are set in
    lines, like words.
    """
    skyline: list[Ledge] = [(0.0, limit, 0.0)]
    corners = []
    for width, height in sizes[:UNDER_SKYLINE]:
        y, x = min(_places(skyline, width, limit))
        corners.append((x, y))
        skyline = _raised(skyline, x, x + width, y + height)
    return corners + _lines(sizes[UNDER_SKYLINE:], limit, max(floor for _, _, floor in skyline))


def _lines(sizes: Sequence[Size], limit: float, top: float) -> list[Size]:
    """Set pictures in lines from ``top`` down, the highest in the first line."""
    corners = [(0.0, 0.0)] * len(sizes)
    x, y, below = 0.0, top, top
    for k in sorted(range(len(sizes)), key=lambda k: -sizes[k][1]):
        width, height = sizes[k]
        if x and x + width > limit:
            x, y = 0.0, below
        corners[k] = (x, y)
        x, below = x + width, max(below, y + height)
    return corners


def _places(skyline: Sequence[Ledge], width: float, limit: float) -> Iterator[Size]:
    """(y, x) of each place for a picture of this width."""
    for k, (left, _, _) in enumerate(skyline):
        right = left + width - TINY
        if right > limit:
            break
        floor = 0.0
        for start, _, level in islice(skyline, k, None):
            if start >= right:
                break
            floor = max(floor, level)
        yield floor, left


def _raised(skyline: Sequence[Ledge], left: float, right: float, floor: float) -> list[Ledge]:
    result = [(a, min(b, left), level) for a, b, level in skyline if a < left]
    result.append((left, right, floor))
    result += [(max(a, right), b, level) for a, b, level in skyline if b > right]
    return [ledge for ledge in result if ledge[1] - ledge[0] > TINY]
