"""Find out which ops of a graph read the values that other ops make, as arrays of op numbers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ...trace.ops import Op
from ..op_graph import OpGraph


@dataclass(frozen=True, slots=True)
class Reads:
    """The values that ops of a graph pass on. ``makers``, ``readers``: the numbers of the ops at
    both ends of each value, sorted by reader."""

    makers: NDArray[np.int64]
    readers: NDArray[np.int64]

    def within(self, first: int, last: int) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """The pairs with both ends among some consecutive ops."""
        start, end = np.searchsorted(self.readers, (first, last + 1))
        makers, readers = self.makers[start:end], self.readers[start:end]
        is_inside = makers >= first
        return makers[is_inside], readers[is_inside]


def own_values(graph: OpGraph, places: Sequence[int]) -> Mapping[int, int]:
    """Number of an op → how many variables and constants it alone takes, for ops that take any.

    ``places``: the place in the graph of each op, by its number.
    """
    sources, targets = np.array(graph.edges.sources), np.array(graph.edges.targets)
    lowest, highest = np.full(len(graph), len(graph)), np.full(len(graph), -1)
    np.minimum.at(lowest, sources, targets)
    np.maximum.at(highest, sources, targets)
    is_own = lowest == highest  # it has a single taker
    is_own[targets] = False
    values = np.array(graph.values, np.int64)
    counts = np.bincount(lowest[values[is_own[values]]], minlength=len(graph))
    return {number: count for number, count in enumerate(counts[places].tolist()) if count}


def reads_of(graph: OpGraph, places: Sequence[int]) -> Reads:
    """The ops that make a value, and those that read it; what an op writes into a variable is read
    where the variable is. ``places``: the place in the graph of each op, by its number."""
    number = np.full(len(graph), -1, np.int64)
    number[places] = np.arange(len(places))
    sources = np.array(graph.edges.sources, np.int64)
    targets = np.array(graph.edges.targets, np.int64)
    values = np.array(graph.values, np.int64)
    is_written = np.isin(targets, values) & (number[sources] >= 0)
    number[targets[is_written]] = number[sources[is_written]]
    makers, readers = number[sources], number[targets]
    kept = (makers >= 0) & (readers > makers)
    makers, readers = makers[kept], readers[kept]
    order = np.argsort(readers, kind="stable")
    return Reads(makers[order], readers[order])


def last_readers(reads: Reads, ops: Sequence[Op]) -> Sequence[int]:
    """For each op the number of the last one that reads a value of it, -1 for none. The steps of an
    inner tape's backward pass do not count: they read what they need, whatever its name."""
    is_forward = np.array([op.call is None for op in ops], bool)[reads.readers]
    found = np.full(len(ops), -1, np.int64)
    np.maximum.at(found, reads.makers[is_forward], reads.readers[is_forward])
    readers: Sequence[int] = found.tolist()
    return readers
