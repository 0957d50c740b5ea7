"""Make the events of the inside of an opened call, under names of its own.

What was computed again in this call goes by the ids of that: a tensor by the id of its value, an op
by the number that a replay knows it by. The others get ids that are made of the call's own number:
they stay the same when another call is opened.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator, Mapping, Sequence

import msgspec

from .. import events as e
from ..ids import OpId, TensorId
from .located import LocatedEvent, UntakenInputs
from .model import Loop
from .rerun_ops import DrawnOp, OpPath, Place, Turns
from .scopes import GraphScope, InlinedSites, RerunValues, TurningLoop
from .traced_graphs import CONDITIONALS, LOOPS, TracedGraph, runs_graphs

_FIRST = 1 << 48
_PER_CALL = 20
"""Bits for the ops, and for the tensors, of one call."""


class Expansion:
    """Emits the events of the inside of one call.

    ``graphs``: all that were traced; ``emits_calls``: whether the gradient calls of a graph are
    emitted with this call; ``copy_tensor(tensor, name)``: gives a graph's tensor another id.
    """

    def __init__(
        self,
        graphs: Mapping[int, TracedGraph],
        places: InlinedSites,
        copy_tensor: Callable[[int, int], None],
        emits_calls: Callable[[int], bool],
        inside: e.InsideComputed | None,
    ) -> None:
        self.words: dict[int, str] = {}
        self.copies: dict[int, int] = {}
        self._graphs = graphs
        self._places = places
        self._copy_tensor = copy_tensor
        self._emits_calls = emits_calls
        self.drawn: dict[Place, list[DrawnOp]] = {}
        """The ops of the call that have a number by which a replay knows them."""
        self._calls: dict[int, Place] = {}
        """Where ops of this call that run graphs stand, by their numbers."""
        self._values = RerunValues(inside)
        self._has_values = inside is not None
        self._named: set[int] = set()
        self._call = 0
        self._ran_as = 0
        self._thread = 0
        self._within = 0
        self._into = 0
        self._op_ids = self._tensor_ids = itertools.count()
        self._left_out: list[GraphScope] = []

    def run(self, op: e.OpRan, run: e.BodiesRun, within: int = 0) -> Iterator[LocatedEvent]:
        """The events of the inside of ``op``, then the op itself. ``within``: the op that stands
        for it, if that is another one."""
        self._ran_as, self._within, self._into = op.id, within or op.id, op.graph
        self._thread = op.thread
        first = _FIRST + (op.id << _PER_CALL)
        self._op_ids, self._tensor_ids = itertools.count(first), itertools.count(first)
        yield from self._run(op, run, None)

    def left_out(self) -> Iterator[LocatedEvent]:
        """After :meth:`run`: the events of branches that did not run and ask for gradients, whose
        calls are emitted with this one. They name what is outside of the branch as the run did."""
        for scope in self._left_out:
            for located in self._events(scope):
                yield located._replace(within=0)

    def _run(
        self, op: e.OpRan, run: e.BodiesRun, around: GraphScope | None
    ) -> Iterator[LocatedEvent]:
        numbers = [graph for graph in run.graphs if graph in self._graphs]
        turn, runs_none = 0, False
        path = ((*around.names, op.name), around.turns) if around is not None else None
        if path is not None and op.type in LOOPS:
            count = self._values.counts.get(path)
            turn, runs_none = max((count or 1) - 1, 0), count == 0
        if runs_none or len(numbers) < len(run.graphs) or not numbers:
            yield self._alone(op, around)._replace(predicate=self._deciding(op, run))
            return
        branch = self._values.branches.get(path) if path is not None else None
        if path is not None and len(self._values.taken.get(path[0], ())) > 1:
            branch = None  # of a loop that takes one in this turn and the other in that: both
        skipped, first = None, 0
        if op.type in CONDITIONALS and branch is not None and around is not None:
            skipped, first = self._skipped(numbers, branch, around), branch
            for which, number in enumerate(numbers):
                if which != branch and self._graphs[number].asks:
                    self._left_out.append(self._begin(op, number, around, turn, which, run.given))
            numbers = numbers[branch : branch + 1]
        scopes = [
            self._begin(op, number, around, turn, which, run.given)
            for which, number in enumerate(numbers, first)
        ]
        inside: list[int] = []
        for scope in scopes:
            for located in self._events(scope):
                if isinstance(located.event, (e.OpRan, e.OperationRecorded)):
                    inside.append(located.event.id)
                yield located
            self._note_turns(scope)
        if op.type in CONDITIONALS:
            for joined in self._joined(op, scopes, around):
                yield joined._replace(skipped=skipped)
            return
        located = self._alone(op, around)
        loop = None
        if scopes[0].loop is not None and op.type in LOOPS:
            loop = self._loop(located.event, op, run.given or op.inputs, scopes[0], inside, path)
        deciding = self._deciding(op, run)
        yield located._replace(body=tuple(inside), loop=loop, predicate=deciding)

    def _deciding(self, op: e.OpRan, run: e.BodiesRun) -> Sequence[int]:
        """The values by which a loop goes on: those it is given, and those a turn hands on."""
        condition = self._graphs.get(run.condition)
        places = condition.deciding_inputs if condition is not None else ()
        return [side[at] for at in places for side in (op.inputs, op.outputs) if at < len(side)]

    def _skipped(self, numbers: Sequence[int], taken: int, around: GraphScope) -> UntakenInputs:
        """The tensors from outside that only the branch which did not run takes."""
        used = {
            tensor
            for event in self._graphs[numbers[taken]].events
            if isinstance(event, e.OpRan)
            for tensor in event.inputs
        }
        lines: dict[TensorId, int] = {}
        for number in (*numbers[:taken], *numbers[taken + 1 :]):
            ops = list(self._ops_of_branch(number))
            made = {tensor for op in ops for tensor in op.outputs}
            for op in ops:
                for tensor in set(op.inputs) - made - used:
                    line = self._places.line(op.site)
                    lines.setdefault(TensorId(around.tensor(tensor)), line)
        return UntakenInputs(taken, lines)

    def _ops_of_branch(self, number: int) -> Iterator[e.OpRan]:
        """The ops of a graph. In place of a conditional in it, which takes what its branches take,
        those of its branches."""
        pending: e.BodiesRun | None = None
        for event in self._graphs[number].events:
            if isinstance(event, e.BodiesRun):
                pending = event
            elif isinstance(event, e.OpRan):
                inner = pending.graphs if pending is not None and runs_graphs(event) else ()
                is_known = inner and all(graph in self._graphs for graph in inner)
                if event.type in CONDITIONALS and is_known:
                    for graph in inner:
                        yield from self._ops_of_branch(graph)
                else:
                    yield event
                pending = None if runs_graphs(event) else pending

    def _alone(self, op: e.OpRan, around: GraphScope | None) -> LocatedEvent:
        """The event of an op that runs graphs; it comes after the events of those graphs."""
        if around is None:
            return LocatedEvent(op)
        number = self._number(op, around)
        renamed = msgspec.structs.replace(op, id=number, graph=self._into)
        return LocatedEvent(renamed, self._within, op.id, around.number)

    def _begin(
        self,
        op: e.OpRan,
        number: int,
        around: GraphScope | None,
        turn: int,
        branch: int,
        given: Sequence[int],
    ) -> GraphScope:
        """Begin a run of a graph; ``given``: the tensors that it takes, 0 for an element of a
        dataset, if they are not those of the op."""
        graph = self._graphs[number]
        scope = GraphScope(number, graph, around, emits_calls=self._emits_calls(number))
        if around is not None:
            scope.names, turns = (*around.names, op.name), around.turns
            if op.type in CONDITIONALS:
                turns = self._values.latest(scope.names, branch, turns)
            scope.turns = (*turns, turn)
            scope.branches = (*around.branches, branch if op.type in CONDITIONALS else 0)
            scope.loop = around.loop
        if op.type in LOOPS:
            at = (*(scope.loop.at if scope.loop is not None else ()), len(scope.turns) - 1)
            scope.loop = TurningLoop(at)
        if graph.ended.function:
            scope.called = op.site
        if op.type not in CONDITIONALS:
            scope.given = frozenset(graph.ended.inputs)
            taken = zip(graph.ended.inputs, given or op.inputs, strict=False)
            scope.tensors.update((symbol, value) for symbol, value in taken if value)
            for symbol, value in zip(graph.ended.outputs, op.outputs, strict=False):
                if symbol < 0 and symbol not in scope.tensors:
                    scope.tensors[symbol] = value
                    self._name_returned(scope, symbol, value)
        self._named.update((*op.inputs, *op.outputs[: len(graph.ended.outputs)]))
        self._name_values(scope)
        return scope

    @staticmethod
    def _name_returned(scope: GraphScope, symbol: int, value: int) -> None:
        """Name a returned value without its ``Identity`` (``mark_as_return``)."""
        behind = scope.graph.returned.get(symbol)
        if behind is not None and behind < 0 and behind not in scope.tensors:
            scope.tensors[behind] = value
            scope.skipped.add(symbol)

    def _name_values(self, scope: GraphScope) -> None:
        """Let the graph's tensors go by the ids of their values in this call."""
        values = self._values.at.get(scope.names, {}).get(scope.turns, {})
        for symbol, (tensor, word) in values.items():
            if symbol in scope.tensors or not tensor:
                continue
            name = tensor
            if tensor in self._named:
                name = -next(self._tensor_ids)
                self.copies[name] = tensor
            self._named.add(name)
            self._copy_tensor(symbol, name)
            scope.tensors[symbol] = name
            if word != "exact":
                self.words[name] = word

    def _joined(
        self, op: e.OpRan, scopes: Sequence[GraphScope], around: GraphScope | None
    ) -> Iterator[LocatedEvent]:
        """A conditional as one op for each output, which takes what the branch that ran gives.

        Where that is not known it takes what either gives. Nothing of the predicate goes on: it
        decides what runs, as a Python ``if`` does.
        """
        for index, output in enumerate(op.outputs):
            given = [
                scope.tensor(scope.graph.ended.outputs[index])
                for scope in scopes
                if index < len(scope.graph.ended.outputs)
            ]
            number = self._number(op, around)
            if around is None and index == len(op.outputs) - 1:
                number = op.id  # by which a gradient call of the same graph knows it
            joined = msgspec.structs.replace(
                op, id=number, inputs=given, outputs=[output], graph=self._into
            )
            traced = around.number if around is not None else 0
            located = LocatedEvent(joined, self._within, op.id, traced)
            yield located._replace(predicate=op.inputs[:1], whole=(op.inputs, op.outputs))

    def _note_turns(self, scope: GraphScope) -> None:
        """Note in the loop around a graph's run its tensors of each turn."""
        if scope.loop is None:
            return
        for turns, values in self._values.at.get(scope.names, {}).items():
            key = tuple(turns[at] for at in scope.loop.at)
            tensors = scope.loop.tensors.setdefault(key, {})
            for symbol, (tensor, _) in values.items():
                if tensor and scope.knows(symbol):
                    tensors[TensorId(scope.tensor(symbol))] = TensorId(tensor)

    def _loop(
        self,
        event: e.Event,
        op: e.OpRan,
        given: Sequence[int],
        scope: GraphScope,
        inside: Sequence[int],
        path: tuple[OpPath, Turns] | None,
    ) -> Loop:
        assert isinstance(event, e.OpRan)
        assert scope.loop is not None
        return Loop(
            OpId(event.id),
            tuple(map(OpId, inside)),
            tuple((TensorId(a), TensorId(b)) for a, b in zip(given, op.outputs, strict=False)),
            self._values.counts.get(path) if path is not None else None,
            scope.loop.tensors,
        )

    def _events(self, scope: GraphScope) -> Iterator[LocatedEvent]:
        """The graph's events by the names of this run."""
        pending: e.BodiesRun | None = None
        for event in scope.graph.events:
            if isinstance(event, e.BodiesRun):
                pending = event
            elif isinstance(event, e.OpRan):
                if pending is not None and runs_graphs(event):
                    given = [scope.tensor(tensor) for tensor in pending.given]
                    run = msgspec.structs.replace(pending, given=given)
                    yield from self._run(self._operands(event, scope), run, scope)
                    pending = None
                else:
                    yield from self._op(event, scope)
            elif isinstance(event, e.OperationRecorded):
                traced = range(event.first, event.id) if event.first else ()
                inside = tuple(scope.ops[number] for number in traced if number in scope.ops)
                renamed = self._renamed(event, scope)
                place = self._calls.get(scope.ops.get(event.first, 0))
                if place is not None:  # it is the tape's entry for that call
                    called = self.drawn[place][0]
                    self.drawn[place].append(called._replace(op=OpId(scope.ops[event.id])))
                yield LocatedEvent(renamed, self._within, event.id, scope.number, inside)
            elif scope.emits_calls or isinstance(event, e.NameBound):
                yield LocatedEvent(self._renamed(event, scope), self._within)

    def _op(self, event: e.OpRan, scope: GraphScope) -> Iterator[LocatedEvent]:
        number = self._number(event, scope)
        # A small eager tensor is captured as a constant, which is an input all the same.
        if event.type == "Placeholder" or any(scope.is_given(tensor) for tensor in event.outputs):
            return
        if event.type == "Identity" and not scope.skipped.isdisjoint(event.outputs):
            return
        named = self._operands(event, scope)
        renamed = msgspec.structs.replace(named, id=number, graph=self._into)
        yield LocatedEvent(renamed, self._within, event.id, scope.number)

    def _number(self, op: e.OpRan, scope: GraphScope | None) -> int:
        """The number of an op in this call: the one that a replay knows it by, if there is one."""
        if scope is None:
            return next(self._op_ids)
        names = (*scope.names, op.name)
        known = self._values.numbers.get((names, scope.turns))
        number = scope.ops[op.id] = known.popleft() if known else next(self._op_ids)
        if self._has_values:
            loops = scope.loop.at if scope.loop is not None else ()
            place = Place(names, scope.branches)
            self.drawn.setdefault(place, []).append(DrawnOp(OpId(number), scope.turns, loops))
            if runs_graphs(op):
                self._calls[number] = place
        return number

    def _operands(self, event: e.OpRan, scope: GraphScope) -> e.OpRan:
        return msgspec.structs.replace(
            event,
            inputs=[scope.tensor(tensor) for tensor in event.inputs],
            outputs=[self._made(tensor, scope) for tensor in event.outputs],
            site=self._site(event.site, scope),
            call=self._asking(event.call, scope),
            thread=self._thread,
        )

    def _asking(self, call: int, scope: GraphScope) -> int:
        """The gradient call that ops belong to. In a run of the graph other than the one that is
        emitted with its gradient calls it is an id that no call has."""
        if not call or scope.emits_calls:
            return call
        return _FIRST + (self._ran_as << _PER_CALL) + call

    def _made(self, tensor: int, scope: GraphScope) -> int:
        """The id of a tensor that an op of this run makes."""
        if tensor >= 0 or scope.knows(tensor):
            return scope.tensor(tensor)
        name = scope.tensors[tensor] = -next(self._tensor_ids)
        self._copy_tensor(tensor, name)
        if self._has_values:
            self.words[name] = "unknown"
        return name

    def _site(self, site: int, scope: GraphScope) -> int:
        function: GraphScope | None = scope
        while function is not None and function.called is None:
            function = function.around
        if function is None or function.called is None:
            return site
        return self._places.called(site, function.graph.begun.site, function.called)

    def _renamed(self, event: e.Event, scope: GraphScope) -> e.Event:
        name = scope.tensor
        changes: dict[str, object] = {}
        if hasattr(event, "site"):
            changes["site"] = self._site(event.site, scope)
        if isinstance(event, e.OperationRecorded):
            number = scope.ops[event.id] = next(self._op_ids)
            changes |= {"id": number, "first": scope.op(event.first) if event.first else 0}
            changes["inputs"] = [name(tensor) for tensor in event.inputs]
            changes["outputs"] = [name(tensor) for tensor in event.outputs]
            changes["call"] = self._asking(event.call, scope)
        elif isinstance(event, e.TapeTurned):
            # As its ops: a replica of tf.distribute is traced on a thread of its own.
            changes["thread"] = self._thread
        elif isinstance(event, e.Watched):
            changes["tensors"] = [name(tensor) for tensor in event.tensors]
            changes["tangents"] = [name(tensor) for tensor in event.tangents]
        elif isinstance(event, e.CallBegan):
            for part in ("targets", "sources", "output_gradients"):
                changes[part] = [
                    msgspec.structs.replace(operand, tensor=name(operand.tensor))
                    for operand in getattr(event, part)
                ]
            changes["stops"] = [name(stop) for stop in event.stops]
        elif isinstance(event, e.CallEnded):
            changes["results"] = [name(result) for result in event.results]
            changes["slices"] = [(place, name(at), rows) for place, at, rows in event.slices]
        elif isinstance(event, e.StepRan):
            changes["op"] = scope.op(event.op)
            changes["upstream"] = [name(gradient) for gradient in event.upstream]
            changes["downstream"] = [name(gradient) for gradient in event.downstream]
        elif isinstance(event, e.NameBound):
            all_of = scope.graph.vectorized
            changes["tensors"] = [
                (name(all_of.get(tensor, tensor)), keys) for tensor, keys in event.tensors
            ]
        elif isinstance(event, e.ValueLeft):
            changes["tensor"] = name(event.tensor)
        return msgspec.structs.replace(event, **changes)
