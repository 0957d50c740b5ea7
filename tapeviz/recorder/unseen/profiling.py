"""Let a profiler of the snippet's own count what it counts in a plain run."""

from __future__ import annotations

import os
import sys
from collections import Counter
from collections.abc import Callable, Sequence
from importlib import import_module
from sys import _getframe
from types import CodeType, FrameType
from typing import Any

from ..installed import Installed
from .tracing import TRACED, is_hidden

ProfileFunction = Callable[[FrameType, str, Any], Any]
_FOLDER = os.path.dirname(os.path.dirname(os.path.dirname(__file__))) + os.sep


def install(source: str, installed: Installed) -> None:
    """Let ``sys.setprofile`` (and ``threading.setprofile``, which calls it) and ``cProfile`` leave
    out our functions and what they call in Python's library."""

    current, change = sys.getprofile, sys.setprofile

    def wrap_set(setprofile: Callable[..., None]) -> Callable[..., None]:
        def setting(function: ProfileFunction | None, /) -> None:
            report("c_call", setprofile, _getframe(1))
            change(None if function is None else _Filtered(function))

        return setting

    def wrap_get(getprofile: Callable[[], Any]) -> Callable[[], Any]:
        def getting() -> Any:
            report("c_call", getprofile, _getframe(1))
            report("c_return", getprofile, _getframe(1))
            function = current()
            return function.wrapped if type(function) is _Filtered else function

        return getting

    def report(event: str, function: Callable[..., Any], caller: FrameType) -> None:
        """Report the call of a C function, as Python does where no function of ours stands in."""
        profiler = current()
        if type(profiler) is _Filtered:
            change(None)
            try:
                profiler(caller, event, function)
            finally:
                change(profiler)

    installed.replace(sys, "setprofile", wrap_set)
    installed.replace(sys, "getprofile", wrap_get)
    if "cProfile" in source:
        installed.replace(import_module("cProfile").Profile, "getstats", _wrap_stats)


class _Filtered:
    """Called by Python in the place of ``wrapped``."""

    def __init__(self, wrapped: ProfileFunction) -> None:
        self.wrapped = wrapped

    def __call__(self, frame: FrameType, event: str, argument: Any) -> None:
        if not is_hidden(frame):
            self.wrapped(frame, event, argument)


def _wrap_stats(getstats: Callable[[Any], list[Any]]) -> Callable[[Any], list[Any]]:
    def counted(profiler: Any) -> list[Any]:
        return _without_ours(getstats(profiler))

    return counted


def _without_ours(entries: Sequence[Any]) -> list[Any]:
    """The entries of ``_lsprof``, without our functions and the calls that these made.

    TensorFlow's functions stay, which the snippet called through ours.
    """
    known = {entry.code: entry for entry in entries}
    made: Counter[CodeType | str] = Counter()
    for entry in entries:
        for called in entry.calls or ():
            made[called.code] += called.callcount
    # The frame in which the profiler was switched on has no entry.
    counts = Counter({entry.code: entry.callcount - made[entry.code] for entry in entries})
    waiting = [code for code in counts if counts[code] > 0 or _is_ours(code)]
    done: set[CodeType | str] = set()
    while waiting:
        code = waiting.pop()
        if code in done:
            continue
        done.add(code)
        for called in known[code].calls or ():
            if not _is_ours(code) or _is_traced(called.code):
                counts[called.code] += called.callcount
                waiting.append(called.code)
    kept = []
    for code, entry in known.items():
        if not _is_ours(code) and counts[code] > 0:
            called = [each for each in entry.calls or () if not _is_ours(each.code)]
            _, _, recursive, total, inline, _ = entry
            kept.append(type(entry)((code, counts[code], recursive, total, inline, called or None)))
    return kept


def _is_ours(code: CodeType | str) -> bool:
    return isinstance(code, CodeType) and code.co_filename.startswith(_FOLDER)


def _is_traced(code: CodeType | str) -> bool:
    """Whether a snippet would call it in a plain run, too."""
    place = code if isinstance(code, str) else code.co_filename
    return any(name in place for name in (*TRACED, "numpy"))
