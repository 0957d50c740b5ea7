"""``saturated``: the gradient came to an op that is flat at the values it was given."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Set
from dataclasses import dataclass
from typing import ClassVar

from ....trace.ids import OpId, TensorId
from ....trace.op_kinds import ops_with
from ....trace.ops import Op
from ....trace.tapes import is_differentiable
from ...call_facts import CallFacts, maker_past
from ...findings import Cause, Evidence
from ...flow.ancestry import Position
from ...numbers.began import is_meant
from ...status import is_zero
from .cancelled import SHARING

# Slope 0 over a stretch of their inputs, and something else over another.
CLIPPING = ops_with("clips")
# What is let through is chosen by a mask.
MASKING = ops_with("mask")
FORMING = ops_with("copy", "view")
_PRODUCTS = ops_with("product")
_DIVIDING = ops_with("divides")
_BOUNDS = frozenset({"Relu", "Relu6", "Maximum", "Minimum", "ClipByValue"})
_SIZES = frozenset({"Abs", "ComplexAbs"})
_MOST_KEPT = 50
"""Ops whose clips are kept, each with all that they were made from."""


@dataclass(frozen=True, slots=True)
class Saturated(Evidence):
    """The function is flat at the value. ``infinite``: the dtype in which the value became
    infinite, and ``made`` the line of that; empty and 0 where it is finite."""

    kind: ClassVar[str] = "saturated"
    infinite: str = ""
    made: int = 0

    def sentence(self, cause: Cause, target: str, source: str) -> str:
        if self.infinite:
            by = "itself" if self.made == cause.line else f"from line {self.made}"
            return (
                f"{cause.op_words} on line {cause.line} works with a value that became infinite "
                f"({by}, in {self.infinite}), and is flat there: its slope is 0. So nothing of "
                f"the gradient reaches {source}. Keep the numbers smaller, or compute this part "
                f"in a wider dtype."
            )
        return (
            f"{cause.op_words} on line {cause.line} is {cause.probably}flat at these values, so "
            f"what arrives there is multiplied by a slope of exactly 0. "
            f"The gradient is connected, but nothing of it reaches {source}. "
            f"Keep the values inside the range where {cause.op_words} has a slope."
        )


@dataclass(frozen=True, slots=True)
class NoOverlap(Saturated):
    """The flat op bounds ``min(a, b) - max(c, d)``, by which two boxes overlap."""

    def sentence(self, cause: Cause, target: str, source: str) -> str:
        return (
            f"{cause.op_words} on line {cause.line} takes how far two boxes overlap, and they "
            f"do not: it is flat there, however far apart they are. So nothing of the gradient "
            f"reaches {source}. Use a loss that sees the distance of the boxes as well, such "
            f"as GIoU or DIoU."
        )


@dataclass(frozen=True, slots=True)
class AtCorner(Saturated):
    """The op takes the size of numbers that are all 0, where its slope jumps from -1 to 1."""

    def sentence(self, cause: Cause, target: str, source: str) -> str:
        return (
            f"{cause.op_words} on line {cause.line} got only 0, where its graph has a corner: the "
            f"slope is not defined there, and TensorFlow uses 0. So nothing of the gradient "
            f"reaches {source}. Look why the values are 0, or start from others."
        )


@dataclass(frozen=True, slots=True)
class EqualValues(Saturated):
    """The op decomposes a matrix of which two eigenvalues or singular values are equal."""

    def sentence(self, cause: Cause, target: str, source: str) -> str:
        return (
            f"{cause.op_words} on line {cause.line} found values that are equal, and the vectors "
            f"of equal values are not determined: any of their plane would do, so they have no "
            f"slope, and TensorFlow takes 0 for it. So nothing of the gradient reaches {source}. "
            f"Make {target} from the values alone, or keep them apart by a small diagonal."
        )


def saturated_at(facts: CallFacts, op: Op) -> Saturated:
    """The evidence that ``op`` clips: :class:`NoOverlap` if it bounds ``min(a, b) - max(c, d)``,
    :class:`AtCorner` if it takes the size of 0 (``_AbsGrad`` and ``_ComplexAbsGrad`` in
    math_grad.py, 2.15-2.21)."""
    if op.type in _SIZES and is_zero(facts.trace.stats(op.outputs[0])):
        return AtCorner()
    bounded = maker_past(facts.trace, op.inputs[0], FORMING | {"Minimum"}) if op.inputs else None
    if bounded is None or bounded.type != "Sub":
        return Saturated()
    ends = (maker_past(facts.trace, each, FORMING) for each in bounded.inputs)
    return (
        NoOverlap() if [end and end.type for end in ends] == ["Minimum", "Maximum"] else Saturated()
    )


def became_infinite(facts: CallFacts, op: Op) -> Saturated | None:
    """The evidence if an input of the op is infinite since an op before it overflowed its dtype."""
    trace = facts.trace
    tensor = next((t for t in op.inputs if _is_infinite(facts, t, everywhere=True)), None)
    if tensor is None or op.type in MASKING or is_meant(trace, tensor):
        return None
    maker: Op | None = None
    while tensor is not None:
        made = trace.maker(tensor)
        if made is None:
            break
        maker = made
        tensor = next((t for t in made.inputs if _is_infinite(facts, t)), None)
    if maker is None:
        return None
    return Saturated(facts.dtype(maker.outputs[0]), facts.line_of(maker))


def _is_infinite(facts: CallFacts, tensor: TensorId, everywhere: bool = False) -> bool:
    stats = facts.trace.stats(tensor)
    if stats is None or not stats.inf or stats.nan:
        return False
    return stats.norm is None or not everywhere


def clipped_to_zero(facts: CallFacts, op: Op, starts: Collection[Position]) -> Op | None:
    """The op that clipped something made from the source to 0, where all factors of ``op`` that are
    0 come from such: the area that two boxes share, ``max(0, x) * max(0, y)``.

    Both factors are 0 there, so that neither gets a gradient through the product. Where it is
    divided by what is made from the source as well, one factor is enough: the quotient of 0 comes
    first in the backward pass, and says nothing of the way through its numerator.
    """
    known = facts.once(_clips_before)
    if op.id not in known:
        if len(known) == _MOST_KEPT:
            known.clear()
        made = _clips_of_zeros(facts, op)
        known[op.id] = [
            (clip, facts.flow.ancestry([zero]).into.keys()) for zero, clip in made.items()
        ]
    clips = [clip for clip, before in known[op.id] if not before.isdisjoint(starts)]
    are_all_made_from_it = len(clips) == len(known[op.id])
    return min(clips, key=lambda clip: clip.id, default=None) if are_all_made_from_it else None


def _clips_before(facts: CallFacts) -> dict[OpId, list[tuple[Op, Set[Position]]]]:
    """The clips before ops that were asked about, each with what it was made from."""
    return {}


def _clips_of_zeros(facts: CallFacts, op: Op) -> Mapping[TensorId, Op]:
    """The ops that clipped to 0 what all factors of ``op`` that are 0 come from, by the zeros that
    they gave; none where some come from elsewhere."""
    trace, clips = facts.trace, dict[TensorId, Op]()
    waiting = _zeros_taken(facts, op)
    are_both_zero = _multiplies_zeros(op, waiting) or op.type in _DIVIDING
    seen, passed, unclipped = set[TensorId](), set[TensorId](), facts.once(_unclipped)
    while waiting:
        tensor = waiting.pop()
        maker = trace.maker(tensor)
        if tensor in seen:
            continue
        seen.add(tensor)
        if seen.issuperset(waiting):  # all that comes is upstream of this one
            passed.add(tensor)
        if tensor in unclipped or maker is None or facts.call.tape not in maker.tapes:
            unclipped |= passed
            return {}
        zeros = _zeros_taken(facts, maker)
        if maker.type in _PRODUCTS | SHARING and zeros:
            waiting.extend(zeros)
            are_both_zero |= _multiplies_zeros(maker, zeros)
        elif maker.type in _BOUNDS:
            clips[tensor] = maker
        else:
            return {}
    return clips if are_both_zero else {}


def _unclipped(facts: CallFacts) -> set[TensorId]:
    """Zeros of which some come from no op that clips."""
    return set()


def _zeros_taken(facts: CallFacts, op: Op) -> list[TensorId]:
    """The inputs that are 0; indices are none."""
    known = (t for t in op.inputs if is_differentiable(facts.dtype(t)))
    return [t for t in known if is_zero(facts.trace.stats(t))]


def _multiplies_zeros(op: Op, zeros: Collection[TensorId]) -> bool:
    return op.type == "Mul" and len(zeros) == len(op.inputs)


def clip_behind(facts: CallFacts, zero: TensorId) -> Op | None:
    """The op that clipped all of what a tensor was made from to 0, which is 0 for that: a dead
    ReLU."""
    known, passed, made, found = facts.once(_clips), list[TensorId](), [zero], None
    while len(made) == 1 and made[0] not in known:
        passed += made
        maker = facts.trace.maker(made[0])
        made = []
        if maker is not None and maker.type in _BOUNDS:
            found = maker
        elif maker is not None and maker.type in _PRODUCTS | SHARING | FORMING:
            made = _zeros_taken(facts, maker)
    if len(made) == 1:
        found = known[made[0]]
    known.update(dict.fromkeys(passed, found))
    return found


def _clips(facts: CallFacts) -> dict[TensorId, Op | None]:
    """The answers for the tensors that were asked about."""
    return {}
