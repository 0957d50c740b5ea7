"""Show the legend of a scene as a row of samples and words."""

from __future__ import annotations

import math

from PySide6.QtCore import QSize
from PySide6.QtGui import QPainter, QPaintEvent, QResizeEvent
from PySide6.QtWidgets import QSizePolicy, QWidget

from ..paint.painting import paint, prepare, smooth
from ..scene.model import LegendEntry
from ..scene.primitives import PrimitiveGroup, TextRun
from ..scene.sheet import LEGEND_SIZE, legend_row, legend_row_width
from ..scene.text import cap_height
from ..scene.theme import Theme

HEIGHT = 24
REST = 22.0
"""Px for the ``…`` in place of the entries that have no room."""
TROUBLE = ("cut", "bridge")
"""States whose entries are the last to be left out."""


class Legend(QWidget):
    """A widget for the header of the graph. The tooltip has all entries, the row as many as fit."""

    def __init__(self, theme: Theme) -> None:
        super().__init__()
        self._theme = theme
        self.entries: tuple[LegendEntry, ...] = ()
        self.shown: tuple[LegendEntry, ...] = ()
        """The entries that are drawn: as many as fit, in the order of ``entries``."""
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)

    def sizeHint(self) -> QSize:
        return QSize(math.ceil(legend_row_width(self.entries)), HEIGHT)

    def minimumSizeHint(self) -> QSize:
        return QSize(0, HEIGHT)

    def set_theme(self, theme: Theme) -> None:
        self._theme = theme
        self.update()

    def show_entries(self, entries: tuple[LegendEntry, ...]) -> None:
        if entries == self.entries:
            return
        self.entries = entries
        words = ", ".join(entry.text for entry in entries)
        self.setAccessibleName(f"Legend: {words}")
        self.setToolTip(f"Lines and signs: {words}" if words else "")
        self.updateGeometry()
        self._choose()

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._choose()

    def _choose(self) -> None:
        """Choose as many entries as fit; those about cuts are left out last."""
        kept = sorted(self.entries, key=lambda entry: entry.state not in TROUBLE)
        rest = 0.0
        while kept and legend_row_width(kept) + rest > self.width():
            kept.pop()
            rest = REST
        self.shown = tuple(entry for entry in self.entries if entry in kept)
        self.update()

    def paintEvent(self, event: QPaintEvent) -> None:
        painter = QPainter(self)
        smooth(painter)
        made = list(legend_row(self.shown, self._theme, 0.0, HEIGHT / 2))
        if len(self.shown) < len(self.entries):
            x = legend_row_width(self.shown) + REST / 2 if self.shown else 0.0
            y = HEIGHT / 2 + cap_height("sans", LEGEND_SIZE) / 2
            tone = self._theme.text_muted
            made.append(TextRun("legend-text", x, y, "…", "sans", LEGEND_SIZE, tone))
        paint(painter, prepare(PrimitiveGroup("legend", "", tuple(made))), has_text=True)
        painter.end()
