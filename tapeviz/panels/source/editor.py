"""The editor of Python text, with its margin."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Callable, Sequence

from PySide6.QtCore import QEvent, QMimeData, QRect, QRectF, Qt, Signal
from PySide6.QtGui import (
    QContextMenuEvent,
    QFontMetricsF,
    QHelpEvent,
    QKeyEvent,
    QKeySequence,
    QMouseEvent,
    QPainter,
    QPaintEvent,
    QResizeEvent,
    QTextCursor,
    QWheelEvent,
)
from PySide6.QtWidgets import QPlainTextEdit

from ...canvas.tips import show_tip
from ...files.source import LARGEST
from ..look import CODE, Theme, colour, font, mix
from . import editing
from .brackets import bracket_pair
from .extra_selections import ExtraSelections, LeftOut, Span
from .gutters import ICON, NARROW_ROOM, BadgeGutter, Margin
from .highlighter import Highlighter
from .line_marks import LineMark, fill_of
from .long_text import LongText
from .pasting import code_of, has_code
from .sight import keep_sideways, rows_in_sight, show_row

SIZES = range(8, 33)
COLUMNS = range(44, 89)
"""The least and most characters of a line to make room for."""
NEAR_TEXT = 12
"""Px from a letter within which the pointer is over it."""
BADGE_WIDTH, NARROW_BADGE = 46, ICON + NARROW_ROOM
"""Px for the badges of the next run, so that the text has the same room after it;
the second in a narrow window."""


class Editor(LongText):
    """The editor of the text. ``line_reached``: the user moved the cursor to another line."""

    line_reached = Signal(int)
    name_hovered = Signal(str)
    """The name under the pointer, empty where there is none."""
    pasted = Signal()
    refused = Signal(str)
    """A text was too long to be pasted, in words."""
    width_changed = Signal()
    """The text in another size, or longer badges beside it, want another width."""
    menu_requested = Signal(object)
    """The context menu (a QMenu), before it is shown: more can be put into it."""

    def __init__(self, theme: Theme) -> None:
        super().__init__()
        self.setAccessibleName("Source")
        self.setAccessibleDescription("Escape, then Tab leaves the editor")
        self.setLineWrapMode(QPlainTextEdit.LineWrapMode.NoWrap)
        self.setTabChangesFocus(False)
        self.setMouseTracking(True)
        option = self.document().defaultTextOption()
        option.setTextDirection(Qt.LayoutDirection.LeftToRight)  # also of an Arabic name at first
        self.document().setDefaultTextOption(option)
        self.setPlaceholderText("Paste a snippet that calls tape.gradient, and press Ctrl+Enter.")
        self.theme = theme
        self.marks: Sequence[LineMark] = ()
        self.are_outdated = False
        """The marks are of another text, and drawn pale."""
        self._by_line: dict[int, list[LineMark]] = {}
        self._is_left_by_tab = False
        """Escape was pressed last: the next Tab goes on to the next control."""
        self._shown = 0
        """The line that was last brought into sight; 0 for none."""
        self._extras = ExtraSelections(self, theme)
        self._name = ""
        self.line = 0
        self._size = CODE
        self.is_narrow = False
        self.margin = Margin(self)
        self.badges = BadgeGutter(self)
        self._highlighter = Highlighter(self.document(), theme)
        self.document().setDocumentMargin(4)
        self.blockCountChanged.connect(self._fit_gutters)
        self.updateRequest.connect(self._follow_scroll)
        self.cursorPositionChanged.connect(self._notice_line)
        self.cursorPositionChanged.connect(self._show_brackets)
        self.arrived.connect(self._show_brackets)
        self.set_size(CODE)

    # Text

    def setPlainText(self, text: str) -> None:
        self._shown = 0
        super().setPlainText(text)

    # Look

    def set_theme(self, theme: Theme) -> None:
        self.theme = theme
        self._highlighter.set_theme(theme)
        self._extras.theme = theme
        self._extras.show()
        self._repaint()

    def set_size(self, size: int) -> None:
        """The font's height in px, within bounds."""
        self._size = max(SIZES.start, min(size, SIZES.stop - 1))
        shown = self._size - self.is_narrow
        # The stylesheet speaks for all widgets; only a sheet of its own changes this one's size.
        self.setStyleSheet(f"font-size: {shown}px;")
        self.setFont(font("mono", shown))
        self.setTabStopDistance(4 * QFontMetricsF(self.font()).horizontalAdvance(" "))
        self._fit_gutters()

    def set_narrow(self, is_narrow: bool) -> None:
        """Take less room beside the text and for its letters."""
        if is_narrow != self.is_narrow:
            self.is_narrow = is_narrow
            self.set_size(self._size)

    @property
    def is_going_on(self) -> bool:
        """Whether the rest of a long text comes, or its colours do: nobody edits it."""
        return self.is_coming or self._highlighter.is_going_on

    @property
    def size_px(self) -> int:
        return self._size

    def zoom(self, steps: int) -> None:
        self.set_size(self._size + steps)
        self.width_changed.emit()

    def set_marks(self, marks: Sequence[LineMark], are_outdated: bool = False) -> None:
        if marks != self.marks or are_outdated != self.are_outdated:
            wanted = self._badge_room()
            self.marks, self.are_outdated = marks, are_outdated
            self._by_line = defaultdict(list)
            for mark in marks:
                self._by_line[mark.line].append(mark)
            self._fit_gutters()
            self._repaint()
            if self.badges.wanted_width() > wanted:
                self.width_changed.emit()

    def set_left_out(self, parts: Sequence[LeftOut]) -> None:
        """Parts of a page that do not run (first line, last line): they are greyed."""
        if parts != self._extras.left_out:
            self._extras.left_out = parts
            self._extras.show()

    def light_up(self, spans: Sequence[Span]) -> None:
        """Highlight these stretches of the text."""
        if spans != self._extras.lit:
            self._extras.lit = spans
            self._extras.show()

    def show_found(self, spans: Sequence[tuple[int, int]]) -> None:
        """Highlight the matches of a search: (first position, end) of each."""
        if spans != self._extras.found:
            self._extras.found = spans
            self._extras.show()

    def _show_brackets(self) -> None:
        pair = bracket_pair(self.begun(), self.textCursor().position())
        if pair != self._extras.brackets:
            self._extras.brackets = pair
            self._extras.show()

    def marks_at(self, line: int) -> Sequence[LineMark]:
        return self._by_line.get(line, ())

    def fill_of(self, line: int) -> str:
        """The colour of a line: of its last mark that has a tint, else the cursor's."""
        theme = self.theme
        tints = [mark.tint for mark in self.marks_at(line) if mark.tint]
        if tints:
            return mix(theme.panel, fill_of(tints[-1], theme), 0.4 if self.are_outdated else 1)
        return mix(theme.panel, theme.text, 0.04) if line == self.line else ""

    def _repaint(self) -> None:
        for widget in (self.viewport(), self.margin, self.badges):
            widget.update()

    # Gutters

    def _fit_gutters(self) -> None:
        left, right = self.margin.wanted_width(), self.badges.wanted_width()
        self.setViewportMargins(left, 0, right, 0)
        self._place_gutters()

    def _place_gutters(self) -> None:
        view = self.viewport().geometry()
        for gutter, x in (
            (self.margin, self.contentsRect().left()),
            (self.badges, view.right() + 1),
        ):
            gutter.setGeometry(QRect(x, view.top(), gutter.wanted_width(), view.height()))

    def wanted_width(self) -> int:
        """Px for the longest line that runs, with gutters and scroll bar."""
        lines = self.toPlainText().expandtabs(4).split("\n")
        out = {n for first, last in self._extras.left_out for n in range(first, last + 1)}
        runs = (line for n, line in enumerate(lines, 1) if n not in out) if out else lines
        columns = max(map(len, runs), default=0)
        columns = max(COLUMNS.start, min(columns + 1, COLUMNS.stop - 1))
        text = QFontMetricsF(self.font()).horizontalAdvance("0") * columns
        beside = self.margin.wanted_width() + self._badge_room()
        bar = self.verticalScrollBar().sizeHint().width()
        return math.ceil(text + 2 * self.begun().documentMargin()) + beside + bar

    def _badge_room(self) -> int:
        return max(self.badges.wanted_width(), NARROW_BADGE if self.is_narrow else BADGE_WIDTH)

    def _follow_scroll(self, rect: QRect, dy: int) -> None:
        for gutter in (self.margin, self.badges):
            if dy:
                gutter.scroll(0, dy)
            else:
                gutter.update(0, rect.y(), gutter.width(), rect.height())

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._place_gutters()
        first = self.firstVisibleBlock()
        bottom = (self._shown - first.blockNumber()) * self.blockBoundingRect(first).height()
        if self._shown and 0 < bottom <= event.oldSize().height():  # it was in sight
            self.show_line(self._shown)

    def paintEvent(self, event: QPaintEvent) -> None:
        painter = QPainter(self.viewport())
        for block, rect in rows_in_sight(self):
            fill = self.fill_of(block.blockNumber() + 1)
            if fill:
                row = QRectF(0, rect.top(), self.viewport().width(), rect.height())
                painter.fillRect(row, colour(fill))
        painter.end()
        super().paintEvent(event)

    def tip_at(self, y: float) -> str:
        """The meaning of the marks of the line at this height."""
        for block, rect in rows_in_sight(self):
            if rect.top() <= y < rect.bottom():
                tips = [mark.tip for mark in self.marks_at(block.blockNumber() + 1) if mark.tip]
                return "\n".join(dict.fromkeys(tips))
        return ""

    def mouseMoveEvent(self, event: QMouseEvent) -> None:
        super().mouseMoveEvent(event)
        at = event.position().toPoint()
        cursor = self.cursorForPosition(at)
        is_over_text = abs(self.cursorRect(cursor).center().x() - at.x()) < NEAR_TEXT
        cursor.select(QTextCursor.SelectionType.WordUnderCursor)
        name = cursor.selectedText()
        self._hover(name if is_over_text and name.isidentifier() else "")

    def leaveEvent(self, event: QEvent) -> None:
        self._hover("")
        super().leaveEvent(event)

    def _hover(self, name: str) -> None:
        if name != self._name:
            self._name = name
            self.name_hovered.emit(name)

    def viewportEvent(self, event: QEvent) -> bool:
        if event.type() == QEvent.Type.ToolTip and isinstance(event, QHelpEvent):
            show_tip(event.globalPos(), self.tip_at(event.pos().y()), self)
            return True
        return super().viewportEvent(event)

    # Keys

    def keyPressEvent(self, event: QKeyEvent) -> None:
        self.document()  # the whole text is there before it is edited
        is_tab = event.key() in (Qt.Key.Key_Tab, Qt.Key.Key_Backtab)
        if is_tab and self._is_left_by_tab:
            self._is_left_by_tab = False
            self.setTabChangesFocus(True)
            self.focusNextPrevChild(event.key() == Qt.Key.Key_Tab)
            self.setTabChangesFocus(False)
            return
        self._is_left_by_tab = event.key() == Qt.Key.Key_Escape
        change = self._change_for(event)
        if event.matches(QKeySequence.StandardKey.Undo):
            self.undo()
        elif event.matches(QKeySequence.StandardKey.Redo):
            self.redo()
        elif change is None:
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

    def duplicate(self) -> None:
        editing.duplicate(self.textCursor())

    def move_lines(self, by: int) -> None:
        """Move the selected lines, or the cursor's, up (-1) or down (1)."""
        cursor = self.textCursor()
        editing.move_lines(cursor, by)
        self.setTextCursor(cursor)

    def selected_lines(self) -> tuple[int, int]:
        """The first and the last line of the selection; (0, 0) when nothing is selected."""
        cursor = self.textCursor()
        if not cursor.hasSelection():
            return 0, 0
        document = self.document()
        last = document.findBlock(cursor.selectionEnd())
        ends_before = last.position() == cursor.selectionEnd()
        return (
            document.findBlock(cursor.selectionStart()).blockNumber() + 1,
            last.blockNumber() + 1 - ends_before,
        )

    def contextMenuEvent(self, event: QContextMenuEvent) -> None:
        menu = self.createStandardContextMenu()
        menu.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        for action in menu.actions():
            own = {"edit-undo": self.undo, "edit-redo": self.redo}.get(action.objectName())
            if own is not None:
                action.triggered.disconnect()
                action.triggered.connect(own)
        self.menu_requested.emit(menu)
        menu.popup(event.globalPos())

    def go_to(self, line: int) -> None:
        """Put the cursor on a line and bring it into sight."""
        block = self.document().findBlockByNumber(line - 1)
        if block.isValid():
            self.setTextCursor(QTextCursor(block))
            self.centerCursor()

    def show_line(self, line: int) -> None:
        """Bring a line into sight without moving the cursor. It stays so when the room shrinks."""
        block = self.document().findBlockByNumber(line - 1)
        if not block.isValid():
            return
        self._shown = line
        rect = self.blockBoundingGeometry(block).translated(self.contentOffset())
        show_row(self, line - 1, rect.top(), rect.height())

    def undo(self) -> None:
        keep_sideways(self, super().undo)

    def redo(self) -> None:
        keep_sideways(self, super().redo)

    def replace_text(self, text: str) -> None:
        """Replace the whole text, as one step to undo."""
        editing.replace_text(self.document(), text)

    def canInsertFromMimeData(self, source: QMimeData) -> bool:
        return has_code(source)

    def insertFromMimeData(self, source: QMimeData) -> None:
        if has_code(source):
            self.paste_code(code_of(source))

    def takes(self, code: str) -> bool:
        """Whether a text is short enough; of one that is not the user is told."""
        is_short = len(code) <= LARGEST
        if not is_short:
            self.refused.emit(
                f"A text of {len(code):,} characters was not pasted: a snippet has at most "
                f"{LARGEST:,}"
            )
        return is_short

    def paste_code(self, code: str) -> None:
        """Put a text in the place of the selection, to be repaired if it has several lines. Of one
        that replaces the whole text the beginning is in sight."""
        if not self.takes(code):
            return
        cursor = self.textCursor()
        is_whole = not self.toPlainText() or len(cursor.selectedText()) == len(self.toPlainText())
        self.insertPlainText(code)
        if is_whole and "\n" in code:
            self.moveCursor(QTextCursor.MoveOperation.Start)
        self.ensureCursorVisible()
        if "\n" in code:
            self.pasted.emit()

    def wheelEvent(self, event: QWheelEvent) -> None:
        if event.modifiers() & Qt.KeyboardModifier.ControlModifier:
            self.zoom(1 if event.angleDelta().y() > 0 else -1)
            event.accept()
        else:
            super().wheelEvent(event)

    def _notice_line(self) -> None:
        line = self.textCursor().blockNumber() + 1
        if line != self.line:
            self.line = line
            self._repaint()
            if self.hasFocus():
                self.line_reached.emit(line)
