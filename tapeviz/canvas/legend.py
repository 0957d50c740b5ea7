"""A scene's legend in, a small plate that explains its lines out."""

from __future__ import annotations

from PySide6.QtCore import QLineF, QRectF, QSize, Qt
from PySide6.QtGui import QColor, QFont, QFontMetrics, QPainter, QPaintEvent, QPen
from PySide6.QtWidgets import QWidget

from ..scene.model import LegendEntry
from ..scene.strokes import look_colour, look_dash
from ..scene.text import FACES
from ..scene.theme import Theme

SAMPLE = 24
GAP = 18
SIDE = 14
HEIGHT = 28
WIDTHS = {"gradient": 3.0, "pending": 3.0, "bridge": 2.6}


class Legend(QWidget):
    """Lines up the entries; those that do not fit its ``room`` go to a further row."""

    def __init__(self, theme: Theme, parent: QWidget) -> None:
        super().__init__(parent)
        self.setAttribute(Qt.WidgetAttribute.WA_TransparentForMouseEvents)
        self._theme = theme
        self._entries: tuple[LegendEntry, ...] = ()
        self._places: list[tuple[int, int]] = []
        self._font = QFont()  # not the widget's: the stylesheet has the last word there
        self._font.setFamilies(list(FACES["sans"].families))
        self._font.setPixelSize(12)
        self._room = 400

    def set_theme(self, theme: Theme) -> None:
        self._theme = theme
        self.update()

    def show_entries(self, entries: tuple[LegendEntry, ...], room: int) -> None:
        """``room``: px that it may take in width."""
        if entries != self._entries or room != self._room:
            self._entries, self._room = entries, room
            self.setAccessibleName("Legend: " + ", ".join(entry.text for entry in entries))
            self.setFixedSize(self._place())
            self.update()
        self.setVisible(bool(entries) and room > 120)

    def _place(self) -> QSize:
        self._places = []
        x, y, wide = SIDE, 0, 0
        for entry in self._entries:
            size = SAMPLE + 6 + QFontMetrics(self._font).horizontalAdvance(entry.text)
            if x > SIDE and x + size + SIDE > self._room:
                x, y = SIDE, y + 20
            self._places.append((x, y))
            wide = max(wide, x + size + SIDE)
            x += size + GAP
        return QSize(wide, HEIGHT + y)

    def paintEvent(self, event: QPaintEvent) -> None:
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        theme = self._theme
        painter.setPen(QPen(QColor(theme.border), 1))
        painter.setBrush(QColor(theme.panel))
        painter.drawRoundedRect(QRectF(self.rect()).adjusted(0.5, 0.5, -0.5, -0.5), 13.5, 13.5)
        for entry, (x, y) in zip(self._entries, self._places, strict=True):
            self._paint_sample(painter, entry.state, x, y + HEIGHT / 2)
            painter.setFont(self._font)
            painter.setPen(QColor(theme.text_muted))
            room = QRectF(x + SAMPLE + 6, y, 400, HEIGHT)
            painter.drawText(room, Qt.AlignmentFlag.AlignVCenter, entry.text)
        painter.end()

    def _paint_sample(self, painter: QPainter, state: str, x: float, y: float) -> None:
        width = WIDTHS.get(state, 1.5)
        pen = QPen(QColor(look_colour(state, self._theme)), width)
        dash = look_dash(state, width)
        if dash:
            pen.setDashPattern([max(length / width, 0.01) for length in dash])
        round_caps = state == "bridge" or not dash
        pen.setCapStyle(Qt.PenCapStyle.RoundCap if round_caps else Qt.PenCapStyle.FlatCap)
        painter.setPen(pen)
        painter.drawLine(QLineF(x, y, x + SAMPLE - 2, y))
