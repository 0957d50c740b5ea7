"""The part of the scene in sight: moves and zooms in, another camera out."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

from ..layout.model import Point, Rect

ENOUGH = 0.95
"""The first view shows all of a picture even at this part of the least scale."""
LEAST_SCALE = 0.0002
MOST_SCALE = 6.0
COMFORT = 1.0
"""The largest scale of a fit: a small graph keeps its natural size."""
EDGE = 8.0
"""Px that a first view leaves around the story."""


@dataclass(frozen=True, slots=True)
class Camera:
    """``x, y``: the scene point in the middle of the viewport; ``scale``: px for a scene unit;
    ``width, height``: of the viewport in px."""

    x: float = 0.0
    y: float = 0.0
    scale: float = 1.0
    width: float = 1.0
    height: float = 1.0

    def to_screen(self, point: Point) -> Point:
        return (
            (point[0] - self.x) * self.scale + self.width / 2,
            (point[1] - self.y) * self.scale + self.height / 2,
        )

    def to_scene(self, point: Point) -> Point:
        return (
            (point[0] - self.width / 2) / self.scale + self.x,
            (point[1] - self.height / 2) / self.scale + self.y,
        )

    @property
    def sight(self) -> Rect:
        """The part of the scene in sight."""
        return Rect(self.x, self.y, self.width / self.scale, self.height / self.scale)

    def resized(self, width: float, height: float) -> Camera:
        return replace(self, width=max(width, 1.0), height=max(height, 1.0))

    def panned(self, dx: float, dy: float) -> Camera:
        """Moved so that the scene follows a pointer by ``dx, dy`` px."""
        return replace(self, x=self.x - dx / self.scale, y=self.y - dy / self.scale)

    def carried(self, before: Point, after: Point) -> Camera:
        """Moved so that the scene point ``after`` stands on the screen where ``before`` did."""
        return replace(self, x=self.x + after[0] - before[0], y=self.y + after[1] - before[1])

    def zoomed(self, factor: float, at: Point | None = None) -> Camera:
        """Magnified; the scene point under the screen point ``at`` (default: the middle) stays."""
        scale = min(max(self.scale * factor, LEAST_SCALE), MOST_SCALE)
        at = at or (self.width / 2, self.height / 2)
        x, y = self.to_scene(at)
        return replace(
            self,
            scale=scale,
            x=x - (at[0] - self.width / 2) / scale,
            y=y - (at[1] - self.height / 2) / scale,
        )

    def fitted(self, rect: Rect, margin: float = 8.0, most: float = COMFORT) -> Camera:
        """All of ``rect`` in sight, centred, ``margin`` px from the border."""
        if rect.width <= 0 or rect.height <= 0:
            return replace(self, x=rect.x, y=rect.y, scale=most)
        room = max(self.width - 2 * margin, 20.0), max(self.height - 2 * margin, 20.0)
        scale = min(room[0] / rect.width, room[1] / rect.height, most)
        scale = max(scale, LEAST_SCALE)
        return replace(self, x=rect.x, y=rect.y, scale=scale)

    def looking_at(self, point: Point, scale: float, bounds: Rect, margin: float = 40.0) -> Camera:
        """``point`` in the middle, moved so that at most ``margin`` px beyond ``bounds`` show."""
        x = _within(point[0], bounds.left, bounds.right, (self.width / 2 - margin) / scale)
        y = _within(point[1], bounds.top, bounds.bottom, (self.height / 2 - margin) / scale)
        return replace(self, x=x, y=y, scale=scale)

    def beginning_at(self, story: Sequence[Rect], least: float, bounds: Rect) -> Camera:
        """The first view: all of ``bounds``, or, if that needs a scale below ``least``, the first
        rectangle of the ``story`` with as many of the others as fit, at ``least``."""
        camera = self.fitted(bounds)
        if not story or camera.scale >= ENOUGH * least:
            return camera
        room = (self.width - 2 * EDGE) / least, (self.height - 2 * EDGE) / least
        return camera.looking_at(_middle(story, room), least, bounds, margin=EDGE)

    def between(self, other: Camera, share: float) -> Camera:
        """The camera after ``share`` (0…1) of a move to ``other``; the scale changes by equal
        factors in equal times."""
        scale = math.exp(math.log(self.scale) * (1 - share) + math.log(other.scale) * share)
        if abs(other.scale - self.scale) < 1e-9 * self.scale:
            moved = share
        else:  # so that a fixed point of the zoom stays fixed on the screen
            moved = (1 / scale - 1 / self.scale) / (1 / other.scale - 1 / self.scale)
        return replace(
            other,
            scale=scale,
            x=self.x + (other.x - self.x) * moved,
            y=self.y + (other.y - self.y) * moved,
        )


def _within(middle: float, low: float, high: float, half: float) -> float:
    """The value nearest to ``middle`` that keeps ``half`` from both ends; their middle if they are
    too close."""
    if high - low <= 2 * half:
        return (low + high) / 2
    return min(max(middle, low + half), high - half)


def _middle(story: Sequence[Rect], room: tuple[float, float]) -> Point:
    """The middle of the first rectangle and the later ones that fit into ``room`` with it."""
    hull = story[0]
    for rect in story[1:]:
        left, right = min(hull.left, rect.left), max(hull.right, rect.right)
        top, bottom = min(hull.top, rect.top), max(hull.bottom, rect.bottom)
        if right - left <= room[0] and bottom - top <= room[1]:
            hull = Rect.from_sides(left, top, right, bottom)
    return hull.x, hull.y
