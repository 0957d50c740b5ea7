"""Read events and the blob of values as a :class:`~tapeviz.trace.model.Trace`.

:class:`Reader` can be fed while the snippet still runs; :meth:`Reader.trace` is a snapshot.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from functools import partial
from itertools import zip_longest
from sys import intern
from typing import Any

from ..text.called_names import CalledNames
from ..text.source import SourceText
from . import events as e
from .columns import GrowingMap
from .compiled.bodies import Bodies
from .compiled.expansion import LocatedEvent
from .compiled.functions import Functions, copying
from .compiled.model import Word
from .compiled.opening import Opening, OpeningChooser
from .lines import EventLines
from .model import (
    NOWHERE,
    CaughtError,
    Ending,
    Failure,
    Leave,
    Op,
    OpId,
    Site,
    SiteId,
    StackFrame,
    Stats,
    Tape,
    TapeId,
    Tensor,
    TensorId,
    Trace,
    VariableId,
    Watch,
)
from .naming import OperandWords, variable_names, variable_titles
from .ops import Shape
from .reading.attributes import attributes_of
from .reading.bindings import BoundNames
from .reading.calls import CallTracker
from .reading.nouns import IdTuples, Numbers, OpMaker, entry_of, variable_of
from .state import VersionTracker, writes_state
from .tapes import TapeTracker
from .unread import tensor_of, unread_states
from .values import stats_from

_NO_TAPES: frozenset[TapeId] = frozenset()
"""Each call of ``frozenset()`` makes another one, of 216 bytes (Python 3.10 and later)."""


def read(
    events: Iterable[e.Event], blob: bytes, source: str, filename: str, opened: Sequence[int] = ()
) -> Trace:
    """The trace of a whole recording.

    ``opened``: calls of compiled functions that somebody looks at (:attr:`Op.ran_as`), latest last.
    """
    if not isinstance(events, (Sequence, EventLines)):
        events = list(events)
    chooser = OpeningChooser()
    if not isinstance(events, EventLines) or events.may_run_functions:
        chooser.extend(events)
    return reread(events, source, filename, chooser.choose(opened)).trace(blob, is_kept=False)


def reread(events: Iterable[e.Event], source: str, filename: str, opening: Opening) -> Reader:
    """The reader of a whole recording."""
    reader = Reader(source, filename, opening)
    for event in events:
        reader.feed(event)
    return reader


class Reader:
    """Folds events into a trace, one at a time and in order.

    ``opening``: the calls of compiled functions whose inside is read; by default each first one.
    """

    def __init__(self, source: str, filename: str, opening: Opening | None = None) -> None:
        self._text = SourceText(source)
        self._called = CalledNames(self._text)
        self._facts: dict[str, Any] = {"source": source, "filename": filename}
        self._when = 0
        self._sites: dict[int, Site] = {0: NOWHERE}
        self._tensors: dict[TensorId, Tensor] = {}
        self._alike: dict[tuple[str, Shape, bool, bool], Tensor] = {}
        self._handles: set[TensorId] = set()
        self._places = GrowingMap()
        self._texts: dict[TensorId, tuple[str, ...]] = {}
        self._stats: dict[TensorId, Stats] = {}
        self._samples: dict[TensorId, tuple[int, int, int]] = {}
        self._ops: dict[OpId, Op] = {}
        self._numbers = Numbers()
        self._op_maker = OpMaker(self._numbers)
        self._ids = IdTuples(self._numbers)
        self._producers: dict[TensorId, OpId] = {}
        self._states = VersionTracker()
        self._tapes = TapeTracker()
        self._leaves: list[Leave] = []
        self._caught: list[CaughtError] = []
        self._names = BoundNames(self._ids)
        self._fetched: dict[TensorId, TensorId] = {}
        self._notes: list[str] = []
        self._printed: list[tuple[str, str]] = []
        copy = copying(self._tensors, self._places, self._texts)
        self._bodies = Bodies(self._sites, copy, opening)
        self._functions = Functions(
            self._ops, self._producers, self._states, self._handles, self._bodies
        )
        self._calls = CallTracker(
            self._ids, self._tensors, self._ops, self._bodies, self._functions
        )

    def feed(self, event: e.Event) -> None:
        """Take in the next event."""
        if self._bodies.passes(event):  # nearly all of them
            self._when += 1
            _HANDLERS[type(event)](self, event)
            return
        for located in self._bodies.feed(event):
            self._take(located)
        if isinstance(event, e.BodyTraced) and event.graph:
            self._functions.traced_when[event.graph] = self._when

    @property
    def _now(self) -> int:
        return self._numbers.shared(self._when)

    def _maker_of(self, tensor: TensorId) -> Op | None:
        producer = self._producers.get(tensor)
        return self._ops.get(producer) if producer is not None else None

    def _take(self, located: LocatedEvent) -> None:
        self._when += 1
        if located.within or located.run is not None or located.body:
            self._ran_in_function(located)
        else:
            _HANDLERS[type(located.event)](self, located.event)

    @property
    def has_compiled_calls(self) -> bool:
        """Whether compiled functions were called, so that it matters which calls are opened."""
        return bool(self._functions.functions())

    def trace(self, blob: bytes, is_kept: bool = True) -> Trace:
        """The trace so far; ``blob``: the bytes of values that came with the events.

        ``is_kept``: while more events are fed; else its tables are not copied, and grow with them.
        """
        taken: Callable[[dict[Any, Any]], dict[Any, Any]] = dict if is_kept else _as_it_is
        variables = self._states.variables()
        versions = [version for variable in variables.values() for version in variable.versions]
        ops, tensors = taken(self._ops), taken(self._tensors)
        places = self._places.map(self._functions.copies)
        samples = self._functions.with_copies(taken(self._samples))

        def is_known(tensor: TensorId) -> bool:
            known = tensors.get(tensor)
            return tensor in places or tensor in samples or (known is not None and known.kept)

        unread = unread_states(variables.values(), ops, is_known)
        tensors.update((id_, tensor_of(variables[at.variable])) for id_, at in unread.items())
        names = taken(self._names.tensors)
        titles = variable_titles(self._called, variables, self._maker_of)
        attributes = partial(attributes_of, self._names.bindings, self._text)
        outside = self._names.of_modules
        variable_words = variable_names(variables, names, outside, titles, attributes)
        given = variable_names(variables, names, outside) if titles else {}
        words = OperandWords(self._text, names, variable_words)
        return Trace(
            **self._facts,
            ops=ops,
            tensors=tensors,
            producers=taken(self._producers),
            variables=variables,
            tapes=self._tapes.tapes(self._name_of_tape),
            calls=tuple(self._calls.calls(self._text, words)),
            bindings=tuple(self._names.bindings),
            leaves=tuple(self._leaves),
            caught=tuple(self._caught),
            names=names,
            variable_names=variable_words,
            given_names={variable_words[id_]: given[id_] for id_ in titles},
            traced=self._lines_traced() if is_kept else frozenset(),
            fetched={**self._functions.values(), **self._fetched},
            functions=self._functions.functions(),
            loops=dict(self._functions.loops),
            conditionals=dict(self._functions.conditionals),
            predicates=dict(self._functions.predicates),
            reruns=dict(self._functions.reruns),
            sums=taken(self._calls.sums),
            unread=unread,
            words=self._words_of_values(),
            notes=tuple(self._notes),
            printed=tuple(self._printed),
            blob=blob,
            places=places,
            texts=self._functions.with_copies(taken(self._texts)),
            sent_stats=self._functions.with_copies(taken(self._stats)),
            samples=samples,
            reads={tensor: version for version in versions for tensor in version.reads},
            touches={(op, v.variable): v for v in versions for op in v.touched_by},
            writes={
                version.op: version
                for version in versions
                if version.op in self._ops and writes_state(self._ops[version.op].type)
            },
        )

    def _lines_traced(self) -> frozenset[int]:
        lines = (self._site(site).line for site in self._bodies.graphs.sites)
        return frozenset(line for line in lines if line)

    def _name_of_tape(self, tape: Tape) -> str:
        """In a function that AutoGraph converts no binding is seen: its text is there."""
        return self._names.tapes.get(tape.id) or self._text.opened_name(tape.site.line)

    # One method for each kind of event.

    def _begin(self, event: e.Begin) -> None:
        self._facts["tensorflow"] = event.tensorflow
        self._facts["python"] = event.python
        self._facts["seed"] = event.seed

    def _site_seen(self, event: e.SiteSeen) -> None:
        frames = tuple(StackFrame(*frame) for frame in event.frames)
        caller = self._sites.get(event.caller, NOWHERE)
        self._sites[event.id] = Site(SiteId(event.id), frames + caller.frames)

    def _tensor_seen(self, event: e.TensorSeen) -> None:
        tensor = self._ids.one(event.id)
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
        if located.run is None and not located.body:
            self._states.ran(op, self._handles)
            self._add_op(self._kept_by_tapes(op) if self._may_be_kept(op) else op)
        else:
            self._add_op(self._functions.called(op, located, self._site))

    def _op(self, event: e.OpRan) -> Op:
        inputs, outputs = self._ids.of(event.inputs), self._ids.of(event.outputs)
        site = self._site(event.site)
        return self._op_maker.made(event, inputs, outputs, site, self._when)

    def _op_ran(self, event: e.OpRan) -> None:
        """Hot. The op is made once, with its tapes: to copy it takes longer than all the rest."""
        site = self._site(event.site)
        inputs, outputs = self._ids.of(event.inputs), self._ids.of(event.outputs)
        tapes = _NO_TAPES
        if self._may_be_kept(event):
            tapes = self._recorded(inputs, outputs, site, event.thread)
        op = self._op_maker.made(event, inputs, outputs, site, self._when, tapes)
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
        thread = self._ops[inside[0]].thread if inside else 0
        op = entry_of(event, self._site(event.site), self._when, inside, thread)
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
        handle = self._ids.one(event.id)
        self._handles.add(handle)
        self._states.made(variable_of(event, handle, self._site(event.site), self._now))

    def _tape_opened(self, event: e.TapeOpened) -> None:
        self._tapes.opened(
            Tape(
                TapeId(event.id),
                "",
                event.persistent,
                event.watches_variables,
                self._site(event.site),
                event.kind,
                self._when,
            )
        )

    def _tape_turned(self, event: e.TapeTurned) -> None:
        site = self._site(event.site)
        tape, why = TapeId(event.tape), intern(event.why)
        self._tapes.turned(tape, event.on, why, self._now, site, event.thread)

    def _watched(self, event: e.Watched) -> None:
        site, tape = self._site(event.site), TapeId(event.tape)
        for tensor, tangent in zip_longest(event.tensors, event.tangents, fillvalue=e.NONE):
            seed = self._ids.one(tangent) if tangent else None
            watch = Watch(tape, self._ids.one(tensor), self._now, site, tangent=seed)
            self._tapes.watched(watch)

    def _call_began(self, event: e.CallBegan) -> None:
        self._calls.began(event, self._site(event.site), self._when)

    def _name_bound(self, event: e.NameBound) -> None:
        self._names.bound(event, self._site(event.site), self._now)

    def _value_left(self, event: e.ValueLeft) -> None:
        site = self._site(event.site)
        tensor = self._ids.one(event.tensor)
        leave = Leave(tensor, intern(event.how), site, self._now, event.object)
        self._leaves.append(leave)

    def _error_caught(self, event: e.Caught) -> None:
        site, lines = self._site(event.site), tuple(event.lines)
        caught = CaughtError(intern(event.type), event.message, lines, site, self._now)
        self._caught.append(caught)

    def _session_fetched(self, event: e.SessionFetched) -> None:
        self._fetched.update((TensorId(a), TensorId(b)) for a, b in event.pairs)

    def _printed_text(self, event: e.Printed) -> None:
        self._printed.append((event.stream, event.text))

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
        )
        if "failure" in self._facts:
            self._facts["later_failures"] = (*self._facts.get("later_failures", ()), failure)
        else:
            self._facts["failure"] = failure

    def _noted(self, event: e.Noted) -> None:
        self._notes.append(event.message)

    def _ended(self, event: e.Ended) -> None:
        for located in self._bodies.rest():
            self._take(located)
        self._tapes.ended()
        self._facts["ending"] = Ending(event.how, event.seconds, event.detail)

    def _site(self, site: int) -> Site:
        return self._sites.get(site, NOWHERE)

    def _words_of_values(self) -> dict[TensorId, Word]:
        words = dict(self._functions.words)
        words |= {
            dense: words[rows] for dense, (rows, _) in self._calls.sums.items() if rows in words
        }
        return words


def _as_it_is(known: dict[Any, Any]) -> dict[Any, Any]:
    return known


_HANDLERS: dict[type, Callable[[Reader, Any], None]] = {
    e.Begin: Reader._begin,
    e.SiteSeen: Reader._site_seen,
    e.TensorSeen: Reader._tensor_seen,
    e.OpRan: Reader._op_ran,
    e.OperationRecorded: Reader._operation_recorded,
    e.InsideComputed: lambda reader, event: None,  # read with the call that it is about
    e.Derived: lambda reader, event: reader._functions.derived(event),
    e.VariableMade: Reader._variable_made,
    e.TapeOpened: Reader._tape_opened,
    e.TapeTurned: Reader._tape_turned,
    e.Watched: Reader._watched,
    e.CallBegan: Reader._call_began,
    e.CallEnded: lambda reader, event: reader._calls.ended(event, reader._when),
    e.StepRan: lambda reader, event: reader._calls.stepped(event),
    e.ReplayRan: lambda reader, event: reader._calls.replayed(event),
    e.Checked: lambda reader, event: reader._calls.checked(event),
    e.NameBound: Reader._name_bound,
    e.ValueLeft: Reader._value_left,
    e.Caught: Reader._error_caught,
    e.SessionFetched: Reader._session_fetched,
    e.Printed: Reader._printed_text,
    e.Raised: Reader._raised,
    e.Noted: Reader._noted,
    e.Ended: Reader._ended,
}
