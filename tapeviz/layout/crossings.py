"""The links between two rows and the rows' orders in; how many of the links cross, out."""

from __future__ import annotations

import numpy as np

from tapeviz.layout.arrays import Floats, Ints


def count_crossings(link: Floats, upper: Ints, lower: Ints) -> int:
    """Pairs of links in inverse order, for slot permutations of the upper and the lower row."""
    ordered = link[upper][:, lower]
    # ends[i, j]: links that end left of place j and start right of place i
    ends = np.zeros_like(ordered)
    ends[:-1, 1:] = ordered[::-1].cumsum(0)[::-1][1:].cumsum(1)[:, :-1]
    return int((ordered * ends).sum())


def pair_crossings(link: Floats, fixed: Ints) -> Floats:
    """``c[a, b]``: crossings between the links of slots a and b when a stands left of b.

    ``link`` has the free row's slots as rows and the fixed row's as columns.
    """
    ordered = link[:, fixed]
    before = ordered.cumsum(1) - ordered
    # A matrix product would do, but nearly all of ``ordered`` is 0, and a BLAS that starts its
    # threads for each small product is far slower on a busy machine.
    slots, ends = np.nonzero(ordered)
    crossed = np.zeros((len(link), len(link)))
    if len(slots):
        first = np.flatnonzero(np.diff(slots, prepend=-1))
        share = before.T[ends] * ordered[slots, ends][:, None]
        crossed[slots[first]] = np.add.reduceat(share, first, axis=0)
    return crossed
