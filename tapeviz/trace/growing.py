"""Keep the events of a run as they come, and read its trace at any time, with any calls opened."""

from __future__ import annotations

from collections.abc import Iterable

from .compiled.opening import OpeningChooser, without_values
from .events import Ended, Event, InsideComputed, OpRan, decode, encode
from .lines import EventLines, PackedLines
from .model import OpId, Trace
from .read import Reader, reread


class GrowingTrace:
    """Keeps the lines and bytes of a recording, and reads each event once.

    Which calls of compiled functions are opened depends on events that come later: then all lines
    are read again.
    """

    def __init__(self, source: str, filename: str) -> None:
        self.lines = PackedLines()
        self.ops = 0
        self.ended: Ended | None = None
        self.whole: Trace | None = None
        """The trace that :meth:`finish` gave last."""
        self.insides: dict[OpId, bytes] = {}
        """The line that tells each call that was run again, by :attr:`Op.ran_as`."""
        self._source = source
        self._filename = filename
        self._blob = bytearray()
        self._frozen = b""
        self._opened: list[int] = []
        self._refused: dict[int, InsideComputed] = {}
        self._chooser: OpeningChooser | None = None
        """Knows all lines but these, once it was asked about a run with compiled functions."""
        self._unknown: list[bytes] = []
        self._reader: Reader | None = Reader(source, filename)
        self._latest: tuple[int, Trace] | None = None

    def add(self, event: Event) -> None:
        """Take in an event of ours."""
        self._take(event, encode(event))

    def extend(self, lines: Iterable[bytes], blob: bytes) -> None:
        """Take in events of the kernel, and the bytes of values that they refer to.

        Raises ``msgspec.MsgspecError`` for a line that is no event.
        """
        self._blob += blob
        for line in lines:
            self._take(decode(line), bytes(line))

    def keep_for_file(self, lines: Iterable[bytes], blob: bytes) -> None:
        """Keep events of the kernel for the file alone: the trace is not to change by them.

        The kernel counts bytes from the run's beginning, so those have to be kept, too.
        """
        self._blob += blob
        for line in lines:
            self._keep(line)

    def _take(self, event: Event, line: bytes) -> None:
        if self._reader is not None:
            self._reader.feed(event)
        if isinstance(event, Ended):
            self.ended = event
        self._keep(line)
        if isinstance(event, InsideComputed) and not event.adds:
            self.insides[OpId(event.op)] = line
        self.ops += isinstance(event, OpRan)

    def _keep(self, line: bytes) -> None:
        self.lines.append(line)
        if self._chooser is not None:
            self._unknown.append(line)

    def repeat(self, lines: list[bytes]) -> None:
        """Let these events, which came before, stand last once more: the latest one counts."""
        if lines and not self.lines.ends_with(lines):
            for line in lines:
                self._keep(line)
            self.reread()

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
        return self._current().trace(self.values())

    def so_far(self) -> Trace:
        """The trace so far, to be dropped before the run goes on: more events change it. It is made
        anew only when events came since the last one."""
        if self._latest is None or self._latest[0] != len(self.lines):
            self._latest = None  # first: two of them would be in memory
            self._latest = (len(self.lines), self._current().trace(self.values(), is_kept=False))
        return self._latest[1]

    def finish(self) -> Trace:
        """The trace of all events. What comes later is read with the rest, by :meth:`reread`."""
        self.whole = self.so_far()
        self._reader = self._latest = None  # the reader's parts are the trace's own now
        return self.whole

    def reread(self) -> None:
        """Read all events again, with the calls opened that are to be."""
        refused = self._refused.values()
        events = EventLines(self.lines, refused)
        if self._chooser is None and events.may_run_functions:
            self._chooser = OpeningChooser()
            self._chooser.extend(EventLines(self.lines))
        elif self._chooser is not None:
            self._chooser.extend(EventLines(self._unknown))
            self._unknown = []
        chooser = self._chooser or OpeningChooser()
        opening = chooser.choose(self._opened, refused)
        self._reader = reread(events, self._source, self._filename, opening)
        self._latest = None

    def _current(self) -> Reader:
        if self._reader is None:
            self.reread()
        assert self._reader is not None
        return self._reader

    def open(self, call: OpId, refusal: str = "") -> None:
        """Open a call of a compiled function; ``refusal``: why its values cannot be had."""
        self._opened = [*(opened for opened in self._opened if opened != call), call]
        self._refused.pop(call, None)
        if refusal:
            self._refused[call] = without_values(call, refusal)
        self.reread()
