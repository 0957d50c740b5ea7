"""Painting over the picture of a view: lit nodes, the − of a node, the frame of the focus."""

from __future__ import annotations

from PySide6.QtCore import QPointF, QRect, QRectF, Qt
from PySide6.QtGui import QColor, QPainter, QPen, QRegion

from ..layout.model import Rect
from ..scene.model import Box
from ..scene.parts.boxes import words_on
from ..scene.theme import Theme
from .camera import Camera
from .framing import shown_at


def paint_lit(painter: QPainter, box: Box, camera: Camera, theme: Theme) -> None:
    """Frame a box that the pointer is over in another panel; the frame ends at the words that stand
    on the border of the box."""
    out = 1.0 if box.ring else 4.0  # within the ring
    frame = shown_at(camera, box.rect).adjusted(-out, -out, out, out)
    free = QRegion(frame.adjusted(-2, -2, 2, 2).toAlignedRect())
    for words in words_on(box):
        free -= QRegion(shown_at(camera, words).toAlignedRect())
    painter.save()
    painter.setClipRegion(free)
    painter.setPen(QPen(QColor(theme.accent), 2))
    painter.setBrush(Qt.BrushStyle.NoBrush)
    painter.drawRoundedRect(frame, 9, 9)
    painter.restore()


def paint_minus(painter: QPainter, rect: Rect, camera: Camera, theme: Theme) -> None:
    """Paint the − that closes the group of a node; ``rect``: its place in the scene."""
    middle = QPointF(*camera.to_screen((rect.x, rect.y)))
    radius = rect.width / 2 * camera.scale
    painter.setPen(QPen(QColor(theme.group_stroke), 1.2))
    painter.setBrush(QColor(theme.panel))
    painter.drawEllipse(middle, radius, radius)
    reach = QPointF(0.55 * radius, 0)
    painter.setPen(QPen(QColor(theme.text), 1.6))
    painter.drawLine(middle - reach, middle + reach)


def paint_focus(painter: QPainter, viewport: QRect, theme: Theme) -> None:
    """Frame a viewport that got the focus by a key."""
    painter.setRenderHint(QPainter.RenderHint.Antialiasing)
    painter.setPen(QPen(QColor(theme.accent), 1.5))
    painter.setBrush(Qt.BrushStyle.NoBrush)
    painter.drawRoundedRect(QRectF(viewport).adjusted(1, 1, -1, -1), 5, 5)
