"""Write the report of a call that was run again, with the values of its inside.

Each graph is walked as it was traced, once for each time that it ran. What only passes a value on
(a call, a branch, a loop, an ``Identity``) has the value of what it passes on.
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from .. import limits, private
from ..history import KeptOp
from ..hooks.kept_calls import KeptCall
from ..recording import RecordingContext
from .definitions import CALLS, CASES, CONDITIONALS, LOOPS, RUN_FUNCTIONS, SAME
from .own_gradients import OwnGradients
from .readings import NOTHING, At, Known, Readings
from .report import InsideReport

_CALLS_PYTHON = "EagerPyFunc"
_FIRST_ID = 1 << 52
_ids = itertools.count(_FIRST_ID)
"""Ids of tensors inside a call; the recording's other ids stay far below."""


@dataclass(slots=True)
class _Scope:
    """One run of a graph. ``names``: ids by the ids of the graph's symbols."""

    graph: Any
    at: At
    around: _Scope | None
    values: dict[tuple[str, int], Known] = field(default_factory=dict)
    names: dict[int, int] = field(default_factory=dict)

    def bare(self) -> _Scope:
        """The same names, without the values: they would be kept as long as it is."""
        around = self.around.bare() if self.around is not None else None
        return _Scope(self.graph, self.at, around, {}, self.names)


class Attributes:
    """Attributes, constants and own gradients of graphs' ops, which are the same for each call."""

    def __init__(self) -> None:
        self._attrs: dict[Any, tuple[Any, ...]] = {}
        self._constants: dict[Any, Any] = {}
        self.own_gradients = OwnGradients()

    def of(self, op: Any) -> tuple[Any, ...]:
        if op not in self._attrs:
            self._attrs[op] = private.attrs_of(op)
        return self._attrs[op]

    def constant(self, op: Any) -> Any:
        if op not in self._constants:
            self._constants[op] = private.constant_of(op)
        return self._constants[op]


class Walk:
    """Walks the graphs that one call ran."""

    def __init__(
        self,
        recording: RecordingContext,
        call: KeptCall,
        readings: Readings,
        attributes: Attributes,
    ) -> None:
        self._recording = recording
        self._symbols = recording.symbols
        self._call = call
        self._readings = readings
        self._attributes = attributes
        self._is_whole = True
        self._has_loops = self._lacks_turns = self._has_own_gradients = False
        self.inside = InsideReport({"values": [], "branches": [], "turns": []})

    def report(self, arguments: Sequence[Any]) -> InsideReport:
        """``arguments``: the arguments of the call, as tensors."""
        call, graph = self._call, self._call.graph
        scope = _Scope(graph, (), None)
        for symbol, tensor, identity in zip(graph.inputs, arguments, call.taken, strict=False):
            is_known = not private.is_opaque(tensor._datatype_enum())
            known = Known(tensor, "exact") if is_known else NOTHING
            scope.values[symbol.op.name, symbol.value_index] = known
            scope.names[self._symbols.id(symbol)] = identity
        returned = graph.outputs[: self._returned(graph)]
        for symbol, identity in zip(returned, call.given, strict=False):
            self._name_returned(scope, symbol, identity)
        self._run(scope)
        is_whole = self._is_whole and not self._has_own_gradients
        self.inside.event["whole"] = is_whole and not self._has_loops
        is_turned = self._has_loops and not self._lacks_turns and not self._has_own_gradients
        self.inside.is_turned = self.inside.event["turned"] = is_turned
        return self.inside

    def _returned(self, graph: Any) -> int:
        return self._recording.returned.get(self._symbols.graph(graph), 0)

    def _name_returned(self, scope: _Scope, output: Any, name: int) -> None:
        """An output by its name outside, and what only went through an ``Identity`` to become it.

        As the reader of the events does it: there is no op for that ``Identity``.
        """
        identity = self._symbols.id(output)
        if identity >= 0 or identity in scope.names:
            return
        scope.names[identity] = name
        if output.op.type == "Identity":
            behind = self._symbols.id(output.op.inputs[0])
            if behind < 0 and behind not in scope.names:
                scope.names[behind] = name

    def _run(self, scope: _Scope) -> None:
        for op in scope.graph.get_operations():
            if op.type == "Placeholder":
                continue
            if len(self.inside.event["values"]) > limits.VALUES_OF_CALL:
                self._is_whole = False
                return
            for output in op.outputs:
                self._name(scope, output)
            outputs = self._outputs(scope, op)
            for symbol, known in zip(op.outputs, outputs, strict=False):
                scope.values[op.name, symbol.value_index] = known
                self._report_value(scope, symbol, known)
            self._has_own_gradients |= _has_own_gradient(op)
            runs = op.type in RUN_FUNCTIONS or self._runs_loop(scope, op)
            is_known = all(known.tensor is not None for known in outputs)
            self._is_whole &= is_known or not op.outputs
            if not runs:
                self._tell_op(scope, op)
            self.inside.has_gaps |= any(
                known is NOTHING and not (op.type in LOOPS and _is_handle(symbol))
                for symbol, known in zip(op.outputs, outputs, strict=False)
            )

    def _outputs(self, scope: _Scope, op: Any) -> Sequence[Known]:
        inputs = [self._value(scope, tensor) for tensor in op.inputs]
        found = self._readings.values
        known = [found.get((scope.at, op.name, i), NOTHING) for i in range(len(op.outputs))]
        if any(value is not NOTHING for value in known):
            self.inside.has_gaps |= op.type in RUN_FUNCTIONS
            if op.type in CONDITIONALS | CASES:
                self._chosen(scope, op, inputs)  # which branch ran, and nothing of what it computed
            return known
        if op.type in CALLS:
            return self._called(scope, op, inputs)
        if op.type in CONDITIONALS | CASES:
            return self._chosen(scope, op, inputs)
        if op.type in LOOPS or self._runs_loop(scope, op):
            return self._looped(scope, op)
        if op.type in SAME:
            return inputs
        if op.type == "Const":
            return [Known(self._attributes.constant(op), "exact")]
        return known

    def _called(self, scope: _Scope, op: Any, inputs: Sequence[Known]) -> Sequence[Known]:
        (graph,) = self._run_by(scope, op) or (None,)
        if graph is None:
            return [NOTHING] * len(op.outputs)
        inner = self._inner(scope, graph, (*scope.at, (op.name, 0)), inputs)
        for symbol, outer in zip(graph.inputs, op.inputs, strict=False):
            inner.names[self._symbols.id(symbol)] = self._name(scope, outer)
        returned = graph.outputs[: self._returned(graph)]
        for symbol, outer in zip(returned, op.outputs, strict=False):
            self._name_returned(inner, symbol, self._name(scope, outer))
        self._run(inner)
        return self._given(inner, op)

    def _chosen(self, scope: _Scope, op: Any, inputs: Sequence[Known]) -> Sequence[Known]:
        graphs = self._run_by(scope, op)
        condition = self._readings.conditions.get((scope.at, op.name))
        if condition is None or not graphs or None in graphs:
            return [NOTHING] * len(op.outputs)
        which = int(condition) if op.type in CASES else int(not bool(condition))
        if not 0 <= which < len(graphs):
            which = len(graphs) - 1  # Case runs its last branch for an index out of range
        graph = graphs[which]
        inner = self._inner(scope, graph, (*scope.at, (op.name, 0)), inputs[1:])
        for symbol, outer in zip(graph.inputs, op.inputs[1:], strict=False):
            inner.names.setdefault(self._symbols.id(symbol), self._name(scope, outer))
        self._run(inner)
        self.inside.event["branches"].append([_flat(scope.at), op.name, which])
        for symbol, outer in zip(graph.outputs, op.outputs, strict=False):
            taken, given = self._name(inner, symbol), self._name(scope, outer)
            kept = KeptOp(op.type, [taken], None, [given], "", lambda gradient: [gradient])
            self.inside.ops.append((_flat(scope.at), op.name, kept))
        return self._given(inner, op)

    def _runs_loop(self, scope: _Scope, op: Any) -> bool:
        """Whether an op ends a loop over a dataset that was looked into."""
        is_known = (scope.at, op.name) in self._readings.turns
        return op.type in private.DATASET_LOOPS and is_known and bool(self._run_by(scope, op))

    def _looped(self, scope: _Scope, op: Any) -> Sequence[Known]:
        self._has_loops = True  # a reader has the ops of one turn only
        body = (self._run_by(scope, op) or [None])[0]
        count = self._readings.turns.get((scope.at, op.name))
        is_forward = not private.is_of_backward_pass(scope.at[0][0] if scope.at else op.name)
        if body is None or count is None:
            self._lacks_turns |= is_forward
            return [NOTHING] * len(op.outputs)
        self.inside.event["turns"].append([_flat(scope.at), op.name, count])
        taken = self._taken_by_loop(op)
        entered = [None if tensor is None else self._name(scope, tensor) for tensor in taken]
        names = {-1: entered}
        if not count:
            self._report_ended(scope, op, entered)
            return [self._value(scope, tensor) for tensor in taken[: len(op.outputs)]]
        wanted = self._readings.wanted.of(count)
        self.inside.has_gaps |= len(wanted) < count
        self._lacks_turns |= len(wanted) < count and is_forward
        last = None
        for turn in wanted:
            before, last = last, _Scope(body, (*scope.at, (op.name, turn)), scope)
            for place, symbol in enumerate(body.inputs):
                known = self._readings.values.get((last.at, "", place), NOTHING)
                handed = self._handed_on(scope, op, taken, before, last, place)
                known = handed if handed.word == "exact" else known
                last.values[symbol.op.name, symbol.value_index] = known
                identity = self._symbols.id(symbol)
                name = names[turn - 1][place] if turn - 1 in names else None
                if name is not None:
                    last.names[identity] = name
                elif identity < 0:
                    last.names[identity] = next(_ids)
                self._report_value(last, symbol, known)
            self._run(last)
            handed_on = [self._name(last, tensor) for tensor in body.outputs[: len(op.outputs)]]
            names[turn] = [*handed_on, *entered[len(op.outputs) :]]
        assert last is not None
        self._report_ended(scope, op, names[wanted[-1]])
        return self._given(last, op)

    @staticmethod
    def _taken_by_loop(op: Any) -> Sequence[Any]:
        """The tensor that a loop is entered with for each input of its body; None for the parts of
        an element of a dataset."""
        return (
            private.dataset_loop_of(op)[1] if op.type in private.DATASET_LOOPS else list(op.inputs)
        )

    def _handed_on(
        self,
        scope: _Scope,
        op: Any,
        taken: Sequence[Any],
        before: _Scope | None,
        turn: _Scope,
        place: int,
    ) -> Known:
        """Return the value of a loop variable in a turn: the one that the loop was entered with
        (``taken``), or that the turn before handed on. ``before``: the turn that was walked last.
        """
        if place >= len(op.outputs):
            return NOTHING if taken[place] is None else self._value(scope, taken[place])
        number = turn.at[-1][1]
        at = (*scope.at, (op.name, number - 1))
        output = turn.graph.outputs[place]
        if number and before is not None and before.at == at:
            return self._value(before, output)
        while output.op.type in SAME:
            output = output.op.inputs[output.value_index]
        if not number or output is turn.graph.inputs[place]:  # which no turn changes
            return self._value(scope, taken[place])
        return self._readings.values.get((at, output.op.name, output.value_index), NOTHING)

    def _report_ended(self, scope: _Scope, op: Any, ended: Sequence[int | None]) -> None:
        """Note that a loop gives what its last turn hands on."""
        for symbol, taken in zip(op.outputs, ended, strict=False):
            given = self._name(scope, symbol)
            if taken is not None and given != taken:
                kept = KeptOp(op.type, [taken], None, [given], "", lambda gradient: [gradient])
                self.inside.ops.append((_flat(scope.at), op.name, kept))

    def _given(self, inner: _Scope, op: Any) -> list[Known]:
        """The graph's results for the outputs of the op that ran it."""
        outputs = inner.graph.outputs[: len(op.outputs)]
        return [self._value(inner, tensor) for tensor in outputs]

    def _inner(self, scope: _Scope, graph: Any, at: At, inputs: Sequence[Known]) -> _Scope:
        inner = _Scope(graph, at, scope)
        for symbol, known in zip(graph.inputs, inputs, strict=False):
            inner.values[symbol.op.name, symbol.value_index] = known
        return inner

    def _run_by(self, scope: _Scope, op: Any) -> list[Any] | None:
        """The graphs as they were traced: for gradients TensorFlow rewrites the op later."""
        return self._recording.run_by(scope.graph, op.name)

    def _value(self, scope: _Scope | None, symbol: Any) -> Known:
        """The value of a graph's tensor, an outer graph's included."""
        while scope is not None:
            if symbol.graph is scope.graph:
                return scope.values.get((symbol.op.name, symbol.value_index), NOTHING)
            scope = scope.around
        return NOTHING

    def _name(self, scope: _Scope, symbol: Any) -> int:
        """The id of a graph's tensor in this run; a new one if it has none yet."""
        return _name_in(scope, self._symbols.id(symbol))

    def _report_value(self, scope: _Scope, symbol: Any, known: Known) -> None:
        identity = self._symbols.id(symbol)
        if identity >= 0 or _is_handle(symbol):
            return
        name = self._name(scope, symbol) if known.tensor is not None else 0
        self.inside.event["values"].append([_flat(scope.at), identity, name, known.word])
        if name < 0 or name >= _FIRST_ID:
            self.inside.tensors.append((name, known.tensor))

    def _tell_op(self, scope: _Scope, op: Any) -> None:
        given = [self._name(scope, tensor) for tensor in op.outputs]
        taken = [self._name(scope, tensor) for tensor in op.inputs]
        if given and given == taken:
            return  # the Identity that a function's result goes through: both go by one name
        attrs, opened = self._attributes.of(op), op.name.rpartition("/")[0]
        backward: Any = None
        if private.has_gradient_of_its_own(op):
            names, symbols = scope.bare(), self._symbols  # not the walk, which has all values
            backward = self._attributes.own_gradients.of(
                op, lambda symbol: _name_in(names, symbols.id(symbol))
            )
        elif op.type == _CALLS_PYTHON:
            backward = _refuse
        kept = KeptOp(op.type, taken, attrs, given, opened, backward)
        self.inside.ops.append((_flat(scope.at), op.name, kept))


def _name_in(scope: _Scope, identity: int) -> int:
    """The id in a run of a graph's tensor, whose id as a symbol is below 0."""
    if identity >= 0:
        return identity
    at: _Scope | None = scope
    while at is not None:
        if identity in at.names:
            return at.names[identity]
        at = at.around
    scope.names[identity] = next(_ids)
    return scope.names[identity]


def _has_own_gradient(op: Any) -> bool:
    """Whether the gradient of an op is a Python function, traced or called back."""
    is_python: bool = op.type == _CALLS_PYTHON
    return is_python or private.has_gradient_of_its_own(op)


def _refuse(*gradients: Any) -> Any:
    raise LookupError("Python is part of it, which is called back only in the run")


def _is_handle(symbol: Any) -> bool:
    return private.is_resource(symbol.dtype.as_datatype_enum)


def _flat(at: At) -> list[Any]:
    return [part for step in at for part in step]
