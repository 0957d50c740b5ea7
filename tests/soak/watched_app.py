"""The app, without a screen, as a program drives it: runs, and the longest gap of its event loop.

Standard library and Qt only here; each part of the suite that needs a window makes one.
"""

from __future__ import annotations

import os
import shutil
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import NoReturn

from PySide6.QtCore import QCoreApplication, QObject, Qt, QTimer

from tapeviz.app.ending import leave
from tapeviz.app.main import make_application, make_window
from tapeviz.app.storage.settings import Settings
from tapeviz.app.window import Window

TICK = 2
"""Milliseconds between two looks at the clock."""
MOST_GAP = 0.1
_IDLE = 0.2
"""Seconds of CPU that all programs use in a second of an idle machine, at most."""


class Gaps(QObject):
    """The longest time in which the event loop did not come round, in seconds.

    ``longest``: by the clock; ``waited``: the part of it in which the window's thread could go on,
    but other programs or threads had all processors. ``busiest``: the most CPU time of that thread
    in one gap.
    """

    def __init__(self) -> None:
        super().__init__()
        self._schedule = os.open("/proc/thread-self/schedstat", os.O_RDONLY)
        self.reset()
        self._timer = QTimer(self)
        self._timer.setTimerType(Qt.TimerType.PreciseTimer)
        self._timer.timeout.connect(self._look)
        self._timer.start(TICK)

    def reset(self) -> None:
        self.longest = self.waited = self.busiest = 0.0
        self.last, self._used, self._queued = self._times()

    def _look(self) -> None:
        now, used, queued = self._times()
        if now - self.last > self.longest:
            self.longest, self.waited = now - self.last, queued - self._queued
        self.busiest = max(self.busiest, used - self._used)
        self.last, self._used, self._queued = now, used, queued

    def _times(self) -> tuple[float, float, float]:
        """The clock, and the seconds for which this thread had and lacked a processor so far; the
        last by the second number of ``schedstat`` (Documentation/scheduler/sched-stats.rst)."""
        queued = int(os.pread(self._schedule, 64, 0).split()[1]) / 1e9
        return time.perf_counter(), time.thread_time(), queued

    def are_short(self, is_idle: bool) -> bool:
        """Whether each gap is short enough: by the clock if the machine was idle before, else by
        CPU time, since other programs make gaps of their own."""
        return (self.longest if is_idle else self.busiest) <= MOST_GAP

    def words(self, is_idle: bool) -> str:
        """The figures of the longest, and how busy the machine is."""
        load = "idle before" if is_idle else f"load {os.getloadavg()[0]:.0f}"
        return (
            f"gap {1000 * self.longest:.0f} ms by the clock ({load}), without a processor for "
            f"{1000 * self.waited:.0f} of them; {1000 * self.busiest:.0f} ms of CPU"
        )


def machine_is_idle() -> bool:
    """Look for a second, in which the event loop turns, at what all programs need."""
    before = _busy_seconds()
    turn_until(lambda: False, 1.0)
    return _busy_seconds() - before < _IDLE


def _busy_seconds() -> float:
    """The seconds for which the processors were busy so far, or taken by another machine."""
    user, nice, system, _, _, *rest = Path("/proc/stat").read_text(encoding="ascii").split()[1:9]
    return sum(map(int, (user, nice, system, *rest))) / os.sysconf("SC_CLK_TCK")


def open_app() -> Window:
    """A window on real kernels, with settings in a folder that :func:`end_app` removes."""
    os.environ["TAPEVIZ_HOME"] = tempfile.mkdtemp(prefix="soak-")
    make_application()
    window = make_window(Settings())
    window.resize(1440, 900)
    window.show()
    return window


def end_app(window: Window) -> NoReturn:
    """End the window in order, and this process."""
    leave(window, 0)
    shutil.rmtree(os.environ["TAPEVIZ_HOME"])
    sys.stdout.flush()
    os._exit(0)


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
