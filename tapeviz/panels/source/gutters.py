"""Line numbers and signs left of the editor's text, badges right of it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from PySide6.QtCore import QEvent, QRectF, QSize, Qt
from PySide6.QtGui import (
    QFontMetrics,
    QFontMetricsF,
    QHelpEvent,
    QMouseEvent,
    QPainter,
    QPaintEvent,
    QTextCursor,
    QWheelEvent,
)
from PySide6.QtWidgets import QApplication, QWidget

from ...canvas.tips import show_tip
from ..icons import paint_icon
from ..look import SMALL, colour, font
from .line_marks import LineMark
from .sight import rows_in_sight

if TYPE_CHECKING:
    from .editor import Editor

LEFT = 8
GAP, NARROW_GAP = 12, 8
"""Px between line numbers and text; the second in a narrow window."""
SIGN_WIDTH = 13
BADGE_ROOM, NARROW_ROOM = 20, 8
"""Px around badges."""
PALE = 0.45
"""Opacity of the marks of a text that was edited since."""
ICON = 14
SIGN_ORDER = ("error", "step", "target", "source")
"""If a line has several signs, the first of these is drawn."""


class Gutter(QWidget):
    """A column beside the text, a row for each line in sight. A click puts the cursor there."""

    def __init__(self, editor: Editor) -> None:
        super().__init__(editor)
        self._editor = editor

    def wanted_width(self) -> int:
        raise NotImplementedError

    def paint_row(self, painter: QPainter, row: QRectF, line: int) -> None:
        raise NotImplementedError

    def sizeHint(self) -> QSize:
        return QSize(self.wanted_width(), 0)

    def _rows(self) -> Iterator[tuple[int, QRectF]]:
        for block, rect in rows_in_sight(self._editor):
            yield block.blockNumber() + 1, QRectF(0, rect.top(), self.width(), rect.height())

    def paintEvent(self, event: QPaintEvent) -> None:
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        for line, row in self._rows():
            fill = self._editor.fill_of(line)
            if fill:
                painter.fillRect(row, colour(fill))
            painter.setOpacity(PALE if self._editor.are_outdated else 1.0)
            self.paint_row(painter, row, line)
            painter.setOpacity(1.0)
        painter.end()

    def mousePressEvent(self, event: QMouseEvent) -> None:
        for line, row in self._rows():
            if row.top() <= event.position().y() < row.bottom():
                block = self._editor.document().findBlockByNumber(line - 1)
                self._editor.setFocus()
                self._editor.setTextCursor(QTextCursor(block))

    def wheelEvent(self, event: QWheelEvent) -> None:
        QApplication.sendEvent(self._editor.viewport(), event)

    def event(self, event: QEvent) -> bool:
        if event.type() == QEvent.Type.ToolTip and isinstance(event, QHelpEvent):
            show_tip(event.globalPos(), self._editor.tip_at(event.pos().y()), self)
            return True
        return super().event(event)


class Margin(Gutter):
    """Line numbers, a bar at lines in trouble, and the signs of sources, target and step."""

    def wanted_width(self) -> int:
        digits = max(2, len(str(self._editor.blockCount())))
        wide = QFontMetricsF(self._editor.font()).horizontalAdvance("0") * digits
        return round(LEFT + SIGN_WIDTH + wide + self._gap)

    @property
    def _gap(self) -> int:
        return NARROW_GAP if self._editor.is_narrow else GAP

    def paint_row(self, painter: QPainter, row: QRectF, line: int) -> None:
        theme, marks = self._editor.theme, self._editor.marks_at(line)
        if any(mark.has_bar for mark in marks):
            painter.fillRect(QRectF(0, row.top(), 3, row.height()), colour(theme.trouble))
        signs = {mark.sign for mark in marks}
        sign = next((sign for sign in SIGN_ORDER if sign in signs), "")
        if sign:
            self._paint_sign(painter, QRectF(6, row.center().y() - 6, 12, 12), sign)
        painter.setFont(self._editor.font())
        is_current = line == self._editor.line
        painter.setPen(colour(theme.text_muted if is_current else theme.text_faint))
        side = Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter
        painter.drawText(row.adjusted(0, 0, -self._gap, 0), side, str(line))

    def _paint_sign(self, painter: QPainter, spot: QRectF, sign: str) -> None:
        theme = self._editor.theme
        if sign == "step":
            paint_icon(painter, "play", spot, theme.gradient)
        elif sign == "error":
            paint_icon(painter, "close", spot, theme.trouble_text, 2)
        elif sign == "target":
            paint_icon(painter, "target", spot, theme.accent)
        else:
            painter.setPen(Qt.PenStyle.NoPen)
            painter.setBrush(colour(theme.variable_stroke))
            painter.drawEllipse(spot.center(), 3.2, 3.2)


class BadgeGutter(Gutter):
    """Badges for the outcome of calls and for cuts, in a narrow window as icons; has no width
    without badges."""

    def wanted_width(self) -> int:
        badged = [mark for mark in self._editor.marks if mark.badge]
        metrics = QFontMetrics(font("sans", SMALL, is_bold=True))
        widths = {
            ICON if self._icon(mark) else metrics.horizontalAdvance(mark.badge) for mark in badged
        }
        room = NARROW_ROOM if self._editor.is_narrow else BADGE_ROOM
        return max(widths) + room if widths else 0

    def _icon(self, mark: LineMark) -> str:
        """The icon in place of a badge's words, empty for the words."""
        if mark.badge == "✂":
            return "scissors"
        if not self._editor.is_narrow:
            return ""
        words = ("None", "none"), ("zero", "zero"), ("✕", "close")
        trouble = next((icon for word, icon in words if mark.badge.startswith(word)), "warning")
        return "check" if mark.is_good else trouble

    def paint_row(self, painter: QPainter, row: QRectF, line: int) -> None:
        badged = [mark for mark in self._editor.marks_at(line) if mark.badge]
        if badged:
            self._paint_badge(painter, row, badged[-1])

    def _paint_badge(self, painter: QPainter, row: QRectF, mark: LineMark) -> None:
        theme = self._editor.theme
        tone = theme.success_text if mark.is_good else theme.trouble_text
        if icon := self._icon(mark):
            half = ICON / 2
            spot = QRectF(row.center().x() - half, row.center().y() - half, ICON, ICON)
            paint_icon(painter, icon, spot, tone)
        else:
            painter.setFont(font("sans", SMALL, is_bold=True))
            painter.setPen(colour(tone))
            painter.drawText(row, Qt.AlignmentFlag.AlignCenter, mark.badge)
