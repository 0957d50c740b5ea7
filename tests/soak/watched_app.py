"""The app, without a screen, as a program drives it: runs, and the longest gap of its event loop.

Standard library and Qt only here; each part of the suite that needs a window makes one.
"""

from __future__ import annotations

import time
from collections.abc import Callable

from PySide6.QtCore import QCoreApplication, QObject, Qt, QTimer

from tapeviz.app.main import make_application, make_window
from tapeviz.app.storage.settings import Settings
from tapeviz.app.window import Window

TICK = 2
"""Milliseconds between two looks at the clock."""


class Gaps(QObject):
    """The longest time in which the event loop did not come round, in seconds.

    ``busiest``: the most CPU time of the window's thread in one gap: what is left of the gap on a
    machine that does nothing else.
    """

    def __init__(self) -> None:
        super().__init__()
        self.longest = self.busiest = 0.0
        self.last, self._used = time.perf_counter(), time.thread_time()
        self._timer = QTimer(self)
        self._timer.setTimerType(Qt.TimerType.PreciseTimer)
        self._timer.timeout.connect(self._look)
        self._timer.start(TICK)

    def reset(self) -> None:
        self.longest = self.busiest = 0.0
        self.last, self._used = time.perf_counter(), time.thread_time()

    def _look(self) -> None:
        now, used = time.perf_counter(), time.thread_time()
        self.longest = max(self.longest, now - self.last)
        self.busiest = max(self.busiest, used - self._used)
        self.last, self._used = now, used


def open_app() -> Window:
    """A window on real kernels; ``TAPEVIZ_HOME`` says where its settings are."""
    make_application()
    window = make_window(Settings())
    window.resize(1440, 900)
    window.show()
    return window


def turn_until(is_done: Callable[[], object], seconds: float) -> bool:
    """Let the event loop turn until something is so; False when it takes too long."""
    application = QCoreApplication.instance()
    assert application is not None
    until = time.perf_counter() + seconds
    while time.perf_counter() < until:
        application.processEvents()
        if is_done():
            return True
        time.sleep(0.001)
    return False


def is_quiet(window: Window) -> bool:
    document = window.document
    return not document.is_running and not document.background.busy
