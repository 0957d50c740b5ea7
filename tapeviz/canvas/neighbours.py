"""Find the node that an arrow key selects next."""

from __future__ import annotations

from typing import Any, Literal

from ..layout.model import Rect
from .prepared import Prepared

Direction = Literal["up", "down", "left", "right"]
_UNIT: dict[Direction, tuple[int, int]] = {
    "up": (0, -1),
    "down": (0, 1),
    "left": (-1, 0),
    "right": (1, 0),
}


def neighbour(prepared: Prepared, graph: Any, node: str, direction: Direction) -> str | None:
    """The node at the other end of an edge that leads that way, else the nearest node that way;
    None if there is none."""
    boxes = prepared.scene.boxes
    here = boxes[prepared.indices[node]].rect
    linked = set(graph.successors(node)) | set(graph.predecessors(node)) if node in graph else set()
    linked = {other for other in linked if other in prepared.indices}
    along = _best(prepared, here, linked, direction)
    if along is not None:
        return along
    centres = (prepared.rects[:, :2] + prepared.rects[:, 2:]) / 2
    x, y = _UNIT[direction]
    forward = (centres[:, 0] - here.x) * x + (centres[:, 1] - here.y) * y
    aside = abs((centres[:, 0] - here.x) * y) + abs((centres[:, 1] - here.y) * x)
    cost = forward + 2 * aside
    cost[forward <= 1] = float("inf")
    best = int(cost.argmin())
    return boxes[best].node if cost[best] < float("inf") else None


def _best(prepared: Prepared, here: Rect, nodes: set[str], direction: Direction) -> str | None:
    x, y = _UNIT[direction]
    found: list[tuple[float, str]] = []
    for node in nodes:
        rect = prepared.scene.boxes[prepared.indices[node]].rect
        forward = (rect.x - here.x) * x + (rect.y - here.y) * y
        aside = abs((rect.x - here.x) * y) + abs((rect.y - here.y) * x)
        if forward > 1 and forward * 3 >= aside:
            found.append((forward + aside / 2, node))
    return min(found)[1] if found else None
