"""Run work of ours on the snippet's thread where neither notices the other."""

from __future__ import annotations

import signal
import sys
from collections.abc import Callable
from sys import getprofile, gettrace
from threading import get_ident, main_thread
from types import FrameType
from typing import Any

# Without the wrappers that make enums of handlers, which take ten times as long.
_get: Callable[[int], Any] = getattr(signal.getsignal, "__wrapped__", signal.getsignal)
_set: Callable[[int, Any], Any] = getattr(signal.signal, "__wrapped__", signal.signal)
_tool: Callable[[int], Any] = getattr(
    getattr(sys, "monitoring", None), "get_tool", lambda number: None
)
_TOOLS = range(6)
"""Numbers of the tools of ``sys.monitoring`` (Python 3.12 and later; ``cProfile`` is one)."""
_SIGNALS = sorted(map(int, signal.valid_signals()))
_INTERRUPT = int(signal.SIGINT)
_FRAMES = 60
"""Frames that work of ours may need."""


def run_undisturbed(work: Callable[[], None]) -> bool:
    """Run ``work`` on this thread; an interrupt (SIGINT) that comes meanwhile is handled after it.

    Python calls its handlers between any two instructions of the main thread, and what they raise
    would leave ``work`` half done. Returns False, and runs nothing, where that cannot be kept from
    happening: on other threads, near the end of the stack, with handlers of other signals; or
    where a trace function or profiler would count what ``work`` calls.
    """
    if get_ident() != main_thread().ident:
        return False
    watching = getprofile(), gettrace(), *map(_tool, _TOOLS)
    if any(each is not None for each in watching):
        return False
    try:
        _descend(_FRAMES)
    except RecursionError:
        return False
    if [number for number in _SIGNALS if callable(_get(number))] != [_INTERRUPT]:
        return False
    frames: list[FrameType | None] = []
    handler = _get(_INTERRUPT)
    _set(_INTERRUPT, lambda _, frame: frames.append(frame))
    try:
        work()
    finally:
        _set(_INTERRUPT, handler)
    for frame in frames[:1]:
        handler(_INTERRUPT, frame)
    return True


def _descend(frames: int) -> None:
    if frames:
        _descend(frames - 1)
