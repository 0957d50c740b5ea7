"""Find what the targets of a gradient call were made from: while its tape ran, and before.

Weights carry the past: each was written by an update that was made from gradients, those from
the weights before, back to the first step. A call is first judged without that past, and only a
source that nothing else leads from is looked for in it.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable
from functools import cached_property

from ...trace.model import Call, TapeId, TensorId
from ...trace.op_kinds import ops_with
from .dataflow import Ancestry, DataEdge, DataFlow, EdgesInto, Position

_COPIES = ops_with("copy")

_MOST_PAST = 2_000
"""A loop of many steps has a past that grows with each: so much of it is looked at every time."""


class Paths:
    """The ancestry of one call's targets."""

    def __init__(self, flow: DataFlow, call: Call) -> None:
        self._flow = flow
        self._call = call
        tape = flow.trace.tapes.get(call.tape or TapeId(0))
        self._start = tape.intervals[0].start if tape and tape.intervals else 0

    @cached_property
    def targets(self) -> tuple[Position, ...]:
        """The positions where the targets end."""
        tensors = (target.tensor for target in self._call.targets if target.tensor is not None)
        return tuple(
            position
            for tensor in tensors
            for position in self._flow.positions_of_target(tensor, self._call.when)
        )

    def starts(self, source: TensorId) -> tuple[Position, ...]:
        """The positions where a source begins."""
        return self._flow.positions_of_source(source)

    @cached_property
    def recent(self) -> Ancestry:
        """The ancestry without values that went into variables or left TensorFlow before the tape
        began to record."""
        return self._flow.ancestry(self.targets, self._is_past_write)

    @cached_property
    def whole(self) -> Ancestry:
        """The ancestry with those values, but without updates that were made from gradients and
        without what ran long before."""
        most = len(self.recent) + _MOST_PAST
        return self._flow.ancestry(self.targets, self._is_past_gradient, most)

    def ancestry_from(self, starts: Iterable[Position]) -> Ancestry:
        """The recent or the whole ancestry: the one in which these positions lead to the
        targets."""
        leads_to = self.recent.leads_from(starts)
        return self.recent if any(target in leads_to for target in self.targets) else self.whole

    def is_copied_before(self, starts: Collection[Position], edges: EdgesInto) -> bool:
        """Whether the source's own value, unchanged, was written into variables before the tape
        began, and these ``edges`` lead from it to the targets in no other way.

        So the weights of a target network are set, which is a network of its own from then on.
        """
        if self.ancestry_from(starts) is self.recent:
            return False
        copies = [
            edge
            for into in edges.values()
            for edge in into
            if edge.kind == "assign" and self._is_past_write(edge)
        ]
        unchanged = Ancestry(
            {
                position: tuple(edge for edge in into if self._keeps_value(edge))
                for position, into in edges.items()
            }
        ).leads_from(starts)
        reached = {*starts, *unchanged}
        return bool(copies) and all(edge.start in reached for edge in copies)

    def _keeps_value(self, edge: DataEdge) -> bool:
        op = self._flow.trace.ops.get(edge.op) if edge.op is not None else None
        return edge.kind != "op" or (op is not None and op.type in _COPIES)

    def writes_since(self, starts: Iterable[Position]) -> int:
        """When the writes that this ancestry goes through begin: a time of the recording."""
        return self._start if self.ancestry_from(starts) is self.recent else 0

    def _is_past_write(self, edge: DataEdge) -> bool:
        if edge.leave is not None:
            return edge.leave.when < self._start
        if edge.kind not in ("assign", "state", "creation") or edge.op is None:
            return False
        return self._flow.trace.ops[edge.op].when < self._start

    def _is_past_gradient(self, edge: DataEdge) -> bool:
        op = self._flow.trace.ops.get(edge.op) if edge.op is not None else None
        if op is None or op.when >= self._start:
            return False
        return op.call is not None or "Apply" in op.type
