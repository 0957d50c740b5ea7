"""``stop-gradient``: ``tf.stop_gradient`` stands between source and target."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from ...trace.model import Op, TensorId, Trace
from ..model import Cause, Evidence
from .questions import EdgeUnderTest


@dataclass(frozen=True, slots=True)
class StopGradient(Evidence):
    """``is_around_sum``: what it is given is ``h - z + z``, so that not even z gets a gradient."""

    kind: ClassVar[str] = "stop-gradient"
    is_around_sum: bool = False

    def sentence(self, cause: Cause, target: str, source: str) -> str:
        if self.is_around_sum and cause.is_alone:
            return (
                f"Line {cause.line} puts tf.stop_gradient around a value that is subtracted and "
                f"added again, so every gradient from {target} back to {source} ends there. "
                f"A straight-through estimate stops the difference alone: close the parenthesis "
                f"after the difference, and add the value outside."
            )
        if not cause.is_alone:
            return (
                f"Line {cause.line} calls tf.stop_gradient on one path from {target} back to "
                f"{source}, and the other paths are cut, too. "
                f"It passes the value on but no gradient: remove it, or open another path."
            )
        return (
            f"Line {cause.line} calls tf.stop_gradient, and every path from {target} back to "
            f"{source} goes through it. It passes the value on and blocks every gradient. "
            f"Remove it, or call it only on the part that {source} should not learn from."
        )


def stopped(asked: EdgeUnderTest) -> Cause | None:
    """``tf.stop_gradient``."""
    op = asked.op
    if op is None or op.type not in ("StopGradient", "PreventGradient"):
        return None
    return asked.facts.cause(StopGradient(_adds_again(asked, op)), op.line, asked.edge)


def _adds_again(asked: EdgeUnderTest, op: Op) -> bool:
    """Whether the op is given ``h - z + z`` or ``z + (h - z)``."""
    trace = asked.facts.trace
    added = trace.maker(op.inputs[0]) if op.inputs else None
    if added is None or added.type != "AddV2" or len(added.inputs) != 2:
        return False
    for difference, other in (added.inputs, added.inputs[::-1]):
        made = trace.maker(difference)
        if made is not None and made.type == "Sub" and _is_same(trace, made.inputs[1], other):
            return True
    return False


def _is_same(trace: Trace, tensor: TensorId, other: TensorId) -> bool:
    """Whether they are one tensor, or two reads of the same state of a variable."""
    version = trace.reads.get(tensor)
    return tensor == other or (version is not None and version == trace.reads.get(other))
