"""Count the crossings of layers for each place that a block could take.

A *block* is a set of vertices, one in each of some consecutive rows, that stay straight above one
another. All blocks have one order from left to right, and each row has its order from it. Moving
a block changes many rows at once, and the effect is computed for all places together: each link
beside the block is crossed from some place on, or up to some place.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ..arrays import Floats, Ints
from .layers import Layers


@dataclass(frozen=True, slots=True)
class SiftedBlocks:
    """The blocks of layers, with the links that count for the place of each. ``of[v]`` is the block
    of vertex v. The other arrays list, block after block, the links that decide about its place;
    those of block c run from ``starts[c]`` to ``starts[c + 1]``.

    Steps (``beside``, ``far``, ``other``): a link of the block goes to block ``other``, and in
    the same gap another link goes from ``beside`` to ``far``. They cross when the block is right
    of ``beside`` and ``far`` right of ``other``, or when both are left.
    Spans (``span_from``, ``span_to``, ``sign``): a link runs from one block to the other where
    this block is straight, and is crossed between them. With ``sign`` -1 it is crossed outside:
    the two are ends of the block's own links, one that arrives and one that leaves in one gap.
    """

    of: Ints
    count: int
    beside: Ints
    far: Ints
    other: Ints
    step_starts: list[int]
    span_from: Ints
    span_to: Ints
    sign: Ints
    span_starts: list[int]
    neighbours: Ints
    neighbour_starts: list[int]

    @property
    def size(self) -> int:
        """The cost of `crossings_by_place` for all blocks, as a number of blocks with few
        links."""
        return self.count + (len(self.beside) + len(self.span_from)) // 400

    def crossings_by_place(self, block: int, place: Ints) -> Floats:
        """``cost[p]``: crossings, less a constant, if the block moves before the block at place
        p.

        ``place``: the place of each block in the present order.
        """
        steps = slice(self.step_starts[block], self.step_starts[block + 1])
        spans = slice(self.span_starts[block], self.span_starts[block + 1])
        side = np.sign(place[self.far[steps]] - place[self.other[steps]])
        first, last, sign = (
            place[self.span_from[spans]],
            place[self.span_to[spans]],
            self.sign[spans],
        )
        at = np.concatenate(
            [place[self.beside[steps]], np.minimum(first, last), np.maximum(first, last)]
        )
        rise = np.concatenate([side, sign, -sign])
        return np.concatenate([[0.0], np.bincount(at, rise, self.count).cumsum()])

    def neighbours_of(self, block: int) -> Ints:
        """The blocks linked to this one, once for each link."""
        return self.neighbours[self.neighbour_starts[block] : self.neighbour_starts[block + 1]]


def gather_blocks(layers: Layers, of: Ints) -> SiftedBlocks:
    """The blocks of layers; ``of``: the block of each vertex, from 0."""
    count = int(of.max()) + 1
    gap = layers.rank[layers.above]
    upper, lower = of[layers.above], of[layers.below]
    gaps = np.searchsorted(gap, np.arange(layers.rows + 1))
    sloped = np.flatnonzero(upper != lower)
    # Each sloped link from both its ends, with every link of its gap.
    link = np.concatenate([sloped, sloped])
    down = np.repeat([True, False], len(sloped))
    which, beside = _ranges(gaps[gap[link]], gaps[gap[link] + 1])
    link, down = link[which], down[which]
    block = np.where(down, upper[link], lower[link])
    other = np.where(down, lower[link], upper[link])
    near = np.where(down, upper[beside], lower[beside])
    far = np.where(down, lower[beside], upper[beside])
    foreign = (near != block) & (far != block)
    steps = foreign & (far != other)
    through = down & (near != block) & (far == block)
    # Each straight link with every sloped link of its gap.
    sloped_gaps = np.searchsorted(gap[sloped], np.arange(layers.rows + 1))
    straight = np.flatnonzero(upper == lower)
    which, crossing = _ranges(sloped_gaps[gap[straight]], sloped_gaps[gap[straight] + 1])
    crossing = sloped[crossing]
    inside = upper[straight][which]
    passing = (upper[crossing] != inside) & (lower[crossing] != inside)
    step_order, step_starts = _by_block(block[steps], count)
    span_block = np.concatenate([inside[passing], block[through]])
    span_order, span_starts = _by_block(span_block, count)
    sign = np.repeat([1, -1], [int(passing.sum()), int(through.sum())])
    ends = np.concatenate([upper[sloped], lower[sloped]])
    end_order, end_starts = _by_block(ends, count)
    return SiftedBlocks(
        of=of,
        count=count,
        beside=near[steps][step_order],
        far=far[steps][step_order],
        other=other[steps][step_order],
        step_starts=step_starts,
        span_from=np.concatenate([upper[crossing][passing], near[through]])[span_order],
        span_to=np.concatenate([lower[crossing][passing], other[through]])[span_order],
        sign=sign[span_order],
        span_starts=span_starts,
        neighbours=np.concatenate([lower[sloped], upper[sloped]])[end_order],
        neighbour_starts=end_starts,
    )


def _ranges(starts: Ints, stops: Ints) -> tuple[Ints, Ints]:
    """(the index of the range, the number) for all numbers of the ranges, one after the other."""
    sizes = stops - starts
    which = np.repeat(np.arange(len(sizes)), sizes)
    return which, np.arange(len(which)) + (starts - (np.cumsum(sizes) - sizes))[which]


def _by_block(block: Ints, count: int) -> tuple[Ints, list[int]]:
    order = np.argsort(block, kind="stable")
    return order, np.searchsorted(block[order], np.arange(count + 1)).tolist()
