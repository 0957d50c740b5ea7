"""Keep the events of a run as they come, and give its trace at any time, with any calls opened."""

from __future__ import annotations

from collections.abc import Iterable

from .compiled.functions import has_run
from .compiled.opening import without_values
from .events import Ended, Event, InsideComputed, OpRan, decode, encode
from .ids import OpId
from .lines import EventLines, PackedLines
from .model import Trace
from .read import Reader


class GrowingTrace:
    """Keeps the lines and bytes of a recording, and reads each event once."""

    def __init__(self, source: str, filename: str) -> None:
        self.lines = PackedLines()
        self.ops = 0
        self.ended: Ended | None = None
        self.whole: Trace | None = None
        """The trace that :meth:`finish` gave last."""
        self.insides: dict[OpId, list[bytes]] = {}
        """For each call that was run again, by :attr:`Op.ran_as`, the line with its inside, and
        those that add further turns of its loops."""
        self._source = source
        self._filename = filename
        self._blob = bytearray()
        self._frozen = b""
        self._opened: list[int] = []
        self._refused: dict[int, InsideComputed] = {}
        self._is_chosen = False
        """Whether the calls are opened that are to be when the run is over."""
        self._reader: Reader | None = Reader(source, filename)
        self._latest: tuple[int, Trace] | None = None

    def add(self, event: Event) -> None:
        """Take in an event of ours."""
        self._take(event, encode(event))

    def extend(self, lines: Iterable[bytes], blob: bytes, at: int | None = None) -> None:
        """Take in events of the kernel, and the bytes of values that they refer to.

        ``at``: how many bytes the kernel sent before those. Raises ``msgspec.MsgspecError`` for a
        line that is no event.
        """
        self._take_bytes(blob, at)
        for line in lines:
            self._take(decode(line), bytes(line))

    def keep_for_file(self, lines: Iterable[bytes], blob: bytes, at: int | None = None) -> None:
        """Keep events of the kernel for the file alone: the trace is not to change by them.

        The kernel counts bytes from the run's beginning, so those have to be kept, too.
        """
        self._take_bytes(blob, at)
        for line in lines:
            self.lines.append(line)

    def _take_bytes(self, blob: bytes, at: int | None) -> None:
        """Append bytes at their place: those of an answer that came too late are missing, and so
        are the events that refer to them."""
        self._blob += bytes(max(0, (at or 0) - len(self._blob)))
        self._blob += blob

    def _take(self, event: Event, line: bytes) -> None:
        if self._reader is not None:
            self._reader.feed(event)
        if isinstance(event, Ended):
            self.ended = event
        self.lines.append(line)
        if isinstance(event, InsideComputed):
            known = self.insides.get(OpId(event.op), []) if event.adds else []
            self.insides[OpId(event.op)] = [*known, line]
        self.ops += isinstance(event, OpRan)

    def repeat(self, calls: Iterable[OpId]) -> None:
        """Let the insides of these calls, which came before, stand last once more: the latest one
        counts."""
        lines = [line for call in calls for line in self.insides.get(call, ())]
        if lines and not self.lines.ends_with(lines):
            for line in lines:
                self._take(decode(line), line)

    @property
    def has_compiled_calls(self) -> bool:
        """Whether compiled functions were called, so that it matters which calls are opened."""
        return self._current().has_compiled_calls

    def values(self) -> bytes:
        """The bytes that came, copied only when there are more than at the last copy."""
        if len(self._frozen) != len(self._blob):
            self._frozen = bytes(self._blob)
        return self._frozen

    def bytes_at(self, start: int, count: int) -> bytes:
        return bytes(self._blob[start : start + count])

    def snapshot(self) -> Trace:
        """The trace so far, to be kept while more events come."""
        return self._trace(is_kept=True)

    def so_far(self) -> Trace:
        """The trace so far, to be dropped before the run goes on: more events change it. It is made
        anew only when events came since the last one."""
        if self._latest is None or self._latest[0] != len(self.lines):
            self._latest = None  # first: two of them would be in memory
            self._latest = (len(self.lines), self._trace(is_kept=False))
        return self._latest[1]

    def _trace(self, *, is_kept: bool) -> Trace:
        reader = self._current()
        refused = self._refused.values()
        opening = reader.choose(self._opened, refused) if self._is_chosen else None
        return reader.trace(self.values(), opening, is_kept)

    def finish(self) -> Trace:
        """The trace of all events. Calls of compiled functions can still be opened."""
        self.whole = self.so_far()
        if not self.has_compiled_calls:
            self._reader = None  # its parts are the trace's own now
        self._latest = None
        return self.whole

    def _current(self) -> Reader:
        if self._reader is None:
            self._reader = Reader(self._source, self._filename)
            for event in EventLines(self.lines):
                self._reader.feed(event)
        return self._reader

    def has_run_again(self, call: OpId) -> bool:
        """Whether a call of a compiled function was run again after the snippet."""
        lines = self.insides.get(call)
        event = decode(lines[0]) if lines else None
        return isinstance(event, InsideComputed) and has_run(event)

    def choose_calls(self) -> None:
        """Open from now on the calls that matter when the run is over, not the first ones."""
        self._is_chosen = True
        self._latest = None

    def open(self, call: OpId, refusal: str = "") -> None:
        """Open a call of a compiled function; ``refusal``: why its values cannot be had."""
        self._opened = [*(opened for opened in self._opened if opened != call), call]
        self._refused.pop(call, None)
        if refusal:
            self._refused[call] = without_values(call, refusal)
        self.choose_calls()
