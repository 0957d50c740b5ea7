"""Deliver the last messages of a process that is about to end.

``os._exit`` and ``os.abort`` would end the process at once; they wait here until the other side has
every message. For a crash ``faulthandler`` writes the line into a file.
"""

from __future__ import annotations

import contextlib
import faulthandler
import os
import signal
import sys
from collections.abc import Callable
from typing import Any, TextIO

_crash_notes: TextIO | None = None


def note_crashes(path: str) -> None:
    """Let a crash, or SIGTERM, write the Python frames into the file at ``path``."""
    global _crash_notes
    with contextlib.suppress(OSError, RuntimeError, AttributeError):
        _crash_notes = open(path, "w", encoding="utf-8")  # noqa: SIM115 (open until the crash)
        _enable_unseen(_crash_notes)
        if sys.platform != "win32":
            # Works even while C code holds the interpreter; then the signal has its usual effect.
            faulthandler.register(signal.SIGTERM, file=_crash_notes, all_threads=True, chain=True)


def _enable_unseen(file: TextIO) -> None:
    """Let ``faulthandler`` write into ``file``; to a snippet it looks disabled, as Python
    starts."""
    enable, seen = faulthandler.enable, [faulthandler.is_enabled()]

    def enabling(*args: Any, **named: Any) -> None:
        enable(*args, **named)
        seen[0] = True

    def disable() -> bool:
        was, seen[0] = seen[0], False
        enable(file=file, all_threads=False)
        return was

    enable(file=file, all_threads=False)
    enabling.__name__ = enabling.__qualname__ = "enable"
    faulthandler.enable, faulthandler.disable = enabling, disable  # type: ignore[assignment]
    faulthandler.is_enabled = lambda: seen[0]


def deliver_before_ending(deliver: Callable[[], None]) -> None:
    """Call ``deliver()`` before ``os._exit`` and ``os.abort`` end the process."""
    pid = os.getpid()

    def last(original: Callable[..., Any]) -> Callable[..., Any]:
        def end(*args: Any, **named: Any) -> Any:
            if os.getpid() == pid:  # not in a child that the snippet forked
                with contextlib.suppress(Exception):
                    deliver()
            return original(*args, **named)

        end.__name__ = end.__qualname__ = original.__name__
        end.__doc__ = original.__doc__
        return end

    exiting, aborting = last(os._exit), last(os.abort)
    os._exit = exiting
    os.abort = aborting


def line_in(filename: str) -> int | None:
    """The line of the innermost frame of ``filename`` that is running; None without one."""
    frame = sys._getframe()
    while frame is not None:
        if frame.f_code.co_filename == filename:
            return frame.f_lineno
        frame = frame.f_back  # type: ignore[assignment]
    return None
