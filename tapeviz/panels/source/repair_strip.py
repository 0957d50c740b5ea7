"""A bar that lists the repairs of a pasted page and the parts left out."""

from __future__ import annotations

from PySide6.QtWidgets import QFrame, QPlainTextEdit

from ...analysis.run_words import part_words, repair_words
from ...document import Document
from ...repair import Repaired
from ...text.source import holds_code
from ...wording import counted
from ..look import Theme
from ..rows import in_column, in_row
from ..widgets import IconButton, link_button, plain_label, set_state

LIST_HEIGHT = 124
MOST = 200
"""Kinds of repairs listed, at most, and ranges of lines for each."""


class RepairStrip(QFrame):
    """A bar that is hidden without repairs, and after the user closed it."""

    def __init__(self, document: Document, theme: Theme) -> None:
        super().__init__()
        self.setObjectName("strip")
        self._document = document
        self._closed: Repaired | None = None
        self.words = plain_label(wraps=True)
        self.undo = link_button("Undo", "Back to the text as it was pasted (Ctrl+Z)")
        self.details = link_button("Details")
        self.details.setCheckable(True)
        self.close_button = IconButton("close", "Hide", theme)
        self.close_button.clicked.connect(self._close)
        self.list = QPlainTextEdit()
        self.list.setObjectName("listed")
        self.list.setReadOnly(True)
        self.list.setTabChangesFocus(True)
        self.list.setAccessibleName("What was left out and mended")
        self.list.setFixedHeight(LIST_HEIGHT)
        self.list.hide()
        self.details.toggled.connect(self.list.setVisible)
        links = (self.undo, self.details, self.close_button)
        row = in_row(None, (self.words, 1), *links, spacing=12)
        in_column(self, row, self.list, margins=(12, 5, 6, 5), spacing=2)
        document.text.repairs_changed.connect(self._open)
        document.text.changed.connect(self._show)
        self._show()

    def _open(self) -> None:
        self.details.setChecked(False)
        self._show()

    def _close(self) -> None:
        self._closed = self._document.text.repairs
        self.hide()

    def _show(self) -> None:
        text = self._document.text
        repairs, left_out = text.repairs, text.left_out()
        if repairs is None or repairs is self._closed:
            self.hide()
            return
        is_as_pasted = text.source == repairs.text  # an edit may mend it
        error = str(repairs.error) if repairs.error and is_as_pasted else ""
        if not (repairs.repairs or left_out or error):
            self.hide()
            return
        count = len(repairs.repairs)
        done = f"Repaired {counted(count, 'thing')}" if count else ""
        if count and not holds_code(repairs.text):
            done = "No line of it is Python: all of it is kept as comments"
        skipped = left_out_words(left_out, repairs.blocks)
        self.words.setText(". ".join(part for part in (skipped, done, error) if part))
        self.list.setPlainText("\n".join(listed(repairs, left_out)))
        self.undo.setVisible(bool(count))
        self.details.setVisible(bool(count or left_out))
        set_state(self, "trouble" if error else "")
        self.show()


def left_out_words(parts: tuple[tuple[int, int, str], ...], blocks: int) -> str:
    """``5 of 6 blocks run · line 102 left out: a bracket is open``; several are only counted."""
    if not parts:
        return ""
    parts_words = f"{len(parts)} parts left out" if len(parts) > 1 else part_words(*parts[0])
    return f"{blocks - len(parts)} of {blocks} blocks run · {parts_words}"


def listed(repairs: Repaired, left_out: tuple[tuple[int, int, str], ...]) -> list[str]:
    """A line for each part left out, and one for each kind of the first repairs with all its
    lines."""
    mended = list(repair_words(repairs.repairs, MOST))
    more = [f"… and {len(mended) - MOST} kinds more"] if len(mended) > MOST else []
    return [*(part_words(*part) for part in left_out), *mended[:MOST], *more]
