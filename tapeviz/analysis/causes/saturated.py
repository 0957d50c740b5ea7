"""``saturated``: the gradient came to an op that is flat at the values it was given."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from ...trace.model import Op, TensorId
from ...trace.op_kinds import ops_with
from ..call_facts import CallFacts, maker_past
from ..model import Cause, Evidence
from ..numbers.began import is_meant

# Slope 0 over a stretch of their inputs, and something else over another.
CLIPPING = ops_with("clips")
# What is let through is chosen by a mask.
MASKING = ops_with("mask")
FORMING = ops_with("copy", "view")


@dataclass(frozen=True, slots=True)
class Saturated(Evidence):
    """``infinite``: the dtype in which the value became infinite, and ``made`` the line of that;
    empty and 0 where it is finite."""

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


def saturated_at(facts: CallFacts, op: Op) -> Saturated:
    """The evidence that ``op`` clips: :class:`NoOverlap` if it bounds ``min(a, b) - max(c, d)``."""
    bounded = maker_past(facts.trace, op.inputs[0], FORMING | {"Minimum"}) if op.inputs else None
    if bounded is None or bounded.type != "Sub":
        return Saturated()
    ends = (maker_past(facts.trace, each, FORMING) for each in bounded.inputs)
    return (
        NoOverlap() if [end and end.type for end in ends] == ["Minimum", "Maximum"] else Saturated()
    )


def became_infinite(facts: CallFacts, op: Op) -> Saturated | None:
    """If an input of the op is infinite since an op before it went over the end of the dtype."""
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
