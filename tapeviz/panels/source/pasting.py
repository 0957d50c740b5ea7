"""Read code from what was pasted or dropped."""

from __future__ import annotations

from PySide6.QtCore import QMimeData
from PySide6.QtGui import QTextDocumentFragment

from ...files.notebook import code_in


def has_code(data: QMimeData) -> bool:
    """Whether there is a text, plain or of a web page, and not addresses alone, as of files."""
    if not (data.hasText() or data.hasHtml()):
        return False
    if not data.hasUrls():
        return True
    forms = ((url.toString(), url.toLocalFile()) for url in data.urls())
    addresses = {form for pair in forms for form in pair}
    lines = [line.strip() for line in data.text().splitlines() if line.strip()]
    return not addresses.issuperset(lines)


def code_of(data: QMimeData) -> str:
    """The text; of a notebook, its code; of what has only markup, the text in it."""
    text = data.text()
    if not text and data.hasHtml():
        text = QTextDocumentFragment.fromHtml(data.html()).toPlainText()
    return code_in(text)
