"""Sizes of pictures in; where each goes so that together they fill a compact sheet, out."""

from __future__ import annotations

from collections.abc import Sequence
from math import sqrt

Size = tuple[float, float]
GAP = 44.0
SHAPE = 1.5
"""Width by height of the sheet aimed at."""


def pack(sizes: Sequence[Size], shape: float = SHAPE, gap: float = GAP) -> list[Size]:
    """Top left corners, in the order given; the first stands at (0, 0).

    Several widths of the sheet are tried; the one that shows everything largest is kept.
    """
    if not sizes:
        return []
    grown = [(width + gap, height + gap) for width, height in sizes]
    widest = max(width for width, _ in grown)
    side = sqrt(sum(width * height for width, height in grown) * shape)
    limits = [widest, *(max(widest, side * factor) for factor in (0.9, 1.1, 1.35, 1.7, 2.2))]
    tried = [_fill(grown, limit) for limit in limits]

    def sheet(corners: list[Size]) -> float:
        width = max(x + w for (x, _), (w, _) in zip(corners, grown, strict=True))
        height = max(y + h for (_, y), (_, h) in zip(corners, grown, strict=True))
        return max(width, height * shape)

    return min(tried, key=sheet)


def _fill(sizes: Sequence[Size], limit: float) -> list[Size]:
    """Put each at the highest free place under a skyline no wider than ``limit``."""
    skyline: list[tuple[float, float, float]] = [(0.0, limit, 0.0)]  # left, right, floor
    corners = []
    for width, height in sizes:
        x, y = min(
            (_floor(skyline, left, left + width), left)
            for left, _, _ in skyline
            if left + width <= limit + 1e-6
        )[::-1]
        corners.append((x, y))
        skyline = _raised(skyline, x, x + width, y + height)
    return corners


def _floor(skyline: list[tuple[float, float, float]], left: float, right: float) -> float:
    return max(floor for a, b, floor in skyline if a < right - 1e-6 and b > left + 1e-6)


def _raised(
    skyline: list[tuple[float, float, float]], left: float, right: float, floor: float
) -> list[tuple[float, float, float]]:
    result = [(a, min(b, left), f) for a, b, f in skyline if a < left]
    result.append((left, right, floor))
    result += [(max(a, right), b, f) for a, b, f in skyline if b > right]
    return [piece for piece in result if piece[1] - piece[0] > 1e-6]
