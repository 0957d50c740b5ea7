"""Give every box of an op graph its width and height."""

from __future__ import annotations

import networkx as nx

from ..trace.model import Trace
from .content import SUBTITLE_LENGTH, Content, content_of
from .text import shorten, text_width

TITLE_SIZE = 15.0
LEGIBLE = 10.0 / 14.0
"""The scale at which the titles of boxes are 10 px high: no first view is smaller."""
SUBTITLE_SIZE = 14.0
VALUE_SIZE = 14.0
CHIP_SIZE = 14.0
BOX_HEIGHT = 46.0
CHIP_HEIGHT = 26.0
LEAST_WIDTH = 80.0
GAP = 10.0
"""Between the words and the value."""
_PLUS = 8.0
"""The width of a folded group's plus on the right, px."""
PICTURE_HEIGHT = 34.0
PICTURE_WIDTH = 44.0
CELL = 12.0
PADDING = {"rounded": 9.0, "capsule": 14.0, "chip": 7.0, "stack": 9.0}


def with_sizes(graph: nx.MultiDiGraph, trace: Trace) -> nx.MultiDiGraph:
    """A copy of ``graph`` whose nodes have attributes ``width`` and ``height`` in px.

    A box has room for its words (titles of at most 24 characters) and its value, and none for what
    an overlay adds. That of a variable has room for its words in the last round, so that no round
    needs another layout.
    """
    sized = graph.copy()
    for _, data in sized.nodes(data=True):
        node = data["node"]
        data["width"], data["height"] = size_of(content_of(node, trace), node.last_subtitle)
    return sized


def size_of(content: Content, other_subtitle: str = "") -> tuple[float, float]:
    """Width and height in px of a box with this content, with room for another subtitle."""
    if content.is_small:
        width = text_width(content.title, "mono", CHIP_SIZE) + 2 * PADDING["chip"]
        return _even(max(width, CHIP_HEIGHT)), CHIP_HEIGHT
    padding = PADDING[content.shape]
    words = max(
        text_width(content.title, "mono", TITLE_SIZE),
        text_width(content.subtitle, "sans", SUBTITLE_SIZE),
        text_width(shorten(other_subtitle, SUBTITLE_LENGTH, "end"), "sans", SUBTITLE_SIZE),
    )
    if content.cells is not None:
        value = cell_size(*content.cells) * content.cells[1]
    else:
        value = text_width(content.value, "mono", VALUE_SIZE)
    width = words + 2 * padding + (value + GAP if value else 0.0)
    if content.shape == "stack":
        width += _PLUS
    return _even(max(width, LEAST_WIDTH)), BOX_HEIGHT


def cell_size(rows: int, columns: int) -> float:
    """Side in px of a cell: 12, or less so that the picture fits its box."""
    return min(CELL, PICTURE_HEIGHT / rows, PICTURE_WIDTH / columns)


def _even(width: float) -> float:
    """Round up to an even number, so that centres and borders lie on whole pixels."""
    return float(-(-int(width + 0.999) // 2) * 2)
