"""Find the ops and values between a source without a gradient and the targets.

The ways lead through state, through Python and NumPy, and through ops that no tape recorded.
"""

from __future__ import annotations

import heapq
from collections.abc import Callable, Collection, Iterable, Mapping
from typing import NamedTuple

from ..trace.model import Call, Op, OpId, TensorId, VariableId, VersionId
from ..trace.state import keeps_prior_state
from .scope_walk import Scope
from .trace_index import TraceIndex, version_before
from .words import is_assign

_MOST_UNCONNECTED = 60
"""Ops to show, at most, that a source leads to if none of them leads to the target."""


class _Ran(NamedTuple):
    """An op on a way."""

    op: OpId


WayPoint = TensorId | VersionId | _Ran


def ways_between(
    index: TraceIndex, targets: Iterable[TensorId], sources: Collection[TensorId]
) -> Scope:
    """The ops, versions and tensors on any way from the sources to the targets: through state,
    through Python, through ops that no tape recorded.

    A gradient that an optimizer wrote into a variable is no such way, unless a tape recorded it.
    """
    trace = index.trace
    onward: dict[WayPoint, list[WayPoint]] = {}
    waiting: list[tuple[WayPoint, bool]] = [(tensor, False) for tensor in targets]
    seen = {position for position, _ in waiting}
    starts: list[WayPoint] = []

    def lead(source: WayPoint, target: WayPoint, past_write: bool) -> None:
        onward.setdefault(source, []).append(target)
        if source not in seen:
            seen.add(source)
            waiting.append((source, past_write))

    while waiting:
        position, past_write = waiting.pop()
        if isinstance(position, int):
            if position in sources:
                starts.append(position)
                continue
            read = trace.reads.get(position)
            producer = trace.producers.get(position)
            if read is not None:
                lead(read.id, position, past_write)
            elif producer is not None:
                op = trace.ops[producer]
                if past_write and index.descent.is_backward(op) and not op.tapes:
                    continue
                lead(_Ran(producer), position, past_write)
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
                lead(_Ran(version.op), position, True)
                if keeps_prior_state(trace.ops[version.op].type):
                    lead(position.prior, position, True)
    return _between(starts, onward)


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
    index: TraceIndex,
    call: Call,
    source: TensorId,
    scope: Scope,
    is_inside: Callable[[Op], bool],
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
