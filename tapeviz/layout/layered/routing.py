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

from ..arrays import Floats, GraphArrays, Ints
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
    for edge, (chain, track) in enumerate(zip(layers.chains, tracks, strict=True)):
        top = int(layers.rank[chain[0]])
        for i, (here, there) in enumerate(pairwise(track)):
            if abs(here - there) > SAME:
                turning[top + i].append((edge, i))
    aside, steps = np.zeros(count - 1), np.zeros(count - 1, dtype=np.intp)
    delays: Delays = {}
    for gap, turns in enumerate(turning):
        slants = [(tracks[edge][i], tracks[edge][i + 1]) for edge, i in turns]
        aside[gap] = max((abs(here - there) for here, there in slants), default=0.0)
        found = levels(slants, float(_band(aside[gap])))
        steps[gap] = max(found, default=0)
        delays.update(zip(turns, found, strict=True))
    return stacked(height, aside, steps), delays


def _band(aside: Floats) -> Floats:
    turning: Floats = np.clip(aside * STEEPNESS, ROW_GAP - LEAVE - ARRIVE, HIGHEST_BAND)
    band: Floats = np.where(aside > SAME, turning, STRAIGHT_GAP - LEAVE - ARRIVE)
    return band


def stacked(height: Floats, aside: Floats, steps: Ints) -> Rows:
    """Rows of these heights; ``aside[r]``: the most px that an edge moves sideways below row r."""
    top = np.zeros(len(height))
    top[1:] = np.cumsum(height[:-1] + _band(aside) + STEP * steps + LEAVE + ARRIVE)
    return Rows(top.tolist(), (top + height).tolist(), steps.tolist())


def tracks_of(layers: Layers, x: Floats, upper: Floats, lower: Floats) -> list[list[float]]:
    """For each edge its position across the flow in each row, with the docks at both ends."""
    return [
        [float(upper[edge]), *x[list(chain[1:-1])].tolist(), float(lower[edge])]
        for edge, chain in enumerate(layers.chains)
    ]


def route(
    first_row: int, track: Sequence[float], rows: Rows, ends: Point, delays: Sequence[int]
) -> list[Point]:
    """A polyline from (track[0], ends[0]) down to (track[-1], ends[1]) that moves sideways between
    rows only."""
    points = [(track[0], ends[0])]
    for i in range(len(track) - 1):
        here, there = track[i], track[i + 1]
        if abs(here - there) > SAME:
            late = delays[i] if delays else 0
            early = rows.steps[first_row + i] - late
            points.append((here, rows.bottom[first_row + i] + LEAVE + STEP * late))
            points.append((there, rows.top[first_row + i + 1] - ARRIVE - STEP * early))
    points.append((track[-1], ends[1]))
    return points


def route_by_lane(
    first_row: int, last_row: int, track: tuple[float, float, float], rows: Rows, ends: Point
) -> list[Point]:
    """A polyline from the upper end into a lane, down, and back to the lower end.

    ``track``: the position across of the upper end, the lane and the lower end; ``ends``: the
    positions along the flow of both ends.
    """
    above, lane, below = track
    points = [(above, ends[0])]
    if abs(above - lane) > SAME:
        points.append((above, rows.bottom[first_row] + LEAVE))
        points.append((lane, rows.top[first_row + 1] - ARRIVE))
    if abs(below - lane) > SAME:
        points.append((lane, rows.bottom[last_row - 1] + LEAVE))
        points.append((below, rows.top[last_row] - ARRIVE))
    points.append((below, ends[1]))
    return points
