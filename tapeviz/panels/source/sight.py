"""Bring a part of a text into sight, no farther than needed."""

from __future__ import annotations

from collections.abc import Callable

from PySide6.QtCore import QRectF
from PySide6.QtGui import QTextBlock, QTextCursor
from PySide6.QtWidgets import QPlainTextEdit

SIDE = 8
"""Px between the edge and the place that comes into sight."""


def rows_in_sight(edit: QPlainTextEdit) -> list[tuple[QTextBlock, QRectF]]:
    """The lines in sight, each with its rectangle in the viewport."""
    found = []
    block = edit.firstVisibleBlock()
    while block.isValid():
        rect = edit.blockBoundingGeometry(block).translated(edit.contentOffset())
        if not block.next().isValid():
            # Qt counts the margin below the text as the last block's.
            rect.setHeight(block.layout().boundingRect().height())
        if rect.top() > edit.viewport().height():
            break
        found.append((block, rect))
        block = block.next()
    return found


def show_row(edit: QPlainTextEdit, row: int, top: float, height: float) -> None:
    """Bring a line (from 0), which begins ``top`` px below the edge, into the middle, if it is out
    of sight."""
    room = edit.viewport().height()
    if top < 0 or top + height > room:
        edit.verticalScrollBar().setValue(max(0, row - int(room / max(height, 1) / 2)))


def keep_sideways(edit: QPlainTextEdit, act: Callable[[], object]) -> None:
    """Undo or redo something, and scroll sideways only as far as its beginning is out of sight: Qt
    scrolls to its end, which hides where the lines begin."""
    bar, text, begun = edit.horizontalScrollBar(), edit.document(), list[int]()
    before = bar.value()

    def note(position: int, removed: int, added: int) -> None:
        begun.append(position)

    text.contentsChange.connect(note)
    try:
        act()
    finally:
        text.contentsChange.disconnect(note)
    if begun:
        bar.setValue(before)
        cursor = QTextCursor(text)
        cursor.setPosition(min(*begun, text.characterCount() - 1))
        at, room = edit.cursorRect(cursor), edit.viewport().width()
        beyond = min(at.left() - SIDE, 0) or max(at.right() + SIDE - room, 0)
        bar.setValue(before + beyond)
