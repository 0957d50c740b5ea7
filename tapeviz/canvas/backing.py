"""Keep the picture of a camera; after a move only the strips that came into sight are painted."""

from __future__ import annotations

from collections.abc import Callable, Hashable
from dataclasses import replace

from PySide6.QtCore import QRect
from PySide6.QtGui import QColor, QImage, QPainter

from .camera import Camera

Paint = Callable[[QPainter, Camera, QRect], None]
"""Paints what a camera sees into a rectangle of the viewport, both in px."""
_WHOLE = 0.02


class Backing:
    """Keeps the last picture, with the camera and key that it was painted for."""

    def __init__(self) -> None:
        self._image: QImage | None = None
        self._camera = Camera()
        self._key: Hashable = None
        self._ratio = 1.0

    def forget(self) -> None:
        self._image = None

    def picture(
        self, camera: Camera, ratio: float, key: Hashable, ground: str, paint: Paint
    ) -> QImage:
        """The picture of a camera, painted as far as the last one does not serve.

        ``key``: everything else that the picture depends on; ``ratio``: device pixels for a px.
        """
        shift = self._shift_to(camera, ratio, key)
        if shift is None:
            image = self._blank(camera, ratio, ground)
            self._paint(image, camera, [QRect(0, 0, image.width(), image.height())], paint)
        elif shift != (0, 0) and self._image is not None:
            image = self._blank(camera, ratio, ground)
            painter = QPainter(image)
            painter.scale(1 / ratio, 1 / ratio)
            plain = QImage(self._image)
            plain.setDevicePixelRatio(1)
            painter.drawImage(*shift, plain)
            painter.end()
            strips = entering_strips(image.width(), image.height(), *shift)
            self._paint(image, camera, strips, paint)
        else:
            return self._image or QImage()
        self._image, self._camera, self._key, self._ratio = image, camera, key, ratio
        return image

    def _shift_to(self, camera: Camera, ratio: float, key: Hashable) -> tuple[int, int] | None:
        """The number of device pixels by which to move the last picture; None if it cannot be
        used."""
        old = self._camera
        if self._image is None or key != self._key or ratio != self._ratio:
            return None
        if replace(old, x=camera.x, y=camera.y) != camera:
            return None
        dx = (old.x - camera.x) * camera.scale * ratio
        dy = (old.y - camera.y) * camera.scale * ratio
        if abs(dx - round(dx)) > _WHOLE or abs(dy - round(dy)) > _WHOLE:
            return None
        if abs(dx) >= self._image.width() / 2 or abs(dy) >= self._image.height() / 2:
            return None
        return round(dx), round(dy)

    def _blank(self, camera: Camera, ratio: float, ground: str) -> QImage:
        width, height = round(camera.width * ratio), round(camera.height * ratio)
        image = QImage(width, height, QImage.Format.Format_RGB32)
        image.setDevicePixelRatio(ratio)
        image.fill(QColor(ground))
        return image

    def _paint(self, image: QImage, camera: Camera, parts: list[QRect], paint: Paint) -> None:
        ratio = image.devicePixelRatioF()
        painter = QPainter(image)
        try:
            for part in parts:
                left, top = int(part.left() / ratio) - 1, int(part.top() / ratio) - 1
                width, height = int(part.width() / ratio) + 3, int(part.height() / ratio) + 3
                painter.save()
                painter.scale(1 / ratio, 1 / ratio)
                painter.setClipRect(part)
                painter.scale(ratio, ratio)
                paint(painter, camera, QRect(left, top, width, height))
                painter.restore()
        finally:
            painter.end()


def entering_strips(width: int, height: int, dx: int, dy: int) -> list[QRect]:
    """The strips that come into sight when a picture of this size moves by ``dx, dy``."""
    found = []
    if dx:
        found.append(QRect(0 if dx > 0 else width + dx, 0, abs(dx), height))
    if dy:
        found.append(QRect(0, 0 if dy > 0 else height + dy, width, abs(dy)))
    return found
