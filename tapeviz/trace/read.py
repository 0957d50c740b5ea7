"""Read events and the blob of values as a :class:`~tapeviz.trace.model.Trace`.

:class:`Reader` can be fed while the snippet still runs; :meth:`Reader.trace` is a snapshot, with
those calls of compiled functions opened that are wanted. What a call holds is read when it is
opened, and kept: no event of the run is read again.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from ..text.called_names import CalledNames
from ..text.source import SourceText
from . import events as e
from .compiled.bodies import ClosedCall
from .compiled.located import LocatedEvent
from .compiled.opening import Opening
from .ids import OpId
from .model import Trace
from .reading.event_reader import EventReader
from .reading.insides import Inside, InsideKey, inside_of, rest_of
from .reading.joining import Joining
from .reading.tables import Tables


def read(
    events: Iterable[e.Event], blob: bytes, source: str, filename: str, opened: Sequence[int] = ()
) -> Trace:
    """The trace of a whole recording.

    ``opened``: calls of compiled functions that somebody looks at (:attr:`Op.ran_as`), latest last.
    """
    reader = Reader(source, filename)
    for event in events:
        reader.feed(event)
    return reader.trace(blob, reader.choose(opened), is_kept=False)


class Reader:
    """Reads a recording, event by event; gives its trace with any calls opened."""

    def __init__(self, source: str, filename: str) -> None:
        self._source, self._filename = source, filename
        self._tables = Tables()
        self._events = EventReader(self._tables)
        text = SourceText(source)
        self._joining = Joining(text, CalledNames(text))
        self._insides: dict[InsideKey, tuple[Inside, ...]] = {}
        """The insides of calls that the latest trace has, each with what its call left out."""
        self._joined = 0
        """The number of events that had changed the tables when the latest trace was made."""

    def feed(self, event: e.Event) -> None:
        """Take in the next event."""
        self._events.feed(event)

    @property
    def has_compiled_calls(self) -> bool:
        """Whether compiled functions were called, so that it matters which calls are opened."""
        return bool(self._tables.bodies.closed)

    def choose(
        self, wanted: Sequence[int] = (), refused: Iterable[e.InsideComputed] = ()
    ) -> Opening:
        """The calls to open when the run is over; see :meth:`OpeningChooser.choose`."""
        return self._tables.bodies.chooser.choose(wanted, refused)

    def trace(self, blob: bytes, opening: Opening | None = None, is_kept: bool = True) -> Trace:
        """The trace so far; ``blob``: the bytes of values that came with the events.

        ``opening``: the calls of compiled functions whose inside it has; by default the first one
        of each function. ``is_kept``: while more events are fed; else its tables may be those that
        grow with them.
        """
        events, tables = self._events, self._tables
        if self._joined != events.changes:
            self._joined = events.changes
            self._joining.forget()
            self._insides.clear()
        opening = opening if opening is not None else tables.bodies.chooser.first
        facts: dict[str, Any] = {
            **events.facts,
            "source": self._source,
            "filename": self._filename,
            "traced": events.lines_traced if is_kept else frozenset(),
            "notes": tuple(events.notes),
            "printed": tuple(events.printed),
        }
        insides = list(self._opened(opening))
        return self._joining.trace(tables, insides, opening, facts, blob, is_kept)

    def _opened(self, opening: Opening) -> Iterator[Inside]:
        """The insides of the opened calls in the order in which they ran, then what never ran."""
        bodies = self._tables.bodies
        emitted = set(bodies.emitted)
        kept: dict[InsideKey, tuple[Inside, ...]] = {}
        beside: list[Inside] = []
        standing = self._standing(opening)
        closed = [bodies.closed[OpId(op)] for op in opening.opened]
        for call in sorted(closed, key=lambda call: call.began):
            op = call.op.id
            key = InsideKey(op, standing.get(op, frozenset()), opening.insides.get(op))
            inside, *others = kept[key] = self._insides.get(key) or self._read_inside(call, opening)
            emitted |= inside.emitted
            beside += others
            yield inside
        if self._events.has_ended and bodies.graphs.known:
            key = InsideKey(OpId(0), frozenset(emitted), None)
            kept[key] = self._insides.get(key) or (self._read_rest(bodies.rest(emitted)),)
            yield from (*beside, *kept[key])
        self._insides = kept

    def _standing(self, opening: Opening) -> Mapping[int, frozenset[int]]:
        """The graphs for which each call stands, as far as that makes a difference."""
        found: dict[int, set[int]] = {}
        for graph, op in opening.representatives.items():
            if self._tables.bodies.graphs.known[graph].asks:
                found.setdefault(op, set()).add(graph)
        return {op: frozenset(graphs) for op, graphs in found.items()}

    def _read_inside(self, call: ClosedCall, opening: Opening) -> tuple[Inside, ...]:
        bodies, stands = self._tables.bodies, self._tables.functions.stands_for(call.op.id)
        tables, emitted = self._tables.inside(call, stands), set[int]()
        left_out: list[LocatedEvent] = []
        located = bodies.inside(call, stands, opening, tables.copy_tensor, emitted, left_out)
        EventReader(tables, is_inside=True).read(located)
        inside = inside_of(call.op.id, self._tables.ops[stands], tables, frozenset(emitted))
        return (inside, self._read_rest(left_out)) if left_out else (inside,)

    def _read_rest(self, events: Iterable[LocatedEvent]) -> Inside:
        """The inside of events that never ran, read after all else."""
        tables = self._tables.after_all(self._events.when)
        EventReader(tables, is_inside=True).read(events)
        return rest_of(tables)
