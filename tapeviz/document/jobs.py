"""Do one job in each turn of the event loop: between them the window hears keys and mouse.

A new diagnosis makes cards, rows, plots and the picture anew. Done at once they would take a tenth
of a second and more. What the job before has changed is painted in a turn between.
"""

from __future__ import annotations

from collections.abc import Callable

from PySide6.QtCore import QObject, QTimer
from shiboken6 import isValid

Job = Callable[[], object]
"""Does a part of some work; returns True if there is more of it."""


class Jobs(QObject):
    """The jobs of one window's thread, in the order in which they were asked for."""

    def __init__(self, parent: QObject) -> None:
        super().__init__(parent)
        self._jobs: list[Job] = []
        self._has_waited = False
        """A turn has passed since the last job: what that changed is painted."""
        self._timer = QTimer(self, singleShot=True, interval=0)
        self._timer.timeout.connect(self._do_next)

    def ask(self, job: Job) -> None:
        """Have a job done in a later turn, once however often it is asked for until then."""
        if job not in self._jobs:
            self._jobs.append(job)
        self._timer.start()

    @property
    def is_idle(self) -> bool:
        return not self._jobs

    def awaits(self, job: Job) -> bool:
        """Whether a job was asked for and is not done."""
        return job in self._jobs

    def _do_next(self) -> None:
        self._has_waited = not self._has_waited
        if self._has_waited:
            self._timer.start()
            return
        job = self._jobs.pop(0)
        try:
            has_more = isValid(getattr(job, "__self__", self)) and job()  # else its panel is gone
        finally:
            if self._jobs:
                self._timer.start()
        if has_more is True:
            self.ask(job)
