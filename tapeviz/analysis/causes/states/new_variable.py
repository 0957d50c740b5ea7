"""``new-variable``: a variable was made from the tensor, with a copy of its value."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from ....trace.ids import VersionId
from ...call_facts import maker_past, name_of
from ...findings import Cause, Evidence
from ..questions import EdgeUnderTest


@dataclass(frozen=True, slots=True)
class NewVariable(Evidence):
    """A variable was made from the value. ``variable``: the name of the one made; ``copied``: the
    variable that it is a copy of, empty if a value was computed for it."""

    kind: ClassVar[str] = "new-variable"
    variable: str
    copied: str = ""

    def sentence(self, cause: Cause, target: str, source: str) -> str:
        if self.copied:
            return (
                f"Line {cause.line} makes a new tf.Variable ({self.variable}) with the value of "
                f"{self.copied}. From then on it is a separate variable and does not know where "
                f"its value came from, so the gradient stops there and does not reach {source}. "
                f"Ask for the gradient of {self.variable}, or compute with {self.copied}."
            )
        return (
            f"Line {cause.line} makes a new tf.Variable ({self.variable}) out of a computed value. "
            f"A variable starts from a copy of the number and does not know where it came from, "
            f"so the gradient stops there and does not reach {source}. "
            f"Keep the computed value a tensor, and make variables before the computation."
        )


def made_variable(asked: EdgeUnderTest) -> Cause | None:
    """A variable was made from the tensor: its value is copied as by an assign."""
    edge, facts = asked.edge, asked.facts
    if edge.kind != "creation" or not isinstance(edge.end, VersionId):
        return None
    variable = facts.trace.variables[edge.end.variable]
    trace = facts.trace
    maker = maker_past(trace, edge.tensor, ("Identity",)) if edge.tensor is not None else None
    read = trace.reads.get(maker.outputs[0]) if maker is not None and maker.outputs else None
    copied = name_of(trace, read.variable) if read is not None else ""
    evidence = NewVariable(name_of(trace, variable.id), copied)
    return facts.cause(evidence, variable.site.line, edge)
