"""The input of a writer: a finished drawing, and the options for its file."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import networkx as nx

from ..layout.model import Layout
from ..scene.model import Scene
from ..scene.primitives import PrimitiveGroup
from ..scene.sheet import Sheet, lay_sheet
from ..scene.strokes import DrawnShape, Layer, group_of
from ..scene.theme import Theme


@dataclass(frozen=True, slots=True)
class Drawing:
    """A graph with its layout, its scene and the theme of the picture."""

    graph: nx.MultiDiGraph
    layout: Layout
    scene: Scene
    theme: Theme


@dataclass(frozen=True, slots=True)
class Options:
    """How a file is to be written. ``scale``: pixels of a PNG, or CSS px of an SVG or PDF, for each
    px of the drawing; ``is_transparent``: paint no ground."""

    scale: float = 1.0
    is_transparent: bool = False


Report = Callable[[int, int], None]
"""Called with (parts done, parts in all); an exception that it raises ends the work."""


def no_report(done: int, known: int) -> None:
    """A `Report` that does nothing."""


def sheet_of(
    drawing: Drawing,
    options: Options,
    make: Callable[[Layer, DrawnShape, Theme], PrimitiveGroup] = group_of,
) -> Sheet:
    """The whole picture, ready to be painted; ``make``: gives the primitives of a shape."""
    return lay_sheet(
        drawing.scene,
        drawing.theme,
        has_ground=not options.is_transparent,
        make=make,
    )
