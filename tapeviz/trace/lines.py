"""The lines of a recording in, its events out, decoded each time that they are read."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from .events import Event, decode


class EventLines:
    """Events of ``lines`` and ``further`` ones. Decoded events need several times as much room."""

    def __init__(self, lines: Sequence[bytes], further: Iterable[Event] = ()) -> None:
        self._lines = lines
        self._further = further

    def __iter__(self) -> Iterator[Event]:
        """Raises ``msgspec.MsgspecError`` for a line that is no event."""
        yield from map(decode, self._lines)
        yield from self._further

    @property
    def may_run_functions(self) -> bool:
        """False: no compiled function was traced, as no line has the tag of such an event."""
        return any(b'"body"' in line for line in self._lines)
