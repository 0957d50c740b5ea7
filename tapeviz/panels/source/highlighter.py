"""Colour Python text: pygments reads, Qt paints."""

from __future__ import annotations

import time

from pygments.token import Token  # type: ignore[import-untyped]
from PySide6.QtCore import QTimer
from PySide6.QtGui import QSyntaxHighlighter, QTextCharFormat, QTextDocument

from ...text.code_roles import ROLES, role_of, tokens
from ..look import Theme, colour
from ..units import utf16_units

LONGEST = 30_000
"""Characters of a text that is tokenized as a whole at each edit; longer ones line by line."""
AT_ONCE = 100
"""Lines of a long text to colour at once; the others follow."""
BUSY = 0.01
"""Seconds of colouring before the event loop continues."""
LONGEST_LINE = 20_000
"""Characters of a line of a long text up to which it is coloured: the window waits for each."""
FormatSpan = tuple[int, int, object]


def read_spans(text: str) -> list[list[FormatSpan]]:
    """For each line its (start, length, token type), for the types that have a colour."""
    lines: list[list[FormatSpan]] = [[]]
    column = 0
    for token, value in tokens(text):
        role = role_of(token)
        for number, part in enumerate(value.split("\n")):
            if number:
                lines.append([])
                column = 0
            if role and part:
                lines[-1].append((column, utf16_units(part), token))
            column += utf16_units(part)
    return lines


class Highlighter(QSyntaxHighlighter):
    """Colours a document; the state of a block is 1 when a string goes on after it.

    A long text is coloured from the top down while the window goes on answering.
    """

    def __init__(self, document: QTextDocument, theme: Theme) -> None:
        super().__init__(document)
        self._lines: list[list[FormatSpan]] = []
        self._texts: list[str] = []
        self._formats: dict[str, QTextCharFormat] = {}
        self._left = AT_ONCE
        self._until = 0.0
        self._skips = False
        self._waiting_from = self._blocks = 0
        self._is_waiting = False
        self.is_going_on = False
        """Lines that waited get their colours: the text is the same, whatever Qt signals."""
        self._timer = QTimer(self, singleShot=True, interval=2)
        self._timer.timeout.connect(self._go_on)
        document.blockCountChanged.connect(self._follow_lines)
        document.contentsChange.connect(self._note_change)
        self.set_theme(theme)

    def set_theme(self, theme: Theme) -> None:
        self._formats = {}
        for _, role in ROLES:
            made = QTextCharFormat()
            made.setForeground(colour(getattr(theme, role)))
            self._formats[role] = made
        self.rehighlight()

    def highlightBlock(self, text: str) -> None:
        if self._skips:  # asked for each of thousands of lines in one go
            return
        if self.document().characterCount() > LONGEST and not self._may_go_on():
            return
        spans, goes_on = self._spans(text)
        for start, length, token in spans:
            self.setFormat(start, length, self._formats[role_of(token)])
        self.setCurrentBlockState(int(goes_on))

    def _may_go_on(self) -> bool:
        """False when this line of a long text, and all below, have to wait for their turn."""
        if self.is_going_on:
            # Qt goes on by itself to the next line when the state of one has changed.
            has_time = time.perf_counter() < self._until
            self._waiting_from += has_time
            return has_time
        self._left -= 1
        self._timer.start()
        if self._left >= 0:
            return True
        self._wait_from(self.currentBlock().blockNumber())
        self._skips = True
        return False

    def _wait_from(self, line: int) -> None:
        self._waiting_from = min(self._waiting_from, line) if self._is_waiting else line
        self._is_waiting = True

    def _note_change(self, position: int, removed: int, added: int) -> None:
        """Lines that change while others below them wait are coloured again with those."""
        if self._is_waiting and not self.is_going_on:
            self._wait_from(self.document().findBlock(position).blockNumber())

    def _go_on(self) -> None:
        """Colour the next waiting lines."""
        self._left, self._skips = AT_ONCE, False
        if not self._is_waiting:
            return
        if self.document().characterCount() <= LONGEST:  # it became shorter: read as a whole
            self._is_waiting = False
            self.rehighlight()
            return
        self.is_going_on = True
        self._until = time.perf_counter() + BUSY
        document = self.document()
        while self._waiting_from < document.blockCount() and time.perf_counter() < self._until:
            self.rehighlightBlock(document.findBlockByNumber(self._waiting_from))
        self.is_going_on = False
        self._is_waiting = self._waiting_from < document.blockCount()
        if self._is_waiting:
            self._timer.start()

    def _follow_lines(self, count: int) -> None:
        """Follow waiting lines that move because lines above them were removed."""
        self._waiting_from = max(0, self._waiting_from - max(0, self._blocks - count))
        self._blocks = count

    def _spans(self, text: str) -> tuple[list[FormatSpan], bool]:
        document = self.document()
        if document.characterCount() > LONGEST:
            return (read_spans(text)[0] if len(text) <= LONGEST_LINE else []), False
        number = self.currentBlock().blockNumber()
        is_known = len(self._texts) == document.blockCount() and self._texts[number] == text
        if not is_known:
            self._texts = _block_texts(document)
            self._lines = read_spans("\n".join(self._texts))
        if number >= len(self._lines):
            return [], False
        following = self._lines[number + 1] if number + 1 < len(self._lines) else []
        goes_on = bool(following) and following[0][0] == 0 and following[0][2] in Token.String
        return self._lines[number], goes_on


def _block_texts(document: QTextDocument) -> list[str]:
    """The lines as Qt keeps them; its plain text has spaces in place of non-breaking ones."""
    texts = []
    block = document.firstBlock()
    while block.isValid():
        texts.append(block.text())
        block = block.next()
    return texts
