"""Find terms of a target that count nothing in a gradient that flows: what made them left
TensorFlow, ran while the tape did not record, or has no slope.

Only what is added to the target is looked at. A plain number that weighs, shifts or divides
something is often meant to stay out of the gradient: a learning target, a norm, a maximum.
"""

from __future__ import annotations

import ast
from bisect import bisect_left
from collections.abc import Iterator, Mapping, Sequence, Set
from functools import partial
from typing import NamedTuple

from ...text.trees import lines_of
from ...trace.ids import OpId, TensorId, VersionId
from ...trace.model import Leave
from ...trace.op_kinds import ops_with
from ...trace.ops import Op
from ..call_facts import CallFacts
from ..flow.ancestry import DataEdge, Position
from ..flow.dataflow import LEVEL_OPS
from ..model import Warned
from .outside import NO_NUMBER

_ADDING = frozenset({"Add", "AddV2", "AddN", "Sub", "Pack", "ConcatV2"})
_KEEPING = (frozenset({"Mean", "Neg", "Sum"}) | ops_with("copy", "view")) - {"StopGradient"}
"""Linear in their first input; the others are axes and shapes. What is behind a ``StopGradient``
is meant to count nothing."""
_WEIGHING = frozenset({"Mul", "RealDiv"})
_WITHOUT_SLOPE = ops_with("no-gradient", "flat", "position", "question", "no-data", "form") | {
    "StopGradient"
}
"""Nothing that can be differentiated goes through them."""
_FORM = ops_with("form", "shape", "no-data")
_POSITIONS = ops_with("position")
_LARGEST = 1e30
_MOST_BEFORE = 300
"""Positions that are gone back from a term that was computed before the tape recorded."""
_MOST_TERMS = 20
"""Terms without a slope that are looked at: each may be one that is meant to have none."""
# A number that decides, picks or is shown, and is not computed with.
_NO_TERM = NO_NUMBER | {"int", "index", "format", "str"}


def lost_term(facts: CallFacts) -> Iterator[Warned]:
    """A plain number that was made of a tensor on the tape is added to the target."""
    call, during = facts.call, leaves_during(facts)
    if not during:
        return
    terms = terms_of(facts)
    for leave, number in terms.came_back:
        if leave.when not in during or is_chosen(facts, leave, number):
            continue
        if not has_sources_behind(facts, leave) or _is_counted_elsewhere(facts, leave, terms.all):
            continue
        line, seen = leave.site.line, facts.flow.first_seen.get(number)
        where = seen[0].line if seen is not None else line
        target = call.targets[0].text or "the target"
        place = "there" if where == line else f"on line {where}"
        yield Warned(
            "lost-term",
            line,
            f"The gradient of {target} counts only a part: on line {line} a value leaves "
            f"TensorFlow, and {place} it is added to {target} as a plain number. A constant "
            f"changes {target}, but no gradient. Stay with tf operations for that term.",
        )
        return


def unrecorded_term(facts: CallFacts) -> Iterator[Warned]:
    """A tensor that was computed from a source before the tape recorded is added to the target."""
    call, tape, trace = facts.call, facts.tape, facts.trace
    if tape is None or call.method != "gradient" or not call.is_direct:
        return
    made: dict[OpId, Op] = {}
    for position in terms_of(facts).all:
        maker = trace.maker(position) if not isinstance(position, VersionId) else None
        if maker is None or maker.when > tape.when:
            continue
        if maker.line and call.tape not in maker.tapes:
            made[maker.id] = maker
    for op in sorted(made.values(), key=lambda op: -op.when):
        source = _source_of(facts, op)
        if source:
            target = call.targets[0].text or "the target"
            yield Warned(
                "lost-term",
                op.line,
                f"The gradient of {target} counts only a part: a term of it was computed from "
                f"{source} on line {op.line} before this tape recorded, and a tape knows only what "
                f"runs while it records. Compute all terms of {target} in the block of one tape.",
            )
            return


def level_term(facts: CallFacts) -> Iterator[Warned]:
    """A term of the target is made of a source through ops without a slope alone, such as a score
    of rounded predictions that is added to a loss."""
    call, ops, producers = facts.call, facts.trace.ops, facts.trace.producers
    reads = facts.trace.reads
    if facts.tape is None or call.method != "gradient" or not call.is_direct:
        return
    whens, flow, targets = facts.flow.level_whens, facts.flow, facts.paths.targets
    if bisect_left(whens, facts.tape.when) == bisect_left(whens, call.when):
        return
    starts = {start for source in flowing_sources(facts) for start in facts.paths.starts(source)}
    if not starts:
        return

    def is_other(edge: DataEdge) -> bool:
        return not _is_data(facts, edge)

    def is_cut(edge: DataEdge) -> bool:
        return is_other(edge) or _is_level(facts, edge)

    def held(position: Position) -> Position:
        version = reads.get(position) if isinstance(position, int) else None
        return position if version is None else version.id

    with_slope = flow.ancestry(targets, is_cut).leads_from(starts)
    terms = terms_of(facts).all
    lost = (terms & flow.ancestry(targets, is_other).leads_from(starts)) - with_slope
    made = [ops[producers[term]] for term in lost if isinstance(term, int) and term in producers]
    makers = sorted(made, key=lambda op: op.when)
    counted = set(map(held, terms))  # in x - floor(x) the slope of x is that of the difference
    for maker in makers[:_MOST_TERMS]:
        into = flow.ancestry(maker.outputs, is_other).edges_from(starts).values()
        through = [(ops[edge.op], edge) for edges in into for edge in edges if edge.op is not None]
        level = [(op, edge) for op, edge in through if _is_level(facts, edge)]
        is_meant = any(op.type == "StopGradient" for op, _ in through)
        if is_meant or not level or any(held(edge.start) in counted for _, edge in level):
            continue
        last = max((op for op, _ in level), key=lambda op: op.when)
        target, line = call.targets[0].text or "the target", facts.line_of(last)
        name = _name_of_sum(facts, maker, makers)
        yield Warned(
            "lost-term",
            line,
            f"The gradient of {target} counts only a part: {name or 'a term of it'} is made "
            f"through {facts.words_of(last) or last.type} on line {line}, whose result jumps "
            f"from value to value and is constant in between, so it has no slope. That term "
            f"changes {target}, but no gradient. Use a smooth operation in its place, or leave the "
            f"term out.",
        )
        return


def _name_of_sum(facts: CallFacts, term: Op, makers: list[Op]) -> str:
    """The first name that was given to a term, or to a sum that it is a part of."""
    parts: set[TensorId] = set()
    for op in makers:
        if op is term or not parts.isdisjoint(op.inputs):
            parts.update(op.outputs)
            for tensor in op.outputs:
                if names := facts.trace.names.get(tensor):
                    return names[0]
    return ""


def _is_data(facts: CallFacts, edge: DataEdge) -> bool:
    """Whether the elements at the edge's end are computed from those at its start."""
    op = facts.trace.op(edge.op)
    return edge.kind == "read" or (edge.kind == "op" and op is not None and op.type not in _FORM)


def _is_level(facts: CallFacts, edge: DataEdge) -> bool:
    """Whether the op of an edge gives values that jump and are constant in between, or integers."""
    op = facts.trace.op(edge.op)
    if edge.kind != "op" or op is None:
        return False
    is_number = any(kind in facts.dtype(edge.end) for kind in ("float", "complex", "variant"))
    if op.type in _POSITIONS and is_number:
        return False  # the values of top_k, beside their positions
    return op.type in LEVEL_OPS or (op.type == "Cast" and not is_number)


def flowing_sources(facts: CallFacts) -> list[TensorId]:
    return [source.tensor for source, _ in facts.flowing if source.tensor is not None]


def sources_among(facts: CallFacts, positions: Mapping[Position, object]) -> list[TensorId]:
    """The sources that flow and begin at one of these positions."""
    known, starts = positions.keys(), facts.paths.starts
    return [each for each in flowing_sources(facts) if not known.isdisjoint(starts(each))]


def _source_of(facts: CallFacts, op: Op) -> str:
    """The name of a source with a gradient, of whose present value the op's output was computed."""
    made_from = facts.flow.ancestry(op.outputs[:1], partial(has_no_slope, facts), _MOST_BEFORE)
    begun = sources_among(facts, made_from.into)
    return next((source.text for source, _ in facts.flowing if source.tensor in begun), "")


class Terms(NamedTuple):
    """The positions whose sum a scalar target is, each perhaps weighed by a number: ``all``, with
    the sums on the way; ``last``: those that are no sums. ``came_back``: the plain numbers among
    them, with how they left TensorFlow."""

    all: Set[Position]
    last: Sequence[Position]
    came_back: Sequence[tuple[Leave, TensorId]]


def terms_of(facts: CallFacts) -> Terms:
    """The terms of the target of a call. What the tape came too late for is one term."""
    return facts.once(_terms)


def _terms(facts: CallFacts) -> Terms:
    trace, flow, begin = facts.trace, facts.flow, facts.tape.when if facts.tape else 0
    found: set[Position] = set()
    last: list[Position] = []
    came_back: list[tuple[Leave, TensorId]] = []
    waiting = list(facts.paths.targets) if len(facts.call.targets) == 1 else []
    while waiting:
        position = waiting.pop()
        if position in found:
            continue
        found.add(position)
        added: list[Position] = []
        for edge in flow.into(position):
            if edge.leave is not None and isinstance(position, int):
                came_back.append((edge.leave, position))
            op = trace.op(edge.op)
            if edge.kind == "op" and op is not None and op.when >= begin:
                added.extend([edge.start] if _is_added(facts, op, edge) else ())
        waiting += added
        last += [] if added else [position]
    return Terms(found, last, came_back)


def leaves_during(facts: CallFacts) -> Set[int]:
    """The times at which values left TensorFlow while the tape recorded, before a direct call for a
    gradient: Python may compute with these values."""
    return {leave.when for leave in _leaves_of_tape(facts)}


def _leaves_of_tape(facts: CallFacts) -> Sequence[Leave]:
    """See :func:`leaves_during`."""
    if facts.call.method != "gradient" or not facts.call.is_direct:
        return ()
    return [leave for leave in facts.leaves if leave.how not in _NO_TERM]


def _is_added(facts: CallFacts, op: Op, edge: DataEdge) -> bool:
    """Whether the op's output has this input as a term, weighed by a number at most."""
    if op.type in _ADDING:
        return True
    if op.type in _KEEPING:
        return edge.input_index == 0
    if op.type not in _WEIGHING or (op.type == "RealDiv" and edge.input_index):
        return False
    if len(op.inputs) != 2:  # in a damaged file
        return False
    other = op.inputs[1 - edge.input_index]
    return other not in facts.trace.producers and not facts.flow.into(other)


def is_chosen(facts: CallFacts, leave: Leave, number: TensorId) -> bool:
    """Whether what left only decided which number was taken: one that stands in the text."""
    value = facts.trace.value(number)
    if value is None or value.dtype.kind != "f":
        return True
    written, compared = facts.once(_written_numbers)
    return any(leave.site.line in lines for lines in compared) or (
        value.size == 1 and any(value.ravel()[0] == value.dtype.type(n) for n in written)
    )


def _written_numbers(facts: CallFacts) -> tuple[frozenset[float], list[range]]:
    """The numbers that stand in the text, and the lines of its comparisons."""
    numbers, compared = {0.0}, []
    for node in facts.text.nodes:
        if isinstance(node, ast.Constant) and isinstance(node.value, (int, float)):
            number = float(min(max(node.value, -_LARGEST), _LARGEST))
            numbers |= {number, -number}
        elif isinstance(node, ast.Compare):
            compared.append(lines_of(node))
    return frozenset(numbers), compared


def _is_counted_elsewhere(facts: CallFacts, leave: Leave, terms: Set[Position]) -> bool:
    """Whether the tensor that left is a term itself, or the number shifts or scales something.

    In ``m + log(sum(exp(x - m)))`` both shares of ``m`` cancel, and m is rightly a constant.
    """
    start = facts.flow.position_left(leave)
    return start in terms or start in facts.once(_left_for_others)


def _left_for_others(facts: CallFacts) -> Set[Position]:
    """The positions from which a value left TensorFlow for a number that is no term."""
    terms = terms_of(facts).all
    return {
        edge.start
        for end, edges in facts.paths.recent.into.items()
        if isinstance(end, int) and end not in terms and "float" in facts.dtype(end)
        for edge in edges
        if edge.leave is not None
    }


def sources_behind(facts: CallFacts, leave: Leave) -> list[TensorId]:
    """The sources that flow and that the tape could have followed the tensor that left back to.
    Walks all that it was made from."""
    left = [facts.flow.position_left(leave)]
    return sources_among(facts, facts.flow.ancestry(left, partial(_is_not_followed, facts)).into)


def has_sources_behind(facts: CallFacts, leave: Leave) -> bool:
    """Whether there are :func:`sources_behind` what left while the tape recorded."""
    return facts.flow.position_left(leave) in facts.once(_fed_by_sources)


def _fed_by_sources(facts: CallFacts) -> Set[Position]:
    """The positions that left while the tape recorded, and those that they were made from, if a
    source that flows is behind them. One walk finds all of them."""
    starts = {start for source in flowing_sources(facts) for start in facts.paths.starts(source)}
    if not starts:
        return frozenset()
    left = {facts.flow.position_left(leave) for leave in _leaves_of_tape(facts)}
    return facts.flow.ancestry(left, partial(_is_not_followed, facts)).leads_from(starts)


def has_no_slope(facts: CallFacts, edge: DataEdge) -> bool:
    """Whether no derivative goes along the edge, in TensorFlow or by the rules of calculus."""
    op = facts.trace.op(edge.op)
    return edge.kind != "read" and (edge.kind != "op" or op is None or op.type in _WITHOUT_SLOPE)


def _is_not_followed(facts: CallFacts, edge: DataEdge) -> bool:
    op = facts.trace.op(edge.op)
    is_recorded = edge.kind == "read" or (op is not None and facts.call.tape in op.tapes)
    return not is_recorded or has_no_slope(facts, edge)
