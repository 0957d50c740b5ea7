"""Show an array as a table of coloured cells with its numbers."""

from __future__ import annotations

import re
from typing import Any

import numpy as np
from PySide6.QtCore import QPoint, QRectF, QSize, Qt, Signal
from PySide6.QtGui import QHelpEvent, QMouseEvent, QPainter, QPaintEvent
from PySide6.QtWidgets import QSizePolicy, QWidget

from ...canvas.tips import show_tip
from ...scene.parts.numbers import scalar_text
from ...trace.stats import Array
from ..look import Theme, colour, contrast, font, mix

_EXPONENT = re.compile(r"e(-?)\+?0*(?=\d)")
"""The sign and the zeros of an exponent that say nothing."""
MOST_CELLS = 400
"""More elements are shown as an image, not as numbers."""


def as_table(array: Array) -> Array:
    """A scalar, vector or matrix as a matrix."""
    if array.ndim == 0:
        return array.reshape(1, 1)
    return array.reshape(1, -1) if array.ndim == 1 else array.reshape(-1, array.shape[-1])


def shades(table: Array) -> np.ndarray[Any, np.dtype[np.float64]]:
    """For each element its share (-1…1) of the largest modulus; NaN where it is not finite."""
    if table.dtype.kind not in "biufc":
        return np.zeros(table.shape)
    with np.errstate(invalid="ignore", over="ignore"):
        numbers = np.abs(table) if table.dtype.kind == "c" else table
        numbers = numbers.astype(np.float64)
    numbers[~np.isfinite(numbers)] = np.nan
    top = np.nanmax(np.abs(numbers)) if np.isfinite(numbers).any() else 0.0
    return numbers / top if top > 0 else numbers


def short_number(value: Any, longest: int) -> str:
    """The number as TensorFlow prints it, else with as many digits as fit into ``longest``
    characters: at least one, with its exponent (``-6e-7``)."""
    text = scalar_text(value, longest)
    for form in (".5g", ".4g", ".3g", ".2g", ".1g", ".0e"):
        if len(text) <= longest or not isinstance(value, float | np.floating):
            break
        text = _EXPONENT.sub(r"e\1", f"{value:{form}}")
    return text


class ValueTable(QWidget):
    """Cells on one scale from negative to positive. ``cell_hovered``: row, column; -1 outside."""

    cell_hovered = Signal(int, int)

    def __init__(self, theme: Theme, is_gradient: bool, cell: tuple[int, int] = (54, 25)) -> None:
        super().__init__()
        self.setMouseTracking(True)
        self._theme = theme
        self._is_gradient = is_gradient
        self._cell = cell
        self._gap = 3
        self._strength = 0.84
        self._longest = 10
        self._stretches = False
        self._table: Array = np.zeros((0, 0))
        self._texts: list[list[str]] = []
        self._shades = np.zeros((0, 0))
        self.setSizePolicy(QSizePolicy.Policy.Fixed, QSizePolicy.Policy.Fixed)

    def soften(self) -> None:
        """Show pale cells with short numbers, which may shrink."""
        self._strength = 0.3
        self._longest = 7
        self.setSizePolicy(QSizePolicy.Policy.Preferred, QSizePolicy.Policy.Fixed)

    def stretch(self) -> None:
        """Let the cells grow with the room."""
        self._stretches = True
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Expanding)

    def set_theme(self, theme: Theme) -> None:
        self._theme = theme
        self.update()

    def show_array(self, array: Array, is_gradient: bool) -> None:
        self._is_gradient = is_gradient
        self._table = as_table(array)
        self._shades = shades(self._table)
        self._texts = [[short_number(value, self._longest) for value in row] for row in self._table]
        texts = [text for row in self._texts for text in row]
        widest = max((len(text) for text in texts), default=1)
        self._cell = (max(34, 8 * widest + 14), self._cell[1])
        self.setAccessibleName("Values: " + "; ".join(", ".join(row) for row in self._texts[:20]))
        self.updateGeometry()
        self.update()

    def sizeHint(self) -> QSize:
        rows, columns = self._table.shape
        width, height = self._cell
        return QSize(
            max(columns * (width + self._gap) - self._gap, 0),
            max(rows * (height + self._gap) - self._gap, 0),
        )

    def minimumSizeHint(self) -> QSize:
        if self._stretches:
            return QSize(40, 20)
        return QSize(min(self.sizeHint().width(), 40), self.sizeHint().height())

    def _cell_size(self) -> tuple[float, float]:
        rows, columns = self._table.shape
        if not rows or not columns:
            return self._cell
        if not self._stretches:
            room = (self.width() + self._gap) / columns - self._gap
            return min(self._cell[0], room), self._cell[1]
        width = (self.width() + self._gap) / columns - self._gap
        height = (self.height() + self._gap) / rows - self._gap
        return min(max(width, 4.0), 130.0), min(max(height, 4.0), 84.0)

    def paintEvent(self, event: QPaintEvent) -> None:
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        width, height = self._cell_size()
        size = max(9.0, min(13.0, height * 0.5, width / 3.6))
        painter.setFont(font("mono", size))
        has_text = height >= 13 and width >= 26
        for i, row in enumerate(self._texts):
            for j, text in enumerate(row):
                x, y = j * (width + self._gap), i * (height + self._gap)
                self._paint_cell(painter, QRectF(x, y, width, height), (i, j), text, has_text)
        painter.end()

    def _paint_cell(
        self, painter: QPainter, rect: QRectF, at: tuple[int, int], text: str, has_text: bool
    ) -> None:
        theme, share = self._theme, float(self._shades[at])
        ramp = theme.gradient_ramp if self._is_gradient != (share < 0) else theme.value_ramp
        is_finite = share == share
        fill = (
            mix(theme.panel, ramp, 0.09 + self._strength * abs(share))
            if is_finite
            else theme.trouble_fill
        )
        painter.setPen(Qt.PenStyle.NoPen if is_finite else colour(theme.trouble))
        painter.setBrush(colour(fill))
        painter.drawRoundedRect(rect, 3, 3)
        if has_text:
            dark, light = ("#10161f", "#ffffff")
            on_fill = max((theme.text, dark, light), key=lambda tone: contrast(fill, tone))
            tone = theme.text if contrast(fill, theme.text) >= 4.5 else on_fill
            painter.setPen(colour(tone if is_finite else theme.trouble_text))
            metrics = painter.fontMetrics()
            room = int((rect.width() - 3) / max(metrics.horizontalAdvance("0"), 1))
            if len(text) > room:
                text = short_number(self._table[at], max(room, 2))
            shown = text if len(text) <= room else "…"  # the beginning of a number is another one
            painter.drawText(rect, Qt.AlignmentFlag.AlignCenter, shown)

    def cell_at(self, at: QPoint) -> tuple[int, int] | None:
        width, height = self._cell_size()
        row, column = int(at.y() // (height + self._gap)), int(at.x() // (width + self._gap))
        rows, columns = self._table.shape
        return (row, column) if 0 <= row < rows and 0 <= column < columns else None

    def mouseMoveEvent(self, event: QMouseEvent) -> None:
        cell = self.cell_at(event.position().toPoint())
        self.cell_hovered.emit(*(cell or (-1, -1)))

    def event(self, event: Any) -> bool:
        if isinstance(event, QHelpEvent):
            cell = self.cell_at(event.pos())
            text = f"[{cell[0]}, {cell[1]}] = {self._table[cell]!s}" if cell else ""
            show_tip(event.globalPos(), text, self)
            return True
        return super().event(event)
