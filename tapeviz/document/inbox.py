"""Collect what a run reports from other threads, in batches for the window's thread."""

from __future__ import annotations

import threading
from dataclasses import dataclass

from PySide6.QtCore import QObject, Qt, QTimer, Signal

from ..recording import Reply
from ..trace.model import Trace

OUTLIVES = 10_000
"""Milliseconds from the end of a run to that of its inbox."""
MOST_WAITING = 4_000_000
"""Characters of output that wait for the window, more than the kernel sends of both streams; what
comes above is counted and not kept."""


MOST_PIECES = 400
"""Pieces of output in one batch: the streams in turns, line by line, come in very many."""
LONGEST_PIECE = 50_000
"""Characters up to which what one stream wrote several times in a row is one piece."""
PAUSE = 5
"""Milliseconds between a batch that had no room for all that waits and the next."""


@dataclass(frozen=True, slots=True)
class Question:
    """A line that ``input()`` waits for; ``reply`` takes it."""

    prompt: str
    is_secret: bool
    reply: Reply


@dataclass(frozen=True, slots=True)
class Batch:
    """All that was reported since the last batch; ``trace`` is the newest; ``pictures``: PNG."""

    number: int
    ops: int = 0
    trace: Trace | None = None
    printed: tuple[tuple[str, str], ...] = ()
    dropped: int = 0
    pictures: tuple[bytes, ...] = ()
    question: Question | None = None
    has_ended: bool = False


class Inbox(QObject):
    """Listens to one run. However much is reported, one signal waits in the event loop."""

    arrived = Signal()

    def __init__(self, number: int, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self.number = number
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
        self._has_ended = False
        self._is_announced = False

    def retire(self) -> None:
        """The run reported its end. The thread that did so may still be on its way out of the
        signal, and other threads may be in it: an object of Qt must outlive them."""
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

    def ended(self, trace: Trace) -> None:
        with self._lock:
            self._trace = trace
            self._has_ended = True
        self._announce()

    def take(self) -> Batch:
        """All that waits, or so much of the output that the window goes on meanwhile; then
        the rest, and what came with it, is announced again."""
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
                self._has_ended,
            )
            self._trace = self._question = None
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
