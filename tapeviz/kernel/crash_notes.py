"""Find the line of the snippet that ran in the output of ``faulthandler``."""

from __future__ import annotations

import re
from pathlib import Path

_FRAME = re.compile(r'^  File "(.*)", line (\d+) in ')
_MOST = 64_000


def line_of_crash(notes: Path, filename: str) -> int | None:
    """The innermost line of ``filename`` in the file ``notes``, None without one; the current
    thread comes before others."""
    try:
        with notes.open(encoding="ascii", errors="replace") as file:
            text = file.read(_MOST)
    except OSError:
        return None
    # faulthandler escapes other characters than ASCII: \xe9, \u2026, \U0001f600.
    escaped = filename.encode("ascii", "backslashreplace").decode()
    threads = re.split(r"\n\n", text)
    threads.sort(key=lambda thread: not thread.startswith("Current thread"))
    for thread in threads:
        for frame in map(_FRAME.match, thread.splitlines()):
            if frame and frame[1] == escaped:
                return int(frame[2])
    return None
