"""The trace and one call of it, with what detectors ask of them, each worked out once."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable, Collection, Hashable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, TypeVar, cast

from ..text.names import names_in
from ..text.op_words import words_on_line
from ..text.source import SourceText
from ..trace.calls import Call, Operand, Step
from ..trace.ids import OpId, TensorId, VariableId, VersionId
from ..trace.model import Binding, Leave, Tape, Trace
from ..trace.ops import Op
from .backward.feeding import Feeding
from .findings import Cause, Evidence, Link
from .flow.ancestry import Ancestry, DataEdge, Position
from .flow.dataflow import DataFlow
from .flow.origins import Origins
from .flow.paths import Paths
from .python.blocks import Lines, lines_within
from .requests.replays import unconnected
from .status import status_of

T = TypeVar("T")


class KeepsAnswers:
    """Facts that many sources share: what a function works out from them alone is kept."""

    @cached_property
    def _answers(self) -> dict[tuple[Hashable, ...], Any]:
        return {}

    def once(self, ask: Callable[..., T], *about: Hashable) -> T:
        """The answer of ``ask`` about these facts; for each ``about`` it is called the first time
        only."""
        key = (ask, *about)
        if key not in self._answers:
            self._answers[key] = ask(self, *about)
        return cast("T", self._answers[key])


@dataclass(frozen=True)
class CallFacts(KeepsAnswers):
    """The facts that detectors read: the recording, one call of it, and its source text."""

    trace: Trace
    flow: DataFlow
    call: Call
    text: SourceText

    @cached_property
    def paths(self) -> Paths:
        """The data-flow edges that lead to the call's targets."""
        return Paths(self.flow, self.call)

    @cached_property
    def judged(self) -> dict[DataEdge, Cause | None]:
        """The causes of edges that were examined: a call with many sources asks often."""
        return {}

    @cached_property
    def spoilers(self) -> dict[tuple[TensorId | None, str], tuple[Step | None, Op] | None]:
        """The step and op that made a source's gradient zero or not finite, once examined."""
        return {}

    @cached_property
    def flowing(self) -> Sequence[tuple[Operand, TensorId]]:
        """The sources whose gradients flow, each with its gradient."""
        asked = zip(self.call.sources, self.call.results, strict=False)
        return [
            (source, result)
            for source, result in asked
            if result is not None and status_of(self.trace, result) == "flows"
        ]

    @cached_property
    def leaves(self) -> Sequence[Leave]:
        """The values that left TensorFlow while the tape recorded, before the call."""
        tape, leaves = self.tape, self.trace.leaves
        if tape is None:
            return ()
        first, end = (
            bisect_left(leaves, when, key=lambda leave: leave.when)
            for when in (tape.when, self.call.when)
        )
        return [leave for leave in leaves[first:end] if tape.is_recording(leave.when)]

    @cached_property
    def unconnected(self) -> frozenset[int]:
        """The numbers of the sources that no gradient function gave anything."""
        return unconnected(self.trace, self.call)

    @cached_property
    def returned(self) -> Mapping[OpId, Step]:
        """The step of each op that was differentiated.

        A replayed one before TensorFlow's own, which gives None also for inputs that the tape
        did not follow.
        """
        replayed = self.call.replay.steps if self.call.replay else ()
        steps = {step.op: step for step in self.call.steps if step.op is not None}
        steps.update({step.op: step for step in replayed if step.op is not None})
        return steps

    @cached_property
    def replayed(self) -> frozenset[OpId]:
        """The ops whose gradient functions ran in the replay."""
        replayed = self.call.replay.steps if self.call.replay else ()
        return frozenset(step.op for step in replayed if step.op is not None)

    @cached_property
    def steps(self) -> tuple[Step, ...]:
        """The backward pass as TensorFlow ran it; as it was replayed, where that shows more.

        TensorFlow traces a jacobian's pass into a graph (pfor), where it has no values, and goes
        back through a compiled function in one step. A replay that raised ends there.
        """
        is_pfor = self.call.method in ("jacobian", "batch_jacobian")
        replayed = self.call.replay.steps if self.call.replay else ()
        entered = (self.trace.op(step.op) for step in self.call.steps)
        is_hidden = any(op is not None and op.is_open for op in entered)
        is_whole = not any(step.error for step in replayed)
        if self.call.replay and (is_pfor or (is_hidden and is_whole)):
            return replayed
        return self.call.steps

    @cached_property
    def feeding(self) -> Feeding:
        """The steps that gave each tensor a gradient."""
        return Feeding(self.trace, self.steps)

    @cached_property
    def reads(self) -> Mapping[VariableId, Sequence[TensorId]]:
        """For each variable the tensors read from it that got a gradient, in the order of reads."""
        reads: dict[VariableId, list[TensorId]] = {}
        for tensor in self.feeding.tensors():
            version = self.trace.reads.get(tensor)
            if version is not None:
                reads.setdefault(version.variable, []).append(tensor)
        return reads

    @cached_property
    def gradients_used(self) -> Sequence[tuple[Call, Operand, Ancestry]]:
        """The earlier gradients that the targets are made from: the call and source of each, and
        what that call's targets were made from."""
        found = (self.flow.gave.get(position) for position in self.paths.recent.into)
        before = [given for given in found if given is not None and given[0].when < self.call.when]
        made_from = {
            call.id: self.flow.ancestry(Paths(self.flow, call).targets) for call, _ in before
        }
        return [(call, source, made_from[call.id]) for call, source in before]

    @property
    def origins(self) -> Origins:
        return self.flow.origins

    def line_of(self, op: Op) -> int:
        """The op's line; of one that a gradient call ran, the line of what it differentiates."""
        return self.origins.forward(op).line

    def line_where_made(self, tensor: TensorId) -> int:
        return line_where_made(self.trace, tensor, self.flow.bound_lines)

    def words_of(self, op: Op) -> str:
        """The snippet's words for this op; empty if they are not known."""
        if not op.site.frames:
            return ""
        frame = op.site.frames[0]
        if op.is_compiled_call and op.call is not None:  # a jacobian's pass for all its rows
            made = self.text.call_at(frame.span, "jacobian")
            made = made or self.text.call_at(frame.span, "batch_jacobian")
            if made is not None:
                return self.text.segment(made.func)
        words = self.text.words_at(frame.span)
        if self.text.is_given_lambda(frame.span):  # AutoGraph's copy of a lambda has no lines
            return words_on_line(self.text, frame.line, op.type) or words
        if frame.column >= 0:
            return words
        path = op.name or op.scope  # only ops of graphs have names
        return words_on_line(self.text, frame.line, op.type, path)

    @cached_property
    def tape(self) -> Tape | None:
        return self.trace.tape(self.call.tape)

    @cached_property
    def names_of_sources(self) -> frozenset[str]:
        """The plain names in the expression that gives the sources: ``model`` of
        ``model.trainable_variables``."""
        frames = self.call.site.frames
        call = self.text.call_at(frames[0].span, self.call.method) if frames else None
        given = self.text.operands(call, "sources")
        return names_in(given) if given is not None else frozenset()

    @cached_property
    def ran(self) -> frozenset[Lines]:
        """The lines that ran while the tape recorded, with those of the calls around them."""
        tape = self.tape
        happened: list[Op | Binding] = [*self.trace.ops.values(), *self.trace.bindings]
        found: set[Lines] = set()
        for site in {
            event.site.id: event.site for event in happened if _recorded(tape, event)
        }.values():
            lines = lines_within(site, tape) if tape is not None else ()
            found.update(lines[: depth + 1] for depth in range(len(lines)))
        return frozenset(found)

    def op(self, edge: DataEdge) -> Op | None:
        return self.trace.op(edge.op)

    def dtype(self, tensor: Position) -> str:
        if isinstance(tensor, VersionId):
            variable = self.trace.variables[tensor.variable]
            return variable.dtype
        known = self.trace.tensors.get(tensor)
        return known.dtype if known else "float32"

    def cause(self, evidence: Evidence, line: int, edge: DataEdge | None = None) -> Cause:
        """A cause on this line; its edge is where the drawing shows the cut."""
        op = self.op(edge) if edge else None
        links: tuple[Link, ...] = ((edge.tensor, op.id),) if edge and op else ()
        return Cause(
            evidence,
            line,
            self.text.code(line),
            op.type if op else "",
            op.id if op else None,
            links,
            self.words_of(op) if op is not None and op.line == line else "",
        )

    def cause_at(self, evidence: Evidence, op: Op) -> Cause:
        """A cause at an op; at one of a backward pass, on the line of what it differentiates."""
        line, forward = self.line_of(op), self.origins.forward(op)
        words = self.words_of(forward)
        if op is not forward:
            words = f"{words}'s derivative" if words else ""
        if op.is_compiled_call and op.call is None:  # else a jacobian's pass, which it runs
            words = f"{op.function}()"
        return Cause(evidence, line, self.text.code(line), op.type, forward.id, words=words)


def _recorded(tape: Tape | None, event: Op | Binding) -> bool:
    if isinstance(event, Op) and event.paused:
        return False
    return tape is not None and tape.is_recording(event.when)


def name_of(trace: Trace, variable: VariableId) -> str:
    """The user's name of a variable, else TensorFlow's."""
    return trace.variable_names.get(variable, "the variable")


def line_where_made(trace: Trace, tensor: TensorId, bound: Mapping[TensorId, int]) -> int:
    """The line where a tensor or variable was made, else where it was first ``bound`` to a name; 0
    where nothing tells."""
    variable = trace.variable(tensor)
    if variable is not None:
        return variable.site.line
    maker = trace.maker(tensor)
    return maker.line if maker is not None else bound.get(tensor, 0)


def maker_past(trace: Trace, tensor: TensorId, passed: Collection[str]) -> Op | None:
    """The op that made the tensor, or what ops of the types ``passed`` were given first."""
    maker = trace.maker(tensor)
    while maker is not None and maker.type in passed and maker.inputs:
        maker = trace.maker(maker.inputs[0])
    return maker
