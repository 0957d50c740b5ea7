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
            orders, crossings = _sift_all(layers, swept)
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
    middle: Floats = ordered @ np.arange(ordered.shape[1]) / np.maximum(degree, 1)
    return middle


def _median(ordered: Floats) -> Floats:
    reached = ordered.cumsum(1)
    half = reached[:, -1:] / 2
    middle: Floats = ((reached >= half).argmax(1) + (reached > half).argmax(1)) / 2
    return middle


def _sweep_best(layers: Layers, start: Orders, key: Key, sweeps: int) -> Orders:
    orders = list(start)
    best, fewest, idle = list(orders), total_crossings(layers, orders), 0
    for sweep in range(sweeps):
        _sweep(layers, orders, key, downwards=sweep % 2 == 0, flip=sweep % 4 >= 2)
        crossings = total_crossings(layers, orders)
        if crossings < fewest:
            best, fewest, idle = list(orders), crossings, 0
        else:
            idle += 1
        if not fewest or idle > PATIENCE:
            break
    return best


def _sweep(layers: Layers, orders: Orders, key: Key, *, downwards: bool, flip: bool) -> None:
    """Order each row by its neighbours in the row before; ``flip`` turns ties around."""
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
        moved = current.copy()
        moved[places] = current[places[rank]]
        orders[row] = moved


def _sift_all(layers: Layers, start: Orders) -> tuple[Orders, int]:
    """Sift row after row, down and up, until nothing gets better."""
    orders = list(start)
    fewest = total_crossings(layers, orders)
    rows = list(range(len(orders)))
    for pass_ in range(20):
        for row in rows if pass_ % 2 == 0 else rows[::-1]:
            orders[row] = _sift(_costs(layers, orders, row), orders[row])
        crossings = total_crossings(layers, orders)
        if crossings == fewest and pass_ > 1:
            break
        fewest = crossings
    return orders, fewest


def _costs(layers: Layers, orders: Orders, row: int) -> Floats:
    """``cost[a, b]``: crossings saved by slot b standing left of slot a instead of right."""
    size = len(orders[row])
    crossed = np.zeros((size, size))
    if row > 0:
        crossed += pair_crossings(layers.links[row - 1].T, orders[row - 1])
    if row < len(orders) - 1:
        crossed += pair_crossings(layers.links[row], orders[row + 1])
    saved: Floats = crossed - crossed.T
    return saved


def _sift(saved: Floats, order: Ints) -> Ints:
    """Move each slot to its best place; a place of equal cost is kept."""
    if not saved.any():
        return order
    result = order.tolist()
    for slot in order.tolist():
        place = result.index(slot)
        result.remove(slot)
        # Passing b to the right saves saved[slot, b] crossings.
        gain = saved[slot, result].cumsum()
        base = gain[place - 1] if place else 0.0
        target = int(gain.argmax()) + 1 if len(gain) else 0
        if target and gain[target - 1] < 0:
            target = 0
        reached = gain[target - 1] if target else 0.0
        result.insert(target if reached > base else place, slot)
    return np.array(result, dtype=np.intp)


def _settled(layers: Layers, start: Orders) -> tuple[Orders, int]:
    """Lead long edges elsewhere and sift by turns, as long as it helps."""
    orders, crossings = start, total_crossings(layers, start)
    while crossings:
        orders, saved = reroute_long_edges(layers, orders)
        if not saved:
            break
        orders, crossings = _sift_all(layers, orders)
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
        settled, crossings = _settled(layers, _sift_all(layers, swept)[0])
        if crossings < fewest:
            best, fewest = settled, crossings
    return best
