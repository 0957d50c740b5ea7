"""``new-variable``: a variable was made from the tensor, with a copy of its value."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from ...trace.model import VersionId
from ..call_facts import name_of
from ..model import Cause, Evidence
from .questions import EdgeUnderTest


@dataclass(frozen=True, slots=True)
class NewVariable(Evidence):
    """``variable``: the name of the one made."""

    kind: ClassVar[str] = "new-variable"
    variable: str

    def sentence(self, cause: Cause, target: str, source: str) -> str:
        return (
            f"Line {cause.line} makes a new tf.Variable ({self.variable}) out of a computed value. "
            f"A variable starts from a copy of the number and does not remember where it came "
            f"from, so the way back to {source} ends there. "
            f"Make variables before the tape, and keep the computed value a tensor."
        )


def made_variable(asked: EdgeUnderTest) -> Cause | None:
    """A variable was made from the tensor: its value is copied as by an assign."""
    edge, facts = asked.edge, asked.facts
    if edge.kind != "creation" or not isinstance(edge.end, VersionId):
        return None
    variable = facts.trace.variables[edge.end.variable]
    evidence = NewVariable(name_of(facts.trace, variable.id))
    return facts.cause(evidence, variable.site.line, edge)
