"""Choose the layered layout that can be read best in the room that there is."""

from __future__ import annotations

import networkx as nx

from ..engines import lay_out
from ..model import Layout, Rect
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
    is_draft: bool = False,
) -> Layout:
    """The layered layout that can be read best in ``room``: plain, with its sources in stacks, or
    in columns (if ``may_wrap``). Which is chosen by drafts."""
    if room is None:
        return lay_out(graph, direction=direction, is_draft=is_draft)

    def laid(stacked: Stacked | None, *, is_draft: bool) -> Layout:
        made = lay_out(stacked.graph if stacked else graph, direction=direction, is_draft=is_draft)
        made = in_columns(made, room) if may_wrap else made
        return stacked.unstacked(made) if stacked else made

    plain = lay_out(graph, direction=direction, is_draft=True)
    best, chosen = laid(None, is_draft=True), None
    for rows in _ROWS:
        may_gain = may_wrap or _is_wide(best.bounds, room)
        if worth_in(best.bounds, room) >= READABLE or not may_gain:
            break
        stacks = choose_stacks(graph, plain, rows)
        if not stacks:
            break
        stacked = Stacked(graph, stacks)
        other = laid(stacked, is_draft=True)
        if worth_in(other.bounds, room) <= _WORTH * worth_in(best.bounds, room):
            break
        best, chosen = other, stacked
    return best if is_draft else laid(chosen, is_draft=False)


def _is_wide(bounds: Rect, room: tuple[float, float]) -> bool:
    """Whether a picture would be larger if it were narrower: stacks make it so, and higher. What
    is higher than its room may then have room for columns."""
    return bounds.width * room[1] > bounds.height * room[0]
