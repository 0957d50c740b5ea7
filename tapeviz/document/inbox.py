"""Collect what a run reports from other threads, in batches for the window's thread."""

from __future__ import annotations

import threading
from dataclasses import dataclass

from PySide6.QtCore import QObject, Qt, QTimer, Signal

from ..recording.live import Listener, Reply, readable
from ..trace.model import Trace

OUTLIVES = 10_000
"""Milliseconds that the inbox outlives its run."""
MOST_WAITING = 4_000_000
"""Characters of output that may wait for the window, more than a kernel sends; more are only
counted."""
MOST_PIECES = 400
"""Pieces of output in a batch, at most: alternating streams come in very many."""
LONGEST_PIECE = 50_000
"""Characters up to which consecutive writes to a stream are joined to a piece."""
PAUSE = 5
"""Milliseconds between two batches if more is waiting."""


@dataclass(frozen=True, slots=True)
class Question:
    """A line that ``input()`` waits for; call ``reply`` with it."""

    prompt: str
    is_secret: bool
    reply: Reply


@dataclass(frozen=True, slots=True)
class Batch:
    """The reports since the last batch; ``trace``: the newest one; ``pictures``: PNG."""

    number: int
    ops: int = 0
    trace: Trace | None = None
    printed: tuple[tuple[str, str], ...] = ()
    dropped: int = 0
    pictures: tuple[bytes, ...] = ()
    question: Question | None = None
    has_finished: bool = False
    has_ended: bool = False


class Inbox(QObject, Listener):
    """Listens to a run. However much is reported, only one signal waits in the event loop."""

    shows_growing = True
    arrived = Signal()

    def __init__(self, number: int, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self.number = number
        self.is_busy = False
        self._lock = threading.Lock()
        self._ops = 0
        self._trace: Trace | None = None
        self._printed: list[tuple[str, list[str]]] = []
        self._size = 0
        """Characters of the last piece."""
        self._characters = 0
        self._dropped = 0
        self._pictures: list[bytes] = []
        self._question: Question | None = None
        self._has_finished = self._has_ended = False
        self._is_announced = False

    def retire(self) -> None:
        """Delete this object some time after the end of the run: threads of the run may still be
        emitting its signals."""
        QTimer.singleShot(OUTLIVES, self, self.deleteLater)

    def connect_to(self, receiver: QObject) -> None:
        self.arrived.connect(receiver.take_batch, Qt.ConnectionType.QueuedConnection)  # type: ignore[attr-defined]

    def progressed(self, ops: int) -> None:
        with self._lock:
            self._ops = ops
        self._announce()

    def traced(self, trace: Trace) -> None:
        with self._lock:
            self._trace = trace
        self._announce()

    def printed(self, stream: str, text: str) -> None:
        text = readable(text)
        with self._lock:
            if self._characters + len(text) > MOST_WAITING:
                self._dropped += len(text)
            else:
                self._characters += len(text)
                is_next = bool(self._printed) and self._printed[-1][0] == stream
                if is_next and self._size + len(text) <= LONGEST_PIECE:
                    self._printed[-1][1].append(text)
                    self._size += len(text)
                else:
                    self._printed.append((stream, [text]))
                    self._size = len(text)
        self._announce()

    def pictured(self, png: bytes) -> None:
        with self._lock:
            self._pictures.append(png)
        self._announce()

    def asked(self, prompt: str, is_secret: bool, reply: Reply) -> None:
        with self._lock:
            self._question = Question(prompt, is_secret, reply)
        self._announce()

    def finished(self) -> None:
        with self._lock:
            self._trace, self._has_finished = None, True
        self._announce()

    def ended(self, trace: Trace) -> None:
        with self._lock:
            self._trace = trace
            self._has_ended = True
        self._announce()

    def take(self) -> Batch:
        """Take everything that waits, or as much output as the window can show at once; the rest is
        announced again."""
        with self._lock:
            pieces, self._printed = self._printed[:MOST_PIECES], self._printed[MOST_PIECES:]
            printed = tuple((stream, "".join(texts)) for stream, texts in pieces)
            self._characters -= sum(len(text) for _, text in printed)
            if self._printed:
                QTimer.singleShot(PAUSE, self, self.arrived.emit)
                return Batch(self.number, self._ops, printed=printed)
            batch = Batch(
                self.number,
                self._ops,
                self._trace,
                printed,
                self._dropped,
                tuple(self._pictures),
                self._question,
                self._has_finished,
                self._has_ended,
            )
            self._trace = self._question = None
            self._has_finished = False
            self._pictures, self._dropped = [], 0
            self._is_announced = False
        return batch

    def _announce(self) -> None:
        with self._lock:
            if self._is_announced:
                return
            self._is_announced = True
        try:
            self.arrived.emit()
        except RuntimeError:
            return  # the window was closed in the middle of the run
