"""Run a text; its output and its growing trace arrive as signals."""

from __future__ import annotations

import threading
import time
from functools import partial

from PySide6.QtCore import QObject, Signal, Slot

from .background import Background
from .inbox import Inbox, Question
from .pipeline import Pipeline, RunHandle

_MADE_OF_TRACES = frozenset(("diagnose", "arrange", "grow"))


class Runs(QObject):
    """Starts and ends the runs of one document, one at a time; drops what an old one still
    reports."""

    started = Signal()
    ended = Signal()
    traced = Signal(object)
    finished = Signal()
    """The snippet is over; its whole trace comes soon, with the end of the run."""
    output_added = Signal(str, str)
    progressed = Signal()
    question_changed = Signal()
    picture_added = Signal(bytes)

    def __init__(self, pipeline: Pipeline, background: Background, parent: QObject) -> None:
        super().__init__(parent)
        self.pipeline = pipeline
        self.is_running = False
        self.is_stopping = False
        self.ops = 0
        self.seconds = 0.0
        self.question: Question | None = None
        """The line that ``input()`` of the run under way waits for."""
        self._background = background
        self._number = 0
        self._inbox: Inbox | None = None
        self._recording: RunHandle | None = None
        self._handing_over = threading.Lock()
        self._began = 0.0
        background.failed.connect(self._note_failure)
        background.busy_changed.connect(self._note_busy)

    def start(self, source: str, filename: str) -> None:
        """Run a text; the run under way is stopped and forgotten."""
        self.forget()
        self._inbox = Inbox(self._number, self)
        self._inbox.connect_to(self)
        self._began = time.monotonic()
        self._set_running(True)
        work = partial(self._record, self._number, source, filename, self._inbox)
        self._background.submit("record", work, _nothing)

    def stop(self) -> None:
        """End the run under way; it still reports what was recorded until then."""
        if not self.is_running:
            return
        if self._recording is None:
            self.forget()
        else:
            self.is_stopping = True
            self.progressed.emit()
            self._background.submit(f"stop {self._number}", self._recording.stop, _nothing)

    def reply(self, line: str | None) -> None:
        """Hand over the line that the run waits for; None: there is nothing to read."""
        question = self.question
        if question is not None:
            self._ask(None)
            if line is not None:
                # The prompt of a secret is no output of the snippet's.
                shown = question.prompt + "•" * len(line) if question.is_secret else line
                self.output_added.emit("typed", f"{shown}\n")
                line += "\n"
            question.reply(line)

    def _ask(self, question: Question | None) -> None:
        if question is not self.question:
            self.question = question
            self.question_changed.emit()

    def forget(self) -> None:
        """End the run under way, and drop what it or an earlier one may still report."""
        with self._handing_over:
            self._number += 1
            recording, self._recording = self._recording, None
        if recording is not None and self.is_running:
            self._background.submit(f"stop {self._number}", recording.stop, _nothing)
        self._background.drop("record", "fetch")
        self.ops = 0
        self._set_running(False)

    def _note_busy(self) -> None:
        """Take no longer trace while something is made from a shorter one: it would be in memory
        besides."""
        if self._inbox is not None:
            self._inbox.is_busy = bool(self._background.busy & _MADE_OF_TRACES)

    def _note_failure(self, kind: str, error: object) -> None:
        if kind == "record":  # the run could not begin
            self._set_running(False)

    def _record(self, number: int, source: str, filename: str, inbox: Inbox) -> None:
        recording = self.pipeline.record(source, filename, inbox)
        with self._handing_over:
            is_wanted = number == self._number
            if is_wanted:
                self._recording = recording
        if not is_wanted:
            recording.stop()  # it was given up while its process was being prepared

    @property
    def recording(self) -> RunHandle | None:
        """The run that the trace came from, while its process may still be asked."""
        return self._recording

    def _set_running(self, is_running: bool) -> None:
        if not is_running:
            self._ask(None)
        if is_running != self.is_running:
            self.is_running = is_running
            self.is_stopping = False
            (self.started if is_running else self.ended).emit()

    @Slot()
    def take_batch(self) -> None:
        inbox = self.sender()
        if not isinstance(inbox, Inbox):
            return
        batch = inbox.take()
        if batch.number == self._number:
            for stream, text in batch.printed:
                self.output_added.emit(stream, text)
            if batch.dropped:
                self.output_added.emit("note", f"[{batch.dropped:,} characters left out]\n")
            for png in batch.pictures:
                self.picture_added.emit(png)
            if batch.question is not None:
                self._ask(batch.question)
            if batch.ops != self.ops:
                self.ops = batch.ops
                self.progressed.emit()
            if batch.has_finished:
                self.finished.emit()
            if batch.has_ended:
                self.seconds = time.monotonic() - self._began
                self._set_running(False)
            if batch.trace is not None:
                self.traced.emit(batch.trace)
        if batch.has_ended:
            inbox.retire()


def _nothing(answer: object) -> None:
    """Ignore the result of a background task."""
