"""Choose the layered layout that can be read best in the room that there is."""

from __future__ import annotations

import networkx as nx

from .engines import lay_out
from .model import Layout, Rect
from .stacks import Stacked, choose_stacks
from .wrapping import READABLE, in_columns, worth_in

_ROWS = (2, 3, 4, 6, 8)
"""Sources in a stack, tried one after the other."""
_WORTH = 1.03
"""Higher stacks of sources must be worth this factor."""


def fitted(
    graph: nx.MultiDiGraph,
    direction: str,
    room: tuple[float, float] | None,
    *,
    may_wrap: bool = True,
) -> Layout:
    """The layered layout that can be read best in ``room``: plain, with its sources in stacks, or
    in columns (if ``may_wrap``)."""
    plain = lay_out(graph, direction=direction)
    if room is None:
        return plain
    best = in_columns(plain, room) if may_wrap else plain
    for rows in _ROWS:
        if worth_in(best.bounds, room) >= READABLE or not _is_wide(best.bounds, room):
            break
        stacks = choose_stacks(graph, plain, rows)
        if not stacks:
            break
        stacked = Stacked(graph, stacks)
        other = lay_out(stacked.graph, direction=direction)
        other = stacked.unstacked(in_columns(other, room) if may_wrap else other)
        if worth_in(other.bounds, room) <= _WORTH * worth_in(best.bounds, room):
            break
        best = other
    return best


def _is_wide(bounds: Rect, room: tuple[float, float]) -> bool:
    """Whether a picture would be larger if it were narrower: stacks make it so, and higher."""
    return bounds.width * room[1] > bounds.height * room[0]
