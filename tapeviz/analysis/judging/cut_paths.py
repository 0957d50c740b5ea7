"""Decide which cause to name first for a gradient that did not arrive.

Among the cut edges between source and target it is the one nearest the target that alone keeps the
gradient from arriving.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Hashable, Iterable
from dataclasses import replace
from functools import partial

from ...trace.calls import Operand
from ...trace.ids import OpId, VariableId
from ...trace.op_kinds import ops_with
from ..call_facts import CallFacts
from ..causes.connections.not_connected import unconnected
from ..causes.questions import Unlinked, Unwatched, Used
from ..causes.table import CAUSES, first_cause
from ..causes.tapes.outside_tape import OutsideTape, with_computed_again
from ..findings import Cause
from ..flow.ancestry import Ancestry, DataEdge, Position
from ..flow.cut_lines import MOST_LINES, CutLine, CutLines
from ..flow.shared_sets import BySet, SharedSet, SomeNumbers, numbers_in
from .forward_paths import ForwardPaths, Without, by_line, is_stop, without

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
        """The cuts on other paths to a source whose gradient is zero; none for a source that was
        used only before the tape began to record."""
        if self._ancestry is not self._facts.paths.recent:
            return ()
        return self._without_own_writes(self._deciding.recent(self._starts))

    def explain_none(self) -> tuple[Cause, ...]:
        """Why no gradient came back to the source: the deciding cause first, the others after
        it."""
        if causes := self.explain_cut():
            return causes
        assert self._source.tensor is not None  # a source without one has a cause already
        asked = Unwatched(self._facts, self._source, self._source.tensor)
        cause = first_cause(CAUSES.unwatched, asked)
        found = self._without_own_writes(self._deciding.in_order(self._starts))
        return found if cause is None else (cause, *found)

    def explain_cut(self) -> tuple[Cause, ...]:
        """As :meth:`explain_none`, but without causes if a path without cuts leads from the source
        to a target."""
        facts, source, tensor, starts = self._facts, self._source, self._source.tensor, self._starts
        if tensor is None:
            return (unconnected(facts, source),)
        forward = self._deciding.forward
        if not forward.lead_to_targets(starts):
            asked = Unlinked(facts, source, tensor, facts.once(Used, self._ancestry))
            cause = first_cause(CAUSES.unlinked, asked)
            return () if cause is None else (cause,)
        is_recent = self._ancestry is facts.paths.recent
        edges = forward.edges_from(starts)
        copied_on = 0 if is_recent else facts.paths.copied_before(starts, edges)
        if copied_on:
            return (unconnected(facts, source, copied_on),)
        decided = self._deciding.decide(starts)
        if not decided:
            return ()
        first, *others = decided
        first = with_computed_again(facts, tensor, first)
        return (first, *self._without_own_writes(others))

    def _without_own_writes(self, causes: Iterable[Cause]) -> tuple[Cause, ...]:
        """Leave out writes to the source, which is asked about as it was read after them."""
        writes, source = self._facts.trace.writes, VariableId(self._source.tensor or 0)
        written = ((cause, writes.get(cause.op_id or OpId(0))) for cause in causes)
        return tuple(
            cause for cause, version in written if not version or version.variable != source
        )

    def explain_cut_branch(self) -> tuple[Cause, ...]:
        """Why a compiled loop gave zeros, if a branch that some of its turns took holds a cut.

        A loop is read as one turn, with both branches of a conditional if its turns took both. A
        cut in one turn loses the gradients of all turns before it, though the other branch has
        none."""
        if self._source.tensor is None:
            return ()
        facts, starts, forward = self._facts, self._starts, self._deciding.forward
        edges = forward.edges_from(starts)
        cuts = {forward.cut_edges[number] for number in numbers_in(forward.cuts_after(starts))}
        passable = Ancestry(without(edges, cuts.__contains__))
        reached = passable.edges_from(starts).keys() | set(starts)
        beside = {edge for into in edges.values() for edge in _beside_a_cut(facts, into, reached)}
        taken = Ancestry(without(edges, beside.__contains__))
        return _Deciding(ForwardPaths(facts, taken, are_of_values=forward.are_of_values)).decide(
            starts
        )


class _Share:
    """The cuts for which ``has`` is true, in each of the orders that are needed.

    ``left_out``: the cuts that count as missing edges where the distance to the target is measured.
    """

    def __init__(
        self, forward: ForwardPaths, left_out: Without, has: Callable[[int], bool]
    ) -> None:
        self.left_out = left_out
        causes, near = forward.causes, partial(forward.nearness, left_out)

        def lines(order: Callable[[int], object], label: Callable[[Cause], Hashable]) -> CutLines:
            return CutLines(causes, order, lambda cut: label(causes[cut]) if has(cut) else None)

        self.nearest = lines(near, by_line)
        self.nearest_of_kind = lines(near, _by_kind)
        self.earliest = lines(forward.moment, by_line)
        self.earliest_recent = lines(
            forward.moment, lambda cause: _by_recent_line(forward.facts, cause)
        )
        self.first_outside = lines(lambda cut: (_op_of(causes[cut]), near(cut)), _by_where)


class _Deciding:
    """Decides which cut on the paths of a source is its cause. One object serves all sources of a
    call: they share many cuts, and what was worked out for a set of cuts is kept."""

    def __init__(self, forward: ForwardPaths) -> None:
        self.forward = forward
        self._counts = BySet[tuple[int, int]]((0, 0))
        self._all = _Share(forward, Without.NOTHING, lambda _: True)
        self._own = _Share(forward, Without.BYPASSED, lambda cut: not forward.is_bypassed(cut))
        self._bypassed = _Share(forward, Without.NOTHING, forward.is_bypassed)

    def _counted(self, some: SomeNumbers, counts: tuple[int, int]) -> tuple[int, int]:
        """Add the highest cut of a set to the counts (cuts gone around, cuts) of the others."""
        return counts[0] + self.forward.is_bypassed(some.highest), counts[1] + 1

    def _share_of(self, cuts: SharedSet) -> _Share:
        """The cuts that the gradient does not bypass (:meth:`ForwardPaths.is_bypassed`). All cuts
        if it seems to bypass each: in a loop, a bypass may lead to the same cut in the next
        turn."""
        around, count = (
            self._counts.of(cuts, self._counted) if self.forward.is_passed_by else (0, 0)
        )
        return self._own if 0 < around < count else self._all

    def _harmless(self, cuts: SharedSet, share: _Share) -> list[Cause]:
        """The cuts that the gradient bypasses, earliest first."""
        lines = self._bypassed.earliest.of(cuts) if share is self._own else ()
        return [replace(line.cause, is_bypassed=True) for line in lines]

    def in_order(self, starts: Collection[Position]) -> tuple[Cause, ...]:
        """The cuts on the paths from these positions, earliest first."""
        cuts = self.forward.cuts_after(starts)
        share = self._share_of(cuts)
        own = [line.cause for line in share.earliest.of(cuts)]
        return (*own, *self._harmless(cuts, share))

    def recent(self, starts: Collection[Position]) -> tuple[Cause, ...]:
        """The cuts at ops that ran while the tape recorded, earliest first; none that the gradient
        bypasses, as it does the ``stop_gradient`` in ``tf.nn.moments``."""
        cuts = self.forward.cuts_after(starts)
        return tuple([line.cause for line in self._own.earliest_recent.of(cuts)])

    def decide(self, starts: Collection[Position]) -> tuple[Cause, ...]:
        """The deciding cause and the others; none if the cuts together do not stop the gradient.

        The cut that decides is the one nearest the target among those that alone stop the gradient,
        and not one that the gradient bypasses.
        """
        forward = self.forward
        cuts = forward.cuts_after(starts)
        if cuts is None:
            return ()
        share = self._share_of(cuts)
        blocking = forward.blocking(starts, by_line, share.left_out)
        deciding = self._first_in(blocking, cuts, share)
        if deciding is not None:
            return self._named(cuts, share, deciding)
        if True not in forward.labels(_any, forward.blocking(starts, _any, Without.NOTHING)):
            return ()
        deciding = self._decide_together(starts, cuts, share)
        first, *others = self._named(cuts, share, deciding)
        return (replace(first, is_alone=False), *others)

    def _first_in(
        self,
        blocking: SharedSet,
        cuts: SharedSet,
        share: _Share,
        is_meant: Callable[[Cause], bool] = lambda _: True,
    ) -> CutLine | None:
        """The line nearest the target whose cuts alone stop the gradient, where ``is_meant`` holds.

        ``blocking``: the lines that do, as :meth:`ForwardPaths.blocking` gives them.
        """
        nearest = share.nearest.of(cuts)
        for line in nearest:
            if self.forward.is_in(by_line, line.label, blocking) and is_meant(line.first):
                return line
        if len(nearest) < MOST_LINES:
            return None
        enough = (
            share.nearest.line(cuts, label) for label in self.forward.labels(by_line, blocking)
        )
        meant = [line for line in enough if line is not None and is_meant(line.first)]
        return min(meant, key=lambda line: line.key, default=None)

    def _decide_together(
        self, starts: Collection[Position], cuts: SharedSet, share: _Share
    ) -> CutLine:
        """The deciding line, where the cuts of no single line stop the gradient."""
        forward, kinds = self.forward, share.nearest_of_kind.of(cuts)
        stopping = forward.blocking(starts, is_stop, share.left_out)
        if True not in forward.labels(is_stop, stopping) and any(
            is_stop(kind.first) for kind in kinds
        ):
            # The first line that is enough on the paths without a ``tf.stop_gradient``, which
            # stands there on purpose, as around the target value of a temporal difference.
            beside = forward.blocking(starts, by_line, share.left_out | Without.STOPS)
            line = self._first_in(beside, cuts, share, lambda cause: not is_stop(cause))
            if line is not None:
                return line
        # Else the first line of a kind whose cuts are enough together (two variables that are
        # assigned on two lines), else the first line.
        enough = forward.labels(_by_kind, forward.blocking(starts, _by_kind, share.left_out))
        of_kind = next((kind for kind in kinds if kind.label in enough), None)
        line = of_kind and share.nearest.line(cuts, by_line(of_kind.first))
        return line or share.nearest.of(cuts)[0]

    def _named(self, cuts: SharedSet, share: _Share, deciding: CutLine) -> tuple[Cause, ...]:
        """The deciding cause, then the others. If several ops ran outside of the tape, the one that
        ran first decides: from there on the code should be inside."""
        evidence = deciding.first.evidence
        if isinstance(evidence, OutsideTape):
            outside = share.first_outside.line(cuts, evidence.where)
            assert outside is not None
            deciding = share.nearest.line(cuts, by_line(outside.first)) or deciding
        label, nearest = deciding.label, share.nearest.of(cuts)
        others = [line.cause for line in nearest if line.label != label]
        return (deciding.cause, *others, *self._harmless(cuts, share))


def _deciding_from(facts: CallFacts, ancestry: Ancestry, starts: Collection[Position]) -> _Deciding:
    """The object that decides about these paths. Edges that carry only a tensor's shape are left
    out if the other edges lead to a target, too."""
    of_values = facts.once(_deciding_about, ancestry, True)
    if of_values.forward.lead_to_targets(starts):
        return of_values
    return facts.once(_deciding_about, ancestry, False)


def _deciding_about(facts: CallFacts, ancestry: Ancestry, are_of_values: bool) -> _Deciding:
    return _Deciding(ForwardPaths(facts, ancestry, are_of_values=are_of_values))


def _by_kind(cause: Cause) -> Hashable:
    return cause.kind


def _any(_: Cause) -> Hashable:
    return True


def _by_recent_line(facts: CallFacts, cause: Cause) -> Hashable:
    """The kind and line; None for an op that ran before the tape began to record, or outside of
    it."""
    op = facts.trace.op(cause.op_id)
    if isinstance(cause.evidence, OutsideTape) or (op is not None and op.when < facts.paths.begin):
        return None
    return by_line(cause)


def _by_where(cause: Cause) -> Hashable:
    return cause.evidence.where if isinstance(cause.evidence, OutsideTape) else None


def _op_of(cause: Cause) -> int:
    return min((op for _, op in cause.links), default=cause.op_id or 0)


def _beside_a_cut(
    facts: CallFacts, into: Collection[DataEdge], reached: Collection[Position]
) -> list[DataEdge]:
    """The edges out of branches that a gradient can pass, if it cannot pass another branch of the
    conditional. ``into``: the edges into one position."""
    branches = [edge for edge in into if (op := facts.op(edge)) and op.type in _BRANCHES]
    is_cut = any(edge.start not in reached for edge in branches)
    return [edge for edge in branches if edge.start in reached] if is_cut else []
