"""Edit Python text at a cursor, as one step to undo."""

from __future__ import annotations

import re

from PySide6.QtGui import QTextBlock, QTextCursor, QTextDocument

from ..units import utf16_units

INDENT = "    "
_LEADING = re.compile(r"[ \t]*")
_COMMENT = re.compile(r"([ \t]*)# ?")
_DEDENTS = re.compile(r"\s*(return|pass|break|continue|raise)\b")


def _blocks(cursor: QTextCursor) -> list[QTextBlock]:
    document = cursor.document()
    first = document.findBlock(cursor.selectionStart())
    last = document.findBlock(cursor.selectionEnd())
    if last.position() == cursor.selectionEnd() and last.blockNumber() > first.blockNumber():
        last = last.previous()
    found = [first]
    while found[-1].blockNumber() < last.blockNumber():
        found.append(found[-1].next())
    return found


def leading(text: str) -> str:
    """The white space a line begins with."""
    match = _LEADING.match(text)
    return match.group() if match else ""


def is_in_indentation(cursor: QTextCursor) -> bool:
    """Right after at least four spaces of indentation, nothing selected."""
    before = cursor.block().text()[: cursor.positionInBlock()]
    return not cursor.hasSelection() and before.isspace() and len(before) % 4 == 0


def indent(cursor: QTextCursor) -> None:
    """Indent the selected lines, or without a selection insert spaces at the cursor."""
    cursor.beginEditBlock()
    if cursor.hasSelection():
        for block in _blocks(cursor):
            if block.text().strip():
                QTextCursor(block).insertText(INDENT)
    else:
        cursor.insertText(" " * (4 - cursor.positionInBlock() % 4))
    cursor.endEditBlock()


def unindent(cursor: QTextCursor) -> None:
    cursor.beginEditBlock()
    for block in _blocks(cursor):
        width = min(4, len(leading(block.text())))
        edit = QTextCursor(block)
        edit.setPosition(block.position() + width, QTextCursor.MoveMode.KeepAnchor)
        edit.removeSelectedText()
    cursor.endEditBlock()


def break_line(cursor: QTextCursor) -> None:
    """Insert a new line, indented like this one, more after a colon, less after ``return``."""
    text = cursor.block().text()[: cursor.positionInBlock()]
    margin = leading(text)
    code = text.split("#")[0].rstrip()
    if code.endswith(":"):
        margin += INDENT
    elif _DEDENTS.match(code):
        margin = margin[: -len(INDENT)]
    cursor.insertText("\n" + margin)


def toggle_comment(cursor: QTextCursor) -> None:
    """Comment the selected lines out, or in if all are comments."""
    blocks = [block for block in _blocks(cursor) if block.text().strip()]
    if not blocks:
        return
    are_comments = all(_COMMENT.match(block.text()) for block in blocks)
    margin = min(len(leading(block.text())) for block in blocks)
    cursor.beginEditBlock()
    for block in blocks:
        edit = QTextCursor(block)
        match = _COMMENT.match(block.text())
        if are_comments and match:
            edit.setPosition(block.position() + match.end(1))
            edit.setPosition(block.position() + match.end(), QTextCursor.MoveMode.KeepAnchor)
            edit.removeSelectedText()
        else:
            edit.setPosition(block.position() + margin)
            edit.insertText("# ")
    cursor.endEditBlock()


def duplicate(cursor: QTextCursor) -> None:
    """Insert a copy of the selected lines, or of the cursor's line, below them."""
    blocks = _blocks(cursor)
    text = "\n".join(block.text() for block in blocks)
    edit = QTextCursor(blocks[-1])
    edit.movePosition(QTextCursor.MoveOperation.EndOfBlock)
    edit.insertText("\n" + text)


def move_lines(cursor: QTextCursor, by: int) -> None:
    """Move the selected lines, or the cursor's, up (-1) or down (1), unless they are at the edge of
    the text; ``cursor`` keeps its selection."""
    blocks = _blocks(cursor)
    neighbour = blocks[0].previous() if by < 0 else blocks[-1].next()
    if not neighbour.isValid():
        return
    first, last = (neighbour, blocks[-1]) if by < 0 else (blocks[0], neighbour)
    texts = [block.text() for block in blocks]
    moved = [*texts, neighbour.text()] if by < 0 else [neighbour.text(), *texts]
    shift = by * (neighbour.length())
    anchor, position = cursor.anchor() + shift, cursor.position() + shift
    edit = QTextCursor(first)
    edit.beginEditBlock()
    edit.setPosition(last.position() + last.length() - 1, QTextCursor.MoveMode.KeepAnchor)
    edit.insertText("\n".join(moved))
    edit.endEditBlock()
    end = cursor.document().characterCount() - 1
    cursor.setPosition(min(anchor, end))
    cursor.setPosition(min(position, end), QTextCursor.MoveMode.KeepAnchor)


def replace_text(document: QTextDocument, text: str) -> None:
    """Replace the part that differs, which keeps cursor and scroll position."""
    old = document.toPlainText()
    if old == text:
        return
    start = 0
    shorter = min(len(old), len(text))
    while start < shorter and old[start] == text[start]:
        start += 1
    end = 0
    while end < shorter - start and old[-1 - end] == text[-1 - end]:
        end += 1
    cursor = QTextCursor(document)
    cursor.setPosition(utf16_units(old[:start]))
    cursor.setPosition(utf16_units(old[: len(old) - end]), QTextCursor.MoveMode.KeepAnchor)
    cursor.insertText(text[start : len(text) - end])
