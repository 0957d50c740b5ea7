"""Layouts: a rectangle for each node and a polyline for each edge, in scene units (px)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import ArrayLike, NDArray

Point = tuple[float, float]
EdgeKey = tuple[str, str, int]
"""(source node, target node, key): the edge of a ``networkx.MultiDiGraph``."""


@dataclass(frozen=True, slots=True)
class Rect:
    """An axis-parallel box; ``x, y`` is its CENTRE, y grows downwards."""

    x: float
    y: float
    width: float
    height: float

    @property
    def left(self) -> float:
        return self.x - self.width / 2

    @property
    def right(self) -> float:
        return self.x + self.width / 2

    @property
    def top(self) -> float:
        return self.y - self.height / 2

    @property
    def bottom(self) -> float:
        return self.y + self.height / 2

    @property
    def sides(self) -> tuple[float, float, float, float]:
        """(left, top, right, bottom)."""
        across, down = self.width / 2, self.height / 2
        return self.x - across, self.y - down, self.x + across, self.y + down

    @classmethod
    def from_sides(cls, left: float, top: float, right: float, bottom: float) -> Rect:
        return cls((left + right) / 2, (top + bottom) / 2, right - left, bottom - top)

    @classmethod
    def around(cls, sides: ArrayLike) -> Rect:
        """The least rectangle around others, of each its (left, top, right, bottom), in rows."""
        rows = np.asarray(sides, np.float64)
        return cls.from_sides(*rows[:, :2].min(axis=0).tolist(), *rows[:, 2:].max(axis=0).tolist())

    def moved(self, dx: float, dy: float) -> Rect:
        return Rect(self.x + dx, self.y + dy, self.width, self.height)

    def contains(self, other: Rect) -> bool:
        """Whether ``other`` lies wholly in this rectangle; borders may touch."""
        return (
            self.left <= other.left
            and self.right >= other.right
            and self.top <= other.top
            and self.bottom >= other.bottom
        )

    def meets(self, other: Rect) -> bool:
        """Whether the rectangles have a part in common, more than their borders."""
        across = self.left < other.right and other.left < self.right
        return across and self.top < other.bottom and other.top < self.bottom

    def meets_each(self, sides: NDArray[np.float64]) -> NDArray[np.bool_]:
        """As :meth:`meets`, for each row (left, top, right, bottom) of an array."""
        left, top, right, bottom = sides.T
        across = (left < self.right) & (right > self.left)
        met: NDArray[np.bool_] = across & (top < self.bottom) & (bottom > self.top)
        return met


@dataclass(frozen=True, slots=True)
class Layout:
    """The place of each node and edge, px. ``rects``: the box of each node. ``routes``: a polyline
    for each edge, of at least two points, from the border of the source's box to the border of the
    target's box; painters round its bends."""

    name: str
    direction: str
    rects: Mapping[str, Rect]
    routes: Mapping[EdgeKey, tuple[Point, ...]]
    bounds: Rect
    frames: Mapping[str, Rect] = field(default_factory=dict)
    """The rectangle of each frame, by its path."""

    def has_places_of(self, other: Layout) -> bool:
        """Whether the boxes of both, whatever they are called, stand in the same places."""
        if self.bounds != other.bounds or len(self.rects) != len(other.rects):
            return False
        return set(self.rects.values()) == set(other.rects.values())


EMPTY_LAYOUT = Layout("layered", "down", {}, {}, Rect(0.0, 0.0, 0.0, 0.0))
