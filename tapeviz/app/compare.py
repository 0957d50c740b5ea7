"""A text and its mended twin in, both side by side out, the lines that differ tinted."""

from __future__ import annotations

import difflib

from PySide6.QtCore import Qt
from PySide6.QtGui import QTextCursor, QTextFormat
from PySide6.QtWidgets import (
    QDialog,
    QHBoxLayout,
    QPlainTextEdit,
    QPushButton,
    QTextEdit,
    QVBoxLayout,
    QWidget,
)

from ..panels.highlighter import Highlighter
from ..panels.look import Theme, colour, font
from ..panels.widgets import plain_label


class Comparison(QDialog):
    """``accepted``: the mended text shall be taken."""

    def __init__(
        self, before: tuple[str, str], after: tuple[str, str], theme: Theme, parent: QWidget
    ) -> None:
        """``before``, ``after``: a heading and a text each."""
        super().__init__(parent)
        self.setWindowTitle("Compare")
        self.resize(1040, 560)
        old, new = changed_lines(before[1], after[1])
        self.left = _pane(before[1], old, theme, theme.trouble_fill)
        self.right = _pane(after[1], new, theme, theme.success_fill)
        self._scroll_together()
        row = QHBoxLayout()
        row.setSpacing(12)
        for (heading, _), pane in ((before, self.left), (after, self.right)):
            column = QVBoxLayout()
            column.addWidget(plain_label(heading, "cardTitle", wraps=True))
            column.addWidget(pane)
            row.addLayout(column)
        apply = QPushButton("Apply")
        apply.setObjectName("primary")
        apply.setDefault(True)
        apply.clicked.connect(self.accept)
        close = QPushButton("Close")
        close.clicked.connect(self.reject)
        buttons = QHBoxLayout()
        buttons.addStretch(1)
        buttons.addWidget(close)
        buttons.addWidget(apply)
        column = QVBoxLayout(self)
        column.setContentsMargins(16, 14, 16, 14)
        column.addLayout(row, 1)
        column.addLayout(buttons)

    def _scroll_together(self) -> None:
        left, right = self.left.verticalScrollBar(), self.right.verticalScrollBar()
        left.valueChanged.connect(right.setValue)
        right.valueChanged.connect(left.setValue)


def changed_lines(before: str, after: str) -> tuple[set[int], set[int]]:
    """Numbers (from 0) of the lines that are gone, and of those that are new."""
    matcher = difflib.SequenceMatcher(None, before.split("\n"), after.split("\n"), autojunk=False)
    gone: set[int] = set()
    new: set[int] = set()
    for kind, i, j, k, m in matcher.get_opcodes():
        if kind != "equal":
            gone.update(range(i, j))
            new.update(range(k, m))
    return gone, new


def _pane(text: str, lines: set[int], theme: Theme, tint: str) -> QPlainTextEdit:
    pane = QPlainTextEdit()
    pane.setReadOnly(True)
    pane.setLineWrapMode(QPlainTextEdit.LineWrapMode.NoWrap)
    pane.setFont(font("mono"))
    pane.setPlainText(text)
    pane.setTextInteractionFlags(
        Qt.TextInteractionFlag.TextSelectableByMouse
        | Qt.TextInteractionFlag.TextSelectableByKeyboard
    )
    Highlighter(pane.document(), theme)
    selections = []
    for number in sorted(lines):
        selection = QTextEdit.ExtraSelection()
        selection.format.setBackground(colour(tint))
        selection.format.setProperty(QTextFormat.Property.FullWidthSelection, True)
        selection.cursor = QTextCursor(pane.document().findBlockByNumber(number))
        selections.append(selection)
    pane.setExtraSelections(selections)
    return pane
