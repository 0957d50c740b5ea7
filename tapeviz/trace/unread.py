"""Give the state of a variable that no op read, as an embedding table of which rows are looked up.

TensorFlow hands out rows then, never the state. It follows from the state before and from the
write, whose arithmetic is the same in NumPy: one addition or subtraction for each element
(``AssignAddVariableOp``, ``AssignSubVariableOp``; ``ResourceScatter…``, ``scatter_functor.h``;
TensorFlow 2.15-2.21). TensorFlow scatters large updates in parallel: where they repeat a row, the
sums may differ in their last bits. None was seen to among the sizes that travel.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import TYPE_CHECKING

import numpy as np

from .ids import OpId, TensorId, VariableId, VersionId
from .ops import Op, Tensor
from .state import keeps_prior_state
from .stats import Array
from .variables import Variable, Version

if TYPE_CHECKING:
    from .model import Trace

_Write = Callable[[Array, Array, Array], None]


def _put(state: Array, indices: Array, rows: Array) -> None:
    state[indices] = rows


_DENSE: Mapping[str, Callable[[Array, Array], Array]] = {
    "AssignAddVariableOp": np.add,
    "AssignSubVariableOp": np.subtract,
}
_OF_ROWS: Mapping[str, _Write] = {
    "ResourceScatterAdd": np.add.at,
    "ResourceScatterSub": np.subtract.at,
    "ResourceScatterUpdate": _put,
}
_FIRST = 1 << 61
"""Taken from the number of a write, it gives the id of the state that the write made."""
_KEPT = 16
"""One version of so many is kept, so that those after it are found in as many steps."""


def state_id(write: OpId) -> TensorId:
    """The id of the tensor that stands for the state after a write."""
    return TensorId(write - _FIRST)


def unread_states(
    variables: Mapping[VariableId, Variable],
    versions: Iterable[Version],
    ops: Mapping[OpId, Op],
    is_known: Callable[[TensorId], bool],
) -> dict[TensorId, VersionId]:
    """The states, of these ``versions``, that a write made from the state before and of which no op
    read elements that are known, each by the id of the tensor that stands for it. An op in a call
    of a compiled function that did not run again has read elements that are not."""
    return {
        state_id(version.op): version.id
        for version in versions
        if variables[version.variable].dtype != "bfloat16"  # NumPy adds none
        if version.op is not None and version.index and not any(map(is_known, version.reads))
        if (op := ops.get(version.op)) is not None
        if op.type in _DENSE or op.type in _OF_ROWS
    }


def tensor_of(variable: Variable) -> Tensor:
    """The form of every state of a variable."""
    return Tensor((variable.dtype, variable.shape))


def holding(trace: Trace, version: Version) -> list[TensorId]:
    """The tensors that an op read from a variable in this version, or put into it as a whole."""
    tensors = list(version.reads)
    op = trace.op(version.op)
    is_whole = version.index == 0 or (op is not None and not keeps_prior_state(op.type))
    if is_whole and version.value is not None:
        tensors.append(version.value)
    return tensors


def state_of(trace: Trace, tensor: TensorId) -> Array | None:
    """The elements of an unread state; None if those of a state or write before did not travel."""
    return _follow(trace, trace.unread[tensor], trace.value, has_all=True)


def sample_of_state(trace: Trace, tensor: TensorId) -> Array | None:
    """A few elements of a large unread state, as :meth:`Trace.sample` gives them; None if rows were
    written."""
    return _follow(trace, trace.unread[tensor], trace.sample, has_all=False)


def _follow(
    trace: Trace,
    version: VersionId,
    elements: Callable[[TensorId], Array | None],
    *,
    has_all: bool,
) -> Array | None:
    """The elements of a state: those of the last known one before it, changed by each write."""
    held = trace.states
    writes: list[Version] = []
    while (version, has_all) not in held:
        at = trace.version(version)
        known = [found for found in map(elements, holding(trace, at)) if found is not None]
        if known or at.op is None or state_id(at.op) not in trace.unread:
            held[version, has_all] = known[0] if known else None
            break
        writes.append(at)
        version = version.prior
    state = held[version, has_all]
    for at in reversed(writes):
        if state is not None and at.op is not None and at.value is not None:
            op, given = trace.ops[at.op], elements(at.value)
            is_of_rows = op.type in _OF_ROWS and has_all and len(op.inputs) > 1
            indices = trace.value(op.inputs[1]) if is_of_rows else None
            state = _written(op.type, state, indices, given)
        if at.index % _KEPT == 0:
            held[at.id, has_all] = state
    return state


def _written(kind: str, state: Array, indices: Array | None, given: Array | None) -> Array | None:
    """The state after a write of this kind; None if its arguments are not known, or do not fit."""
    if given is None or given.dtype != state.dtype:
        return None
    if kind in _DENSE:
        if given.shape != state.shape:
            return None
        new: Array = _DENSE[kind](state, given)
        return new
    if indices is None or not _fits(indices, given, state):
        return None
    changed: Array = state.copy()
    _OF_ROWS[kind](changed, indices, given)
    return changed


def _fits(indices: Array, rows: Array, state: Array) -> bool:
    """Whether each row has a place in the state. False only in a damaged recording."""
    has_shape = rows.shape in ((), indices.shape + state.shape[1:])
    is_inside = bool(state.ndim) and bool(np.all((indices >= 0) & (indices < len(state))))
    return has_shape and is_inside
