"""Variables, and their versions: what they held between two writes."""

from __future__ import annotations

from bisect import bisect_right
from dataclasses import dataclass
from operator import attrgetter

from .ids import OpId, TensorId, VariableId, VersionId
from .sites import Site


@dataclass(frozen=True, slots=True)
class Version:
    """The state of a variable from one write to the next. Version 0 is its creation.

    ``op``: the assign that wrote it; ``value``: the tensor that was assigned (for ``assign_add``
    the addend); ``reads``: the tensors read from it; ``touched_by``: ops that took the handle
    itself and read the state inside (``ResourceGather``, a compiled function).
    """

    variable: VariableId
    index: int
    op: OpId | None
    value: TensorId | None
    when: int
    reads: tuple[TensorId, ...] = ()
    touched_by: tuple[OpId, ...] = ()

    @property
    def id(self) -> VersionId:
        return VersionId(self.variable, self.index)


@dataclass(frozen=True, slots=True)
class Variable:
    id: VariableId
    name: str
    dtype: str
    shape: tuple[int | None, ...] | None
    trainable: bool
    initial: TensorId | None
    site: Site
    path: str
    when: int
    versions: tuple[Version, ...] = ()
    owner: str = ""
    """``metric``: a Keras metric keeps its state in it."""

    def version_at(self, when: int) -> Version | None:
        """The version that it had at this position in the order of events; None before it."""
        count = bisect_right(self.versions, when, key=attrgetter("when"))
        return self.versions[count - 1] if count else None
