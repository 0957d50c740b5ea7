"""``new-variable``: a variable was made from the tensor, with a copy of its value."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from ...trace.model import VersionId
from ..call_facts import name_of
from ..model import Cause, Evidence
from .questions import Crossing


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


def made_variable(crossing: Crossing) -> Cause | None:
    """A variable was made from the tensor: its value is copied as by an assign."""
    way, facts = crossing.way, crossing.facts
    if way.kind != "creation" or not isinstance(way.end, VersionId):
        return None
    variable = facts.trace.variables[facts.flow.version_at(way.end).variable]
    evidence = NewVariable(name_of(facts.trace, variable.id))
    return facts.cause(evidence, variable.site.line, way)
