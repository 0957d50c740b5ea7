"""The paths from the sources of a call to its targets, and the cuts on them."""

from __future__ import annotations

from collections.abc import Callable, Collection, Hashable, Iterable, Sequence
from enum import Flag
from functools import partial
from typing import TypeAlias
from weakref import ref

from ...trace.ids import VersionId
from ..call_facts import CallFacts
from ..causes.ops.stop_gradient import StopGradient
from ..causes.questions import EdgeUnderTest
from ..causes.table import CAUSES, first_cause
from ..findings import Cause
from ..flow.ancestry import Ancestry, DataEdge, EdgesInto, Position
from ..flow.dataflow import FORM_OPS
from ..flow.onward import PASSES, ByPosition, ForwardEdges, PositionIndex
from ..flow.shared_sets import EVERYTHING, SharedSet, SharedSets, contains, numbers_in
from ..python.outside import follow

Label: TypeAlias = Callable[[Cause], Hashable]
"""Gives cuts the same label if they are mended together, as those on one line."""
_Spot = tuple[int, int]
"""Line and column of what the snippet ran. In a function that AutoGraph converts the column is
unknown, and all of a line is one call."""


class Without(Flag):
    """The cut edges that count as missing, so that no path leads over them: those that the gradient
    bypasses, and those of ``tf.stop_gradient``."""

    NOTHING = 0
    BYPASSED = 1
    STOPS = 2


class ForwardPaths(ForwardEdges):
    """The edges of an ancestry that lead on from the positions that were asked about.

    ``are_of_values``: without edges that carry only a tensor's shape; else an edge of a shape that
    the snippet asks for belongs to them, for it may compute with that number.

    The facts hold this object, so it refers to them weakly: a reference cycle would keep the data
    flow of the trace alive until Python looks for garbage.
    """

    def __init__(self, facts: CallFacts, ancestry: Ancestry, *, are_of_values: bool) -> None:
        super().__init__(ancestry)
        self._facts_of = ref(facts)
        self.are_of_values = are_of_values
        self._is_left_out = _takes_form if are_of_values else _is_shaped_like
        index_of = ancestry.index_of
        self._targets = {index_of[end] for end in facts.paths.targets if end in index_of}
        self._sets = SharedSets()
        self.cut_edges: list[DataEdge] = []
        """The cuts by their numbers."""
        self.causes: list[Cause] = []
        """The cause of each cut."""
        self._cuts_after = ByPosition[SharedSet](None)
        self._spots_left = ByPosition[frozenset[_Spot]](frozenset())
        self._spots_out: dict[PositionIndex, frozenset[_Spot]] = {}
        self._distances: dict[Without, ByPosition[int | None]] = {}
        self._blocking: dict[tuple[Label, Without], ByPosition[SharedSet]] = {}
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
        """The numbers of the cuts on the paths from these positions."""
        begun = self.find(starts)
        self.settle(self._cuts_after, self._cuts_from)
        return self._sets.join(self._cuts_after.at(start) for start in begun)

    def is_bypassed(self, cut: int) -> bool:
        """Whether the gradient can bypass the cut: another edge leaves the position where the
        cut begins, and leads through ops of the same call of the snippet and out of it.

        TensorFlow and Keras write such cuts on purpose: a cross entropy asks ``logits >= 0`` to
        choose between two formulas; ``tf.nn.moments`` stops the gradient of the mean that it
        subtracts. The snippet has nothing to mend there.
        """
        if not self.is_passed_by:  # most cuts are the only path from where they begin
            return False
        self.settle(self._spots_left, self._spots_left_from)
        edge = self.cut_edges[cut]
        return self._spot(edge) in self._spots_left.at(self._index(edge.start))

    def moment(self, cut: int) -> tuple[int, int, str]:
        """The place of a cut in the order of time: when its op ran, and which of its edges it
        is."""
        edge = self.cut_edges[cut]
        op = self.facts.op(edge)
        happened = op if op is not None else edge.leave
        when = happened.when if happened is not None else 0
        return when, edge.input_index, edge.kind

    def nearness(self, left_out: Without, cut: int) -> tuple[int, int, int, int, str]:
        """A sort key of cuts, least for the one nearest a target: the number of edges to the
        nearest target, then that of operations in Python and NumPy, then the later cut first."""
        when, among, kind = self.moment(cut)
        edge = self.cut_edges[cut]
        distance = self._distances_without(left_out).at(self._index(edge.end))
        return distance or 0, self._steps_outside(edge), -when, among, kind

    def _steps_outside(self, edge: DataEdge) -> int:
        """How many operations of Python and NumPy are done on a value that left TensorFlow."""
        if edge.leave is None or isinstance(edge.end, VersionId):
            return 0
        return follow(self.facts.trace).steps.get((edge.end, edge.leave.when), 0)

    def blocking(self, starts: Collection[Position], label: Label, without: Without) -> SharedSet:
        """The labels that alone stop the gradient: each path from these positions to a target has a
        cut with that label. :meth:`labels` reads the set."""
        begun = self.find(starts)
        known = self._blocking.setdefault((label, without), ByPosition(EVERYTHING))
        self.settle(known, partial(self._blocking_from, known, label, without))
        blocking = EVERYTHING
        for start in begun:
            blocking = self._sets.intersect(blocking, known.at(start))
        return blocking

    def is_in(self, label: Label, labelled: Hashable, blocking: SharedSet) -> bool:
        number = self._labels.get((label, labelled))
        return blocking is EVERYTHING or (number is not None and contains(blocking, number))

    def labels(self, label: Label, blocking: SharedSet) -> Collection[Hashable]:
        if blocking is EVERYTHING:
            return set(map(label, self.causes))
        return {self._numbered[number] for number in numbers_in(blocking)}

    def edges_from(self, starts: Collection[Position]) -> EdgesInto:
        """The edges on the paths that begin at these positions."""
        edges = self.ancestry.edges_from(starts)
        kept = without(edges, partial(self._is_left_out, self.facts))
        return Ancestry(kept).edges_from(starts)

    def edges_out_of(self, index: PositionIndex) -> Sequence[DataEdge]:
        facts, edges = self.facts, self.ancestry.edges_out_of(index)
        return [edge for edge in edges if not self._is_left_out(facts, edge)]

    def number(self, edge: DataEdge) -> int:
        cause = barrier(EdgeUnderTest(edge, self.facts))
        if cause is None:
            return PASSES
        self.cut_edges.append(edge)
        self.causes.append(cause)
        return len(self.causes) - 1

    def _cuts_from(self, index: PositionIndex) -> SharedSet:
        onward = list(self.onward(index))
        sets = [self._cuts_after.at(end) for end, _ in onward]
        return self._sets.join([*sets, *(self._sets.of(cut) for _, cut in onward if cut != PASSES)])

    def _distances_without(self, left_out: Without) -> ByPosition[int | None]:
        known = self._distances.setdefault(left_out, ByPosition(None))

        def shortest(index: PositionIndex) -> int | None:
            if index in self._targets:
                return 0
            onward = self._onward_without(index, left_out)
            distances = [distance for end, _ in onward if (distance := known.at(end)) is not None]
            return min(distances) + 1 if distances else None

        self.settle(known, shortest)
        return known

    def _index(self, position: Position) -> PositionIndex:
        return self.ancestry.index_of[position]

    def _blocking_from(
        self, known: ByPosition[SharedSet], label: Label, left_out: Without, index: PositionIndex
    ) -> SharedSet:
        blocking = None if index in self._targets else EVERYTHING
        for end, cut in self._onward_without(index, left_out):
            after = known.at(end)
            if cut != PASSES:
                number = self._label_number(label, label(self.causes[cut]))
                after = self._sets.join([after, self._sets.of(number)])
            blocking = self._sets.intersect(blocking, after)
        return blocking

    def _label_number(self, label: Label, labelled: Hashable) -> int:
        number = self._labels.setdefault((label, labelled), len(self._numbered))
        if number == len(self._numbered):
            self._numbered.append(labelled)
        return number

    def _onward_without(
        self, index: PositionIndex, left_out: Without
    ) -> Iterable[tuple[PositionIndex, int]]:
        onward = self.onward(index)
        if left_out == Without.NOTHING:
            return onward
        return [each for each in onward if each[1] == PASSES or not self._is_out(each[1], left_out)]

    def _is_out(self, cut: int, left_out: Without) -> bool:
        if Without.STOPS in left_out and is_stop(self.causes[cut]):
            return True
        return Without.BYPASSED in left_out and self.is_bypassed(cut)

    def _spots_left_from(self, index: PositionIndex) -> frozenset[_Spot]:
        """The calls of the snippet in which a value at this position is used and from which a path
        without cuts leads out again."""
        spots: set[_Spot] = set()
        edges = self.edges_out_of(index)
        for edge, (end, cut) in zip(edges, self.onward(index), strict=True):
            spot = self._spot(edge)
            if cut != PASSES or spot is None:
                continue
            begins = self._spots_onward(end) - {spot}
            if begins or end in self._targets or spot in self._spots_left.at(end):
                spots.add(spot)
        return frozenset(spots)

    def _spots_onward(self, index: PositionIndex) -> frozenset[_Spot]:
        """The calls of the snippet that use the value at a position."""
        if index not in self._spots_out:  # it is asked for once for each edge that ends here
            spots = map(self._spot, self.edges_out_of(index))
            self._spots_out[index] = frozenset(spot for spot in spots if spot is not None)
        return self._spots_out[index]

    def _spot(self, edge: DataEdge) -> _Spot | None:
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
    """The edges without those that carry only a tensor's shape."""
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
