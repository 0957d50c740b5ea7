"""Collect the edges that a backward pass walked, and the gradients of tensors."""

from __future__ import annotations

from array import array
from collections.abc import ItemsView, Iterator, Mapping, Sequence, ValuesView
from itertools import chain
from typing import cast

from ...trace.calls import Call
from ...trace.ids import OpId, TensorId
from ...trace.model import Trace
from ...trace.number_maps import NumberMap, NumberPairs
from ...trace.values import norm_of
from ..findings import Link
from .steps import WalkStep


class Walked(Mapping[Link, float | None]):
    """The edges that a pass walked, with the norm of the gradient on each, None where unknown.

    Nothing is kept for an edge: a pass has as many as ops, and of most of them nobody asks twice.
    """

    def __init__(self, trace: Trace, rows: Sequence[WalkStep]) -> None:
        self._trace = trace
        self._rows = rows
        ops, places = array("q"), array("q")
        for place, row in enumerate(rows):
            if row.op is not None and row.inputs:
                ops.append(row.op)
                places.append(place)
        self._places: NumberMap[OpId, int] = NumberMap(NumberPairs(ops, places))
        """Op → the place of its row."""
        self._asked: tuple[int, Mapping[Link, TensorId]] = -1, {}
        """The row that was asked about last."""
        self._again: dict[Link, TensorId] = {}
        """The gradients on the edges, if an op has several rows, of which the last holds, or none
        of its own."""
        if len(self._places) < len(ops) or any(row.passed for row in rows):
            for each in chain.from_iterable(row.rows for row in rows):
                known = self._again if each.turns else {}  # the turn drawn is the last: its first
                self._again |= {link: on for link, on in each.walked if link not in known}

    def _gradient(self, link: Link) -> TensorId | None:
        if self._again:
            return self._again.get(link)
        place = self._places.get(link[1]) if link[1] is not None else None
        if place is None:
            return None
        asked = self._asked
        if place != asked[0]:  # a row may have as many edges as there are questions
            asked = self._asked = place, dict(self._rows[place].walked)
        return asked[1].get(link)

    def gradients(self) -> Iterator[tuple[Link, TensorId]]:
        """The edges in the order of the pass, with the gradient on each."""
        if self._again:
            yield from self._again.items()
            return
        for row in self._rows:
            walked = row.walked
            yield from walked if len(walked) < 2 else dict(walked).items()

    def __getitem__(self, link: Link) -> float | None:
        gradient = self._gradient(link)
        if gradient is None:
            raise KeyError(link)
        return norm_of(self._trace, gradient)

    def __contains__(self, link: object) -> bool:
        return isinstance(link, tuple) and self._gradient(cast("Link", link)) is not None

    def __iter__(self) -> Iterator[Link]:
        return (link for link, _ in self.gradients())

    def __len__(self) -> int:
        return sum(1 for _ in self.gradients())

    def items(self) -> ItemsView[Link, float | None]:
        return _Items(self)

    def values(self) -> ValuesView[float | None]:
        return _Values(self)

    def norms(self) -> Iterator[tuple[Link, float | None]]:
        """Each edge with its norm, without looking it up."""
        return ((link, norm_of(self._trace, gradient)) for link, gradient in self.gradients())


class _Items(ItemsView[Link, float | None]):
    def __init__(self, walked: Walked) -> None:
        super().__init__(walked)
        self._walked = walked

    def __iter__(self) -> Iterator[tuple[Link, float | None]]:
        return self._walked.norms()


class _Values(ValuesView[float | None]):
    def __init__(self, walked: Walked) -> None:
        super().__init__(walked)
        self._walked = walked

    def __iter__(self) -> Iterator[float | None]:
        return (norm for _, norm in self._walked.norms())


def gradients_of(call: Call, rows: Sequence[WalkStep]) -> Mapping[TensorId, TensorId]:
    """The gradient that reached each tensor: the last share, a sum, or the call's result."""
    tensors, gradients = array("q"), array("q")

    def add(tensor: TensorId | None, gradient: TensorId | None) -> None:
        if tensor and gradient:
            tensors.append(tensor)
            gradients.append(gradient)

    for row in rows:
        for each in row.rows:
            for tensor, given in zip(each.taken or each.inputs, each.downstream, strict=False):
                add(tensor, given)
    for row in rows:
        if row.kind == "sum":
            add(row.summed, row.downstream[0])
    for operand, result in zip(call.sources, call.results, strict=False):
        add(operand.tensor, result)
    return NumberMap(NumberPairs(tensors, gradients))
