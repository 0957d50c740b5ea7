"""A scene's legend in, a small plate that explains its lines and signs out."""

from __future__ import annotations

import math

from PySide6.QtCore import Qt
from PySide6.QtGui import QPainter, QPaintEvent
from PySide6.QtWidgets import QWidget

from ..paint.painting import paint, prepare, smooth
from ..scene.model import LegendEntry
from ..scene.sheet import legend_extent, legend_group
from ..scene.theme import Theme

_BORDER = 0.5
"""Half of the plate's outline, px: the widget has room for all of it."""


class Legend(QWidget):
    """The legend of an exported picture, in rows as wide as the graph has room for."""

    def __init__(self, theme: Theme, parent: QWidget) -> None:
        super().__init__(parent)
        self.setAttribute(Qt.WidgetAttribute.WA_TransparentForMouseEvents)
        self._graph = parent
        self._theme = theme
        self._entries: tuple[LegendEntry, ...] = ()
        self._room = 400

    def set_theme(self, theme: Theme) -> None:
        self._theme = theme
        self.update()

    def show_entries(self, entries: tuple[LegendEntry, ...], room: int) -> None:
        """``room``: px that it may take in width."""
        if entries != self._entries or room != self._room:
            self._entries, self._room = entries, room
            self.setAccessibleName("Legend: " + ", ".join(entry.text for entry in entries))
            width, height = legend_extent(entries, room - 2 * _BORDER)
            self.setFixedSize(math.ceil(width + 2 * _BORDER), math.ceil(height + 2 * _BORDER))
            self.update()
        is_slim = 4 * self.height() <= self._graph.height()
        self.setVisible(bool(entries) and room > 120 and is_slim)

    def paintEvent(self, event: QPaintEvent) -> None:
        painter = QPainter(self)
        smooth(painter)
        width = self._room - 2 * _BORDER
        group = legend_group(self._entries, self._theme, _BORDER, _BORDER, width)
        paint(painter, prepare(group), has_text=True)
        painter.end()
