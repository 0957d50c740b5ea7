"""Draw the cells of a backward pass's table; a long text becomes short in a narrow column."""

from __future__ import annotations

from PySide6.QtCore import QModelIndex, QPersistentModelIndex
from PySide6.QtWidgets import QStyledItemDelegate, QStyleOptionViewItem

from ...scene.walk_words import SEPARATOR
from .walk_model import IN, NARROW_ROLE, OUT

BESIDE = 23
"""Px of a cell beside its text: the padding of the style, that of Qt, and a part of a px by which
the text may be wider than `QFontMetrics.horizontalAdvance` says."""


class WalkCells(QStyledItemDelegate):
    """Shows the text of ``NARROW_ROLE`` where the whole text is wider than its cell, and of several
    gradients as many as have room."""

    def initStyleOption(
        self, option: QStyleOptionViewItem, index: QModelIndex | QPersistentModelIndex
    ) -> None:
        super().initStyleOption(option, index)
        if self._has_room(option):
            return
        option.text = index.data(NARROW_ROLE)
        several = option.text.split(SEPARATOR) if index.column() in (IN, OUT) else []
        while len(several) > 1 and not self._has_room(option):
            several.pop()  # a number that is cut would be another number
            option.text = SEPARATOR.join((*several, "…"))

    def _has_room(self, option: QStyleOptionViewItem) -> bool:
        width = option.fontMetrics.horizontalAdvance(option.text) + BESIDE
        return bool(width <= option.rect.width())
