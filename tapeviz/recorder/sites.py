"""A running Python frame in, the number of a place in the snippet out."""

from __future__ import annotations

import itertools
import re
from collections.abc import Mapping
from types import CodeType, FrameType
from typing import Any

_GeneratedLines = Mapping[tuple[str, int], tuple[str, int, str]]
_NOWHERE = ("", 0, "")


class Sites:
    """Gives every chain of snippet frames a number, and says later where that is.

    Hot: called once for each op. Only a code object's identity and the instruction are looked at;
    lines and columns are worked out once for each new place, when it is sent.
    """

    def __init__(self, source: str, filename: str, boundary: CodeType) -> None:
        self._filename = filename
        self._boundary = boundary
        self._lines = re.split("\r\n|\r|\n", source)
        self._numbers: dict[Any, int] = {}
        self._chains: list[list[Any]] = [[]]
        self._sent = 1

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

    def _chain(self, frame: FrameType | None) -> int:
        filename, boundary = self._filename, self._boundary
        key: list[int] = []
        frames: list[tuple[CodeType, int]] = []
        while frame is not None:
            code = frame.f_code
            if code.co_filename == filename:
                frames.append((code, frame.f_lasti))
                key.append(id(code))
                key.append(frame.f_lasti)
            elif code is boundary:
                break
            frame = frame.f_back
        found = tuple(key)
        try:
            return self._numbers[found]
        except KeyError:
            return self._new(found, frames)

    def here_in_graph(self, frame: FrameType | None, generated: _GeneratedLines) -> int:
        """Like :meth:`here`, for code that AutoGraph may have generated from the snippet's.

        Of one function's generated code (loop bodies are functions of their own there) the
        innermost line counts.
        """
        if not generated:
            return self.here(frame)
        key: list[Any] = []
        frames: list[Any] = []
        while frame is not None and frame.f_code is not self._boundary:
            code = frame.f_code
            if code.co_filename == self._filename:
                frames.append((code, frame.f_lasti))
                key += (id(code), frame.f_lasti)
            else:
                file, line, function = generated.get((code.co_filename, frame.f_lineno), _NOWHERE)
                function = function or "<lambda>"
                if file == self._filename and key[-2:-1] != [function]:
                    frames.append((function, line))
                    key += (function, line)
            frame = frame.f_back
        if not key:
            return 0
        found = tuple(key)
        known = self._numbers.get(found)
        return known if known is not None else self._new(found, frames)

    def _new(self, key: Any, frames: list[Any]) -> int:
        # The list keeps the code objects alive, so that their ids stay theirs.
        self._chains.append(frames)
        number = self._numbers.setdefault(key, len(self._chains) - 1)
        return number

    def unsent(self) -> list[tuple[int, list[list[Any]]]]:
        """The places numbered since the last call, each with its frames, innermost first."""
        first, self._sent = self._sent, len(self._chains)
        return [
            (number, [self._frame(code, at) for code, at in self._chains[number]])
            for number in range(first, self._sent)
        ]

    def _frame(self, code: CodeType | str, instruction: int) -> list[Any]:
        if isinstance(code, str):  # a function and its line, from generated code
            return [code, instruction, -1, -1, -1]
        name = code.co_name
        if not hasattr(code, "co_positions"):
            return [name, line_of(code, instruction), -1, -1, -1]
        position = next(itertools.islice(code.co_positions(), instruction // 2, None), (None,) * 4)
        line, end_line, column, end_column = position
        if line is None:
            return [name, line_of(code, instruction), -1, -1, -1]
        return [
            name,
            line,
            self._characters(line, column),
            end_line if end_line is not None else -1,
            self._characters(end_line, end_column),
        ]

    def _characters(self, line: int | None, column: int | None) -> int:
        """A column in UTF-8 bytes as a column in characters."""
        if line is None or column is None or not 0 < line <= len(self._lines):
            return -1
        text = self._lines[line - 1]
        return column if text.isascii() else len(text.encode()[:column].decode(errors="ignore"))


def line_of(code: CodeType, instruction: int) -> int:
    """Line of the instruction at a byte offset (PEP 626)."""
    for start, end, line in code.co_lines():
        if start <= instruction < end and line is not None:
            return line
    return code.co_firstlineno
