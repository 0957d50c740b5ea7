"""A small line of numbers by round, without axes, with marks at rounds that differ."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
from PySide6.QtCore import QPointF, QSize, Qt, Signal
from PySide6.QtGui import QMouseEvent, QPainter, QPaintEvent, QPen, QPixmap, QPolygonF
from PySide6.QtWidgets import QSizePolicy, QWidget

from ...analysis.rounds.call_sites import Numbers
from ...trace.stats import Array
from ..look import Theme, colour

HEIGHT = 34
MARK = 3.0
DECADES = 2.0
"""Powers of ten that numbers must span to be drawn by their logarithm."""


def line_points(numbers: Numbers) -> Numbers:
    """The heights (0…1) of lines by round, on a common scale, NaN without a number; logarithmic for
    positive numbers that span decades. Any shape, rounds last."""
    heights = scaled(numbers)
    known = heights[np.isfinite(heights)]
    low, high = (float(known.min()), float(known.max())) if known.size else (0.0, 0.0)
    if high == low:
        return np.where(np.isfinite(heights), 0.5, np.nan)
    return (heights - low) / (high - low)


def spans_decades(numbers: Numbers) -> bool:
    known = numbers[np.isfinite(numbers) & (numbers != 0)]
    if not known.size or (known < 0).any():
        return False
    return bool(np.log10(known.max()) - np.log10(known.min()) >= DECADES)


def scaled(numbers: Numbers) -> Numbers:
    """The numbers, or their logarithms to base ten if they span decades."""
    return logarithms(numbers) if spans_decades(numbers) else numbers


def logarithms(numbers: Numbers) -> Numbers:
    """Logarithms to base ten; NaN for numbers that have none."""
    with np.errstate(divide="ignore", invalid="ignore"):
        logs = np.log10(numbers)
    return np.where(np.isfinite(logs), logs, np.nan)


def paint_line(
    painter: QPainter,
    heights: Numbers,
    width: int,
    x: Callable[[int], float],
    y: Callable[[float], float],
) -> None:
    """Paint a polyline in the painter's pen, broken where there is no number. ``width``: px that
    the rounds share; ``x``: of a round (from 1); ``y``: of a height."""
    for run in runs(np.flatnonzero(np.isfinite(heights))):
        known = drawn_rounds(heights, range(int(run[0]), int(run[-1]) + 1), width)
        points = [QPointF(x(n + 1), y(float(heights[n]))) for n in known]
        if len(points) > 1:
            painter.drawPolyline(QPolygonF(points))
        else:
            painter.drawPoint(points[0])


def runs(numbers: Sequence[int] | Array) -> list[Array]:
    """The stretches of ascending whole numbers without a gap."""
    known = np.asarray(numbers, np.int64)
    return [run for run in np.split(known, np.flatnonzero(np.diff(known) > 1) + 1) if run.size]


class Sparkline(QWidget):
    """A widget; ``round_picked``: the round (from 1) under a click."""

    round_picked = Signal(int)

    def __init__(self, numbers: Numbers, marked: Sequence[int], tone: str, theme: Theme) -> None:
        super().__init__()
        self._heights = line_points(numbers)
        self._marked = tuple(marked)
        self._tone, self._theme = tone, theme
        self._current = 0
        self._ground = QPixmap()
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        self.setCursor(Qt.CursorShape.PointingHandCursor)
        self.setToolTip("By round; a click shows that round")

    def sizeHint(self) -> QSize:
        return QSize(120, HEIGHT)

    def show_round(self, number: int) -> None:
        """Mark the round that is shown (0: none of these)."""
        if number != self._current:
            self._current = number
            self.update()

    def mousePressEvent(self, event: QMouseEvent) -> None:
        share = (event.position().x() - MARK) / max(self.width() - 2 * MARK, 1)
        rounds = len(self._heights)
        self.round_picked.emit(max(1, min(rounds, round(share * (rounds - 1)) + 1)))

    def _x(self, number: int) -> float:
        rounds = len(self._heights)
        return MARK + (self.width() - 2 * MARK) * (number - 1) / max(rounds - 1, 1)

    def _y(self, height: float) -> float:
        return self.height() - 5 - (self.height() - 10) * height

    def paintEvent(self, event: QPaintEvent) -> None:
        theme, ratio = self._theme, self.devicePixelRatioF()
        if self._ground.size() != self.size() * ratio:
            self._ground = QPixmap(self.size() * ratio)
            self._ground.setDevicePixelRatio(ratio)
            self._ground.fill(Qt.GlobalColor.transparent)
            self._paint_line(self._ground)
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        if self._current:
            painter.setPen(QPen(colour(theme.text_faint), 1))
            x = self._x(self._current)
            painter.drawLine(QPointF(x, 1), QPointF(x, self.height() - 1))
        painter.drawPixmap(0, 0, self._ground)
        painter.end()

    def _paint_line(self, ground: QPixmap) -> None:
        painter = QPainter(ground)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        painter.setPen(QPen(colour(self._tone), 1.6))
        paint_line(painter, self._heights, ground.width(), self._x, self._y)
        painter.setPen(QPen(colour(self._theme.trouble), MARK))
        for run in runs(self._marked):
            y = self.height() - 3.0
            left, right = self._x(int(run[0])), self._x(int(run[-1]))
            painter.drawLine(QPointF(left, y), QPointF(max(right, left + 0.1), y))
        painter.end()


def drawn_rounds(heights: Numbers, stretch: range, width: int) -> Sequence[int]:
    """The rounds (from 0) of a stretch that are drawn in so many px: all, or where several share
    one the first, last, least and most of them."""
    size = -(-len(stretch) // max(width, 1))
    if size <= 4:
        return stretch
    whole = len(stretch) // size
    parts = heights[stretch.start : stretch.start + whole * size].reshape(whole, size)
    ends = np.zeros(whole, np.int64)
    places = np.stack([ends, parts.argmin(axis=1), parts.argmax(axis=1), ends + size - 1], axis=1)
    drawn = stretch.start + np.arange(whole)[:, None] * size + np.sort(places, axis=1)
    return [*np.unique(drawn).tolist(), *stretch[whole * size :]]
