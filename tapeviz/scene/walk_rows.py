"""The rows of a backward pass's table; a turn of a loop is one row."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import accumulate

from ..analysis.backward.steps import TurnRows

SHOWN_TURNS = 3
"""Turns at the beginning that have a row each at first, as the last one and those that differ have;
the others are left out."""


@dataclass(frozen=True, slots=True)
class Row:
    """A row of the table. ``first`` to ``last``: the steps (from 0) that the row stands for.

    ``turns``: the stretch that it belongs to, ``turn`` (from 1) of it; 0: several turns, left out.
    """

    first: int
    last: int
    turns: TurnRows | None = None
    turn: int = 0
    is_open: bool = False

    @property
    def is_step(self) -> bool:
        return self.turns is None

    @property
    def places(self) -> range:
        """The turns that the row stands for, as places in the ``starts`` of their stretch."""
        starts = self.turns.starts if self.turns is not None else ()
        return range(bisect_left(starts, self.first), bisect_right(starts, self.last))

    def left_out(self) -> list[Row]:
        """A row for each turn, if this row stands for turns that were left out."""
        if self.turns is None or self.turn:
            return []
        return [_turn_row(self.turns, place) for place in self.places]


def _turn_row(stretch: TurnRows, place: int, is_open: bool = False) -> Row:
    steps = stretch.rows_at(place)
    return Row(steps[0], steps[-1], stretch, stretch.numbers[place], is_open)


class WalkRows:
    """The rows that there are for ``count`` steps, as turns are opened and closed.

    Rows of single steps are made when they are looked at: a backward pass may have 100,000.
    """

    def __init__(self, count: int, stretches: Sequence[TurnRows] = ()) -> None:
        self._count = count
        self._stretches = stretches
        self._open: set[tuple[int, int]] = set()
        self._listed: set[int] = set()
        self._lay_out()

    def __len__(self) -> int:
        return self._length

    def __getitem__(self, number: int) -> Row:
        """The row with a number from 0. Raises IndexError if there is none."""
        if not 0 <= number < self._length:
            raise IndexError(number)
        at = bisect_right(self._numbers, number) - 1
        run, beyond = self._runs[at], number - self._numbers[at]
        return run if isinstance(run, Row) else Row(run[beyond], run[beyond])

    def row_of(self, step: int) -> int:
        """The row (from 0) that a step (from 1) is in."""
        at = bisect_right(self._starts, step - 1) - 1
        if isinstance(self._runs[at], Row):
            return self._numbers[at]
        return self._numbers[at] + step - 1 - self._starts[at]

    def toggle(self, number: int) -> bool:
        """Open or close the turn in this row, or list the turns left out; returns False for a
        step."""
        row = self[number]
        if row.turns is None:
            return False
        if row.turn:
            self._open ^= {(row.turns.start, row.turn)}
        else:
            self._listed.add(row.turns.start)
        self._lay_out()
        return True

    def _lay_out(self) -> None:
        runs: list[Row | range] = []
        at = 0
        for stretch in self._stretches:
            runs.append(range(at, stretch.start))
            runs.extend(self._rows_of(stretch))
            at = stretch.end
        runs.append(range(at, self._count))
        self._runs = [run for run in runs if isinstance(run, Row) or run]
        """Rows, and ranges of steps that have a row each."""
        self._starts = [run.first if isinstance(run, Row) else run.start for run in self._runs]
        """The first step of each."""
        lengths = [1 if isinstance(run, Row) else len(run) for run in self._runs]
        *self._numbers, self._length = accumulate(lengths, initial=0)
        """The number of the first row of each, and of all rows."""

    def _rows_of(self, stretch: TurnRows) -> list[Row | range]:
        """The rows of a stretch of turns; the last turn comes first."""
        rows: list[Row | range] = []
        opened = {turn for start, turn in self._open if start == stretch.start}
        last = stretch.count - 1
        shown: Sequence[int] = range(stretch.count)
        if stretch.start not in self._listed and stretch.count > SHOWN_TURNS + 2:
            open_places = map(stretch.numbers.index, opened)
            shown = sorted({*range(SHOWN_TURNS), last, *stretch.differing, *open_places})
        before = -1
        for place in shown:
            if place == before + 2:
                rows.append(_turn_row(stretch, place - 1))
            elif place > before + 2:
                first, end = stretch.rows_at(before + 1), stretch.rows_at(place - 1)
                rows.append(Row(first[0], end[-1], stretch))
            before = place
            row = _turn_row(stretch, place, stretch.numbers[place] in opened)
            rows.append(row)
            if row.is_open:
                rows.append(range(row.first, row.last + 1))
        return rows
