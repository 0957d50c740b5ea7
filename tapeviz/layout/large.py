"""A large connected graph in; its layered picture, made for all rows at once, out.

For graphs of many thousand nodes, where the careful engine would take minutes: every step is a
few operations on whole arrays, or one walk over nodes and edges.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from tapeviz.layout.acyclic import edges_to_turn
from tapeviz.layout.arrays import Bools, Floats, GraphArrays, Ints
from tapeviz.layout.bulk_order import order_all, walked
from tapeviz.layout.bulk_place import place_all
from tapeviz.layout.bulk_rows import BulkRows, bulk_rows, tightened_rows
from tapeviz.layout.lanes import assign_lanes
from tapeviz.layout.picture import Picture
from tapeviz.layout.ports import CORNER, SPREAD
from tapeviz.layout.routing import route, route_by_lane, stacked

SEVERAL_STARTS = 30_000
"""Vertices up to which a second first order is tried."""


def draw_large(graph: GraphArrays) -> Picture:
    """``graph`` must be connected and without self-loops."""
    turned = np.zeros(len(graph.keys), dtype=bool)
    turned[list(edges_to_turn(graph))] = True
    upper = np.where(turned, graph.heads, graph.tails)
    lower = np.where(turned, graph.tails, graph.heads)
    pairs = list(zip(upper.tolist(), lower.tolist(), strict=True))
    ranks = np.array(tightened_rows(graph.size, pairs), dtype=np.intp)
    rows = bulk_rows(ranks, upper, lower)
    starts = [walked(rows)]
    if len(rows.rank) <= SEVERAL_STARTS:
        starts.append(_first_order(rows, upper, lower))
    order = order_all(rows, starts)
    x = place_all(rows, order, graph.across, graph.beside)
    wires = _wires(graph, rows, x, upper, lower)
    far = np.zeros(len(graph.keys), dtype=bool)
    far[rows.far] = True
    end_x = _docks(graph, x, lower, wires.last, far)
    # A lone edge goes straight on to wherever it docks in the next row.
    next_row = ranks[lower] - ranks[upper] == 1
    start_x = _docks(graph, x, upper, np.where(next_row, end_x, wires.first), far)
    alone = np.bincount(lower, minlength=graph.size)[lower] == 1
    reachable = np.abs(start_x - x[lower]) <= graph.across[lower] / 2 - CORNER
    end_x = np.where(next_row & alone & reachable, start_x, end_x)
    height, aside = np.zeros(rows.rows), np.zeros(rows.rows - 1)
    np.maximum.at(height, ranks, graph.along)
    np.maximum.at(aside, ranks[upper], np.abs(wires.first - start_x))
    np.maximum.at(aside, ranks[lower] - 1, np.abs(wires.last - end_x))
    stack = stacked(height, aside, np.zeros(rows.rows - 1, dtype=np.intp))
    y = stack.middle[ranks]
    start_y = (y + graph.along / 2)[upper].tolist()
    end_y = (y - graph.along / 2)[lower].tolist()
    starts, ends = start_x.tolist(), end_x.tolist()
    tops, bottoms = ranks[upper].tolist(), ranks[lower].tolist()
    routes = [
        route(tops[e], [starts[e], *inner, ends[e]], stack, (start_y[e], end_y[e]), ())
        for e, inner in enumerate(wires.inner)
    ]
    for e, lane in zip(rows.far.tolist(), wires.first[rows.far].tolist(), strict=True):
        track = (starts[e], lane, ends[e])
        routes[e] = route_by_lane(tops[e], bottoms[e], track, stack, (start_y[e], end_y[e]))
    for edge in np.flatnonzero(turned).tolist():
        routes[edge].reverse()
    return Picture(x[: graph.size], y, routes)


def _first_order(rows: BulkRows, upper: Ints, lower: Ints) -> Floats:
    """Insertion order is execution order; a dummy starts between the ends of its edge."""
    start = np.arange(len(rows.rank), dtype=np.float64)
    inner = rows.below >= rows.real
    owner = rows.owner[inner]
    start[rows.below[inner]] = (upper[owner] + lower[owner]) / 2
    return start


@dataclass(frozen=True, slots=True)
class _Wires:
    """Where each edge runs between its ends.

    ``first`` and ``last``: its position in the row after its upper and before its lower end.
    ``inner[k]``: its positions in all rows between, empty for an edge in a lane.
    """

    first: Floats
    last: Floats
    inner: list[list[float]]


def _wires(graph: GraphArrays, rows: BulkRows, x: Floats, upper: Ints, lower: Ints) -> _Wires:
    first, last = x[lower].copy(), x[upper].copy()
    inner: list[list[float]] = [[] for _ in graph.keys]
    positions = x.tolist()
    ending = rows.above >= rows.real
    starting = rows.below >= rows.real
    first[rows.owner[starting][::-1]] = x[rows.below[starting]][::-1]
    last[rows.owner[ending]] = x[rows.above[ending]]
    for owner, dummy in zip(
        rows.owner[starting].tolist(), rows.below[starting].tolist(), strict=True
    ):
        inner[owner].append(positions[dummy])
    first[rows.far] = last[rows.far] = _lanes(graph, rows, x, upper, lower)
    return _Wires(first, last, inner)


def _lanes(graph: GraphArrays, rows: BulkRows, x: Floats, upper: Ints, lower: Ints) -> Floats:
    before, after = np.zeros(len(x)), np.zeros(len(x))
    before[: graph.size] = graph.across / 2
    after[: graph.size] = graph.across / 2 + graph.beside
    left, right = np.full(rows.rows, np.inf), np.full(rows.rows, -np.inf)
    np.minimum.at(left, rows.rank, x - before)
    np.maximum.at(right, rows.rank, x + after)
    source, target = upper[rows.far], lower[rows.far]
    return assign_lanes(
        rows.rank[source] + 1,
        rows.rank[target] - 1,
        source,
        (x[source] + x[target]) / 2,
        left,
        right,
    )


def _docks(graph: GraphArrays, x: Floats, ends: Ints, near: Floats, shares: Bools) -> Floats:
    """Position across where each edge leaves its box, in the order of where they go next.

    Those that ``shares`` marks and that take one lane leave at one point.
    """
    order = np.lexsort((near, ends))
    box, way, bus = ends[order], near[order], shares[order]
    opens = np.ones(len(order), dtype=bool)
    opens[1:] = (box[1:] != box[:-1]) | (way[1:] != way[:-1]) | ~(bus[1:] & bus[:-1])
    slot = np.cumsum(opens) - 1
    count = np.bincount(box[opens], minlength=graph.size)
    place = np.empty(len(ends), dtype=np.intp)
    place[order] = slot - (np.cumsum(count) - count)[box]
    several = count[ends]
    room = np.maximum(graph.across[ends] - 2 * CORNER, 0.0)
    step = np.minimum(SPREAD, room / np.maximum(several - 1, 1))
    docks = x[ends] + (place - (several - 1) / 2) * step
    straight = (several == 1) & (np.abs(near - x[ends]) <= room / 2)
    return np.where(straight, near, docks)
