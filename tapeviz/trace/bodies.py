"""Events in, events out: what a compiled function's body does is told where the function runs.

TensorFlow traces the body of a ``tf.function``, a branch or a loop once, and then runs the graph.
The events of the tracing are kept back, and told for each run anew, with that run's tensors in
place of the graph's own inputs and outputs. The first run goes by the names of the tracing; what
happened to tapes in there is told then, and only then. A loop's body is told once for a run.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import NamedTuple

import msgspec

from . import events as e
from .model import Frame, Site, SiteId

CALLS = frozenset({"PartitionedCall", "StatefulPartitionedCall"})
CONDITIONALS = frozenset({"If", "StatelessIf"})
LOOPS = frozenset({"While", "StatelessWhile"})
_BELONGING = (
    *(e.OpRan, e.OperationRecorded, e.BodiesRun, e.TapeOpened, e.TapeTurned, e.Watched),
    *(e.CallBegan, e.CallEnded, e.StepRan, e.NameBound, e.ValueLeft),
)
_OF_BODIES = frozenset({e.BodyTraced, e.BodiesRun})
_NOT_ENDED = e.BodyTraced(on=False)
_OWN_TENSORS = 1 << 40
"""Further runs name their tensors downwards from minus this; the recorder's ids stay far below."""


class Told(NamedTuple):
    """An event to be read now. ``within``: the eager op that runs it inside of a compiled function
    (0: none does); ``body``: of an op that runs bodies the ids of their ops; ``about``: the body of
    the function that it calls."""

    event: e.Event
    within: int = 0
    body: tuple[int, ...] = ()
    about: e.BodyTraced | None = None


@dataclass
class _Body:
    """The events of one graph, and how its tracing ended."""

    begun: e.BodyTraced
    events: list[e.Event] = field(default_factory=list)
    ended: e.BodyTraced = _NOT_ENDED
    has_run: bool = False

    @cached_property
    def returned(self) -> dict[int, int]:
        """What goes through an ``Identity``, by what comes out."""
        return {
            one.outputs[0]: one.inputs[0]
            for one in self.events
            if isinstance(one, e.OpRan) and one.type == "Identity" and one.outputs and one.inputs
        }


@dataclass(slots=True)
class _Run:
    """One run of a body. ``tensors``, ``ops``: its own names, by those of the tracing; ``numbers``:
    of its ops, where it does not go by those of the tracing; ``given``: the graph's inputs;
    ``skipped``: outputs of its that are not made by an op of their own;
    ``traced``, ``called``: where the function was traced and is called now."""

    within: int
    graph: int
    numbers: Iterator[int] | None
    around: _Run | None
    tensors: dict[int, int] = field(default_factory=dict)
    ops: dict[int, int] = field(default_factory=dict)
    given: frozenset[int] = frozenset()
    skipped: set[int] = field(default_factory=set)
    traced: int = 0
    called: int | None = None

    def tensor(self, identity: int) -> int:
        found = self.tensors.get(identity)
        if found is None:
            return self.around.tensor(identity) if self.around is not None else identity
        return found

    def knows(self, identity: int) -> bool:
        return identity in self.tensors or (self.around is not None and self.around.knows(identity))

    def is_given(self, identity: int) -> bool:
        return identity in self.given or (
            self.around is not None and self.around.is_given(identity)
        )


class _Places:
    """The places of the recording, to which those inside of further calls are added."""

    def __init__(self, sites: dict[int, Site]) -> None:
        self._sites = sites
        self._called: dict[tuple[int, int, int], int] = {}

    def called(self, site: int, traced: int, call: int) -> int:
        """A place inside a function that was traced from one place and is called from another."""
        if traced == call:
            return site
        key = (site, traced, call)
        if key not in self._called:
            number = self._called[key] = -len(self._called) - 1
            inside, outer = self._frames(site), self._frames(traced)
            frames = (*inside[: len(inside) - len(outer)], *self._frames(call))
            self._sites[number] = Site(SiteId(number), frames)
        return self._called[key]

    def _frames(self, site: int) -> tuple[Frame, ...]:
        return self._sites[site].frames if site in self._sites else ()


class Bodies:
    """Holds back what belongs to a graph until that graph runs."""

    def __init__(self, sites: dict[int, Site], copy_tensor: Callable[[int, int], None]) -> None:
        self._places = _Places(sites)
        self._copy_tensor = copy_tensor
        self._open: list[_Body] = []
        self._known: dict[int, _Body] = {}
        self._pending: dict[int, e.BodiesRun] = {}
        self._tensor_ids = itertools.count(_OWN_TENSORS)
        self.first_calls: dict[int, int] = {}
        """The eager op that was the first to run a graph."""
        self.values: dict[int, int] = {}
        """A graph's tensor that a function returns → what its first run gave for it."""

    def passes(self, event: e.Event) -> bool:
        """Whether an event is to be read as it is, and at once."""
        return not (self._open or self._pending) and type(event) not in _OF_BODIES

    def feed(self, event: e.Event) -> Iterator[Told]:
        """What is to be read now."""
        if isinstance(event, e.BodyTraced):
            yield from self._turned(event)
        elif self._open and _belongs(event):
            self._open[-1].events.append(event)
        elif isinstance(event, e.BodiesRun):
            if event.call <= 1 or event.first:
                self._pending[event.into] = event
        elif isinstance(event, e.OpRan) and self._is_pending(event):
            yield from self._run(event, self._pending.pop(event.graph))
        else:
            yield Told(event)

    def rest(self) -> Iterator[Told]:
        """What was never run: a function that was only traced."""
        waiting = [one for one in self._known.values() if not one.has_run]
        for body in waiting:
            if body.ended.function:
                yield from (Told(one) for one in body.events if not isinstance(one, e.BodiesRun))

    def _turned(self, event: e.BodyTraced) -> Iterator[Told]:
        if event.on:
            self._open.append(_Body(event))
        elif self._open:
            body = self._open.pop()
            body.ended = event
            if event.graph:
                self._known[event.graph] = body
            elif self._open:
                self._open[-1].events += body.events
            else:
                yield from (Told(one) for one in body.events if not isinstance(one, e.BodiesRun))

    def _is_pending(self, op: e.OpRan) -> bool:
        return op.graph in self._pending and _runs_bodies(op)

    def _run(self, op: e.OpRan, run: e.BodiesRun, around: _Run | None = None) -> Iterator[Told]:
        """The bodies' events, then the op that runs them."""
        bodies = [self._known[one] for one in run.graphs if one in self._known]
        if len(bodies) < len(run.graphs) or not bodies:
            yield Told(op)
            return
        numbers = around.numbers if around is not None else None
        if numbers is None and run.first:
            numbers = iter(range(run.first, op.id))
        runs = [self._begin(op, one, numbers, around) for one in bodies]
        inside: list[int] = []
        for body, one in zip(bodies, runs, strict=True):
            for told in self._events(body, one):
                if isinstance(told.event, (e.OpRan, e.OperationRecorded)):
                    inside.append(told.event.id)
                yield told
        if op.type in CONDITIONALS:
            yield from self._joined(op, bodies, runs)
            return
        number = op.id
        if around is not None:
            number = op.id if around.numbers is None else next(around.numbers)
            around.ops[op.id] = number
        about = bodies[0].ended if bodies[0].ended.function else None
        op = msgspec.structs.replace(op, id=number, graph=runs[0].graph)
        yield Told(op, around.within if around is not None else 0, tuple(inside), about)

    def _begin(
        self, op: e.OpRan, body: _Body, numbers: Iterator[int] | None, around: _Run | None
    ) -> _Run:
        body.has_run = True
        within, graph = (around.within, around.graph) if around else (op.id, op.graph)
        run = _Run(within, graph, numbers, around, traced=body.begun.site)
        if body.ended.function:
            run.called = op.site
        if op.type not in CONDITIONALS:
            run.given = frozenset(body.ended.inputs)
            run.tensors.update(zip(body.ended.inputs, op.inputs, strict=False))
            results = list(zip(body.ended.outputs, op.outputs, strict=False))
            for symbol, value in results:
                if symbol < 0 and symbol not in run.tensors:
                    run.tensors[symbol] = value
                    self._name_returned(body, run, symbol, value)
            if not op.graph and around is None:
                self.first_calls.setdefault(body.ended.graph, op.id)
                self._note_values(body, results)
        return run

    def _name_returned(self, body: _Body, run: _Run, symbol: int, value: int) -> None:
        """What is returned goes through an ``Identity`` (``mark_as_return``), which is left out."""
        behind = body.returned.get(symbol)
        if behind is not None and behind < 0 and behind not in run.tensors:
            run.tensors[behind] = value
            run.skipped.add(symbol)

    def _note_values(self, body: _Body, results: Sequence[tuple[int, int]]) -> None:
        """A graph's tensor that goes through an ``Identity`` only has the value that came out."""
        for symbol, value in results:
            at: int | None = symbol
            while at is not None and at < 0:
                self.values.setdefault(at, value)
                at = body.returned.get(at)

    def _joined(self, op: e.OpRan, bodies: Sequence[_Body], runs: Sequence[_Run]) -> Iterator[Told]:
        """A conditional as one op for each output, which takes what either branch gives.

        Nothing of the condition goes on: it decides what runs, as a Python ``if`` does.
        """
        count, run = len(op.outputs), runs[0]
        ids = run.numbers or iter(range(op.id - max(count, 1) + 1, op.id + 1))
        if not count:
            next(ids, None)
        for index, output in enumerate(op.outputs):
            given = [
                branch.tensor(body.ended.outputs[index])
                for body, branch in zip(bodies, runs, strict=True)
                if index < len(body.ended.outputs)
            ]
            joined = msgspec.structs.replace(
                op, id=next(ids), inputs=given, outputs=[output], graph=run.graph
            )
            yield Told(joined, run.within)

    def _events(self, body: _Body, run: _Run) -> Iterator[Told]:
        """The body's events by the names of a run."""
        pending: e.BodiesRun | None = None
        is_first = run.numbers is None
        for event in body.events:
            if isinstance(event, e.BodiesRun):
                pending = event
            elif isinstance(event, e.OpRan):
                if pending is not None and _runs_bodies(event):
                    named = self._operands(event, run)
                    yield from self._run(named, pending, run)
                    pending = None
                else:
                    yield from self._op(event, run)
            elif is_first or isinstance(event, (e.OperationRecorded, e.NameBound)):
                yield Told(self._renamed(event, run), run.within)

    def _op(self, event: e.OpRan, run: _Run) -> Iterator[Told]:
        number = event.id if run.numbers is None else next(run.numbers)
        run.ops[event.id] = number
        # A small eager tensor is captured as a constant, which is an input all the same.
        if event.type == "Placeholder" or any(run.is_given(one) for one in event.outputs):
            return
        if event.type == "Identity" and not run.skipped.isdisjoint(event.outputs):
            return
        named = self._operands(event, run)
        yield Told(msgspec.structs.replace(named, id=number, graph=run.graph), run.within)

    def _operands(self, event: e.OpRan, run: _Run) -> e.OpRan:
        return msgspec.structs.replace(
            event,
            inputs=[run.tensor(one) for one in event.inputs],
            outputs=[self._made(one, run) for one in event.outputs],
            site=self._site(event.site, run),
        )

    def _made(self, tensor: int, run: _Run) -> int:
        """The name of a tensor that an op of this run makes."""
        if tensor >= 0 or run.numbers is None or run.knows(tensor):
            return run.tensor(tensor)
        run.tensors[tensor] = -next(self._tensor_ids)
        self._copy_tensor(tensor, run.tensors[tensor])
        return run.tensors[tensor]

    def _site(self, site: int, run: _Run) -> int:
        function: _Run | None = run
        while function is not None and function.called is None:
            function = function.around
        if function is None or function.called is None:
            return site
        return self._places.called(site, function.traced, function.called)

    def _renamed(self, event: e.Event, run: _Run) -> e.Event:
        name = run.tensor
        changes: dict[str, object] = {}
        if hasattr(event, "site"):
            changes["site"] = self._site(event.site, run)
        if isinstance(event, e.OperationRecorded):
            number = event.id if run.numbers is None else next(run.numbers)
            changes |= {"id": number, "first": run.ops.get(event.first, event.first)}
            changes["inputs"] = [name(one) for one in event.inputs]
            changes["outputs"] = [name(one) for one in event.outputs]
        elif isinstance(event, e.Watched):
            changes["tensors"] = [name(one) for one in event.tensors]
        elif isinstance(event, e.CallBegan):
            for part in ("targets", "sources", "output_gradients"):
                changes[part] = [
                    msgspec.structs.replace(one, tensor=name(one.tensor))
                    for one in getattr(event, part)
                ]
        elif isinstance(event, e.CallEnded):
            changes["results"] = [name(one) for one in event.results]
        elif isinstance(event, e.StepRan):
            changes["upstream"] = [name(one) for one in event.upstream]
            changes["downstream"] = [name(one) for one in event.downstream]
        elif isinstance(event, e.NameBound):
            changes["tensors"] = [(name(one), keys) for one, keys in event.tensors]
        elif isinstance(event, e.ValueLeft):
            changes["tensor"] = name(event.tensor)
        return msgspec.structs.replace(event, **changes)


def _belongs(event: e.Event) -> bool:
    """Whether an event that came while a graph was made is about that graph."""
    if isinstance(event, e.OpRan):
        return event.graph != 0
    if isinstance(event, e.BodiesRun):
        return event.into != 0
    if isinstance(event, e.OperationRecorded):
        return bool(event.outputs) and event.outputs[0] < 0
    return isinstance(event, _BELONGING)


def _runs_bodies(op: e.OpRan) -> bool:
    return op.type.startswith("__") or op.type in CALLS | CONDITIONALS | LOOPS
