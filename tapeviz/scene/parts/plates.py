"""Draw the small plate that shows a gradient's value."""

from __future__ import annotations

from collections.abc import Iterator

from ...layout.model import Rect
from ..primitives import Path, Primitive, Style, TextRun
from ..text import cap_height, text_width
from ..theme import Theme
from .geometry import rounded

LABEL_SIZE = 14.0
PLATE_HEIGHT = 18.0


def plate_width(text: str) -> float:
    return text_width(text, "sans", LABEL_SIZE) + 9


def plate(x: float, y: float, text: str, theme: Theme) -> Iterator[Primitive]:
    """A gradient's text on a pill, centred at ``x, y``."""
    outline = rounded(Rect(x, y, plate_width(text), PLATE_HEIGHT), PLATE_HEIGHT / 2)
    yield Path("plate", outline, Style(theme.gradient_fill, theme.gradient, 1.0))
    baseline = y + cap_height("sans", LABEL_SIZE) / 2
    colour = theme.gradient_text
    yield TextRun("gradient-value", x, baseline, text, "sans", LABEL_SIZE, colour, anchor="middle")
