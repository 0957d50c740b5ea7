"""Ops of compiled functions in: where they ran, what is known of them; told by the reader's events.

See :mod:`.bodies` for how a call comes to have ops of its own.
"""

from __future__ import annotations

from collections.abc import Callable, Set
from dataclasses import replace

from . import events as e
from .bodies import Bodies, Told
from .model import Op, OpId, Tensor, TensorId
from .state import States


class Functions:
    """Keeps the ops of a reader that belong to compiled functions."""

    def __init__(
        self,
        ops: dict[OpId, Op],
        producers: dict[TensorId, OpId],
        states: States,
        handles: Set[TensorId],
        bodies: Bodies,
    ) -> None:
        self._ops = ops
        self._producers = producers
        self._states = states
        self._handles = handles
        self._bodies = bodies
        self._entries: dict[OpId, OpId] = {}
        """The tape's entry for a call, by the op that was the call."""
        self._derived: dict[OpId, tuple[bool, ...]] = {}

    def inside(self, op: Op, within: OpId | None) -> Op:
        """The op with what is known of it as one of a function's inside."""
        return replace(op, within=within, derived=self._derived.get(op.id))

    def called(self, op: Op, told: Told) -> Op:
        """The call of a function, whose inside has been told."""
        body = tuple(OpId(one) for one in told.body if OpId(one) in self._ops)
        function, line = (told.about.function, told.about.line) if told.about else ("", 0)
        began = self._ops[body[0]].when if body else op.when
        self._states.called(op, self._handles, began)
        return replace(op, body=body, function=function, function_line=line)

    def take_over(self, entry: Op, call: Op) -> None:
        """The tape's entry for a function's call stands for that call."""
        del self._ops[call.id]
        self._entries[call.id] = entry.id
        self._states.renamed(call.id, entry.id)
        for one in call.body:
            if self._ops[one].within == call.id:
                self._ops[one] = replace(self._ops[one], within=entry.id)
        for tensor in (*call.outputs, *entry.outputs):
            if self._producers.get(tensor) == call.id:
                self._producers[tensor] = entry.id

    def computed(self, event: e.InsideComputed) -> None:
        """A call was looked into; so far only the first one of a graph has ops of its own."""
        call = OpId(self._bodies.first_calls.get(event.graph, 0))
        call = self._entries.get(call, call)
        if event.call == 1 and event.whole and call in self._ops:
            self._ops[call] = replace(self._ops[call], is_open=True)

    def chosen(self, event: e.BranchChosen) -> None:
        """A conditional takes only what the branch gave that it took."""
        for one in map(OpId, event.ops):
            op = self._ops.get(one)
            if op is not None and event.branch < len(op.inputs):
                self._ops[one] = replace(op, inputs=(op.inputs[event.branch],))

    def derived(self, event: e.Derived) -> None:
        op = OpId(event.op)
        self._derived[op] = tuple(event.given)
        if op in self._ops:
            self._ops[op] = replace(self._ops[op], derived=tuple(event.given))

    def values(self) -> dict[TensorId, TensorId]:
        """What functions gave for tensors of their graphs."""
        return {TensorId(one): TensorId(value) for one, value in self._bodies.values.items()}


def copying(
    tensors: dict[TensorId, Tensor],
    places: dict[TensorId, tuple[int, int]],
    texts: dict[TensorId, tuple[str, ...]],
) -> Callable[[int, int], None]:
    """Lets a graph's tensor stand for another one in a further run of the graph."""

    def copy(tensor: int, other: int) -> None:
        known, own = TensorId(tensor), TensorId(other)
        if known in tensors:
            tensors[own] = replace(tensors[known], id=own)
        if known in places:
            places[own] = places[known]
        if known in texts:
            texts[own] = texts[known]

    return copy
