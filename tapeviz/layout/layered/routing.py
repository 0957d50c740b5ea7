"""Place the rows, and route each edge as a polyline.

Between two rows all edges move sideways in one band that touches no box; inside a row they run
straight down in the room reserved for them. So no edge touches the box of another node, and two
edges cross only where the order of the rows requires it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from ..arrays import Floats, GraphArrays
from ..model import Point
from .bands import levels
from .layers import Layers

LEAVE = 8.0
"""Px of the straight piece below a row, before an edge turns."""
ARRIVE = 13.0
"""Px of the straight piece above a row: room for the arrow head."""
ROW_GAP = 30.0
STRAIGHT_GAP = 25.0
"""Px between two rows whose edges all run straight down."""
STEEPNESS = 0.07
"""Height of a band for each px that an edge moves sideways in it."""
HIGHEST_BAND = 32.0
STEP = 6.0
"""Px between two flat edges in one band."""
SAME = 0.01
"""Px; positions nearer than this count as equal."""


@dataclass(frozen=True, slots=True)
class Rows:
    """Top and bottom of each row, px; ``steps[r]``: how many steps the band below row r has."""

    top: list[float]
    bottom: list[float]
    steps: list[int]

    @property
    def middle(self) -> Floats:
        middle: Floats = np.array([self.top, self.bottom]).mean(0)
        return middle


Delays = dict[tuple[int, int], int]
"""(e, i) → steps by which edge e turns lower in its i-th band."""


def stack_rows(
    graph: GraphArrays, layers: Layers, tracks: Sequence[Sequence[float]]
) -> tuple[Rows, Delays]:
    """Stack the rows; a gap is higher for edges that go far sideways, or many side by side."""
    count = layers.rows
    height = np.zeros(count)
    np.maximum.at(height, layers.rank[: layers.real], graph.along)
    turning: list[list[tuple[int, int]]] = [[] for _ in range(count - 1)]
    for edge, (gaps, track) in enumerate(zip(layers.gaps(), tracks, strict=True)):
        for i, gap in enumerate(gaps):
            if abs(track[i] - track[i + 1]) > SAME:
                turning[gap].append((edge, i))
    aside, steps = np.zeros(count - 1), np.zeros(count - 1, dtype=np.intp)
    delays: Delays = {}
    for gap, turns in enumerate(turning):
        slants = [(tracks[edge][i], tracks[edge][i + 1]) for edge, i in turns]
        aside[gap] = max((abs(here - there) for here, there in slants), default=0.0)
        found = levels(slants, float(_band(aside[gap])))
        steps[gap] = max(found, default=0)
        delays.update(zip(turns, found, strict=True))
    top = np.zeros(count)
    top[1:] = np.cumsum(height[:-1] + _band(aside) + STEP * steps + LEAVE + ARRIVE)
    return Rows(top.tolist(), (top + height).tolist(), steps.tolist()), delays


def _band(aside: Floats) -> Floats:
    turning: Floats = np.clip(aside * STEEPNESS, ROW_GAP - LEAVE - ARRIVE, HIGHEST_BAND)
    band: Floats = np.where(aside > SAME, turning, STRAIGHT_GAP - LEAVE - ARRIVE)
    return band


def tracks_of(layers: Layers, x: Floats, upper: Floats, lower: Floats) -> list[list[float]]:
    """For each edge its position across the flow in each row, or in its lane, with the docks at
    both ends. ``x``: of each vertex, and then of the lane of each node."""
    places = x.tolist()
    return [
        [above, *(places[vertex] for vertex in chain[1:-1]), below]
        for chain, above, below in zip(layers.chains, upper.tolist(), lower.tolist(), strict=True)
    ]


def route(
    gaps: Sequence[int], track: Sequence[float], rows: Rows, ends: Point, delays: Sequence[int]
) -> list[Point]:
    """A polyline from (track[0], ends[0]) down to (track[-1], ends[1]) that moves sideways between
    rows only, from track[i] to track[i + 1] below row gaps[i]."""
    points = [(track[0], ends[0])]
    for gap, late, (here, there) in zip(gaps, delays, pairwise(track), strict=True):
        if abs(here - there) > SAME:
            early = rows.steps[gap] - late
            points.append((here, rows.bottom[gap] + LEAVE + STEP * late))
            points.append((there, rows.top[gap + 1] - ARRIVE - STEP * early))
    points.append((track[-1], ends[1]))
    return points
