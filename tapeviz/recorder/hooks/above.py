"""The frames above the snippet, and the recorder's own, hidden from warnings and log lines; the
recorder's files from ``inspect``."""

from __future__ import annotations

import inspect
import sys
import warnings
from collections.abc import Callable
from sys import _getframe
from types import CodeType, FrameType, FunctionType, MethodType
from typing import Any
from warnings import catch_warnings, simplefilter, warn

from .. import private
from ..installed import Installed

_BEYOND = sys.maxsize // 2
"""A ``stacklevel`` that no stack reaches."""


def install(boundary: CodeType, files: frozenset[str], installed: Installed) -> None:
    """Hide the function whose code is ``boundary``, what called it, and code in ``files``."""
    # The place that Python names for a warning with a ``stacklevel`` beyond the stack.
    with catch_warnings(record=True) as shown:
        simplefilter("always")
        warn("", stacklevel=_BEYOND)
    name, line = shown[0].filename, shown[0].lineno

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
