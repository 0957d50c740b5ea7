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

    ``busiest``: the most CPU time of the window's thread in one gap. ``own``: the most of the whole
    process, or the gap itself if that is shorter: what a gap is at most on a machine that does
    nothing else. Where the thread waits for the interpreter lock, another one of the process
    computes; what is left of a gap is the time in which other processes had the processor.
    """

    def __init__(self) -> None:
        super().__init__()
        self.reset()
        self._timer = QTimer(self)
        self._timer.setTimerType(Qt.TimerType.PreciseTimer)
        self._timer.timeout.connect(self._look)
        self._timer.start(TICK)

    def reset(self) -> None:
        self.longest = self.busiest = self.own = 0.0
        self.last, self._used = time.perf_counter(), _used()

    def _look(self) -> None:
        now, used = time.perf_counter(), _used()
        gap, (thread, process) = now - self.last, used
        self.longest = max(self.longest, gap)
        self.busiest = max(self.busiest, thread - self._used[0])
        self.own = max(self.own, min(gap, process - self._used[1]))
        self.last, self._used = now, used


def _used() -> tuple[float, float]:
    """Seconds of CPU of this thread, and of all threads of the process."""
    return time.thread_time(), time.process_time()


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
