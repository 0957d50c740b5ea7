"""Compiled functions that ran in; the values of their inside, computed again op by op, out.

TensorFlow keeps no value of what a compiled function computes on the way. After the snippet the
graph of each function is run again as its first call ran it: with that call's arguments and with
what its variables held then. Nothing is written and nothing drawn anew: what depends on a random
op, on Python or on another object stays unknown, and so does all that follows from it.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from . import private
from .history import KeptOp
from .recording import Recording

_MOST_OPS = 20_000
_SECONDS = 3.0
_CALLS = frozenset({"PartitionedCall", "StatefulPartitionedCall"})
_CONDITIONALS = frozenset({"If", "StatelessIf"})
_LOOPS = frozenset({"While", "StatelessWhile"})
_MOST_TURNS = 10_000


@dataclass(slots=True)
class FirstCall:
    """The first call of a function: its graph, what went in and came out, by eager tensors.

    ``states``: what each variable held, by its handle's id.
    """

    graph: Any
    inputs: Sequence[Any]
    states: dict[int, Any]
    outputs: Sequence[Any] = ()


@dataclass(slots=True)
class _Scope:
    """One run of a graph. ``values``: by the graph's own tensors; ``real``: those that TensorFlow
    handed out; ``is_told``: the ops have numbers in the recording that are those of this run;
    ``names``: ids of its inputs and outputs."""

    graph: Any
    values: dict[tuple[str, int], Any] = field(default_factory=dict)
    around: _Scope | None = None
    is_told: bool = False
    names: dict[int, int] = field(default_factory=dict)
    real: dict[tuple[str, int], Any] = field(default_factory=dict)


class Inside:
    """Computes again what ran inside of the first calls."""

    def __init__(self, recording: Recording, calls: Sequence[FirstCall]) -> None:
        self._recording = recording
        self._symbols = recording.symbols
        self._encoder = recording.encoder
        self._calls = calls
        self._states: dict[int, Any] = {}
        self._told: set[int] = set()
        self._is_whole = True
        self._left = _MOST_OPS
        self._until = time.monotonic() + _SECONDS

    def compute(self) -> None:
        """Tell the values of all calls, as far as they can be had."""
        with private.quiet_eager_mode():
            for call in self._calls:
                with self._recording.shielded("the inside of a compiled function"):
                    self._call(call)

    def _call(self, call: FirstCall) -> None:
        self._states, self._is_whole = dict(call.states), True
        scope = _Scope(call.graph, is_told=True)
        self._told.add(self._symbols.graph(call.graph))
        for inner, outer in zip(call.graph.inputs, call.inputs, strict=False):
            scope.values[_key(inner)] = outer
            scope.names[self._symbols.id(inner)] = outer._id
        for place, (inner, outer) in enumerate(zip(call.graph.outputs, call.outputs, strict=False)):
            if place < self._returned(call.graph):
                self._name_returned(scope, inner, outer._id)
            scope.real.setdefault(_key(inner), outer)
        self._run(scope)
        number = self._symbols.graph(call.graph)
        event = {"e": "inside", "graph": number, "whole": self._is_whole}
        self._recording.append((self._encoder.event, event))

    def _name_returned(self, scope: _Scope, output: Any, name: int) -> None:
        """An output by its name outside, and what only went through an ``Identity`` to become it.

        As the reader of the events does it: there is no op for that ``Identity``.
        """
        if self._symbols.id(output) >= 0 or self._symbols.id(output) in scope.names:
            return
        scope.names[self._symbols.id(output)] = name
        if output.op.type == "Identity":
            behind = self._symbols.id(output.op.inputs[0])
            if behind < 0 and behind not in scope.names:
                scope.names[behind] = name

    def _returned(self, graph: Any) -> int:
        return self._recording.returned.get(self._symbols.graph(graph), 0)

    def _run(self, scope: _Scope) -> None:
        for op in scope.graph.get_operations():
            self._left -= 1
            if self._left < 0 or time.monotonic() > self._until:
                self._is_whole = False
                return
            if op.type == "Placeholder" or any(_key(one) in scope.values for one in op.outputs):
                continue
            outputs = self._outputs(scope, op)
            if op.outputs and (outputs is None or private.has_gradient_of_its_own(op)):
                self._is_whole = False
            if outputs is None and not any(_key(one) in scope.real for one in op.outputs):
                continue
            computed = outputs or [None] * len(op.outputs)
            outputs = [
                scope.real.get(_key(symbol), one)
                for symbol, one in zip(op.outputs, computed, strict=False)
            ]
            for symbol, value in zip(op.outputs, outputs, strict=False):
                if value is not None:
                    scope.values[_key(symbol)] = value
            if scope.is_told and op.type not in _CALLS | _CONDITIONALS | _LOOPS:
                self._tell(scope, op, outputs)

    def _outputs(self, scope: _Scope, op: Any) -> Sequence[Any] | None:
        """What the op gives; ``None`` if that cannot be known."""
        inputs = [self._value(scope, one) for one in op.inputs]
        if op.type in _CALLS:
            return self._called(scope, op, inputs)
        if op.type in _CONDITIONALS:
            return self._chosen(scope, op, inputs)
        if op.type in _LOOPS:
            return self._looped(scope, op, inputs)
        if op.type == "Const":
            return [private.constant_of(op)]
        if private.writes_variable(op.type):
            self._write(op, inputs)
            return []
        if any(one is None for one in inputs):
            return None
        if op.type == "ReadVariableOp":
            held = self._states.get(inputs[0]._id)
            return None if held is None else [held]
        if private.is_stateful(op):
            return None
        try:
            return private.run_op(op.type, inputs, private.attrs_of(op), len(op.outputs))
        except Exception:
            return None

    def _value(self, scope: _Scope | None, symbol: Any) -> Any:
        """The value of a graph's tensor, an outer graph's included; ``None`` if it is unknown."""
        while scope is not None:
            if symbol.graph is scope.graph:
                return scope.values.get(_key(symbol))
            scope = scope.around
        return None

    def _write(self, op: Any, inputs: Sequence[Any]) -> None:
        handle = inputs[0]
        if handle is None:
            self._states.clear()
            return
        held, value = self._states.pop(handle._id, None), inputs[-1]
        if value is None or (held is None and op.type != "AssignVariableOp"):
            return
        written = private.written(op.type, held, value)
        if written is not None:
            self._states[handle._id] = written

    def _called(self, scope: _Scope, op: Any, inputs: Sequence[Any]) -> Sequence[Any] | None:
        (graph,) = self._run_by(scope, op) or (None,)
        if graph is None:
            self._states.clear()
            return None
        inner = self._inner(scope, graph, inputs)
        if inner.is_told:
            for one, outer in zip(graph.inputs, op.inputs, strict=False):
                inner.names[self._symbols.id(one)] = self._name(scope, outer)
            returned = graph.outputs[: self._returned(graph)]
            for one, outer in zip(returned, op.outputs, strict=False):
                self._name_returned(inner, one, self._name(scope, outer))
        self._run(inner)
        return [self._value(inner, one) for one in graph.outputs]

    def _run_by(self, scope: _Scope, op: Any) -> list[Any] | None:
        """The graphs as they were traced: for gradients TensorFlow rewrites the op later."""
        return self._recording.runs.get((self._symbols.graph(scope.graph), op.name))

    def _chosen(self, scope: _Scope, op: Any, inputs: Sequence[Any]) -> Sequence[Any] | None:
        graphs = self._run_by(scope, op)
        if inputs[0] is None or not graphs or None in graphs:
            self._states.clear()
            return None
        which = 0 if bool(inputs[0]) else 1
        inner = self._inner(scope, graphs[which], inputs[1:])
        self._run(inner)
        outputs = [self._value(inner, one) for one in graphs[which].outputs]
        if inner.is_told:
            other = self._inner(scope, graphs[1 - which], ())
            for one in other.graph.get_operations():
                self._tell(other, one, [None] * len(one.outputs))
            self._tell_choice(scope, op, graphs[which], which, outputs)
        return outputs

    def _looped(self, scope: _Scope, op: Any, inputs: Sequence[Any]) -> Sequence[Any] | None:
        body, asks = self._run_by(scope, op) or (None, None)
        values = list(inputs)
        self._is_whole = False  # the recording has the ops of one turn only
        for _ in range(_MOST_TURNS):
            if asks is None or body is None or self._left < 0 or any(one is None for one in values):
                break
            ask = self._turn(scope, asks, values)
            goes_on = self._value(ask, asks.outputs[0])
            if goes_on is None:
                break
            if not bool(goes_on):
                return values
            turn = self._turn(scope, body, values)
            values = [self._value(turn, one) for one in body.outputs]
        self._states.clear()
        return None

    def _turn(self, scope: _Scope, graph: Any, values: Sequence[Any]) -> _Scope:
        turn = _Scope(graph, dict(zip(map(_key, graph.inputs), values, strict=False)), scope)
        self._run(turn)
        return turn

    def _inner(self, scope: _Scope, graph: Any, inputs: Sequence[Any]) -> _Scope:
        number = self._symbols.graph(graph)
        is_told = scope.is_told and number not in self._told
        self._told.add(number)
        given = zip(map(_key, graph.inputs), inputs, strict=False)
        return _Scope(graph, {key: one for key, one in given if one is not None}, scope, is_told)

    def _name(self, scope: _Scope | None, symbol: Any) -> int:
        """The id that a graph's tensor goes by in the recording."""
        identity = self._symbols.id(symbol)
        while scope is not None:
            if identity in scope.names:
                return scope.names[identity]
            scope = scope.around
        return identity

    def _tell(self, scope: _Scope, op: Any, outputs: Sequence[Any]) -> None:
        given = [self._name(scope, one) for one in op.outputs]
        taken = [self._name(scope, one) for one in op.inputs]
        kept = KeptOp(op.type, taken, private.attrs_of(op), given, op.name.rpartition("/")[0])
        at = self._symbols.graph(scope.graph), op.name
        self._recording.append((self._encoder.again, *at, kept, list(outputs)))

    def _tell_choice(
        self, scope: _Scope, op: Any, graph: Any, which: int, outputs: Sequence[Any]
    ) -> None:
        """A conditional is an op for each output, which takes what the branch chosen gives."""
        at = self._symbols.graph(scope.graph), op.name
        self._recording.append((self._encoder.chosen, *at, len(op.outputs), which))
        for index, (inner, output) in enumerate(zip(graph.outputs, op.outputs, strict=False)):
            taken, given = self._symbols.id(inner), self._name(scope, output)
            kept = KeptOp(op.type, [taken], None, [given], "", lambda gradient: [gradient])
            told = (kept, [outputs[index]], len(op.outputs) - 1 - index)
            self._recording.append((self._encoder.again, *at, *told))


def _key(symbol: Any) -> tuple[str, int]:
    return symbol.op.name, symbol.value_index
