"""Find the bracket at the cursor and its partner."""

from __future__ import annotations

from PySide6.QtGui import QTextBlock, QTextDocument

PAIRS = {"(": ")", "[": "]", "{": "}"}
_OPENED_BY = {closing: opening for opening, closing in PAIRS.items()}
FAR = 2_000
"""Lines to search for the partner, at most: more would slow down typing."""


def bracket_pair(document: QTextDocument, position: int) -> tuple[int, int] | None:
    """Return the positions of the bracket before or after ``position`` and of its partner.

    The partner is -1 where none is found. Brackets in strings and comments, as the highlighter
    coloured them, do not count. None: no bracket stands at ``position``.
    """
    block = document.findBlock(position)
    column = position - block.position()
    text = block.text()
    for place in (column - 1, column):
        is_bracket = 0 <= place < len(text) and text[place] in {*PAIRS, *_OPENED_BY}
        if is_bracket and is_code(block, place):
            return block.position() + place, _partner(block, place)
    return None


def is_code(block: QTextBlock, column: int) -> bool:
    """Whether a character is neither in a string nor in a comment, by its colour."""
    return not any(
        span.start <= column < span.start + span.length for span in block.layout().formats()
    )


def _partner(block: QTextBlock, column: int) -> int:
    text = block.text()
    begin = text[column]
    is_forward = begin in PAIRS
    other = PAIRS[begin] if is_forward else _OPENED_BY[begin]
    depth = 0
    for _ in range(FAR):
        places = range(column, len(text)) if is_forward else range(column, -1, -1)
        for place in places:
            if text[place] in (begin, other) and is_code(block, place):
                depth += 1 if text[place] == begin else -1
                if depth == 0:
                    return block.position() + place
        block = block.next() if is_forward else block.previous()
        if not block.isValid():
            break
        text = block.text()
        column = 0 if is_forward else len(text) - 1
    return -1
