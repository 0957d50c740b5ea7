"""Find the ops and values between a source without a gradient and the targets, and the ops at which
its gradient is cut.

The ways lead through state, through Python and NumPy, and through ops that no tape recorded.
"""

from __future__ import annotations

import heapq
from collections import deque
from collections.abc import Callable, Collection, Iterable, Mapping
from typing import NamedTuple

from ..trace.model import Call, Op, OpId, TensorId, Trace, VariableId, VersionId
from ..trace.state import keeps_prior_state
from ..trace.tapes import is_differentiable
from .scope_walk import Scope
from .trace_index import TraceIndex, version_before
from .words import is_assign

_MOST_CUTS = 6
_MOST_UNCONNECTED = 60
"""Ops to show, at most, that a source leads to if none of them leads to the target."""


class _Ran(NamedTuple):
    """An op on a way."""

    op: OpId


WayPoint = TensorId | VersionId | _Ran


def ways_between(
    index: TraceIndex, call: Call, targets: Collection[TensorId], sources: Collection[TensorId]
) -> Scope:
    """The ops, versions and tensors on any way from the sources to the targets: through state,
    through Python, through ops that no tape recorded. The scope's ``cuts`` are the ops that the
    gradient of ``call`` does not pass on the ways that are cut least often.

    A gradient that an optimizer wrote into a variable is no such way, unless a tape recorded it.
    """
    trace = index.trace
    onward: dict[WayPoint, list[WayPoint]] = {}
    waiting: list[tuple[WayPoint, bool]] = [(tensor, False) for tensor in targets]
    first = {position for position, _ in waiting}
    starts: list[WayPoint] = []

    def lead(source: WayPoint, target: WayPoint, past_write: bool) -> None:
        if source not in onward and source not in first:
            waiting.append((source, past_write))
        onward.setdefault(source, []).append(target)

    while waiting:
        position, past_write = waiting.pop()
        if isinstance(position, int):
            if position in sources:
                starts.append(position)
                continue
            read = trace.reads.get(position)
            op = trace.maker(position)
            if read is not None:
                lead(read.id, position, past_write)
            elif op is not None:
                if past_write and index.descent.is_backward(op) and not op.tapes:
                    continue
                lead(_Ran(op.id), position, past_write)
            for left in index.links.get(position, ()):
                written = version_before(trace, left, position)
                lead(left if written is None else written.id, position, past_write)
        elif isinstance(position, _Ran):
            op = trace.ops[position.op]
            for tensor in op.inputs:
                if VariableId(tensor) not in trace.variables:
                    lead(tensor, position, past_write)
                elif (touched := trace.touches.get((op.id, VariableId(tensor)))) is not None:
                    lead(touched.id, position, past_write)
        else:
            if TensorId(position.variable) in sources:
                starts.append(position)
                continue
            version = trace.version(position)
            if version.index == 0:
                if version.value is not None and version.value in index.descent.carrying:
                    lead(version.value, position, past_write)
            elif version.op is not None and version.op in trace.ops:
                writer = trace.ops[version.op]
                if writer.tapes or TensorId(position.variable) not in index.trained(writer):
                    lead(_Ran(version.op), position, True)
                if keeps_prior_state(trace.ops[version.op].type):
                    lead(position.prior, position, True)
    scope = _between(list(starts), onward)
    scope.cuts = _cuts(trace, call, starts, targets, onward)
    return scope


def _cuts(
    trace: Trace,
    call: Call,
    starts: Iterable[WayPoint],
    targets: Iterable[TensorId],
    onward: Mapping[WayPoint, list[WayPoint]],
) -> set[OpId]:
    """The ops at which the ways with the fewest cuts are cut; at most the last six to run.

    Where several cuts lie on all ways, or a side way has one more, closing the others would not
    let the gradient pass.
    """
    cut_at = _CutBetween(trace, call)
    backward: dict[WayPoint, tuple[WayPoint, ...]] = {}
    several: dict[WayPoint, list[WayPoint]] = {}
    for source, takers in onward.items():
        for taker in takers:
            if taker not in backward:  # as of nearly all
                backward[taker] = (source,)
            else:
                several.setdefault(taker, []).append(source)
    for taker, more in several.items():
        backward[taker] += tuple(more)
    fewest: dict[WayPoint, int] = dict.fromkeys(targets, 0)
    """The cuts from a position to the targets, on the ways that have the fewest."""
    waiting = deque(fewest)
    while waiting:
        position = waiting.popleft()
        for source in backward.get(position, ()):
            is_cut = cut_at(source, position)
            count = fewest[position] + is_cut
            if count < fewest.get(source, count + 1):
                fewest[source] = count
                (waiting.append if is_cut else waiting.appendleft)(source)
    found: set[OpId] = set()
    reached = {start for start in starts if start in fewest}
    left = list(reached)
    while left:
        position = left.pop()
        for further in onward.get(position, ()):
            is_cut = cut_at(position, further)
            if further not in fewest or fewest[position] != fewest[further] + is_cut:
                continue
            if is_cut and (op := _op_of(position, further)) is not None:
                found.add(op)
            if further not in reached:
                reached.add(further)
                left.append(further)
    return set(sorted(found, key=lambda op: trace.ops[op].when)[-_MOST_CUTS:])


def _op_of(source: WayPoint, target: WayPoint) -> OpId | None:
    """The op among two positions that follow each other."""
    ran = target if isinstance(target, _Ran) else source
    return ran.op if isinstance(ran, _Ran) else None


class _CutBetween:
    """Tells whether the gradient of a call is cut between two positions that follow each other: at
    an op that it does not pass, at a write, or where the value was in Python's hands."""

    def __init__(self, trace: Trace, call: Call) -> None:
        self._trace = trace
        self._tape = call.tape
        self._passed = {step.op for step in call.steps}
        self._stopped = {step.op for step in call.steps if not any(step.downstream)}
        self._sources = {operand.tensor for operand in call.sources}

    def __call__(self, source: WayPoint, target: WayPoint) -> bool:
        trace = self._trace
        if isinstance(target, _Ran):
            if target.op in self._stopped:
                return True
            # A tape records no op that takes nothing it follows: of such ops one after the other
            # the first is the cut.
            return not self._is_recorded(target.op) and self._is_followed(source)
        if isinstance(target, int) and isinstance(source, _Ran):
            return self._is_recorded(source.op) and not self._is_followed(target)
        if isinstance(target, int):
            return target not in trace.reads
        return isinstance(source, int)  # the first value of a variable

    def _is_recorded(self, op: OpId) -> bool:
        if self._tape is None:  # tf.gradients
            return op in self._passed
        return self._tape in self._trace.ops[op].tapes

    def _is_followed(self, position: WayPoint) -> bool:
        """Whether the tape follows a value: a source, a version, or what a recorded op made, unless
        it is of a type without gradients."""
        if not isinstance(position, int) or position in self._sources:
            return True
        tensor = self._trace.tensors.get(position)
        if tensor is not None and not is_differentiable(tensor.dtype):
            return False
        maker = self._trace.producers.get(position)
        return position in self._trace.reads or maker is None or self._is_recorded(maker)


def _between(starts: list[WayPoint], onward: Mapping[WayPoint, list[WayPoint]]) -> Scope:
    """Everything that can be reached from ``starts`` by ``onward``."""
    found = Scope()
    reached = set(starts)
    while starts:
        position = starts.pop()
        if isinstance(position, VersionId):
            found.versions.add(position)
        elif isinstance(position, _Ran):
            found.ops.add(position.op)
        else:
            found.tensors.add(position)
        for further in onward.get(position, ()):
            if further not in reached:
                reached.add(further)
                starts.append(further)
    return found


def find_offspring(
    index: TraceIndex, call: Call, source: TensorId, scope: Scope, is_inside: Callable[[Op], bool]
) -> list[TensorId]:
    """Outputs of the recorded ops that a source without a gradient leads to; empty if there are
    more than 60 such ops."""
    trace = index.trace
    variable = trace.variables.get(VariableId(source))
    derived = {source}
    if variable is not None:
        derived.update(tensor for version in variable.versions for tensor in version.reads)
    made: list[TensorId] = []
    count = 0
    # Only ops that take a derived tensor, in the order in which they ran.
    waiting = [place for tensor in derived for place in index.takers.all(tensor)]
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
        if index.descent.is_backward(op) or op.type == "ReadVariableOp" or op.graph:
            continue
        if is_assign(trace, op) or not is_inside(op):
            continue
        for output in op.outputs:
            if output not in derived:
                derived.add(output)
                for further in index.takers.all(output):
                    if further > place:
                        heapq.heappush(waiting, further)
        if op.id not in scope.ops and not op.is_recorded_operation:
            made.extend(op.outputs)
            count += 1
        if count > _MOST_UNCONNECTED:
            return []
    return made
