"""Keys and marks in, a Python text out: the editor with its margin."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from PySide6.QtCore import QEvent, QMimeData, QRect, QRectF, QSize, Qt, Signal
from PySide6.QtGui import (
    QFontMetricsF,
    QHelpEvent,
    QKeyEvent,
    QMouseEvent,
    QPainter,
    QPaintEvent,
    QResizeEvent,
    QTextBlock,
    QTextCursor,
    QWheelEvent,
)
from PySide6.QtWidgets import QPlainTextEdit, QWidget

from ..canvas.tips import show_tip
from . import editing
from .highlighter import Highlighter
from .icons import paint_icon
from .line_marks import LineMark
from .look import CODE, SMALL, Theme, colour, font

SIZES = range(8, 33)
LEFT = 8
GAP = 12
SIGN_WIDTH = 13


class Editor(QPlainTextEdit):
    """``line_reached``: the cursor came to another line, by the user's doing."""

    line_reached = Signal(int)
    pasted = Signal()

    def __init__(self, theme: Theme) -> None:
        super().__init__()
        self.setAccessibleName("Source")
        self.setLineWrapMode(QPlainTextEdit.LineWrapMode.NoWrap)
        self.setTabChangesFocus(False)
        self.setPlaceholderText("Paste a snippet that calls tape.gradient, and press Ctrl+Enter.")
        self._theme = theme
        self._marks: Sequence[LineMark] = ()
        self._line = 0
        self._size = CODE
        self.margin = Margin(self)
        self._highlighter = Highlighter(self.document(), theme)
        self.document().setDocumentMargin(4)
        self.blockCountChanged.connect(self._fit_margin)
        self.updateRequest.connect(self._follow_scroll)
        self.cursorPositionChanged.connect(self._notice_line)
        self.set_size(CODE)

    # Look

    def set_theme(self, theme: Theme) -> None:
        self._theme = theme
        self._highlighter.set_theme(theme)
        self.viewport().update()
        self.margin.update()

    def set_size(self, size: int) -> None:
        """The font's height in px, within bounds."""
        self._size = max(SIZES.start, min(size, SIZES.stop - 1))
        # The stylesheet speaks for all widgets; only a sheet of its own changes this one's size.
        self.setStyleSheet(f"font-size: {self._size}px;")
        self.setFont(font("mono", self._size))
        self.setTabStopDistance(4 * QFontMetricsF(self.font()).horizontalAdvance(" "))
        self._fit_margin()

    @property
    def size_px(self) -> int:
        return self._size

    def zoom(self, steps: int) -> None:
        self.set_size(self._size + steps)

    def set_marks(self, marks: Sequence[LineMark]) -> None:
        self._marks = marks
        self.viewport().update()
        self.margin.update()

    def _tints(self) -> dict[int, str]:
        """The colour of each tinted line; of several marks at a line the last one counts."""
        theme = self._theme
        fills = {
            "trouble": theme.trouble_fill,
            "call": theme.accent_fill,
            "step": theme.gradient_fill,
        }
        return {mark.line: fills[mark.tint] for mark in self._marks if mark.tint}

    # Margin

    def margin_width(self) -> int:
        digits = max(2, len(str(self.blockCount())))
        wide = QFontMetricsF(self.font()).horizontalAdvance("0") * digits
        return round(LEFT + SIGN_WIDTH + wide + GAP)

    def _fit_margin(self) -> None:
        self.setViewportMargins(self.margin_width(), 0, 0, 0)
        self._place_margin()

    def _place_margin(self) -> None:
        inside = self.contentsRect()
        self.margin.setGeometry(
            QRect(inside.left(), inside.top(), self.margin_width(), inside.height())
        )

    def _follow_scroll(self, rect: QRect, dy: int) -> None:
        if dy:
            self.margin.scroll(0, dy)
        else:
            self.margin.update(0, rect.y(), self.margin.width(), rect.height())

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._place_margin()

    def visible_lines(self) -> list[tuple[QTextBlock, QRectF]]:
        """The blocks in sight, each with its rectangle in the viewport."""
        found = []
        block = self.firstVisibleBlock()
        while block.isValid():
            rect = self.blockBoundingGeometry(block).translated(self.contentOffset())
            if rect.top() > self.viewport().height():
                break
            found.append((block, rect))
            block = block.next()
        return found

    def paintEvent(self, event: QPaintEvent) -> None:
        tints = self._tints()
        painter = QPainter(self.viewport())
        for block, rect in self.visible_lines():
            fill = tints.get(block.blockNumber() + 1)
            if fill:
                row = QRectF(0, rect.top(), self.viewport().width(), rect.height())
                painter.fillRect(row, colour(fill))
        painter.end()
        super().paintEvent(event)
        badges = {mark.line: mark for mark in self._marks if mark.badge}
        painter = QPainter(self.viewport())
        for block, rect in self.visible_lines():
            line = block.blockNumber() + 1
            if line in badges:
                self._paint_badge(painter, rect, badges[line], tints.get(line))
        painter.end()

    def _paint_badge(
        self, painter: QPainter, rect: QRectF, mark: LineMark, fill: str | None
    ) -> None:
        theme = self._theme
        tone = theme.success_text if mark.is_good else theme.trouble_text
        painter.setFont(font("sans", SMALL, is_bold=True))
        width = painter.fontMetrics().horizontalAdvance(mark.badge) + 24
        area = QRectF(self.viewport().width() - width, rect.top(), width, rect.height())
        painter.fillRect(area, colour(fill or theme.panel))
        if mark.badge == "✂":
            spot = QRectF(area.right() - 27, area.center().y() - 7, 14, 14)
            paint_icon(painter, "scissors", spot, tone)
        else:
            painter.setPen(colour(tone))
            painter.drawText(area, Qt.AlignmentFlag.AlignCenter, mark.badge)

    def paint_margin(self, painter: QPainter) -> None:
        theme = self._theme
        marks: dict[int, list[LineMark]] = {}
        for mark in self._marks:
            marks.setdefault(mark.line, []).append(mark)
        tints = self._tints()
        painter.setFont(self.font())
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        for block, rect in self.visible_lines():
            number = block.blockNumber() + 1
            row = QRectF(0, rect.top(), self.margin.width(), rect.height())
            if number in tints:
                painter.fillRect(row, colour(tints[number]))
            for mark in marks.get(number, ()):
                self._paint_signs(painter, row, mark)
            is_current = number == self._line
            painter.setPen(colour(theme.text_muted if is_current else theme.text_faint))
            painter.drawText(
                row.adjusted(0, 0, -GAP, 0),
                Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter,
                str(number),
            )

    def _paint_signs(self, painter: QPainter, row: QRectF, mark: LineMark) -> None:
        theme = self._theme
        if mark.has_bar:
            painter.fillRect(QRectF(0, row.top(), 3, row.height()), colour(theme.trouble))
        spot = QRectF(6, row.center().y() - 6, 12, 12)
        if mark.sign == "step":
            paint_icon(painter, "play", spot, theme.gradient)
        elif mark.sign == "error":
            paint_icon(painter, "close", spot, theme.trouble_text, 2)
        elif mark.sign == "target":
            paint_icon(painter, "target", spot, theme.accent)
        elif mark.sign == "source":
            painter.setPen(Qt.PenStyle.NoPen)
            painter.setBrush(colour(theme.variable_stroke))
            painter.drawEllipse(spot.center(), 3.2, 3.2)

    def tip_at(self, y: float) -> str:
        """What the marks of the line at this height mean."""
        for block, rect in self.visible_lines():
            if rect.top() <= y < rect.bottom():
                number = block.blockNumber() + 1
                tips = [mark.tip for mark in self._marks if mark.line == number and mark.tip]
                return "\n".join(dict.fromkeys(tips))
        return ""

    def viewportEvent(self, event: QEvent) -> bool:
        if event.type() == QEvent.Type.ToolTip and isinstance(event, QHelpEvent):
            show_tip(event.globalPos(), self.tip_at(event.pos().y()), self)
            return True
        return super().viewportEvent(event)

    # Keys

    def keyPressEvent(self, event: QKeyEvent) -> None:
        change = self._change_for(event)
        if change is None:
            super().keyPressEvent(event)
        else:
            change(self.textCursor())
            self.ensureCursorVisible()

    def _change_for(self, event: QKeyEvent) -> Callable[[QTextCursor], None] | None:
        key, modifiers = event.key(), event.modifiers()
        if modifiers & Qt.KeyboardModifier.ControlModifier:
            return None
        if key == Qt.Key.Key_Tab:
            return editing.indent
        if key == Qt.Key.Key_Backtab:
            return editing.unindent
        if key in (Qt.Key.Key_Return, Qt.Key.Key_Enter):
            return self._break_line
        if key == Qt.Key.Key_Backspace and editing.is_in_indentation(self.textCursor()):
            return editing.unindent
        return None

    def _break_line(self, cursor: QTextCursor) -> None:
        editing.break_line(cursor)
        self.setTextCursor(cursor)

    def toggle_comment(self) -> None:
        editing.toggle_comment(self.textCursor())

    def go_to(self, line: int) -> None:
        """Puts the cursor on a line and brings it into sight."""
        block = self.document().findBlockByNumber(line - 1)
        if block.isValid():
            self.setTextCursor(QTextCursor(block))
            self.centerCursor()

    def show_line(self, line: int) -> None:
        """Brings a line into sight and leaves the cursor where it is."""
        block = self.document().findBlockByNumber(line - 1)
        if not block.isValid():
            return
        rect = self.blockBoundingGeometry(block).translated(self.contentOffset())
        if rect.top() < 0 or rect.bottom() > self.viewport().height():
            half = self.viewport().height() / max(rect.height(), 1) / 2
            self.verticalScrollBar().setValue(max(0, line - 1 - int(half)))

    def replace_text(self, text: str) -> None:
        """Puts ``text`` in place of the whole text, in one step that can be undone."""
        editing.replace_text(self.document(), text)

    def insertFromMimeData(self, source: QMimeData) -> None:
        if source.hasUrls() and not source.hasText():
            return
        super().insertFromMimeData(source)
        if "\n" in source.text():
            self.pasted.emit()

    def wheelEvent(self, event: QWheelEvent) -> None:
        if event.modifiers() & Qt.KeyboardModifier.ControlModifier:
            self.zoom(1 if event.angleDelta().y() > 0 else -1)
            event.accept()
        else:
            super().wheelEvent(event)

    def _notice_line(self) -> None:
        line = self.textCursor().blockNumber() + 1
        if line != self._line:
            self._line = line
            self.margin.update()
            if self.hasFocus():
                self.line_reached.emit(line)


class Margin(QWidget):
    """Line numbers and signs, left of the text."""

    def __init__(self, editor: Editor) -> None:
        super().__init__(editor)
        self._editor = editor

    def sizeHint(self) -> QSize:
        return QSize(self._editor.margin_width(), 0)

    def paintEvent(self, event: QPaintEvent) -> None:
        painter = QPainter(self)
        self._editor.paint_margin(painter)
        painter.end()

    def mousePressEvent(self, event: QMouseEvent) -> None:
        for block, rect in self._editor.visible_lines():
            if rect.top() <= event.position().y() < rect.bottom():
                self._editor.setFocus()
                self._editor.setTextCursor(QTextCursor(block))

    def event(self, event: QEvent) -> bool:
        if event.type() == QEvent.Type.ToolTip and isinstance(event, QHelpEvent):
            show_tip(event.globalPos(), self._editor.tip_at(event.pos().y()), self)
            return True
        return super().event(event)
