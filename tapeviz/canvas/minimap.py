"""A small picture of the whole graph, with a frame around what is in sight."""

from __future__ import annotations

from PySide6.QtCore import QPointF, QRectF, Qt, Signal
from PySide6.QtGui import QColor, QImage, QMouseEvent, QPainter, QPaintEvent, QPen
from PySide6.QtWidgets import QWidget

from ..scene.theme import Theme
from .bands import paint_dots, paint_lines, paint_rectangles
from .camera import Camera
from .framing import shown_at
from .prepared import NOTHING_PREPARED, Prepared

WIDTH, HEIGHT = 128, 116
MARGIN = 10.0
LEAST_ROOM = 2.4
"""The map is hidden in a view that is less than this many times as wide or high."""
CROWD = 3_000


class Minimap(QWidget):
    """A small picture of the whole graph, with a frame around the part in sight. ``moved``: the
    scene point that the user wants in the middle."""

    moved = Signal(float, float)

    def __init__(self, theme: Theme, parent: QWidget) -> None:
        super().__init__(parent)
        self.setFixedSize(WIDTH, HEIGHT)
        self.setCursor(Qt.CursorShape.PointingHandCursor)
        self.setAccessibleName("Overview of the graph")
        self._theme = theme
        self._prepared: Prepared = NOTHING_PREPARED
        self._camera = Camera()
        self._image: QImage | None = None

    def set_theme(self, theme: Theme) -> None:
        self._theme = theme
        self._image = None
        self.update()

    def show_camera(self, prepared: Prepared, camera: Camera) -> None:
        """Show a scene and the view of a camera; hide while all boxes are in sight or the view is
        small."""
        if prepared is not self._prepared:
            self._prepared = prepared
            self._image = None
        self._camera = camera
        is_whole = prepared.bounds is None or camera.sight.contains(prepared.bounds)
        is_roomy = camera.width >= LEAST_ROOM * WIDTH and camera.height >= LEAST_ROOM * HEIGHT
        self.setVisible(not is_whole and is_roomy)
        self.update()

    def _own_camera(self) -> Camera:
        small = Camera(width=self.width(), height=self.height())
        return small.fitted(self._prepared.scene.bounds, MARGIN)

    def paintEvent(self, event: QPaintEvent) -> None:
        painter = QPainter(self)
        try:
            self._paint(painter)
        finally:
            painter.end()

    def _paint(self, painter: QPainter) -> None:
        theme = self._theme
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        painter.setPen(QPen(QColor(theme.border), 1))
        painter.setBrush(QColor(theme.panel))
        painter.drawRoundedRect(QRectF(self.rect()).adjusted(0.5, 0.5, -0.5, -0.5), 6, 6)
        if self._image is None:
            self._image = self._make_image()
        painter.drawImage(QPointF(0, 0), self._image)
        frame = shown_at(self._own_camera(), self._camera.sight, 3.0)
        inside = frame.intersected(QRectF(self.rect()).adjusted(2, 2, -2, -2))
        fill = QColor(theme.accent)
        fill.setAlphaF(0.12)
        painter.setBrush(fill)
        painter.setPen(QPen(QColor(theme.accent), 1.4))
        painter.drawRoundedRect(inside, 2, 2)

    def _make_image(self) -> QImage:
        prepared, own = self._prepared, self._own_camera()
        ratio = self.devicePixelRatioF()
        boxes = prepared.boxes_in(prepared.scene.bounds)
        size = self.size() * ratio
        image = QImage(size, QImage.Format.Format_ARGB32_Premultiplied)
        image.setDevicePixelRatio(ratio)
        image.fill(Qt.GlobalColor.transparent)
        painter = QPainter(image)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        if len(boxes) > CROWD:
            paint_dots(painter, prepared, boxes, own, self._theme)
        else:
            wires = prepared.wires_in(prepared.scene.bounds)
            paint_lines(painter, prepared, wires, own, self._theme, True)
            paint_rectangles(painter, prepared, boxes, own, self._theme)
        painter.end()
        return image

    def mousePressEvent(self, event: QMouseEvent) -> None:
        self._go(event.position())

    def mouseMoveEvent(self, event: QMouseEvent) -> None:
        if event.buttons() & Qt.MouseButton.LeftButton:
            self._go(event.position())

    def _go(self, at: QPointF) -> None:
        self.moved.emit(*self._own_camera().to_scene((at.x(), at.y())))
