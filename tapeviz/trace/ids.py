"""Numbers by which a recording names things; each kind a type of its own."""

from __future__ import annotations

from typing import NamedTuple, NewType

OpId = NewType("OpId", int)
TensorId = NewType("TensorId", int)
VariableId = NewType("VariableId", int)
"""The id of the variable's handle tensor."""
TapeId = NewType("TapeId", int)
CallId = NewType("CallId", int)
SiteId = NewType("SiteId", int)


class VersionId(NamedTuple):
    """A version of a variable, and how many writes came before it.

    Its text (``v5:1``) names it where the recorder is asked for gradients.
    """

    variable: VariableId
    number: int

    @property
    def prior(self) -> VersionId:
        return VersionId(self.variable, self.number - 1)

    def __str__(self) -> str:
        return f"v{self.variable}:{self.number}"
