"""A table with the share that each target has in each gradient, and the sums."""

from __future__ import annotations

from typing import Any

import numpy as np
from PySide6.QtCore import QAbstractTableModel, QModelIndex, QPersistentModelIndex, Qt
from PySide6.QtWidgets import QAbstractItemView, QHeaderView, QTableView

from ...canvas.tips import plain_tip
from ...graph.words import shape_words
from ...recording.shares import ShareRow, ShareTable
from ...scene.parts.numbers import array_text
from ..look import SMALL, Theme, colour, font

LONGEST = 30
_Index = QModelIndex | QPersistentModelIndex


class SharesModel(QAbstractTableModel):
    """A row for each target, or for each element of a single target, and a last one for the
    sums."""

    def __init__(self, theme: Theme) -> None:
        super().__init__()
        self._theme = theme
        self._table: ShareTable | None = None
        self._rows: tuple[ShareRow, ...] = ()

    def set_theme(self, theme: Theme) -> None:
        self._theme = theme
        self.layoutChanged.emit()

    def show_table(self, table: ShareTable | None) -> None:
        if table is self._table:
            return
        self.beginResetModel()
        self._table = table
        self._rows = table.lines if table is not None else ()
        self.endResetModel()

    def rowCount(self, parent: _Index = QModelIndex()) -> int:  # noqa: B008
        return 0 if parent.isValid() or self._table is None else len(self._rows) + 1

    def columnCount(self, parent: _Index = QModelIndex()) -> int:  # noqa: B008
        return 0 if self._table is None else len(self._table.columns) + 1

    def headerData(
        self, section: int, orientation: Qt.Orientation, role: int = Qt.ItemDataRole.DisplayRole
    ) -> Any:
        if self._table is None or orientation != Qt.Orientation.Horizontal:
            return None
        if role == Qt.ItemDataRole.DisplayRole:
            return f"∂ / ∂{self._table.columns[section - 1]}" if section else "share of"
        if role == Qt.ItemDataRole.TextAlignmentRole:
            return Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignVCenter
        return None

    def data(self, index: _Index, role: int = Qt.ItemDataRole.DisplayRole) -> Any:
        if self._table is None:
            return None
        row, column = index.row(), index.column()
        is_sum = row == len(self._rows)
        if role == Qt.ItemDataRole.DisplayRole:
            if column == 0:
                return "Σ, as TensorFlow returned it" if is_sum else self._rows[row].label
            return cell_text(self._cell(row, column))
        if role == Qt.ItemDataRole.FontRole:
            return font("mono" if column else "sans", SMALL if column else 13, is_bold=is_sum)
        if role == Qt.ItemDataRole.ForegroundRole:
            is_none = column > 0 and self._cell(row, column) is None
            return colour(self._theme.trouble_text if is_none else self._theme.text)
        if role == Qt.ItemDataRole.ToolTipRole and column:
            return plain_tip(str(self._cell(row, column)))
        return None

    def _cell(self, row: int, column: int) -> Any:
        assert self._table is not None
        cells = self._table.sums if row == len(self._rows) else self._rows[row].cells
        return cells[column - 1]


def cell_text(cell: Any) -> str:
    """The elements of a cell if they are few, else its shape and norm; ``None`` for a missing
    one."""
    if cell is None:
        return "None"
    text = array_text(cell, LONGEST)
    return text or f"{shape_words(cell.shape)} · norm {np.linalg.norm(cell):.4g}"


class SharesView(QTableView):
    def __init__(self, model: SharesModel) -> None:
        super().__init__()
        self.setModel(model)
        self.setAccessibleName("What each target gives to each source")
        self.setShowGrid(False)
        self.setTabKeyNavigation(False)
        self.setEditTriggers(QAbstractItemView.EditTrigger.NoEditTriggers)
        self.setSelectionBehavior(QAbstractItemView.SelectionBehavior.SelectRows)
        self.verticalHeader().hide()
        self.verticalHeader().setDefaultSectionSize(28)
        self.horizontalHeader().setHighlightSections(False)
        self.horizontalHeader().setSectionResizeMode(QHeaderView.ResizeMode.ResizeToContents)
        self.horizontalHeader().setMaximumSectionSize(420)
