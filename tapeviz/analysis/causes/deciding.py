"""A gradient that did not come as numbers in, the cut that decides (and the others on the way) out.

Of all barriers on the ways from source to target the one nearest the target that alone keeps the
gradient from arriving is named.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import replace

from ...trace.model import Operand
from ..call_facts import CallFacts
from ..flow.dataflow import FORM_OPS, Ancestry, Place, Way, Ways
from ..model import Cause
from ..numbers.spoiled import has_inside, last_in_body, spoiling
from ..status import is_zero
from .not_connected import unconnected
from .outside_tape import OutsideTape
from .questions import Crossing, MadeZero, Unlinked, Unwatched
from .table import CAUSES, first_cause
from .zeros import CLIPPING, FLAT, MASKING

_MOST_TRIED = 40


def explain_none(facts: CallFacts, source: Operand) -> tuple[Cause, ...]:
    """Why no gradient came back to this source: the deciding cause first, the others after it."""
    tensor = source.tensor
    if tensor is None:
        return (unconnected(facts, source),)
    targets, starts = facts.paths.targets, facts.paths.starts(tensor)
    ancestry = facts.paths.ancestry_from(starts)
    ways = _of_values(facts, ancestry.ways_from(starts), targets, starts)
    if not any(target in ways for target in targets):
        asked = Unlinked(facts, source, tensor, frozenset(ancestry.into))
        cause = first_cause(CAUSES.unlinked, asked)
        return () if cause is None else (cause,)
    causes = _barriers(facts, ways)
    if not _stops(ways, causes, targets, starts):
        cause = first_cause(CAUSES.unwatched, Unwatched(facts, source, tensor))
        return (*(() if cause is None else (cause,)), *_others(causes))
    return _decide(ways, _latest_first(facts, causes), targets, starts)


def explain_zero(facts: CallFacts, source: Operand) -> Cause | None:
    """The op whose gradient first became zero everywhere, on the way to this source."""
    found = spoiling(facts, source, is_zero)
    if found is None:
        return first_cause(CAUSES.zero, MadeZero(facts, None))
    step, op = found
    suspect = None
    if step is not None and has_inside(op) and not op.is_open:
        suspect = last_in_body(facts, op, CLIPPING | FLAT | MASKING)
    return first_cause(CAUSES.zero, MadeZero(facts, op, step, suspect))


def barrier(crossing: Crossing) -> Cause | None:
    """The cause that stops the gradient on this way; None if it passes."""
    judged = crossing.facts.judged
    if crossing.way not in judged:
        judged[crossing.way] = first_cause(CAUSES.edge, crossing)
    return judged[crossing.way]


def _of_values(
    facts: CallFacts, ways: Ways, targets: Collection[Place], starts: Collection[Place]
) -> Ways:
    """Without the ways on which only a tensor's shape went, if the others lead there as well."""
    kept = {
        place: tuple(way for way in into if not _takes_form(facts, way))
        for place, into in ways.items()
    }
    connected = Ancestry(kept).ways_from(starts)
    if any(target in connected for target in targets):
        return connected
    kept = {
        place: tuple(way for way in into if not _is_shaped_like(facts, way))
        for place, into in ways.items()
    }
    return Ancestry(kept).ways_from(starts)


def _takes_form(facts: CallFacts, way: Way) -> bool:
    op = facts.op(way)
    return op is not None and op.type in FORM_OPS


def _is_shaped_like(facts: CallFacts, way: Way) -> bool:
    """Nothing of the value goes on: zeros in its shape, or a shape that a gradient function reads.

    A shape that the snippet itself asks for is a number that it computes with.
    """
    op = facts.op(way)
    if op is None or op.type not in FORM_OPS:
        return False
    return op.call is not None or op.type in ("ZerosLike", "OnesLike")


def _barriers(facts: CallFacts, ways: Ways) -> dict[Way, Cause]:
    found: dict[Way, Cause] = {}
    for into in ways.values():
        for way in into:
            cause = barrier(Crossing(way, facts))
            if cause is not None:
                found[way] = cause
    return found


def _latest_first(facts: CallFacts, causes: Mapping[Way, Cause]) -> dict[Way, Cause]:
    """In an order of their own: that of the ways is another in each process."""

    def moment(way: Way) -> tuple[int, int]:
        op = facts.op(way)
        happened = op if op is not None else way.leave
        return (-happened.when if happened is not None else 0, way.position)

    return {way: causes[way] for way in sorted(causes, key=moment)}


def _others(causes: Mapping[Way, Cause]) -> tuple[Cause, ...]:
    """Cuts on some of the ways, once for each kind and line."""
    groups: dict[tuple[str, int], list[Cause]] = {}
    for cause in causes.values():
        groups.setdefault((cause.kind, cause.line), []).append(cause)
    return tuple(_merge(group) for group in groups.values())


def _decide(
    ways: Ways, causes: dict[Way, Cause], targets: Collection[Place], starts: Collection[Place]
) -> tuple[Cause, ...]:
    """The deciding cause first: nearest the target, and alone enough to stop the gradient."""
    distance = _distances(ways, targets)
    groups: dict[tuple[str, int], list[Way]] = {}
    for way, cause in sorted(causes.items(), key=lambda pair: distance.get(pair[0].end, 0)):
        groups.setdefault((cause.kind, cause.line), []).append(way)
    ordered = list(groups.items())
    deciding = next(
        (key for key, closed in ordered[:_MOST_TRIED] if _stops(ways, closed, targets, starts)),
        None,
    )
    is_alone = deciding is not None
    if deciding is None:
        deciding = _deciding_kind(ways, ordered, targets, starts) or ordered[0][0]
    merged = {key: _merge([causes[way] for way in closed]) for key, closed in ordered}
    first = _first_outside(merged, deciding)
    if not is_alone:
        first = replace(first, is_alone=False)
    return (first, *(cause for key, cause in merged.items() if key != (first.kind, first.line)))


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


def _deciding_kind(
    ways: Ways,
    ordered: list[tuple[tuple[str, int], list[Way]]],
    targets: Collection[Place],
    starts: Collection[Place],
) -> tuple[str, int] | None:
    """All barriers of one kind together (two variables assigned, on two lines)."""
    for kind in dict.fromkeys(key[0] for key, _ in ordered):
        closed = [way for key, group in ordered if key[0] == kind for way in group]
        if _stops(ways, closed, targets, starts):
            return next(key for key, _ in ordered if key[0] == kind)
    return None


def _distances(ways: Ways, targets: Collection[Place]) -> dict[Place, int]:
    distance: dict[Place, int] = dict.fromkeys(targets, 0)
    edge = list(targets)
    while edge:
        following: list[Place] = []
        for place in edge:
            for way in ways.get(place, ()):
                if way.start not in distance:
                    distance[way.start] = distance[place] + 1
                    following.append(way.start)
        edge = following
    return distance


def _stops(
    ways: Ways, closed: Collection[Way], targets: Collection[Place], starts: Collection[Place]
) -> bool:
    """Whether closing these ways alone parts every target from every start."""
    shut = set(closed)
    seen: set[Place] = set()
    waiting = list(targets)
    while waiting:
        place = waiting.pop()
        if place in seen:
            continue
        seen.add(place)
        waiting.extend(way.start for way in ways.get(place, ()) if way not in shut)
    return not any(start in seen for start in starts)


def _merge(causes: list[Cause]) -> Cause:
    links = tuple(dict.fromkeys(link for cause in causes for link in cause.links))
    return replace(causes[0], links=links)
