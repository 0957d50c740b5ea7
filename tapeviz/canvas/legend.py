"""A scene's legend in, a small plate that explains its lines and signs out."""

from __future__ import annotations

from PySide6.QtCore import QRectF, QSize, Qt
from PySide6.QtGui import QColor, QFont, QFontMetrics, QPainter, QPaintEvent, QPen
from PySide6.QtWidgets import QWidget

from ..scene.model import LegendEntry
from ..scene.primitives import PrimitiveGroup
from ..scene.sheet import SAMPLE, legend_sample
from ..scene.text import FACES
from ..scene.theme import Theme
from .near import compile_group, draw

GAP = 18
SIDE = 14
HEIGHT = 28
BESIDE = 6


class Legend(QWidget):
    """Lines up the entries; those that do not fit its ``room`` go to a further row."""

    def __init__(self, theme: Theme, parent: QWidget) -> None:
        super().__init__(parent)
        self.setAttribute(Qt.WidgetAttribute.WA_TransparentForMouseEvents)
        self._graph = parent
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
        is_slim = 4 * self.height() <= self._graph.height()
        self.setVisible(bool(entries) and room > 120 and is_slim)

    def _place(self) -> QSize:
        self._places = []
        x, y, wide = SIDE, 0, 0
        for entry in self._entries:
            words = QFontMetrics(self._font).horizontalAdvance(entry.text)
            size = round(SAMPLE) + BESIDE + words
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
            sample = legend_sample(entry.state, x, y + HEIGHT / 2, theme)
            draw(painter, compile_group(PrimitiveGroup("legend", "", tuple(sample))), has_text=True)
            painter.setFont(self._font)
            painter.setPen(QColor(theme.text_muted))
            room = QRectF(x + SAMPLE + BESIDE, y, 400, HEIGHT)
            painter.drawText(room, Qt.AlignmentFlag.AlignVCenter, entry.text)
        painter.end()
