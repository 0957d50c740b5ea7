"""Deliver the last messages of a process that is about to end.

``os._exit`` and ``os.abort`` would end the process at once; they wait here until the other side has
every message. For a crash ``faulthandler`` writes the line into a file.
"""

from __future__ import annotations

import contextlib
import faulthandler
import os
import re
import signal
import sys
import tempfile
import threading
from collections.abc import Callable, Set
from typing import Any, TextIO

_HEADING = re.compile(r"^(?=\S[^\n]*\(most recent call first\):$)", re.MULTILINE)
_NUMBER = re.compile(r"0x[0-9a-f]+")
_OURS, _OUTERMOST = '"<tapeviz>/', "_tapeviz_recorder/program.py"

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
    starts. The frames that it prints on demand end with those of the snippet."""
    enable, seen = faulthandler.enable, [faulthandler.is_enabled()]

    def enabling(*args: Any, **named: Any) -> None:
        enable(*args, **named)
        seen[0] = True

    def disable() -> bool:
        was, seen[0] = seen[0], False
        enable(file=file, all_threads=False)
        return was

    dump = faulthandler.dump_traceback

    def dump_traceback(file: Any = None, all_threads: bool = True) -> None:
        file = sys.stderr if file is None else file
        if file is None:
            dump()  # raises: there is no file to write into
        with _unnamed_file() as whole:
            dump(whole, all_threads)
            whole.seek(0)
            threads = {thread.ident for thread in threading.enumerate()} | {threading.get_ident()}
            text = _of_snippet(whole.read(), threads)
        if file is sys.__stderr__:
            print(text, end="", file=file, flush=True)
        elif isinstance(file, int):
            os.write(file, text.encode())
        else:  # the frames go into its descriptor, so it may be a binary file
            number = file.fileno()
            file.flush()
            os.write(number, text.encode())

    enable(file=file, all_threads=False)
    dump_traceback.__qualname__ = "dump_traceback"
    faulthandler.dump_traceback = dump_traceback
    enabling.__name__ = enabling.__qualname__ = "enable"
    faulthandler.enable, faulthandler.disable = enabling, disable  # type: ignore[assignment]
    faulthandler.is_enabled = lambda: seen[0]


def _unnamed_file() -> TextIO:
    """A file to write into and read from: in memory where the system has such (Linux, outside of
    some sandboxes), so that a snippet without a folder for temporary files gets its frames, too."""
    with contextlib.suppress(AttributeError, OSError):
        return open(os.memfd_create("frames"), "w+", encoding="utf-8", errors="replace")
    return tempfile.TemporaryFile("w+", encoding="utf-8", errors="replace")


def _of_snippet(text: str, threads: Set[int | None]) -> str:
    """Return the part of a dump that is about these threads, without our frames and those below
    the snippet's.

    ``text``: the output of ``faulthandler``. Each thread is a heading (``… (most recent call
    first):``) and a line for each frame.
    """
    shown = []
    for thread in _HEADING.split(text):
        heading, *frames = [line for line in thread.splitlines() if line] or [""]
        number = _NUMBER.search(heading)
        below = next((n for n, frame in enumerate(frames) if _OUTERMOST in frame), len(frames))
        if frames and (number is None or int(number[0], 16) in threads):
            mine = [frame for frame in frames[:below] if _OURS not in frame]
            shown.append("\n".join([heading, *mine, ""]))
    return "\n".join(shown)


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
