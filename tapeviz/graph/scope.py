"""A trace and one gradient call in, the ops, variable versions and tensors of its picture out.

The picture of a call holds what the asked tape recorded on the way to the targets, and each value
that comes from outside as a single node. Beyond that only what explains the call: where a source
got no gradient, the ways from it to the targets through state, NumPy and unrecorded ops.
"""

from __future__ import annotations

import heapq
from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from types import MappingProxyType

from ..trace.model import Call, Op, OpId, Tape, TensorId, Trace, Variable, VariableId, Version
from ..trace.naming import variable_names
from ..trace.state import keeps_prior_state
from .words import friendly, is_assign, user_name

VersionKey = tuple[VariableId, int]
Links = Mapping[TensorId, tuple[TensorId, ...]]
"""Constant → the tensors whose values, after they left TensorFlow, came back as it."""
NO_LINKS: Links = MappingProxyType({})
_MOST_UNCONNECTED = 60
"""Ops shown of a source's other life, when it does not lead to the target."""
_MOST_ENDS = 6
BEFORE = "before/"
"""Prefix of the path that opens a value computed before the tape recorded."""


@dataclass(slots=True)
class Scope:
    """What a picture holds. ``tensors``: those that no op produced; ``outside``: those whose making
    is not part of the picture."""

    ops: set[OpId] = field(default_factory=set)
    versions: set[VersionKey] = field(default_factory=set)
    tensors: set[TensorId] = field(default_factory=set)
    outside: set[TensorId] = field(default_factory=set)
    cuts: set[OpId] = field(default_factory=set)
    """Ops at which a gradient ends, or that made it NaN or infinite."""


@dataclass(frozen=True, slots=True)
class Descent:
    """Where values come from.

    ``carrying``: tensors that derive from a variable, a watched tensor or a source: those that a
    gradient could reach. ``backward``: ops of a gradient call, and those that use their results.
    """

    carrying: frozenset[TensorId]
    backward: frozenset[OpId]


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
        """Op → the recorded operation whose group it stands in.

        A function's call inside of its own entry does not count: see ``build._makers``; and one
        that asks for gradients itself is no group: what the picture is about is in there.
        """
        around: dict[OpId, Op] = {}
        for op in self.with_body:
            asks = op.is_compiled_call and any(
                self.trace.ops[inner].call is not None for inner in op.body
            )
            if not asks:
                for inside in op.body:
                    around.setdefault(inside, op)
        return around

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
    def position(self) -> dict[OpId, int]:
        """Op → its place in the order in which the ops ran."""
        return {op: place for place, op in enumerate(self.trace.ops)}

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
        return Descent(frozenset(carrying), frozenset(backward))


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


def before_path(trace: Trace, tensor: TensorId) -> str:
    """What opens a value computed before: the same in each round of a loop."""
    producer = trace.producers.get(tensor)
    op = trace.ops[producer] if producer is not None else None
    name = user_name(trace, tensor)
    if not name and op is not None:
        name = f"{friendly(op.type)} line {op.line}"
    return BEFORE + name.replace("/", "|")


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


def find_scope(index: TraceIndex, call: Call | None, opened: Collection[str] = ()) -> Scope:
    """What the picture of a gradient call holds; without one every forward op.

    ``opened``: paths of values computed before (:func:`before_path`) whose making is shown.
    """
    trace = index.trace
    if call is None:
        return _forward_scope(index)
    scope = Scope()
    is_inside = _recorded_for(index, call)
    wanted = {path for path in opened if path.startswith(BEFORE)}

    def is_shown(op: Op, tensor: TensorId | None) -> bool:
        if is_inside(op):
            return True
        return tensor is not None and bool(wanted) and before_path(trace, tensor) in wanted

    targets = [operand.tensor for operand in call.targets if operand.tensor is not None]
    walk = _Walk(index, scope, is_shown)
    walk.reach(targets)
    for inner in _inner_calls(trace, scope, call):
        walk.reach(operand.tensor for operand in inner.targets if operand.tensor is not None)
    lacking = [
        operand.tensor
        for operand, result in zip(call.sources, call.results, strict=False)
        if result is None and operand.tensor is not None
    ]
    if lacking:
        explained = _ways(index, targets, frozenset(lacking))
        walk.admit(explained)
        walk.reach(targets)
        for inner in _inner_calls(trace, scope, call):
            walk.reach(operand.tensor for operand in inner.targets if operand.tensor is not None)
        for tensor in lacking:
            walk.reach(_offspring(index, call, tensor, scope, is_inside))
        scope.cuts = _ends(index, call, explained)
    scope.cuts |= _first_nonfinite(trace, call)
    for operand in call.sources:
        if operand.tensor is not None:
            walk.reach_operand(operand.tensor, call)
    return scope


def _ends(index: TraceIndex, call: Call, explained: Scope) -> set[OpId]:
    """The ops on the way to a source where its gradient may end: no tape recorded them, or their
    gradient function gave nothing. The last to run stand nearest to the target."""
    stopped = {step.op for step in call.steps if not any(step.downstream)}
    ended = [
        op for op in explained.ops if op in stopped or call.tape not in index.trace.ops[op].tapes
    ]
    return set(sorted(ended, key=index.position.__getitem__)[-_MOST_ENDS:])


def _first_nonfinite(trace: Trace, call: Call) -> set[OpId]:
    """The op whose gradient function turned finite numbers into NaN or infinity first."""

    def is_finite(tensor: TensorId | None) -> bool:
        stats = trace.stats(tensor) if tensor is not None else None
        return stats is None or not stats.nonfinite

    if all(map(is_finite, call.results)):
        return set()
    for step in call.steps:
        if step.op is not None and not all(map(is_finite, step.downstream)):
            return {step.op}
    return set()


def _inner_calls(trace: Trace, scope: Scope, call: Call) -> list[Call]:
    """The gradient calls whose backward pass is part of the picture."""
    asked = {trace.ops[op].call for op in scope.ops} - {None, call.id}
    return [inner for inner in trace.calls if inner.id in asked] if asked else []


def _recorded_for(index: TraceIndex, call: Call) -> Callable[[Op], bool]:
    """Whether an op belongs to what the asked tape saw: it recorded the op, or the op is part of
    the forward computation that ran while it recorded.

    ``tf.gradients`` has no tape: there each op of the graph belongs to it.
    """
    trace = index.trace
    tape: Tape | None = trace.tapes.get(call.tape) if call.tape is not None else None
    backward = index.descent.backward if trace.calls else frozenset()

    def is_inside(op: Op) -> bool:
        if tape is None or tape.id in op.tapes:
            return True
        entry = index.entry_of.get(op.id)
        if entry is not None and entry.id != op.id:
            return is_inside(entry)
        return op.id not in backward and tape.is_recording(op.when)

    return is_inside


class _Walk:
    """Goes from tensors back to what they were made from, as far as the picture reaches."""

    def __init__(
        self, index: TraceIndex, scope: Scope, is_shown: Callable[[Op, TensorId | None], bool]
    ) -> None:
        self._index = index
        self._trace = index.trace
        self._is_shown = is_shown
        self._admitted: Scope = Scope()
        self._seen: set[TensorId] = set()
        self.scope = scope

    def admit(self, more: Scope) -> None:
        """These ops and versions belong to the picture wherever they ran."""
        self._admitted = more
        self._seen.clear()
        self.scope.outside.clear()
        self.scope.versions.clear()
        self.scope.ops.clear()

    def reach(self, tensors: Iterable[TensorId]) -> None:
        trace, scope = self._trace, self.scope
        waiting = list(tensors)
        while waiting:
            tensor = waiting.pop()
            if tensor in self._seen:
                continue
            self._seen.add(tensor)
            version = trace.reads.get(tensor)
            producer = trace.producers.get(tensor)
            if version is None and producer is None:
                scope.tensors.add(tensor)
                waiting.extend(self._left_for(tensor))
                continue
            if version is not None:
                waiting.extend(self.keep_version(version))
            if producer is None:
                continue
            op = trace.ops[producer]
            if version is not None or op.id in self._admitted.ops or self._is_shown(op, tensor):
                waiting.extend(self._keep_op(op))
            else:
                scope.outside.add(tensor)

    def _left_for(self, returned: TensorId) -> list[TensorId]:
        """The tensors whose values came back as this constant, where they are in the picture."""
        further: list[TensorId] = []
        for left in self._index.links.get(returned, ()):
            version = version_before(self._trace, left, returned)
            if version is not None:
                if (version.variable, version.index) in self._admitted.versions:
                    further.extend(self.keep_version(version))
                continue
            made = self._trace.producers.get(left)
            op = self._trace.ops[made] if made is not None else None
            is_shown = op is not None and self._is_shown(op, None)
            if is_shown or left in self._admitted.tensors or (op and op.id in self._admitted.ops):
                further.append(left)
        return further

    def _keep_op(self, op: Op) -> list[TensorId]:
        if op.id in self.scope.ops:
            return []
        self.scope.ops.add(op.id)
        entry = self._index.entry_of.get(op.id)
        if entry is not None:
            self.scope.ops.add(entry.id)
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
        """Keep a variable's version, and the writes that led to it as far as they are shown."""
        further: list[TensorId] = []
        while (version.variable, version.index) not in self.scope.versions:
            key = (version.variable, version.index)
            self.scope.versions.add(key)
            op = self._trace.ops.get(version.op) if version.op is not None else None
            if version.index == 0:
                value = version.value
                if value is not None and value in self._index.descent.carrying:
                    made = self._trace.ops.get(self._trace.producers.get(value, OpId(0)))
                    is_shown = made is not None and self._is_shown(made, None)
                    if is_shown or key in self._admitted.versions:
                        further.append(value)
                break
            if op is None or not (op.id in self._admitted.ops or self._is_shown(op, None)):
                break
            further.extend(self._keep_op(op))
            if not keeps_prior_state(op.type):
                break
            version = self._trace.variables[version.variable].versions[version.index - 1]
        return further

    def reach_operand(self, tensor: TensorId, call: Call) -> None:
        """A source is in the picture whatever became of it."""
        variable = self._trace.variables.get(VariableId(tensor))
        if variable is None:
            self.reach([tensor])
            return
        if any(
            (variable.id, version.index) in self.scope.versions for version in variable.versions
        ):
            return
        seen = version_at(variable, call.when)
        if seen is not None:
            self.reach(self.keep_version(seen))


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


Place = tuple[str, int, int]
"""An op, a tensor or a version while the ways to a source are looked for."""


def _ways(index: TraceIndex, targets: Iterable[TensorId], sources: Collection[TensorId]) -> Scope:
    """The ops, versions and tensors on any way from these sources to the targets: through state,
    through Python, through what no tape recorded.

    Each op is looked at once. The way of a gradient into an optimizer's step is none, unless a
    tape recorded it.
    """
    trace = index.trace
    onward: dict[Place, list[Place]] = {}
    waiting: list[tuple[Place, bool]] = [(("tensor", tensor, 0), False) for tensor in targets]
    seen = {place for place, _ in waiting}
    starts: list[Place] = []

    def lead(source: Place, target: Place, past_write: bool) -> None:
        onward.setdefault(source, []).append(target)
        if source not in seen:
            seen.add(source)
            waiting.append((source, past_write))

    while waiting:
        place, past_write = waiting.pop()
        kind, number, version_index = place
        if kind == "tensor":
            tensor = TensorId(number)
            if tensor in sources:
                starts.append(place)
                continue
            read = trace.reads.get(tensor)
            producer = trace.producers.get(tensor)
            if read is not None:
                lead(("version", read.variable, read.index), place, past_write)
            elif producer is not None:
                op = trace.ops[producer]
                if past_write and op.id in index.descent.backward and not op.tapes:
                    continue
                lead(("op", producer, 0), place, past_write)
            for left in index.links.get(tensor, ()):
                version = version_before(trace, left, tensor)
                if version is None:
                    lead(("tensor", left, 0), place, past_write)
                else:
                    lead(("version", version.variable, version.index), place, past_write)
        elif kind == "op":
            op = trace.ops[OpId(number)]
            for tensor in op.inputs:
                if VariableId(tensor) not in trace.variables:
                    lead(("tensor", tensor, 0), place, past_write)
                elif (touched := trace.touches.get((op.id, VariableId(tensor)))) is not None:
                    lead(("version", touched.variable, touched.index), place, past_write)
        else:
            if TensorId(number) in sources:
                starts.append(place)
                continue
            version = trace.variables[VariableId(number)].versions[version_index]
            if version.index == 0:
                if version.value is not None and version.value in index.descent.carrying:
                    lead(("tensor", version.value, 0), place, past_write)
            elif version.op is not None and version.op in trace.ops:
                lead(("op", version.op, 0), place, True)
                if keeps_prior_state(trace.ops[version.op].type):
                    lead(("version", number, version_index - 1), place, True)
    return _between(starts, onward)


def _between(starts: list[Place], onward: Mapping[Place, list[Place]]) -> Scope:
    """Everything that can be reached from the starts."""
    found = Scope()
    reached = set(starts)
    while starts:
        place = starts.pop()
        kind, number, version_index = place
        if kind == "op":
            found.ops.add(OpId(number))
        elif kind == "tensor":
            found.tensors.add(TensorId(number))
        else:
            found.versions.add((VariableId(number), version_index))
        for further in onward.get(place, ()):
            if further not in reached:
                reached.add(further)
                starts.append(further)
    return found


def _offspring(
    index: TraceIndex,
    call: Call,
    source: TensorId,
    scope: Scope,
    is_inside: Callable[[Op], bool],
) -> list[TensorId]:
    """What a source without a gradient leads to, as far as the tape saw it, if that is little."""
    trace = index.trace
    variable = trace.variables.get(VariableId(source))
    derived = {source}
    if variable is not None:
        derived.update(tensor for version in variable.versions for tensor in version.reads)
    made: list[TensorId] = []
    count = 0
    # Only what takes one of the derived, in the order in which it ran.
    waiting = [place for tensor in derived for place in index.takers.get(tensor, ())]
    heapq.heapify(waiting)
    seen = -1
    while waiting:
        place = heapq.heappop(waiting)
        if place == seen:
            continue
        seen = place
        op = index.in_order[place]
        if op.when > call.end:
            break
        if op.id in index.descent.backward or op.type == "ReadVariableOp" or op.graph:
            continue
        if is_assign(trace, op) or not is_inside(op):
            continue
        for output in op.outputs:
            if output not in derived:
                derived.add(output)
                for further in index.takers.get(output, ()):
                    if further > place:
                        heapq.heappush(waiting, further)
        if op.id not in scope.ops and not op.is_recorded_operation:
            made.extend(op.outputs)
            count += 1
        if count > _MOST_UNCONNECTED:
            return []
    return made


def _forward_scope(index: TraceIndex) -> Scope:
    """No gradient was asked for: every forward op, but for how variables got their values."""
    trace = index.trace
    made = _Walk(index, Scope(), lambda op, tensor: True)
    made.reach(
        variable.initial for variable in trace.variables.values() if variable.initial is not None
    )
    creations = {version.op for v in trace.variables.values() for version in v.versions[:1]}
    scope = Scope()
    walk = _Walk(index, scope, lambda op, tensor: True)
    for op in trace.ops.values():
        is_making = op.id in made.scope.ops or op.id in creations
        if op.call is None and not is_making and op.type != "VarHandleOp" and not op.graph:
            if is_assign(trace, op) and op.id in trace.writes:
                walk.reach(walk.keep_version(trace.writes[op.id]))
            else:
                walk.reach(op.outputs)
    return scope


def everything(trace: Trace) -> Scope:
    """All that ran."""
    versions = {(v.id, version.index) for v in trace.variables.values() for version in v.versions}
    creations = {v.versions[0].op for v in trace.variables.values() if v.versions}
    ops = {op.id for op in trace.ops.values() if op.type not in _NEVER_NODES}
    return Scope({op for op in ops if op not in creations}, versions)


_NEVER_NODES = frozenset(("VarHandleOp", "DestroyResourceOp"))
