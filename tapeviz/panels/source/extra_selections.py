"""Backgrounds and colours for stretches of the text in the editor."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from PySide6.QtGui import QTextCharFormat, QTextCursor
from PySide6.QtWidgets import QPlainTextEdit, QTextEdit

from ..look import Theme, colour, mix
from ..units import utf16_units

MOST_FOUND = 1_000
"""Matches to highlight, at most: Qt goes through all of them at each repaint."""
LeftOut = tuple[int, int]


class Span(NamedTuple):
    """A stretch of the text; lines from 1, columns from 0, in characters."""

    line: int
    column: int
    end_line: int
    end_column: int


class ExtraSelections:
    """The stretches of an editor's text with a ground or colour of their own. ``lit``:
    sub-expressions of what is pointed at; ``left_out``: parts of a page that do not run; ``found``:
    (first, end) positions of matches; ``brackets``: the pair at the cursor, the second -1 where the
    partner is missing."""

    def __init__(self, editor: QPlainTextEdit, theme: Theme) -> None:
        self._editor = editor
        self.theme = theme
        self.lit: Sequence[Span] = ()
        self.left_out: Sequence[LeftOut] = ()
        self.found: Sequence[tuple[int, int]] = ()
        self.brackets: tuple[int, int] | None = None

    def show(self) -> None:
        """Show everything in the editor."""
        self._editor.setExtraSelections(
            [*self._brackets(), *self._found(), *self._lit(), *self._left_out()]
        )

    def _brackets(self) -> Iterator[QTextEdit.ExtraSelection]:
        if self.brackets is None:
            return
        theme, (here, there) = self.theme, self.brackets
        ground = theme.trouble_fill if there < 0 else mix(theme.panel, theme.text, 0.16)
        for position in (here, there):
            if position >= 0:
                yield selection(self._between(position, position + 1), ground=ground)

    def _found(self) -> Iterator[QTextEdit.ExtraSelection]:
        ground = mix(self.theme.panel, self.theme.gradient, 0.3)
        for first, end in self.found[:MOST_FOUND]:
            yield selection(self._between(first, end), ground=ground)

    def _lit(self) -> Iterator[QTextEdit.ExtraSelection]:
        ground = mix(self.theme.panel, self.theme.accent, 0.24)
        for span in self.lit:
            begin = self._position(span.line, span.column)
            end = self._position(span.end_line, span.end_column)
            yield selection(self._between(begin, end), ground=ground)

    def _left_out(self) -> Iterator[QTextEdit.ExtraSelection]:
        for first, last in self.left_out:
            document = self._editor.document()
            if first > document.blockCount():  # a shorter text: its parts are not known yet
                continue
            block = document.findBlockByNumber(min(last, document.blockCount()) - 1)
            end = block.position() + block.length() - 1
            cursor = self._between(self._position(first, 0), end)
            yield selection(cursor, text=self.theme.text_faint)

    def _between(self, first: int, end: int) -> QTextCursor:
        cursor = QTextCursor(self._editor.document())
        cursor.setPosition(first)
        cursor.setPosition(end, QTextCursor.MoveMode.KeepAnchor)
        return cursor

    def _position(self, line: int, column: int) -> int:
        """The position of a character in UTF-16 units, as Qt counts."""
        block = self._editor.document().findBlockByNumber(line - 1)
        units = utf16_units(block.text()[:column])
        return block.position() + max(0, min(units, block.length() - 1))


def selection(cursor: QTextCursor, text: str = "", ground: str = "") -> QTextEdit.ExtraSelection:
    """A stretch of the text in another colour, or on another ground."""
    form = QTextCharFormat()
    if text:
        form.setForeground(colour(text))
    if ground:
        form.setBackground(colour(ground))
    made = QTextEdit.ExtraSelection()
    made.cursor, made.format = cursor, form
    return made
