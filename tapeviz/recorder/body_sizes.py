"""Graphs as they are traced and run in; how many numbers of ops each run needs out.

The first run of a graph goes by the ops as they were traced. For each further one as many numbers
are left free, so that whoever reads the events can tell its ops apart from those of the others.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

CONDITIONALS = frozenset({"If", "StatelessIf"})
_MOST_OPS = 50_000


class BodySizes:
    """Counts the ops of each graph, those of the graphs that it runs included."""

    def __init__(self) -> None:
        self._sizes: dict[int, int] = {}
        self._open: list[int] = []
        self._ran: set[int] = set()
        self._left = _MOST_OPS

    def turned(self, fields: dict[str, Any]) -> None:
        """A body begins (``on``), or is complete and has a number."""
        if fields["on"]:
            self._open.append(0)
        elif self._open:
            size = self._open.pop()
            if fields["graph"]:
                self._sizes[fields["graph"]] = size
            elif self._open:  # its tracing failed: what there is of it stays where it was
                self._open[-1] += size

    def grew(self, ops: int) -> None:
        """The body that is being traced got ops."""
        if self._open:
            self._open[-1] += ops

    def room_for_run(self, graphs: Sequence[int], into: int) -> int | None:
        """How many numbers to leave free; ``None``: this run is not to be told."""
        if not all(one in self._sizes for one in graphs):
            return None
        size = sum(self._sizes[one] for one in graphs)
        is_first = self._ran.isdisjoint(graphs)
        if not is_first and size > self._left:
            return None
        self._ran.update(graphs)
        if into:
            self.grew(size)
        if is_first:
            return 0
        self._left -= size
        return size
