"""Number the places in the snippet that running Python frames stand at."""

from __future__ import annotations

import inspect
from bisect import bisect_right
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from re import split
from threading import Lock
from types import CodeType, FrameType
from typing import Any

_GeneratedLines = Mapping[tuple[str, int], tuple[str, int, str]]
_Branch = tuple[int, int | str, int]
"""Number of the caller's place; function by id or name; its instruction or line."""
_NOWHERE = ("", 0, "")
_Inner = int | str | None
"""A function by id or name; None: there is none."""
_DEEP = 64
"""Frames of a stack that are walked over before marks are set in it."""
_BETWEEN = 16
"""Frames of the snippet, or of code that AutoGraph generated from it, from mark to mark."""
_RESUMED = inspect.CO_GENERATOR | inspect.CO_COROUTINE | inspect.CO_ASYNC_GENERATOR
"""Flags of code whose frames have another caller each time that they are resumed."""


class Sites:
    """Gives every chain of snippet frames a number, and says later where that is.

    Hot: called once for each op. Only a code object's identity and the instruction are looked at;
    lines and columns are worked out once for each new place, when it is sent. Chains form a tree:
    a place is its innermost frame and the place that it was called from, so that deep stacks are
    emitted once.

    In a deep stack some frames are marked with their numbers, so that only those below the nearest
    mark are walked over: where a frame still runs its callers are the same, too. The frame holds
    its mark, and nothing here holds the frame: its variables go when it ends.
    """

    def __init__(self, source: str, filename: str, boundary: CodeType) -> None:
        self._filename = filename
        self._boundary = boundary
        self._lines = split("\r\n|\r|\n", source)
        self._numbers: dict[Any, int] = {}
        self._branches: dict[_Branch, int] = {}
        self._places: list[tuple[CodeType | str, int, int]] = [("", 0, 0)]
        self._sent = 1
        self._growing = Lock()
        self._positions: dict[int, _Positions] = {}
        self._has_marks = False

    def here(self, frame: FrameType | None) -> int:
        """The number of the place that ``frame`` was called from; 0 outside the snippet."""
        filename = self._filename
        while frame is not None:
            code = frame.f_code
            if code.co_filename == filename:
                break
            frame = frame.f_back
        else:
            return 0
        if code.co_name == "<module>":
            key: Any = (id(code), frame.f_lasti)
            try:
                return self._numbers[key]
            except KeyError:
                return self._new(key, [(code, frame.f_lasti)])
        return self._chain(frame)

    def _chain(self, innermost: FrameType) -> int:
        if not self._has_marks:
            filename, boundary = self._filename, self._boundary
            key: list[int] = []
            frame: FrameType | None = innermost
            while frame is not None:
                code = frame.f_code
                if code.co_filename == filename:
                    key.append(id(code))
                    key.append(frame.f_lasti)
                elif code is boundary:
                    break
                frame = frame.f_back
            try:
                return self._numbers[tuple(key)]
            except KeyError:
                pass
        return self._walk(innermost, {})

    def here_in_graph(self, frame: FrameType | None, generated: _GeneratedLines) -> int:
        """Like :meth:`here`, for code that AutoGraph may have generated from the snippet's.

        In one function's generated code (loop bodies are functions of their own there) the
        innermost line counts.
        """
        return self._walk(frame, generated) if generated else self.here(frame)

    def _walk(self, frame: FrameType | None, generated: _GeneratedLines) -> int:
        """The number of a place in a stack that may be deep or have marks, may go through generated
        code, or is new."""
        filename, boundary, has_marks = self._filename, self._boundary, self._has_marks
        key: list[Any] = []
        codes: list[CodeType | str] = []
        passed: list[tuple[FrameType, _Inner, int]] = []
        caller = walked = 0
        function: CodeType | str
        called: int | str
        inner: _Inner = None
        while frame is not None:
            code = frame.f_code
            walked += 1
            if code.co_filename == filename:
                function, called, at = code, id(code), frame.f_lasti
            elif code is boundary:
                break
            else:
                if generated:
                    file, at, name = generated.get((code.co_filename, frame.f_lineno), _NOWHERE)
                if not generated or file != filename:
                    frame = frame.f_back
                    continue
                function = called = name or "<lambda>"
            if has_marks:
                mark = frame.f_trace
                if type(mark) is _Mark and mark.at == frame.f_lasti and mark.inner == inner:
                    caller = mark.number
                    key.append(-caller)
                    break
            passed.append((frame, inner, len(codes)))
            if function is code or called != inner:
                key.append(called)
                key.append(at)
                codes.append(function)
                inner = called
            frame = frame.f_back
        if walked > _DEEP and len(passed) > 2 * _BETWEEN:
            self._set_marks(passed, _frames(codes, key), caller)
        if not key:
            return 0
        found = tuple(key)
        known = self._numbers.get(found)
        return known if known is not None else self._new(found, _frames(codes, key), caller)

    @contextmanager
    def standing_for(self, own: int, other: int) -> Iterator[None]:
        """While it lasts, what runs at one place counts as run at another, both by number."""
        with self._growing:
            keys = [key for key, number in self._numbers.items() if number == own]
        self._numbers.update(dict.fromkeys(keys, other))
        try:
            yield
        finally:
            self._numbers.update(dict.fromkeys(keys, own))

    def _set_marks(
        self,
        passed: Sequence[tuple[FrameType, _Inner, int]],
        frames: Sequence[tuple[CodeType | str, int]],
        number: int,
    ) -> None:
        """Mark some of the frames that were walked over, but those that a debugger traces.
        ``passed``: each with what :class:`_Mark` holds of it, and how many of ``frames`` were
        before it; ``number``: of the mark behind them."""
        with self._growing:
            numbers = [number]
            for code, seen_at in reversed(frames):
                number = self._branch(number, code, seen_at)
                numbers.append(number)
            for frame, inner, before in passed[_BETWEEN::_BETWEEN]:
                if not frame.f_code.co_flags & _RESUMED and frame.f_trace is None:
                    place = numbers[len(frames) - before]
                    frame.f_trace = _Mark(frame.f_lasti, place, inner)
        self._has_marks = True

    def _new(self, key: Any, frames: Sequence[tuple[CodeType | str, int]], number: int = 0) -> int:
        """Number the place of ``frames``, innermost first, called from the place ``number``."""
        with self._growing:
            for code, seen_at in reversed(frames):
                number = self._branch(number, code, seen_at)
            self._numbers[key] = number
        return number

    def _branch(self, caller: int, code: CodeType | str, seen_at: int) -> int:
        branch: _Branch
        if isinstance(code, str):
            at, branch = seen_at, (caller, code, seen_at)
        else:
            at = self._positions_of(code).first(seen_at)
            branch = caller, id(code), at
        known = self._branches.get(branch)
        if known is None:
            # The list keeps the code objects alive, so that their ids stay theirs.
            self._places.append((code, at, caller))
            known = self._branches[branch] = len(self._places) - 1
        return known

    def unsent(self) -> list[tuple[int, list[Any], int]]:
        """The places numbered since the last call: number, innermost frame, place of its caller."""
        first, self._sent = self._sent, len(self._places)
        return [
            (number, self._frame(code, at), caller)
            for number, (code, at, caller) in enumerate(self._places[first : self._sent], first)
        ]

    def _frame(self, code: CodeType | str, instruction: int) -> list[Any]:
        if isinstance(code, str):  # a function and its line, from generated code
            return [code, instruction, -1, -1, -1]
        line, end_line, column, end_column = self._positions_of(code).at(instruction)
        if end_line is None:
            return [code.co_name, line, -1, -1, -1]
        return [
            code.co_name,
            line,
            self._characters(line, column),
            end_line,
            self._characters(end_line, end_column),
        ]

    def _positions_of(self, code: CodeType) -> _Positions:
        positions = self._positions.get(id(code))
        if positions is None:
            positions = self._positions[id(code)] = _Positions(code)
        return positions

    def _characters(self, line: int | None, column: int | None) -> int:
        """A column in UTF-8 bytes as a column in characters."""
        if line is None or column is None or not 0 < line <= len(self._lines):
            return -1
        text = self._lines[line - 1]
        return column if text.isascii() else len(text.encode()[:column].decode(errors="ignore"))


def _frames(
    codes: Sequence[CodeType | str], key: Sequence[Any]
) -> list[tuple[CodeType | str, int]]:
    """The frames of a key, innermost first: functions, and where they stand, its odd elements."""
    return list(zip(codes, key[1::2], strict=False))


class _Mark:
    """The number of a place, as the local trace function of a frame that is at instruction ``at``.

    ``inner``: the function of the place before it. In code that AutoGraph generated it depends on
    that whether the frame is a place of its own.

    CPython keeps ``f_trace`` for the frame until it ends, and calls it only while a trace function
    is set (``call_trampoline`` in ``Python/sysmodule.c``, 3.10 to 3.13).
    """

    __slots__ = ("at", "inner", "number")

    def __init__(self, at: int, number: int, inner: _Inner) -> None:
        self.at = at
        self.number = number
        self.inner = inner

    def __call__(self, frame: FrameType, event: str, arg: object) -> None:
        """Trace nothing: the frame had no trace function."""


class _Positions:
    """The position in the text of each instruction of a code object, read once for all of them."""

    def __init__(self, code: CodeType) -> None:
        # PEP 626: (first byte, byte after the last, line), sorted, without gaps.
        ranges = [(start, line) for start, _, line in code.co_lines() if line is not None]
        self._starts = [start for start, _ in ranges]
        self._lines = [line for _, line in ranges]
        self._first = code.co_firstlineno
        # PEP 657, since Python 3.11: one for each two bytes.
        self._exact = list(code.co_positions()) if hasattr(code, "co_positions") else []
        self._firsts: dict[Any, int] = {}
        for index, position in enumerate(self._exact):
            self._firsts.setdefault(position, index)

    def first(self, instruction: int) -> int:
        """The first instruction with the position of this one.

        Python 3.11 and later exchange instructions that run often: the same call then stands at
        ``CALL``, at the ``PRECALL`` before it, or at its inline cache (``x[i]``, a property).
        """
        index = instruction // 2
        if index >= len(self._exact) or None in self._exact[index]:
            return instruction
        return 2 * self._firsts[self._exact[index]]

    def at(self, instruction: int) -> tuple[int, int | None, int | None, int | None]:
        """Line, end line, column, end column of the instruction at a byte offset."""
        index = instruction // 2
        if index < len(self._exact):
            line, end_line, column, end_column = self._exact[index]
            if line is not None:
                return line, -1 if end_line is None else end_line, column, end_column
        place = bisect_right(self._starts, instruction) - 1
        return self._lines[place] if place >= 0 else self._first, None, None, None
