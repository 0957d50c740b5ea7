"""A trace in, the ops and variable versions out that a reader of its gradients wants to see."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from types import MappingProxyType

from ..trace.model import Call, Op, OpId, TensorId, Trace, VariableId, Version
from ..trace.state import keeps_prior_state
from .words import is_assign

VersionKey = tuple[VariableId, int]
Links = Mapping[TensorId, tuple[TensorId, ...]]
"""Constant → the tensors whose values, after they left TensorFlow, came back as it."""
NO_LINKS: Links = MappingProxyType({})
_MOST_UNCONNECTED = 60
"""Ops shown of a source's other life, when it does not lead to the target."""


@dataclass(slots=True)
class Kept:
    """What is shown; ``tensors``: those that no op produced."""

    ops: set[OpId] = field(default_factory=set)
    versions: set[VersionKey] = field(default_factory=set)
    tensors: set[TensorId] = field(default_factory=set)


@dataclass(frozen=True, slots=True)
class Descent:
    """Where values come from.

    ``carrying``: tensors that derive from a variable, a watched tensor or a source: those that a
    gradient could reach. ``backward``: ops of a gradient call, and those that use their results.
    """

    carrying: frozenset[TensorId]
    backward: frozenset[OpId]


def shown_calls(trace: Trace) -> tuple[Call, ...]:
    """The gradient calls a picture is about: the snippet's own, else all."""
    return tuple(call for call in trace.calls if call.is_direct) or trace.calls


def asked_for(trace: Trace) -> frozenset[TensorId]:
    """Tensors that the snippet named to a tape: targets, sources and what it watched itself."""
    calls = shown_calls(trace)
    asked = {one.tensor for call in calls for one in (*call.targets, *call.sources)}
    watches = (watch for tape in trace.tapes.values() for watch in tape.watches)
    asked |= {watch.tensor for watch in watches if not watch.automatic}
    return frozenset(tensor for tensor in asked if tensor is not None)


def trace_descent(trace: Trace, links: Links) -> Descent:
    """One pass over the ops in their order."""
    asked = asked_for(trace)
    carrying = set(asked)
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
    return Descent(frozenset(carrying), frozenset(backward))


def _taint_optimizer_state(trace: Trace, op: Op, tainted: set[TensorId]) -> None:
    """An optimizer's moments are made of gradients: what is read from them is, too."""
    version = trace.writes.get(op.id)
    variable = trace.variables.get(version.variable) if version is not None else None
    if version is None or variable is None or variable.trainable:
        return
    for later in variable.versions[version.index :]:
        tainted.update(later.reads)


class Relevance:
    """Walks from what was asked for back to where it came from."""

    def __init__(self, trace: Trace, descent: Descent, links: Links) -> None:
        self._trace = trace
        self._descent = descent
        self._links = links
        self._seen: set[TensorId] = set()
        self._entry_of: dict[OpId, Op] = {
            body: op for op in trace.ops.values() if op.body for body in op.body
        }
        self.kept = Kept()

    def reach(self, tensors: Iterable[TensorId], *, past_write: bool = False) -> None:
        """Keep all that these tensors were made from.

        ``past_write``: they went into a variable's state. The backward pass behind an optimizer's
        step is then of interest only where some tape recorded it.
        """
        trace, kept = self._trace, self.kept
        waiting = list(tensors)
        while waiting:
            tensor = waiting.pop()
            if tensor in self._seen:
                continue
            version = trace.reads.get(tensor)
            producer = trace.producers.get(tensor)
            op = trace.ops[producer] if producer is not None else None
            if version is None and op is None:
                self._seen.add(tensor)
                kept.tensors.add(tensor)
                waiting.extend(self._left_for(tensor))
                continue
            if op is not None and past_write and self._is_left_behind(op):
                continue
            self._seen.add(tensor)
            if version is not None:
                waiting.extend(self.keep_version(version))
            if op is not None:
                waiting.extend(self.keep_op(op))

    def _left_for(self, returned: TensorId) -> list[TensorId]:
        """The tensors whose values came back as this constant; variables are kept at once."""
        further: list[TensorId] = []
        for left in self._links.get(returned, ()):
            version = version_before(self._trace, left, returned)
            further.extend([left] if version is None else self.keep_version(version))
        return further

    def _is_left_behind(self, op: Op) -> bool:
        return op.id in self._descent.backward and not op.tapes

    def keep_op(self, op: Op) -> list[TensorId]:
        """Keep an op; gives the tensors that it was made from."""
        if op.id in self.kept.ops:
            return []
        self.kept.ops.add(op.id)
        entry = self._entry_of.get(op.id)
        if entry is not None:
            self.kept.ops.add(entry.id)
        further: list[TensorId] = []
        for tensor in op.inputs:
            handle = VariableId(tensor)
            if handle not in self._trace.variables:
                further.append(tensor)
                continue
            touched = self._trace.touches.get((op.id, handle))
            if touched is not None:
                further.extend(self.keep_version(touched))
        return further

    def keep_version(self, version: Version) -> list[TensorId]:
        """Keep a variable's version, and the writes that led to it."""
        further: list[TensorId] = []
        while (version.variable, version.index) not in self.kept.versions:
            self.kept.versions.add((version.variable, version.index))
            if version.index == 0:
                if version.value is not None:
                    further.extend(self._initial(version.value))
                break
            op = self._trace.ops.get(version.op) if version.op is not None else None
            if op is None:
                break
            self.reach(self.keep_op(op), past_write=True)
            if not keeps_prior_state(op.type):
                break
            version = self._trace.variables[version.variable].versions[version.index - 1]
        return further

    def _initial(self, value: TensorId) -> list[TensorId]:
        return [value] if value in self._descent.carrying else []


def version_before(trace: Trace, handle: TensorId, tensor: TensorId) -> Version | None:
    """If ``handle`` is a variable's: the version that was read last before a tensor was made.

    Tensors' ids count up.
    """
    variable = trace.variables.get(VariableId(handle))
    if variable is None or not variable.versions:
        return None
    before = [one for one in variable.versions if any(read < tensor for read in one.reads)]
    return before[-1] if before else variable.versions[0]


def choose(trace: Trace, links: Links) -> tuple[Kept, Descent]:
    """What to show of a trace: the ancestors of all targets and sources."""
    descent = trace_descent(trace, links)
    relevance = Relevance(trace, descent, links)
    calls = shown_calls(trace)
    if not calls:
        _keep_forward(trace, relevance)
        return relevance.kept, descent
    for call in calls:
        for operand in (*call.targets, *call.sources):
            if operand.tensor is not None:
                _reach_operand(trace, relevance, operand.tensor, call)
    for tensor in _unconnected(trace, calls):
        _keep_descendants(trace, relevance, descent, tensor)
    return relevance.kept, descent


def _reach_operand(trace: Trace, relevance: Relevance, tensor: TensorId, call: Call) -> None:
    variable = trace.variables.get(VariableId(tensor))
    if variable is None:
        relevance.reach([tensor])
        return
    if any((variable.id, one.index) in relevance.kept.versions for one in variable.versions):
        return
    seen = [one for one in variable.versions if one.when <= call.when]
    if seen:
        relevance.reach(relevance.keep_version(seen[-1]))


def _keep_forward(trace: Trace, relevance: Relevance) -> None:
    """No gradient was asked for: every forward op, but for how variables got their values."""
    made = Relevance(trace, Descent(frozenset(), frozenset()), {})
    made.reach(
        variable.initial for variable in trace.variables.values() if variable.initial is not None
    )
    creations = {one.op for v in trace.variables.values() for one in v.versions[:1]}
    for op in trace.ops.values():
        is_making = op.id in made.kept.ops or op.id in creations
        if op.call is None and not is_making and op.type != "VarHandleOp" and not op.graph:
            if is_assign(trace, op) and op.id in trace.writes:
                relevance.reach(relevance.keep_version(trace.writes[op.id]))
            else:
                relevance.reach(op.outputs)


def _unconnected(trace: Trace, calls: tuple[Call, ...]) -> list[TensorId]:
    """Sources that got no gradient: what became of them is of interest even off the path."""
    found = {
        operand.tensor: None
        for call in calls
        if call.results
        for operand, result in zip(call.sources, call.results, strict=False)
        if result is None and operand.tensor is not None
    }
    return [tensor for tensor in found if tensor is not None]


def _keep_descendants(
    trace: Trace, relevance: Relevance, descent: Descent, source: TensorId
) -> None:
    """Keep the forward ops that a source leads to, if there are not too many of them."""
    variable = trace.variables.get(VariableId(source))
    derived = {source}
    if variable is not None:
        derived.update(tensor for version in variable.versions for tensor in version.reads)
    found: list[Op] = []
    for op in trace.ops.values():
        if op.id in descent.backward or op.type == "ReadVariableOp" or op.graph:
            continue
        if not derived.isdisjoint(op.inputs) and not is_assign(trace, op):
            derived.update(op.outputs)
            if op.id not in relevance.kept.ops and not op.is_recorded_operation:
                found.append(op)
        if len(found) > _MOST_UNCONNECTED:
            return
    for op in found:
        relevance.reach(op.outputs)
