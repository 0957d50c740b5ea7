"""Follow gradient calls: how each began and ended, its backward steps, and what was asked about it
afterwards (:mod:`.answers`)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from sys import intern

from msgspec import structs

from .. import events as e
from ..calls import Call, Step
from ..compiled.functions import Functions
from ..ids import CallId, OpId, TensorId
from ..ops import Op, Tensor
from ..sites import Site
from .answers import Answer, answer_of
from .nouns import IdTuples, call_of

RawOperands = tuple[e.RawOperand, ...]

_DENSE = 1 << 60
"""Taken from the id of a graph's IndexedSlices, it gives that of the dense tensor."""


class CallTracker:
    """Follows every gradient call. ``tensors`` and ``ops`` are those that the reader knows so far;
    the dense sums of IndexedSlices are added to ``tensors``."""

    def __init__(
        self,
        ids: IdTuples,
        tensors: dict[TensorId, Tensor],
        ops: Mapping[OpId, Op],
        functions: Functions,
    ) -> None:
        self._ids = ids
        self._tensors = tensors
        self._ops = ops
        self._functions = functions
        self.known: dict[CallId, Call] = {}
        """Every call, without its steps, the words for its operands, and answers about it."""
        self.operands: dict[CallId, tuple[RawOperands, RawOperands, RawOperands]] = {}
        """Targets, sources and output gradients of each call."""
        self._known: dict[RawOperands, RawOperands] = {}
        """Equal operands once: a loop asks for the same sources in each round."""
        self.steps: dict[CallId, list[Step]] = {}
        self.answers: dict[CallId, list[Answer]] = {}
        self.sums: dict[TensorId, tuple[TensorId, TensorId]] = {}
        """For each dense sum the rows and row numbers of its IndexedSlices."""

    def began(self, event: e.CallBegan, site: Site, when: int) -> None:
        call = call_of(event, site, when)
        self.operands[call.id] = (
            self._shared(event.targets),
            self._shared(event.sources),
            self._shared(event.output_gradients),
        )
        self.known[call.id] = call

    def _shared(self, operands: Sequence[e.RawOperand]) -> RawOperands:
        made = tuple(
            [
                e.RawOperand(
                    self._ids.single(known.tensor),
                    intern(known.kind),
                    known.keys,
                    intern(known.type),
                    intern(known.name),
                )
                for known in operands
            ]
        )
        return self._known.setdefault(made, made)

    def ended(self, event: e.CallEnded, when: int) -> None:
        call = CallId(event.call)
        if call in self.known:
            results = list(event.results)
            for place, numbers, count in event.slices:
                results[place] = self._dense(call, results[place], numbers, count)
            self.known[call] = replace(
                self.known[call],
                results=self._ids.or_none(results),
                ended=not event.error,
                error=event.error,
                end=when,
            )

    def _dense(self, call: CallId, rows: int, numbers: int, count: int) -> int:
        """The id of the dense tensor for IndexedSlices that a gradient call in a graph returned."""
        known = self._tensors.get(self._ids.single(rows))
        # NumPy adds no bfloat16.
        if known is None or known.shape is None or known.dtype == "bfloat16":
            return rows
        dense = self._ids.single(rows - _DENSE)
        self._tensors[dense] = Tensor((known.dtype, (count, *known.shape[1:])))
        self.sums[dense] = self._ids.single(rows), self._ids.single(numbers)
        steps = self.steps.get(call, [])
        for at, step in enumerate(steps):
            upstream, downstream = (
                tuple(dense if each == rows else each for each in given)
                for given in (step.upstream, step.downstream)
            )
            steps[at] = structs.replace(step, upstream=upstream, downstream=downstream)
        return dense

    def stepped(self, event: e.StepRan) -> None:
        """A gradient function ran in the call's backward pass."""
        call = CallId(event.call)
        if call in self.known:
            steps = self.steps.setdefault(call, [])
            op = self._ops.get(OpId(event.op))
            step = Step(
                len(steps),
                op.id if op is not None else OpId(event.op) if event.op else None,
                intern(event.type),
                self._ids.or_none(event.upstream),
                self._ids.or_none(event.downstream),
            )
            whole = self._functions.wholes.get(op.id) if op is not None else None
            if whole is not None:
                step = structs.replace(step, inputs=whole.inputs, outputs=whole.outputs)
            steps.append(step)

    def answered(self, event: e.ReplayRan | e.Checked) -> None:
        """Something was asked about a gradient call after the run."""
        answer = answer_of(event, self._ids, self._ops)
        self.answers.setdefault(CallId(event.call), []).append(answer)
