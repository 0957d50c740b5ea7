"""Draw the cells of a backward pass's table; a long text becomes a short one in a narrow column."""

from __future__ import annotations

from PySide6.QtCore import QModelIndex, QPersistentModelIndex
from PySide6.QtWidgets import QStyledItemDelegate, QStyleOptionViewItem

from .walk_model import NARROW_ROLE

BESIDE = 22
"""Px of a cell beside its text: the padding of the style, and that of Qt."""


class WalkCells(QStyledItemDelegate):
    """Shows the text of ``NARROW_ROLE`` where the whole text is wider than its cell."""

    def initStyleOption(
        self, option: QStyleOptionViewItem, index: QModelIndex | QPersistentModelIndex
    ) -> None:
        super().initStyleOption(option, index)
        if option.fontMetrics.horizontalAdvance(option.text) + BESIDE > option.rect.width():
            option.text = index.data(NARROW_ROLE)
