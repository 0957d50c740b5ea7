"""The table model of a backward pass."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Sequence
from functools import lru_cache
from typing import Any

from PySide6.QtCore import QAbstractTableModel, QModelIndex, QPersistentModelIndex, Qt
from PySide6.QtGui import QFont

from ...analysis.backward.steps import BackwardPass, Parts, WalkStep
from ...canvas.tips import plain_tip
from ...document import Document
from ...scene.walk_rows import WalkRows
from ...scene.walk_words import STEP_WORDS, gradients_words, turn_words, upstream_words
from ..look import SMALL, Theme, colour, font

COLUMNS = ("", "op", "gradient in", "formula", "gradient out", "line")
NUMBER, OP, IN, FORMULA, OUT, LINE = range(6)
NARROW_ROLE = Qt.ItemDataRole.UserRole
"""The role of a shorter text for a cell in which the whole text has no room."""
_Index = QModelIndex | QPersistentModelIndex


class WalkModel(QAbstractTableModel):
    """Steps and folded turns of loops, see :class:`WalkRows`. Rows not walked yet are pale, a stop
    is red, sums are muted."""

    def __init__(self, document: Document, theme: Theme) -> None:
        super().__init__()
        self._document = document
        self._theme = theme
        self._steps: Sequence[WalkStep] = ()
        self._folded = WalkRows(0)
        self._cuts = range(0)
        self._parts: Parts | None = None
        self._selected: Sequence[int] = ()
        self._fonts = {
            "op": font("sans", 13, is_bold=True),
            "mono": font("mono", SMALL),
            "plain": font("sans", 13),
        }
        self._texts = lru_cache(maxsize=1024)(self._make_texts)

    def set_theme(self, theme: Theme) -> None:
        self._theme = theme
        self.layoutChanged.emit()

    def show_steps(self, steps: Sequence[WalkStep]) -> None:
        call = self._document.current_call
        self.beginResetModel()
        self._steps = steps
        first = bisect_left(steps, True, key=lambda step: step.kind == "stop")  # the last rows
        self._cuts = range(first + 1, len(steps) + 1)
        backward_pass = call.backward_pass() if call is not None else BackwardPass()
        self._folded, self._parts = WalkRows(len(steps), backward_pass.turns), backward_pass.parts
        self._texts.cache_clear()
        self.endResetModel()

    def row_of(self, step: int) -> int:
        """The row that a step (from 1) is in."""
        return self._folded.row_of(step)

    def cut_rows(self) -> range:
        """The rows in which the backward pass ends at a cut; one may stand for thousands."""
        if not self._cuts:
            return range(0)
        first, last = map(self._folded.row_of, (self._cuts[0], self._cuts[-1]))
        return range(first, last + 1)

    def step_of(self, row: int) -> int:
        """The last step (from 1) that a row stands for."""
        return self._folded[row].last + 1

    def toggle(self, row: int) -> bool:
        """Open or close a turn, or list turns that were left out; False: the row is a step."""
        if not 0 <= row < len(self._folded):
            return False
        self.beginResetModel()
        changed = self._folded.toggle(row)
        self._texts.cache_clear()
        self.endResetModel()
        return changed

    def mark(self, numbers: Sequence[int]) -> None:
        """Steps (from 1, in order) at the selection."""
        if numbers != self._selected:
            self._selected = numbers
            self.repaint()

    def show_entrances(self) -> None:
        """Write the rows anew: other steps can be entered now."""
        self._texts.cache_clear()
        self.repaint()

    def repaint(self) -> None:
        if self._steps:
            last = self.index(len(self._folded) - 1, len(COLUMNS) - 1)
            self.dataChanged.emit(self.index(0, 0), last)

    def rowCount(self, parent: _Index = QModelIndex()) -> int:  # noqa: B008
        return 0 if parent.isValid() else len(self._folded)

    def columnCount(self, parent: _Index = QModelIndex()) -> int:  # noqa: B008
        return len(COLUMNS)

    def headerData(
        self, section: int, orientation: Qt.Orientation, role: int = Qt.ItemDataRole.DisplayRole
    ) -> Any:
        if orientation != Qt.Orientation.Horizontal:
            return None
        if role == Qt.ItemDataRole.DisplayRole:
            return COLUMNS[section]
        if role == Qt.ItemDataRole.TextAlignmentRole:
            return Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignVCenter
        return None

    def data(self, index: _Index, role: int = Qt.ItemDataRole.DisplayRole) -> Any:
        row, column = index.row(), index.column()
        if role == Qt.ItemDataRole.DisplayRole:
            return self._texts(row)[column]
        if role == NARROW_ROLE:
            return self._narrow_text(row, column)
        if role == Qt.ItemDataRole.ForegroundRole:
            return colour(self._theme.accent) if self.is_entrance(index) else self._tone(row)
        if role == Qt.ItemDataRole.FontRole:
            return self.font_of(column)
        if role == Qt.ItemDataRole.BackgroundRole and self._is_selected(row):
            return colour(self._theme.grid)
        if role == Qt.ItemDataRole.ToolTipRole:
            return plain_tip(self._tip(row))
        return None

    def font_of(self, column: int) -> QFont:
        kind = "op" if column == OP else "mono" if column in (IN, FORMULA, OUT) else "plain"
        return self._fonts[kind]

    def _is_selected(self, row: int) -> bool:
        known = self._folded[row]
        place = bisect_right(self._selected, known.first)
        return place < len(self._selected) and self._selected[place] <= known.last + 1

    def _tone(self, row: int) -> Any:
        known = self._folded[row]
        theme, step = self._theme, self._steps[known.first]
        if step.kind == "stop":
            return colour(theme.trouble_text)
        walked = self._document.step
        if walked is not None and known.first >= walked:
            return colour(theme.text_faint)
        if not known.is_step:
            return colour(theme.text)
        return colour(theme.text_muted if step.kind in ("sum", "replayed", "inner") else theme.text)

    def _make_texts(self, row: int) -> tuple[str, ...]:
        """The texts of a row, by columns."""
        known, value_of = self._folded[row], self._document.values.value_of
        trace, number = self._document.trace, str(known.first + 1)
        if known.turns is not None:
            words = turn_words(trace, known, self._steps, self._parts, value_of)
            formula = f"{words.steps} {'⌄' if known.is_open else '›'}"
            return (number, words.op, words.upstream, formula, words.given, words.line)
        step = self._steps[known.first]
        upstream = upstream_words(trace, step, value_of)
        downstream = gradients_words(trace, step.downstream, value_of)
        line = str(step.line) if step.line else ""
        formula = self._formula(known.first, step)
        return (number, step.title, upstream, formula, downstream, line)

    def _narrow_text(self, row: int, column: int) -> str:
        """The text of a cell in few characters; only gradients have such a text of their own."""
        known = self._folded[row]
        step, value_of = self._steps[known.first], self._document.values.value_of
        if column == IN and (known.is_step or known.turn):
            return upstream_words(self._document.trace, step, value_of, is_narrow=True)
        if column == OUT and known.is_step:
            trace = self._document.trace
            return gradients_words(trace, step.downstream, value_of, is_narrow=True)
        return self._texts(row)[column]

    def _formula(self, place: int, step: WalkStep) -> str:
        insides = self._document.insides
        if insides.entering == place + 1:
            return "inside …"
        return "inside ›" if insides.can_enter(step) else step.formula

    def is_entrance(self, index: _Index) -> bool:
        """Whether a click there asks for the steps inside of a step."""
        row = self._folded[index.row()]
        return (
            index.column() == FORMULA
            and row.is_step
            and self._document.insides.can_enter(self._steps[row.first])
        )

    def enter(self, number: int) -> bool:
        """Ask for the steps inside of a row; False: it has none."""
        row = self._folded[number] if 0 <= number < len(self._folded) else None
        return (
            row is not None and row.is_step and self._document.insides.enter(self._steps[row.first])
        )

    def _tip(self, row: int) -> str:
        known = self._folded[row]
        if not known.is_step:
            return (
                "A turn of a loop, the last one first. A click opens it; its part of a gradient is "
                "that of its norm in the norms of all turns"
            )
        step = self._steps[known.first]
        words = STEP_WORDS[step.kind]
        if self._document.insides.can_enter(step):
            words += ", as a whole.\nA click on “inside”, or Enter, computes the steps inside of it"
        return f"{step.title} · line {step.line}\n{words}\n{step.formula}".strip()
