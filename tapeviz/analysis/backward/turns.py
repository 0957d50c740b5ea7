"""Find the stretches of a backward pass that go back through a loop turn by turn.

Backwards the last turn comes first: the rows of one turn repeat those of the turn before.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import islice
from types import MappingProxyType
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from ...stretches import find_stretches
from ...trace.calls import Call
from ...trace.ids import OpId, TensorId
from ...trace.levels.op_levels import OpLevels
from ...trace.model import Trace
from ...trace.values import norm_of
from .steps import Parts, TurnRows, WalkStep

if TYPE_CHECKING:
    from ..flow.ancestry import Position

LEAST_TURNS = 4
_MOST_SINGLE = 5
"""Turns with a row each that do not fold: TensorFlow went back through turns side by side."""
_MOSTLY = 0.7
"""The part of the rows of a loop's turns that are among those of their own turn, at least."""
_CUTS = 16
"""Parts of a loop's rows, after some of which TensorFlow may begin to go from turn to turn."""
MOST_DIFFERING = 4
"""Turns that differ from the others; of a loop in which more do, each is as usual as the next."""


class LoopTurn(NamedTuple):
    """The turn of a Python loop that an op ran in: ``number``, from 1, of ``total``. ``loop``: a
    key that tells loops, and executions of one, apart."""

    loop: object
    number: int
    total: int


def loop_turns(trace: Trace, call: Call, steps: Sequence[WalkStep]) -> Mapping[OpId, LoopTurn]:
    """For each op of some rows that ran in a Python loop the turn of it: of the outermost loop
    around it that had several turns among these rows."""
    tape = trace.tape(call.tape)
    known = {step.op for step in steps if step.op is not None and step.op in trace.ops}
    if tape is None or not known:
        return {}
    ops = sorted((trace.ops[op] for op in known), key=lambda op: op.when)
    levels = OpLevels(trace, min((span.start for span in tape.intervals), default=0))
    around = {op.id: levels.loops_of(op) for op in ops}
    numbers: dict[object, set[int]] = {}
    for pairs in around.values():
        for loop, number in pairs:
            numbers.setdefault(loop, set()).add(number)
    totals = {
        loop: max(levels.turns_before(loop, call.when), *own)
        for loop, own in numbers.items()
        if len(own) > 1
    }
    found: dict[OpId, LoopTurn] = {}
    for op, pairs in around.items():
        for loop, number in pairs:
            if loop in totals:
                found[op] = LoopTurn(loop, number, totals[loop])
                break
    return found


def find_turns(
    steps: Sequence[WalkStep], loops: Mapping[OpId, LoopTurn] = MappingProxyType({})
) -> tuple[TurnRows, ...]:
    """Find the stretches of rows that go back through a loop.

    The turn of each row is known for a Python loop (``loops``) and a compiled loop, and two turns
    are enough. Elsewhere, as in what Keras runs by itself, a stretch is rows that repeat at least
    four times one after the other. The first turn, which ends it, may lack rows: it often begins
    with a constant, to which no gradient goes. A sum stands where its last share was given, and is
    no part of what repeats. Takes time linear in the rows.
    """
    rows = [row for row, step in enumerate(steps) if step.kind != "sum"]
    turns = [loops.get(op) if (op := steps[row].op) is not None else None for row in rows]
    numbers: dict[tuple[object, ...], int] = {}
    keys = [
        numbers.setdefault(
            _key(steps[row], row if turn is not None or steps[row].turns else -1), len(numbers)
        )
        for row, turn in zip(rows, turns, strict=True)
    ]
    stretches = {start: (end, period) for start, end, period in find_stretches(keys, LEAST_TURNS)}
    found: list[TurnRows] = []

    def add(starts: Sequence[int], after: int, numbers: Sequence[int], total: int) -> None:
        end = rows[after] if after < len(rows) else len(steps)
        first = tuple(rows[start] for start in starts)
        found.append(TurnRows(first, end, steps[first[0]].line, tuple(numbers), total))

    at = looked = 0
    while at < len(keys):
        turn = turns[at]
        if turn is not None:
            of_loop, at = _turns_of_loop(turns, at)
            for starts, ran, after in of_loop:
                has_rows = after - starts[0] >= 2 * len(starts) or len(starts) > _MOST_SINGLE
                if len(starts) > 1 and has_rows:
                    add(starts, after, ran, turn.total)
            continue
        starts = []
        if at >= looked:  # in a single long turn each row would look to its end
            starts, looked = _known_turns(steps, rows, at)
        if len(starts) > 1:
            ran_in = [steps[rows[start]].turns[0] + 1 for start in starts]
            add(starts, looked, ran_in, ran_in[0])
            at = looked
            continue
        end, length = stretches.get(at, (at, 1))
        count = (end - at) // length
        if count * length > LEAST_TURNS:
            after = at + length * count
            starts = list(range(at, after, length))
            first = _first_turn(keys, at, length, after)
            if first > after:
                starts, after = [*starts, after], first
            add(starts, after, range(len(starts), 0, -1), len(starts))
            at = after
        else:
            at += 1
    return tuple(found)


def with_differing(
    trace: Trace, steps: Sequence[WalkStep], turns: Sequence[TurnRows]
) -> tuple[TurnRows, ...]:
    """The stretches with the turns that differ: those in which other ops have rows than in most
    turns, and the first one to which a gradient with NaN or infinity comes."""
    found = []
    for stretch in turns:
        shapes = [
            tuple(
                sorted(step.title for step in steps[rows.start : rows.stop] if step.kind != "sum")
            )
            for rows in map(stretch.rows_at, range(stretch.count))
        ]
        usual, _ = max(Counter(shapes).items(), key=lambda item: item[1])
        others = [place for place, shape in enumerate(shapes) if shape != usual]
        spoiled = (
            place
            for place, start in enumerate(stretch.starts)
            if any(map(trace.has_nonfinite, steps[start].upstream))
        )
        first_spoiled = next(spoiled, None)
        few = others if len(others) <= MOST_DIFFERING else []
        differing = {*few, *(() if first_spoiled is None else (first_spoiled,))}
        found.append(replace(stretch, differing=tuple(sorted(differing))))
    return tuple(found)


def parts_of_sources(
    trace: Trace, sources: Mapping[TensorId, str], steps: Sequence[WalkStep]
) -> Parts:
    """Find what each of the ``steps`` gives to gradients that are sums. ``sources``: names of
    sources, by the gradient that came back for them."""
    known: dict[tuple[Position, TensorId], tuple[int, float]] = {}
    names: list[str] = []
    for step in steps:
        total = step.downstream[0] if step.kind == "sum" and step.downstream else None
        if total is None or total not in sources or step.at is None or step.summed is None:
            continue
        at = _position(trace, step.at, step.summed)
        shares = [share for share in step.upstream if share is not None]
        norms = {share: norm_of(trace, share) or 0.0 for share in shares}
        whole = sum(norms[share] for share in shares)  # a gradient may be a share several times
        if whole and math.isfinite(whole):
            known.update(((at, share), (len(names), norms[share] / whole)) for share in norms)
            names.append(sources[total])
    given = [
        (row, *known[at, share])
        for row, step in enumerate(steps if known else ())
        for drawn, tensor, share in zip(
            step.inputs, step.taken or step.inputs, step.downstream, strict=False
        )
        if share is not None and (at := _position(trace, drawn, tensor), share) in known
    ]
    rows, places, parts = zip(*given, strict=True) if given else ((), (), ())
    return Parts(names, np.array(rows, int), np.array(places, int), np.array(parts, float))


def _position(trace: Trace, drawn: TensorId, tensor: TensorId) -> Position:
    """The version that the tensor ``drawn`` was read from, else ``tensor``, which is that tensor in
    some turn."""
    version = trace.reads.get(drawn)
    return version.id if version is not None else tensor


def _key(step: WalkStep, alone: int) -> tuple[object, ...]:
    """A key that is the same for rows that repeat each other; ``alone``: for a row that repeats no
    other its number."""
    return (step.kind, step.title, step.line) if alone < 0 else (alone,)


def _turns_of_loop(
    turns: Sequence[LoopTurn | None], at: int
) -> tuple[list[tuple[list[int], list[int], int]], int]:
    """The stretches of the rows of one loop, from a place on: the places at which turns begin,
    their numbers, and the place after them. At last the place after the loop's rows.

    TensorFlow may begin with a turn before it has ended the one before: each turn then gets as many
    places as it has, about where most of them are. If it goes back through turns side by side, a
    stretch ends where a turn comes again. It may do so first, as through a loss in each turn, and
    then go from turn to turn through most rows.
    """
    first = turns[at]
    numbers: list[int] = []
    for turn in islice(turns, at, None):
        if turn is None or first is None or turn.loop != first.loop:
            break
        numbers.append(turn.number)
    end = at + len(numbers)
    for cut in range(0, len(numbers) // 2 + 1, len(numbers) // _CUTS + 1):
        rest = numbers[cut:]
        own: dict[int, list[int]] = {}
        for place, number in enumerate(rest):
            own.setdefault(number, []).append(place)
        ordered = sorted(own, key=lambda number: own[number][len(own[number]) // 2])
        laid = [number for number in ordered for _ in own[number]]
        in_place = sum(number == there for number, there in zip(rest, laid, strict=True))
        if in_place >= _MOSTLY * len(rest):
            return [*_side_by_side(numbers[:cut], at), _stretch(laid, at + cut)], end
    return list(_side_by_side(numbers, at)), end


def _side_by_side(numbers: Sequence[int], at: int) -> Iterator[tuple[list[int], list[int], int]]:
    """The stretches of rows of these turns; each ends where a turn comes again."""
    begin, seen = 0, set[int]()
    for place, number in enumerate(numbers):
        if number in seen and number != numbers[place - 1]:
            yield _stretch(numbers[begin:place], at + begin)
            begin, seen = place, set()
        seen.add(number)
    if numbers:
        yield _stretch(numbers[begin:], at + begin)


def _stretch(numbers: Sequence[int], at: int) -> tuple[list[int], list[int], int]:
    """Where each number begins, from the place ``at`` on; these numbers; the place after them."""
    begins = [k for k, number in enumerate(numbers) if not k or number != numbers[k - 1]]
    return [at + k for k in begins], [numbers[k] for k in begins], at + len(numbers)


def _known_turns(steps: Sequence[WalkStep], rows: Sequence[int], at: int) -> tuple[list[int], int]:
    """The places in ``rows`` at which turns of a compiled loop begin, and the place after them."""
    starts: list[int] = []
    turn, after = -1, at
    while after < len(rows):
        turns = steps[rows[after]].turns
        if not turns or (starts and turns[0] > turn):
            break
        if turns[0] != turn:
            starts.append(after)
            turn = turns[0]
        after += 1
    return starts, after


def _first_turn(keys: Sequence[int], at: int, length: int, after: int) -> int:
    """The row after those of a turn that lacks less than half of the rows of the turn at ``at``;
    ``after`` if none follows there."""
    turn = set(keys[at : at + length])
    end = after
    while end < len(keys) and keys[end] in turn:
        end += 1
        if end - after > length:
            return after
    return end if 2 * (end - after) > length else after
