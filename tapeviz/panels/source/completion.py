"""A list of names that fit at the cursor; jedi finds them in another process."""

from __future__ import annotations

import json
import sys
from pathlib import Path

from PySide6.QtCore import QEvent, QObject, QProcess, QStringListModel, Qt
from PySide6.QtGui import QKeyEvent, QTextCursor
from PySide6.QtWidgets import QCompleter, QListView

from .brackets import is_code
from .editor import Editor

WORKER = "tapeviz.text.completing"
WIDEST = 420
"""Px of width of the list, at most."""


class Completion(QObject):
    """Asks after a dot, and when :meth:`ask` is called. Tab takes the name; Enter does when the
    list was asked for, or a name was chosen with the arrow keys."""

    def __init__(self, editor: Editor) -> None:
        super().__init__(editor)
        self._editor = editor
        self._process: QProcess | None = None
        self._asked = self._begin = 0
        self._was_called = False
        self._names = QStringListModel(self)
        self.list = QCompleter(self._names, self)
        self.list.setWidget(editor)
        self.list.setCompletionMode(QCompleter.CompletionMode.PopupCompletion)
        self.list.setCaseSensitivity(Qt.CaseSensitivity.CaseInsensitive)
        self.list.setMaxVisibleItems(10)
        self.popup = QListView()
        self.popup.setAccessibleName("Names that fit here")
        self.list.setPopup(self.popup)
        self.popup.installEventFilter(self)
        self.list.activated.connect(self._take)
        editor.installEventFilter(self)
        editor.textChanged.connect(self._follow)

    def ask(self) -> None:
        """Ask for the names that fit at the cursor, and show them when they arrive."""
        self._was_called = True
        self._send()

    def _send(self) -> None:
        cursor = self._editor.textCursor()
        self._asked += 1
        self._begin = cursor.position() - len(self._prefix())
        units = cursor.block().text().encode("utf-16-le")[: 2 * cursor.positionInBlock()]
        question = {
            "id": self._asked,
            "text": self._editor.toPlainText(),
            "line": cursor.blockNumber() + 1,
            "column": len(units.decode("utf-16-le")),
        }
        self._running().write(json.dumps(question).encode() + b"\n")

    def _running(self) -> QProcess:
        """The process that answers, started if there is none."""
        if self._process is None or self._process.state() == QProcess.ProcessState.NotRunning:
            process = QProcess(self)
            # The folder of the package: nothing beside it shadows what the worker imports.
            process.setWorkingDirectory(str(Path(__file__).parents[3]))
            process.setStandardErrorFile(QProcess.nullDevice())
            process.readyReadStandardOutput.connect(self._hear)
            process.start(sys.executable, ["-m", WORKER])
            self._process = process
        return self._process

    def close(self) -> None:
        """End the process."""
        if self._process is not None:
            self._process.kill()
            self._process.waitForFinished(1000)

    def _hear(self) -> None:
        while self._process is not None and self._process.canReadLine():
            answer = json.loads(bytes(self._process.readLine().data()))
            if answer["id"] == self._asked:
                self._names.setStringList(answer["names"])
                self._show()

    def _prefix(self) -> str:
        """The part of a name before the cursor."""
        cursor = self._editor.textCursor()
        text = cursor.block().text()[: cursor.positionInBlock()]
        begin = len(text)
        while begin and (text[begin - 1].isalnum() or text[begin - 1] == "_"):
            begin -= 1
        return text[begin:]

    def _show(self) -> None:
        prefix = self._prefix()
        cursor = self._editor.textCursor()
        self.list.setCompletionPrefix(prefix)
        model = self.list.completionModel()
        count = model.rowCount()
        is_here = cursor.position() - len(prefix) == self._begin
        is_typed = count == 1 and str(model.index(0, 0).data()) == prefix
        if not (is_here and count and self._editor.hasFocus()) or is_typed:
            self.popup.hide()
            return
        rect = self._editor.cursorRect()
        rect.translate(self._editor.viewport().pos())
        rect.setWidth(min(WIDEST, self.popup.sizeHintForColumn(0) + 40))
        self.popup.setStyleSheet(self._editor.window().styleSheet())  # it is a window of its own
        self.list.complete(rect)
        if self._was_called:
            self.popup.setCurrentIndex(model.index(0, 0))

    def _follow(self) -> None:
        """Narrow the list as the name is typed."""
        if self.popup.isVisible():
            self._show()

    def _take(self, name: str) -> None:
        cursor = self._editor.textCursor()
        cursor.setPosition(self._begin)
        cursor.setPosition(self._editor.textCursor().position(), QTextCursor.MoveMode.KeepAnchor)
        cursor.insertText(name)
        self._editor.setTextCursor(cursor)

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        if not isinstance(event, QKeyEvent) or event.type() != QEvent.Type.KeyPress:
            return False
        if watched is self.popup:
            return self._press_in_list(event)
        if event.text() == ".":
            self._was_called = False
            self._editor.keyPressEvent(event)
            if self._follows_name():
                self._send()
            return True
        return False

    def _press_in_list(self, event: QKeyEvent) -> bool:
        # A completer hands every key to the editor first, which would break the line.
        is_tab = event.key() == Qt.Key.Key_Tab
        if not is_tab and event.key() not in (Qt.Key.Key_Return, Qt.Key.Key_Enter):
            return False
        index = self.popup.currentIndex()
        if is_tab and not index.isValid():
            index = self.list.completionModel().index(0, 0)
        self.popup.hide()
        if index.isValid():
            self._take(str(index.data()))
        else:
            self._editor.keyPressEvent(event)
        return True

    def _follows_name(self) -> bool:
        """Whether the dot before the cursor is code after a name, a bracket or a string."""
        cursor = self._editor.textCursor()
        column = cursor.positionInBlock()
        before = cursor.block().text()[: column - 1]
        last = before[-1:]
        is_number = before.replace("_", " ").split()[-1:] and before.split()[-1].isdecimal()
        is_name = last.isalnum() or last in ("_", ")", "]", '"', "'")
        return is_name and not is_number and is_code(cursor.block(), column - 1)
