"""Walk back from tensors to the ops, versions and tensors of the picture that made them."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field

from ..trace.calls import Call
from ..trace.ids import OpId, TensorId, VariableId, VersionId
from ..trace.ops import Op
from ..trace.state import keeps_prior_state
from ..trace.variables import Variable, Version
from .trace_index import TraceIndex, version_before

WayPoint = TensorId | VersionId | Op


@dataclass(slots=True)
class Scope:
    """The content of a picture. ``tensors``: values that no op made; ``outside``: values made by
    ops that are not in the picture."""

    ops: set[OpId] = field(default_factory=set)
    versions: set[VersionId] = field(default_factory=set)
    tensors: set[TensorId] = field(default_factory=set)
    outside: set[TensorId] = field(default_factory=set)
    cuts: set[OpId] = field(default_factory=set)
    """Ops at which a gradient ends, or that made it NaN or infinite."""
    returned: set[TensorId] = field(default_factory=set)
    """Constants at which a gradient ends, since their values came back from Python or NumPy."""

    def add(self, point: WayPoint) -> None:
        """Add an op, a version or a tensor."""
        if isinstance(point, Op):
            self.ops.add(point.id)
        elif isinstance(point, VersionId):
            self.versions.add(point)
        else:
            self.tensors.add(point)


class ScopeWalk:
    """Adds tensors to a scope, with the ops and versions that they were made from.

    ``is_shown(op, tensor)``: whether an op belongs to the picture; ``tensor``: its output that the
    walk came from, None if it came through state or Python. ``since``: see
    :meth:`TraceIndex.left_for`. What is ``admitted`` belongs to the
    scope wherever it ran.
    """

    def __init__(
        self,
        index: TraceIndex,
        scope: Scope,
        is_shown: Callable[[Op, TensorId | None], bool],
        admitted: Scope | None = None,
        since: TensorId = TensorId(0),  # noqa: B008
    ) -> None:
        self._index = index
        self._since = since
        self._trace = index.trace
        self._is_shown = is_shown
        self._admitted = admitted or Scope()
        self._seen: set[TensorId] = set()
        self.scope = scope

    def reach(self, tensors: Iterable[TensorId]) -> None:
        """Add tensors and all that they were made from."""
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
        """The tensors whose values came back as this constant, if they belong to the picture."""
        further: list[TensorId] = []
        for left in self._index.left_for(returned, self._since):
            version = version_before(self._trace, left, returned)
            if version is not None:
                if version.id in self._admitted.versions:
                    further.extend(self.keep_version(version))
                continue
            op = self._trace.maker(left)
            is_shown = op is not None and self._is_shown(op, None)
            if is_shown or left in self._admitted.tensors or (op and op.id in self._admitted.ops):
                further.append(left)
        return further

    def keep(self, op: Op) -> None:
        """Add an op and all that its inputs were made from."""
        self.reach(self._keep_op(op))

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
                further.extend(self._index.handed_on.get((op.id, tensor), ()))
                continue
            touched = self._trace.touches.get((op.id, handle))
            if touched is not None:
                further.extend(self.keep_version(touched))
        return further

    def keep_version(self, version: Version) -> list[TensorId]:
        """Add a version and the writes that led to it, as far as they belong to the picture;
        returns the tensors to reach next."""
        further: list[TensorId] = []
        while (key := version.id) not in self.scope.versions:
            self.scope.versions.add(key)
            op = self._trace.op(version.op)
            if version.index == 0:
                value = version.value
                if value is not None and value in self._index.descent.carrying:
                    made = self._trace.maker(value)
                    is_shown = made is not None and self._is_shown(made, None)
                    if is_shown or key in self._admitted.versions:
                        further.append(value)
                break
            if op is None or not (op.id in self._admitted.ops or self._is_shown(op, None)):
                break
            further.extend(self._keep_op(op))
            if not keeps_prior_state(op.type):
                break
            version = self._trace.version(key.prior)
        return further

    def reach_operand(self, tensor: TensorId, call: Call) -> None:
        """Add a source of the call, whether or not a gradient reached it."""
        variable = self._trace.variable(tensor)
        if variable is None:
            self.reach([tensor])
            return
        reached, versions = self.scope.versions, variable.versions
        if len(reached) < len(versions):  # of a variable that every round writes to
            is_reached = any(key.variable == variable.id for key in reached)
        else:
            is_reached = any(version.id in reached for version in versions)
        if is_reached:
            return
        self._reach_version(variable, call)

    def reach_targets(self, call: Call) -> None:
        """Add the targets of a call, of a variable the version that it had then, and all that they
        were made from."""
        for tensor in call.target_tensors:
            variable = self._trace.variable(tensor)
            if variable is None:
                self.reach([tensor])
            else:
                self._reach_version(variable, call)

    def _reach_version(self, variable: Variable, call: Call) -> None:
        seen = variable.version_at(call.when)
        if seen is not None:
            self.reach(self.keep_version(seen))
