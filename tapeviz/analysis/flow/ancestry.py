"""The edges that values take from position to position, and all those that lead to some targets."""

from __future__ import annotations

from array import array
from collections.abc import Iterable, Mapping, Sequence, Set
from functools import cached_property
from typing import Literal

import msgspec

from ...trace.ids import OpId, TensorId, VersionId
from ...trace.model import Leave

Position = TensorId | VersionId
"""A tensor, or a version of a variable."""
DataEdgeKind = Literal["op", "read", "assign", "state", "creation", "object", "python", "captured"]


class DataEdge(msgspec.Struct, frozen=True, gc=False):
    """A value went from ``start`` to ``end``.

    ``captured``: by the body of a custom gradient, not as its argument.
    ``op``: the op that took it (an assign for ``assign`` and ``state``, the one that filled a
    stateful object for ``object``, None for ``python``);
    ``tensor``: the tensor that it took, ``input_index`` among its inputs. ``leave``: for ``python``
    how it left TensorFlow.
    """

    kind: DataEdgeKind
    start: Position
    end: Position
    op: OpId | None
    tensor: TensorId | None = None
    input_index: int = -1
    leave: Leave | None = None


EdgesInto = Mapping[Position, tuple[DataEdge, ...]]
"""The edges that end at each position."""


class Ancestry:
    """The edges that lead to some targets, by the position in which they end (``into``); which of
    them lead there from a source can be asked."""

    def __init__(self, into: EdgesInto) -> None:
        self.into = into

    def __len__(self) -> int:
        return len(self.into)

    @cached_property
    def index_of(self) -> Mapping[Position, int]:
        """The index of each position in :attr:`into`."""
        return {position: index for index, position in enumerate(self.into)}

    @cached_property
    def _onward(self) -> tuple[Sequence[DataEdge], array[int], array[int]]:
        """A linked list for each position of the edges that begin there: all edges; for each
        position the index of its first edge; for each edge the index of the next one from the same
        position. -1: there is none."""
        edges = [edge for into in self.into.values() for edge in into]
        index_of = self.index_of
        first, following = array("i", [-1]) * len(self.into), array("i", [-1]) * len(edges)
        for at in range(len(edges) - 1, -1, -1):
            index = index_of.get(edges[at].start)
            if index is not None:
                following[at] = first[index]
                first[index] = at
        return edges, first, following

    def edges_out_of(self, index: int) -> list[DataEdge]:
        """The edges that begin at a position, given by its number. Those with the same end are in
        the order of ``into``."""
        edges, first, following = self._onward
        found = []
        at = first[index]
        while at >= 0:
            found.append(edges[at])
            at = following[at]
        return found

    @cached_property
    def _orders(self) -> dict[Position, Mapping[DataEdge, int]]:
        """The number of each edge among those into its end, of ends that were asked for."""
        return {}

    def _in_order(self, position: Position, edges: list[DataEdge]) -> tuple[DataEdge, ...]:
        """Edges into a position, in the order of ``into``."""
        if len(edges) > 1:
            if position not in self._orders:
                into = self.into[position]
                self._orders[position] = {edge: number for number, edge in enumerate(into)}
            edges.sort(key=self._orders[position].__getitem__)
        return tuple(edges)

    @cached_property
    def _is_closed(self) -> bool:
        """Whether every edge begins at a position of the ancestry."""
        return all(edge.start in self.into for into in self.into.values() for edge in into)

    def leads_from(self, sources: Iterable[Position]) -> Set[Position]:
        """The positions that can be reached from the sources, with the sources themselves."""
        reached: set[Position] = set()
        waiting = list(self.into.keys() & sources)  # looks up the fewer in the more
        while waiting:
            position = waiting.pop()
            if position not in reached:
                reached.add(position)
                waiting.extend(edge.end for edge in self.edges_out_of(self.index_of[position]))
        return reached

    def edges_from(self, sources: Iterable[Position]) -> EdgesInto:
        """The edges that can be reached from the sources, by the position in which they end."""
        reached = self.leads_from(sources)
        if len(reached) == len(self.into) and self._is_closed:
            return self.into
        if 2 * len(reached) > len(self.into):  # mostly the same tuples
            return {position: _from(reached, self.into[position]) for position in reached}
        found: dict[Position, list[DataEdge]] = {position: [] for position in reached}
        for position in list(found):
            for edge in self.edges_out_of(self.index_of[position]):
                found[edge.end].append(edge)
        return {position: self._in_order(position, edges) for position, edges in found.items()}


def _from(starts: Set[Position], edges: tuple[DataEdge, ...]) -> tuple[DataEdge, ...]:
    """The edges with one of these starts; the same object if that are all."""
    if all(edge.start in starts for edge in edges):
        return edges
    return tuple([edge for edge in edges if edge.start in starts])
