"""Functions that stand below the snippet on the stack in, the same with one line number each out.

TensorFlow notes the line of each Python frame for every eager op (``StackTrace::Capture`` in
``python/util/stack_trace.h``, 2.15-2.21), and Python looks for a line from the beginning of a
function's table: under the long functions of a kernel that took 6 µs, as long as a small op.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from types import CodeType, FrameType, FunctionType
from typing import Any


def put_on_one_line(*functions: Callable[..., Any]) -> None:
    """Give all instructions of these functions the line of the definition, from the next call on.

    Tracebacks show that line for them. Not in Python 3.10, where it gains nothing.
    """
    for function in functions:
        if isinstance(function, FunctionType) and sys.version_info >= (3, 11):
            code = function.__code__
            function.__code__ = code.replace(co_linetable=_table_of_one_line(code))


def put_callers_on_one_line(frame: FrameType | None) -> None:
    """:func:`put_on_one_line` for the functions and methods that run in this frame and below it."""
    while frame is not None:
        code, spaces = frame.f_code, [frame.f_globals]
        if code.co_argcount:
            first = frame.f_locals.get(code.co_varnames[0])
            spaces += [dict(vars(kind)) for kind in type(first).__mro__]
        named: list[Any] = [space.get(code.co_name) for space in spaces]
        put_on_one_line(*[each for each in named if getattr(each, "__code__", None) is code])
        frame = frame.f_back


def _table_of_one_line(code: CodeType) -> bytes:
    """The table of Python 3.11 to 3.13 that gives every instruction the first line.

    An entry is for eight code units at most; 13 is one without columns (Objects/locations.md).
    """
    many, rest = divmod(len(code.co_code) // 2, 8)
    head = 0x80 | 13 << 3
    return bytes((head | 7, 0)) * many + (bytes((head | rest - 1, 0)) if rest else b"")
