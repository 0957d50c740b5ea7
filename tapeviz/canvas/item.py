"""A scene and a camera in, its picture out: one graphics item, however many nodes."""

from __future__ import annotations

from collections.abc import Callable

import pyqtgraph as pg
from PySide6.QtCore import QPointF, QRectF
from PySide6.QtGui import QPainter
from PySide6.QtWidgets import QStyleOptionGraphicsItem, QWidget

from ..scene.model import Scene
from ..scene.theme import Theme
from .bands import band_for, paint_lines, paint_rectangles, splat
from .camera import Camera
from .near import NearPainter
from .prepared import NOTHING_PREPARED, Prepared


class SceneItem(pg.GraphicsObject):  # type: ignore[misc]
    """Paints prepared data; it covers the viewport, and the camera says what is in sight."""

    def __init__(self, theme: Theme, failed: Callable[[Exception], None]) -> None:
        super().__init__()
        self.prepared = NOTHING_PREPARED
        self.camera = Camera()
        self.theme = theme
        self._failed = failed
        self._near = NearPainter(theme)

    def set_scene(self, scene: Scene) -> None:
        if scene is not self.prepared.scene:
            self.prepared = Prepared(scene, self.prepared)
            self.update()

    def set_camera(self, camera: Camera) -> None:
        if camera != self.camera:
            if (camera.width, camera.height) != (self.camera.width, self.camera.height):
                self.prepareGeometryChange()
            self.camera = camera
            self.update()

    def set_theme(self, theme: Theme) -> None:
        self.theme = theme
        self._near = NearPainter(theme)
        self.update()

    def changeParent(self) -> None:
        """pyqtgraph would look for a ViewBox of its own here; the camera takes its place."""

    def boundingRect(self) -> QRectF:
        return QRectF(0, 0, self.camera.width, self.camera.height)

    def paint(
        self, painter: QPainter, option: QStyleOptionGraphicsItem, widget: QWidget | None = None
    ) -> None:
        painter.save()
        try:
            self.paint_scene(painter, self.camera)
        except Exception as error:  # one that left paint would leave the painter open: a crash
            self._failed(error)
        finally:
            painter.restore()

    def paint_scene(self, painter: QPainter, camera: Camera) -> None:
        """What ``camera`` sees, in the detail that it can show; the painter is in px."""
        prepared = self.prepared
        if not prepared.scene.boxes:
            return
        boxes = prepared.boxes_in(camera.sight)
        wires = prepared.wires_in(camera.sight)
        band = band_for(camera.scale, len(boxes))
        if band == "near":
            painter.setRenderHint(QPainter.RenderHint.Antialiasing)
            painter.setRenderHint(QPainter.RenderHint.TextAntialiasing)
            painter.translate(camera.width / 2, camera.height / 2)
            painter.scale(camera.scale, camera.scale)
            painter.translate(-camera.x, -camera.y)
            self._near.paint(painter, prepared, boxes, wires)
            return
        painter.setRenderHint(QPainter.RenderHint.Antialiasing, False)
        paint_lines(painter, prepared, wires, camera, self.theme, band == "far")
        if band == "middle":
            paint_rectangles(painter, prepared, boxes, camera, self.theme)
        else:
            ratio = painter.device().devicePixelRatioF()
            image = splat(prepared, boxes, camera, self.theme, ratio)
            painter.drawImage(QPointF(0, 0), image)
