"""Outline a pair of open scissors by its centre and size."""

from __future__ import annotations

import math

from ...layout.model import Point
from ..primitives import Outline
from .geometry import circle

_OPEN = math.radians(21)
"""Half of the angle between the blades."""


def scissors(x: float, y: float, size: float) -> tuple[Outline, Outline]:
    """(stroked outline, filled outline): finger rings and shanks; blades, which point to the right.

    ``size``: the whole length in px.
    """
    rings, shanks, blades = Outline("", ()), Outline("", ()), Outline("", ())
    for side in (1.0, -1.0):
        ring = _place(x, y, size, -0.30, side * 0.215)
        rings += circle(*ring, size * 0.135)
        shanks += Outline(
            "ML", (_place(x, y, size, -0.19, side * 0.135), _place(x, y, size, 0.03, 0.0))
        )
        blades += _blade(x, y, size, -side)
    return rings + shanks, blades


def _blade(x: float, y: float, size: float, side: float) -> Outline:
    """A slim triangle from the pivot outwards, its cutting edge straight."""
    cosine, sine = math.cos(_OPEN), math.sin(_OPEN) * side

    def at(along: float, across: float) -> Point:
        return _place(
            x, y, size, 0.03 + along * cosine - across * sine, along * sine + across * cosine
        )

    return Outline(
        "MLCZ",
        (
            at(-0.06, 0.0),
            at(0.50, 0.0),
            at(0.42, side * 0.10),
            at(0.15, side * 0.10),
            at(-0.06, side * 0.05),
        ),
    )


def _place(x: float, y: float, size: float, dx: float, dy: float) -> Point:
    return x + size * dx, y + size * dy
