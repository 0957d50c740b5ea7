"""Decide which cause to name first for a gradient that did not arrive.

Among the cut edges between source and target it is the one nearest the target that alone keeps the
gradient from arriving.
"""

from __future__ import annotations

from collections.abc import Collection, Hashable, Iterable, Mapping
from dataclasses import replace
from functools import cached_property
from itertools import chain
from operator import attrgetter

from ...trace.model import Operand
from ...trace.op_kinds import ops_with
from ..call_facts import CallFacts
from ..flow.dataflow import Ancestry, DataEdge, Position
from ..flow.shared_sets import SharedSet, numbers_in
from ..model import Cause
from .not_connected import unconnected
from .outside_tape import OutsideTape, with_computed_again
from .questions import Unlinked, Unwatched, used_in
from .table import CAUSES, first_cause
from .ways import Ways, Without, by_line, is_stop, without

_BRANCHES = ops_with("branch")


class CutPaths:
    """Why a gradient did not come from the targets of a call to a source."""

    def __init__(self, facts: CallFacts, source: Operand) -> None:
        self._facts = facts
        self._source = source
        self._starts = () if source.tensor is None else facts.paths.starts(source.tensor)
        self._ancestry = facts.paths.ancestry_from(self._starts)
        self._deciding = _deciding_from(facts, self._ancestry, self._starts)

    def beside_zero(self) -> tuple[Cause, ...]:
        """The cuts on other ways, where the gradient that came is zero: of what ran since the tape
        began to record."""
        if self._ancestry is not self._facts.paths.recent:
            return ()
        return self._deciding.recent(self._starts)

    def explain_none(self) -> tuple[Cause, ...]:
        """Why no gradient came back to the source: the deciding cause first, the others after
        it."""
        if causes := self.explain_cut():
            return causes
        assert self._source.tensor is not None  # a source without one has a cause already
        asked = Unwatched(self._facts, self._source, self._source.tensor)
        cause = first_cause(CAUSES.unwatched, asked)
        cuts = self._deciding.cuts_from(self._starts)
        found = (*cuts.own(), *cuts.harmless())
        return found if cause is None else (cause, *found)

    def explain_cut(self) -> tuple[Cause, ...]:
        """The same where no way without cuts leads from the source to the targets; else none."""
        facts, source, tensor, starts = self._facts, self._source, self._source.tensor, self._starts
        if tensor is None:
            return (unconnected(facts, source),)
        ways = self._deciding.ways
        if not ways.lead_to_targets(starts):
            asked = Unlinked(facts, source, tensor, used_in(facts, self._ancestry))
            cause = first_cause(CAUSES.unlinked, asked)
            return () if cause is None else (cause,)
        is_recent = self._ancestry is facts.paths.recent
        if not is_recent and facts.paths.is_copied_before(starts, ways.edges_from(starts)):
            return (unconnected(facts, source),)
        decided = self._deciding.decide(starts)
        if not decided:
            return ()
        first, *others = decided
        return (with_computed_again(facts, tensor, first), *others)

    def explain_cut_branch(self) -> tuple[Cause, ...]:
        """Why a compiled loop gave zeros, if a branch that some of its turns took holds a cut.

        A loop is read as one turn, with both branches of a conditional if its turns took both. A
        cut in one turn loses the gradients of all turns before it, though the other branch has
        none."""
        if self._source.tensor is None:
            return ()
        facts, starts, ways = self._facts, self._starts, self._deciding.ways
        edges = ways.edges_from(starts)
        cuts = self._deciding.cuts_from(starts).edges
        passable = Ancestry(without(edges, cuts.__contains__))
        reached = passable.edges_from(starts).keys() | set(starts)
        beside = {edge for into in edges.values() for edge in _beside_a_cut(facts, into, reached)}
        taken = Ancestry(without(edges, beside.__contains__))
        return _Deciding(Ways(facts, taken, are_of_values=ways.are_of_values)).decide(starts)


class _Cuts:
    """The cuts on some ways, by line and kind."""

    def __init__(self, ways: Ways, numbers: SharedSet) -> None:
        self._ways = ways
        self._numbers = list(numbers_in(numbers))
        around = ways.gone_around(self._numbers)
        # From turn to turn of a loop a way may lead back to the same cut.
        self._around = around if len(around) < len(self._numbers) else set[int]()
        self.left_out = Without.GONE_AROUND if self._around else Without.NOTHING

    @property
    def edges(self) -> frozenset[DataEdge]:
        return frozenset(self._ways.cuts[number].edge for number in self._numbers)

    def own(self) -> tuple[Cause, ...]:
        """The cuts that the gradient does not go around within the same call, earliest first."""
        own = [number for number in self._numbers if number not in self._around]
        return tuple(self._by_line(sorted(own, key=self._ways.moment)).values())

    def harmless(self) -> tuple[Cause, ...]:
        """The cuts that the gradient goes around, earliest first."""
        around = self._by_line(sorted(self._around, key=self._ways.moment))
        return tuple(replace(cause, is_gone_around=True) for cause in around.values())

    @cached_property
    def by_distance(self) -> Mapping[Hashable, Cause]:
        """The cuts that it does not go around, nearest the target first."""
        nearest = self._ways.nearest_first(self._numbers, self.left_out)
        around = self._around
        return self._by_line([n for n in nearest if n not in around] if around else nearest)

    def _by_line(self, numbers: Iterable[int]) -> Mapping[Hashable, Cause]:
        """The causes, once for each kind and line."""
        cuts, groups = self._ways.cuts, dict[Hashable, list[Cause]]()
        for number in numbers:
            _, cause, line = cuts[number]
            groups.setdefault(line, []).append(cause)
        return {line: _merge(group) for line, group in groups.items()}


class _Deciding:
    """Decides about the cuts on some ways. Sources with the same cuts share the answer, where the
    same of these would be enough."""

    def __init__(self, ways: Ways) -> None:
        self.ways = ways
        self._recent: dict[SharedSet, tuple[Cause, ...]] = {}
        self._decided: dict[tuple[SharedSet, ...], tuple[Cause, ...]] = {}
        self._last: tuple[SharedSet, _Cuts | None] = None, None

    def cuts_from(self, starts: Collection[Position]) -> _Cuts:
        return self._cuts_of(self.ways.cuts_after(starts))

    def _cuts_of(self, numbers: SharedSet) -> _Cuts:
        """Keeps those of the source before: there may be as many of them as sources."""
        known, cuts = self._last
        if cuts is None or known is not numbers:
            cuts = _Cuts(self.ways, numbers)
            self._last = numbers, cuts
        return cuts

    def recent(self, starts: Collection[Position]) -> tuple[Cause, ...]:
        """The cuts of what ran since the tape began to record, and on it."""
        numbers = self.ways.cuts_after(starts)
        if numbers not in self._recent:
            own = self._cuts_of(numbers).own()
            recent = (cause for cause in own if _is_recent(self.ways.facts, cause))
            self._recent[numbers] = tuple(recent)
        return self._recent[numbers]

    def decide(self, starts: Collection[Position]) -> tuple[Cause, ...]:
        """The deciding cause and the others, if the cuts together stop the gradient: nearest the
        target, and alone enough to stop it. None of those that the gradient goes around decides."""
        ways = self.ways
        numbers = ways.cuts_after(starts)
        if not numbers:
            return ()
        cuts = self._cuts_of(numbers)
        closing = ways.closing(starts, by_line, cuts.left_out)
        if (numbers, closing) not in self._decided:
            enough = ways.labels(by_line, closing)
            deciding = next((line for line in cuts.by_distance if line in enough), None)
            if deciding is None:
                return self._decide_together(starts, numbers)
            self._decided[numbers, closing] = self._named(cuts, deciding)
        return self._decided[numbers, closing]

    def _decide_together(
        self, starts: Collection[Position], numbers: SharedSet
    ) -> tuple[Cause, ...]:
        """The same where no cut alone is enough."""
        ways, cuts = self.ways, self._cuts_of(numbers)
        if True not in ways.labels(_any, ways.closing(starts, _any, Without.NOTHING)):
            return ()
        beside = ways.closing(starts, by_line, cuts.left_out | Without.STOPS)
        of_kind = ways.closing(starts, _by_kind, cuts.left_out)
        stopping = ways.closing(starts, is_stop, cuts.left_out)
        key = numbers, beside, of_kind, stopping
        if key not in self._decided:
            deciding = None
            if True not in ways.labels(is_stop, stopping):
                deciding = self._beside_stops(cuts, ways.labels(by_line, beside))
            if deciding is None:
                # Or the first of a kind of which all together are enough (two variables assigned,
                # on two lines), or the first.
                kinds = ways.labels(_by_kind, of_kind)
                found = cuts.by_distance.items()
                deciding = next((line for line, cause in found if cause.kind in kinds), None)
                deciding = deciding or next(iter(cuts.by_distance))
            first, *others = self._named(cuts, deciding)
            self._decided[key] = (replace(first, is_alone=False), *others)
        return self._decided[key]

    @staticmethod
    def _beside_stops(cuts: _Cuts, enough: Collection[Hashable]) -> Hashable:
        """The first cut that is enough on the ways beside a ``tf.stop_gradient``: that one is there
        on purpose, as around the target value of a temporal difference."""
        if not any(map(is_stop, cuts.by_distance.values())):
            return None
        return next(
            (
                line
                for line, cause in cuts.by_distance.items()
                if line in enough and not is_stop(cause)
            ),
            None,
        )

    @staticmethod
    def _named(cuts: _Cuts, deciding: Hashable) -> tuple[Cause, ...]:
        """This cause first, then the others."""
        first = _first_outside(cuts.by_distance, deciding)
        others = {**cuts.by_distance}
        del others[by_line(first)]
        return (first, *others.values(), *cuts.harmless())


def _deciding_from(facts: CallFacts, ancestry: Ancestry, starts: Collection[Position]) -> _Deciding:
    """Leave out edges that carry only a tensor's shape, if the others lead to a target too."""
    known = facts.once(_known_deciding)
    for are_of_values in (True, False):
        key = ancestry is facts.paths.recent, are_of_values
        if key not in known:
            known[key] = _Deciding(Ways(facts, ancestry, are_of_values=are_of_values))
        if known[key].ways.lead_to_targets(starts):
            break
    return known[key]


def _known_deciding(facts: CallFacts) -> dict[tuple[bool, bool], _Deciding]:
    """Keep what decides about the ways of a call: of the recent ones or all, of values or all."""
    return {}


def _by_kind(cause: Cause) -> Hashable:
    return cause.kind


def _any(_: Cause) -> Hashable:
    return True


def _is_recent(facts: CallFacts, cause: Cause) -> bool:
    """Whether a cut is of what ran since the tape began to record, and on it."""
    op = facts.trace.op(cause.op_id)
    return not isinstance(cause.evidence, OutsideTape) and (
        op is None or op.when >= facts.paths.begin
    )


def _beside_a_cut(
    facts: CallFacts, into: Collection[DataEdge], reached: Collection[Position]
) -> list[DataEdge]:
    """Edges from branches of a conditional that a gradient can pass, beside one that it cannot."""
    branches = [edge for edge in into if (op := facts.op(edge)) and op.type in _BRANCHES]
    is_cut = any(edge.start not in reached for edge in branches)
    return [edge for edge in branches if edge.start in reached] if is_cut else []


def _first_outside(merged: Mapping[Hashable, Cause], deciding: Hashable) -> Cause:
    """The deciding cause; of several ops outside the tape, the first that should be inside."""
    cause = merged[deciding]
    if not isinstance(cause.evidence, OutsideTape):
        return cause
    same = [
        other
        for other in merged.values()
        if isinstance(other.evidence, OutsideTape) and other.evidence.where == cause.evidence.where
    ]
    return min(same, key=_first_op)


def _first_op(cause: Cause) -> int:
    return min((op for _, op in cause.links), default=cause.op_id or 0)


def _merge(causes: list[Cause]) -> Cause:
    if len(causes) == 1:
        return causes[0]
    links = chain.from_iterable(map(attrgetter("links"), causes))
    return replace(causes[0], links=tuple(dict.fromkeys(links)))
