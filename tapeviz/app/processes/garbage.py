"""Python's cyclic garbage in, collected on the window's thread alone and between two events.

Left to itself the collection runs in whichever thread happens to allocate, in the midst of whatever
is under way there. Widgets that only Python held were then destroyed by a background thread, or
while Qt walked over a list of all widgets to give them a new style: the process crashed.
"""

from __future__ import annotations

import gc
import time

from PySide6.QtCore import QObject, QTimer

EVERY = 50
"""Milliseconds between two looks at whether there is enough to collect."""
LONG = 0.02
"""Seconds; a collection that takes longer has met a large trace, which is not to be met again."""
RUNS = 8
"""After so many runs the traces of former ones are looked at, too."""
REST = 3_000
"""Milliseconds after a run, in which its picture is looked at undisturbed."""


class GarbageCollector(QObject):
    """Takes the collection over from Python, for the rest of the process."""

    def __init__(self, parent: QObject) -> None:
        super().__init__(parent)
        self._runs = 0
        gc.disable()
        gc.freeze()  # what was imported stays: it need not be looked at again and again
        self._timer = QTimer(self)
        self._timer.timeout.connect(self.collect)
        self._timer.start(EVERY)

    def collect(self) -> None:
        """The oldest generation that is due, by Python's own counts and thresholds."""
        counts, limits = gc.get_count(), gc.get_threshold()
        if counts[0] <= limits[0]:
            return
        oldest = 0
        while oldest < 2 and counts[oldest + 1] > limits[oldest + 1]:
            oldest += 1
        began = time.perf_counter()
        gc.collect(oldest)
        if time.perf_counter() - began > LONG:
            gc.freeze()

    def note_run(self) -> None:
        """A run is over. Frozen garbage of many runs goes at once, a while after the last."""
        self._runs += 1
        if self._runs >= RUNS:
            self._runs = 0
            QTimer.singleShot(REST, self, self._collect_frozen)

    def _collect_frozen(self) -> None:
        gc.unfreeze()
        gc.collect()
        gc.freeze()
