"""A gradient that did not come in, the cut that decides (and the others on the way) out.

Of all barriers on the ways from source to target the one nearest the target that alone keeps the
gradient from arriving is named.
"""

from __future__ import annotations

import ast
from collections.abc import Collection, Mapping
from dataclasses import replace

from ..trace.model import Operand, TensorId, VariableId
from ..trace.tapes import is_differentiable
from .call_facts import CallFacts, line_where_made
from .flow.barriers import FORM_OPS, Crossing, barrier
from .flow.dataflow import Ancestry, Place, Way, Ways
from .flow.ends import detail_of_ends
from .model import Cause
from .python.replaced import explain_replaced, lost_variable
from .python.unseen import find_unseen

_MOST_TRIED = 40


def explain_none(facts: CallFacts, source: Operand) -> tuple[Cause, ...]:
    """Why no gradient came back to this source: the deciding cause first, the others after it."""
    if source.tensor is None:
        return (_not_connected(facts, source),)
    targets, starts = facts.paths.targets, facts.paths.starts(source.tensor)
    ancestry = facts.paths.ancestry_from(starts)
    ways = _of_values(facts, ancestry.ways_from(starts), targets, starts)
    if not any(target in ways for target in targets):
        return (_unconnected(facts, source, ancestry.into),)
    causes = _barriers(facts, ways)
    if not _stops(ways, causes, targets, starts):
        return (_unwatched(facts, source), *_others(causes))
    return _decide(ways, _latest_first(facts, causes), targets, starts)


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
        first = replace(first, detail={**first.detail, "others": "cut"})
    return (first, *(cause for key, cause in merged.items() if key != (first.kind, first.line)))


def _first_outside(merged: dict[tuple[str, int], Cause], deciding: tuple[str, int]) -> Cause:
    """The deciding cause; of several ops outside the tape, the first that should be inside."""
    cause = merged[deciding]
    if cause.kind != "outside-tape":
        return cause
    same = [
        same_kind
        for same_kind in merged.values()
        if same_kind.kind == cause.kind
        and same_kind.detail.get("where") == cause.detail.get("where")
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


def _unwatched(facts: CallFacts, source: Operand) -> Cause:
    """Nothing stands in the way: the tape did not know that it should follow this source."""
    tensor = source.tensor
    assert tensor is not None
    if not is_differentiable(_source_dtype(facts, tensor)):
        line = line_where_made(facts, tensor)
        return facts.cause("integer", line, None, dtype=_source_dtype(facts, tensor))
    tape = facts.tape
    watches = [w for w in tape.watches if w.tensor == tensor] if tape else []
    late = [watch for watch in watches if not watch.automatic and watch.site.line]
    if late:
        return facts.cause("not-watched", late[0].site.line, None, how="late")
    variable = facts.trace.variables.get(VariableId(tensor))
    lost = lost_variable(facts, source) if variable is None else None
    if lost is not None:
        return lost
    made = line_where_made(facts, tensor) or _line_of_parameter(facts, source)
    if variable is not None and variable.trainable and tape and not tape.watches_variables:
        return facts.cause("not-watched", tape.site.line, None, how="tape", made=str(made))
    how = "tensor"
    if variable is not None:
        how = "unread" if variable.trainable else "non-trainable"
    return facts.cause("not-watched", made, None, how=how)


def _line_of_parameter(facts: CallFacts, source: Operand) -> int:
    """The ``def`` of the function around the tape whose parameter the source is, else the tape."""
    line = facts.tape.site.line if facts.tape is not None else facts.call.line
    tree = facts.text.tree
    functions = [
        node
        for node in (ast.walk(tree) if tree is not None else ())
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef))
        and node.lineno <= line <= (node.end_lineno or line)
        and any(
            source.text == argument.arg
            for argument in ast.walk(node.args)
            if isinstance(argument, ast.arg)
        )
    ]
    return max((node.lineno for node in functions), default=line)


def _source_dtype(facts: CallFacts, tensor: TensorId) -> str:
    variable = facts.trace.variables.get(VariableId(tensor))
    return variable.dtype if variable else facts.dtype(tensor)


def _unconnected(facts: CallFacts, source: Operand, ancestry: Ways) -> Cause:
    """Nothing that the target was made from is the source."""
    found = explain_replaced(facts, source, ancestry) or find_unseen(facts, source, ancestry)
    return found or _not_connected(facts, source)


def _not_connected(facts: CallFacts, source: Operand) -> Cause:
    how = _how_unconnected(facts, source)
    ends = {} if how else detail_of_ends(facts, source)
    return facts.cause("not-connected", facts.call.line, None, how=how, **ends)


def _how_unconnected(facts: CallFacts, source: Operand) -> str:
    """Why source and target are not connected: swapped, a constant, statistics; else empty."""
    targets, flow = facts.paths.targets, facts.flow
    if not any(flow.into(target) for target in targets):
        return "constant"
    variable = facts.trace.variables.get(VariableId(source.tensor or TensorId(0)))
    if variable is not None:
        return "" if variable.trainable else "statistics"
    made_from = flow.ancestry([source.tensor] if source.tensor is not None else [])
    return "swapped" if any(target in made_from.into for target in targets) else ""
