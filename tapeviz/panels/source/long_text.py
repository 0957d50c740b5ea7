"""A field of text that takes a long text part by part, so that the window does not stand still."""

from __future__ import annotations

from PySide6.QtCore import QTimer, Signal
from PySide6.QtGui import QTextCursor, QTextDocument
from PySide6.QtWidgets import QPlainTextEdit

PART = 100_000
"""Characters, and more up to the end of the line, that a turn of the event loop takes of a long
text."""


class LongText(QPlainTextEdit):
    """A field of text. ``arrived``: the rest of a long text is there."""

    arrived = Signal()

    def __init__(self) -> None:
        super().__init__()
        self._rest = ""
        """The end of a long text that is not in the document yet."""
        self._coming = QTimer(self, singleShot=True, interval=0)
        self._coming.timeout.connect(self._take_part)

    @property
    def is_coming(self) -> bool:
        """Whether the rest of a long text is not there yet."""
        return bool(self._rest)

    def setPlainText(self, text: str) -> None:
        """Replace the text. Of a long one the rest comes in later turns of the event loop, or at
        once when somebody asks for the document."""
        cut = text.find("\n", PART)
        self._rest = text[cut:] if cut > 0 else ""
        self.begun().setUndoRedoEnabled(not self._rest)  # what comes is no edit to undo
        super().setPlainText(text.removesuffix(self._rest))
        if self._rest:
            self._coming.start()

    def _take_part(self) -> None:
        """Add the next part of a long text at its end."""
        cut = self._rest.find("\n", PART)
        part = self._rest[:cut] if cut > 0 else self._rest
        self._rest = self._rest[len(part) :]
        cursor = QTextCursor(self.begun())
        cursor.movePosition(QTextCursor.MoveOperation.End)
        cursor.insertText(part)
        if self._rest:
            self._coming.start()
        else:
            self.begun().setUndoRedoEnabled(True)
            self.arrived.emit()

    def begun(self) -> QTextDocument:
        """The document as far as its text is there."""
        return super().document()

    def document(self) -> QTextDocument:
        """The document with its whole text."""
        while self._rest:
            self._take_part()
        return super().document()

    def toPlainText(self) -> str:
        return super().toPlainText() + self._rest
