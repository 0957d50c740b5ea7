"""Show the changed lines of a diff, with hanging indents."""

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

from ...text.diffs import FOLD, diff_lines
from ...wording import counted, shortened
from ..look import SMALL, Theme, colour, font

MINUS = "\u2212"
"""The sign of a removed line, after which no row ends as after a hyphen."""
MOST, MOST_ROWS = 10, 12
"""Changed lines shown, at most, and the rows that they may take where they wrap; comparing side by
side shows all."""


def changed_lines(diff: str) -> list[tuple[str, str]]:
    """Sign and code of each changed line, without the indentation that all of them share.

    A line with the sign ``⋯`` and no code stands for unchanged lines in between.
    """
    lines: list[tuple[str, str]] = []
    for sign, code in diff_lines(diff):
        if sign in ("+", "-"):
            lines.append((sign, code))
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
        self._changed = [(sign, shortened(code)) for sign, code in changed_lines(diff)]
        self._theme = theme
        self._width = 0
        count = len(self._changed)
        self._most = self._shown = count if count <= MOST + 1 else MOST
        """Lines to show where there is room, and those that are shown."""
        self.lines: list[tuple[str, str]] = []
        """Sign and code of the lines shown, the last with the number of those that are not."""
        self._document = QTextDocument(self)
        self._document.setDocumentMargin(0)
        self._document.setDefaultFont(font("mono", SMALL))
        wrap = QTextOption()
        wrap.setWrapMode(QTextOption.WrapMode.WrapAtWordBoundaryOrAnywhere)
        self._document.setDefaultTextOption(wrap)
        self._show(self._most)
        self._ideal = math.ceil(self._document.idealWidth())
        policy = QSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Preferred)
        policy.setHeightForWidth(True)
        self.setSizePolicy(policy)

    def _show(self, most: int) -> None:
        """Show the first lines, and how many more there are."""
        lines, more = self._changed[:most], len(self._changed) - most
        if more > 0:
            shown = lines[:-1] if lines[-1][0] == FOLD else lines
            lines = [*shown, (FOLD, counted(more, "more line"))]
        if lines != self.lines:
            self.lines = lines
            self.setAccessibleName("\n".join(f"{sign} {code}" for sign, code in lines))
            self._write()

    def _fit(self, width: int) -> None:
        """Lay out for this width in px, with as many lines as the rows hold."""
        if width != self._width:
            self._width = width
            self._shown = self._most
            self._show(self._shown)
        self._document.setTextWidth(width)
        while self._rows() > MOST_ROWS and self._shown > 1:
            self._shown -= 1
            self._show(self._shown)

    def _rows(self) -> int:
        """Rows that the lines take at the present width."""
        document = self._document
        document.size()  # lays it out
        blocks = (document.findBlockByNumber(n) for n in range(document.blockCount()))
        return sum(block.layout().lineCount() for block in blocks)

    def _write(self) -> None:
        theme = self._theme
        tones = {"-": theme.trouble_text, "+": theme.success_text, FOLD: theme.text_muted}
        column = QFontMetricsF(self._document.defaultFont()).horizontalAdvance("0")
        self._document.clear()
        cursor = QTextCursor(self._document)
        for number, (sign, code) in enumerate(self.lines):
            if number:
                cursor.insertBlock()
            indent = len(code) - len(code.lstrip())
            hang = column * (2 + indent)
            block = QTextBlockFormat()
            block.setLeftMargin(hang)
            block.setTextIndent(-hang)
            cursor.setBlockFormat(block)
            letters = QTextCharFormat()
            letters.setForeground(colour(tones[sign]))
            shown = sign.replace("-", MINUS)
            gap = "\u00a0" * (1 + indent)  # does not break: the sign never stands alone
            cursor.insertText(f"{shown}{gap}{code.lstrip()}", letters)

    def hasHeightForWidth(self) -> bool:
        return True

    def heightForWidth(self, width: int) -> int:
        self._fit(width)
        return math.ceil(self._document.size().height())

    def sizeHint(self) -> QSize:
        return QSize(self._ideal, self.heightForWidth(self._width or self._ideal))

    def minimumSizeHint(self) -> QSize:
        return QSize(40, 0)

    def paintEvent(self, event: QPaintEvent) -> None:
        painter = QPainter(self)
        self._fit(self.width())
        self._document.drawContents(painter)
        painter.end()
