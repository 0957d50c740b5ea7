"""Place the rows of a large graph, and route each edge as a polyline."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ..arrays import Bools, Floats, GraphArrays, Ints
from ..layered.lanes import assign_lanes
from ..layered.ports import CORNER, SPREAD
from ..layered.routing import Rows, route, route_by_lane, stacked
from ..picture import Line
from .rows import BulkRows


@dataclass(frozen=True, slots=True)
class _EdgeTracks:
    """Positions of each edge across the flow: ``start``, ``end``: where it docks; ``first``,
    ``last``: in the row after its upper and before its lower end; ``inner[e]``: in all rows
    between, empty for an edge in a lane."""

    start: Floats
    first: Floats
    inner: list[list[float]]
    last: Floats
    end: Floats


def route_all(graph: GraphArrays, rows: BulkRows, x: Floats) -> tuple[Floats, list[Line]]:
    """The nodes' positions along the flow, and each edge's route from its upper end down."""
    tracks = _tracks(graph, rows, x)
    stack = _stack(graph, rows, tracks)
    y = stack.middle[rows.rank[: rows.real]]
    return y, _routes(graph, rows, tracks, stack, y)


def _tracks(graph: GraphArrays, rows: BulkRows, x: Floats) -> _EdgeTracks:
    upper, lower = rows.upper, rows.lower
    first, last = x[lower].copy(), x[upper].copy()
    starting, ending = rows.below >= rows.real, rows.above >= rows.real
    # Written from the bottom up, so that the uppermost dummy stays.
    first[rows.owner[starting][::-1]] = x[rows.below[starting]][::-1]
    last[rows.owner[ending]] = x[rows.above[ending]]
    first[rows.far] = last[rows.far] = _lanes(graph, rows, x)
    inner: list[list[float]] = [[] for _ in graph.keys]
    dummies = x[rows.below[starting]].tolist()
    for edge, position in zip(rows.owner[starting].tolist(), dummies, strict=True):
        inner[edge].append(position)
    far = np.zeros(len(graph.keys), dtype=bool)
    far[rows.far] = True
    end = _docks(graph, x, lower, last, far)
    # A lone edge goes straight on to wherever it docks in the next row.
    next_row = rows.rank[lower] - rows.rank[upper] == 1
    start = _docks(graph, x, upper, np.where(next_row, end, first), far)
    alone = np.bincount(lower, minlength=graph.size)[lower] == 1
    reachable = np.abs(start - x[lower]) <= graph.across[lower] / 2 - CORNER
    end = np.where(next_row & alone & reachable, start, end)
    return _EdgeTracks(start, first, inner, last, end)


def _lanes(graph: GraphArrays, rows: BulkRows, x: Floats) -> Floats:
    """The lane of each edge without dummies."""
    before, after = np.zeros(len(x)), np.zeros(len(x))
    before[: graph.size] = graph.across / 2
    after[: graph.size] = graph.across / 2 + graph.beside
    left, right = np.full(rows.rows, np.inf), np.full(rows.rows, -np.inf)
    np.minimum.at(left, rows.rank, x - before)
    np.maximum.at(right, rows.rank, x + after)
    source, target = rows.upper[rows.far], rows.lower[rows.far]
    first_row, last_row = rows.rank[source] + 1, rows.rank[target] - 1
    return assign_lanes(first_row, last_row, source, (x[source] + x[target]) / 2, left, right)


def _docks(graph: GraphArrays, x: Floats, ends: Ints, near: Floats, shares: Bools) -> Floats:
    """The position across the flow at which each edge leaves its box, in the order of ``near``,
    its position in the next row. Edges marked by ``shares`` that take one lane leave at one point.
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


def _stack(graph: GraphArrays, rows: BulkRows, tracks: _EdgeTracks) -> Rows:
    height, aside = np.zeros(rows.rows), np.zeros(rows.rows - 1)
    ranks = rows.rank
    np.maximum.at(height, ranks[: rows.real], graph.along)
    np.maximum.at(aside, ranks[rows.upper], np.abs(tracks.first - tracks.start))
    np.maximum.at(aside, ranks[rows.lower] - 1, np.abs(tracks.last - tracks.end))
    return stacked(height, aside, np.zeros(rows.rows - 1, dtype=np.intp))


def _routes(
    graph: GraphArrays, rows: BulkRows, tracks: _EdgeTracks, stack: Rows, y: Floats
) -> list[Line]:
    upper, lower = rows.upper, rows.lower
    starts, ends = tracks.start.tolist(), tracks.end.tolist()
    tops, bottoms = rows.rank[upper].tolist(), rows.rank[lower].tolist()
    half = graph.along / 2
    heights = list(zip((y + half)[upper].tolist(), (y - half)[lower].tolist(), strict=True))
    routes = [
        route(tops[e], [starts[e], *inner, ends[e]], stack, heights[e], ())
        for e, inner in enumerate(tracks.inner)
    ]
    for e, lane in zip(rows.far.tolist(), tracks.first[rows.far].tolist(), strict=True):
        track = (starts[e], lane, ends[e])
        routes[e] = route_by_lane(tops[e], bottoms[e], track, stack, heights[e])
    return routes
