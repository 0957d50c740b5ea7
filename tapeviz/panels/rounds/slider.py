"""A slider over the rounds of a call site, or over the calls of a compiled function: loss and
gradient norms as lines, marks where a round differs, a knob at the one that is shown."""

from __future__ import annotations

import numpy as np
from PySide6.QtCore import QEvent, QPointF, QRectF, QSize, Qt
from PySide6.QtGui import QMouseEvent, QPainter, QPaintEvent, QPen, QPixmap, QPolygonF
from PySide6.QtWidgets import QSizePolicy, QSlider, QToolTip

from ...analysis.findings import Status
from ...analysis.rounds.call_sites import CallSite, Numbers
from ...analysis.status import round_word
from ..look import Theme, colour
from .sparkline import line_points, paint_line, runs

HEIGHT = 30
LOW = 20
"""Px of height without numbers to draw."""
SIDE = 10.0
KNOB = 5.0
BAND = 7.0
"""Px below the lines for the marks of rounds that differ."""
MARK = 2.8
PAGE = 10
MOST_LINES = 8
MOST_NAMED = 3


class RoundSlider(QSlider):
    """A slider whose value is the round, from 1."""

    def __init__(self, theme: Theme) -> None:
        super().__init__(Qt.Orientation.Horizontal)
        self._theme = theme
        self._site: CallSite | None = None
        self._numbers: Numbers = np.zeros(0)
        self._noun = "round"
        self._has_lines = False
        self._ground: QPixmap | None = None
        self.setAccessibleName("Round")
        self.setPageStep(PAGE)
        self.setMouseTracking(True)
        self.setFixedHeight(HEIGHT)
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        self.setCursor(Qt.CursorShape.PointingHandCursor)

    def sizeHint(self) -> QSize:
        return QSize(200, HEIGHT)

    def set_theme(self, theme: Theme) -> None:
        self._theme = theme
        self._ground = None
        self.update()

    def show_site(self, site: CallSite, number: int) -> None:
        """Show a call site with the knob at a round, without a signal."""
        is_new = site is not self._site
        self._site, self._numbers, self._noun = site, site.target_values, "round"
        self._put(is_new, len(site), number)

    def show_calls(self, returned: Numbers, number: int) -> None:
        """Show the calls of a compiled function, a number that each returned, NaN where unknown."""
        is_new = returned is not self._numbers
        self._site, self._numbers, self._noun = None, returned, "call"
        self._put(is_new, len(returned), number)

    def _put(self, is_new: bool, count: int, number: int) -> None:
        self.blockSignals(True)
        if is_new:
            self._ground = None
            self._has_lines = self._site is not None or int(np.isfinite(self._numbers).sum()) > 1
            self.setFixedHeight(HEIGHT if self._has_lines else LOW)
            self.setRange(1, count)
        self.setValue(number)
        self.blockSignals(False)
        self.update()

    # The pointer

    def mousePressEvent(self, event: QMouseEvent) -> None:
        if event.button() == Qt.MouseButton.LeftButton:
            self.setSliderDown(True)
            self.setValue(self._round_at(event.position().x()))

    def mouseMoveEvent(self, event: QMouseEvent) -> None:
        number = self._round_at(event.position().x())
        if self.isSliderDown():
            self.setValue(number)
        QToolTip.showText(event.globalPosition().toPoint(), self.words_at(number), self)

    def mouseReleaseEvent(self, event: QMouseEvent) -> None:
        self.setSliderDown(False)

    def words_at(self, number: int) -> str:
        """For the tooltip: ``round 137 · ∂w NaN · another shape``."""
        site = self._site
        words = () if site is None else (trouble_words(site, number), shape_words(site, number))
        return " · ".join(part for part in (f"{self._noun} {number}", *words) if part)

    def _round_at(self, x: float) -> int:
        share = (x - SIDE) / max(self.width() - 2 * SIDE, 1)
        low, high = self.minimum(), self.maximum()
        return max(low, min(high, low + round(share * (high - low))))

    def _x(self, number: float) -> float:
        span = max(self.maximum() - self.minimum(), 1)
        return SIDE + (self.width() - 2 * SIDE) * (number - self.minimum()) / span

    # Painting

    def changeEvent(self, event: QEvent) -> None:
        self._ground = None
        super().changeEvent(event)

    def paintEvent(self, event: QPaintEvent) -> None:
        ratio = self.devicePixelRatioF()
        if self._ground is None or self._ground.size() != self.size() * ratio:
            self._ground = QPixmap(self.size() * ratio)
            self._ground.setDevicePixelRatio(ratio)
            self._ground.fill(Qt.GlobalColor.transparent)
            self._paint_lines(self._ground)
        theme = self._theme
        painter = QPainter(self)
        painter.drawPixmap(0, 0, self._ground)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        x = self._x(self.value())
        if self._has_lines:
            painter.setPen(QPen(colour(theme.text), 1.2))
            painter.drawLine(QPointF(x, KNOB), QPointF(x, self.height() - 1.0))
        painter.setPen(QPen(colour(theme.panel if not self.hasFocus() else theme.text), 1.5))
        painter.setBrush(colour(theme.accent))
        knob = KNOB + 1 if self._has_lines else self.height() / 2
        painter.drawEllipse(QPointF(x, knob), KNOB, KNOB)
        painter.end()

    def _paint_lines(self, ground: QPixmap) -> None:
        site, theme = self._site, self._theme
        painter = QPainter(ground)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        if not self._has_lines:
            middle = self.height() / 2
            painter.setPen(QPen(colour(theme.border), 2.0))
            painter.drawLine(QPointF(SIDE, middle), QPointF(self.width() - SIDE, middle))
        for heights in _norm_heights(site) if site is not None else ():
            self._paint_line(painter, heights, theme.gradient, 1.3)
        self._paint_line(painter, line_points(self._numbers), theme.accent, 1.6)
        if site is None:
            infinite = np.flatnonzero(np.isinf(self._numbers)) + 1
            self._paint_marks(painter, infinite.tolist(), "nonfinite")
            painter.end()
            return
        for status in ("none", "zero", "nonfinite"):
            numbers = {n for series in site.sources for n in series.rounds_with(status)}
            self._paint_marks(painter, sorted(numbers), status)
        self._paint_marks(painter, site.odd_shapes, "")
        painter.end()

    def _paint_line(self, painter: QPainter, heights: Numbers, tone: str, width: float) -> None:
        top, bottom = 2 * KNOB, self.height() - BAND - 3
        painter.setPen(QPen(colour(tone), width))
        paint_line(painter, heights, self.width(), self._x, lambda h: bottom - (bottom - top) * h)

    def _paint_marks(
        self, painter: QPainter, numbers: tuple[int, ...] | list[int], status: Status | str
    ) -> None:
        """A bar over rounds in a row; where it begins a sign: a dot for None, a ring for zero, a
        triangle for NaN, a square for another shape."""
        theme, y = self._theme, self.height() - BAND / 2 - 0.5
        tone = colour(theme.trouble if status else theme.text_muted)
        for run in runs(numbers):
            left, right = self._x(int(run[0])), self._x(int(run[-1]))
            painter.setPen(QPen(tone, 1.2))
            painter.drawLine(QPointF(left, y), QPointF(right, y))
            painter.setBrush(tone if status in ("none", "nonfinite") else colour(theme.panel))
            at = QPointF(left, y)
            if status == "nonfinite":
                corners = ((-MARK, MARK), (MARK, MARK), (0.0, -MARK))
                painter.drawPolygon(QPolygonF([at + QPointF(*corner) for corner in corners]))
            elif status:
                painter.drawEllipse(at, MARK, MARK)
            else:
                painter.drawRect(QRectF(left - MARK + 0.4, y - MARK + 0.4, 4.8, 4.8))


def _norm_heights(site: CallSite) -> list[Numbers]:
    """The heights (0…1) of the lines of gradient norms, on a common scale."""
    series = sorted(site.sources, key=lambda series: -float(np.nansum(series.norms)))[:MOST_LINES]
    return list(line_points(np.stack([each.norms for each in series]))) if series else []


def trouble_words(site: CallSite, number: int) -> str:
    """Say what went wrong in a round: ``∂w NaN · ∂b zero``."""
    parts = [
        f"∂{series.source} {round_word(series, number)}"
        for series in site.sources
        if series.statuses[number - 1] not in (None, "flows")
    ]
    if len(parts) > MOST_NAMED:
        parts[MOST_NAMED - 1 :] = [f"{len(parts) - MOST_NAMED + 1} more"]
    return " · ".join(parts)


def shape_words(site: CallSite, number: int) -> str:
    """Say that a round ran other ops than most, as the last batch may: nothing went wrong."""
    return "another shape" if number in site.odd_shapes else ""
