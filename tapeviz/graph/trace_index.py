"""Tables of a trace that all pictures of it share."""

from __future__ import annotations

from array import array
from bisect import bisect_left
from collections.abc import Iterable, Mapping, Sequence, Set
from dataclasses import dataclass
from functools import cached_property
from types import MappingProxyType

from ..latest import for_latest
from ..trace.calls import Call
from ..trace.compiled.handed import handed_on
from ..trace.ids import CallId, OpId, TensorId, VariableId
from ..trace.model import Trace
from ..trace.naming import bound_lines
from ..trace.number_maps import NumberPairs
from ..trace.ops import Op
from ..trace.variables import Version
from .bookkeeping import is_integer

CameBack = Mapping[TensorId, tuple[TensorId, ...]]
"""Constant → the tensors whose values left TensorFlow and came back as this constant."""
NOTHING_CAME_BACK: CameBack = MappingProxyType({})
_WRAPPER = "cflow_gradient_wrapper"
"""The function that TensorFlow runs a loop or a branch in which a tape watches, for gradients of
gradients (``run_as_function_for_tape_gradients`` in control_flow_util_v2.py, 2.15-2.21)."""


@dataclass(frozen=True, slots=True)
class Descent:
    """The part of a trace that derives from variables and sources. ``carrying``: tensors that
    derive from a variable, a watched tensor or a source, which a gradient could reach. ``users``:
    ops outside of gradient calls that use results of these."""

    carrying: Set[TensorId]
    users: Set[OpId]

    def is_backward(self, op: Op) -> bool:
        """Whether the op ran in a gradient call, or uses the results of one."""
        return op.call is not None or op.id in self.users


class TraceIndex:
    """Tables of a whole trace, made when they are first needed."""

    def __init__(self, trace: Trace, came_back: CameBack) -> None:
        self.trace = trace
        self.came_back = came_back

    @cached_property
    def entry_of(self) -> dict[OpId, Op]:
        """Op → the recorded operation or compiled call that it ran inside of."""
        return {body: op for op in self.with_body for body in op.body}

    def left_for(self, constant: TensorId, since: TensorId) -> Sequence[TensorId]:
        """The tensors that a constant was made from: of those that ops of one place made, where one
        has an id after ``since`` no older ones. Ids count up."""
        tensors = self.came_back.get(constant, ())
        if len(tensors) < 2 or not since:
            return tensors
        recent = {self._place_of(tensor) for tensor in tensors if tensor > since}
        return [each for each in tensors if each > since or self._place_of(each) not in recent]

    def _place_of(self, tensor: TensorId) -> object:
        op = self.trace.maker(tensor)
        return (op.type, op.site.id) if op is not None else tensor

    def round_before(self, call: Call | None) -> TensorId:
        """The last target of the round before a call: what rounds before computed has no larger id.
        0 for the first round."""
        if call is None:
            return TensorId(0)
        own = max(call.target_tensors, default=TensorId(0))
        rounds = self._rounds[call.site.id, call.method]
        before = bisect_left(rounds, call.when, key=lambda other: other.when)
        for place in range(before - 1, -1, -1):
            targets = [target for target in rounds[place].target_tensors if target < own]
            if targets:
                return max(targets)
        return TensorId(0)

    @cached_property
    def _rounds(self) -> dict[tuple[int, str], list[Call]]:
        """The calls of each site and method, in their order."""
        found: dict[tuple[int, str], list[Call]] = {}
        for call in sorted(self.trace.calls, key=lambda call: call.when):
            found.setdefault((call.site.id, call.method), []).append(call)
        return found

    @cached_property
    def last_round(self) -> int:
        """The position in the order of events of the last call at a place that made several; 0
        without one."""
        several = (rounds[-1].when for rounds in self._rounds.values() if len(rounds) > 1)
        return max(several, default=0)

    @cached_property
    def with_body(self) -> tuple[Op, ...]:
        return tuple([op for op in self.trace.ops.values() if op.description.body])

    @cached_property
    def groups(self) -> Mapping[OpId, Op]:
        """Op → the recorded operation or compiled loop whose group it is in."""
        return entries_around(self.trace)

    @cached_property
    def handed_on(self) -> Mapping[tuple[OpId, TensorId], Sequence[TensorId]]:
        """`handed_on` without counters: integers that no gradient could reach."""
        trace, carrying = self.trace, self.descent.carrying
        return {
            taking: [
                tensor for tensor in handed if tensor in carrying or not is_integer(trace, tensor)
            ]
            for taking, handed in handed_on(trace).items()
        }

    @cached_property
    def in_order(self) -> tuple[Op, ...]:
        """The ops in the order they ran."""
        return tuple(self.trace.ops.values())

    @cached_property
    def takers(self) -> NumberPairs:
        """Tensor → the indices, in :attr:`in_order`, of the ops that take it."""
        tensors, places = array("q"), array("q")
        for place, op in enumerate(self.in_order):
            for tensor in op.inputs:
                tensors.append(tensor)
                places.append(place)
        return NumberPairs(tensors, places)

    @cached_property
    def bound_lines(self) -> dict[TensorId, int]:
        """Tensor → the line that first bound it to a name."""
        return bound_lines(self.trace)

    @cached_property
    def results(self) -> dict[TensorId, Call]:
        """Gradient → the call that returned it."""
        return {
            result: call
            for call in shown_calls(self.trace)
            for result in call.results
            if result is not None
        }

    def trained(self, op: Op) -> Set[TensorId]:
        """The variables that a call of a compiled function trains: those whose gradients are asked
        for in there. Empty for other ops."""
        return self._trained.get(op.runs, frozenset())

    @cached_property
    def _trained(self) -> dict[int, set[TensorId]]:
        """The sources of gradient calls in compiled functions, by the graph of the function."""
        trained: dict[int, set[TensorId]] = {}
        for call in self.trace.calls:
            if call.within is not None and (function := self.trace.ops[call.within].runs):
                asked = (each.tensor for each in call.sources if each.tensor is not None)
                trained.setdefault(function, set()).update(asked)
        return trained

    @cached_property
    def descent(self) -> Descent:
        """The tensors and ops that derive from what a gradient could reach; one pass over the
        ops."""
        trace, came_back = self.trace, self.came_back
        carrying = set(asked_for(trace, shown_calls(trace)))
        carrying.update(trace.reads)
        users: set[OpId] = set()
        tainted: set[TensorId] = set()
        touching = {op for op, _ in trace.touches}
        for op in trace.ops.values():
            inputs = op.inputs
            for tensor in inputs if came_back else ():
                back = came_back.get(tensor)
                if back and not carrying.isdisjoint(back):
                    carrying.add(tensor)
            if not carrying.isdisjoint(inputs) or (
                op.id in touching
                and any((op.id, VariableId(tensor)) in trace.touches for tensor in inputs)
            ):
                outputs = op.outputs
                if op.id in trace.loops:  # outputs of its body: of integers that is known there
                    outputs = tuple([t for t in outputs if not is_integer(trace, t)])
                carrying.update(outputs)
            if op.call is not None or not tainted.isdisjoint(inputs):
                if op.call is None:
                    users.add(op.id)
                tainted.update(op.outputs)
                _taint_optimizer_state(trace, op, tainted)
        return Descent(carrying, users)


@for_latest
def entries_around(trace: Trace) -> Mapping[OpId, Op]:
    """:func:`enclosing_entries`, found once for all pictures of a trace."""
    return enclosing_entries(trace)


@for_latest
def calls_by_id(trace: Trace) -> Mapping[CallId, Call]:
    """The gradient calls of a trace by their ids, found once for all pictures of it."""
    return {call.id: call for call in trace.calls}


def enclosing_entries(trace: Trace) -> dict[OpId, Op]:
    """Op → the innermost recorded operation or compiled loop that it ran inside of.

    A function that asks for gradients itself is left out, as the picture is about its inside, and
    one that TensorFlow wraps a loop in.
    """
    around: dict[OpId, Op] = {}
    for op in trace.ops.values():
        if not op.description.body:
            continue
        if op.function == _WRAPPER:
            continue
        is_function = op.is_compiled_call or op.type.endswith("PartitionedCall")
        if not (is_function and any(trace.ops[inside].call is not None for inside in op.body)):
            for inside in op.body:
                around.setdefault(inside, op)
    return around


def _taint_optimizer_state(trace: Trace, op: Op, tainted: set[TensorId]) -> None:
    """Mark what is read from a variable that is not trainable after a gradient was written to it
    (an optimizer's moments)."""
    version = trace.writes.get(op.id)
    variable = trace.variables.get(version.variable) if version is not None else None
    if version is None or variable is None or variable.trainable:
        return
    following = variable.versions[version.index + 1 : version.index + 2]
    tainted.update(version.reads)
    for later in following:
        tainted.update(later.reads)


def shown_calls(trace: Trace) -> tuple[Call, ...]:
    """The gradient calls that a picture can show: the snippet's own, or all if there are none."""
    return tuple(call for call in trace.calls if call.is_direct) or trace.calls


def asked_for(trace: Trace, calls: Iterable[Call]) -> frozenset[TensorId]:
    """The tensors that the snippet gave to a tape: targets, sources, and those that it watched."""
    calls = tuple(calls)
    asked = {t for call in calls for t in (*call.target_tensors, *call.source_tensors)}
    for identity in {call.tape for call in calls}:
        tape = trace.tape(identity)
        watches = tape.watches if tape is not None else ()
        asked |= {watch.tensor for watch in watches if not watch.automatic}
    return frozenset(asked)


def version_before(trace: Trace, handle: TensorId, tensor: TensorId) -> Version | None:
    """The version of a variable that was read last before a tensor was made (ids count up); None if
    ``handle`` is no variable's."""
    variable = trace.variable(handle)
    if variable is None or not variable.versions:
        return None
    before = [
        version for version in variable.versions if any(read < tensor for read in version.reads)
    ]
    return before[-1] if before else variable.versions[0]
