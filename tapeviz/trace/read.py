"""Read events and the blob of values as a :class:`~tapeviz.trace.model.Trace`.

:class:`Reader` can be fed while the snippet still runs; :meth:`Reader.trace` is a snapshot.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from sys import intern
from typing import Any

from ..text.called_names import CalledNames
from ..text.source import SourceText
from . import events as e
from .columns import NumberMap
from .compiled.bodies import Bodies
from .compiled.expansion import LocatedEvent
from .compiled.functions import Functions, copying
from .compiled.model import Word
from .compiled.opening import Opening, choose
from .lines import EventLines
from .model import (
    NOWHERE,
    Binding,
    Call,
    CallId,
    Check,
    Ending,
    Failure,
    Leave,
    Op,
    OpId,
    Replay,
    Site,
    SiteId,
    StackFrame,
    Stats,
    Step,
    Tape,
    TapeId,
    Tensor,
    TensorId,
    Trace,
    VariableId,
    Watch,
)
from .naming import OperandWords, variable_names, variable_titles
from .nouns import IdTuples, Numbers, OpMaker, call_of, entry_of, variable_of
from .ops import Shape
from .state import VersionTracker, writes_state
from .tapes import TapeTracker
from .values import stats_from

_DENSE = 1 << 60
"""Taken from the id of a graph's IndexedSlices, it gives that of the dense tensor."""
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
    return reread(events, source, filename, opened).trace(blob, is_last=True)


def reread(
    events: Sequence[e.Event] | EventLines,
    source: str,
    filename: str,
    opened: Sequence[int] = (),
) -> Reader:
    """The reader of a whole recording; see :func:`read`."""
    has_functions = not isinstance(events, EventLines) or events.may_run_functions
    opening = choose(events, opened) if has_functions else Opening()
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
        self._places: dict[TensorId, int] = {}
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
        self._calls: dict[CallId, Call] = {}
        self._begun: dict[CallId, e.CallBegan] = {}
        self._steps: dict[CallId, list[Step]] = {}
        self._sums: dict[TensorId, tuple[TensorId, TensorId]] = {}
        self._bindings: list[Binding] = []
        self._leaves: list[Leave] = []
        self._names: dict[TensorId, tuple[str, ...]] = {}
        self._known_names: dict[tuple[str, ...], tuple[str, ...]] = {}
        """Each combination of names once: in a loop many tensors have the same."""
        self._tape_names: dict[TapeId, str] = {}
        self._module_names: set[str] = set()
        self._fetched: dict[TensorId, TensorId] = {}
        self._notes: list[str] = []
        self._printed: list[tuple[str, str]] = []
        copy = copying(self._tensors, self._places, self._texts)
        self._bodies = Bodies(self._sites, copy, opening)
        self._functions = Functions(
            self._ops, self._producers, self._states, self._handles, self._bodies
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

    def trace(self, blob: bytes, is_last: bool = False) -> Trace:
        """The trace so far; ``blob``: the bytes of values that came with the events.

        ``is_last``: nothing is fed any more, so nothing has to be copied.
        """
        taken: Callable[[dict[Any, Any]], dict[Any, Any]] = _as_it_is if is_last else dict
        variables = self._states.variables()
        versions = [version for variable in variables.values() for version in variable.versions]
        names = taken(self._names)
        titles = variable_titles(self._called, variables, self._maker_of)
        variable_words = variable_names(variables, names, self._module_names, titles)
        given = variable_names(variables, names, self._module_names) if titles else {}
        words = OperandWords(self._text, names, variable_words)
        ran = self._bodies.calls()
        return Trace(
            **self._facts,
            ops=taken(self._ops),
            tensors=taken(self._tensors),
            producers=taken(self._producers),
            variables=variables,
            tapes={
                # In a function that AutoGraph converts no binding is seen: its text is there.
                tape: replace(
                    known,
                    name=self._tape_names.get(tape) or self._text.opened_name(known.site.line),
                )
                for tape, known in self._tapes.tapes().items()
            },
            calls=tuple(self._worded(call, words, ran) for call in self._calls.values()),
            bindings=tuple(self._bindings),
            leaves=tuple(self._leaves),
            names=names,
            variable_names=variable_words,
            given_names={variable_words[id_]: given[id_] for id_ in titles},
            fetched={**self._functions.values(), **self._fetched},
            functions=self._functions.functions(),
            loops=dict(self._functions.loops),
            conditionals=dict(self._functions.conditionals),
            predicates=dict(self._functions.predicates),
            sums=taken(self._sums),
            words=self._words_of_values(),
            notes=tuple(self._notes),
            printed=tuple(self._printed),
            blob=blob,
            places=NumberMap.of(self._functions.with_copies(taken(self._places))),
            texts=self._functions.with_copies(taken(self._texts)),
            sent_stats=self._functions.with_copies(taken(self._stats)),
            samples=self._functions.with_copies(taken(self._samples)),
            reads={tensor: version for version in versions for tensor in version.reads},
            touches={(op, v.variable): v for v in versions for op in v.touched_by},
            writes={
                version.op: version
                for version in versions
                if version.op in self._ops and writes_state(self._ops[version.op].type)
            },
        )

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
            self._places[tensor] = event.at
        if event.text is not None:
            self._texts[tensor] = tuple(event.text)
        if event.stats is not None:
            self._stats[tensor] = stats_from(event.stats)
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
        if located.within:
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
        self._tapes.turned(TapeId(event.tape), event.on, event.why, self._when, site, event.thread)

    def _watched(self, event: e.Watched) -> None:
        for tensor in event.tensors:
            site = self._site(event.site)
            watch = Watch(TapeId(event.tape), self._ids.one(tensor), self._now, site)
            self._tapes.watched(watch)

    def _call_began(self, event: e.CallBegan) -> None:
        self._begun[CallId(event.id)] = event
        call = call_of(event, self._site(event.site), self._when)
        self._calls[call.id] = call

    def _call_ended(self, event: e.CallEnded) -> None:
        call = CallId(event.call)
        if call in self._calls:
            results = list(event.results)
            for place, numbers, count in event.slices:
                results[place] = self._dense(call, results[place], numbers, count)
            self._calls[call] = replace(
                self._calls[call],
                results=self._ids.or_none(results),
                ended=not event.error,
                error=event.error,
                end=self._when,
            )

    def _dense(self, call: CallId, rows: int, numbers: int, count: int) -> int:
        """The id of the dense tensor for IndexedSlices that a gradient call in a graph returned."""
        known = self._tensors.get(self._ids.one(rows))
        # NumPy adds no bfloat16.
        if known is None or known.shape is None or known.dtype == "bfloat16":
            return rows
        dense = self._ids.one(rows - _DENSE)
        self._tensors[dense] = Tensor((known.dtype, (count, *known.shape[1:])))
        self._sums[dense] = self._ids.one(rows), self._ids.one(numbers)
        steps = self._steps.get(call, [])
        for at, step in enumerate(steps):
            upstream, downstream = (
                tuple(dense if each == rows else each for each in given)
                for given in (step.upstream, step.downstream)
            )
            steps[at] = Step(step.index, step.op, step.type, upstream, downstream, step.error)
        return dense

    def _step_ran(self, event: e.StepRan) -> None:
        call = self._calls.get(CallId(event.call))
        if call is not None:
            steps = self._steps.setdefault(call.id, [])
            op = self._ops.get(OpId(event.op))
            step = Step(
                len(steps),
                op.id if op is not None else OpId(event.op) if event.op else None,
                intern(event.type),
                self._ids.or_none(event.upstream),
                self._ids.or_none(event.downstream),
            )
            steps.append(step)

    def _asked_about(self, event: e.ReplayRan | e.Checked) -> Call | None:
        """The gradient call that an answer is about; None if it is about another run of it than the
        one whose inside is in the trace."""
        if event.within and event.within != self._bodies.emitted_run(event.call):
            return None
        return self._calls.get(CallId(event.call))

    def _replay_ran(self, event: e.ReplayRan) -> None:
        call = self._asked_about(event)
        if call is None:
            return
        results = {key: TensorId(tensor) for key, tensor in event.results.items()}
        if event.share:
            shares = {**call.shares, tuple(event.share): results}
            self._calls[call.id] = replace(call, shares=shares)
            return
        if event.how == "beyond":
            self._calls[call.id] = replace(call, beyond=results)
            return
        if event.how:
            self._calls[call.id] = replace(call, estimates=results)
            return
        steps = tuple(
            Step(
                index,
                OpId(step.op),
                self._ops[OpId(step.op)].type if OpId(step.op) in self._ops else "",
                self._ids.or_none(step.upstream),
                self._ids.or_none(step.downstream),
                step.error,
            )
            for index, step in enumerate(event.steps)
        )
        self._calls[call.id] = replace(call, replay=Replay(steps, results))

    def _checked(self, event: e.Checked) -> None:
        call = self._asked_about(event)
        if call is None:
            return
        check, source = Check(event.error, event.agrees, event.words), TensorId(event.source)
        if event.op is None:
            call = replace(call, checks={**call.checks, source: check})
        else:
            call = replace(call, doubts={**call.doubts, (OpId(event.op), source): check})
        self._calls[call.id] = call

    def _name_bound(self, event: e.NameBound) -> None:
        name = intern(event.name)
        words = [name + "".join(f"[{key!r}]" for key in keys) for _, keys in event.tensors]
        tensors = self._ids.of([tensor for tensor, _ in event.tensors])
        bound = tuple(zip(tensors, words, strict=True))
        site = self._site(event.site)
        if tensors and site.frames and not site.frames[0].function.isidentifier():
            self._module_names.add(name)
        self._bindings.append(Binding(name, site, self._now, bound, event.value, event.object))
        if event.tape:
            self._tape_names.setdefault(TapeId(event.tape), event.name)
        for tensor, word in bound:
            names = self._names.get(tensor, ())
            if word not in names:
                names = (*names, word)
                self._names[tensor] = self._known_names.setdefault(names, names)

    def _value_left(self, event: e.ValueLeft) -> None:
        site = self._site(event.site)
        tensor = self._ids.one(event.tensor)
        leave = Leave(tensor, intern(event.how), site, self._now, event.object)
        self._leaves.append(leave)

    def _session_fetched(self, event: e.SessionFetched) -> None:
        self._fetched.update((TensorId(a), TensorId(b)) for a, b in event.pairs)

    def _printed_text(self, event: e.Printed) -> None:
        self._printed.append((event.stream, event.text))

    def _raised(self, event: e.Raised) -> None:
        frames = tuple(event.frames)
        failure = Failure(
            event.type, event.message, event.line, event.traceback, frames, event.folder
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
        self._facts["ending"] = Ending(event.how, event.seconds, event.detail)

    def _site(self, site: int) -> Site:
        return self._sites.get(site, NOWHERE)

    def _words_of_values(self) -> dict[TensorId, Word]:
        words = dict(self._functions.words)
        words |= {dense: words[rows] for dense, (rows, _) in self._sums.items() if rows in words}
        return words

    def _worded(self, call: Call, words: OperandWords, ran: Mapping[int, tuple[int, int]]) -> Call:
        """The call with the snippet's words for its operands, and how often its function ran."""
        call = self._functions.of_graph(call, ran)
        event = self._begun[call.id]
        node = None
        if call.is_direct and call.site.frames:
            node = self._text.call_at(call.site.frames[0].span, call.method)
        targets = self._text.operands(node, "target")
        sources = self._text.operands(node, "sources")
        if call.method == "jvp":  # is given outputs; the accumulator knows its primals
            targets, sources = None, targets
        return replace(
            call,
            steps=tuple(self._steps.get(call.id, ())),
            targets=tuple(words.operand(target, targets) for target in event.targets),
            sources=tuple(words.operand(source, sources) for source in event.sources),
            output_gradients=tuple(
                words.operand(operand, None) for operand in event.output_gradients
            ),
        )


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
    e.CallEnded: Reader._call_ended,
    e.StepRan: Reader._step_ran,
    e.ReplayRan: Reader._replay_ran,
    e.Checked: Reader._checked,
    e.NameBound: Reader._name_bound,
    e.ValueLeft: Reader._value_left,
    e.SessionFetched: Reader._session_fetched,
    e.Printed: Reader._printed_text,
    e.Raised: Reader._raised,
    e.Noted: Reader._noted,
    e.Ended: Reader._ended,
}
