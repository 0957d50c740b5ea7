"""Draw the cells of a backward pass's table; a long text becomes short in a narrow column."""

from __future__ import annotations

from typing import cast

from PySide6.QtCore import QModelIndex, QPersistentModelIndex, Qt
from PySide6.QtGui import QBrush, QFontMetrics, QPalette
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
        # Qt's own asks the model seven times by itself, and each question waits for the interpreter
        # lock while another thread computes.
        model, role = index.model(), Qt.ItemDataRole
        option.index = cast(QModelIndex, index)
        option.font = model.data(index, role.FontRole)
        option.fontMetrics = QFontMetrics(option.font)
        option.palette.setColor(QPalette.ColorRole.Text, model.data(index, role.ForegroundRole))
        option.backgroundBrush = QBrush(
            model.data(index, role.BackgroundRole) or Qt.BrushStyle.NoBrush
        )
        option.features |= QStyleOptionViewItem.ViewItemFeature.HasDisplay
        option.text = model.data(index, role.DisplayRole)
        if self._has_room(option):
            return
        option.text = model.data(index, NARROW_ROLE)
        several = option.text.split(SEPARATOR) if index.column() in (IN, OUT) else []
        while len(several) > 1 and not self._has_room(option):
            several.pop()  # a number that is cut would be another number
            option.text = SEPARATOR.join((*several, "…"))

    def _has_room(self, option: QStyleOptionViewItem) -> bool:
        width = option.fontMetrics.horizontalAdvance(option.text) + BESIDE
        return bool(width <= option.rect.width())
