"""The rows of a backward pass's table; a turn of a loop is one row."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass

from ...analysis.backward.steps import TurnRows

SHOWN_TURNS = 3
"""Jobs at the beginning that have a row each at first, like the last one; others are left out."""


@dataclass(frozen=True, slots=True)
class Row:
    """``first`` to ``last``: the steps (from 0) that the row stands for.

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


class WalkRows:
    """The rows that there are for ``count`` steps, as turns are opened and closed."""

    def __init__(self, count: int, stretches: Sequence[TurnRows] = ()) -> None:
        self._count = count
        self._stretches = stretches
        self._open: set[tuple[int, int]] = set()
        self._listed: set[int] = set()
        self.rows: list[Row] = []
        self._starts: list[int] = []
        self._lay_out()

    def row_of(self, step: int) -> int:
        """The row (from 0) that a step (from 1) is in."""
        return bisect_right(self._starts, step - 1) - 1

    def toggle(self, number: int) -> bool:
        """Open or close the turn in this row, or list the turns left out; returns False for a
        step."""
        row = self.rows[number]
        if row.turns is None:
            return False
        if row.turn:
            self._open ^= {(row.turns.start, row.turn)}
        else:
            self._listed.add(row.turns.start)
        self._lay_out()
        return True

    def _lay_out(self) -> None:
        rows: list[Row] = []
        at = 0
        for stretch in self._stretches:
            rows.extend(Row(step, step) for step in range(at, stretch.start))
            rows.extend(self._rows_of(stretch))
            at = stretch.end
        rows.extend(Row(step, step) for step in range(at, self._count))
        self.rows = rows
        self._starts = [row.first for row in rows]

    def _rows_of(self, stretch: TurnRows) -> list[Row]:
        """The rows of a stretch of turns; the last turn comes first."""
        rows: list[Row] = []
        places = range(stretch.count)
        opened = {turn for start, turn in self._open if start == stretch.start}
        lists_all = stretch.start in self._listed or stretch.count <= SHOWN_TURNS + 2
        skipped: list[int] = []
        for place in places:
            turn = stretch.numbers[place]
            is_shown = lists_all or place < SHOWN_TURNS or place == places[-1] or turn in opened
            if not is_shown:
                skipped.append(place)
                continue
            if skipped:
                first, last = stretch.rows_at(skipped[0]), stretch.rows_at(skipped[-1])
                rows.append(Row(first[0], last[-1], stretch))
                skipped = []
            steps, is_open = stretch.rows_at(place), turn in opened
            rows.append(Row(steps[0], steps[-1], stretch, turn, is_open))
            if is_open:
                rows.extend(Row(step, step) for step in steps)
        return rows
