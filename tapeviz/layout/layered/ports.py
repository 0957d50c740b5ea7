"""Choose the place on a box's border at which each edge docks.

An edge that can run straight does. The others dock beside it in the order of their positions in the
next row, a little apart, so that arrow heads do not cover each other.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import groupby
from math import isnan, nan

import numpy as np

from ..arrays import Floats, GraphArrays
from .layers import Layers

SPREAD = 24.0
"""Px between two docks where there is room."""
TIGHT = 14.0
"""Px between two docks if one of them should stand elsewhere."""
TIGHTEST = 6.0
"""The same on a short side."""
CORNER = 10.0
"""Px kept free at each end of a box's side, for its rounded corner; less on a short side."""
LEVEL = 0.45
"""The edge between two boxes is straight if their centres differ by less than this part of half
of the smaller one."""


def dock(graph: GraphArrays, layers: Layers, x: Floats, fixed: Floats) -> tuple[Floats, Floats]:
    """The position across the flow of each edge's upper end, and of its lower end.

    ``x``: of each vertex, and then of the lane of each node. ``fixed`` (edges, 2): where the docks
    must be, px from the centre of the box, nan for anywhere. Edges that take one lane share a dock.
    """
    half = graph.across / 2
    ends = np.array([(chain[0], chain[-1]) for chain in layers.chains], dtype=np.intp)
    given = x[ends.reshape(-1, 2)] + fixed
    places, halves, at = x.tolist(), half.tolist(), given.tolist()
    straight = np.array(
        [_straight(chain, places, halves, at[e]) for e, chain in enumerate(layers.chains)]
    ).reshape(-1, 2)
    # The edges at the lower (0) and at the upper side (1) of each box, from left to right.
    boxes: list[list[list[int]]] = [[[] for _ in range(layers.real)] for _ in range(2)]
    for edge, chain in enumerate(layers.chains):
        boxes[0][chain[0]].append(edge)
        boxes[1][chain[-1]].append(edge)
    docks = np.zeros_like(given)
    for side, at_boxes in enumerate(boxes):
        for edges in (each for each in at_boxes if len(each) > 1):
            edges.sort(key=lambda e: (_goes_to(layers.chains[e], places, at[e], side), e))
        _spread_all(layers, places, halves, straight, docks, side, at_boxes)
    docks = np.where(np.isnan(given), docks, given)
    # If an edge could run straight but one of its docks was moved, the less crowded end follows.
    direct = np.array([len(chain) == 2 for chain in layers.chains], dtype=bool)
    crooked = np.flatnonzero(direct & (np.abs(docks[:, 0] - docks[:, 1]) > 0))
    crooked = crooked[~np.isnan(straight[crooked, 0])]
    for edge in crooked.tolist():
        upper, lower = layers.chains[edge]
        straight[edge] = docks[edge, int(len(boxes[1][lower]) >= len(boxes[0][upper]))]
    for side, at_boxes in enumerate(boxes):
        moved = {layers.chains[edge][-side] for edge in crooked.tolist()}
        again = [edges if vertex in moved else [] for vertex, edges in enumerate(at_boxes)]
        _spread_all(layers, places, halves, straight, docks, side, again)
    docks = np.where(np.isnan(given), docks, given)
    return docks[:, 0], docks[:, 1]


def _goes_to(chain: Sequence[int], x: Sequence[float], given: Sequence[float], side: int) -> float:
    """The position of an edge in the row next to its end on this side."""
    far = given[1 - side]
    return far if len(chain) == 2 and not isnan(far) else x[chain[-2 if side else 1]]


def _spread_all(
    layers: Layers,
    x: Sequence[float],
    half: Sequence[float],
    straight: Floats,
    docks: Floats,
    side: int,
    boxes: Sequence[Sequence[int]],
) -> None:
    """Write the docks of the edges of each box on this side to ``docks``."""
    wishes, found = straight[:, side].tolist(), docks[:, side].tolist()
    for vertex, edges in enumerate(boxes):
        if not edges:
            continue
        shared = groupby(edges, lambda e: layers.chains[e][1] if e in layers.in_lanes else -e)
        slots = [list(slot) for _, slot in shared]
        places = spread(x[vertex], half[vertex], [wishes[slot[0]] for slot in slots])
        for slot, place in zip(slots, places, strict=True):
            for edge in slot:
                found[edge] = place
    docks[:, side] = found


def _straight(
    chain: Sequence[int], x: Sequence[float], half: Sequence[float], given: Sequence[float]
) -> tuple[float, float]:
    """The docks at both ends with which the edge leaves and arrives straight; nan if it cannot."""
    upper, lower = chain[0], chain[-1]
    if len(chain) == 2:
        known = [at for at in given if not isnan(at)]
        if not known:
            smaller = min(half[upper], half[lower])
            if abs(x[upper] - x[lower]) > LEVEL * smaller:
                return nan, nan
            middle = (x[upper] + x[lower]) / 2
            return middle, middle
        wires = known[0], known[0]
    else:
        wires = x[chain[1]], x[chain[-2]]
    ends = []
    for vertex, wire, at in zip((upper, lower), wires, given, strict=True):
        reachable = abs(x[vertex] - wire) <= half[vertex] - corner(half[vertex])
        ends.append(at if not isnan(at) else wire if reachable else nan)
    return ends[0], ends[1]


def corner(half: float) -> float:
    return min(CORNER, 0.45 * half)


def spread(centre: float, half: float, straight: Sequence[float]) -> Iterator[float]:
    """The docks on a side from left to right; ``straight``: the wish of each edge, nan for none."""
    count = len(straight)
    if count == 1:
        wish = centre if isnan(straight[0]) else straight[0]
        yield min(max(wish, centre - half), centre + half)
        return
    room = half - corner(half)
    step = min(SPREAD, 2 * room / (count - 1))
    fixed = [k for k in range(count) if not isnan(straight[k])]
    wanted = []
    for k in range(count):
        if fixed:
            nearest = min(fixed, key=lambda f: abs(f - k))
            wanted.append(straight[nearest] + (k - nearest) * step)
        else:
            wanted.append(centre + (k - (count - 1) / 2) * step)
    weights = [1000.0 if k in fixed else 1.0 for k in range(count)]
    low, high = centre - room, centre + room
    gap = min(TIGHT, step, max(TIGHTEST, step / 2))
    docks = keep_apart([min(max(w, low), high) for w in wanted], weights, gap)
    for k, position in enumerate(docks):
        yield min(max(position, low + k * gap), high - (count - 1 - k) * gap)


def keep_apart(wanted: Sequence[float], weights: Sequence[float], gap: float) -> list[float]:
    """The positions nearest to ``wanted`` in this order and at least ``gap`` apart (isotonic
    regression)."""
    blocks: list[tuple[float, float, int]] = []  # mean, weight, members
    for k, (position, weight) in enumerate(zip(wanted, weights, strict=True)):
        mean, total, members = position - k * gap, weight, 1
        while blocks and blocks[-1][0] > mean:
            other, other_total, other_members = blocks.pop()
            mean = (mean * total + other * other_total) / (total + other_total)
            total += other_total
            members += other_members
        blocks.append((mean, total, members))
    flat = [mean for mean, _, members in blocks for _ in range(members)]
    return [position + k * gap for k, position in enumerate(flat)]
