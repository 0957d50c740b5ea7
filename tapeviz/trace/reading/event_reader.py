"""Read one event after the other into tables."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from itertools import zip_longest
from sys import intern
from typing import Any

from ...text.source import TextSpan
from .. import events as e
from ..compiled.bodies import ROOM, ClosedCall
from ..compiled.located import LocatedEvent
from ..ids import OpId, SiteId, TapeId, TensorId, VariableId
from ..model import CaughtError, Ending, Failure, Leave, Tape, Watch
from ..ops import Op, Tensor
from ..sites import NOWHERE, Site, StackFrame
from ..state import writes_state
from ..values import stats_from
from .nouns import entry_of, variable_of
from .tables import Tables

_NO_TAPES: frozenset[TapeId] = frozenset()
"""Each call of ``frozenset()`` makes another one, of 216 bytes (Python 3.10 and later)."""
_ANSWERS = frozenset(
    (e.TensorSeen, e.InsideComputed, e.ReplayRan, e.Checked, e.Noted, e.Printed, e.SiteSeen)
)
"""Events after which nothing that was read before is another."""


class EventReader:
    """Reads the events of a recording in their order; or those of the inside of one opened call.

    ``facts``: fields of the trace that single events tell; ``notes``, ``printed``: see
    :class:`Trace`; ``when``: position in the order of events; ``changes``: how many events may have
    changed what was read before them.
    """

    def __init__(self, tables: Tables, *, is_inside: bool = False) -> None:
        self.facts: dict[str, Any] = {}
        self.notes: list[str] = []
        self.printed: list[tuple[str, str]] = []
        self.changes = 0
        self.has_ended = False
        self._is_inside = is_inside
        self.when = tables.began
        self._sites = tables.sites
        self._tensors, self._alike, self._handles = tables.tensors, tables.alike, tables.handles
        self._places, self._texts, self._stats = tables.places, tables.texts, tables.stats
        self._samples, self._ops, self._producers = tables.samples, tables.ops, tables.producers
        self._numbers, self._op_maker, self._ids = tables.numbers, tables.op_maker, tables.ids
        self._states, self._tapes, self._names = tables.states, tables.tapes, tables.names
        self._leaves, self._caught, self._fetched = tables.leaves, tables.caught, tables.fetched
        self._bodies, self._functions, self._calls = tables.bodies, tables.functions, tables.calls

    def feed(self, event: e.Event) -> None:
        """Take in the next event."""
        if type(event) not in _ANSWERS:
            self.changes += 1
        if self._bodies.passes(event):  # nearly all of them
            self.when += 1
            _HANDLERS[type(event)](self, event)
            return
        self.read(self._bodies.feed(event))
        if isinstance(event, e.BodyTraced) and event.graph:
            self._functions.traced_when[event.graph] = self.when

    def read(self, located: Iterable[LocatedEvent]) -> None:
        """Read events that belong to graphs, or to the inside of a call."""
        for each in located:
            self.when += 1
            if each.run is not None and not self._is_inside:
                self.when += ROOM
            if each.within or each.run is not None or each.body:
                self._ran_in_function(each)
            else:
                _HANDLERS[type(each.event)](self, each.event)

    @property
    def _now(self) -> int:
        return self._numbers.shared(self.when)

    @property
    def lines_traced(self) -> frozenset[int]:
        """The lines on which TensorFlow traced compiled functions."""
        lines = (self._site(site).line for site in self._bodies.graphs.sites)
        return frozenset(line for line in lines if line)

    # One method for each kind of event.

    def _begin(self, event: e.Begin) -> None:
        self.facts["tensorflow"] = event.tensorflow
        self.facts["python"] = event.python
        self.facts["seed"] = event.seed

    def _site_seen(self, event: e.SiteSeen) -> None:
        frames = tuple(StackFrame(*frame) for frame in event.frames)
        caller = self._sites.get(event.caller, NOWHERE)
        self._sites[event.id] = Site(SiteId(event.id), frames + caller.frames)

    def _tensor_seen(self, event: e.TensorSeen) -> None:
        tensor = self._ids.single(event.id)
        self.changes += tensor in self._tensors
        shape = tuple(event.shape) if event.shape is not None else None
        key = event.dtype, shape, event.kept, event.handle
        known = self._alike.get(key)
        if known is None:
            form = intern(event.dtype), shape
            known = self._alike[key] = Tensor(form, event.kept, event.handle)
        self._tensors[tensor] = known
        if event.handle:
            self._handles.add(tensor)
        if event.at >= 0:
            self._places.add(tensor, event.at)
        if event.text is not None:
            self._texts[tensor] = tuple(event.text)
        if event.stats is not None:
            self._stats[tensor] = stats_from(event.stats, event.estimated)
        if event.sample is not None:
            self._samples[tensor] = event.sample

    def _ran_in_function(self, located: LocatedEvent) -> None:
        """An event of a compiled function's inside, or its call, which comes after those."""
        event = located.event
        if isinstance(event, e.OperationRecorded):
            self._operation_recorded(event, located.body)
            op = self._ops[OpId(event.id)]
            self._ops[op.id] = self._functions.inside(op, located)
            return
        if not isinstance(event, e.OpRan):
            _HANDLERS[type(event)](self, event)
            return
        op = self._op(event)
        if located.within or located.whole:
            op = self._functions.inside(op, located)
        if located.run is not None and not self._is_inside:
            run = located.run
            closed = ClosedCall(op, run.graphs, run.round, self._tapes.recording)
            self._bodies.closed[op.id] = closed
        if located.run is None and not located.body:
            self._states.ran(op, self._handles)
            self._add_op(self._kept_by_tapes(op) if self._may_be_kept(op) else op)
        else:
            self._add_op(self._functions.called(op, located))

    def _op(self, event: e.OpRan) -> Op:
        inputs, outputs = self._ids.of(event.inputs), self._ids.of(event.outputs)
        site = self._site(event.site)
        return self._op_maker.made(event, inputs, outputs, site, self.when)

    def _op_ran(self, event: e.OpRan) -> None:
        """Hot. The op is made once, with its tapes: to copy it takes longer than all the rest."""
        site = self._site(event.site)
        inputs, outputs = self._ids.of(event.inputs), self._ids.of(event.outputs)
        tapes = _NO_TAPES
        if self._may_be_kept(event):
            tapes = self._recorded(inputs, outputs, site, event.thread)
        op = self._op_maker.made(event, inputs, outputs, site, self.when, tapes)
        self._states.ran(op, self._handles)
        self._add_op(op)

    def _operation_recorded(
        self, event: e.OperationRecorded, traced: Sequence[int] | None = None
    ) -> None:
        """``traced``: of an entry inside of a compiled function the ops in it."""
        call = self._ops.get(OpId(event.first))
        is_call = (
            call is not None and not call.is_recorded_operation and bool(call.runs or call.body)
        )
        body: Sequence[int] = range(event.first, event.id) if event.first else ()
        body = body if traced is None else traced
        if call is not None and is_call:
            body = call.body
        inside = tuple(OpId(inner) for inner in body if OpId(inner) in self._ops)
        thread = self._ops[inside[0]].thread if inside else call.thread if call and is_call else 0
        op = entry_of(event, self._site(event.site), self.when, inside, thread)
        if call is not None and is_call:
            op = self._kept_by_tapes(op)
            self._add_op(self._functions.take_over(op, call))
            return
        self._states.ran(op, self._handles)
        self._add_op(self._kept_by_tapes(op))
        # The tape takes these outputs for this entry's, whatever op computed them inside.
        self._producers.update(dict.fromkeys(op.outputs, op.id))

    def _kept_by_tapes(self, op: Op) -> Op:
        tapes = self._recorded(op.inputs, op.outputs, op.site, op.thread)
        return op.having(tapes=tapes) if tapes else op

    def _may_be_kept(self, op: Op | e.OpRan) -> bool:
        """Whether tapes are there for it. A write has no output that a tape could follow."""
        return self._tapes.is_any_recording and not op.paused and not writes_state(op.type)

    def _recorded(
        self, inputs: Sequence[TensorId], outputs: Sequence[TensorId], site: Site, thread: int
    ) -> frozenset[TapeId]:
        """The tapes that keep an op; a variable that it reads goes onto them first."""
        known = []
        for tensor in inputs:
            if tensor in self._handles and self._states.is_trainable(VariableId(tensor)):
                self._tapes.read_variable(tensor, self._now, site, thread)
            if tensor in self._tensors:
                known.append((tensor, self._tensors[tensor].dtype))
        return self._tapes.recorded(known, outputs, thread)

    def _add_op(self, op: Op) -> None:
        self._ops[op.id] = op
        for tensor in op.outputs:
            self._producers.setdefault(tensor, op.id)

    def _variable_made(self, event: e.VariableMade) -> None:
        handle = self._ids.single(event.id)
        self._handles.add(handle)
        self._states.made(variable_of(event, handle, self._site(event.site), self._now))

    def _tape_opened(self, event: e.TapeOpened) -> None:
        if not self._is_inside:
            self._bodies.chooser.tape_opened(event.id)
        self._tapes.opened(
            Tape(
                TapeId(event.id),
                "",
                event.persistent,
                event.watches_variables,
                self._site(event.site),
                event.kind,
                self.when,
            )
        )

    def _tape_turned(self, event: e.TapeTurned) -> None:
        site = self._site(event.site)
        tape, why = TapeId(event.tape), intern(event.why)
        self._tapes.turned(tape, event.on, why, self._now, site, event.thread)

    def _watched(self, event: e.Watched) -> None:
        site, tape = self._site(event.site), TapeId(event.tape)
        for tensor, tangent in zip_longest(event.tensors, event.tangents, fillvalue=e.NONE):
            seed = self._ids.single(tangent) if tangent else None
            watch = Watch(tape, self._ids.single(tensor), self._now, site, tangent=seed)
            self._tapes.watched(watch)

    def _call_began(self, event: e.CallBegan) -> None:
        if not self._is_inside:
            self._bodies.chooser.asked(event)
        self._calls.began(event, self._site(event.site), self.when)

    def _name_bound(self, event: e.NameBound) -> None:
        self._names.bound(event, self._site(event.site), self._now)

    def _value_left(self, event: e.ValueLeft) -> None:
        site = self._site(event.site)
        tensor = self._ids.single(event.tensor)
        leave = Leave(tensor, intern(event.how), site, self._now, event.object)
        self._leaves.append(leave)

    def _error_caught(self, event: e.Caught) -> None:
        site, lines = self._site(event.site), tuple(event.lines)
        caught = CaughtError(intern(event.type), event.message, lines, site, self._now)
        self._caught.append(caught)

    def _session_fetched(self, event: e.SessionFetched) -> None:
        self._fetched.update((TensorId(a), TensorId(b)) for a, b in event.pairs)

    def _printed_text(self, event: e.Printed) -> None:
        self.printed.append((event.stream, event.text))

    def _raised(self, event: e.Raised) -> None:
        failure = Failure(
            event.type,
            event.message,
            event.line,
            event.traceback,
            tuple(event.frames),
            event.folder,
            event.python,
            event.is_saved,
            tuple(event.held),
            TextSpan(*event.span),
        )
        if "failure" in self.facts:
            self.facts["later_failures"] = (*self.facts.get("later_failures", ()), failure)
        else:
            self.facts["failure"] = failure

    def _noted(self, event: e.Noted) -> None:
        self.notes.append(event.message)

    def _ended(self, event: e.Ended) -> None:
        self.has_ended = True
        self._tapes.ended()
        self.facts["ending"] = Ending(event.how, event.seconds, event.detail)

    def _site(self, site: int) -> Site:
        return self._sites.get(site, NOWHERE)


_HANDLERS: dict[type, Callable[[EventReader, Any], None]] = {
    e.Begin: EventReader._begin,
    e.SiteSeen: EventReader._site_seen,
    e.TensorSeen: EventReader._tensor_seen,
    e.OpRan: EventReader._op_ran,
    e.OperationRecorded: EventReader._operation_recorded,
    e.InsideComputed: lambda reader, event: reader._bodies.chooser.computed(event),
    e.Derived: lambda reader, event: reader._functions.derived(event),
    e.VariableMade: EventReader._variable_made,
    e.TapeOpened: EventReader._tape_opened,
    e.TapeTurned: EventReader._tape_turned,
    e.Watched: EventReader._watched,
    e.CallBegan: EventReader._call_began,
    e.CallEnded: lambda reader, event: reader._calls.ended(event, reader.when),
    e.StepRan: lambda reader, event: reader._calls.stepped(event),
    e.ReplayRan: lambda reader, event: reader._calls.answered(event),
    e.Checked: lambda reader, event: reader._calls.answered(event),
    e.NameBound: EventReader._name_bound,
    e.ValueLeft: EventReader._value_left,
    e.Caught: EventReader._error_caught,
    e.SessionFetched: EventReader._session_fetched,
    e.Printed: EventReader._printed_text,
    e.Raised: EventReader._raised,
    e.Noted: EventReader._noted,
    e.Ended: EventReader._ended,
}
