"""A trace in, the tables over all of it that every picture of it shares, out."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Set
from dataclasses import dataclass
from functools import cached_property
from types import MappingProxyType

from ..trace.model import Call, Op, OpId, TensorId, Trace, Variable, VariableId, Version
from ..trace.naming import variable_names

VersionKey = tuple[VariableId, int]
Links = Mapping[TensorId, tuple[TensorId, ...]]
"""Constant → the tensors whose values, after they left TensorFlow, came back as it."""
NO_LINKS: Links = MappingProxyType({})


@dataclass(frozen=True, slots=True)
class Descent:
    """Where values come from.

    ``carrying``: tensors that derive from a variable, a watched tensor or a source: those that a
    gradient could reach. ``backward``: ops of a gradient call, and those that use their results.
    """

    carrying: Set[TensorId]
    backward: Set[OpId]


class TraceIndex:
    """Tables over a whole trace that every picture of it shares."""

    def __init__(self, trace: Trace, links: Links) -> None:
        self.trace = trace
        self.links = links

    @cached_property
    def entry_of(self) -> dict[OpId, Op]:
        """Op → the recorded operation or compiled call that it ran inside of."""
        return {body: op for op in self.trace.ops.values() if op.body for body in op.body}

    @cached_property
    def with_body(self) -> tuple[Op, ...]:
        return tuple(op for op in self.trace.ops.values() if op.body)

    @cached_property
    def groups(self) -> dict[OpId, Op]:
        """Op → the recorded operation or compiled loop whose group it stands in."""
        return enclosing_entries(self.trace)

    @cached_property
    def in_order(self) -> tuple[Op, ...]:
        """The ops as they ran."""
        return tuple(self.trace.ops.values())

    @cached_property
    def takers(self) -> dict[TensorId, list[int]]:
        """Tensor → the places, in :attr:`in_order`, of the ops that take it."""
        takers: dict[TensorId, list[int]] = {}
        for place, op in enumerate(self.in_order):
            for tensor in op.inputs:
                takers.setdefault(tensor, []).append(place)
        return takers

    @cached_property
    def bound_lines(self) -> dict[TensorId, int]:
        """Tensor → the line that bound it to a name first."""
        lines: dict[TensorId, int] = {}
        for binding in self.trace.bindings:
            for tensor, _ in binding.tensors:
                lines.setdefault(tensor, binding.site.line)
        return lines

    @cached_property
    def results(self) -> dict[TensorId, Call]:
        """Gradient → the call that gave it."""
        return {
            result: call
            for call in shown_calls(self.trace)
            for result in call.results
            if result is not None
        }

    @cached_property
    def variable_names(self) -> dict[VariableId, str]:
        return variable_names(self.trace.variables, self.trace.names)

    @cached_property
    def descent(self) -> Descent:
        """One pass over the ops in their order."""
        trace, links = self.trace, self.links
        carrying = set(asked_for(trace, shown_calls(trace)))
        carrying.update(trace.reads)
        backward: set[OpId] = set()
        tainted: set[TensorId] = set()
        for op in trace.ops.values():
            for tensor in op.inputs:
                back = links.get(tensor)
                if back and not carrying.isdisjoint(back):
                    carrying.add(tensor)
            if not carrying.isdisjoint(op.inputs) or any(
                (op.id, VariableId(tensor)) in trace.touches for tensor in op.inputs
            ):
                carrying.update(op.outputs)
            if op.call is not None or not tainted.isdisjoint(op.inputs):
                backward.add(op.id)
                tainted.update(op.outputs)
                _taint_optimizer_state(trace, op, tainted)
        return Descent(carrying, backward)


def enclosing_entries(trace: Trace, shown: frozenset[OpId] | None = None) -> dict[OpId, Op]:
    """Op → the innermost recorded operation or compiled loop that it ran inside of.

    ``shown``: only entries around one of these ops. A function's call inside of its own entry does
    not count: see ``build._makers``; and a function that asks for gradients itself is no group:
    what the picture is about is in there.
    """
    around: dict[OpId, Op] = {}
    for op in trace.ops.values():
        if not op.body or (shown is not None and shown.isdisjoint(op.body)):
            continue
        is_function = op.is_compiled_call or op.type.endswith("PartitionedCall")
        if not (is_function and any(trace.ops[inside].call is not None for inside in op.body)):
            for inside in op.body:
                around.setdefault(inside, op)
    return around


def _taint_optimizer_state(trace: Trace, op: Op, tainted: set[TensorId]) -> None:
    """An optimizer's moments are made of gradients: what is read from them is, too."""
    version = trace.writes.get(op.id)
    variable = trace.variables.get(version.variable) if version is not None else None
    if version is None or variable is None or variable.trainable:
        return
    following = variable.versions[version.index + 1 : version.index + 2]
    tainted.update(version.reads)
    for later in following:
        tainted.update(later.reads)


def shown_calls(trace: Trace) -> tuple[Call, ...]:
    """The gradient calls a picture can be about: the snippet's own, else all."""
    return tuple(call for call in trace.calls if call.is_direct) or trace.calls


def asked_for(trace: Trace, calls: Iterable[Call]) -> frozenset[TensorId]:
    """Tensors that the snippet named to a tape: targets, sources and what it watched itself."""
    calls = tuple(calls)
    asked = {operand.tensor for call in calls for operand in (*call.targets, *call.sources)}
    for identity in {call.tape for call in calls}:
        tape = trace.tapes.get(identity) if identity is not None else None
        watches = tape.watches if tape is not None else ()
        asked |= {watch.tensor for watch in watches if not watch.automatic}
    return frozenset(tensor for tensor in asked if tensor is not None)


def version_before(trace: Trace, handle: TensorId, tensor: TensorId) -> Version | None:
    """If ``handle`` is a variable's: the version that was read last before a tensor was made.

    Tensors' ids count up.
    """
    variable = trace.variables.get(VariableId(handle))
    if variable is None or not variable.versions:
        return None
    before = [
        version for version in variable.versions if any(read < tensor for read in version.reads)
    ]
    return before[-1] if before else variable.versions[0]


def version_at(variable: Variable, when: int) -> Version | None:
    """The variable's version at this position in the order of events."""
    low, high = 0, len(variable.versions)
    while low < high:
        middle = (low + high) // 2
        if variable.versions[middle].when <= when:
            low = middle + 1
        else:
            high = middle
    return variable.versions[low - 1] if low else None
