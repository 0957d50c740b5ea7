"""Find the stretches of a backward pass that go back through a loop turn by turn.

Backwards the last turn comes first: the rows of one turn repeat those of the turn before.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from ...trace.model import Array, TensorId, Trace
from ...trace.values import norm_of

if TYPE_CHECKING:
    from ..model import WalkStep

LEAST_TURNS = 4
LONGEST_TURN = 1_000
_TRIED = 6
"""Distances to the same row further on that are tried as the length of a turn."""


@dataclass(frozen=True, slots=True)
class TurnRows:
    """The rows (0-based) that go back through a loop: those of each turn begin at one of
    ``starts``, the last turn of the loop first; they end before row ``end``. ``before``: turns of
    the loop before these, to which no gradient went."""

    starts: tuple[int, ...]
    end: int
    line: int
    before: int = 0

    @property
    def start(self) -> int:
        return self.starts[0]

    @property
    def count(self) -> int:
        return len(self.starts)

    def rows_of(self, turn: int) -> range:
        """The rows of a turn, numbered from 1 in the order in which the loop ran."""
        place = self.count - turn
        end = self.starts[place + 1] if turn > 1 else self.end
        return range(self.starts[place], end)


@dataclass(frozen=True, slots=True, eq=False)
class Parts:
    """Parts of gradients that rows of the Backprop panel give, three arrays of one length: row
    ``rows[i]`` (0-based, ascending) gives ``part[i]`` (0 to 1, of the norms of all that is given)
    of the gradient of the source ``names[place[i]]``."""

    names: Sequence[str]
    rows: Array
    place: Array
    part: Array

    def of(self, rows: range) -> list[tuple[str, float]]:
        """The sources to whose gradients these rows give, and the parts of these."""
        first, after = np.searchsorted(self.rows, (rows.start, rows.stop))
        places = self.place[first:after]
        given = np.bincount(places, self.part[first:after])
        return [(self.names[place], float(given[place])) for place in np.unique(places)]


def find_turns(steps: Sequence[WalkStep]) -> tuple[TurnRows, ...]:
    """Stretches in which the same rows come again at least four times in a row.

    The loop's first turn, which ends a stretch, may lack rows: what it begins with is often a
    constant, to which no gradient goes. A sum stands where its last share was given, and is no part
    of what comes again. Each row is tried a few times, and each try ends where the repetition does:
    linear in the rows as long as turns are short beside the pass. Of a compiled loop the turn of
    each row is known, and two of them are enough.
    """
    rows = [row for row, step in enumerate(steps) if step.kind != "sum"]
    numbers: dict[tuple[str, str, int], int] = {}
    keys = [
        numbers.setdefault((step.kind, step.title, step.line), len(numbers))
        for step in map(steps.__getitem__, rows)
    ]
    onward = _next_same(keys)
    found: list[TurnRows] = []
    at = looked = 0
    while at < len(keys):
        starts: tuple[int, ...] = ()
        if at >= looked:  # in a single long turn each row would look to its end
            starts, looked = _known_turns(steps, rows, at)
        if len(starts) > 1:
            after = looked
            first, end = starts[0], rows[after] if after < len(rows) else len(steps)
            before = steps[starts[-1]].turns[0]
            found.append(TurnRows(starts, end, steps[first].line, before))
            at = after
            continue
        length, count = _longest(keys, onward, at)
        after = at + length * count
        if count >= LEAST_TURNS and length * count > LEAST_TURNS:
            starts = tuple(rows[turn] for turn in range(at, after, length))
            first = _first_turn(keys, at, length, after)
            if first > after:
                starts, after = (*starts, rows[after]), first
            end = rows[after] if after < len(rows) else len(steps)
            found.append(TurnRows(starts, end, steps[rows[at]].line))
            at = after
        else:
            at += 1
    return tuple(found)


def parts_of_sources(
    trace: Trace, sources: Mapping[TensorId, str], steps: Sequence[WalkStep]
) -> Parts:
    """Find what each of the ``steps`` gives to gradients that are sums. ``sources``: names of
    sources, by the gradient that came back for them."""
    known: dict[TensorId, tuple[int, float]] = {}
    names: list[str] = []
    for step in steps:
        total = step.downstream[0] if step.kind == "sum" and step.downstream else None
        if total is None or total not in sources:
            continue
        norms = {
            share: norm_of(trace, share) or 0.0 for share in step.upstream if share is not None
        }
        whole = sum(norms.values())
        if whole and math.isfinite(whole):
            known.update((share, (len(names), norm / whole)) for share, norm in norms.items())
            names.append(sources[total])
    given = [
        (row, *known[share])
        for row, step in enumerate(steps if known else ())
        for share in (step.downstream if step.op is not None else ())
        if share in known
    ]
    rows, at, parts = zip(*given, strict=True) if given else ((), (), ())
    return Parts(names, np.array(rows, int), np.array(at, int), np.array(parts, float))


def _known_turns(
    steps: Sequence[WalkStep], rows: Sequence[int], at: int
) -> tuple[tuple[int, ...], int]:
    """The rows with which turns of a compiled loop begin, and the place in ``rows`` after them."""
    starts: list[int] = []
    turn, after = -1, at
    while after < len(rows):
        turns = steps[rows[after]].turns
        if not turns or (starts and turns[0] > turn):
            break
        if turns[0] != turn:
            starts.append(rows[after])
            turn = turns[0]
        after += 1
    return tuple(starts), after


def _next_same(keys: Sequence[int]) -> list[int]:
    """The next row like each row; past the end if there is none."""
    onward = [len(keys)] * len(keys)
    last: dict[int, int] = {}
    for row in range(len(keys) - 1, -1, -1):
        onward[row] = last.get(keys[row], len(keys))
        last[keys[row]] = row
    return onward


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


def _longest(keys: Sequence[int], onward: Sequence[int], row: int) -> tuple[int, int]:
    """Length and number of the turns from here on that cover most; the shortest among equals."""
    best, covered = (0, 0), 0
    other = onward[row]
    for _ in range(_TRIED):
        length = other - row
        if other >= len(keys) or length > LONGEST_TURN:
            break
        end = row
        while end + length < len(keys) and keys[end] == keys[end + length]:
            end += 1
        count = (end - row) // length + 1
        if count >= LEAST_TURNS and count * length > covered * 1.02:
            best, covered = (length, count), count * length
        other = onward[other]
    return best
