"""Tell the versions of each variable from the ops on its handle: who wrote it, who read it."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Mapping, Sequence, Set
from dataclasses import replace
from operator import attrgetter
from typing import TypeVar

import msgspec

from .ids import OpId, TensorId, VariableId
from .ops import Op
from .variables import Variable, Version

CREATION = "AssignVariableOp"


def writes_state(op_type: str) -> bool:
    """Whether an op of this type changes the variable that is its first input.

    TensorFlow names them ``Assign…VariableOp``, ``ResourceStridedSliceAssign``,
    ``ResourceScatter…``, ``Resource[Sparse]Apply…`` (resource_variable_ops, training_ops).
    """
    if op_type.startswith("Assign"):
        return op_type.endswith("VariableOp")
    return op_type == "ResourceStridedSliceAssign" or op_type.startswith(
        ("ResourceScatter", "ResourceApply", "ResourceSparseApply")
    )


def keeps_prior_state(op_type: str) -> bool:
    """Whether something of the state before the write survives in the state after it."""
    return op_type != CREATION


def assigned_value(op: Op) -> TensorId | None:
    """The tensor that a write puts into the state; an optimizer's fused update has none."""
    if "Apply" in op.type or len(op.inputs) < 2:
        return None
    return op.inputs[-1]


class OpenVersion(msgspec.Struct, gc=False):
    """A version that may still be read. ``index``: its place among those of the variable.

    ``reads`` and ``touched_by`` are tuples until a second op reads or takes the version: most
    versions of thousands of variables are read once, and a list of its own for each takes more
    memory than the version.
    """

    index: int
    op: OpId | None
    value: TensorId | None
    when: int
    reads: Sequence[TensorId] = ()
    touched_by: Sequence[OpId] = ()

    def version(self, handle: VariableId) -> Version:
        reads, touched_by = tuple(self.reads), tuple(self.touched_by)
        return Version(handle, self.index, self.op, self.value, self.when, reads, touched_by)

    def rename(self, op: OpId, entry: OpId) -> bool:
        """Attribute what a call wrote or took to the tape's entry for it. Returns whether it was
        the last op that took the version."""
        if self.op == op:
            self.op = entry
        if not self.touched_by or self.touched_by[-1] != op:
            return False
        touched_by = self.touched_by if isinstance(self.touched_by, list) else [*self.touched_by]
        touched_by[-1] = entry
        self.touched_by = touched_by
        return True


_Id = TypeVar("_Id", bound=int)


def _added(known: Sequence[_Id], more: tuple[_Id, ...]) -> Sequence[_Id]:
    """The known ids and more of them."""
    if isinstance(known, list):
        known.extend(more)
        return known
    return [*known, *more] if known else more


class VersionTracker:
    """Follows every variable's state through the ops, in their order."""

    def __init__(self) -> None:
        self._open: dict[VariableId, list[OpenVersion]] = {}
        self._made: dict[VariableId, Variable] = {}

    def inside(self, call: OpId, began: int) -> VersionTracker:
        """A tracker of what happens inside of a call that is known as a whole here, and ``began``
        at this moment: it leaves this one as it is."""
        return _InsideTracker(self._open, self._made, call, began)

    def _of(self, handle: VariableId) -> list[OpenVersion]:
        """The versions of a variable; the last one is the present one."""
        return self._open.setdefault(handle, [])

    def touched(self) -> Mapping[VariableId, list[OpenVersion]]:
        """The versions of each variable that ops took; of the inside of a call the version before
        it, with what is known of that from inside alone, and those that were made there."""
        return self._open

    def made(self, variable: Variable) -> None:
        """Add a variable; a write to its handle from before is its creation."""
        versions = self._of(variable.id)
        initial = variable.initial
        if versions:
            initial = initial if initial is not None else versions[-1].value
            del versions[:-1]
            versions[-1].index = 0
        else:
            versions.append(OpenVersion(0, None, initial, variable.when))
        self._made[variable.id] = replace(variable, initial=initial)

    def ran(self, op: Op, handles: frozenset[TensorId] | set[TensorId]) -> None:
        """Take in an op that ran; ``handles``: the tensors known to be variables' handles."""
        touched = [VariableId(tensor) for tensor in op.inputs if tensor in handles]
        for position, handle in enumerate(touched):
            versions = self._of(handle)
            if position == 0 and self._is_creation(op.id, op.type, handle):
                versions[0].value, versions[0].op = assigned_value(op), op.id
                continue
            if position == 0 and writes_state(op.type):
                written = OpenVersion(_next(versions), op.id, assigned_value(op), op.when)
                versions.append(written)
                continue
            if not versions:
                versions.append(OpenVersion(0, None, None, op.when))
            if op.type == "ReadVariableOp":
                versions[-1].reads = _added(versions[-1].reads, op.outputs)
            else:
                versions[-1].touched_by = _added(versions[-1].touched_by, (op.id,))

    def _is_creation(self, op: OpId, op_type: str, handle: VariableId) -> bool:
        """Whether a write gives a variable its first value.

        A variable that was made while a function was traced, or loaded from a saved model, has no
        value yet. It gets it afterwards, in the function or eagerly, on any line
        (``UnliftedInitializerVariable`` and ``UninitializedVariable``, TensorFlow 2.15-2.21).
        """
        made, versions = self._made.get(handle), self._of(handle)
        return (
            op_type == CREATION
            and made is not None
            and len(versions) == 1
            and versions[0].index == 0
            and versions[0].value is None
            and versions[0].op in (None, op)
        )

    def called(self, op: Op, handles: Set[TensorId], began: int) -> None:
        """A compiled function was called that took these handles; its inside ran since then."""
        for handle in {VariableId(tensor) for tensor in op.inputs if tensor in handles}:
            versions = self._of(handle)
            if not versions:
                versions.append(OpenVersion(0, None, None, began))
            before = (version for version in reversed(versions) if version.when < began)
            version = next(before, versions[0])
            version.touched_by = _added(version.touched_by, (op.id,))

    def wrote(self, op: Op, handle: VariableId, op_type: str) -> None:
        """A call wrote to a variable, by an op of this type in the function."""
        versions = self._of(handle)
        if self._is_creation(op.id, op_type, handle):
            versions[0].op = op.id
        else:
            versions.append(OpenVersion(_next(versions), op.id, None, op.when))

    def renamed(self, op: Op, entry: OpId) -> None:
        """Attribute a call's reads and writes to the tape's entry for it."""
        for handle in {VariableId(tensor) for tensor in op.inputs}:
            for version in reversed(self._open.get(handle, ())):
                if version.rename(op.id, entry):
                    break

    def variables(self) -> dict[VariableId, Variable]:
        """Every variable that was made, with its versions so far."""
        for handle, variable in self._made.items():  # in place: no second object for each
            versions = tuple([version.version(handle) for version in self._open[handle]])
            self._made[handle] = replace(variable, versions=versions)
        return dict(self._made)

    def is_trainable(self, handle: VariableId) -> bool:
        made = self._made.get(handle)
        return made is not None and made.trainable


class _InsideTracker(VersionTracker):
    """Begins with each variable as it was before a call."""

    def __init__(
        self,
        known: Mapping[VariableId, list[OpenVersion]],
        made: dict[VariableId, Variable],
        call: OpId,
        began: int,
    ) -> None:
        super().__init__()
        self._made = made
        self._known, self._call, self._began = known, call, began

    def _of(self, handle: VariableId) -> list[OpenVersion]:
        if handle not in self._open:
            known = self._known.get(handle, [])
            at = bisect_left(known, self._began, key=attrgetter("when")) - 1
            self._open[handle] = [self._as_before(known[at])] if at >= 0 else []
        return self._open[handle]

    def _as_before(self, version: OpenVersion) -> OpenVersion:
        if version.op == self._call:  # the call gave the variable its first value
            return OpenVersion(version.index, None, None, version.when)
        return OpenVersion(version.index, version.op, version.value, version.when)


def _next(versions: list[OpenVersion]) -> int:
    return versions[-1].index + 1 if versions else 0
