"""Find the ops inside calls of compiled functions, and what is known of them.

See :mod:`.expansion` for how a call comes to have ops of its own.
"""

from __future__ import annotations

from collections.abc import Callable, Set
from dataclasses import replace
from typing import NamedTuple

from .. import events as e
from ..ids import OpId, TensorId, VariableId
from ..number_maps import GrowingMap
from ..ops import Op, Tensor
from ..state import VersionTracker
from .bodies import Bodies
from .located import EagerRun, LocatedEvent
from .model import Agreement, Conditional, Loop, RerunOutcome, TracedFunction, Word
from .rerun_ops import RerunOps


class WholeConditional(NamedTuple):
    """A conditional as TensorFlow ran it: the predicate and what its branches take, and all that it
    gave."""

    inputs: tuple[TensorId, ...]
    outputs: tuple[TensorId, ...]


class Functions:
    """Keeps the ops of a reader that belong to compiled functions."""

    def __init__(
        self,
        ops: dict[OpId, Op],
        producers: dict[TensorId, OpId],
        states: VersionTracker,
        handles: Set[TensorId],
        bodies: Bodies,
    ) -> None:
        self.words: dict[TensorId, Word] = {}
        self.copies: dict[TensorId, TensorId] = {}
        """Tensors that have the value of another one, which they do not go by."""
        self.traced_when: dict[int, int] = {}
        """The position in the order of events at which the tracing of each graph was complete."""
        self.loops: dict[OpId, Loop] = {}
        self.conditionals: dict[OpId, Conditional] = {}
        self.predicates: dict[OpId, tuple[TensorId, ...]] = {}
        self.wholes: dict[OpId, WholeConditional] = {}
        """For each op that stands for an output of a conditional the whole."""
        self.reruns: dict[OpId, RerunOps] = {}
        self._ops = ops
        self._producers = producers
        self._states = states
        self._handles = handles
        self._bodies = bodies
        self._calls: dict[int, list[OpId]] = {}
        self.entries: dict[OpId, OpId] = {}
        """The tape's entry for a call, by the op that was the call."""
        self.derivatives: dict[int, tuple[bool, ...]] = {}
        """The inputs with a gradient of each op that TensorFlow made the gradient of, by the number
        that the op was traced with."""
        self._traced: dict[int, list[OpId]] = {}
        """The ops of opened calls, by the number that they were traced with."""

    def inside(self, op: Op, located: LocatedEvent) -> Op:
        """The op with what is known of it as one of a function's inside."""
        if located.skipped is not None:
            taken, lines = located.skipped
            self.conditionals[op.id] = Conditional(op.id, taken, lines)
        if located.predicate:
            self.predicates[op.id] = tuple(map(TensorId, located.predicate))
        if located.whole is not None:
            inputs, outputs = located.whole
            self.wholes[op.id] = WholeConditional(
                tuple(map(TensorId, inputs)), tuple(map(TensorId, outputs))
            )
        self._traced.setdefault(located.traced, []).append(op.id)
        return op.having(
            within=OpId(located.within) if located.within else None,
            traced=located.graph,
            derived=self.derivatives.get(located.traced),
        )

    def called(self, op: Op, located: LocatedEvent) -> Op:
        """The call of a function; the events of an opened one's inside came before."""
        body = tuple(OpId(inner) for inner in located.body if OpId(inner) in self._ops)
        if located.loop is not None:  # a tape's entry may have taken the place of a call
            inside = tuple(inner for inner in located.loop.body if inner in self._ops)
            self.loops[op.id] = replace(located.loop, body=inside)
        began = self._ops[body[0]].when if body else op.when
        self._states.called(op, self._handles, began)
        op = op.having(body=body)
        if located.run is None:
            return op
        run, ended = located.run, located.run.graph.ended
        for write in run.writes:
            self._states.wrote(op, VariableId(TensorId(write.handle)), write.type)
        if run.ops is not None:
            self.reruns[op.id] = run.ops
        self.words.update((TensorId(tensor), _word(word)) for tensor, word in run.words.items())
        self.copies.update((TensorId(a), TensorId(b)) for a, b in run.copies.items())
        self._calls.setdefault(ended.graph, []).append(op.id)
        return op.having(
            function=ended.function,
            function_line=ended.line,
            runs=ended.graph,
            round=run.round,
            ran_as=op.id,
            inside=_inside(run),
            is_open=run.inside is not None and run.inside.whole,
        )

    def take_over(self, entry: Op, call: Op) -> Op:
        """The tape's entry for a function's call, which stands for that call."""
        del self._ops[call.id]
        self.entries[call.id] = entry.id
        if call.id in self.reruns:
            self.reruns[entry.id] = self.reruns.pop(call.id)
        calls = self._calls.get(call.runs, [])
        if calls and calls[-1] == call.id:
            calls[-1] = entry.id
        self._states.renamed(call, entry.id)
        for op in call.body:
            if self._ops[op].within == call.id:
                self._ops[op] = self._ops[op].having(within=entry.id)
        for tensor in (*call.outputs, *entry.outputs):
            if self._producers.get(tensor) == call.id:
                self._producers[tensor] = entry.id
        return entry.having(
            body=call.body,
            runs=call.runs,
            round=call.round,
            ran_as=call.ran_as,
            inside=call.inside,
            is_open=call.is_open,
        )

    def derived(self, event: e.Derived) -> None:
        """TensorFlow made the gradient of a graph's op."""
        given = self.derivatives[event.op] = tuple(event.given)
        for op in self._traced.get(event.op, ()):
            self._ops[op] = self._ops[op].having(derived=given)

    def stands_for(self, call: OpId) -> OpId:
        """The op that stands for a call: the tape's entry for it, else the op that was the call."""
        return self.entries.get(call, call)

    def functions(self) -> dict[int, TracedFunction]:
        """Each function that was called, by its graph."""
        found = {}
        for graph, calls in self._calls.items():
            known = self._bodies.graphs.known[graph]
            name, line = known.ended.function, known.ended.line
            found[graph] = TracedFunction(graph, name, line, tuple(calls), known.size)
        return found


def _word(word: str) -> Word:
    return "beside" if word == "beside" else "unknown"


def _inside(run: EagerRun) -> RerunOutcome | None:
    event = run.inside
    if event is None:
        return None
    known: dict[str, Agreement] = {"equal": "equal", "differs": "differs"}
    state = known.get(event.state, "unchecked")
    return RerunOutcome(state, event.why, has_run(event), event.turned, event.raised)


def has_run(event: e.InsideComputed) -> bool:
    """Whether the call did run again."""
    return event.ran or event.state in ("equal", "differs")


def copying(
    tensors: dict[TensorId, Tensor],
    places: GrowingMap,
    texts: dict[TensorId, tuple[str, ...]],
) -> Callable[[int, int], None]:
    """Lets a graph's tensor go by another id in a call of the graph."""

    def copy(tensor: int, other: int) -> None:
        known, own = TensorId(tensor), TensorId(other)
        if known in tensors:
            tensors[own] = tensors[known]
        places.copy(known, own)
        if known in texts:
            texts[own] = texts[known]

    return copy
