"""Rows with positions in; heights of the rows and a polyline for each edge out.

Between two rows all edges change sides in one common band that touches no box, and inside a row
they run straight down in the room reserved for them. So no edge can touch a foreign box, and two
edges cross only where the order of the rows makes them.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from tapeviz.layout.arrays import Floats, GraphArrays
from tapeviz.layout.layers import Layers
from tapeviz.layout.model import Point

LEAVE = 8.0
"""Straight piece below a row before an edge may turn, px."""
ARRIVE = 14.0
"""Straight piece above a row: room for the arrowhead."""
ROW_GAP = 46.0
STEEPNESS = 0.14
"""An edge that goes far aside gets a band higher by this part of the distance."""
HIGHEST_BAND = 90.0
SAME = 0.01
"""Positions nearer than this are one, px."""


@dataclass(frozen=True, slots=True)
class Rows:
    """Top and bottom of each row, px."""

    top: list[float]
    bottom: list[float]

    @property
    def middle(self) -> Floats:
        middle: Floats = np.array([self.top, self.bottom]).mean(0)
        return middle


def stack_rows(graph: GraphArrays, layers: Layers, tracks: Sequence[Sequence[float]]) -> Rows:
    """Stack the rows; a gap grows when an edge in it has far to go aside."""
    count = len(layers.rows)
    height = np.zeros(count)
    np.maximum.at(height, layers.rank[: layers.real], graph.along)
    aside = np.zeros(count - 1)
    for chain, track in zip(layers.chains, tracks, strict=True):
        top = int(layers.rank[chain[0]])
        for i in range(len(track) - 1):
            aside[top + i] = max(aside[top + i], abs(track[i + 1] - track[i]))
    return stacked(height, aside)


def stacked(height: Floats, aside: Floats) -> Rows:
    """Rows of these heights; ``aside[r]``: the farthest that an edge goes aside below row r."""
    band = np.clip(aside * STEEPNESS, ROW_GAP - LEAVE - ARRIVE, HIGHEST_BAND)
    top = np.zeros(len(height))
    top[1:] = np.cumsum(height[:-1] + band + LEAVE + ARRIVE)
    return Rows(top.tolist(), (top + height).tolist())


def tracks_of(layers: Layers, x: Floats, upper: Floats, lower: Floats) -> list[list[float]]:
    """Position across in each row that an edge passes, docks at both ends."""
    return [
        [float(upper[edge]), *x[list(chain[1:-1])].tolist(), float(lower[edge])]
        for edge, chain in enumerate(layers.chains)
    ]


def route(
    first_row: int, track: Sequence[float], rows: Rows, start: float, end: float
) -> list[Point]:
    """From (track[0], start) down to (track[-1], end), changing sides between rows only."""
    points = [(track[0], start)]
    for i in range(len(track) - 1):
        here, there = track[i], track[i + 1]
        if abs(here - there) > SAME:
            points.append((here, rows.bottom[first_row + i] + LEAVE))
            points.append((there, rows.top[first_row + i + 1] - ARRIVE))
    points.append((track[-1], end))
    return points


def route_by_lane(
    first_row: int, last_row: int, track: tuple[float, float, float], rows: Rows, ends: Point
) -> list[Point]:
    """From the upper end aside into a lane, down, and back to the lower end.

    ``track``: position of the upper end, the lane and the lower end; ``ends``: where along the
    flow the edge starts and ends.
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
