"""Follow gradient calls: how each began and ended, its backward steps, and what was asked about it
afterwards (replays, estimates, finite differences)."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from sys import intern

from msgspec import structs

from ...text.source import SourceText
from .. import events as e
from ..compiled.bodies import Bodies
from ..compiled.functions import Functions
from ..model import Call, CallId, Check, Op, Operand, OpId, Replay, Site, Step, Tensor, TensorId
from ..naming import OperandWords
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
        bodies: Bodies,
        functions: Functions,
    ) -> None:
        self._ids = ids
        self._tensors = tensors
        self._ops = ops
        self._bodies = bodies
        self._functions = functions
        self._calls: dict[CallId, Call] = {}
        self._operands: dict[CallId, tuple[RawOperands, RawOperands, RawOperands]] = {}
        """Targets, sources and output gradients of each call."""
        self._known: dict[RawOperands, RawOperands] = {}
        """Equal operands once: a loop asks for the same sources in each round."""
        self._steps: dict[CallId, list[Step]] = {}
        self.sums: dict[TensorId, tuple[TensorId, TensorId]] = {}
        """For each dense sum the rows and row numbers of its IndexedSlices."""

    def began(self, event: e.CallBegan, site: Site, when: int) -> None:
        call = call_of(event, site, when)
        self._operands[call.id] = (
            self._shared(event.targets),
            self._shared(event.sources),
            self._shared(event.output_gradients),
        )
        self._calls[call.id] = call

    def _shared(self, operands: Sequence[e.RawOperand]) -> RawOperands:
        made = tuple(
            [
                e.RawOperand(
                    self._ids.one(known.tensor),
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
        if call in self._calls:
            results = list(event.results)
            for place, numbers, count in event.slices:
                results[place] = self._dense(call, results[place], numbers, count)
            self._calls[call] = replace(
                self._calls[call],
                results=self._ids.or_none(results),
                ended=not event.error,
                error=event.error,
                end=when,
            )

    def _dense(self, call: CallId, rows: int, numbers: int, count: int) -> int:
        """The id of the dense tensor for IndexedSlices that a gradient call in a graph returned."""
        known = self._tensors.get(self._ids.one(rows))
        # NumPy adds no bfloat16.
        if known is None or known.shape is None or known.dtype == "bfloat16":
            return rows
        dense = self._ids.one(rows - _DENSE)
        self._tensors[dense] = Tensor((known.dtype, (count, *known.shape[1:])))
        self.sums[dense] = self._ids.one(rows), self._ids.one(numbers)
        steps = self._steps.get(call, [])
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
        if call in self._calls:
            steps = self._steps.setdefault(call, [])
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

    def replayed(self, event: e.ReplayRan) -> None:
        call = self._asked_about(event)
        if call is None:
            return
        results = {key: TensorId(tensor) for key, tensor in event.results.items()}
        if event.inner >= 0:
            replay = Replay(self._inner_steps(call, event), results)
            call = replace(call, inner={**call.inner, event.inner: replay})
        elif event.share:
            call = replace(call, shares={**call.shares, tuple(event.share): results})
        elif event.how == "beyond":
            call = replace(call, beyond=results)
        elif event.how:
            call = replace(call, estimates=results)
        else:
            steps = tuple(
                Step(
                    index,
                    OpId(step.op),
                    self._ops[OpId(step.op)].type if OpId(step.op) in self._ops else "",
                    self._ids.or_none(step.upstream),
                    self._ids.or_none(step.downstream),
                    step.error,
                )
                for index, step in enumerate(event.steps)
            )
            call = replace(call, replay=Replay(steps, results))
        self._calls[call.id] = call

    def _inner_steps(self, call: Call, event: e.ReplayRan) -> tuple[Step, ...]:
        """The steps inside of an op, with the drawn ops and the turns of the loops they are in."""
        whole = self._steps.get(call.id, [])[event.inner : event.inner + 1]
        entered = self._ops.get(whole[0].op) if whole and whole[0].op is not None else None
        if entered is None:
            return ()
        rerun = self._functions.reruns.get(entered.within or entered.id)
        ran = {op.number: op for op in rerun.all()} if rerun is not None else {}
        steps: list[Step] = []
        for step in event.steps:
            known = ran.get(step.op)
            if known is None:
                continue
            op = self._ops.get(known.op) if known.op is not None else None
            if op is not None or step.error:
                given = self._ids.or_none(step.upstream), self._ids.or_none(step.downstream)
                kind = op.type if op is not None else ""
                steps.append(Step(len(steps), known.op, kind, *given, step.error, known.turns))
        return tuple(steps)

    def checked(self, event: e.Checked) -> None:
        """A result was compared with finite differences."""
        call = self._asked_about(event)
        if call is None:
            return
        check, source = Check(event.error, event.agrees, event.words), TensorId(event.source)
        if event.op is None:
            call = replace(call, checks={**call.checks, source: check})
        else:
            call = replace(call, doubts={**call.doubts, (OpId(event.op), source): check})
        self._calls[call.id] = call

    def _asked_about(self, event: e.ReplayRan | e.Checked) -> Call | None:
        """The gradient call that an answer is about; None if it is about another run of it than the
        one whose inside is in the trace."""
        if event.within and event.within != self._bodies.emitted_run(event.call):
            return None
        return self._calls.get(CallId(event.call))

    def calls(self, text: SourceText, words: OperandWords) -> Iterator[Call]:
        """Yield each call with its steps, the snippet's words for its operands, and how often its
        function ran."""
        ran = self._bodies.calls()
        named: dict[tuple[int, ast.expr | None], tuple[Operand, ...]] = {}

        def operands(raw: RawOperands, expression: ast.expr | None) -> tuple[Operand, ...]:
            key = id(raw), expression
            if key not in named:
                named[key] = tuple([words.operand(operand, expression) for operand in raw])
            return named[key]

        for known in self._calls.values():
            call = self._functions.of_graph(known, ran)
            given = self._operands[call.id]
            node = None
            if call.is_direct and call.site.frames:
                node = text.call_at(call.site.frames[0].span, call.method)
            targets = text.operands(node, "target")
            sources = text.operands(node, "sources")
            if call.is_forward:  # is given outputs; the accumulator knows its primals
                targets, sources = None, targets
            yield replace(
                call,
                steps=tuple(self._steps.get(call.id, ())),
                targets=operands(given[0], targets),
                sources=operands(given[1], sources),
                output_gradients=operands(given[2], None),
            )
