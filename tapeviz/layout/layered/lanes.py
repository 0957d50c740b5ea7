"""Give edges too long for dummies a lane beside the rows.

The edges of one source share a lane, as they carry the same tensor. Short lanes are inside.
"""

from __future__ import annotations

import numpy as np

from ..arrays import Floats, Ints

LANE_GAP = 10.0
FIRST_LANE = 22.0
"""Between the boxes and the first lane, px."""


def assign_lanes(
    first_row: Ints, last_row: Ints, source: Ints, towards: Floats, left: Floats, right: Floats
) -> Floats:
    """The position of each edge's lane across the flow.

    Edge k passes the rows from ``first_row[k]`` to ``last_row[k]``; ``towards[k]``: the middle of
    its ends, which chooses the side; ``left``, ``right``: where the boxes of each row end.
    """
    left, right = left - FIRST_LANE, right + FIRST_LANE
    middle = (left + right) / 2
    trunk, which = np.unique(source, return_inverse=True)
    aside = np.bincount(which, towards - middle[(first_row + last_row) // 2], len(trunk))
    start = np.full(len(trunk), len(left))
    stop = np.zeros(len(trunk), dtype=np.intp)
    np.minimum.at(start, which, first_row)
    np.maximum.at(stop, which, last_row + 1)
    lane = np.zeros(len(trunk))
    for k in np.argsort(stop - start, kind="stable").tolist():
        rows = slice(start[k], stop[k])
        if aside[k] > 0:
            lane[k] = right[rows].max()
            right[rows] = lane[k] + LANE_GAP
        else:
            lane[k] = left[rows].min()
            left[rows] = lane[k] - LANE_GAP
    return lane[which]
