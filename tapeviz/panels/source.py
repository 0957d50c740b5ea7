"""The document in, its text to edit out, with the marks of the run and the list of repairs."""

from __future__ import annotations

from PySide6.QtCore import QSize
from PySide6.QtWidgets import QFrame, QHBoxLayout, QVBoxLayout, QWidget

from ..document import Document
from .editor import Editor
from .line_marks import marks_of
from .look import Theme
from .panel import Panel
from .widgets import IconButton, link_button, plain_label


class SourcePanel(Panel):
    title = "Source"
    name = "source"

    def __init__(self, document: Document, theme: Theme) -> None:
        super().__init__(document, theme)
        self.file_label = plain_label(name="faint")
        self.header_row.addWidget(self.file_label)
        self.editor = Editor(theme)
        self.repair_strip = RepairStrip(document, theme)
        self.repair_strip.undo.clicked.connect(self._undo_repairs)
        self.body.addWidget(self.editor, 1)
        self.body.addWidget(self.repair_strip)
        self.editor.textChanged.connect(self._take_text)
        self.editor.pasted.connect(self._repair_text)
        self.editor.line_reached.connect(document.select_line)
        document.text.changed.connect(self._show_text)
        for signal in (
            document.diagnosis_changed,
            document.arrangement_changed,
            document.trace_changed,
            document.step_changed,
            document.view_changed,
            document.run_started,
            document.run_ended,
        ):
            signal.connect(self._show_marks)
        document.selection_changed.connect(self._show_selection)
        document.line_requested.connect(self.editor.go_to)
        document.run_started.connect(self.room_changed)
        self._show_text()

    def set_theme(self, theme: Theme) -> None:
        super().set_theme(theme)
        self.editor.set_theme(theme)
        self.repair_strip.set_theme(theme)

    def focus_target(self) -> QWidget:
        return self.editor

    def wanted_room(self) -> QSize:
        return QSize(self.editor.wanted_width(), 0)

    def edit_text(self, text: str) -> None:
        """Replaces the text as if the user had typed it: one step that can be undone."""
        self.editor.replace_text(text)

    def _take_text(self) -> None:
        self.document.text.edit(self.editor.toPlainText())

    def _show_text(self) -> None:
        document = self.document
        if self.editor.toPlainText() != document.text.source:
            self.editor.setPlainText(document.text.source)
            self.room_changed.emit()
        dot = " •" if document.text.is_unsaved else ""
        self.file_label.setText(document.text.filename + dot)
        self._show_marks()

    def _show_marks(self) -> None:
        self.editor.set_marks(marks_of(self.document), self.document.is_outdated)

    def _show_selection(self) -> None:
        self._show_marks()
        line = self.document.text.line_now(self.document.selection.line)
        if line and not self.editor.hasFocus():
            self.editor.show_line(line)

    def _repair_text(self) -> None:
        text = self.editor.toPlainText()
        repaired = self.document.text.repair(text)
        if repaired.text != text:
            self.editor.replace_text(repaired.text)
        self.room_changed.emit()

    def _undo_repairs(self) -> None:
        self.editor.undo()
        self.document.text.forget_repairs()
        self.editor.setFocus()


class RepairStrip(QFrame):
    """A slim bar that says what was mended in a pasted text; hidden when nothing was."""

    def __init__(self, document: Document, theme: Theme) -> None:
        super().__init__()
        self.setObjectName("strip")
        self._document = document
        column = QVBoxLayout(self)
        column.setContentsMargins(12, 5, 6, 5)
        column.setSpacing(2)
        row = QHBoxLayout()
        row.setSpacing(12)
        self.words = plain_label(wraps=True)
        self.undo = link_button("Undo", "Back to the text as it was pasted (Ctrl+Z)")
        self.details = link_button("Details")
        self.details.setCheckable(True)
        self.close_button = IconButton("close", "Hide", theme)
        self.close_button.clicked.connect(document.text.forget_repairs)
        row.addWidget(self.words, 1)
        row.addWidget(self.undo)
        row.addWidget(self.details)
        row.addWidget(self.close_button)
        self.list = plain_label(name="muted", wraps=True)
        self.list.hide()
        self.details.toggled.connect(self.list.setVisible)
        column.addLayout(row)
        column.addWidget(self.list)
        document.text.repairs_changed.connect(self._show)
        self._show()

    def set_theme(self, theme: Theme) -> None:
        self.close_button.set_theme(theme)

    def _show(self) -> None:
        repairs = self._document.text.repairs
        if repairs is None or not (repairs.repairs or repairs.skipped or repairs.error):
            self.hide()
            return
        count = len(repairs.repairs)
        done = f"Repaired {count} thing{'s' if count != 1 else ''}" if count else ""
        self.words.setText(
            ". ".join(part for part in (repairs.skipped, done, repairs.error) if part)
        )
        lines = [f"line {line}: {what}" if line else what for line, what in repairs.repairs]
        more = [f"… and {count - 40} more"] if count > 40 else []
        self.list.setText("\n".join(lines[:40] + more))
        self.undo.setVisible(bool(count or repairs.skipped))
        self.details.setVisible(bool(count))
        self.details.setChecked(False)
        self.setProperty("state", "trouble" if repairs.error else "")
        self.style().unpolish(self)
        self.style().polish(self)
        self.show()
