"""The ways from the sources of a call to its targets, and the cuts on them."""

from __future__ import annotations

from collections.abc import Callable, Collection, Hashable, Iterable, Sequence
from enum import Flag
from functools import partial
from typing import NamedTuple, TypeAlias
from weakref import ref

from ..call_facts import CallFacts
from ..flow.dataflow import FORM_OPS, Ancestry, DataEdge, EdgesInto, Position
from ..flow.onward import PASSES, ByPosition, Onward
from ..flow.shared_sets import EVERYTHING, SharedSet, SharedSets, numbers_in
from ..model import Cause
from .questions import EdgeUnderTest
from .stop_gradient import StopGradient
from .table import CAUSES, first_cause

Label: TypeAlias = Callable[[Cause], Hashable]
"""Cuts with the same label are closed together."""
_Place = tuple[int, int]
"""Line and column of what the snippet ran. In a function that AutoGraph converts the column is
unknown, and all of a line is one call."""


class CutEdge(NamedTuple):
    edge: DataEdge
    cause: Cause
    line: Hashable
    """The label of its cause by line and kind."""


class Without(Flag):
    """Cut edges that are taken for edges that are not there: no way leads over them at all."""

    NOTHING = 0
    GONE_AROUND = 1
    STOPS = 2


class Ways(Onward):
    """The edges of an ancestry that lead on from the positions that were asked about.

    ``are_of_values``: without edges that carry only a tensor's shape; else a shape that the snippet
    asks for is a number that it computes with. They do not hold the facts, which keep them: nobody
    collects such a circle for a while, and the data flow of a trace with it.
    """

    def __init__(self, facts: CallFacts, ancestry: Ancestry, *, are_of_values: bool) -> None:
        super().__init__(ancestry)
        self._facts_of = ref(facts)
        self.are_of_values = are_of_values
        self._is_left_out = _takes_form if are_of_values else _is_shaped_like
        self._targets = frozenset(facts.paths.targets)
        self._sets = SharedSets()
        self.cuts: list[CutEdge] = []
        self._moments: list[tuple[int, int, str]] = []
        self._cuts_after = ByPosition[SharedSet](None)
        self._places_left = ByPosition[frozenset[_Place]](frozenset())
        self._places_out: dict[Position, frozenset[_Place]] = {}
        self._distances: dict[Without, ByPosition[int | None]] = {}
        self._nearness: dict[Without, list[tuple[int, int, int, str]]] = {}
        self._closing: dict[tuple[Label, Without], ByPosition[SharedSet]] = {}
        self._labels: dict[tuple[Label, Hashable], int] = {}
        self._numbered: list[Hashable] = []
        """The labels by their numbers."""

    @property
    def facts(self) -> CallFacts:
        facts = self._facts_of()
        assert facts is not None
        return facts

    def lead_to_targets(self, starts: Collection[Position]) -> bool:
        begun = self.find(starts)
        distances = self._distances_without(Without.NOTHING)
        return any(distances.at(start) is not None for start in begun)

    def cuts_after(self, starts: Collection[Position]) -> SharedSet:
        """The numbers of the cuts on the ways from these positions."""
        begun = self.find(starts)
        self.settle(self._cuts_after, self._cuts_from)
        return self._sets.join(self._cuts_after.at(start) for start in begun)

    def gone_around(self, cuts: Iterable[int]) -> set[int]:
        """The cuts at whose start another way begins that a gradient can pass, within the ops of
        the same call and out of it.

        TensorFlow and Keras write such on purpose: a cross entropy asks ``logits >= 0`` to choose
        between two formulas, ``tf.nn.moments`` stops the gradient of a mean that it takes off the
        values anyway. Nothing of the snippet has to be mended there.
        """
        if not self.is_passed_by:  # most cuts are the only way from where they begin
            return set()
        self.settle(self._places_left, self._places_left_from)
        return set(filter(self._is_gone_around, cuts))

    def _is_gone_around(self, cut: int) -> bool:
        edge = self.cuts[cut].edge
        return self._place(edge) in self._places_left.at(edge.start)

    def moment(self, cut: int) -> tuple[int, int, str]:
        """When it happened, and which of the edges of that op it is."""
        return self._moments[cut]

    def nearest_first(self, cuts: Iterable[int], left_out: Without) -> list[int]:
        """By the number of edges from there to the nearest target; the latest of several first."""
        distances = self._distances_without(left_out)
        nearness = self._nearness.setdefault(left_out, [])
        for cut in range(len(nearness), len(self.cuts)):
            when, place, kind = self._moments[cut]
            nearness.append((distances.at(self.cuts[cut].edge.end) or 0, -when, place, kind))
        return sorted(cuts, key=nearness.__getitem__)

    def closing(self, starts: Collection[Position], label: Label, without: Without) -> SharedSet:
        """The labels of which each is on a cut on every way from these positions to the targets,
        as a set that :meth:`labels` reads."""
        begun = self.find(starts)
        known = self._closing.setdefault((label, without), ByPosition(EVERYTHING))
        self.settle(known, partial(self._closing_from, known, label, without))
        closing = EVERYTHING
        for start in begun:
            closing = self._sets.intersect(closing, known.at(start))
        return closing

    def labels(self, label: Label, closing: SharedSet) -> Collection[Hashable]:
        if closing is EVERYTHING:
            return {label(cut.cause) for cut in self.cuts}
        return {self._numbered[number] for number in numbers_in(closing)}

    def edges_from(self, starts: Collection[Position]) -> EdgesInto:
        """The edges themselves, of these positions alone."""
        edges = self.ancestry.edges_from(starts)
        kept = without(edges, partial(self._is_left_out, self.facts))
        return Ancestry(kept).edges_from(starts)

    def edges_out_of(self, position: Position) -> Sequence[DataEdge]:
        facts, edges = self.facts, self.ancestry.edges_out_of(position)
        return [edge for edge in edges if not self._is_left_out(facts, edge)]

    def number(self, edge: DataEdge) -> int:
        cause = barrier(EdgeUnderTest(edge, self.facts))
        if cause is None:
            return PASSES
        op = self.facts.op(edge)
        happened = op if op is not None else edge.leave
        when = happened.when if happened is not None else 0
        self._moments.append((when, edge.input_index, edge.kind))
        self.cuts.append(CutEdge(edge, cause, by_line(cause)))
        return len(self.cuts) - 1

    def _cuts_from(self, position: Position) -> SharedSet:
        onward = self.edges[position]
        sets = [self._cuts_after.at(end) for end, _ in onward]
        return self._sets.join([*sets, *(self._sets.of(cut) for _, cut in onward if cut != PASSES)])

    def _distances_without(self, left_out: Without) -> ByPosition[int | None]:
        known = self._distances.setdefault(left_out, ByPosition(None))

        def shortest(position: Position) -> int | None:
            if position in self._targets:
                return 0
            onward = self._onward_without(position, left_out)
            distances = [distance for end, _ in onward if (distance := known.at(end)) is not None]
            return min(distances) + 1 if distances else None

        self.settle(known, shortest)
        return known

    def _closing_from(
        self, known: ByPosition[SharedSet], label: Label, left_out: Without, position: Position
    ) -> SharedSet:
        closing = None if position in self._targets else EVERYTHING
        for end, cut in self._onward_without(position, left_out):
            after = known.at(end)
            if cut != PASSES:
                number = self._label_number(label, label(self.cuts[cut].cause))
                after = self._sets.join([after, self._sets.of(number)])
            closing = self._sets.intersect(closing, after)
        return closing

    def _label_number(self, label: Label, labelled: Hashable) -> int:
        number = self._labels.setdefault((label, labelled), len(self._numbered))
        if number == len(self._numbered):
            self._numbered.append(labelled)
        return number

    def _onward_without(
        self, position: Position, left_out: Without
    ) -> Iterable[tuple[Position, int]]:
        onward = self.edges[position]
        if left_out == Without.NOTHING:
            return onward
        return [each for each in onward if each[1] == PASSES or not self._is_in(each[1], left_out)]

    def _is_in(self, cut: int, left_out: Without) -> bool:
        if Without.STOPS in left_out and is_stop(self.cuts[cut].cause):
            return True
        return Without.GONE_AROUND in left_out and bool(self.gone_around([cut]))

    def _places_left_from(self, position: Position) -> frozenset[_Place]:
        """The calls of the snippet that a gradient can pass out of on its way to this position."""
        places: set[_Place] = set()
        onward = self.edges[position]
        for edge, (end, cut) in zip(self.edges_out_of(position), onward, strict=True):
            place = self._place(edge)
            if cut != PASSES or place is None:
                continue
            begins = self._places_onward(end) - {place}
            if begins or end in self._targets or place in self._places_left.at(end):
                places.add(place)
        return frozenset(places)

    def _places_onward(self, position: Position) -> frozenset[_Place]:
        """The calls of the snippet that take what is at a position."""
        if position not in self._places_out:  # as many positions as it has edges ask for it
            places = map(self._place, self.edges_out_of(position))
            self._places_out[position] = frozenset(place for place in places if place is not None)
        return self._places_out[position]

    def _place(self, edge: DataEdge) -> _Place | None:
        op = self.facts.op(edge)
        frames = op.site.frames if op is not None else ()
        return (frames[0].line, frames[0].column) if frames else None


def barrier(asked: EdgeUnderTest) -> Cause | None:
    """The cause that stops the gradient on this edge; None if it passes."""
    judged = asked.facts.judged
    if asked.edge not in judged:
        judged[asked.edge] = first_cause(CAUSES.edge, asked)
    return judged[asked.edge]


def by_line(cause: Cause) -> Hashable:
    return cause.kind, cause.line


def is_stop(cause: Cause) -> bool:
    return isinstance(cause.evidence, StopGradient)


def without(edges: EdgesInto, is_left_out: Callable[[DataEdge], bool]) -> EdgesInto:
    return {
        position: tuple(edge for edge in into if not is_left_out(edge))
        for position, into in edges.items()
    }


def without_forms(facts: CallFacts, edges: EdgesInto) -> Ancestry:
    """The edges but those that carry only a tensor's shape."""
    return Ancestry(without(edges, partial(_takes_form, facts)))


def _takes_form(facts: CallFacts, edge: DataEdge) -> bool:
    op = facts.op(edge)
    return op is not None and op.type in FORM_OPS


def _is_shaped_like(facts: CallFacts, edge: DataEdge) -> bool:
    """Whether the op uses the value's shape alone: zeros of that shape, or a shape that a gradient
    function reads. A shape that the snippet itself asks for is a number that it computes with."""
    op = facts.op(edge)
    if op is None or op.type not in FORM_OPS:
        return False
    return op.call is not None or op.type in ("ZerosLike", "OnesLike")
