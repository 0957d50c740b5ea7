"""The primitives that every painter draws: outlines of lines and cubic curves, runs of text."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from ..layout.model import Point
from .text import Font

Anchor = Literal["start", "middle", "end"]


@dataclass(frozen=True, slots=True)
class Outline:
    """A path: ``verbs`` of M (move), L (line), C (cubic), Z (close) take 1, 1, 3, 0 ``points``."""

    verbs: str
    points: tuple[Point, ...]

    def __add__(self, other: Outline) -> Outline:
        return Outline(self.verbs + other.verbs, self.points + other.points)


@dataclass(frozen=True, slots=True)
class Style:
    """Colours as ``#rrggbb``, None for none; lengths in px; ``dash``: lengths on and off."""

    fill: str | None = None
    stroke: str | None = None
    width: float = 1.0
    dash: tuple[float, ...] = ()

    @property
    def is_dotted(self) -> bool:
        """Dashes this short are drawn with round caps: as dots."""
        return bool(self.dash) and self.dash[0] < 1


@dataclass(frozen=True, slots=True)
class Path:
    """An outline, filled, then stroked with round joins (and round caps if dotted).

    ``role``: what it is in the picture, the CSS class of SVG.
    """

    role: str
    outline: Outline
    style: Style


@dataclass(frozen=True, slots=True)
class TextRun:
    """One line of text without control characters; ``x, y``: its anchor on the baseline; ``size``
    in px."""

    role: str
    x: float
    y: float
    text: str
    font: Font
    size: float
    colour: str
    weight: int = 400
    anchor: Anchor = "start"


Primitive = Path | TextRun


@dataclass(frozen=True, slots=True)
class PrimitiveGroup:
    """The primitives of one box, wire or mark, in drawing order.

    ``kind``: ``node``, ``edge``, ``margin``, ``mark``, ``legend``, ``title``; ``name``: of the node
    or edge.
    """

    kind: str
    name: str
    primitives: tuple[Primitive, ...]
    tooltip: str = ""
