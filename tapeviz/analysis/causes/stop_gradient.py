"""``stop-gradient``: ``tf.stop_gradient`` stands between source and target."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from ..model import Cause, Evidence
from .questions import EdgeUnderTest


@dataclass(frozen=True, slots=True)
class StopGradient(Evidence):
    kind: ClassVar[str] = "stop-gradient"

    def sentence(self, cause: Cause, target: str, source: str) -> str:
        if not cause.is_alone:
            return (
                f"Line {cause.line} calls tf.stop_gradient on one way from {target} back to "
                f"{source}, and the other ways are cut, too. "
                f"It passes the value on and no gradient: take it away, or mend another way."
            )
        return (
            f"Line {cause.line} calls tf.stop_gradient, and every way from {target} back to "
            f"{source} leads through it. It passes the value on and keeps every gradient back. "
            f"Take it away, or take it off the part that {source} should learn from."
        )


def stopped(asked: EdgeUnderTest) -> Cause | None:
    """``tf.stop_gradient``."""
    op = asked.op
    if op is None or op.type not in ("StopGradient", "PreventGradient"):
        return None
    return asked.facts.cause(StopGradient(), op.line, asked.edge)
