"""The inside of a frame, which is laid out by itself, and its measures."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import networkx as nx

from .model import Layout, Point, Rect

LevelPart = tuple[str, str, int]
"""An edge of one level's graph."""
_FRAME = "frame:"


def frame_box(path: str) -> str:
    """The node that stands for a frame in the level around it."""
    return _FRAME + path


def is_port_in(node: str) -> bool:
    """Whether a node of a level is a port in the title of its frame, where a value comes in."""
    return node.startswith("in:")


def value_of(source: str, route: Sequence[Point]) -> tuple[str, float]:
    """A key of the value that runs along a route: of a frame several leave, each at its place."""
    return source, route[0][0] if source.startswith(_FRAME) else 0.0


@dataclass(slots=True)
class FrameLevel:
    """The inside of a frame, or of the whole picture (path ``""``), laid out by itself.

    ``made``: the part for each (start, end, name of the value), so that edges of a value share it.
    ``corner``: the place of the inside's origin in the whole picture.
    """

    graph: nx.MultiDiGraph = field(default_factory=nx.MultiDiGraph)
    made: dict[tuple[str, str, str], LevelPart] = field(default_factory=dict)
    layout: Layout | None = None
    corner: Point = (0.0, 0.0)
    lanes: list[str] = field(default_factory=list)
    """The nodes whose values go from turn to turn, each in a lane of its own."""


def boxes_in(level: FrameLevel) -> list[Rect]:
    """The rectangles of the nodes and frames of a level, without its ports."""
    assert level.layout is not None
    return [
        rect
        for name, rect in level.layout.rects.items()
        if name not in ("top", "bottom") and not name.startswith(("in:", "out:"))
    ]


def sides(level: FrameLevel) -> tuple[float, float, float, float]:
    """The left, top, right and bottom of the inside of a frame."""
    layout = level.layout
    assert layout is not None
    points = [
        point
        for (start, end, _), line in layout.routes.items()
        if start != "top" and end != "bottom"
        for point in line
    ]
    rects = [layout.rects[node] for node in level.graph if node not in ("top", "bottom")]
    return (
        min([r.left for r in rects] + [x for x, _ in points]),
        min([r.top for r in rects] + [y for _, y in points]),
        max([r.right for r in rects] + [x for x, _ in points]),
        max([r.bottom for r in rects] + [y for _, y in points]),
    )
