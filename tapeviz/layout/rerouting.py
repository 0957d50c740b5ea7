"""Ordered rows in; the same rows with long edges led along ways of fewest crossings out.

Sweeps and sifting move one vertex at a time, and a long edge, being a chain of dummies, cannot
jump over a neighbour that way. Here a whole chain is taken out and put back by dynamic
programming over all its rows: the best way for this edge while all others stay.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from tapeviz.layout.arrays import Ints
from tapeviz.layout.layers import Layers

Orders = list[Ints]
Counts = NDArray[np.float32]


def reroute_long_edges(layers: Layers, orders: Orders) -> tuple[Orders, int]:
    """One pass over all long edges; also gives the number of crossings saved."""
    rows = _Rows(layers, orders)
    saved = 0
    for chain in layers.chains:
        if len(chain) > 2:
            saved += _reroute(rows, chain)
    return rows.orders, saved


class _Rows:
    """Orders that change a chain at a time, with what a way between two rows would cross.

    A way runs between places: place p of a row is the gap before its p-th vertex.
    """

    def __init__(self, layers: Layers, orders: Orders) -> None:
        self.layers = layers
        self.orders = list(orders)
        self.places = [np.argsort(order).tolist() for order in orders]
        self.ends: list[Counts | None] = [None] * len(layers.links)
        self.costs: list[Counts | None] = [None] * len(layers.links)

    def reorder(self, row: int, order: Ints) -> None:
        self.orders[row] = order
        self.places[row] = np.argsort(order).tolist()
        for gap in (row - 1, row):
            if 0 <= gap < len(self.ends):
                self.ends[gap] = self.costs[gap] = None

    def ended(self, gap: int) -> Counts:
        """``ended[p, q]``: links that start before place p above and end before place q below."""
        known = self.ends[gap]
        if known is None:
            upper, lower = self.orders[gap], self.orders[gap + 1]
            known = np.zeros((len(upper) + 1, len(lower) + 1), dtype=np.float32)
            link = self.layers.links[gap][upper][:, lower].astype(np.float32)
            np.cumsum(link.cumsum(1), 0, out=known[1:, 1:])
            self.ends[gap] = known
        return known

    def cost(self, gap: int) -> Counts:
        """``cost[q, p]``: links crossed on the way from place p above to place q below."""
        known = self.costs[gap]
        if known is None:
            ended = self.ended(gap)
            known = np.ascontiguousarray((ended[:, -1:] + ended[-1:] - 2 * ended).T)
            self.costs[gap] = known
        return known

    def cost_down_from(self, gap: int, place: int) -> Counts:
        """``cost[q]``: links crossed on the way from the vertex at ``place`` to place q below."""
        ended = self.ended(gap)
        cost: Counts = ended[place, -1] - ended[place] + ended[-1] - ended[place + 1]
        return cost

    def cost_up_from(self, gap: int, place: int) -> Counts:
        ended = self.ended(gap)
        cost: Counts = ended[-1, place] - ended[:, place] + ended[:, -1] - ended[:, place + 1]
        return cost


def _reroute(rows: _Rows, chain: tuple[int, ...]) -> int:
    """Move the inner vertices of one chain, if that helps; gives the crossings saved."""
    top = int(rows.layers.rank[chain[0]])
    places = [
        rows.places[top + i][slot] for i, slot in enumerate(rows.layers.slot[list(chain)].tolist())
    ]
    first = rows.cost_down_from(top, places[0])
    final = rows.cost_up_from(top + len(chain) - 2, places[-1])
    present = float(first[places[1]] + final[places[-2]]) + sum(
        float(rows.cost(top + i)[places[i + 1], places[i]]) for i in range(1, len(chain) - 2)
    )
    if not present:
        return 0
    reached = first
    came_from: list[Ints] = []
    for i in range(1, len(chain) - 2):
        above, below = places[i], places[i + 1]
        total = rows.cost(top + i) + reached
        total[below + 1 :, : above + 1] -= 1  # the chain does not cross itself
        total[: below + 1, above + 1 :] -= 1
        best = total.argmin(1)
        came_from.append(best)
        reached = total[np.arange(len(best)), best]
    reached = reached + final
    if float(reached.min()) > present - 0.5:
        return 0
    place = int(reached.argmin())
    saved = present - float(reached[place])
    for i in range(len(chain) - 2, 0, -1):
        _move(rows, top + i, places[i], place)
        if i > 1:
            place = int(came_from[i - 2][place])
    return round(saved)


def _move(rows: _Rows, row: int, old: int, new: int) -> None:
    """Take the vertex at place ``old`` and put it before the one at place ``new``."""
    if new not in (old, old + 1):
        order = rows.orders[row].tolist()
        slot = order.pop(old)
        order.insert(new - (new > old), slot)
        rows.reorder(row, np.array(order, dtype=np.intp))
