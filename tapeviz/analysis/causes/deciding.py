"""Decide which cause to name first for a gradient that did not arrive.

Among the cut edges between source and target it is the one nearest the target that alone keeps the
gradient from arriving.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Set
from dataclasses import replace
from functools import cached_property, partial
from heapq import heappop, heappush
from weakref import ref

from ...trace.model import Operand, VersionId
from ...trace.op_kinds import ops_with
from ..call_facts import CallFacts
from ..flow.dataflow import FORM_OPS, Ancestry, DataEdge, EdgesInto, Position
from ..model import Cause
from ..numbers.spoiled import has_inside, spoiling
from ..status import is_zero
from .gone_around import gone_around
from .inside_zero import zero_inside
from .not_connected import unconnected
from .outside_tape import OutsideTape, with_computed_again
from .questions import EdgeUnderTest, MadeZero, Unlinked, Unwatched, used_in
from .saturated import saturated_at
from .stop_gradient import StopGradient
from .table import CAUSES, first_cause
from .zeros import MultipliedByZero, clipped_to_zero

_MOST_TRIED = 40
_MOST_KEPT = 50
"""Ways that are kept: of a wide network each source has its own."""
_BRANCHES = ops_with("branch")


class CutPaths:
    """Why a gradient did not come from the targets of a call to a source."""

    def __init__(self, facts: CallFacts, source: Operand) -> None:
        self._facts = facts
        self._source = source
        starts = () if source.tensor is None else facts.paths.starts(source.tensor)
        self._ways = _ways_from(facts, starts)

    def beside_zero(self) -> tuple[Cause, ...]:
        """The cuts on other ways, where the gradient that came is zero: of what ran since the tape
        began to record."""
        if self._facts.once(_before_recent_cuts).isdisjoint(self._ways.starts):
            return ()
        return tuple(cause for cause in self._ways.own if _is_recent(self._facts, cause))

    def explain_none(self) -> tuple[Cause, ...]:
        """Why no gradient came back to the source: the deciding cause first, the others after
        it."""
        facts, source, tensor, ways = self._facts, self._source, self._source.tensor, self._ways
        if tensor is None:
            return (unconnected(facts, source),)
        if not any(target in ways.edges for target in ways.targets):
            asked = Unlinked(facts, source, tensor, used_in(facts, ways.ancestry))
            cause = first_cause(CAUSES.unlinked, asked)
            return () if cause is None else (cause,)
        if facts.paths.is_copied_before(ways.starts, ways.edges):
            return (unconnected(facts, source),)
        if not ways.decided:
            cause = first_cause(CAUSES.unwatched, Unwatched(facts, source, tensor))
            cuts = (*ways.own, *ways.harmless(ways.gone_around))
            return cuts if cause is None else (cause, *cuts)
        first, *others = ways.decided
        return (with_computed_again(facts, tensor, first), *others)

    def explain_cut_branch(self) -> tuple[Cause, ...]:
        """Why a compiled loop gave zeros, if a branch that some of its turns took holds a cut."""
        return () if self._source.tensor is None else self._ways.explain_cut_branch()


class _Ways:
    """The data-flow edges from some positions to the targets of a call, and the cuts among them.

    They do not hold the facts, which keep them: nobody collects such a circle for a while, and the
    data flow of a trace with it."""

    def __init__(self, facts: CallFacts, starts: Collection[Position]) -> None:
        self._facts_of = ref(facts)
        self.starts = starts
        self.targets = facts.paths.targets

    @property
    def _facts(self) -> CallFacts:
        facts = self._facts_of()
        assert facts is not None
        return facts

    @cached_property
    def ancestry(self) -> Ancestry:
        return self._facts.paths.ancestry_from(self.starts)

    @cached_property
    def edges(self) -> EdgesInto:
        edges = self.ancestry.edges_from(self.starts)
        return _edges_of_values(self._facts, edges, self.targets, self.starts)

    @cached_property
    def are_of_values(self) -> bool:
        """Whether a target is reached, and not by a tensor's shape."""
        edges = (edge for into in self.edges.values() for edge in into)
        reached = any(target in self.edges for target in self.targets)
        return reached and not any(_takes_form(self._facts, edge) for edge in edges)

    @cached_property
    def _causes(self) -> dict[DataEdge, Cause]:
        """The causes of the edges that a gradient cannot pass."""
        found: dict[DataEdge, Cause] = {}
        for into in self.edges.values():
            for edge in into:
                cause = barrier(EdgeUnderTest(edge, self._facts))
                if cause is not None:
                    found[edge] = cause
        return found

    @cached_property
    def gone_around(self) -> frozenset[DataEdge]:
        return self._gone_around_in(self.edges)

    def _gone_around_in(self, edges: EdgesInto) -> frozenset[DataEdge]:
        """The cuts that the gradient goes around within the same call; none if that are all: from
        turn to turn of a loop a way may lead back to the same cut."""
        found = gone_around(self._facts, edges, self._causes.keys(), self.targets)
        return found if len(found) < len(self._causes) else frozenset()

    @cached_property
    def own(self) -> tuple[Cause, ...]:
        """The cuts that the gradient does not go around within the same call."""
        return _once({e: cause for e, cause in self._causes.items() if e not in self.gone_around})

    def harmless(self, around: Collection[DataEdge]) -> tuple[Cause, ...]:
        """The causes of the cuts that the gradient goes ``around``."""
        found = {edge: cause for edge, cause in self._causes.items() if edge in around}
        return tuple(replace(cause, is_gone_around=True) for cause in _once(found))

    @cached_property
    def decided(self) -> tuple[Cause, ...]:
        """The deciding cause and the others, if the cuts together stop the gradient."""
        if not self._stops(self.edges, self._causes):
            return ()
        return self._decide(self.edges, self.gone_around)

    def explain_cut_branch(self) -> tuple[Cause, ...]:
        """Why a compiled loop gave zeros, if a branch that some of its turns took holds a cut.

        A loop is read as one turn, with both branches of a conditional if its turns took both. A
        cut in one turn loses the gradients of all turns before it, though the other branch has
        none."""
        passable = _without(self.edges, self._causes.__contains__)
        reached = Ancestry(passable).edges_from(self.starts).keys() | set(self.starts)
        beside = {
            edge
            for into in self.edges.values()
            for edge in _beside_a_cut(self._facts, into, reached)
        }
        taken = _without(self.edges, beside.__contains__)
        if not self._causes or not self._stops(taken, self._causes):
            return ()
        return self._decide(taken, self._gone_around_in(taken))

    def _decide(self, edges: EdgesInto, around: Collection[DataEdge]) -> tuple[Cause, ...]:
        """The deciding cause first: nearest the target, and alone enough to stop the gradient.

        ``around``: the cuts that the gradient goes around; none of them decides.
        """
        causes = _latest_first(self._facts, self._causes)
        if around:
            edges = _without(edges, around.__contains__)
            causes = {edge: cause for edge, cause in causes.items() if edge not in around}
        distance = _distances(edges, self.targets)
        groups: dict[tuple[str, int], list[DataEdge]] = {}
        for edge, cause in sorted(causes.items(), key=lambda pair: distance.get(pair[0].end, 0)):
            groups.setdefault((cause.kind, cause.line), []).append(edge)
        ordered = list(groups.items())
        deciding = next(
            (key for key, closed in ordered[:_MOST_TRIED] if self._stops(edges, closed)), None
        )
        is_alone = deciding is not None
        if deciding is None:
            beside = self._deciding_beside_stops(edges, ordered)
            deciding = beside or self._deciding_kind(edges, ordered) or ordered[0][0]
        merged = {key: _merge([causes[edge] for edge in closed]) for key, closed in ordered}
        first = _first_outside(merged, deciding)
        if not is_alone:
            first = replace(first, is_alone=False)
        others = (cause for key, cause in merged.items() if key != (first.kind, first.line))
        return (first, *others, *self.harmless(around))

    def _deciding_beside_stops(
        self, edges: EdgesInto, ordered: list[tuple[tuple[str, int], list[DataEdge]]]
    ) -> tuple[str, int] | None:
        """The first cut that is enough on the ways beside a ``tf.stop_gradient``: that one is there
        on purpose, as around the target value of a temporal difference."""
        stops = {edge for edge, cause in self._causes.items() if _is_stop(cause)}
        if not stops or self._stops(edges, stops):
            return None
        rest = _without(edges, stops.__contains__)
        others = (each for each in ordered if not stops.intersection(each[1]))
        return next((key for key, closed in others if self._stops(rest, closed)), None)

    def _deciding_kind(
        self, edges: EdgesInto, ordered: list[tuple[tuple[str, int], list[DataEdge]]]
    ) -> tuple[str, int] | None:
        """The first kind whose cuts together are enough (two variables assigned, on two lines)."""
        for kind in dict.fromkeys(key[0] for key, _ in ordered):
            closed = [edge for key, group in ordered if key[0] == kind for edge in group]
            if self._stops(edges, closed):
                return next(key for key, _ in ordered if key[0] == kind)
        return None

    def _stops(self, edges: EdgesInto, closed: Collection[DataEdge]) -> bool:
        """Whether closing these edges separates every target from the source."""
        shut = set(closed)
        seen: set[Position] = set()
        waiting = list(self.targets)
        while waiting:
            position = waiting.pop()
            if position in seen:
                continue
            seen.add(position)
            waiting.extend(edge.start for edge in edges.get(position, ()) if edge not in shut)
        return not any(start in seen for start in self.starts)


def _ways_from(facts: CallFacts, starts: Collection[Position]) -> _Ways:
    """The ways from these positions. Those that come together uncut are the ways from where they
    do: in a deep network that is one position for nearly all sources."""
    recent, (known, kept) = facts.paths.recent, facts.once(_known_ways)
    leading = [start for start in starts if start in recent.into]
    if len(leading) != 1:
        return _Ways(facts, starts)
    (joint,) = leading
    waiting, seen = [(0, 0, joint)], {joint}
    passed: list[Position] = []
    since: list[Position] = []
    """The positions before the joint, and those from it on."""
    has_forms = False
    while waiting:
        position = heappop(waiting)[2]
        if not waiting:
            joint = position
            passed, since = passed + since, []
            if joint in known:
                break
        since.append(position)
        onward = recent.edges_out_of(position)
        values = [edge for edge in onward if not _takes_form(facts, edge)]
        if position in facts.paths.targets or any(map(partial(_is_cut, facts), values)):
            break
        has_forms |= len(values) < len(onward)
        for edge in values:
            if edge.end not in seen:
                seen.add(edge.end)
                number = edge.end[0] if isinstance(edge.end, VersionId) else edge.end
                heappush(waiting, (abs(number), len(seen), edge.end))
    ways = known.get(joint)
    if ways is None:
        ways = _Ways(facts, (joint,))
        if len(kept) == _MOST_KEPT:
            known.clear()
            kept.clear()
        kept.append(ways)
    if has_forms and not ways.are_of_values:
        return _Ways(facts, starts)
    known.update(dict.fromkeys([*passed, joint], ways))
    return ways


def _is_cut(facts: CallFacts, edge: DataEdge) -> bool:
    return barrier(EdgeUnderTest(edge, facts)) is not None


def _known_ways(facts: CallFacts) -> tuple[dict[Position, _Ways], list[_Ways]]:
    """Keep the ways of a call: by each position that leads to them, and as a list of each once."""
    return {}, []


def _before_recent_cuts(facts: CallFacts) -> Set[Position]:
    """The positions from which ways of the sources lead to something that is cut: mostly none."""
    tensors = facts.call.source_tensors
    starts = [start for tensor in tensors for start in facts.paths.starts(tensor)]
    ways = facts.paths.recent.edges_from(starts)
    found: set[Position] = set()
    waiting: list[Position] = []
    for edge in (edge for into in ways.values() for edge in into if not _takes_form(facts, edge)):
        cause = barrier(EdgeUnderTest(edge, facts))
        if cause is not None and _is_recent(facts, cause):
            waiting.append(edge.start)
    while waiting:
        position = waiting.pop()
        if position not in found:
            found.add(position)
            waiting.extend(edge.start for edge in ways.get(position, ()))
    return found


def _is_recent(facts: CallFacts, cause: Cause) -> bool:
    """Whether a cut is of what ran since the tape began to record, and on it."""
    op = facts.trace.op(cause.op_id)
    return not isinstance(cause.evidence, OutsideTape) and (
        op is None or op.when >= facts.paths.begin
    )


def _is_stop(cause: Cause) -> bool:
    return isinstance(cause.evidence, StopGradient)


def _beside_a_cut(
    facts: CallFacts, into: Collection[DataEdge], reached: Collection[Position]
) -> list[DataEdge]:
    """Edges from branches of a conditional that a gradient can pass, beside one that it cannot."""
    branches = [edge for edge in into if (op := facts.op(edge)) and op.type in _BRANCHES]
    is_cut = any(edge.start not in reached for edge in branches)
    return [edge for edge in branches if edge.start in reached] if is_cut else []


def explain_zero(facts: CallFacts, source: Operand) -> Cause | None:
    """The op whose gradient first became zero everywhere, on the way to this source."""
    found = spoiling(facts, source, is_zero)
    if found is None:
        return first_cause(CAUSES.zero, MadeZero(facts, None))
    step, op = found
    inside = None
    if step is not None and has_inside(op) and not op.is_open:
        starts = facts.paths.starts(source.tensor) if source.tensor is not None else ()
        inside = zero_inside(facts, op, starts)
    cause = first_cause(CAUSES.zero, MadeZero(facts, op, step, *(inside or ())))
    if cause is None or source.tensor is None or not isinstance(cause.evidence, MultipliedByZero):
        return cause
    if cause.evidence.by in ("factor", "clipped"):
        clip = clipped_to_zero(facts, op, facts.paths.starts(source.tensor))
        return facts.cause_at(saturated_at(facts, clip), clip) if clip is not None else cause
    return cause


def barrier(asked: EdgeUnderTest) -> Cause | None:
    """The cause that stops the gradient on this edge; None if it passes."""
    judged = asked.facts.judged
    if asked.edge not in judged:
        judged[asked.edge] = first_cause(CAUSES.edge, asked)
    return judged[asked.edge]


def _edges_of_values(
    facts: CallFacts, edges: EdgesInto, targets: Collection[Position], starts: Collection[Position]
) -> EdgesInto:
    """Leave out edges that carry only a tensor's shape, if the others lead to a target too."""
    connected = without_forms(facts, edges).edges_from(starts)
    if any(target in connected for target in targets):
        return connected
    kept = _without(edges, partial(_is_shaped_like, facts))
    return Ancestry(kept).edges_from(starts)


def _without(edges: EdgesInto, is_left_out: Callable[[DataEdge], bool]) -> EdgesInto:
    return {
        position: tuple(edge for edge in into if not is_left_out(edge))
        for position, into in edges.items()
    }


def without_forms(facts: CallFacts, edges: EdgesInto) -> Ancestry:
    """The edges but those that carry only a tensor's shape."""
    return Ancestry(_without(edges, partial(_takes_form, facts)))


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


def _latest_first(facts: CallFacts, causes: Mapping[DataEdge, Cause]) -> dict[DataEdge, Cause]:
    """The edges sorted by time, latest first: their own order differs between processes."""

    def moment(edge: DataEdge) -> tuple[int, int]:
        op = facts.op(edge)
        happened = op if op is not None else edge.leave
        return (-happened.when if happened is not None else 0, edge.input_index)

    return {edge: causes[edge] for edge in sorted(causes, key=moment)}


def _once(causes: Mapping[DataEdge, Cause]) -> tuple[Cause, ...]:
    """The causes of some edges, once for each kind and line."""
    groups: dict[tuple[str, int], list[Cause]] = {}
    for cause in causes.values():
        groups.setdefault((cause.kind, cause.line), []).append(cause)
    return tuple(_merge(group) for group in groups.values())


def _first_outside(merged: dict[tuple[str, int], Cause], deciding: tuple[str, int]) -> Cause:
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


def _distances(edges: EdgesInto, targets: Collection[Position]) -> dict[Position, int]:
    distance: dict[Position, int] = dict.fromkeys(targets, 0)
    border = list(targets)
    while border:
        following: list[Position] = []
        for position in border:
            for edge in edges.get(position, ()):
                if edge.start not in distance:
                    distance[edge.start] = distance[position] + 1
                    following.append(edge.start)
        border = following
    return distance


def _merge(causes: list[Cause]) -> Cause:
    if len(causes) == 1:
        return causes[0]
    links = tuple(dict.fromkeys(link for cause in causes for link in cause.links))
    return replace(causes[0], links=links)
