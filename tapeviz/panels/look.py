"""The fonts and colours of a theme that widgets paint with."""

from __future__ import annotations

from PySide6.QtGui import QColor, QFont
from PySide6.QtWidgets import QWidget

from ..scene.text import FACES, Font
from ..scene.theme import THEMES, Theme, contrast, mix

BODY = 13
SMALL = 12
CODE = 13

__all__ = [
    "BODY",
    "CODE",
    "SMALL",
    "THEMES",
    "Theme",
    "colour",
    "contrast",
    "font",
    "hand_down",
    "mix",
]


def hand_down(theme: Theme, window: QWidget) -> None:
    """Give a theme to all widgets of a window that have a ``set_theme``, inner ones first."""
    for widget in reversed(window.findChildren(QWidget)):
        set_theme = getattr(widget, "set_theme", None)
        if set_theme is not None:
            set_theme(theme)


def font(face: Font = "sans", size: float = BODY, is_bold: bool = False) -> QFont:
    """A font of the drawing's families, ``size`` px high."""
    made = QFont()
    made.setFamilies(list(FACES[face].families))
    made.setPixelSize(max(round(size), 1))
    if face == "mono":
        made.setStyleHint(QFont.StyleHint.Monospace)
    if is_bold:
        made.setWeight(QFont.Weight.DemiBold)
    return made


def colour(name: str, opacity: float = 1.0) -> QColor:
    made = QColor(name)
    made.setAlphaF(opacity)
    return made
