"""The frames above the snippet, and the recorder's own, hidden from warnings, log lines, tracebacks
and lists of frames; the recorder's files from ``inspect``."""

from __future__ import annotations

import builtins
import inspect
import logging
import sys
import traceback
import warnings
from collections.abc import Callable, Iterator
from functools import cache
from itertools import filterfalse, islice, takewhile
from sys import _getframe
from types import CodeType, FrameType, FunctionType, MethodType, SimpleNamespace
from typing import Any
from warnings import catch_warnings, simplefilter, warn

from .. import private
from ..hooks.instrument import ABOVE, GOT_FRAME
from ..hooks.names import passed
from ..installed import Installed, is_frame_of_ours

_BEYOND = sys.maxsize // 2
"""A ``stacklevel`` that no stack reaches."""


def install(boundary: CodeType, files: frozenset[str], installed: Installed) -> None:
    """Hide the function whose code is ``boundary``, what called it, and code in ``files``."""
    name, line = _place_beyond_the_stack()

    def showing(show: Callable[..., Any]) -> Callable[..., Any]:
        def showwarnmsg(msg: Any) -> Any:
            if msg.filename in files:
                msg.filename, msg.lineno = name, line
            return show(msg)

        return showwarnmsg

    def naming(getfile: Callable[..., str]) -> Callable[..., str]:
        def file_of_original(asked: Any) -> str:
            # Nothing else is asked for attributes: a module may import something for one.
            function = asked.__func__ if isinstance(asked, MethodType) else asked
            if isinstance(function, FunctionType) and function.__code__.co_filename in files:
                asked = getattr(function, "__wrapped__", asked)
            return getfile(asked)

        return file_of_original

    installed.replace(inspect, "getfile", naming)
    # ``warnings.warn`` itself stays: AutoGraph calls a builtin in another way than a function.
    installed.replace(warnings, "_showwarnmsg", showing)
    installed.replace(*private.CALLER_OF_LOG, lambda find: _caller(boundary, files, find))
    _hide_from_loggers(boundary, installed)
    _hide_in_lists(boundary, installed)
    _hide_from_snippet(boundary, installed)


@cache
def _place_beyond_the_stack() -> tuple[str, int]:
    """File and line that Python names for a warning with a ``stacklevel`` beyond the stack.

    Asked before the snippet runs: after ``catch_warnings`` Python gives each warning again.
    """
    with catch_warnings(record=True) as shown:
        simplefilter("always")
        warn("", stacklevel=_BEYOND)
    return shown[0].filename, shown[0].lineno


def _hide_from_snippet(boundary: CodeType, installed: Installed) -> None:
    """Make the hooks that what the snippet itself reads of the stack goes through.

    Code elsewhere that follows ``f_back`` to its end finds the kernel's frames: Python has no way
    to begin a stack anew but on another thread, and a script runs on the main one.
    """

    def above(frame: Any) -> Any:
        return _shown(frame, boundary)

    def got_frame(frame: Any) -> Any:
        hidden: FrameType | None = _getframe(1)
        while hidden is not None and hidden.f_code is not boundary:
            hidden = hidden.f_back
        while hidden is not None:
            if hidden is frame:
                raise ValueError("call stack is not deep enough")  # as sys._getframe() says it
            hidden = hidden.f_back
        shown = _shown(frame, boundary)
        if shown is None:
            raise ValueError("call stack is not deep enough")
        return shown

    for name, hook in ((ABOVE, above), (GOT_FRAME, got_frame)):
        setattr(builtins, name, hook)
        installed.callback(setattr, builtins, name, passed)


def _hide_from_loggers(boundary: CodeType, installed: Installed) -> None:
    """Let a logger look for the line that calls it in frames that a plain run has.

    It begins at ``logging.currentframe()``, a lambda that calls ``sys._getframe()`` (private,
    Python 3.10-3.13). Its code stays: AutoGraph converts ``logging`` with a function that logs, and
    the frames of what it makes of this lambda count. A method of a dict is a builtin, as
    ``_getframe()`` is, which it calls without another frame between.
    """

    class Frames(dict[int, Any]):
        def __missing__(self, depth: int) -> _ShownFrame:
            return _ShownFrame(_getframe(depth + 1), boundary)

    find = logging.currentframe
    seen = SimpleNamespace(_getframe=Frames().__getitem__)
    logging.currentframe = FunctionType(find.__code__, {**find.__globals__, "sys": seen})
    installed.callback(setattr, logging, "currentframe", find)


def _shown(frame: Any, boundary: CodeType) -> Any:
    """The first frame from this one upwards that a plain run has; ``None`` above the snippet. What
    is no frame, though the snippet calls it so, stays as it is."""
    while type(frame) is FrameType and is_frame_of_ours(frame):
        frame = None if frame.f_code is boundary else frame.f_back
    return frame


def _hide_in_lists(boundary: CodeType, installed: Installed) -> None:
    """Let ``traceback`` and ``inspect`` list no other frames than in a plain run."""

    def is_in_snippet(found: Any) -> bool:
        return found[0].f_code is not boundary

    def is_ours(found: Any) -> bool:
        return is_frame_of_ours(found[0])

    # For None the walks begin some frames above who asks, and this generator is one of those.
    def shown(walk: Iterator[Any], surplus: int) -> Iterator[Any]:
        found = takewhile(is_in_snippet, islice(walk, surplus, None))
        yield from filterfalse(is_ours, found)

    def walking(walk: Callable[..., Any]) -> Callable[..., Any]:
        def walked(*args: Any, **named: Any) -> Iterator[Any]:
            return shown(walk(*args, **named), (*args, *named.values()).count(None))

        return walked

    def listing(frames_of: Callable[..., Any]) -> Callable[..., Any]:
        def frames(*args: Any, **named: Any) -> list[Any]:
            return list(filterfalse(is_ours, takewhile(is_in_snippet, frames_of(*args, **named))))

        return frames

    for name in ("walk_stack", "walk_tb", "_walk_tb_with_full_positions"):
        if hasattr(traceback, name):  # the last since Python 3.11
            installed.replace(traceback, name, walking)
    for name in ("getouterframes", "getinnerframes"):
        installed.replace(inspect, name, listing)


class _ShownFrame:
    """A frame, above which stand those that a plain run has."""

    def __init__(self, frame: FrameType | None, boundary: CodeType) -> None:
        self._frame = frame
        self._boundary = boundary

    def __getattr__(self, name: str) -> Any:
        return getattr(self._frame, name)

    @property
    def f_back(self) -> _ShownFrame | None:
        above = _shown(self._frame and self._frame.f_back, self._boundary)
        return None if above is None else _ShownFrame(above, self._boundary)


def _caller(
    boundary: CodeType, files: frozenset[str], find: Callable[..., Any]
) -> Callable[..., Any]:
    """TensorFlow logs some lines once for each place that called its function: between the two
    there is a function of ours."""

    def caller(offset: int = 3) -> tuple[CodeType | None, FrameType | None]:
        code, frame = find(offset + 1)
        while frame is not None and frame.f_code.co_filename in files:
            frame = frame.f_back
            code = frame.f_code if frame is not None else None
        inner: FrameType | None = _getframe()
        while inner is not None:
            if inner.f_code is boundary:
                return None, None
            if inner is frame:
                break
            inner = inner.f_back
        return code, frame

    return caller
