"""Python's cyclic garbage in, collected on the window's thread alone and between two events.

Left to itself the collection runs in whichever thread happens to allocate, in the midst of whatever
is under way there. Widgets that only Python held were then destroyed by a background thread, or
while Qt walked over a list of all widgets to give them a new style: the process crashed.
"""

from __future__ import annotations

import gc

from PySide6.QtCore import QObject, QTimer

EVERY = 250
"""Milliseconds between two looks at whether there is enough to collect."""


class GarbageCollector(QObject):
    """Takes the collection over from Python, for the rest of the process."""

    def __init__(self, parent: QObject) -> None:
        super().__init__(parent)
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
        gc.collect(oldest)
