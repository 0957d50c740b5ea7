"""Choose the height at which each sideways move of an edge between two rows begins.

Two flat edges side by side would look like one thick line. So each begins a little lower than its
neighbour on the side that they go to, which also keeps them from crossing.
"""

from __future__ import annotations

from collections.abc import Sequence

Slant = tuple[float, float]
"""Position across at the top and at the bottom of the band."""
MOST = 9
NEAR = 7.0
"""Px; slants that come nearer to each other are set apart by a step."""
REACH = 4.0
"""Px; slants that end this near to each other count as side by side."""


def levels(slants: Sequence[Slant], band: float) -> list[int]:
    """For each slant by how many steps lower it begins, 0 to ``MOST``; ``band``: the height of a
    slant in px."""
    result = [0] * len(slants)
    if len(slants) < 2:
        return result
    for sign in (1.0, -1.0):
        # Of slants to the left the leftmost begins first; those to the right are mirrored.
        going = [
            (sign * top, sign * bottom, k)
            for k, (top, bottom) in enumerate(slants)
            if sign * bottom < sign * top
        ]
        going.sort()
        for i, (top, bottom, k) in enumerate(going):
            for other_top, other_bottom, j in map(going.__getitem__, range(i - 1, -1, -1)):
                if result[k] == MOST or other_top + REACH <= bottom:
                    break  # a box may have thousands of edges; the others begin further left
                if other_bottom < bottom:
                    apart = min(top - other_top, bottom - other_bottom)
                    length = max(top - bottom, other_top - other_bottom)
                    step = 1 if apart * band < NEAR * length else 0
                    result[k] = max(result[k], min(MOST, result[j] + step))
    return result
