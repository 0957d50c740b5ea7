"""Collect cyclic garbage only on the window's thread, between two events.

By default a collection runs in whichever thread allocates, at any time. Widgets that only Python
held were then destroyed by a background thread, or while Qt walked over a list of all widgets to
give them a new style, and the process crashed.
"""

from __future__ import annotations

import gc
import time

from PySide6.QtCore import QObject, QTimer
from PySide6.QtGui import QCursor

from ...document import Document
from .heap import return_free_memory

EVERY = 50
"""Milliseconds between two checks whether there is enough to collect."""
LONG = 0.02
"""Seconds; after a longer collection all objects are frozen, since it has walked a large trace."""
MANY = 15_000
"""More new objects than these at a check: a trace or a graph is being made. They are frozen and not
walked, which would take up to 0.1 s and find next to nothing."""
MOST_UNWALKED = 30_000_000
"""After so many of these, what is frozen is collected when the user rests."""
RUNS, MOST_RUNS = 8, 64
"""After ``RUNS`` runs frozen objects are collected when the user rests, after ``MOST_RUNS`` at
once."""
REST = 3_000
"""Milliseconds without a run, a mouse movement or a change of the text, after which a collection of
0.1 to 0.2 s is not noticed."""


class GarbageCollector(QObject):
    """Replaces Python's automatic collection, for the rest of the process."""

    def __init__(self, parent: QObject) -> None:
        super().__init__(parent)
        self._runs = self._unwalked = 0
        self._seen: object = None
        self._has_grown = False
        """A trace or a graph was made since free memory was given back."""
        self._document: Document | None = None
        gc.disable()
        gc.freeze()  # imported modules stay, so they need not be walked again
        self._timer = QTimer(self)
        self._timer.timeout.connect(self.collect)
        self._timer.start(EVERY)
        self._rest = QTimer(self, interval=REST)
        self._rest.timeout.connect(self._collect_frozen)

    def watch(self, document: Document) -> None:
        """Count the runs of a document, and notice when its user rests."""
        self._document = document
        document.run_ended.connect(self._note_run)
        document.arrangement_changed.connect(self._return_memory)

    def collect(self) -> None:
        """Collect the oldest generation that is due by Python's counts and thresholds."""
        counts, limits = gc.get_count(), gc.get_threshold()
        if counts[0] <= MANY and self._has_grown and self._is_idle():
            self._has_grown = False
            return_free_memory()
        if counts[0] <= limits[0]:
            return
        if counts[0] > MANY:
            gc.freeze()
            self._unwalked += counts[0]
            self._has_grown = True
            if self._unwalked > MOST_UNWALKED and not self._rest.isActive():
                self._rest.start()
            return
        oldest = 0
        while oldest < 2 and counts[oldest + 1] > limits[oldest + 1]:
            oldest += 1
        began = time.perf_counter()
        gc.collect(oldest)
        if time.perf_counter() - began > LONG:
            gc.freeze()

    def _return_memory(self) -> None:
        """Give back, within some milliseconds, what the work so far left free in a heap in pieces:
        the questions about a large run before its picture is made, that before the diagnosis."""
        if self._has_grown:
            return_free_memory()

    def _is_idle(self) -> bool:
        document = self._document
        return document is None or not (document.is_running or document.background.busy)

    def _note_run(self) -> None:
        self._runs += 1
        self._seen = None
        self._return_memory()
        if self._runs >= MOST_RUNS:
            self._collect_frozen()
        elif self._runs >= RUNS:
            self._rest.start()  # again: output of the run may still arrive

    def _collect_frozen(self) -> None:
        document = self._document
        if document is None:
            return
        seen = (QCursor.pos(), document.text.source)
        is_at_rest = not document.is_running and seen == self._seen
        self._seen = seen
        if is_at_rest or self._runs >= MOST_RUNS:
            self._runs = self._unwalked = 0
            self._rest.stop()
            gc.unfreeze()
            gc.collect()
            gc.freeze()
