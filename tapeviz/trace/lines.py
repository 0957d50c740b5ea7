"""The lines of a recording as events, decoded each time that they are read."""

from __future__ import annotations

import zlib
from collections.abc import Iterable, Iterator

from .events import Event, decode

_PIECE = 1 << 18
"""Bytes of lines that are packed together."""
_LEVEL = 1
"""The level of zlib: it packs lines to about a tenth, 150 MB a second."""


class PackedLines:
    """Lines without line ends, packed: as they are they need a third of the room of a trace."""

    def __init__(self, lines: Iterable[bytes] = ()) -> None:
        self._pieces: list[bytes] = []
        self._open: list[bytes] = []
        self._size = 0
        self._count = 0
        self.extend(lines)

    def append(self, line: bytes) -> None:
        self._open.append(line)
        self._count += 1
        self._size += len(line)
        if self._size > _PIECE:
            self._pieces.append(zlib.compress(b"\n".join(self._open), _LEVEL))
            self._open, self._size = [], 0

    def extend(self, lines: Iterable[bytes]) -> None:
        for line in lines:
            self.append(line)

    def copy(self) -> PackedLines:
        """The lines so far; those that are packed are shared."""
        copied = PackedLines()
        copied._pieces, copied._open = list(self._pieces), list(self._open)
        copied._size, copied._count = self._size, self._count
        return copied

    def ends_with(self, lines: list[bytes]) -> bool:
        """Whether these lines came last."""
        last = self._open
        if len(last) < len(lines) and self._pieces:
            last = [*_lines_of(self._pieces[-1]), *last]
        return last[-len(lines) :] == lines

    def __len__(self) -> int:
        return self._count

    def __iter__(self) -> Iterator[bytes]:
        for piece in tuple(self._pieces):
            yield from _lines_of(piece)
        yield from tuple(self._open)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, (PackedLines, tuple)) and [*self] == [*other]

    __hash__ = None  # type: ignore[assignment]


def _lines_of(piece: bytes) -> list[bytes]:
    return zlib.decompress(piece).split(b"\n")


class EventLines:
    """The events of ``lines``. Decoded events need several times as much room."""

    def __init__(self, lines: Iterable[bytes]) -> None:
        self._lines = lines

    def __iter__(self) -> Iterator[Event]:
        """Raises ``msgspec.MsgspecError`` for a line that is no event."""
        yield from map(decode, self._lines)
