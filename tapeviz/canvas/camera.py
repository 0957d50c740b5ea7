"""The part of the scene in sight; moves and zooms give another camera."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from ..layout.model import Point, Rect

ENOUGH = 0.95
"""The first view shows all of a picture even at this part of the least scale."""
LEAST_SCALE = 0.0002
MOST_SCALE = 6.0
COMFORT = 1.0
"""The largest scale of a fit: a small graph keeps its natural size."""
EDGE = 8.0
"""Px that a first view leaves around the landmarks."""
MOST_MOVED = 64.0
"""Px that a first view is moved at most so that its edges cut no boxes."""
BESIDE = 5.0
"""Px between an edge of the view and the box beside it."""
NO_BOXES: NDArray[np.float64] = np.zeros((0, 4))


@dataclass(frozen=True, slots=True)
class Camera:
    """The part of the scene that a viewport shows. ``x, y``: the scene point in the middle of the
    viewport; ``scale``: px for a scene unit; ``width, height``: of the viewport in px."""

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

    def rect_on_screen(self, rect: Rect) -> Rect:
        """The rectangle of the viewport (px) that shows a rectangle of the scene."""
        x, y = self.to_screen((rect.x, rect.y))
        return Rect(x, y, rect.width * self.scale, rect.height * self.scale)

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

    def holding(self, rect: Rect, least: float, at: Point) -> Camera:
        """Magnified no less than ``least`` and moved no more than needed, so that ``rect`` is in
        sight; of one that is too large its left and top. The scene point ``at`` stays where it is
        if it can."""
        room = (self.width - 2 * EDGE) / rect.width, (self.height - 2 * EDGE) / rect.height
        scale = max(min(self.scale, *room), min(self.scale, least))
        camera = self.zoomed(scale / self.scale, self.to_screen(at))
        shown = camera.rect_on_screen(rect)
        return camera.panned(
            _into(shown.left, shown.right, EDGE, self.width - EDGE),
            _into(shown.top, shown.bottom, EDGE, self.height - EDGE),
        )

    def keeping(self, landmarks: Sequence[Rect], least: float, bounds: Rect, at: Point) -> Camera:
        """Magnified no less than ``least`` and moved no more than needed, so that the first
        rectangle of the ``landmarks`` is in sight, with as many of the others as fit, and no room
        beyond ``bounds`` while parts of them are out of sight. The scene point ``at`` stays where
        it is if it can."""
        least = min(self.scale, least)
        room = (self.width - 2 * EDGE) / least, (self.height - 2 * EDGE) / least
        camera = self.holding(_hull([*landmarks, bounds], room), least, at)
        shown = camera.rect_on_screen(bounds)
        return camera.panned(
            _without_gap(shown.left, shown.right, EDGE, self.width - EDGE),
            _without_gap(shown.top, shown.bottom, EDGE, self.height - EDGE),
        )

    def looking_at(self, point: Point, scale: float, bounds: Rect, margin: float = 40.0) -> Camera:
        """``point`` in the middle, moved so that at most ``margin`` px beyond ``bounds`` show."""
        x = _within(point[0], bounds.left, bounds.right, (self.width / 2 - margin) / scale)
        y = _within(point[1], bounds.top, bounds.bottom, (self.height / 2 - margin) / scale)
        return replace(self, x=x, y=y, scale=scale)

    def beginning_at(
        self,
        landmarks: Sequence[Rect],
        least: float,
        bounds: Rect,
        boxes: NDArray[np.float64] = NO_BOXES,
    ) -> Camera:
        """The first view: all of ``bounds``, or, if that needs a scale below ``least``, the first
        rectangle of the ``landmarks`` with as many of the others as fit, at ``least``.

        ``boxes``: (left, top, right, bottom) of what the edges of the view should not cut."""
        camera = self.fitted(bounds)
        if not landmarks or camera.scale >= ENOUGH * least:
            return camera
        room = (self.width - 2 * EDGE) / least, (self.height - 2 * EDGE) / least
        hull = _hull(landmarks, room)
        camera = camera.looking_at((hull.x, hull.y), least, bounds, margin=EDGE)
        return camera.clear_of(boxes, hull) if len(boxes) else camera

    def clear_of(self, boxes: NDArray[np.float64], kept: Rect) -> Camera:
        """Moved by at most ``MOST_MOVED`` px so that its edges cut fewer boxes, if ``kept`` stays
        in sight."""
        sight = self.sight
        across = _clear(
            boxes[:, [0, 2]], (sight.left, sight.right), (kept.left, kept.right), self.scale
        )
        moved = replace(self, x=self.x + across)
        left, right = moved.sight.left, moved.sight.right
        seen = boxes[(boxes[:, 0] < right) & (boxes[:, 2] > left)]
        down = _clear(
            seen[:, [1, 3]], (sight.top, sight.bottom), (kept.top, kept.bottom), self.scale
        )
        return replace(moved, y=self.y + down)

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


def _into(low: float, high: float, least: float, most: float) -> float:
    """The shortest move of a stretch into another; its beginning comes first."""
    return max(min(most - high, 0.0), least - low) if low < least or high > most else 0.0


def _without_gap(low: float, high: float, least: float, most: float) -> float:
    """The move of a stretch after which it does not end within another and reach out of it on the
    other side."""
    if low > least and high > most:
        return -min(low - least, high - most)
    return min(least - low, most - high) if low < least and high < most else 0.0


def _within(middle: float, low: float, high: float, half: float) -> float:
    """The value nearest to ``middle`` that keeps ``half`` from both ends; their middle if they are
    too close."""
    if high - low <= 2 * half:
        return (low + high) / 2
    return min(max(middle, low + half), high - half)


def _hull(landmarks: Sequence[Rect], room: tuple[float, float]) -> Rect:
    """The first rectangle and the later ones that fit into ``room`` with it, as one."""
    hull = landmarks[0]
    for rect in landmarks[1:]:
        both = Rect.around((hull.sides, rect.sides))
        if both.width <= room[0] and both.height <= room[1]:
            hull = both
    return hull


def _clear(
    spans: NDArray[np.float64], sight: tuple[float, float], kept: tuple[float, float], scale: float
) -> float:
    """The least move of ``sight`` along one axis after which its ends cut the fewest ``spans``."""
    gap, most = BESIDE / scale, MOST_MOVED / scale
    nearest = np.minimum(np.abs(spans - sight[0]), np.abs(spans - sight[1])).min(axis=1)
    spans = spans[nearest <= most + gap]
    edges = np.concatenate((spans[:, 0] - gap, spans[:, 1] + gap))
    moves = np.concatenate((edges - sight[0], edges - sight[1]))
    moves = moves[np.abs(moves) <= most]
    is_kept = (sight[0] + moves <= kept[0]) & (sight[1] + moves >= kept[1])
    found = np.concatenate(([0.0], np.unique(moves[is_kept])))
    low, high = sight[0] + found[:, None], sight[1] + found[:, None]
    begins, ends = spans[:, 0], spans[:, 1]
    cut = ((begins < low) & (low < ends)) | ((begins < high) & (high < ends))
    counts = cut.sum(axis=1)
    return float(found[np.lexsort((np.abs(found), counts))[0]])
