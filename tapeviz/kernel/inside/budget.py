"""Keep head and tail of the text that a snippet prints, with long lines cut."""

from __future__ import annotations

import re
from collections import deque

HEAD = 1_000_000
TAIL = 64_000
LINE = 10_000

# A progress bar redraws its line with \r or \b: the text after these counts as a new line.
_PIECE = re.compile(r"[^\n\r\b]*[\n\r\b]?")
_ENDINGS = "\n\r\b"


class OutputBudget:
    """Lets the first ``head`` and the last ``tail`` characters of a stream pass, and cuts lines
    after ``line`` characters.

    :meth:`feed` returns the text to show now, :meth:`close` the end that was kept back.
    """

    def __init__(self, head: int = HEAD, tail: int = TAIL, line: int = LINE) -> None:
        self._head = head
        self._tail = tail
        self._line = line
        self._column = 0
        self._hidden = 0
        self._rest: deque[str] = deque()
        self._rest_kept = 0
        self._rest_seen = 0

    @property
    def is_spent(self) -> bool:
        """Whether :meth:`feed` returns nothing more."""
        return self._head == 0

    def feed(self, text: str) -> str:
        """The part of ``text`` to show now; the rest waits for :meth:`close`."""
        if self.is_spent:  # lines are cut only in close(), so that a flood costs little
            self._keep(self._end_line(text) if self._hidden and text else text)
            return ""
        text = self._cut_lines(text)
        now, later = text[: self._head], text[self._head :]
        self._head -= len(now)
        if later:
            self._keep(later)
        return now

    def close(self) -> str:
        """The end of the stream, after a note of how much was left out."""
        kept = "".join(self._rest)[-self._tail :]
        left_out = self._rest_seen - len(kept)
        ending = self._hidden_mark()
        self._column = self._hidden = 0
        # After a line that was cut there is a mark.
        rest = self._cut_lines(kept) + self._hidden_mark() + ending
        self._rest.clear()
        self._rest_kept = self._rest_seen = 0
        self._hidden = 0
        return (f"\n… {_size(left_out)} left out …\n" if left_out else "") + rest

    def _end_line(self, text: str) -> str:
        """``text`` without the rest of the line that is being cut, which is only counted."""
        found = _PIECE.match(text)
        line = found.group() if found else ""
        return self._cut_line(line) + text[len(line) :]

    def _keep(self, text: str) -> None:
        self._rest_seen += len(text)
        text = text[-self._tail :]
        self._rest.append(text)
        self._rest_kept += len(text)
        while self._rest_kept - len(self._rest[0]) >= self._tail:
            self._rest_kept -= len(self._rest.popleft())

    def _cut_lines(self, text: str) -> str:
        if not self._hidden and self._is_short(text):
            self._column = self._column_after(text)
            return text
        return "".join(self._cut_line(piece) for piece in _PIECE.findall(text))

    def _is_short(self, text: str) -> bool:
        """Whether no line of ``text`` is longer than the limit."""
        if self._column + len(text) <= self._line:
            return True
        first, *others = text.split("\n")
        return self._column + len(first) <= self._line and all(
            len(line) <= self._line for line in others
        )

    def _column_after(self, text: str) -> int:
        ending = max(text.rfind("\n"), text.rfind("\r"), text.rfind("\b"))
        return len(text) - ending - 1 if ending >= 0 else self._column + len(text)

    def _cut_line(self, piece: str) -> str:
        ending = piece[-1:] if piece[-1:] in _ENDINGS else ""
        body = piece[: len(piece) - len(ending)]
        shown = body[: max(0, self._line - self._column)]
        self._hidden += len(body) - len(shown)
        self._column += len(body)
        if not ending:
            return shown
        mark = self._hidden_mark()
        self._column = self._hidden = 0
        return shown + mark + ending

    def _hidden_mark(self) -> str:
        return f"… {self._hidden:,} characters left out" if self._hidden else ""


def _size(characters: int) -> str:
    if characters >= 1_000_000:
        return f"{characters / 1_000_000:.1f} MB"
    return f"{max(characters // 1000, 1)} kB"
