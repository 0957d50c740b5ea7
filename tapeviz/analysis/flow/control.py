"""Tensors that only decide what runs inside compiled functions.

A loop of an opened call is read as one turn, and nothing of a predicate goes on into what it
decides about (see :mod:`tapeviz.trace.compiled.expansion`).
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING

from ...trace.ids import OpId
from ...trace.model import Trace

if TYPE_CHECKING:
    from .ancestry import DataEdge, Position
    from .dataflow import DataFlow

_MOST = 5_000
"""Tensors and versions that are looked at in a search for what decides."""


def deciders_of(
    flow: DataFlow, targets: Iterable[Position], skip: Callable[[DataEdge], bool]
) -> Mapping[Position, OpId]:
    """The positions whose values go into a predicate, and to the targets on no other path, each
    with the conditional or loop of that predicate. Edges for which ``skip`` is true are not
    followed.

    Where one decides about the next, it is the one nearest the position: AutoGraph makes of a
    ``break`` a conditional that decides about others, which do not stand in the text.
    """
    trace = flow.trace
    deciders = _deciders(trace)
    found: dict[Position, OpId | None] = {}
    waiting: deque[tuple[Position, OpId | None]] = deque()
    if deciders:
        waiting.extend((target, None) for target in targets)
    while waiting and len(found) < _MOST:
        position, by = waiting.popleft()
        if position in found:
            continue
        found[position] = by
        waiting.extend((edge.start, by) for edge in flow.into(position) if not skip(edge))
        maker = trace.producers.get(position) if isinstance(position, int) else None
        for decider in deciders.get(maker, ()) if maker is not None else ():
            waiting.extend((tensor, decider) for tensor in trace.predicates[decider])
    return {position: by for position, by in found.items() if by is not None}


def _deciders(trace: Trace) -> Mapping[OpId, Sequence[OpId]]:
    """For each op the conditional that it is, and the loops around it, whose predicates are
    known."""
    found: dict[OpId, list[OpId]] = {}
    for op in trace.predicates:
        loop = trace.loops.get(op)
        for decided in (op,) if loop is None else loop.body:
            found.setdefault(decided, []).append(op)
    return found
