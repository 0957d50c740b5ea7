"""Give edges too long for dummies a lane beside the rows.

The edges of one source share a lane, as they carry the same tensor. Short lanes are inside.
"""

from __future__ import annotations

import numpy as np

from ..arrays import Floats, GraphArrays
from .layers import Layers

LANE_GAP = 10.0
FIRST_LANE = 22.0
"""Between the boxes and the first lane, px."""


def place_lanes(graph: GraphArrays, layers: Layers, x: Floats) -> Floats:
    """The position of each node's lane across the flow, px; nan for nodes without.

    ``x``: the centre of each vertex. A lane is on the side of its rows on which the ends of its
    edges are.
    """
    lane = np.full(layers.real, np.nan)
    if not layers.in_lanes:
        return lane
    before, after = np.zeros(len(x)), np.zeros(len(x))
    before[: layers.real] = graph.across / 2
    after[: layers.real] = graph.across / 2 + graph.beside
    left, right = np.full(layers.rows, np.inf), np.full(layers.rows, -np.inf)
    np.minimum.at(left, layers.rank, x - before - FIRST_LANE)
    np.maximum.at(right, layers.rank, x + after + FIRST_LANE)
    ends = np.array([layers.chains[edge] for edge in sorted(layers.in_lanes)], dtype=np.intp)
    source, target = ends[:, 0], ends[:, 2]
    trunk, which = np.unique(source, return_inverse=True)
    outwards = x[: layers.real] - ((left + right) / 2)[layers.rank[: layers.real]]
    aside = np.bincount(which, outwards[source] + outwards[target], len(trunk))
    start = np.full(len(trunk), len(left))
    stop = np.zeros(len(trunk), dtype=np.intp)
    np.minimum.at(start, which, layers.rank[source] + 1)
    np.maximum.at(stop, which, layers.rank[target])
    for k in np.argsort(stop - start, kind="stable").tolist():
        rows = slice(start[k], stop[k])
        if aside[k] > 0:
            lane[trunk[k]] = right[rows].max()
            right[rows] = lane[trunk[k]] + LANE_GAP
        else:
            lane[trunk[k]] = left[rows].min()
            left[rows] = lane[trunk[k]] - LANE_GAP
    return lane
