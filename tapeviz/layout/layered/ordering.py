"""Order each row of the layers with few crossings.

Sifting (Matuszewski, Schönfeld, Molitor, "Using Sifting for k-Layer Straightline Crossing
Minimization", 1999) of blocks over many rows instead of single vertices (Bachmaier, Brandenburg,
Brunner, Hübner, "A Global k-Level Crossing Reduction Algorithm", 2010), from coarse to fine: first
whole paths are blocks, then single nodes and long edges, so that a long edge finds its side as a
whole. Little is lost: in a drawing without crossings the relation "left of" between nodes and edges
has no cycle, so an order of blocks gives the same rows.

The work is limited by a count, not by time, and random numbers have a fixed seed: the same layers
give the same order.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice

import numpy as np

from ..arrays import Floats, Ints
from .blocks import SiftedBlocks, gather_blocks
from .crossings import count_crossings
from .layers import Layers, first_met, neighbours

WORK = 4000
"""Blocks to try in all, about 30 µs each."""
ATTEMPTS, DRAFT_ATTEMPTS = 40, 3
"""Starts at most: a small graph has no better order after 40."""
PASSES = 30


def rows_by(layers: Layers, key: Floats) -> list[Ints]:
    """The vertices of each row, sorted by ``key``, a number for each vertex."""
    order = np.lexsort((key, layers.rank))
    return np.split(order, np.cumsum(np.bincount(layers.rank))[:-1])


def order_blocks(layers: Layers, most_attempts: int = ATTEMPTS) -> Floats:
    """A number for each vertex, the same for all dummies of an edge, which orders the rows from
    left to right with few crossings."""
    fine = gather_blocks(layers, straight_edges(layers))
    best, fewest, work = np.zeros(len(layers.rank)), -1, WORK
    for paths, start in islice(attempts(layers, fine.of), most_attempts):
        coarse_key, coarse_work = sift(
            gather_blocks(layers, paths), best if start is None else start
        )
        key, fine_work = sift(fine, coarse_key)
        crossings = total_crossings(layers, key)
        if fewest < 0 or crossings < fewest:
            best, fewest = key, crossings
        work -= coarse_work + fine_work
        if not fewest or work < 0:
            break
    return best


def total_crossings(layers: Layers, key: Floats) -> int:
    """The number of crossings if each row is sorted by ``key``, a number for each vertex."""
    place = np.empty(len(key), dtype=np.intp)
    place[np.argsort(key, kind="stable")] = np.arange(len(key))
    return count_crossings(layers.rank[layers.above], place[layers.above], place[layers.below])


def straight_edges(layers: Layers) -> Ints:
    """The block of each vertex: one for each node, one for the dummies of each long edge."""
    of = np.arange(len(layers.rank))
    count = layers.real
    for chain in layers.chains:
        if len(chain) > 2:
            of[list(chain[1:-1])] = count
            count += 1
    return of


def sift(blocks: SiftedBlocks, key: Floats) -> tuple[Floats, int]:
    """Move one block after the other to its best place, until nothing is gained.

    ``key``: a number for each vertex, by which blocks are sorted at first. Returns the numbers of
    the order found, and the work done (in blocks tried). Among equally good places a block takes
    the one in the middle of its neighbours, which shortens edges.
    """
    count = blocks.count
    first = np.full(count, np.inf)
    np.minimum.at(first, blocks.of, key)
    order = np.argsort(first, kind="stable")
    place = np.empty(count, dtype=np.intp)
    place[order] = np.arange(count)
    work = 0
    for pass_ in range(PASSES):
        moved = False
        for block in range(count) if pass_ % 2 == 0 else range(count - 1, -1, -1):
            cost = blocks.crossings_by_place(block, place)
            here = int(place[block])
            fewest = cost.min()
            gained = bool(fewest < cost[here])
            neighbours = blocks.neighbours_of(block)
            middle = place[neighbours].sum() / len(neighbours) if len(neighbours) else here
            best = np.flatnonzero(cost == fewest)
            there = int(best[np.abs(best - middle).argmin()])
            if gained or abs(there - middle) < abs(here - middle) - 1:
                _move(order, place, here, there)
                moved |= gained
        work += blocks.size
        if not moved:
            break
    return place[blocks.of].astype(np.float64), work


def _move(order: Ints, place: Ints, here: int, before: int) -> None:
    """Put the block at place ``here`` before the one at place ``before``."""
    block = order[here]
    if before > here:
        low, high = here, before
        order[here : before - 1] = order[here + 1 : before]
        order[before - 1] = block
    else:
        low, high = before, here + 1
        order[before + 1 : here + 1] = order[before:here].copy()
        order[before] = block
    place[order[low:high]] = np.arange(low, high)


def first_orders(layers: Layers) -> Iterator[Floats]:
    """Numbers for each vertex to begin with: by a depth-first walk from the top, one from the
    bottom, and by execution (insertion), in which a dummy is between the ends of its edge."""
    by_row = np.argsort(layers.rank, kind="stable").tolist()
    near = neighbours(len(layers.rank), layers.above, layers.below)
    yield first_met(near, by_row)
    yield first_met(near, reversed(by_row))
    key = np.arange(len(layers.rank), dtype=np.float64)
    for edge, chain in enumerate(layers.chains):
        if edge not in layers.in_lanes:
            key[list(chain[1:-1])] = (chain[0] + chain[-1]) / 2
    yield key


def attempts(layers: Layers, fine: Ints) -> Iterator[tuple[Ints, Floats | None]]:
    """(coarse blocks, first order) of each attempt; None: begin from the best order so far.

    First the three rules that join links to paths with three starts each, then random paths
    without end.
    """
    upper, lower = fine[layers.above], fine[layers.below]
    sloped = upper != lower
    links = np.bincount(np.concatenate([upper[sloped], lower[sloped]]), minlength=len(fine))
    length = np.bincount(fine)
    rules = (
        links[upper] + links[lower],  # links between vertices with few others first
        layers.rank[layers.above],
        -(length[upper] + length[lower]),
    )
    starts = list(first_orders(layers))
    count = int(fine.max()) + 1
    paths = [_joined(count, upper, lower, rule) for rule in rules]
    for k in range(9):
        yield paths[k % 3][fine], starts[(k + k // 3) % 3]
    random = np.random.default_rng(20)
    while True:
        yield _joined(count, upper, lower, random.random(len(upper)))[fine], None


def _joined(count: int, upper: Ints, lower: Ints, rule: Floats | Ints) -> Ints:
    """The path of each block, from 0; links are joined in the order of ``rule``."""
    path = list(range(count))
    goes_on, comes_in = [False] * count, [False] * count
    order = np.argsort(rule, kind="stable")
    for above, below in zip(upper[order].tolist(), lower[order].tolist(), strict=True):
        if above != below and not goes_on[above] and not comes_in[below]:
            goes_on[above] = comes_in[below] = True
            path[below] = above
    # From each block up to the head of its path: doubling, since blocks are not sorted by row.
    head = np.array(path)
    while (head != head[head]).any():
        head = head[head]
    return np.unique(head, return_inverse=True)[1].reshape(-1)
