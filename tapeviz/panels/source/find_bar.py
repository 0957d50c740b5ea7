"""The bars below the editor: to find, to replace, to go to a line."""

from __future__ import annotations

from PySide6.QtCore import QEvent, QObject, QRegularExpressionMatch, Qt, Signal
from PySide6.QtGui import QKeyEvent, QTextCursor
from PySide6.QtWidgets import (
    QFrame,
    QGridLayout,
    QLineEdit,
    QPushButton,
    QSizePolicy,
    QWidget,
)

from ..look import Theme
from ..rows import in_row
from ..widgets import IconButton, link_button, plain_label
from .editor import Editor
from .finding import MOST, SearchTerm, matches, replacement


class EditorBar(QFrame):
    """A bar below the editor; Escape closes it and focuses the editor."""

    def __init__(self, editor: Editor) -> None:
        super().__init__()
        self.setObjectName("editorBar")
        self.editor = editor
        self.hide()

    def leave(self) -> None:
        self.hide()
        self.editor.setFocus()

    def keyPressEvent(self, event: QKeyEvent) -> None:
        if event.key() == Qt.Key.Key_Escape:
            self.leave()
        else:
            super().keyPressEvent(event)


class FindBar(EditorBar):
    """Finds while typing: Enter goes on, Shift+Enter back. All matches are highlighted."""

    replaced = Signal(str)
    """How many matches were replaced, in words."""

    def __init__(self, editor: Editor, theme: Theme) -> None:
        super().__init__(editor)
        self._found: list[QRegularExpressionMatch] = []
        self._start = 0
        self.words = _line_edit("Find", "Find in the text")
        self.instead = _line_edit("Replace with", "Replace with")
        self.pattern = _switch(".*", "Regular expression")
        self.case = _switch("Aa", "Upper and lower case differ")
        self.count = plain_label(name="faint")
        self.before = IconButton("left", "Previous match (Shift+Enter)", theme)
        self.next = IconButton("right", "Next match (Enter)", theme)
        self.close_button = IconButton("close", "Close (Esc)", theme)
        self.replace_button = link_button("Replace", "Replace this match and go on (Enter)")
        self.all_button = link_button("Replace all", "One step that can be undone")
        self._lay_out()
        self._connect()

    def _lay_out(self) -> None:
        grid = QGridLayout(self)
        grid.setContentsMargins(10, 5, 6, 5)
        grid.setSpacing(4)
        grid.addWidget(self.words, 0, 0)
        switches = (self.pattern, self.case, self.count)
        buttons = (self.before, self.next, self.close_button)
        grid.addLayout(in_row(None, *switches, ..., *buttons, spacing=2), 0, 1)
        self._second = QWidget()
        in_row(self._second, self.replace_button, self.all_button, ...)
        grid.addWidget(self.instead, 1, 0)
        grid.addWidget(self._second, 1, 1)
        grid.setColumnStretch(0, 1)
        QWidget.setTabOrder(self.words, self.instead)  # as one types: what, then with what
        QWidget.setTabOrder(self.instead, self.pattern)
        self.count.setMinimumWidth(64)

    def _connect(self) -> None:
        self.words.textChanged.connect(self._seek)
        self.pattern.toggled.connect(self._seek)
        self.case.toggled.connect(self._seek)
        self.next.clicked.connect(lambda: self.step(1))
        self.before.clicked.connect(lambda: self.step(-1))
        self.close_button.clicked.connect(self.leave)
        self.replace_button.clicked.connect(self.replace)
        self.all_button.clicked.connect(self.replace_all)
        for line in (self.words, self.instead):
            line.installEventFilter(self)
        self.editor.textChanged.connect(self._refind)
        self.editor.cursorPositionChanged.connect(self._count)

    def open(self, with_replace: bool = False) -> None:
        """Show the bar, and search for the selection if it is within a line."""
        cursor = self.editor.textCursor()
        self._start = cursor.selectionStart()
        selected = cursor.selectedText()
        self.show()
        self.instead.setVisible(with_replace)
        self._second.setVisible(with_replace)
        if selected and "\u2029" not in selected:
            self.words.setText(selected)
        self.words.setFocus()
        self.words.selectAll()
        self._refind()

    def leave(self) -> None:
        super().leave()
        self.editor.show_found(())

    def sought(self) -> SearchTerm:
        return SearchTerm(self.words.text(), self.pattern.isChecked(), self.case.isChecked())

    def _refind(self) -> None:
        if self.isHidden() or self.editor.is_going_on:
            return
        self._found = matches(self.editor.toPlainText(), self.sought())
        self.editor.show_found([(m.capturedStart(), m.capturedEnd()) for m in self._found])
        self._count()

    def _seek(self) -> None:
        """Go to the first match after the place where the search began."""
        self._refind()
        following = [m for m in self._found if m.capturedStart() >= self._start]
        if self._found:
            self._select((following or self._found)[0])

    def _select(self, match: QRegularExpressionMatch) -> None:
        cursor = self.editor.textCursor()
        cursor.setPosition(match.capturedStart())
        cursor.setPosition(match.capturedEnd(), QTextCursor.MoveMode.KeepAnchor)
        self.editor.setTextCursor(cursor)
        self.editor.ensureCursorVisible()
        self._start = match.capturedStart()

    def _place(self) -> int:
        """The number of the match that is selected, -1 when none is."""
        cursor = self.editor.textCursor()
        here = (cursor.selectionStart(), cursor.selectionEnd())
        spans = [(m.capturedStart(), m.capturedEnd()) for m in self._found]
        return spans.index(here) if here in spans else -1

    def _count(self) -> None:
        if self.isHidden():
            return
        sought, count, place = self.sought(), len(self._found), self._place()
        many = f"{count:,}+" if count == MOST else f"{count:,}"
        words = f"{place + 1:,} of {many}" if place >= 0 else f"{many} found"
        if not sought.words:
            words = ""
        elif not count:
            words = "no such pattern" if sought.trouble else "nothing found"
        self.count.setText(words)
        self.count.setToolTip(sought.trouble)
        for button in (self.next, self.before, self.replace_button, self.all_button):
            button.setEnabled(count > 0)

    def step(self, by: int) -> None:
        """Go to the next match (1) or the one before (-1), wrapping around."""
        if not self._found:
            return
        place = self._place()
        if place < 0:
            position = self.editor.textCursor().position()
            before = sum(m.capturedStart() < position for m in self._found)
            place = before - 1 if by > 0 else before
        self._select(self._found[(place + by) % len(self._found)])

    def replace(self) -> None:
        """Replace the selected match and go to the next."""
        place = self._place()
        if place < 0:
            self.step(1)
            return
        match = self._found[place]
        text = replacement(match, self.instead.text(), self.sought())
        cursor = self.editor.textCursor()
        cursor.insertText(text)
        self._start = cursor.position()
        self._seek()

    def replace_all(self) -> None:
        """Replace every match, as one step to undo."""
        sought, words = self.sought(), self.instead.text()
        found = matches(self.editor.toPlainText(), sought)
        cursor = QTextCursor(self.editor.document())
        cursor.beginEditBlock()
        for match in reversed(found):
            cursor.setPosition(match.capturedStart())
            cursor.setPosition(match.capturedEnd(), QTextCursor.MoveMode.KeepAnchor)
            cursor.insertText(replacement(match, words, sought))
        cursor.endEditBlock()
        self.replaced.emit(f"{len(found):,} replaced")

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        if isinstance(event, QKeyEvent) and event.type() == QEvent.Type.KeyPress:
            is_enter = event.key() in (Qt.Key.Key_Return, Qt.Key.Key_Enter)
            is_plain = not event.modifiers() & Qt.KeyboardModifier.ControlModifier
            if is_enter and is_plain:
                is_back = bool(event.modifiers() & Qt.KeyboardModifier.ShiftModifier)
                if watched is self.instead and not is_back:
                    self.replace()
                else:
                    self.step(-1 if is_back else 1)
                return True
        return super().eventFilter(watched, event)


class LineBar(EditorBar):
    """Goes to a line while its number is typed; Enter stays there, Escape goes back."""

    def __init__(self, editor: Editor) -> None:
        super().__init__(editor)
        self.number = _line_edit("Line", "Go to line")
        self.number.setMaximumWidth(120)
        self.words = plain_label(name="faint")
        in_row(self, self.number, self.words, ..., margins=(10, 5, 6, 5))
        self._before = QTextCursor()
        self.number.textEdited.connect(self._go)
        self.number.returnPressed.connect(self._stay)

    def open(self) -> None:
        self._before = self.editor.textCursor()
        self.words.setText(f"of {self.editor.blockCount():,}")
        self.show()
        self.number.setText(str(self._before.blockNumber() + 1))
        self.number.setFocus()
        self.number.selectAll()

    def _go(self) -> None:
        text = self.number.text().strip()
        if text.isdecimal():
            self.editor.go_to(max(1, min(int(text), self.editor.blockCount())))

    def _stay(self) -> None:
        self._go()
        super().leave()

    def leave(self) -> None:
        self.editor.setTextCursor(self._before)
        self.editor.ensureCursorVisible()
        super().leave()


def _line_edit(hint: str, name: str) -> QLineEdit:
    line = QLineEdit()
    line.setPlaceholderText(hint)
    line.setAccessibleName(name)
    line.setMinimumWidth(60)
    return line


def _switch(text: str, tip: str) -> QPushButton:
    button = QPushButton(text)
    button.setObjectName("icon")
    button.setCheckable(True)
    button.setToolTip(tip)
    button.setAccessibleName(tip)
    button.setSizePolicy(QSizePolicy.Policy.Fixed, QSizePolicy.Policy.Fixed)
    return button
