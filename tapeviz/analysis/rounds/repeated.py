"""Reuse the causes of a None that an equal earlier round of a loop had already.

A training loop asks thousands of times at one line, and looking for a cause means walking back
through everything that ran. Two rounds are equal when the same happened at the same places since
the call before, with the same links between ops, names and variables. Then the cause of one is
that of the other, about the ops and tensors that have the same place in it.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property, partial
from typing import TypeVar

from ...trace.calls import Call
from ...trace.ids import CallId, OpId, TapeId, TensorId, VariableId
from ...trace.model import Binding, Leave, Trace
from ...trace.ops import Op
from ..findings import Cause

_Happened = TypeVar("_Happened", Op, Binding, Leave)
_Noted = TypeVar("_Noted", Binding, Leave)


@dataclass(frozen=True, slots=True)
class _Round:
    """``key``: digest of what equal rounds share; ``ops``: those that ran since the call before."""

    key: int
    ops: Sequence[Op]
    causes: dict[int, tuple[Cause, ...]] = field(default_factory=dict)
    """The causes that were found, by the place of the source in the call."""


class RepeatedCalls:
    """Remembers the causes of one round of each kind."""

    def __init__(self, trace: Trace, calls: Sequence[Call]) -> None:
        self._trace = trace
        self._calls = sorted(call.when for call in calls)
        places = Counter((call.site.id, call.method) for call in calls)
        self._repeated = {place for place, count in places.items() if count > 1}
        """The (site, method) of calls that may have an equal one."""
        entries = [op for op in trace.ops.values() if op.runs and op.within is None]
        entries.sort(key=lambda op: op.when)
        opened = (op for op in entries if op.inside is not None)
        self._opened = {tape for op in opened for tape in op.tapes}
        self._insides = [
            (trace.ops[op.body[0]].when, op.when)
            for op in entries
            if op.body and op.body[0] in trace.ops
        ]
        self._compiled: dict[TapeId, set[tuple[int, int]]] = {}
        for op in entries:
            for tape in op.tapes:
                self._compiled.setdefault(tape, set()).add((op.runs, op.site.id))
        self._inner: dict[object, tuple[Cause, ...]] = {}
        self._asked: dict[CallId, int] = {}
        self._stretches: dict[int, tuple[Sequence[Op], int]] = {}
        self._known: dict[int, _Round] = {}
        self._latest: tuple[Call, _Round] | None = None
        self._matched: tuple[_Round, Mapping[OpId, Op]] | None = None
        """The round that is asked about, and its ops by those of the equal one that is known."""

    @cached_property
    def _ops(self) -> Sequence[Op]:
        """The ops in the order in which they ran. Some calls of a function are opened and others
        are not, which is no difference: ops inside of them are left out."""
        outer = [op for op in self._trace.ops.values() if op.within is None]
        return sorted(outer, key=lambda op: op.when)

    @cached_property
    def _places(self) -> Mapping[OpId, int]:
        return {op.id: place for place, op in enumerate(self._ops)}

    def causes(self, call: Call, source: int) -> tuple[Cause, ...] | None:
        """The causes of an equal round's None, about this round's ops; None: there was no such."""
        if not self._may_repeat(call):
            return None
        this = self._round(call)
        known = self._known.get(this.key)
        if known is None or source not in known.causes:
            return None
        if self._matched is None or self._matched[0] is not this:  # once for all sources
            pairs = zip(known.ops, this.ops, strict=True)
            self._matched = this, {old.id: new for old, new in pairs}
        there = self._matched[1]
        moved = [self._moved(cause, there) for cause in known.causes[source]]
        return tuple(cause for cause in moved if cause is not None) if all(moved) else None

    def inner_causes(self, call: Call, source: int, status: str) -> tuple[Cause, ...] | None:
        """The causes inside of a compiled function, if the call went through one that is not
        opened here but is in another round; None: nothing like that is known."""
        return (
            None if self._is_opened(call) else self._inner.get(self._traces(call, source, status))
        )

    def _traces(self, call: Call, source: int, status: str) -> object:
        """The key that rounds share which went through the same traces of functions."""
        ran = self._compiled.get(call.tape, set()) if call.tape is not None else set()
        if call.id not in self._asked:  # not for each source anew
            self._asked[call.id] = hash(
                tuple(operand.text for operand in (*call.targets, *call.sources))
            )
        return (call.site.id, call.method, source, status, self._asked[call.id], frozenset(ran))

    def remember(self, call: Call, source: int, status: str, causes: tuple[Cause, ...]) -> None:
        """A cause that only the values betrayed is not kept: those of another round differ."""
        if not self._may_repeat(call):
            return
        if causes and self._is_inside(causes[0]):
            moved = tuple(replace(cause, links=()) for cause in causes)
            self._inner.setdefault(self._traces(call, source, status), moved)
        if status == "none" and not any(cause.is_probable for cause in causes):
            this = self._round(call)
            self._known.setdefault(this.key, this).causes[source] = causes

    def best_first(self, calls: Sequence[Call]) -> list[Call]:
        """The calls in an order in which those come first whose causes tell most: those of which
        the inside of a compiled function is known."""
        return sorted(calls, key=lambda call: not self._is_opened(call))

    def _may_repeat(self, call: Call) -> bool:
        return (call.site.id, call.method) in self._repeated

    def _is_opened(self, call: Call) -> bool:
        return call.tape in self._opened

    def _round(self, call: Call) -> _Round:
        if self._latest is None or self._latest[0] is not call:
            self._latest = call, self._read(call)
        return self._latest[1]

    def _read(self, call: Call) -> _Round:
        place = bisect_left(self._calls, call.when)
        ops, ran = self._stretch(place)
        known = partial(self._known_as, place)
        tape = self._trace.tape(call.tape)
        facts = (
            (tape.site.id, len(tape.watches), *((i.why_start, i.why_end) for i in tape.intervals))
            if tape is not None
            else ()
        )
        asked = tuple(
            (operand.text, known(operand.tensor)) for operand in (*call.targets, *call.sources)
        )
        gave = tuple(result is None for result in call.results)
        before = self._stretch(place - 1)[1] if place else 0
        key = (call.site.id, call.method, len(ops), facts, asked, gave, ran, before)
        return _Round(hash(key), ops)  # asked for each source: not all of them hashed again

    def _stretch(self, place: int) -> tuple[Sequence[Op], int]:
        """The ops between two calls, and a digest of what happened there."""
        if place not in self._stretches:
            since, until = (self._calls[place - 1] if place else 0), self._calls[place]
            ops, known = _between(self._ops, since, until), partial(self._known_as, place)
            ran = tuple(
                (op.type, op.site.id, op.paused, len(op.tapes), *map(known, _taken(op)))
                for op in ops
            )
            bound = tuple(
                (binding.name, binding.site.id, *(known(tensor) for tensor, _ in binding.tensors))
                for binding in self._outer(self._trace.bindings, since, until)
            )
            left = tuple(
                (leave.how, leave.site.id, known(leave.tensor))
                for leave in self._outer(self._trace.leaves, since, until)
            )
            self._stretches[place] = ops, hash((ran, bound, left))
        return self._stretches[place]

    def _outer(self, happened: Sequence[_Noted], since: int, until: int) -> Iterator[_Noted]:
        """Events between two times, without those inside of a call that is opened."""
        for event in _between(happened, since, until):
            at = bisect_right(self._insides, event.when, key=lambda inside: inside[0]) - 1
            if at < 0 or event.when >= self._insides[at][1]:
                yield event

    def _known_as(self, place: int, tensor: TensorId | None) -> object:
        """A tensor by how far back it was made, if that is no more than a stretch ago.

        An older one and a variable by itself. Constants come anew in each round: a batch is one.
        """
        if tensor is None:
            return None
        made = self._trace.producers.get(tensor)
        made = self._trace.ops[made].within or made if made is not None else None
        if made is None:
            return ("lasting", tensor) if VariableId(tensor) in self._trace.variables else ""
        at, op = self._places[made], self._trace.ops[made]
        if place > 1 and op.when < self._calls[place - 2]:
            return ("lasting", tensor)
        start = self._calls[place - 1] if place else 0
        first = bisect_left(self._ops, start, key=lambda op: op.when)
        return at - first, op.outputs.index(tensor) if tensor in op.outputs else -1

    def _moved(self, cause: Cause, there: Mapping[OpId, Op]) -> Cause | None:
        """The cause in another round; None where it is about an op of yet another round."""
        if self._is_inside(cause):
            return replace(cause, links=())
        about = {op for _, op in cause.links} | ({cause.op_id} if cause.op_id else set())
        elsewhere = [self._trace.ops[op] for op in about - there.keys() if op is not None]
        if any(op.when >= self._calls[0] for op in elsewhere):
            return None
        links = tuple(
            (_tensor_there(tensor, self._trace.ops[op], there[op]), there[op].id)
            if op in there
            else (tensor, op)
            for tensor, op in cause.links
        )
        here = there.get(cause.op_id) if cause.op_id is not None else None
        op_id = here.id if here is not None else cause.op_id
        return replace(cause, op_id=op_id, links=links)

    def _is_inside(self, cause: Cause) -> bool:
        """Whether it is about an op inside of a compiled function: of the round that is opened."""
        op = self._trace.op(cause.op_id)
        return op is not None and op.within is not None


def _between(happened: Sequence[_Happened], since: int, until: int) -> Sequence[_Happened]:
    first = bisect_left(happened, since, key=lambda event: event.when)
    return happened[first : bisect_left(happened, until, key=lambda event: event.when)]


def _taken(op: Op) -> Sequence[TensorId]:
    """The inputs of an op; a backward pass takes what forward ops gave, at its place or before."""
    return op.inputs if op.call is None else ()


def _tensor_there(tensor: TensorId | None, op: Op, other: Op) -> TensorId | None:
    """The input of the other op in the place that this one has in its op."""
    if tensor is None or tensor not in op.inputs:
        return tensor
    return other.inputs[op.inputs.index(tensor)]
