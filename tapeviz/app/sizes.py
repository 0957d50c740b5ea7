"""Compute the sizes of the docks from those of the window and of the panels' content."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import astuple, dataclass

ALIKE = 40
"""Px by which the sizes of two windows may differ to count as the same."""
MOST_KEPT = 20
ROOMY, WIDE = 800, 1260
"""Px of height and width of a window that is not small."""
TALL = 640
"""Px of height from which the diagnosis takes all of it, in a wide window."""
GRAPH = 260
"""Px of width that the graph never falls below."""
GAPS, GAPS_DOWN = 40, 30
"""Px of width between three cards in a row and around them, and of height for two."""
LEAST_SOURCE, LEAST_NARROW = 480, 400
"""Px of width for 44 columns of the source between their line numbers and a badge; the second in a
narrow window."""
MOST_PART = 0.4
"""The part of the width that the source takes at most, except that 44 columns always fit."""
LEAST_PART = 0.36
"""The part of the width that the graph keeps in a small window, whatever the source needs."""
SOURCE_PART = 0.45
"""The part of the height that the source has above the diagnosis."""
MOST_BELOW = 0.405
"""The part of a low window that the docks below take at most."""
NARROW = 1160
"""Px of width below which source, graph and diagnosis do not stand side by side."""


@dataclass(frozen=True, slots=True)
class DockSizes:
    """Px: widths of source, diagnosis and backprop, height of the docks below (0: what they need),
    height of the source where the diagnosis is below it (0: ``SOURCE_PART``)."""

    source: int
    diagnosis: int
    below: int
    backprop: int
    source_height: int = 0


def sizes_by_content(width: int, height: int, source: int, below: int, graph: int = 0) -> DockSizes:
    """The source gets up to 40 % of the width, less if the graph (up to half of the width) needs
    more, but room for 44 columns.

    ``source``, ``graph``: px of width that text and picture need; ``below``: px of height that the
    steps need.
    """
    diagnosis = round(min(max(0.21 * width, 292), 430))
    beside = width - GAPS - (0 if is_narrow(width) else diagnosis)
    graph = min(max(graph, round(LEAST_PART * width)), width // 2)
    most = min(beside - graph, round(MOST_PART * width))
    least = LEAST_NARROW if is_narrow(width) else LEAST_SOURCE
    widest = max(most, min(least, beside - round(LEAST_PART * width)))
    at_least = round((0.28 if height >= ROOMY else 0.26) * height)
    below = min(max(below, at_least), round(MOST_BELOW * height))
    lower = width - GAPS - (diagnosis if has_tall_diagnosis(width, height) else 0)
    backprop = round(0.56 * lower)
    return DockSizes(min(source, widest), diagnosis, below, backprop)


def is_narrow(width: int) -> bool:
    """Whether the diagnosis is below the source, and the tensor has a tab beside the steps."""
    return width < NARROW


def has_drawer(width: int, height: int) -> bool:
    """Whether the panels below the graph are folded to their tabs until they are used."""
    return is_narrow(width) and height < ROOMY


def has_tall_diagnosis(width: int, height: int) -> bool:
    """Whether the diagnosis has the full height, or ends above the lower docks."""
    return width >= WIDE and height >= TALL


class SizesByHand:
    """The sizes that the user dragged, for each size of the window."""

    def __init__(self, kept: str = "") -> None:
        self._by_size: dict[tuple[int, int], DockSizes] = {}
        try:
            for size, docks in json.loads(kept or "[]"):
                self.keep(int(size[0]), int(size[1]), DockSizes(*map(int, docks)))
        except (ValueError, TypeError, IndexError):
            return

    def text(self) -> str:
        return json.dumps([(size, astuple(docks)) for size, docks in self._by_size.items()])

    def keep(self, width: int, height: int, docks: DockSizes) -> None:
        self._by_size.pop(self._like(width, height) or (0, 0), None)
        self._by_size[width, height] = docks
        for size in list(self._by_size)[:-MOST_KEPT]:
            del self._by_size[size]

    def of(self, width: int, height: int) -> DockSizes | None:
        """The sizes dragged in a window of about this size, None without any."""
        like = self._like(width, height)
        return self._by_size[like] if like is not None else None

    def forget(self, width: int, height: int) -> None:
        self._by_size.pop(self._like(width, height) or (0, 0), None)

    def _like(self, width: int, height: int) -> tuple[int, int] | None:
        def apart(size: tuple[int, int]) -> int:
            return max(abs(size[0] - width), abs(size[1] - height))

        known: Mapping[tuple[int, int], DockSizes] = self._by_size
        nearest = min(known, key=apart, default=None)
        return nearest if nearest is not None and apart(nearest) <= ALIKE else None
