"""Give a trace function of the snippet the events that a plain run gives it.

It hears neither of our frames, and of what they call in Python's library, nor of the lines of
parameters, which we report before a function's first statement.
"""

from __future__ import annotations

import ast
import sys
from collections.abc import Callable, Mapping
from types import FrameType
from typing import Any

from ..hooks.definitions import first_line, parsed
from ..installed import Installed, is_called_by_replacement, is_ours
from ..stack_depth import FIRST_OF_THREAD

TraceFunction = Callable[[FrameType, str, Any], Any]
TRACED = ("__main__", "tensorflow", "keras", "tf_keras")


def install(source: str, filename: str, installed: Installed) -> None:
    """Let ``sys.settrace`` (and ``threading.settrace``, which calls it) filter the events that a
    trace function gets."""

    def wrap_set(settrace: Callable[..., None]) -> Callable[..., None]:
        def setting(function: TraceFunction | None, /) -> None:
            firsts = _first_lines(source) if function is not None else {}
            settrace(None if function is None else _Filtered(function, filename, firsts))

        return setting

    def wrap_get(gettrace: Callable[[], Any]) -> Callable[[], Any]:
        def getting() -> Any:
            function = gettrace()
            return function.wrapped if type(function) is _Filtered else function

        return getting

    installed.replace(sys, "settrace", wrap_set)
    installed.replace(sys, "gettrace", wrap_get)


class _Filtered:
    """Called by Python in the place of ``wrapped``, for all events or for those of one frame."""

    def __init__(
        self, wrapped: TraceFunction, filename: str, firsts: Mapping[tuple[str, int], int]
    ) -> None:
        self.wrapped = wrapped
        self._filename = filename
        self._firsts = firsts

    def __call__(self, frame: FrameType, event: str, argument: Any) -> Any:
        if event == "call" and is_hidden(frame):
            return None
        if event == "line" and self._is_at_parameters(frame):
            return self
        local = self.wrapped(frame, event, argument)
        if local is None or local is self.wrapped:
            return self if local is not None else None
        return _Filtered(local, self._filename, self._firsts)

    def _is_at_parameters(self, frame: FrameType) -> bool:
        code = frame.f_code
        first = self._firsts.get((code.co_name, code.co_firstlineno), 0)
        return frame.f_lineno < first and code.co_filename == self._filename


def is_hidden(frame: FrameType | None) -> bool:
    """Whether it is a frame of ours, or of a library that we called rather than TensorFlow."""
    while frame is not None and not is_ours(str(frame.f_globals.get("__package__"))):
        is_traced = str(frame.f_globals.get("__name__")).partition(".")[0] in TRACED
        if is_traced or frame.f_code is FIRST_OF_THREAD:
            return False
        above = frame.f_back
        frame = above.f_back if above is not None and is_called_by_replacement(frame) else above
    return frame is not None


def _first_lines(source: str) -> dict[tuple[str, int], int]:
    """The line of each function's first statement, by its name and its code's first line."""
    lines = {}
    for node in ast.walk(parsed(source)):
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
            has_more = ast.get_docstring(node, clean=False) is not None and len(node.body) > 1
            lines[node.name, first_line(node)] = first_line(node.body[1 if has_more else 0])
    return lines
