"""A bar with a line to type, shown while the snippet waits in ``input()``."""

from __future__ import annotations

from PySide6.QtWidgets import QApplication, QFrame, QLineEdit, QWidget

from ...document import Document
from ..rows import in_row
from ..widgets import ShortLabel, link_button


class QuestionBar(QFrame):
    """A line to type for ``input()``. Enter sends it; Stop ends the waiting.

    Between two questions ``rest`` has the keyboard, so that nothing is typed elsewhere; after the
    run the widget that had it before.
    """

    def __init__(self, document: Document, rest: QWidget) -> None:
        super().__init__()
        self._rest = rest
        self._before: QWidget | None = None
        self.setObjectName("editorBar")
        self._document = document
        self.line = QLineEdit()
        self.line.setAccessibleName("Input of the snippet")
        self.words = ShortLabel("muted")
        self.end_link = link_button("End of input", "The snippet gets an EOFError (Ctrl+D)")
        in_row(self, self.words, (self.line, 1), self.end_link, margins=(12, 5, 12, 5))
        self.line.returnPressed.connect(lambda: document.runs.reply(self.line.text()))
        self.end_link.clicked.connect(lambda: document.runs.reply(None))
        document.question_changed.connect(self._show)
        document.run_ended.connect(self._give_back)
        self._show()

    def _give_back(self) -> None:
        if self._before is not None and self._rest.hasFocus():
            self._before.setFocus()
        self._before = None

    def _show(self) -> None:
        question = self._document.runs.question
        focused = QApplication.focusWidget()
        if question is not None and self._before is None:
            self._before = focused
        if question is None and focused is not None and self.isAncestorOf(focused):
            self._rest.setFocus()
        self.setVisible(question is not None)
        if question is not None:
            mode = QLineEdit.EchoMode.Password if question.is_secret else QLineEdit.EchoMode.Normal
            self.line.setEchoMode(mode)
            self.line.clear()
            self.words.setText(question.prompt.strip().split("\n")[-1] or "input()")
            self.line.setPlaceholderText("Type a line, Enter sends it")
            self.line.setFocus()
