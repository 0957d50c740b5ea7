"""Show a run under way: now and then all that is known of it until then.

Diagnosis and picture of a part of the trace are made together, in the background, so that cards,
strip and picture always tell of the same moment.
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, QTimer

from ..trace.model import Trace
from .snapshot import Snapshot, take_snapshot

if TYPE_CHECKING:
    from .document import Document

KIND = "grow"
"""The background work that is done here."""


class Growing(QObject):
    """The parts of the run under way of one document; of those that come meanwhile the newest
    counts."""

    def __init__(self, document: Document) -> None:
        super().__init__(document)
        self._document = document
        self._newest: Trace | None = None
        """A part that is not shown yet."""
        self._when_due = QTimer(self, singleShot=True)
        self._when_due.timeout.connect(self._begin)
        document.background.failed.connect(self._note_failure)

    def take(self, trace: Trace) -> None:
        """Show a part of the trace, as soon as there is time for it."""
        self._newest = trace
        if KIND not in self._document.background.busy and not self._when_due.isActive():
            self._wait()

    def give_up(self) -> None:
        """Show none of the parts that are not shown yet."""
        self._newest = None
        self._when_due.stop()
        self._document.background.drop(KIND)

    def _wait(self) -> None:
        """Begin with the newest part when it is due: at once, unless the last took long."""
        seconds = self._document.background.pause_before(KIND)
        if seconds > 0:
            self._when_due.start(round(1000 * seconds) + 1)
        else:
            self._begin()

    def _begin(self) -> None:
        trace, self._newest = self._newest, None
        if trace is None:
            return
        document = self._document
        form, call = document.view.form, document.view.overlay.call
        work = partial(take_snapshot, lambda: trace, document.stages, form, call, None)
        document.background.submit(KIND, work, self._show)

    def _show(self, snapshot: Snapshot) -> None:
        self._document.showing.take_growing(snapshot)
        if self._newest is not None:
            self._wait()

    def _note_failure(self, kind: str, error: object) -> None:
        if kind == KIND and self._newest is not None:
            self._wait()
