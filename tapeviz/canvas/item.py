"""Paint a scene under a camera: one graphics item for all nodes."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

import pyqtgraph as pg
from PySide6.QtCore import QPointF, QRect, QRectF
from PySide6.QtGui import QImage, QPainter
from PySide6.QtWidgets import QStyleOptionGraphicsItem, QWidget

from ..scene.model import Scene
from ..scene.theme import Theme
from .backing import Backing
from .bands import Band, band_for, paint_borders, paint_dots, paint_lines, paint_rectangles
from .camera import Camera
from .differences import paint_frames, paint_headings
from .framing import area_under
from .near import NearPainter
from .prepared import NOTHING_PREPARED, Ints, Prepared


class SceneItem(pg.GraphicsObject):  # type: ignore[misc]
    """An item as large as the viewport that paints the part of a scene that its camera sees."""

    def __init__(self, theme: Theme, failed: Callable[[Exception], None]) -> None:
        super().__init__()
        self.prepared = NOTHING_PREPARED
        self.camera = Camera()
        self.theme = theme
        self._failed = failed
        self._near = NearPainter(theme)
        self._backing = Backing()

    def set_scene(self, scene: Scene) -> None:
        if scene is not self.prepared.scene:
            self.prepared = Prepared(scene, self.prepared)
            self._backing.forget()
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
        try:
            ratio = painter.device().devicePixelRatioF()
            painter.drawImage(QPointF(0, 0), self._picture(ratio))
        except Exception as error:  # with an exception the painter would stay open, and Qt crashes
            self._failed(error)

    def _picture(self, ratio: float) -> QImage:
        boxes = self.prepared.boxes_in(self.camera.sight)
        band = band_for(self.camera.scale, len(boxes))
        return self._backing.picture(
            self.camera,
            ratio,
            (id(self.prepared), self.theme.name, band),
            self.theme.background,
            partial(self._paint_part, band),
        )

    def _paint_part(self, band: Band, painter: QPainter, camera: Camera, part: QRect) -> None:
        """Paint a part of the viewport (px) with the detail of a band."""
        prepared = self.prepared
        if not prepared.scene.boxes:
            return
        sight = area_under(camera, part)
        boxes, wires = prepared.boxes_in(sight), prepared.wires_in(sight)
        if band == "near":
            painter.save()
            painter.translate(camera.width / 2, camera.height / 2)
            painter.scale(camera.scale, camera.scale)
            painter.translate(-camera.x, -camera.y)
            self._near.paint(painter, prepared, boxes, wires, camera.sight)
            painter.restore()
        else:
            self._paint_far(painter, camera, boxes, wires, band)
        paint_headings(painter, prepared.scene.headings, camera, self.theme)

    def _paint_far(
        self, painter: QPainter, camera: Camera, boxes: Ints, wires: Ints, band: Band
    ) -> None:
        prepared = self.prepared
        painter.setRenderHint(QPainter.RenderHint.Antialiasing, False)
        paint_borders(painter, prepared.scene.frames, camera, self.theme)
        paint_lines(painter, prepared, wires, camera, self.theme, band == "far")
        if band == "middle":
            paint_rectangles(painter, prepared, boxes, camera, self.theme)
        else:
            paint_dots(painter, prepared, boxes, camera, self.theme)
        paint_frames(painter, prepared.scene.changes, camera, self.theme)
