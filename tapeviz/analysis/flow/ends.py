"""Find both ends of the data flow between a source and a target that nothing links."""

from __future__ import annotations

from bisect import bisect_left
from collections import deque
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Literal

from ...trace.calls import Method, Operand
from ...trace.ids import OpId, TensorId, VariableId, VersionId
from ...trace.ops import Op
from ...wording import enumerated
from ..call_facts import CallFacts, name_of
from .ancestry import Position
from .dataflow import FORM_OPS

_MOST = 2_000
"""Ops looked at in one direction: in a loop each call has a long past."""
_MOST_NAMED = 3
_MOST_CALLS = 20
_MOST_VARIABLES = 20


@dataclass(frozen=True, slots=True)
class End:
    """The op that made the last tensor made from a source, which no op takes: its name and line."""

    name: str
    line: int
    op: Op


Fate = Literal["unused", "asked", "decides", "counts", "left", "inside", "beside", "read"]
"""The last tensor that was made from a source, by its use. It

``asked``: is the target of another call;
``decides``: is a truth value;
``counts``: is a whole number, of which there is no derivative;
``left``: left TensorFlow;
``inside``: is part of what ran for the target, where it only decides what runs, or is counted;
``beside``: is a result of a compiled function, and the target is made from another result of it;
``read``: is the value of a variable, and no op takes it;
``unused``: is something else that no op takes."""


@dataclass(frozen=True, slots=True)
class Ends:
    """Both ends of a missing link: the last use of a source, and what the target is made from.

    ``reaches``, ``reaches_line``: the last tensor made from the source, empty where nothing uses
    it; ``fate``: what became of it. ``target_line``: 0 unknown. ``made_from``: names in words,
    empty where it has none; ``variables``: the names of those among them; ``names``: all of them.
    ``method``: of the call. ``is_variable``: the name of the variable that the target is.
    """

    reaches: str = ""
    reaches_line: int = 0
    fate: Fate = "unused"
    target_line: int = 0
    made_from: str = ""
    variables: tuple[str, ...] = ()
    names: frozenset[str] = frozenset()
    method: Method = "gradient"
    is_variable: str = ""


def ends_of(facts: CallFacts, source: Operand) -> Ends:
    """The end of the path from the source, and what the target is made from."""
    target = next(iter(facts.call.target_tensors), None)
    line = facts.line_where_made(target) or facts.call.line if target is not None else 0
    end = last_made_from(facts, source.tensor, line) if source.tensor is not None else None
    ends = Ends(
        end.name if end is not None else "",
        end.line if end is not None else 0,
        _fate(facts, end.op) if end is not None else "unused",
        line,
        *facts.once(_makings),
        method=facts.call.method,
        is_variable=_variable_asked_for(facts, target),
    )
    beside = _call_beside(facts, source.tensor) if ends.fate == "inside" else None
    return replace(ends, fate="beside", reaches_line=beside.line) if beside is not None else ends


def _variable_asked_for(facts: CallFacts, target: TensorId | None) -> str:
    variable = VariableId(target or TensorId(0))
    return name_of(facts.trace, variable) if variable in facts.trace.variables else ""


def _call_beside(facts: CallFacts, source: TensorId | None) -> Op | None:
    """The last call of a compiled function that gave a result made from the source, and others that
    the target is made from."""
    used = facts.paths.recent.into
    starts = facts.paths.starts(source) if source is not None else frozenset()
    calls = [op for runs in facts.flow.runs.values() for op in runs if op.when < facts.call.when]
    for op in sorted(calls, key=lambda op: -op.when)[:_MOST_CALLS]:
        others = [output for output in op.outputs if output not in used]
        if len(others) < len(op.outputs):
            reached = facts.flow.ancestry(others).leads_from(starts)
            if not reached.isdisjoint(others):
                return op
    return None


def _makings(facts: CallFacts) -> tuple[str, tuple[str, ...], frozenset[str]]:
    """The makings of the target in words, the variables among them, and the names of all."""
    names = list(dict.fromkeys(_made_from(facts)))
    more = [f"{len(names) - _MOST_NAMED} more"] if len(names) > _MOST_NAMED else []
    listed = enumerated([*names[:_MOST_NAMED], *more])
    return listed, tuple(_variables(facts)), frozenset(names)


def _fate(facts: CallFacts, op: Op) -> Fate:
    tensor = op.outputs[0]
    dtype = facts.dtype(tensor)
    if dtype == "bool":
        return "decides"
    if "int" in dtype:
        return "counts"
    if tensor in facts.paths.recent.into:
        return "inside"
    if tensor in facts.flow.asked:
        return "asked"
    if tensor in facts.flow.gone_out:
        return "left"
    return "read" if op.type == "ReadVariableOp" else "unused"


def last_made_from(facts: CallFacts, source: TensorId, near: int = 0) -> End | None:
    """The end of the path from a source, among the ops that ran since the tape began to record.

    Ops of gradient calls and ops that look at a shape alone do not count. ``near``: a line; if a
    path ends there, the others do not count.
    """
    known = facts.once(_known_ends)
    if source not in known:
        known.clear()  # of the source before
        known[source] = sorted(_ends(facts, source, facts.paths.begin), key=lambda op: op.when)
    ends = known[source]
    made = facts.trace.variable(source)
    # A graph asks a variable's state and reads it where it is made, whoever takes that
    # (``_init_from_args`` in resource_variable_ops.py, 2.15-2.21).
    ends = [op for op in ends if not (made and op.graph and op.line == made.site.line)]
    loops = facts.trace.loops
    turns = {part for op in ends if op.id in loops for part in loops[op.id].body}
    ends = [op for op in ends if op.id not in turns]
    ends = [op for op in ends if op.outputs[0] not in facts.flow.asked] or ends
    ends = [op for op in ends if near and facts.line_of(op) == near] or ends
    # Python took these to decide what runs, and so may have chosen what the target is made from.
    taken = [op for op in ends if facts.dtype(op.outputs[0]) == "bool"]
    ends = [op for op in taken if op.outputs[0] in facts.flow.gone_out] or ends
    named = [(op, name) for op in ends if (name := _name(facts, op))]
    if named:
        op, name = named[-1]
    elif ends:
        op = ends[-1]
        written = facts.text.expression_at(op.site.frames[0].span) if op.site.frames else ""
        name = facts.words_of(op) or written or op.type
    else:
        return None
    return End(name, facts.line_of(op), op)


def _known_ends(facts: CallFacts) -> dict[TensorId, list[Op]]:
    """Keep the ends of the source that is asked about, by several questions."""
    return {}


def _ends(facts: CallFacts, source: TensorId, since: int) -> Iterator[Op]:
    """Ops made from the source whose outputs no further op takes.

    What takes a variable is looked at once, from the first write on: a loop may write to one
    thousands of times."""
    followed: dict[TensorId, int] = {}
    waiting = [*_takers(facts, source, since)]
    seen: set[OpId] = set()
    while waiting and len(seen) < _MOST:
        op = waiting.pop()
        if op.id in seen:
            continue
        seen.add(op.id)
        made = [*op.outputs]
        if op.id in facts.trace.writes:
            made.append(TensorId(facts.trace.writes[op.id].variable))
        leads_on = False
        for tensor in made:
            until = followed.get(tensor, facts.call.when)
            if op.when + 1 < until:
                followed[tensor] = op.when + 1
                waiting.extend(_takers(facts, tensor, op.when + 1, until))
            takers = _takers(facts, tensor, op.when + 1)
            leads_on = leads_on or any(_gives(facts, taker) for taker in takers)
        if not leads_on and op.outputs:
            yield op


def _gives(facts: CallFacts, op: Op) -> bool:
    """Whether an op gives something, or writes it into a variable; making an iterator does not."""
    return bool(op.outputs) or op.id in facts.trace.writes


def _takers(
    facts: CallFacts, tensor: TensorId, since: int, until: int | None = None
) -> Iterator[Op]:
    """The ops that took a tensor from a moment on, before another: by default before the call."""
    until = facts.call.when if until is None else until
    takers = facts.flow.takers.get(tensor, ())
    for place in range(bisect_left(takers, since, key=lambda op: op.when), len(takers)):
        op = takers[place]
        if op.when >= until:
            return
        if op.call is None and op.type not in FORM_OPS:
            yield op


def _name(facts: CallFacts, op: Op) -> str:
    names = (facts.trace.names.get(tensor, ()) for tensor in op.outputs)
    return next((found[0] for found in names if found), "")


def _made_from(facts: CallFacts) -> Iterator[str]:
    """The named tensors and variables that the target is made from, the nearest on each path."""
    trace, flow = facts.trace, facts.flow
    own = {target.text for target in facts.call.targets}
    waiting: deque[Position] = deque(facts.paths.targets)
    seen: set[Position] = set()
    while waiting and len(seen) < _MOST:
        position = waiting.popleft()
        if position in seen:
            continue
        seen.add(position)
        for edge in flow.into(position):
            if isinstance(edge.start, VersionId):
                yield name_of(trace, edge.start.variable)
                continue
            is_variable = VariableId(edge.start) in trace.variables
            names = trace.names.get(edge.start, ())
            if is_variable:
                yield name_of(trace, VariableId(edge.start))
            elif names and names[0] not in own:
                yield names[0]
            else:
                waiting.append(edge.start)


def _variables(facts: CallFacts) -> list[str]:
    positions = (
        position for position in facts.paths.recent.into if isinstance(position, VersionId)
    )
    handles = dict.fromkeys(position.variable for position in positions)
    return [name_of(facts.trace, handle) for handle in handles][:_MOST_VARIABLES]
