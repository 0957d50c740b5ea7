"""A small table below that of the steps, with its cuts that are out of sight."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import islice
from typing import Any

from PySide6.QtCore import (
    QAbstractTableModel,
    QEvent,
    QModelIndex,
    QObject,
    QPersistentModelIndex,
    QRect,
    Qt,
    QTimer,
    Signal,
)
from PySide6.QtWidgets import QAbstractItemView, QHeaderView, QTableView

from .cells import WalkCells
from .walk_model import WalkModel

MOST = 2
_Index = QModelIndex | QPersistentModelIndex


class CutRowsModel(QAbstractTableModel):
    """A few rows of another model."""

    def __init__(self, model: WalkModel) -> None:
        super().__init__()
        self._model = model
        self.rows: list[int] = []

    def show_rows(self, rows: list[int]) -> None:
        self.beginResetModel()
        self.rows = rows
        self.endResetModel()

    def rowCount(self, parent: _Index = QModelIndex()) -> int:  # noqa: B008
        return 0 if parent.isValid() else len(self.rows)

    def columnCount(self, parent: _Index = QModelIndex()) -> int:  # noqa: B008
        return self._model.columnCount()

    def data(self, index: _Index, role: int = Qt.ItemDataRole.DisplayRole) -> Any:
        return self._model.data(self._model.index(self.rows[index.row()], index.column()), role)


class CutRows(QTableView):
    """A table that is hidden while every cut is in sight. ``row_picked``: a row of the table
    above."""

    row_picked = Signal(int)

    def __init__(self, table: QTableView, model: WalkModel) -> None:
        super().__init__()
        self._table, self._walk = table, model
        self._cuts = CutRowsModel(model)
        self.setModel(self._cuts)
        self.setItemDelegate(WalkCells(self))
        self.setObjectName("cutRows")
        self.setAccessibleName("Where the backward pass is cut")
        self.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        self.setShowGrid(False)
        self.setWordWrap(False)
        self.setSelectionMode(QAbstractItemView.SelectionMode.NoSelection)
        for side in ("Horizontal", "Vertical"):
            getattr(self, f"set{side}ScrollBarPolicy")(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        for header in (self.horizontalHeader(), self.verticalHeader()):
            header.hide()
        self.horizontalHeader().setSectionResizeMode(QHeaderView.ResizeMode.Fixed)
        self.verticalHeader().setDefaultSectionSize(table.verticalHeader().defaultSectionSize())
        self.clicked.connect(lambda index: self.row_picked.emit(self._cuts.rows[index.row()]))
        table.horizontalHeader().sectionResized.connect(
            lambda column, _, width: self.setColumnWidth(column, width)
        )
        self._settle = QTimer(self, singleShot=True)
        self._settle.timeout.connect(self.refresh)
        bar = table.verticalScrollBar()
        for signal in (bar.valueChanged, bar.rangeChanged, model.modelReset):
            signal.connect(self._refresh_later)
        table.viewport().installEventFilter(self)
        self.hide()

    def _refresh_later(self) -> None:
        """Refresh after the table has its new size."""
        self._settle.start(0)

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        if event.type() == QEvent.Type.Resize:
            self._refresh_later()
        return super().eventFilter(watched, event)

    def refresh(self) -> None:
        """Show the first cuts that are not wholly in sight; none if without this table all were."""
        room = self._table.viewport().rect()
        whole = room.adjusted(0, 0, 0, 0 if self.isHidden() else self.height())
        cuts = self._walk.cut_rows()
        is_lacking = next(self._are_outside(whole, cuts), None) is not None
        rows = list(islice(self._are_outside(room, cuts), MOST)) if is_lacking else []
        if rows != self._cuts.rows:
            self._cuts.show_rows(rows)
            for column in range(self._cuts.columnCount()):
                self.setColumnWidth(column, self._table.columnWidth(column))
            self.setFixedHeight(len(rows) * self.verticalHeader().defaultSectionSize() + 1)
        self.setVisible(bool(rows) and not self._table.isHidden())

    def _are_outside(self, room: QRect, rows: Iterable[int]) -> Iterator[int]:
        """The rows of the table above that are not wholly in a rectangle of its viewport."""
        for row in rows:
            if not room.contains(self._table.visualRect(self._walk.index(row, 0))):
                yield row
