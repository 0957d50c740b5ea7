"""The steps of a backward pass in, the rows of a table out; no item for each cell."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from typing import Any

from PySide6.QtCore import QAbstractTableModel, QModelIndex, QPersistentModelIndex, Qt

from ..analysis.model import WalkStep
from ..canvas.tips import plain_tip
from ..document import Document
from ..scene.numbers import gradient_text, scalar_text, shape_text
from ..trace.model import TensorId
from .look import SMALL, Theme, colour, font

COLUMNS = ("", "op", "gradient in", "formula", "gradient out", "line")
NUMBER, OP, IN, FORMULA, OUT, LINE = range(6)
_Index = QModelIndex | QPersistentModelIndex
LONGEST = 26
SHORT = 10
"""Characters of a gradient that stands alone, and of one among several."""


class WalkModel(QAbstractTableModel):
    """Row ``n`` is step ``n + 1``. Rows not walked yet are pale, a stop is red, sums are muted."""

    def __init__(self, document: Document, theme: Theme) -> None:
        super().__init__()
        self._document = document
        self._theme = theme
        self._steps: Sequence[WalkStep] = ()
        self._selected: frozenset[int] = frozenset()
        self._fonts = {
            "op": font("sans", 13, is_bold=True),
            "mono": font("mono", SMALL),
            "plain": font("sans", 13),
        }
        self._text = lru_cache(maxsize=4096)(self._make_text)

    def set_theme(self, theme: Theme) -> None:
        self._theme = theme
        self.layoutChanged.emit()

    def show_steps(self, steps: Sequence[WalkStep]) -> None:
        self.beginResetModel()
        self._steps = steps
        self._text.cache_clear()
        self.endResetModel()

    def mark(self, numbers: Sequence[int]) -> None:
        """Steps (from 1) at the selection."""
        if frozenset(numbers) != self._selected:
            self._selected = frozenset(numbers)
            self.repaint()

    def repaint(self) -> None:
        if self._steps:
            last = self.index(len(self._steps) - 1, len(COLUMNS) - 1)
            self.dataChanged.emit(self.index(0, 0), last)

    def rowCount(self, parent: _Index = QModelIndex()) -> int:  # noqa: B008
        return 0 if parent.isValid() else len(self._steps)

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
            return self._text(row, column)
        if role == Qt.ItemDataRole.ForegroundRole:
            return self._tone(row)
        if role == Qt.ItemDataRole.FontRole:
            return self._fonts[
                "op" if column == OP else "mono" if column in (IN, FORMULA, OUT) else "plain"
            ]
        if role == Qt.ItemDataRole.BackgroundRole and row + 1 in self._selected:
            return colour(self._theme.grid)
        if role == Qt.ItemDataRole.ToolTipRole:
            return plain_tip(self._tip(row))
        return None

    def _tone(self, row: int) -> Any:
        theme, step = self._theme, self._steps[row]
        if step.kind == "stop":
            return colour(theme.trouble_text)
        walked = self._document.step
        if walked is not None and row >= walked:
            return colour(theme.text_faint)
        return colour(theme.text_muted if step.kind in ("sum", "replayed") else theme.text)

    def _make_text(self, row: int, column: int) -> str:
        step = self._steps[row]
        if column == NUMBER:
            return str(row + 1)
        if column == OP:
            return step.title
        if column == IN:
            if step.kind == "sum":
                return f"{len(step.upstream)} shares"
            return self._gradients(step.upstream)
        if column == FORMULA:
            return step.formula
        if column == OUT:
            return self._gradients(step.downstream)
        return str(step.line) if step.line else ""

    def _gradients(self, tensors: Sequence[TensorId | None]) -> str:
        there = [tensor for tensor in tensors if tensor is not None]
        if not there:
            return "–"
        if len(there) == 1:
            return self._gradient(there[0])
        texts = [self._gradient(tensor, SHORT) for tensor in there[:4]]
        return " , ".join(texts) + (" …" if len(there) > 4 else "")

    def _gradient(self, tensor: TensorId, longest: int = LONGEST) -> str:
        """Its elements if they are few, else what they all are, else its shape and norm."""
        trace = self._document.trace
        known = trace.tensors.get(tensor)
        value = self._document.value_of(tensor)
        shape = shape_text(known.shape) if known else ""
        if value is not None and value.size > 1 and bool((value == value.flat[0]).all()):
            only = scalar_text(value.flat[0], 8)
            return f"zeros {shape}" if not value.flat[0] else f"{only} · ones {shape}"
        text = gradient_text(value, trace.stats(tensor), longest)
        if text.startswith("[") or not shape:
            return text or "scalar"
        return f"{shape} · {text}" if text and longest > SHORT else shape

    def _tip(self, row: int) -> str:
        step = self._steps[row]
        words = {
            "op": "TensorFlow ran the gradient function of this op",
            "sum": "Several ops used this value: their shares are added",
            "stop": "The backward pass ends here",
            "replayed": "Computed by TensorFlow from the recording, after the run",
        }[step.kind]
        return f"{step.title} · line {step.line}\n{words}\n{step.formula}".strip()
