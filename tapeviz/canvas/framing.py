"""Areas that a viewport shows, and views that are shown again when it has another size or place."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from PySide6.QtCore import QPoint, QRect, QRectF

from ..layout.model import Point, Rect
from .camera import Camera


def area_under(camera: Camera, part: QRect) -> Rect:
    """The area of the scene that a part of the viewport (px) shows."""
    left, top = camera.to_scene((part.left(), part.top()))
    width, height = part.width() / camera.scale, part.height() / camera.scale
    return Rect(left + width / 2, top + height / 2, width, height)


def shown_at(camera: Camera, rect: Rect, least: float = 0.0) -> QRectF:
    """The rectangle of the viewport (px) that shows a rectangle of the scene, at least ``least`` px
    wide and high."""
    shown = camera.rect_on_screen(rect)
    return QRectF(shown.left, shown.top, max(shown.width, least), max(shown.height, least))


@dataclass(frozen=True)
class FirstView:
    """All of the graph, or the landmarks to begin at, see `Camera.beginning_at`."""

    landmarks: Sequence[Rect] = ()
    least: float = 0.0

    def shown(self, camera: Camera, bounds: Rect, boxes: NDArray[np.float64]) -> Camera:
        """The view in the viewport of ``camera``, of a scene with these bounds and boxes."""
        return camera.beginning_at(self.landmarks, self.least, bounds, boxes)


WHOLE = FirstView()
"""All of the graph, as the user asked."""


@dataclass(frozen=True)
class Anchored:
    """A view that stays as it is: ``point`` of the scene stands at the pixel ``at`` of the window.

    ``camera``: the view before it is moved for the ``landmarks`` within ``bounds``, see
    `Camera.keeping`.
    """

    camera: Camera
    point: Point
    at: QPoint
    landmarks: Sequence[Rect]
    least: float
    bounds: Rect

    def shown(self, width: float, height: float, at: QPoint) -> Camera:
        """The view in a viewport of this size (px); ``at``: the pixel in the viewport."""
        camera = self.camera.resized(width, height)
        x, y = camera.to_screen(self.point)
        camera = camera.panned(at.x() - x, at.y() - y)
        return camera.keeping(self.landmarks, self.least, self.bounds, self.point)
