"""Read code from what was pasted or dropped."""

from __future__ import annotations

from PySide6.QtCore import QMimeData
from PySide6.QtGui import QTextDocumentFragment

from ...notebook import code_in


def has_code(data: QMimeData) -> bool:
    """Whether there is a text, plain or of a web page, and not the address of a file."""
    return (data.hasText() or data.hasHtml()) and not data.hasUrls()


def code_of(data: QMimeData) -> str:
    """The text; of a notebook, its code; of what has only markup, the text in it."""
    text = data.text()
    if not text and data.hasHtml():
        text = QTextDocumentFragment.fromHtml(data.html()).toPlainText()
    return code_in(text)
