"""Draw the sign for the doubt about a box's value."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from types import MappingProxyType

from ...layout.model import Point
from ..model import Box
from ..primitives import Path, Primitive, Style
from ..theme import Theme
from .geometry import circle, line

DOUBT_RADIUS = 6.5
LEGEND_WORDS: Mapping[str, str] = MappingProxyType(
    {
        "beside": "value computed separately",
        "unknown": "value not known",
        "differs": "second run differs",
    }
)
"""The words for each doubt, in the order of the legend."""
_WAVE = ((-3.6, 0.7), (-2.4, -0.7), (-1.2, -0.7), (1.2, 0.7), (2.4, 0.7), (3.6, -0.7))
_HOOK = ((-1.9, -2.2), (-1.3, -3.3), (0.0, -3.8), (1.4, -3.3), (1.9, -2.1), (1.2, -0.9), (0.0, 0.2))


def doubt_at(box: Box) -> Point:
    """The middle of the sign: the lower left corner, which plates and the plus leave free."""
    return box.rect.left + 1.0, box.rect.bottom - 3.0


def doubt_sign(doubt: str, x: float, y: float, theme: Theme) -> Iterator[Primitive]:
    """A disc with two waves (computed separately), a question mark, or an unequal sign."""
    is_trouble = doubt == "differs"
    colour = theme.trouble if is_trouble else theme.text_muted
    ground = Style(theme.trouble_fill if is_trouble else theme.panel, colour, 1.1)
    yield Path(f"doubt-{doubt}", circle(x, y, DOUBT_RADIUS), ground)
    pen = Style(None, colour, 1.3)
    if doubt == "unknown":
        yield Path("doubt-stroke", line(*((x + a, y + b) for a, b in (*_HOOK, (0.0, 1.4)))), pen)
        yield Path("doubt-dot", circle(x, y + 3.4, 0.9), Style(colour))
        return
    if doubt == "beside":
        for shift in (-1.6, 1.6):
            wave = line(*((x + a, y + b + shift) for a, b in _WAVE))
            yield Path("doubt-stroke", wave, pen)
        return
    unequal = line((x - 1.8, y + 3.8), (x + 1.8, y - 3.8))
    for shift in (-1.4, 1.4):
        unequal += line((x - 3.2, y + shift), (x + 3.2, y + shift))
    yield Path("doubt-stroke", unequal, pen)
