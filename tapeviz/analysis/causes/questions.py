"""The questions that detectors answer, each with the facts that it is asked about.

Why does no gradient pass this edge (:class:`EdgeUnderTest`)? Why does nothing lead from this source
to the target (:class:`Unlinked`)? Why does the tape not follow this source, though every edge
passes (:class:`Unwatched`)? Why are these gradients zero (:class:`MadeZero`), or not finite
(:class:`MadeNonfinite`)?
"""

from __future__ import annotations

from collections.abc import Sequence, Set
from dataclasses import dataclass
from functools import cached_property

from ...trace.calls import Operand, Step
from ...trace.ids import TensorId
from ...trace.ops import Op
from ...trace.tapes import is_differentiable
from ...trace.variables import Variable
from ..call_facts import CallFacts, KeepsAnswers
from ..flow.ancestry import Ancestry, DataEdge, EdgesInto, Position


@dataclass(frozen=True, slots=True)
class EdgeUnderTest:
    """A data-flow edge between source and target of one call."""

    edge: DataEdge
    facts: CallFacts

    @property
    def op(self) -> Op | None:
        return self.facts.op(self.edge)

    @property
    def is_from_real(self) -> bool:
        """Whether the value on this edge has a dtype for which TensorFlow computes gradients."""
        return is_differentiable(self.facts.dtype(self.edge.start))

    @property
    def step(self) -> Step | None:
        """The op's step of the backward pass, as it was replayed or else as TensorFlow ran it."""
        return self.facts.returned.get(self.edge.op) if self.edge.op is not None else None

    @property
    def gave_none(self) -> bool:
        """Whether the op's gradient function was asked about this input, and gave None for it."""
        op = self.op
        if op is None or self.edge.kind != "op" or not self.is_from_real:
            return False
        step = self.step
        if step is None and op.derived is None:
            return False
        if op.is_compiled_call and step is not None and step.error:
            return False  # it could not be asked again: nothing is known of its inside
        return not _gave(self.edge, op, step) and _was_asked(self.facts, self.edge, op)


def _was_asked(facts: CallFacts, edge: DataEdge, op: Op) -> bool:
    """Whether a gradient for this input was wanted.

    A tape gets None also for inputs that it does not follow. A replay wants them all.
    """
    call, trace = facts.call, facts.trace
    if call.tape is None or op.id in facts.replayed:
        return True
    maker = trace.maker(edge.tensor)
    return maker is None or call.tape in maker.tapes


def _gave(edge: DataEdge, op: Op, step: Step | None) -> bool:
    """Whether the gradient function gave something for the input, if it was asked at all."""
    if step is None:
        derived = op.derived or ()
        return edge.input_index < len(derived) and derived[edge.input_index]
    received = any(tensor is not None for tensor in step.upstream)
    gave = edge.input_index < len(step.downstream) and step.downstream[edge.input_index] is not None
    return gave or not (received or step.error)


class Used(KeepsAnswers):
    """The makings of a call's targets, in one of the two ancestries of :class:`Paths`: the same for
    every source that is not linked to them."""

    def __init__(self, facts: CallFacts, ancestry: Ancestry) -> None:
        self.facts = facts
        self.positions: EdgesInto = ancestry.into

    @cached_property
    def tensors(self) -> frozenset[TensorId]:
        """Tensors of the target's ancestry, and the handles of its variables."""
        return frozenset(
            used if isinstance(used, int) else TensorId(used.variable) for used in self.positions
        )

    @cached_property
    def makers(self) -> Sequence[Op]:
        """The ops that made these tensors, each once."""
        made = (self.facts.trace.maker(tensor) for tensor in self.tensors)
        return list({op.id: op for op in made if op is not None}.values())

    @cached_property
    def lines(self) -> frozenset[int]:
        """Where the target and what it is made from were made, in all functions around."""
        frames = {frame.line for op in self.makers for frame in op.site.frames}
        targets = {target.tensor for target in self.facts.call.targets} - {None}
        named = (
            b for b in self.facts.trace.bindings if not targets.isdisjoint(t for t, _ in b.tensors)
        )
        return frozenset(frames | {binding.site.line for binding in named})


@dataclass(frozen=True, slots=True)
class Unlinked:
    """A source that nothing leads from to the target; ``used``: what the target was made from."""

    facts: CallFacts
    source: Operand
    tensor: TensorId
    used: Used

    @property
    def starts(self) -> Set[Position]:
        """The positions where the source begins."""
        return self.facts.paths.starts(self.tensor)


@dataclass(frozen=True, slots=True)
class Unwatched:
    """A source that leads to the target over edges that all pass a gradient."""

    facts: CallFacts
    source: Operand
    tensor: TensorId

    @property
    def variable(self) -> Variable | None:
        return self.facts.trace.variable(self.tensor)


@dataclass(frozen=True, slots=True)
class MadeZero:
    """The op that made zeros of a gradient.

    ``op``: None if the backward pass started from zeros. ``step``: None if the op was given
    gradients that add up to zero. ``suspect``: for the call of a compiled function whose inside is
    not known, or of a compiled loop, the op in it that made them; ``is_sure``: else it only may
    have. ``starts``: the positions where the source begins.
    """

    facts: CallFacts
    op: Op | None
    step: Step | None = None
    suspect: Op | None = None
    is_sure: bool = False
    starts: Set[Position] = frozenset()


@dataclass(frozen=True, slots=True)
class MadeNonfinite:
    """A source whose gradient has elements that are NaN or infinite."""

    facts: CallFacts
    source: Operand
