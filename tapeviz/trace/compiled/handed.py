"""The loops around an op, and the values that their turns hand on to the next turn."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from ...latest import for_latest
from ..ids import OpId, TensorId
from .model import Loop

if TYPE_CHECKING:
    from ..model import Trace


def handed_on(trace: Trace) -> Mapping[tuple[OpId, TensorId], Sequence[TensorId]]:
    """For each op of a compiled loop and value that the loop was given: what a turn handed on in
    its place, which each turn but the first takes. It is several where several loop variables began
    as the same tensor."""
    found: dict[tuple[OpId, TensorId], list[TensorId]] = {}
    for loop in trace.loops.values():
        if loop.count is not None and loop.count < 2:
            continue
        handed = handed_by(loop)
        for op in loop.body:
            for tensor in handed.keys() & trace.ops[op].inputs:
                found.setdefault((op, tensor), []).extend(handed[tensor])
    return found


@for_latest
def innermost_loops(trace: Trace) -> Mapping[OpId, Loop]:
    """The innermost compiled loop around each op that ran in one."""
    by_size = sorted(trace.loops.values(), key=lambda loop: -len(loop.body))
    return {op: loop for loop in by_size for op in loop.body}


def handed_by(loop: Loop) -> dict[TensorId, list[TensorId]]:
    """For each tensor that a turn of a loop takes, those that a turn hands on in its place."""
    handed: dict[TensorId, list[TensorId]] = {}
    for taken, given in loop.carried:
        if taken != given:
            handed.setdefault(taken, []).append(given)
    return handed
