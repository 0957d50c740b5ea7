"""Lay a large connected graph out in layers.

For graphs of many thousand nodes, for which `layered.draw_layered` would take minutes: each step
is a few operations on whole arrays, or one walk over nodes and edges.
"""

from __future__ import annotations

import numpy as np

from ..arrays import Floats, GraphArrays
from ..layered.acyclic import turned_down
from ..layered.layers import first_met, neighbours
from ..picture import IndexedLayout
from .order import order_all
from .place import place_all
from .routes import route_all
from .rows import BulkRows, bulk_rows, tightened_rows

SEVERAL_STARTS = 30_000
"""Vertices up to which a second first order is tried."""


def draw_large(graph: GraphArrays) -> IndexedLayout:
    """The layered picture of a connected graph without self-loops."""
    turned, down = turned_down(graph)
    upper, lower = np.array(down, dtype=np.intp).reshape(-1, 2).T
    ranks = np.array(tightened_rows(graph.size, down), dtype=np.intp)
    rows = bulk_rows(ranks, upper, lower)
    by_row = np.argsort(rows.rank, kind="stable").tolist()
    starts = [first_met(neighbours(len(rows.rank), rows.above, rows.below), by_row)]
    if len(rows.rank) <= SEVERAL_STARTS:
        starts.append(_as_executed(rows))
    order = order_all(rows, starts)
    x = place_all(rows, order, graph.across, graph.beside)
    y, routes = route_all(graph, rows, x)
    for edge in turned:
        routes[edge].reverse()
    return IndexedLayout(x[: graph.size], y, routes)


def _as_executed(rows: BulkRows) -> Floats:
    """A first order by execution (insertion); a dummy starts between the ends of its edge."""
    start = np.arange(len(rows.rank), dtype=np.float64)
    inner = rows.below >= rows.real
    owner = rows.owner[inner]
    start[rows.below[inner]] = (rows.upper[owner] + rows.lower[owner]) / 2
    return start
