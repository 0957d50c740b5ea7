"""The panel with the text, the marks of the run and the repairs."""

from __future__ import annotations

from PySide6.QtCore import QSize, Qt
from PySide6.QtWidgets import QApplication, QWidget

from ...analysis.model import Diagnosis
from ...document import Document
from ...text.line_words import ranges_of
from ...trace.model import EMPTY_TRACE
from ...trace.sites import StackFrame
from ..look import Theme
from ..panel import Panel
from ..rows import fill
from ..widgets import ShortLabel
from .completion import Completion
from .editor import Editor
from .extra_selections import Span
from .find_bar import FindBar, LineBar
from .line_hint import LineHint
from .line_marks import GroupMarks, marks_of
from .repair_strip import RepairStrip


class SourcePanel(Panel):
    title = "Source"
    name = "source"

    def __init__(self, document: Document, theme: Theme) -> None:
        super().__init__(document, theme)
        self.file_label = ShortLabel("faint", Qt.TextElideMode.ElideMiddle)
        self.header_row.addWidget(self.file_label)
        self.editor = Editor(theme)
        self.hint = LineHint(self.editor)
        self._is_pointing = False
        """The pointer is over a name in the text."""
        self._has_shown_line = False
        """The line of the error or first cut of this trace was brought into sight once."""
        self._is_fresh = False
        """Another text was pasted since the last run: the cursor is at its end, not where one
        works."""
        self._is_opened = False
        """Another text was opened since the last run."""
        self._group_marks = GroupMarks()
        self.repair_strip = RepairStrip(document, theme)
        self.repair_strip.undo.clicked.connect(self._undo_repairs)
        self.find_bar = FindBar(self.editor, theme)
        self.line_bar = LineBar(self.editor)
        self.completion = Completion(self.editor)
        fill(self.body, (self.editor, 1), self.find_bar, self.line_bar, self.repair_strip)
        self.editor.textChanged.connect(self._take_text)
        self.find_bar.replaced.connect(document.say)
        self.editor.pasted.connect(self._take_paste)
        self.editor.refused.connect(document.complain)
        self.editor.line_reached.connect(document.selecting.select_line)
        document.text.changed.connect(self._show_text)
        document.text.repairs_changed.connect(self._take_repairs)
        document.trace_changed.connect(self._take_trace)
        for signal in (
            document.diagnosis_changed,
            document.arrangement_changed,
            document.trace_changed,
            document.step_changed,
            document.view_changed,
            document.run_started,
            document.run_ended,
        ):
            signal.connect(lambda: document.jobs.ask(self._show_marks))
        document.selection_changed.connect(self._show_selection)
        document.hover_changed.connect(self._show_links)
        self.editor.name_hovered.connect(self._hover)
        document.diagnosis_changed.connect(self._show_first_line)
        document.line_requested.connect(self.editor.go_to)
        document.run_started.connect(self.room_changed)
        self.editor.width_changed.connect(self.room_changed)
        self._show_text()

    def find_text(self, with_replace: bool = False) -> None:
        """Open the bar to find in the text."""
        self.line_bar.hide()
        self.find_bar.open(with_replace)

    def ask_line(self) -> None:
        """Open the bar to go to a line."""
        self.find_bar.hide()
        self.editor.show_found(())
        self.line_bar.open()

    def has_keyboard(self) -> bool:
        focused = QApplication.focusWidget()
        return focused is not None and (focused is self or self.isAncestorOf(focused))

    def focus_target(self) -> QWidget:
        return self.editor

    def set_narrow(self, is_narrow: bool) -> None:
        self.editor.set_narrow(is_narrow)

    def wanted_room(self) -> QSize:
        return QSize(self.editor.wanted_width(), 0)

    def edit_text(self, text: str) -> None:
        """Replace the text as if the user had typed it, as one step to undo."""
        self.editor.replace_text(text)

    def _take_text(self) -> None:
        if not self.editor.is_going_on:
            self.document.text.edit(self.editor.toPlainText())

    def _show_text(self) -> None:
        document = self.document
        if self.editor.toPlainText() != document.text.source:
            self.editor.setPlainText(document.text.source)
            self._is_opened = document.trace is EMPTY_TRACE
            self.room_changed.emit()
        dot = " •" if document.text.is_unsaved else ""
        self.file_label.setText(document.text.filename + dot)
        self._show_marks()

    def _show_marks(self) -> bool:
        """Show the marks; those of many cuts come when all are made. Returns whether more are to be
        made."""
        document, groups = self.document, self._group_marks
        has_more = groups.make_more(document.diagnosis, document.trace)
        self.editor.set_marks(marks_of(document, groups), document.is_outdated)
        text = document.text
        parts = [(first, last) for first, last, _ in text.left_out()]
        self.editor.set_left_out([*parts, *ranges_of(text.prose())])
        return has_more

    def _show_links(self) -> None:
        """The sub-expressions of what is pointed at, else of what is selected elsewhere."""
        document = self.document
        is_ours = self.editor.hasFocus() and not document.selecting.hovered
        frames = () if is_ours else document.selecting.lit_spans
        spans = [span for frame in frames if (span := self._span_now(frame)) is not None]
        self.editor.light_up(spans)
        is_from_afar = bool(document.selecting.hovered) and not self._is_pointing
        lines = map(document.text.line_now, {frame.line for frame in frames})
        self.hint.show_lines([line for line in lines if line and is_from_afar])
        self._show_marks()

    def _span_now(self, frame: StackFrame) -> Span | None:
        line, end = map(self.document.text.line_now, (frame.line, frame.end_line))
        is_known = line and end and frame.column >= 0
        return Span(line, frame.column, end, frame.end_column) if is_known else None

    def _hover(self, name: str) -> None:
        document = self.document
        self._is_pointing = bool(name)
        document.selecting.hover(document.links.nodes_named(name) if name else frozenset())

    def _take_trace(self) -> None:
        self._has_shown_line = False

    def _show_first_line(self) -> None:
        """After a run, bring the line of its error or first cut into sight, or of the call that was
        mended; for a text that was pasted or opened, else that of the call that is shown."""
        document, diagnosis = self.document, self.document.diagnosis
        line, mended = first_line(diagnosis), document.showing.mended
        call = diagnosis.call(mended) if mended is not None and diagnosis.error is None else None
        if call is not None and not call.is_troubled:
            line = call.call.line
        is_fresh = self._is_fresh or (self._is_opened and not self.editor.textCursor().position())
        if not line and is_fresh and document.current_call is not None:
            line = document.current_call.call.line
        if line and not document.is_running and not self._has_shown_line:
            self._has_shown_line = True
            now = document.text.line_now(line)
            if now and is_fresh:
                self.editor.horizontalScrollBar().setValue(0)
            if now:
                self.editor.show_line(now)
            self._is_fresh = self._is_opened = False

    def _take_paste(self) -> None:
        known = set(self.document.text.ran.split("\n"))
        lines = self.editor.toPlainText().split("\n")
        self._is_fresh = 2 * sum(line in known for line in lines) < len(lines)
        self.document.repairing.repair()

    def _show_selection(self) -> None:
        self._show_links()
        line = self.document.text.line_now(self.document.selection.line)
        if line and not self.editor.hasFocus():
            self.editor.show_line(line)

    def _take_repairs(self) -> None:
        repairs = self.document.text.repairs
        if repairs is not None and repairs.text != self.document.text.source:
            self.editor.replace_text(repairs.text)
        self._show_marks()
        self.room_changed.emit()

    def _undo_repairs(self) -> None:
        self.editor.undo()
        self.document.text.forget_repairs()
        self.editor.setFocus()


def first_line(diagnosis: Diagnosis) -> int:
    """The line of the error, else of the first cause, 0 without either."""
    if diagnosis.error is not None:
        return diagnosis.error.line
    calls = (call for call in diagnosis.calls if call.is_troubled)
    findings = (finding for call in calls for finding in call.findings if not finding.is_harmless)
    return next((f.cause.line for f in findings if f.cause is not None and f.cause.line), 0)
