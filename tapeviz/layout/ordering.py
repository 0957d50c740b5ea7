"""Layers in; an order of each row with few crossings between rows out.

Sweeps by barycentre or median (Sugiyama 1981; Gansner et al. 1993) from several starts, then
sifting: each vertex is tried at every place of its row against both neighbouring rows. The best
order by exact count is kept. No random numbers but those of one fixed seed.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from tapeviz.layout.arrays import Floats, Ints
from tapeviz.layout.crossings import count_crossings, pair_crossings
from tapeviz.layout.layers import Layers
from tapeviz.layout.rerouting import reroute_long_edges

Orders = list[Ints]
Key = Callable[[Floats], Floats]
PATIENCE = 4
LAST_PER_CENT = 4000
"""From this many vertices on the last per cent of crossings is not worth the time."""


@dataclass(frozen=True, slots=True)
class Effort:
    """How long to look: sweeps from each start, starts followed up, shakes of the best order."""

    sweeps: int
    starts: int
    shakes: int


def effort_for(layers: Layers) -> Effort:
    """Long for small graphs, where it costs nothing and each crossing is seen."""
    vertices = len(layers.rank)
    return Effort(
        sweeps=24,
        starts=6 if vertices < 800 else 3 if vertices < 2500 else 1,
        shakes=min(16, 6000 // max(1, vertices)),
    )


def order_rows(layers: Layers, effort: Effort) -> Orders:
    """The rows' slots from left to right, with as few crossings as were found."""
    tried: list[tuple[int, Orders]] = []
    for start in _starts(layers):
        for key in (_barycentre, _median):
            swept = _sweep_best(layers, start, key, effort.sweeps)
            orders = _sift_all(layers, swept)
            crossings = total_crossings(layers, orders)
            if not crossings:
                return orders
            tried.append((crossings, orders))
    tried.sort(key=lambda pair: pair[0])
    settled = [_settled(layers, orders) for _, orders in tried[: effort.starts]]
    orders, crossings = min(settled, key=lambda pair: pair[1])
    return _shaken(layers, orders, crossings, effort.shakes)


def total_crossings(layers: Layers, orders: Orders) -> int:
    return sum(
        count_crossings(link, orders[row], orders[row + 1]) for row, link in enumerate(layers.links)
    )


def _starts(layers: Layers) -> Iterator[Orders]:
    yield [np.arange(len(row)) for row in layers.rows]
    yield _walked(layers, range(len(layers.rows)))
    yield _walked(layers, reversed(range(len(layers.rows))))


def _walked(layers: Layers, rows: Iterable[int]) -> Orders:
    """Order of first visit when walking depth first from the vertices of ``rows`` in turn."""
    near: list[list[int]] = [[] for _ in layers.rank]
    for chain in layers.chains:
        for above, below in pairwise(chain):
            near[above].append(below)
            near[below].append(above)
    seen = [False] * len(near)
    found: list[list[int]] = [[] for _ in layers.rows]
    for row in rows:
        for root in layers.rows[row].tolist():
            stack = [root]
            while stack:
                vertex = stack.pop()
                if seen[vertex]:
                    continue
                seen[vertex] = True
                found[layers.rank[vertex]].append(int(layers.slot[vertex]))
                stack.extend(v for v in reversed(near[vertex]) if not seen[v])
    return [np.array(row, dtype=np.intp) for row in found]


def _barycentre(ordered: Floats) -> Floats:
    degree = ordered.sum(1)
    middle: Floats = (ordered * np.arange(ordered.shape[1])).sum(1) / np.maximum(degree, 1)
    return middle


def _median(ordered: Floats) -> Floats:
    reached = ordered.cumsum(1)
    half = reached[:, -1:] / 2
    middle: Floats = ((reached >= half).argmax(1) + (reached > half).argmax(1)) / 2
    return middle


def _sweep_best(layers: Layers, start: Orders, key: Key, sweeps: int) -> Orders:
    orders = list(start)
    counts = [0] * len(layers.links)
    _recount(layers, orders, counts, set(range(len(orders))))
    best, fewest, idle = list(orders), sum(counts), 0
    for sweep in range(sweeps):
        changed = _sweep(layers, orders, key, downwards=sweep % 2 == 0, flip=sweep % 4 >= 2)
        _recount(layers, orders, counts, changed)
        if sum(counts) < fewest:
            best, fewest, idle = list(orders), sum(counts), 0
        else:
            idle += 1
        if not fewest or idle > PATIENCE:
            break
    return best


def _recount(layers: Layers, orders: Orders, counts: list[int], changed: set[int]) -> None:
    """Bring the crossings of each gap up to date after some rows changed."""
    for gap, link in enumerate(layers.links):
        if gap in changed or gap + 1 in changed:
            counts[gap] = count_crossings(link, orders[gap], orders[gap + 1])


def _sweep(layers: Layers, orders: Orders, key: Key, *, downwards: bool, flip: bool) -> set[int]:
    """Order each row by its neighbours in the row before; ``flip`` turns ties around.

    Gives the rows that changed.
    """
    changed = set()
    rows = range(len(orders))
    for row in rows[1:] if downwards else rows[-2::-1]:
        link = layers.links[row - 1].T if downwards else layers.links[row]
        fixed = orders[row - 1] if downwards else orders[row + 1]
        current = orders[row]
        ordered = link[current][:, fixed]
        places = np.flatnonzero(ordered.any(1))  # a vertex without neighbours keeps its place
        wanted = key(ordered[places])
        if flip:
            rank = len(places) - 1 - np.argsort(wanted[::-1], kind="stable")
        else:
            rank = np.argsort(wanted, kind="stable")
        if (rank[1:] > rank[:-1]).all():
            continue
        moved = current.copy()
        moved[places] = current[places[rank]]
        orders[row] = moved
        changed.add(row)
    return changed


def _sift_all(layers: Layers, start: Orders) -> Orders:
    """Sift row after row, down and up, until nothing gets better."""
    orders = list(start)
    waiting = set(range(len(orders)))  # rows whose own or neighbouring order has changed
    for pass_ in range(20):
        for row in sorted(waiting, reverse=pass_ % 2 == 1):
            waiting.discard(row)
            sifted = _sift(_savings(layers, orders, row), orders[row])
            if sifted is not None:
                orders[row] = sifted
                waiting.update(r for r in (row - 1, row + 1) if 0 <= r < len(orders))
        if not waiting:
            break
    return orders


def _savings(layers: Layers, orders: Orders, row: int) -> Floats:
    """``saved[a, b]``: crossings saved when slot a goes from the left of slot b to its right."""
    size = len(orders[row])
    crossed = np.zeros((size, size))
    if size > 1 and row > 0:
        crossed += pair_crossings(layers.links[row - 1].T, orders[row - 1])
    if size > 1 and row < len(orders) - 1:
        crossed += pair_crossings(layers.links[row], orders[row + 1])
    saved: Floats = crossed - crossed.T
    return saved


def _sift(saved: Floats, start: Ints) -> Ints | None:
    """Make the best move of one slot to another place, again and again; None if there is none."""
    if not saved.any():
        return None
    order = start
    ordered = saved[order][:, order]
    for _ in range(len(order)):
        reached = ordered.cumsum(1)
        # gain[p, q]: from place p to the right of place q > p, or to the left of place q < p
        gain = reached - np.tril(ordered) - reached.diagonal()[:, None]
        place, target = divmod(int(gain.argmax()), len(order))
        if gain[place, target] <= 0:
            break
        moved = np.arange(len(order) - 1)
        moved[place:] += 1
        moved = np.insert(moved, target, place)
        order, ordered = order[moved], ordered[moved][:, moved]
    return None if order is start else order


def _settled(layers: Layers, start: Orders) -> tuple[Orders, int]:
    """Lead long edges elsewhere and sift by turns, as long as it helps."""
    orders, crossings = start, total_crossings(layers, start)
    enough = len(layers.rank) / LAST_PER_CENT * 0.01
    while crossings:
        orders, saved = reroute_long_edges(layers, orders)
        if saved <= enough * crossings:
            break
        orders = _sift_all(layers, orders)
        crossings = total_crossings(layers, orders)
    return orders, crossings


def _shaken(layers: Layers, orders: Orders, crossings: int, shakes: int) -> Orders:
    """Jump out of local optima: shift vertices by a few places, settle, keep what is better."""
    random = np.random.default_rng(20)
    best, fewest = orders, crossings
    for shake in range(shakes):
        if not fewest:
            break
        reach = 1.0 + 2.0 * (shake % 4)
        start = [
            order[np.argsort(np.arange(len(order)) + reach * random.random(len(order)))]
            for order in best
        ]
        key = _median if shake % 2 else _barycentre
        swept = _sweep_best(layers, start, key, 4)
        settled, crossings = _settled(layers, _sift_all(layers, swept))
        if crossings < fewest:
            best, fewest = settled, crossings
    return best
