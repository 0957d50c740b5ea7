"""Let the window's thread have the interpreter lock before the threads that compute beside it.

Only one thread of a process runs Python at a time. CPython has no priorities for its lock: a thread
that needs it waits for the switch interval, asks the holder to drop it, and gets it some
microseconds later (``take_gil`` in ``Python/ceval_gil.c``, ``ceval_gil.h`` up to 3.11; seen in 3.10
to 3.13). The wait is a timed one, and Linux lets a thread say how late its timed waits may end
(``PR_SET_TIMERSLACK`` in ``prctl(2)``). So the interval is short for all, and a thread that
computes waits longer: it takes the lock when the window's thread sleeps or gives it up.
"""

from __future__ import annotations

import ctypes
import sys
from collections.abc import Iterator
from contextlib import contextmanager

_INTERVAL = 0.0001 if sys.platform.startswith("linux") else 0.0003
"""Seconds of the switch interval. The window's thread waits for so long each time that Qt calls
Python while another thread computes; with less, switching costs more than is gained."""
_PATIENCE = 5_000_000
"""Nanoseconds that a thread which computes waits in addition: CPython's own switch interval."""
_SET_SLACK, _GET_SLACK = 29, 30
"""``PR_SET_TIMERSLACK`` and ``PR_GET_TIMERSLACK`` of ``linux/prctl.h``."""


def put_this_thread_first() -> None:
    """Let the calling thread, the window's, wait shortly for the interpreter lock."""
    sys.setswitchinterval(_INTERVAL)


@contextmanager
def after_the_window() -> Iterator[None]:
    """Let the calling thread wait longer than the window's for the interpreter lock, to compute.

    Start no process and no thread inside: it would inherit the slack, and its own timers would be
    late, too. Without effect on systems other than Linux.
    """
    usual = slack()
    if usual is None:
        yield
        return
    _prctl(_SET_SLACK, _PATIENCE)
    try:
        yield
    finally:
        _prctl(_SET_SLACK, usual)


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
