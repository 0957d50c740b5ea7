"""Stand widgets in a row or a column."""

from __future__ import annotations

from types import EllipsisType
from typing import TypeAlias

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QBoxLayout, QHBoxLayout, QLayout, QVBoxLayout, QWidget

_Inner: TypeAlias = QWidget | QLayout
Part: TypeAlias = _Inner | tuple[_Inner, int | Qt.AlignmentFlag] | int | EllipsisType
"""A widget or layout, alone or with its stretch or its alignment; px of room; ``...``: the room
that is left."""
Margins: TypeAlias = tuple[int, int, int, int]


def in_row(
    on: QWidget | None, *parts: Part, margins: Margins = (0, 0, 0, 0), spacing: int = -1
) -> QHBoxLayout:
    """The parts from left to right, on a widget or (None) in a layout for another one. ``margins``:
    left, top, right and bottom, px; ``spacing``: px, -1 as the style has it."""
    row = QHBoxLayout(on) if on is not None else QHBoxLayout()
    row.setContentsMargins(*margins)
    row.setSpacing(spacing)
    fill(row, *parts)
    return row


def in_column(
    on: QWidget | None, *parts: Part, margins: Margins = (0, 0, 0, 0), spacing: int = -1
) -> QVBoxLayout:
    """As :func:`in_row`, from top to bottom."""
    column = QVBoxLayout(on) if on is not None else QVBoxLayout()
    column.setContentsMargins(*margins)
    column.setSpacing(spacing)
    fill(column, *parts)
    return column


def fill(box: QBoxLayout, *parts: Part) -> None:
    """Add the parts behind those that a row or column has."""
    for part in parts:
        if isinstance(part, EllipsisType):
            box.addStretch(1)
        elif isinstance(part, int):
            box.addSpacing(part)
        else:
            inner, how = part if isinstance(part, tuple) else (part, 0)
            alignment = how if isinstance(how, Qt.AlignmentFlag) else Qt.AlignmentFlag(0)
            stretch = 0 if isinstance(how, Qt.AlignmentFlag) else how
            if isinstance(inner, QLayout):
                box.addLayout(inner, stretch)
            else:
                box.addWidget(inner, stretch, alignment)
