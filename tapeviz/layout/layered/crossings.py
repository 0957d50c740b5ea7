"""Count the crossings of links between neighbouring rows."""

from __future__ import annotations

import numpy as np

from ..arrays import Ints


def count_crossings(gap: Ints, upper: Ints, lower: Ints) -> int:
    """The number of pairs of links in one gap between rows whose ends are in inverse order.

    ``gap[k]``: the number of link k's gap; ``upper[k]``, ``lower[k]``: the places of its ends.
    Links are sorted by their upper ends. Inversions of the lower ends are counted bit by bit: at
    each bit those of the pairs that differ in it and agree in all higher ones.
    """
    by_upper = np.lexsort((lower, upper, gap))
    low = lower[by_upper]
    highest = int(low.max(initial=0)).bit_length()
    group = gap[by_upper] << highest
    total = 0
    for bit in range(highest - 1, -1, -1):
        key = group + ((low >> (bit + 1)) << (bit + 1))
        by_key = np.argsort(key, kind="stable")
        ones = (low[by_key] >> bit) & 1
        before = np.cumsum(ones) - ones
        start = np.concatenate([[True], np.diff(key[by_key]) > 0]) if len(key) else ones > 0
        base = before[start][np.cumsum(start) - 1]
        total += int(((before - base) * (1 - ones)).sum())
    return total
