"""A diff in, its changed lines with hanging indents out."""

from __future__ import annotations

import math

from PySide6.QtCore import QSize
from PySide6.QtGui import (
    QFontMetricsF,
    QPainter,
    QPaintEvent,
    QTextBlockFormat,
    QTextCharFormat,
    QTextCursor,
    QTextDocument,
    QTextOption,
)
from PySide6.QtWidgets import QSizePolicy, QWidget

from ..look import SMALL, Theme, colour, font

FOLD = "⋯"
MOST = 10
"""Changed lines shown, at most; comparing side by side shows all."""


def changed_lines(diff: str) -> list[tuple[str, str]]:
    """Sign and code of each changed line, without the indentation that all of them share.

    A line with the sign ``⋯`` and no code stands for unchanged lines in between.
    """
    lines: list[tuple[str, str]] = []
    for line in diff.split("\n"):
        if line.startswith(("---", "+++")):
            continue
        if line.startswith(("+", "-")):
            lines.append((line[0], line[1:]))
        elif lines and lines[-1][0] != FOLD:
            lines.append((FOLD, ""))
    while lines and lines[-1][0] == FOLD:
        lines.pop()
    margins = [len(code) - len(code.lstrip()) for _, code in lines if code.strip()]
    shared = min(margins, default=0)
    return [(sign, code[shared:]) for sign, code in lines]


class DiffView(QWidget):
    """A widget for changed lines; long ones wrap with a hanging indent."""

    def __init__(self, diff: str, theme: Theme) -> None:
        super().__init__()
        lines = changed_lines(diff)
        more = len(lines) - MOST
        self.lines = lines if more <= 1 else [*lines[:MOST], (FOLD, f"{more} more lines")]
        self.setAccessibleName("\n".join(f"{sign} {code}" for sign, code in self.lines))
        self._document = QTextDocument(self)
        self._document.setDocumentMargin(0)
        self._document.setDefaultFont(font("mono", SMALL))
        wrap = QTextOption()
        wrap.setWrapMode(QTextOption.WrapMode.WrapAtWordBoundaryOrAnywhere)
        self._document.setDefaultTextOption(wrap)
        self._write(theme)
        policy = QSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Preferred)
        policy.setHeightForWidth(True)
        self.setSizePolicy(policy)

    def _write(self, theme: Theme) -> None:
        tones = {"-": theme.trouble_text, "+": theme.success_text, FOLD: theme.text_muted}
        column = QFontMetricsF(self._document.defaultFont()).horizontalAdvance("0")
        cursor = QTextCursor(self._document)
        for number, (sign, code) in enumerate(self.lines):
            if number:
                cursor.insertBlock()
            hang = column * (2 + len(code) - len(code.lstrip()))
            block = QTextBlockFormat()
            block.setLeftMargin(hang)
            block.setTextIndent(-hang)
            cursor.setBlockFormat(block)
            letters = QTextCharFormat()
            letters.setForeground(colour(tones[sign]))
            cursor.insertText(f"{sign} {code}", letters)

    def hasHeightForWidth(self) -> bool:
        return True

    def heightForWidth(self, width: int) -> int:
        self._document.setTextWidth(width)
        return math.ceil(self._document.size().height())

    def sizeHint(self) -> QSize:
        width = math.ceil(self._document.idealWidth())
        return QSize(width, self.heightForWidth(width))

    def minimumSizeHint(self) -> QSize:
        return QSize(40, 0)

    def paintEvent(self, event: QPaintEvent) -> None:
        painter = QPainter(self)
        self._document.setTextWidth(self.width())
        self._document.drawContents(painter)
        painter.end()
