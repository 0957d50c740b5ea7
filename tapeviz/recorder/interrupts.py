"""Work of ours on the snippet's thread in; signals that come meanwhile wait until it is done."""

from __future__ import annotations

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType
from typing import Any

_ORDINARY = tuple(
    getattr(signal, name)
    for name in ("SIGINT", "SIGALRM", "SIGVTALRM", "SIGPROF", "SIGTERM", "SIGUSR1", "SIGUSR2")
    if hasattr(signal, name)
)
"""Signals that programs handle by Python functions which raise: Ctrl+C, time limits."""


@contextmanager
def signals_held_back() -> Iterator[None]:
    """No handler of a signal breaks into what is entered here, on the main thread.

    Python runs handlers there between any two instructions, and one that raises (KeyboardInterrupt)
    would leave half an event behind. The signal is raised anew afterwards.
    """
    if threading.current_thread() is not threading.main_thread():
        yield  # no handler ever runs here
        return
    handlers = {number: signal.getsignal(number) for number in _ORDINARY}
    held = {number: handler for number, handler in handlers.items() if callable(handler)}
    came: list[int] = []
    is_over = False

    def note(number: int, frame: FrameType | None) -> Any:
        # Where a handler raised before all were put back: this stands in for it from now on.
        return held[number](number, frame) if is_over else came.append(number)

    for number in held:
        signal.signal(number, note)
    try:
        yield
    finally:
        is_over = True
        for number, handler in held.items():
            signal.signal(number, handler)
        for number in came:
            signal.raise_signal(number)
