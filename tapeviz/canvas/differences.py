"""Paint frames and headings on the differences of two pictures, at any scale."""

from __future__ import annotations

from collections.abc import Iterable

from PySide6.QtCore import QPointF, Qt
from PySide6.QtGui import QColor, QFontMetricsF, QPainter, QPen

from ..paint.fonts import qfont
from ..scene.model import Change, Heading
from ..scene.parts.changes import HEADING_SIZE, NOTE_DROP, NOTE_SIZE, change_colours, frame_rect
from ..scene.text import clean
from ..scene.theme import Theme
from .camera import Camera
from .framing import shown_at

LEAST_HEADING = 11.0
"""Px; a heading stays readable at any scale."""


def paint_frames(
    painter: QPainter, changes: Iterable[Change], camera: Camera, theme: Theme
) -> None:
    """Frames without signs, at least 3 px wide: for scales at which signs cannot be recognized."""
    painter.setBrush(Qt.BrushStyle.NoBrush)
    for change in changes:
        painter.setPen(QPen(QColor(change_colours(change.kind, theme)[0]), 1.5))
        painter.drawRect(shown_at(camera, frame_rect(change), 3.0))


def paint_headings(
    painter: QPainter, headings: Iterable[Heading], camera: Camera, theme: Theme
) -> None:
    """Headings, at least 11 px high; the note is left out where the two lines would touch."""
    scale = camera.scale
    for heading in headings:
        x, y = camera.to_screen((heading.x, heading.y))
        rows = [(heading.text, HEADING_SIZE, 600, theme.text, 0.0)]
        if NOTE_DROP * scale >= LEAST_HEADING:
            rows.append((heading.note, NOTE_SIZE, 400, theme.text_muted, NOTE_DROP * scale))
        for text, size, weight, tone, drop in rows:
            font = qfont("mono", max(size * scale, LEAST_HEADING), weight)
            metrics = QFontMetricsF(font)
            room = heading.width * scale
            shown = metrics.elidedText(clean(text), Qt.TextElideMode.ElideRight, room)
            painter.setFont(font)
            painter.setPen(QColor(tone))
            painter.drawText(QPointF(x, y + drop), shown)
