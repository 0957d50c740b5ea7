"""The input of a writer: a finished drawing, and the options for its file."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import networkx as nx

from ..layout.model import Layout
from ..scene.model import Scene
from ..scene.sheet import Sheet, lay_sheet
from ..scene.theme import Theme


@dataclass(frozen=True, slots=True)
class Drawing:
    """A graph, where it stands, and what is drawn of it."""

    graph: nx.MultiDiGraph
    layout: Layout
    scene: Scene
    theme: Theme


@dataclass(frozen=True, slots=True)
class Options:
    """``scale``: pixels of a PNG, points of a PDF for each px of the drawing.

    ``is_transparent``: no ground is painted. ``has_title``, ``has_legend``: whether they stand in
    the picture.
    """

    scale: float = 1.0
    is_transparent: bool = False
    has_title: bool = True
    has_legend: bool = True


Report = Callable[[int, int], None]
"""Hears how much of how much is done; what it raises ends the work."""


def never_mind(done: int, known: int) -> None:
    """For a work that nobody waits for."""


def sheet_of(drawing: Drawing, options: Options) -> Sheet:
    """The whole picture, ready to be painted."""
    return lay_sheet(
        drawing.scene,
        drawing.theme,
        has_title=options.has_title,
        has_legend=options.has_legend,
    )
