"""Say to the user how a process ended."""

from __future__ import annotations

import re
import signal

from .model import Exit

_HINTS = {
    "SIGKILL": ", as happens when memory runs out, or all CPU time that a limit allows is used",
    "SIGXCPU": ": it used all CPU time that a limit (RLIMIT_CPU) allows",
    "SIGSEGV": ": it read or wrote memory that is not its own",
    "SIGABRT": ": it gave up with abort()",
}
_LOST_CONNECTION = re.compile(r"\(src/\w+\.[ch]pp:\d+\)\s*$")
"""The end of the line with which ZeroMQ aborts a process whose sockets were closed under it."""


def death(exit: Exit, line: int | None) -> str:
    """A line for a process that ended by itself."""
    where = f" at line {line}" if line else ""
    if exit.signal is not None:
        name = signal_name(exit.signal)
        hint = None
        if name == "SIGABRT" and _LOST_CONNECTION.search(exit.words.get("stderr", "")):
            hint = ": its connection to tapeviz was closed, as os.closerange(3, …) does"
        ended = by_signal(exit.signal, where, hint)
        return f"{ended}; the last ops before that may be missing"
    if exit.exit_code is None:
        how = "ended from outside, as happens when memory runs out"
        return f"the process was {how}{where}; run the snippet again"
    return f"the process ended itself with exit status {exit.exit_code}{where}"


def by_signal(number: int, where: str = "", hint: str | None = None) -> str:
    """The words for the end of a process by a signal; ``hint``: a reason that is known, else the
    usual one."""
    name = signal_name(number)
    reason = _HINTS.get(name, "") if hint is None else hint
    return f"the process was ended by signal {number} ({name}){where}{reason}"


def stop(timeout: float | None, exit: Exit | None, line: int | None) -> str:
    """A line for a run that was stopped."""
    what = "stopped" if timeout is None else f"stopped after the time limit of {timeout:g} s"
    where = f" at line {line}" if line else ""
    force = "" if exit is None else ": it did not react, so its process was ended"
    return f"{what}{where}{force}"


def signal_name(number: int) -> str:
    """``SIGABRT`` for 6."""
    try:
        return signal.Signals(number).name
    except ValueError:
        return f"signal {number}"
