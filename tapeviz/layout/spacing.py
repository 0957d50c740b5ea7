"""Move points apart until no box overlaps another."""

from __future__ import annotations

import numpy as np

from .arrays import Floats, GraphArrays

GAP = 28.0
CROWDED = 0.3
"""The picture is scaled up until only this part of the boxes overlap; these are pushed apart."""
PAIRWISE = 600
"""Up to this many boxes are pushed apart pair by pair."""
PUSHES = 20_000_000
"""Pairs compared in all rounds together, at most."""


def spread_out(graph: GraphArrays, x: Floats, y: Floats) -> tuple[Floats, Floats]:
    """New positions, at least ``GAP`` px apart in x or in y, that keep the shape if possible."""
    if graph.size < 2:
        return x, y
    x, y = _scaled(graph, x, y)
    if graph.size > PAIRWISE:
        return _shelved(graph, x, y)
    return _pushed_apart(graph, x, y)


def _reach(graph: GraphArrays) -> tuple[Floats, Floats]:
    """Half of each box's width and height, with half of the gap and the room of self-loops."""
    return (graph.across + GAP) / 2 + graph.beside, (graph.along + GAP) / 2


def _scaled(graph: GraphArrays, x: Floats, y: Floats) -> tuple[Floats, Floats]:
    """Scale the picture so that most boxes are clear of the nearest ones."""
    half_w, half_h = _reach(graph)
    chosen = np.arange(0, graph.size, max(1, graph.size // 800))
    dx = np.abs(x[chosen, None] - x) / (half_w[chosen, None] + half_w)
    dy = np.abs(y[chosen, None] - y) / (half_h[chosen, None] + half_h)
    apart = np.maximum(dx, dy)
    apart[np.arange(len(chosen)), chosen] = np.inf
    nearest = np.sort(apart.min(1))
    typical = nearest[int(CROWDED * len(nearest))]
    # No scale parts points that coincide: then use the size of the picture.
    if typical < 1e-6:
        typical = max(np.ptp(x) / half_w.sum(), np.ptp(y) / half_h.sum(), 1e-9) * np.sqrt(
            graph.size
        )
    return x / typical, y / typical


def _pushed_apart(graph: GraphArrays, x: Floats, y: Floats) -> tuple[Floats, Floats]:
    """Move overlapping boxes apart, each pair along the axis with the smaller overlap."""
    half_w, half_h = _reach(graph)
    wide, high = half_w[:, None] + half_w, half_h[:, None] + half_h
    order = np.arange(graph.size)
    side = np.sign(order[:, None] - order)  # where two points coincide the later goes right
    x, y = x.copy(), y.copy()
    for _ in range(min(300, PUSHES // graph.size**2)):
        dx, dy = x[:, None] - x, y[:, None] - y
        over_x, over_y = wide - np.abs(dx), high - np.abs(dy)
        overlap = (over_x > 1e-6) & (over_y > 1e-6)
        np.fill_diagonal(overlap, False)
        if not overlap.any():
            return x, y
        sideways = overlap & (over_x <= over_y)
        upright = overlap & ~sideways
        way_x = np.where(dx == 0, side, np.sign(dx))
        way_y = np.where(dy == 0, side, np.sign(dy))
        x += 0.55 * (way_x * over_x * sideways).sum(1) / np.maximum(1, sideways.sum(1))
        y += 0.55 * (way_y * over_y * upright).sum(1) / np.maximum(1, upright.sum(1))
    return _shelved(graph, x, y)


def _shelved(graph: GraphArrays, x: Floats, y: Floats) -> tuple[Floats, Floats]:
    """Sort the boxes into shelves by y, and keep them apart along each shelf."""
    half_w, half_h = _reach(graph)
    shelf = np.floor((y - y.min()) / (2 * half_h.max())).astype(np.intp)
    result = x.copy()
    for level in np.unique(shelf):
        members = np.flatnonzero(shelf == level)
        members = members[np.argsort(x[members], kind="stable")]
        steps = half_w[members][:-1] + half_w[members][1:]
        packed = np.concatenate([[0.0], np.cumsum(steps)])
        wish = x[members] - packed
        pushed_right = np.maximum.accumulate(wish)
        pushed_left = np.minimum.accumulate(wish[::-1])[::-1]
        result[members] = (pushed_right + pushed_left) / 2 + packed
    return result, (shelf + 0.5) * 2 * half_h.max()
