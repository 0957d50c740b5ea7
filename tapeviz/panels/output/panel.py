"""The snippet's output, in a panel that no flood of it freezes."""

from __future__ import annotations

import re
import time
from collections import deque

from PySide6.QtCore import Qt, QTimer
from PySide6.QtGui import QMouseEvent, QResizeEvent, QTextCharFormat, QTextCursor
from PySide6.QtWidgets import QPlainTextEdit, QSizePolicy, QWidget

from ...analysis.run_words import ending_words
from ...document import Document
from ...text.messages import without_node_names
from ...trace.model import EMPTY_TRACE
from ..look import SMALL, Theme, colour, font
from ..panel import Panel
from ..rows import fill
from ..units import utf16_units
from ..widgets import link_button, plain_label
from .figures import FigureRow
from .question import QuestionBar
from .terminal import has_controls, split_unfinished, without_chance_letters, written

LONGEST_LINE = 1_000
"""Qt lays a line out in time that grows with its square: longer ones are broken."""
HEAD_LINES = 10_000
TAIL_LINES = 5_000
"""Lines between the head and the tail are counted, not shown."""
PIECE, PIECE_LINES = 4_000, 200
"""Characters and lines that go into the text at once, at most."""
LEAST_PIECE = 200
"""Characters of the first piece, and of one that Qt takes long to shape: many scripts in a row."""
BUSY = 0.01
"""Seconds of writing after which the rest waits for the event loop."""
PAUSE = 15
"""Milliseconds until then."""
LINE_PROPERTY = 0x100001
_START_UP = re.compile(
    r"^(?:WARNING: All log messages before absl::InitializeLog\(\) is called .*"
    r"|(?:[IWE]\d{4} [\d:.]+ +\d+|[\d-]+ [\d:.]+: [IWE]) (?:\S*/)?"
    r"(?:cpu_feature_guard|cuda_platform|cuda_executor|cuda_diagnostics|cuda_dnn|cuda_fft|cuda_blas"
    r"|cudart_stub|gpu_device|computation_placer|port|utils)\.(?:cc|h):\d+\] .*"
    r"|To enable the following instructions: .*)\n?",
    re.MULTILINE,
)
"""Lines that TensorFlow prints while it looks for processors and graphics cards (2.15 to 2.21)."""
_SIGNS_OF_START_UP = (".cc:", ".h:", "absl::", "To enable the following")
"""Each such line has one of these: output without them is not searched line by line."""


def break_lines(text: str, longest: int = LONGEST_LINE) -> str:
    """``text`` with a break wherever a line would exceed ``longest`` characters."""
    if len(text) <= longest:
        return text
    pieces = []
    for line in text.split("\n"):
        parts = [line[i : i + longest] for i in range(0, len(line), longest)] or [""]
        pieces.append("\n".join(parts))
    return "\n".join(pieces)


def _first_lines(text: str, count: int) -> tuple[str, str]:
    """The first ``count`` lines with their ends, and the rest."""
    parts = text.split("\n", count)
    if len(parts) <= count:
        return text, ""
    return "\n".join(parts[:count]) + "\n", parts[count]


class OutputPanel(Panel):
    title = "Output"
    name = "output"

    def __init__(self, document: Document, theme: Theme) -> None:
        super().__init__(document, theme)
        self.text = OutputText(document)
        self.text.setAccessibleName("Output of the snippet")
        policy = QSizePolicy.Policy
        self.text.setSizePolicy(policy.Expanding, policy.Ignored)  # figures come first
        self.count_label = plain_label(name="faint")
        self.clear_button = link_button("Clear")
        self.clear_button.clicked.connect(self.clear)
        fill(self.header_row, self.count_label, self.clear_button)
        self.figures = FigureRow(document)
        self.question = QuestionBar(document, self.text)
        fill(self.body, self.text, self.figures, self.question)
        self._formats: dict[str, QTextCharFormat] = {}
        self._waiting: deque[tuple[str, str]] = deque()
        self._waiting_lines = 0
        self._left_out = 0
        self._has_mark = False
        self._piece = LEAST_PIECE
        """Characters that go into the text at once: as many as it takes in :data:`BUSY` seconds."""
        self._column: int | None = None
        """Where in the last line the next letter goes; None: at its end."""
        self._unfinished: dict[str, str] = {}
        """The begin of an escape sequence, by stream."""
        self._timer = QTimer(self)
        self._timer.timeout.connect(self._write_pieces)
        self.set_theme(theme)
        document.run_started.connect(self.clear)
        document.output_added.connect(self.add)
        document.run_ended.connect(self._note_ending)
        document.trace_changed.connect(self._show_loaded)

    def set_theme(self, theme: Theme) -> None:
        super().set_theme(theme)
        tones = {
            "stdout": theme.text,
            "stderr": theme.warning_text,
            "error": theme.trouble_text,
            "note": theme.text_faint,
            "typed": theme.accent_text,
        }
        for stream, tone in tones.items():
            made = QTextCharFormat()
            made.setForeground(colour(tone))
            self._formats[stream] = made
        self.text.setFont(font("mono", SMALL))

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self.figures.refit()

    def focus_target(self) -> QWidget:
        return self.question.line if self.question.isVisible() else self.text

    def clear(self) -> None:
        self._waiting.clear()
        self._waiting_lines = self._left_out = 0
        self._has_mark = False
        self._column = None
        self._unfinished.clear()
        self._timer.stop()
        self.text.clear()
        self.figures.clear()
        self.count_label.setText("")

    def add(self, stream: str, text: str) -> None:
        """Takes what was written to ``stdout`` or ``stderr`` (``error`` and ``note``: ours).

        The text of a ``link`` is the number of a line of the snippet, to which it leads.
        """
        if stream == "stderr" and any(sign in text for sign in _SIGNS_OF_START_UP):
            text = _START_UP.sub("", text)
        text, self._unfinished[stream] = split_unfinished(self._unfinished.pop(stream, "") + text)
        if not text:
            return
        self._waiting.append((stream, text))
        self._waiting_lines += text.count("\n")
        if not self._timer.isActive():
            self._timer.start(0)

    def _write_pieces(self) -> None:
        """Write as much of the waiting output as there is time for."""
        bar = self.text.verticalScrollBar()
        is_at_end = bar.value() >= bar.maximum() - 2
        self._skip_middle()
        self._timer.start(PAUSE)
        until = time.perf_counter() + BUSY
        while self._waiting and time.perf_counter() < until:
            stream, text = self._waiting.popleft()
            began = time.thread_time()
            piece, rest = _first_lines(text[: self._piece], PIECE_LINES)
            rest += text[self._piece :]
            if rest:
                piece, unfinished = split_unfinished(piece)
                rest = unfinished + rest
            if rest:
                self._waiting.appendleft((stream, rest))
            self._waiting_lines -= piece.count("\n")
            if stream == "link":
                self._insert_link(int(piece))
            else:
                self._insert(stream, piece)
                took = max(time.thread_time() - began, 1e-6)
                fitting = int(len(piece) * BUSY / took)
                self._piece = min(max(fitting, LEAST_PIECE), PIECE)
        if not self._waiting:
            self._timer.stop()
        if self.text.blockCount() > HEAD_LINES + 2 * TAIL_LINES:
            self._leave_out(self.text.blockCount() - HEAD_LINES - TAIL_LINES)
        count = self.text.blockCount() + self._left_out
        self.count_label.setText(f"{count:,} lines" if count > 200 else "")
        if is_at_end:
            bar.setValue(bar.maximum())

    def _skip_middle(self) -> None:
        """Once the head is full, drop all waiting output except the tail."""
        shown = self.text.blockCount()
        if shown <= HEAD_LINES or self._waiting_lines <= TAIL_LINES:
            return
        skipped = 0
        while self._waiting_lines - skipped > TAIL_LINES:
            stream, text = self._waiting.popleft()
            lines = text.count("\n")
            more = self._waiting_lines - skipped - TAIL_LINES
            if lines > more:
                text = text.split("\n", more)[-1]
                self._waiting.appendleft((stream, text))
            skipped += min(lines, more)
        self._waiting_lines -= skipped
        self._left_out += skipped
        self._leave_out(shown - HEAD_LINES - 1)

    def _leave_out(self, count: int) -> None:
        """Remove lines after the head, and write how many in their place."""
        document = self.text.document()
        cursor = QTextCursor(document.findBlockByNumber(HEAD_LINES))
        end = document.findBlockByNumber(HEAD_LINES + count)
        cursor.setPosition(end.position(), QTextCursor.MoveMode.KeepAnchor)
        self._left_out += count - self._has_mark
        self._has_mark = True
        cursor.insertText(f"… {self._left_out:,} lines left out …\n", self._formats["note"])

    def _insert(self, stream: str, text: str) -> None:
        text = without_chance_letters(text)
        if self._column is None and not has_controls(text):
            self._append(stream, text)
            return
        for number, line in enumerate(text.split("\n")):
            if number:
                self._column = None
                self._append(stream, "\n")
            if self._column is None and not has_controls(line):
                self._append(stream, line)
            else:
                self._write_over(stream, line)

    def _write_over(self, stream: str, text: str) -> None:
        """Write into the last line, at the column that an earlier text went back to."""
        cursor = QTextCursor(self.text.document())
        cursor.movePosition(QTextCursor.MoveOperation.End)
        before = cursor.block().text()
        column = len(before) if self._column is None else self._column
        line, column = written(before, column, text)
        self._column = None if column == len(line) else column
        pairs = zip(before, line, strict=False)
        same = min(len(before), len(line))
        kept = next((i for i, (old, new) in enumerate(pairs) if old != new), same)
        cursor.setPosition(cursor.block().position() + utf16_units(line[:kept]))
        cursor.movePosition(QTextCursor.MoveOperation.End, QTextCursor.MoveMode.KeepAnchor)
        cursor.removeSelectedText()
        self._append(stream, line[kept:])

    def _append(self, stream: str, text: str) -> None:
        cursor = QTextCursor(self.text.document())
        cursor.movePosition(QTextCursor.MoveOperation.End)
        room = LONGEST_LINE - cursor.positionInBlock()
        head, tail = text[: max(room, 0)], text[max(room, 0) :]
        text = break_lines(head) + (("\n" if "\n" not in head and tail else "") + break_lines(tail))
        cursor.insertText(text, self._formats.get(stream, self._formats["stdout"]))

    def _note_ending(self) -> None:
        # The newest trace comes right after the end of the run.
        QTimer.singleShot(0, self, self._show_ending)

    def _show_ending(self) -> None:
        trace = self.document.trace
        if trace.failure is not None:
            self._show_failures()
        elif trace is not EMPTY_TRACE and ending_words(trace):
            self.add("note", f"\n[{ending_words(trace)}]\n")

    def _show_failures(self) -> None:
        trace = self.document.trace
        for failure in trace.failures:
            text = failure.traceback.rstrip() or f"{failure.type}: {failure.message}"
            self.add("error", "\n" + without_node_names(text) + "\n")
            if failure.line:
                self.add("link", str(failure.line))

    def _insert_link(self, line: int) -> None:
        link = QTextCharFormat(self._formats["error"])
        link.setForeground(colour(self.theme.accent_text))
        link.setFontUnderline(True)
        link.setProperty(LINE_PROPERTY, line)
        cursor = QTextCursor(self.text.document())
        cursor.movePosition(QTextCursor.MoveOperation.End)
        cursor.insertText(f"Go to line {line}", link)
        cursor.insertText("\n", self._formats["stdout"])

    def _show_loaded(self) -> None:
        """Show the output of a recording that was opened; nothing for a text that did not run."""
        document = self.document
        if document.trace is EMPTY_TRACE and not document.is_running:
            self.clear()
        if not document.is_loaded:
            return
        self.clear()
        for stream, text in document.trace.printed:
            self.add(stream, text)
        self._show_failures()


class OutputText(QPlainTextEdit):
    """Read-only text; a click on a line that names a line of the snippet goes there."""

    def __init__(self, document: Document) -> None:
        super().__init__()
        self.setReadOnly(True)
        self.setTabChangesFocus(True)
        self.setUndoRedoEnabled(False)
        self.setPlaceholderText("What the snippet prints appears here.")
        self.document().setDocumentMargin(12)
        self._tapeviz = document
        self.viewport().setMouseTracking(True)

    def line_at(self, event: QMouseEvent) -> int:
        cursor = self.cursorForPosition(event.position().toPoint())
        cursor.movePosition(QTextCursor.MoveOperation.Right)
        line = cursor.charFormat().property(LINE_PROPERTY)
        return int(line) if line else 0

    def mouseMoveEvent(self, event: QMouseEvent) -> None:
        is_link = self.line_at(event) > 0
        shape = Qt.CursorShape.PointingHandCursor if is_link else Qt.CursorShape.IBeamCursor
        self.viewport().setCursor(shape)
        super().mouseMoveEvent(event)

    def mouseReleaseEvent(self, event: QMouseEvent) -> None:
        super().mouseReleaseEvent(event)
        line = self.line_at(event)
        if line and not self.textCursor().hasSelection():
            self._tapeviz.selecting.go_to_line(line)
