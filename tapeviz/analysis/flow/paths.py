"""Find what the targets of a gradient call were made from: while its tape ran, and before.

Weights carry the past: each was written by an update that was made from gradients, those from
the weights before, back to the first step. A call is first judged without that past, and only a
source that nothing else leads from is looked for in it.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Set
from functools import cached_property
from typing import NamedTuple

from ...text.line_words import lines_in_words
from ...trace.calls import Call
from ...trace.ids import OpId, TapeId, TensorId, VariableId, VersionId
from ...trace.op_kinds import ops_with
from .ancestry import Ancestry, DataEdge, EdgesInto, Position
from .control import deciders_of
from .dataflow import DataFlow, position_of_target

_COPIES = ops_with("copy")

_MOST_PAST = 2_000
"""A loop of many steps has a past that grows with each: so much of it is looked at every time."""
_MOST_HELD = 20
"""The number of writes before a tape that are reported as held fixed."""


def _is_into(edge: DataEdge, source: TensorId) -> bool:
    """Whether the value went into the source itself."""
    end = edge.end
    return end.variable == VariableId(source) if isinstance(end, VersionId) else end == source


class Held(NamedTuple):
    """The past before a tape began to record, which a gradient across a cut does not count.

    ``lines``: where values went into variables or left TensorFlow; ``has_updates``: variables were
    updated by gradients.
    """

    lines: tuple[int, ...] = ()
    has_updates: bool = False

    def words(self, source: str) -> str:
        """Empty if nothing is held."""
        if self.has_updates:
            return "updates made of earlier gradients are held fixed"
        if not self.lines:
            return ""
        lines = lines_in_words(self.lines)
        return f"what {lines} made of {source} before the tape began is held fixed"


class Paths:
    """The ancestry of one call's targets. ``begin``: when the call's tape first recorded."""

    def __init__(self, flow: DataFlow, call: Call) -> None:
        self._flow = flow
        self._call = call
        tape = flow.trace.tapes.get(call.tape or TapeId(0))
        self.begin = tape.intervals[0].start if tape and tape.intervals else 0

    @cached_property
    def targets(self) -> tuple[Position, ...]:
        """The positions where the targets end."""
        trace, call = self._flow.trace, self._call
        return tuple([position_of_target(trace, t, call.when) for t in call.target_tensors])

    def starts(self, source: TensorId) -> Set[Position]:
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
        # A loop has a version of a weight for each round: ``isdisjoint`` goes over the fewer ones.
        return self.whole if self.recent.into.keys().isdisjoint(starts) else self.recent

    @cached_property
    def deciders(self) -> Mapping[Position, OpId]:
        """For each position that decides about a conditional or a loop of a compiled function while
        the tape records, and that has no other path to the targets: that conditional or loop."""
        return deciders_of(self._flow, self.targets, self._is_past_write)

    def copied_before(self, starts: Collection[Position], edges: EdgesInto) -> int:
        """The line that wrote the source's own value, unchanged, into a variable before the tape
        began; 0 if none did, or if these ``edges`` lead from it to the targets on another path.

        So the weights of a target network are set, which is a network of its own from then on.
        """
        if self.ancestry_from(starts) is self.recent:
            return 0
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
        if not all(edge.start in reached for edge in copies):
            return 0
        return next((line for edge in copies if (line := self._line_of(edge))), 0)

    def held(self, starts: Collection[Position], source: TensorId) -> Held:
        """Tell what :meth:`ancestry_from` leaves out of the paths from a source to the targets."""
        if self.ancestry_from(starts) is not self.recent:
            return Held(has_updates=any(start in self._before_updates for start in starts))
        lines = {
            line
            for edge, before in self._before_writes.items()
            if not _is_into(edge, source) and any(start in before for start in starts)
            if (line := self._line_of(edge))
        }
        return Held(lines=tuple(sorted(lines)))

    def _line_of(self, edge: DataEdge) -> int:
        if edge.leave is not None:
            return edge.leave.site.line
        return self._flow.trace.ops[edge.op].line if edge.op is not None else 0

    @cached_property
    def _before_writes(self) -> Mapping[DataEdge, frozenset[Position]]:
        """For each path over which values went into variables or left TensorFlow before the tape
        began to record: the positions that lead to it. Some of them, if there are many."""
        edges = [
            edge for into in self.whole.into.values() for edge in into if self._is_past_write(edge)
        ]
        return {
            edge: frozenset(
                self._flow.ancestry([edge.start], self._is_past_gradient, _MOST_PAST).into
            )
            for edge in edges[:_MOST_HELD]
        }

    @cached_property
    def _before_updates(self) -> frozenset[Position]:
        """The positions that lead to a gradient that ran before the tape began to record."""
        most = len(self.recent) + _MOST_PAST
        found = self._flow.ancestry(self.targets, None, most)
        edges = [
            edge for into in found.into.values() for edge in into if self._is_past_gradient(edge)
        ]
        return frozenset(self._flow.ancestry([edge.start for edge in edges], None, most).into)

    def _keeps_value(self, edge: DataEdge) -> bool:
        op = self._flow.trace.op(edge.op)
        return edge.kind != "op" or (op is not None and op.type in _COPIES)

    def writes_since(self, starts: Iterable[Position]) -> int:
        """The time at which the writes that this ancestry goes through begin."""
        return self.begin if self.ancestry_from(starts) is self.recent else 0

    def _is_past_write(self, edge: DataEdge) -> bool:
        if edge.leave is not None:
            return edge.leave.when < self.begin
        if edge.kind not in ("assign", "state", "creation") or edge.op is None:
            return False
        return self._flow.trace.ops[edge.op].when < self.begin

    def _is_past_gradient(self, edge: DataEdge) -> bool:
        op = self._flow.trace.op(edge.op)
        if op is None or op.when >= self.begin:
            return False
        return op.call is not None or "Apply" in op.type
