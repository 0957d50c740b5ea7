"""Let the window's thread have the interpreter lock before the threads that compute beside it.

Only one thread of a process runs Python at a time. CPython has no priorities for its lock: a thread
that needs it waits for the switch interval, asks the holder to drop it, and gets it some
microseconds later (``take_gil`` in ``Python/ceval_gil.c``, ``ceval_gil.h`` up to 3.11; seen in 3.10
to 3.13). The wait is a timed one, and Linux lets a thread say how late its timed waits may end
(``PR_SET_TIMERSLACK`` in ``prctl(2)``; usually 50 µs). So the interval is short for all, the
window's waits end in time, and a thread that computes waits longer: it takes the lock when the
window's thread sleeps or gives it up.
"""

from __future__ import annotations

import ctypes
import sys
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager

_INTERVAL = 0.00005 if sys.platform.startswith("linux") else 0.0003
"""Seconds of the switch interval. The window's thread waits for so long each time that Qt calls
Python while another thread computes, hundreds of times to paint a table; with less, switching costs
more than is gained."""
_PROMPT = 1
"""Nanoseconds that the window's thread waits in addition."""
_PATIENCE = 5_000_000
"""Nanoseconds that a thread which computes waits in addition: CPython's own switch interval."""
_usual: int | None = None
"""The nanoseconds by which timed waits of this process ended late before the window's thread was
put first."""
_SET_SLACK, _GET_SLACK = 29, 30
"""``PR_SET_TIMERSLACK`` and ``PR_GET_TIMERSLACK`` of ``linux/prctl.h``."""


def put_this_thread_first() -> None:
    """Let the calling thread, the window's, wait shortly for the interpreter lock.

    Threads and processes that it starts, and those that these start, inherit its timers: see
    :func:`usual_timers`.
    """
    global _usual
    sys.setswitchinterval(_INTERVAL)
    _usual = _usual or slack()
    if _usual is not None:
        _prctl(_SET_SLACK, _PROMPT)


def usual_timers() -> AbstractContextManager[None]:
    """Let a process that is started inside have the timers of one that no window started."""
    return _slack_of(_usual)


def after_the_window() -> AbstractContextManager[None]:
    """Let the calling thread wait longer than the window's for the interpreter lock, to compute.

    Start no process and no thread inside: it would inherit the slack, and its own timers would be
    late, too. Without effect on systems other than Linux.
    """
    return _slack_of(_PATIENCE)


@contextmanager
def _slack_of(wanted: int | None) -> Iterator[None]:
    before = slack()
    if wanted is None or before is None:
        yield
        return
    _prctl(_SET_SLACK, wanted)
    try:
        yield
    finally:
        _prctl(_SET_SLACK, before)


def slack() -> int | None:
    """The nanoseconds by which timed waits of the calling thread may end late; None where that
    cannot be chosen."""
    found = _prctl(_GET_SLACK) if sys.platform.startswith("linux") else -1
    return found if found > 0 else None


def _prctl(option: int, value: int = 0) -> int:
    try:
        prctl = ctypes.CDLL(None).prctl
    except (OSError, AttributeError):
        return -1
    return int(prctl(option, ctypes.c_ulong(value), 0, 0, 0))
