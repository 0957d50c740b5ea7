"""Find the ops and values between a source without a gradient and the targets, and the ops at which
its gradient is cut.

The paths lead through state, through Python and NumPy, and through ops that no tape recorded.
"""

from __future__ import annotations

import heapq
from array import array
from collections import deque
from collections.abc import Callable, Collection, Iterable
from functools import cached_property

from ..analysis.flow.dataflow import position_of_target
from ..trace.calls import Call
from ..trace.ids import OpId, TensorId, VariableId, VersionId
from ..trace.model import Trace
from ..trace.number_maps import NumberPairs
from ..trace.op_kinds import ops_with
from ..trace.ops import Op
from ..trace.state import keeps_prior_state
from ..trace.tapes import is_differentiable
from .scope_walk import Scope, WayPoint
from .trace_index import TraceIndex, version_before
from .words import is_assign

_FORM_OPS = ops_with("form")
_MOST_CUTS = 6
_MANY = 1_000
"""More cuts than these are not kept until the last ones are known."""
_UNREACHED = 1 << 60
_MOST_UNCONNECTED = 60
"""Ops to show, at most, that a source leads to if none of them leads to the target."""


class _Paths:
    """The tensors, versions and ops on the paths, each with a number, and what follows on what."""

    def __init__(self, targets: Iterable[TensorId | VersionId]) -> None:
        self.points: list[WayPoint] = []
        self._values: dict[TensorId | VersionId, int] = {}
        self._ops: dict[OpId, int] = {}
        self._sources, self._takers = array("q"), array("q")
        self.targets = sorted({self.number(tensor) for tensor in targets})

    def number(self, point: WayPoint) -> int:
        """The number of a point, which is the next one if it is new."""
        new = len(self.points)
        if isinstance(point, Op):
            number = self._ops.setdefault(point.id, new)
        else:
            number = self._values.setdefault(point, new)
        if number == new:
            self.points.append(point)
        return number

    def join(self, source: int, taker: int) -> None:
        """Say that the point ``taker`` follows on the point ``source``."""
        self._sources.append(source)
        self._takers.append(taker)

    def close(self) -> None:
        """Forget the numbers of points, once all are joined."""
        self._values.clear()
        self._ops.clear()

    @cached_property
    def onward(self) -> NumberPairs:
        return NumberPairs(self._sources, self._takers)

    @cached_property
    def backward(self) -> NumberPairs:
        return NumberPairs(self._takers, self._sources)


def paths_between(index: TraceIndex, call: Call, sources: Collection[TensorId]) -> Scope:
    """The ops, versions and tensors on the paths from sources to the call's targets: through state,
    through Python, through ops that no tape recorded. For each source only the paths with the
    fewest cuts. The scope's ``cuts`` are the ops that the gradient of ``call`` does
    not pass on these.

    A gradient that an optimizer wrote into a variable is no such path, unless a tape recorded it.
    Paths through an op that looks at the form of a tensor count where a source has no other.
    """
    trace, since = index.trace, index.round_before(call)
    paths = _Paths(position_of_target(trace, tensor, call.when) for tensor in call.target_tensors)
    waiting = [(number, False) for number in paths.targets]
    at_forms: list[tuple[int, bool]] = []
    starts: list[int] = []
    reached: set[TensorId] = set()

    def lead(source: WayPoint, taker: int, past_write: bool) -> None:
        known = len(paths.points)
        number = paths.number(source)
        if number == known:
            waiting.append((number, past_write))
        paths.join(number, taker)

    while waiting or (at_forms and len(reached) < len(sources)):
        is_at_form = not waiting
        place, past_write = (waiting or at_forms).pop()
        position = paths.points[place]
        if isinstance(position, int):
            if position in sources:
                starts.append(place)
                reached.add(position)
                continue
            read = trace.reads.get(position)
            op = trace.maker(position)
            if read is not None:
                lead(read.id, place, past_write)
            elif op is not None:
                if past_write and index.descent.is_backward(op) and not op.tapes:
                    continue
                lead(op, place, past_write)
            for left in index.left_for(position, since):
                written = version_before(trace, left, position)
                lead(left if written is None else written.id, place, past_write)
        elif isinstance(position, Op):
            if position.type in _FORM_OPS and not is_at_form:
                at_forms.append((place, past_write))
                continue
            for tensor in position.inputs:
                if VariableId(tensor) not in trace.variables:
                    lead(tensor, place, past_write)
                elif touched := trace.touches.get((position.id, VariableId(tensor))):
                    lead(touched.id, place, past_write)
        else:
            if TensorId(position.variable) in sources:
                starts.append(place)
                reached.add(TensorId(position.variable))
                continue
            version = trace.version(position)
            if version.index == 0:
                if version.value is not None and version.value in index.descent.carrying:
                    lead(version.value, place, past_write)
            elif version.op is not None and version.op in trace.ops:
                writer = trace.ops[version.op]
                if writer.tapes or TensorId(position.variable) not in index.trained(writer):
                    lead(writer, place, True)
                if keeps_prior_state(writer.type):
                    lead(position.prior, place, True)
    paths.close()
    reached.clear()  # what follows takes as much memory again
    return _least_cut(trace, call, paths, starts)


def _least_cut(trace: Trace, call: Call, paths: _Paths, starts: Iterable[int]) -> Scope:
    """Find the points of the paths that are cut least often, and the ops and the returned constants
    at which they are cut: at most the last six to run of each.

    Where several cuts lie on all paths, or a side path has one more, closing the others would not
    let the gradient pass.
    """
    points = paths.points
    cut_at = _CutBetween(trace, call)
    fewest = array("q", [_UNREACHED]) * len(points)
    """The cuts from a position to the targets, on the paths that have the fewest."""
    for target in paths.targets:
        fewest[target] = 0
    waiting = deque(paths.targets)
    while waiting:
        place = waiting.popleft()
        for source in paths.backward.all(place):
            is_cut = cut_at(points[source], points[place])
            count = fewest[place] + is_cut
            if count < fewest[source]:
                fewest[source] = count
                (waiting.append if is_cut else waiting.appendleft)(source)
    found = Scope()
    left = [start for start in starts if fewest[start] != _UNREACHED]
    reached = bytearray(len(points))
    for start in left:
        reached[start] = True
    while left:
        place = left.pop()
        position = points[place]
        found.add(position)
        for further in paths.onward.all(place):
            follower = points[further]
            is_cut = cut_at(position, follower)
            if fewest[further] == _UNREACHED or fewest[place] != fewest[further] + is_cut:
                continue
            if is_cut and (op := _op_of(position, follower)) is not None:
                found.cuts.add(op)
                if len(found.cuts) > _MANY:
                    found.cuts = _latest(trace, found.cuts)
            elif is_cut and isinstance(follower, int):
                found.returned.add(follower)
            if not reached[further]:
                reached[further] = True
                left.append(further)
    found.cuts = _latest(trace, found.cuts)
    found.returned = set(sorted(found.returned)[-_MOST_CUTS:])
    return found


def _latest(trace: Trace, cuts: Iterable[OpId]) -> set[OpId]:
    """The last cuts to run."""
    return set(heapq.nlargest(_MOST_CUTS, cuts, key=lambda op: trace.ops[op].when))


def _op_of(source: WayPoint, target: WayPoint) -> OpId | None:
    """The op among two positions that follow each other."""
    ran = target if isinstance(target, Op) else source
    return ran.id if isinstance(ran, Op) else None


class _CutBetween:
    """Tells whether the gradient of a call is cut between two positions that follow each other: at
    an op that it does not pass, at a write, or where the value was in Python's hands."""

    def __init__(self, trace: Trace, call: Call) -> None:
        self._trace = trace
        self._tape = call.tape
        self._passed = {step.op for step in call.steps} if call.tape is None else set()
        """Asked for of ``tf.gradients`` alone, which has no tape."""
        self._stopped = {step.op for step in call.steps if not any(step.downstream)}
        tensors = call.source_tensors
        self._sources = {tensor for tensor in tensors if VariableId(tensor) not in trace.variables}
        """The handles of variables are no positions: their versions are."""

    def __call__(self, source: WayPoint, target: WayPoint) -> bool:
        trace = self._trace
        if isinstance(target, Op):
            if target.id in self._stopped:
                return True
            # A tape records no op that takes nothing it follows: of such ops one after the other
            # the first is the cut.
            return not self._is_recorded(target) and self._is_followed(source)
        if isinstance(target, int) and isinstance(source, Op):
            return self._is_recorded(source) and not self._is_followed(target)
        if isinstance(target, int):
            return target not in trace.reads
        return isinstance(source, int)  # the first value of a variable

    def _is_recorded(self, op: Op) -> bool:
        if self._tape is None:
            return op.id in self._passed
        return self._tape in op.tapes

    def _is_followed(self, position: WayPoint) -> bool:
        """Whether the tape follows a value: a source, a version, or what a recorded op made, unless
        it is of a type without gradients."""
        if not isinstance(position, int) or position in self._sources:
            return True
        tensor = self._trace.tensors.get(position)
        if tensor is not None and not is_differentiable(tensor.dtype):
            return False
        maker = self._trace.maker(position)
        return position in self._trace.reads or maker is None or self._is_recorded(maker)


def find_offspring(
    index: TraceIndex, call: Call, source: TensorId, scope: Scope, is_inside: Callable[[Op], bool]
) -> list[TensorId]:
    """Outputs of the recorded ops that a source without a gradient leads to; empty if there are
    more than 60 such ops."""
    trace = index.trace
    variable = trace.variable(source)
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
