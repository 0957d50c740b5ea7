"""Choose the place on a box's border at which each edge docks.

An edge that can run straight does. The others dock beside it in the order of their positions in the
next row, a little apart, so that arrow heads do not cover each other.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

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

    ``fixed`` (edges, 2): where these must be, px from the centre of the box, nan for anywhere.
    """
    half = graph.across / 2
    ends = np.array([(chain[0], chain[-1]) for chain in layers.chains], dtype=np.intp)
    given = x[ends.reshape(-1, 2)] + fixed
    straight = np.array(
        [_straight(chain, x, half, at) for chain, at in zip(layers.chains, given, strict=True)]
    ).reshape(-1, 2)
    below: list[list[int]] = [[] for _ in range(layers.real)]
    above: list[list[int]] = [[] for _ in range(layers.real)]
    for edge, chain in enumerate(layers.chains):
        below[chain[0]].append(edge)
        above[chain[-1]].append(edge)
    sides = [(0, below), (1, above)]
    for side, boxes in sides:
        for edges in boxes:
            edges.sort(key=lambda e: (_goes_to(layers.chains[e], x, given[e], side), e))
    docks = np.where(np.isnan(given), _spread_all(x, half, straight, sides), given)
    # If an edge could run straight but one of its docks was moved, the less crowded end follows.
    crowd = np.array(
        [(len(below[chain[0]]), len(above[chain[-1]])) for chain in layers.chains], dtype=np.intp
    ).reshape(-1, 2)
    direct = np.array([len(chain) == 2 for chain in layers.chains], dtype=bool)
    crooked = np.flatnonzero(direct & (np.abs(docks[:, 0] - docks[:, 1]) > 0))
    crooked = crooked[~np.isnan(straight[crooked, 0])]
    for edge in crooked.tolist():
        straight[edge] = docks[edge, int(crowd[edge, 1] >= crowd[edge, 0])]
    if len(crooked):
        docks = np.where(np.isnan(given), _spread_all(x, half, straight, sides), given)
    return docks[:, 0], docks[:, 1]


def _goes_to(chain: Sequence[int], x: Floats, given: Floats, side: int) -> float:
    """The position of an edge in the row next to its end on this side."""
    far = float(given[1 - side])
    if len(chain) == 2 and not np.isnan(far):
        return far
    return float(x[chain[-2 if side else 1]])


def _spread_all(
    x: Floats, half: Floats, straight: Floats, sides: Sequence[tuple[int, list[list[int]]]]
) -> Floats:
    docks = np.zeros_like(straight)
    for side, boxes in sides:
        for vertex, edges in enumerate(boxes):
            if edges:
                wishes = straight[edges, side].tolist()
                docks[edges, side] = list(spread(float(x[vertex]), float(half[vertex]), wishes))
    return docks


def _straight(chain: Sequence[int], x: Floats, half: Floats, given: Floats) -> tuple[float, float]:
    """The docks at both ends with which the edge leaves and arrives straight; nan if it cannot."""
    upper, lower = chain[0], chain[-1]
    if len(chain) == 2:
        known = given[~np.isnan(given)]
        if len(known) == 0:
            smaller = min(half[upper], half[lower])
            if abs(x[upper] - x[lower]) > LEVEL * smaller:
                return np.nan, np.nan
            middle = float(x[upper] + x[lower]) / 2
            return middle, middle
        wires = known[0], known[0]
    else:
        wires = x[chain[1]], x[chain[-2]]
    ends = []
    for vertex, wire, at in zip((upper, lower), wires, given, strict=True):
        reachable = abs(x[vertex] - wire) <= half[vertex] - corner(half[vertex])
        ends.append(float(at) if not np.isnan(at) else float(wire) if reachable else np.nan)
    return ends[0], ends[1]


def corner(half: float) -> float:
    return min(CORNER, 0.45 * half)


def spread(centre: float, half: float, straight: Sequence[float]) -> Iterator[float]:
    """The docks on a side from left to right; ``straight``: the wish of each edge, nan for none."""
    count = len(straight)
    room = half - corner(half) if count > 1 else half
    step = min(SPREAD, 2 * room / max(1, count - 1))
    fixed = [k for k in range(count) if not np.isnan(straight[k])]
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
