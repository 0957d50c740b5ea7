"""Find the point that should stay in place when a group opens or closes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from ..graph.groups.fold import GROUP_PREFIX
from ..layout.model import Point
from ..scene.model import Box, Scene
from ..scene.parts.boxes import plus_rect
from ..scene.parts.frames import frame_buttons


def anchor_of(
    before: Scene, after: Scene, members: Mapping[str, Sequence[str]]
) -> tuple[Point, Point] | None:
    """A point of the scene before, and where it stands in the scene after: the + of a group and
    the − of its frame, so that the button clicked stays under the pointer. None if no group opened
    or closed.

    ``members``: the nodes in each folded group of the scene after. A group that had no frame is
    taken to have stood where the first of its nodes did.
    """
    folded, opened = _plus_signs(before), _minus_signs(before)
    for path, minus in _minus_signs(after).items():
        if path in folded:
            return folded[path], minus
    at = {box.node: (box.rect.x, box.rect.y) for box in before.boxes}
    for box in after.boxes:
        path = _path(box)
        if not path or path in folded:
            continue
        if path in opened:
            return opened[path], _plus_signs(after)[path]
        stood = next((at[node] for node in members.get(box.node, ()) if node in at), None)
        if stood is not None:
            return stood, (box.rect.x, box.rect.y)
    return None


def _path(box: Box) -> str:
    """The path of a folded group; empty for other boxes."""
    return box.node.removeprefix(GROUP_PREFIX) if box.node.startswith(GROUP_PREFIX) else ""


def _plus_signs(scene: Scene) -> dict[str, Point]:
    signs = ((_path(box), plus_rect(box)) for box in scene.boxes if _path(box))
    return {path: (rect.x, rect.y) for path, rect in signs}


def _minus_signs(scene: Scene) -> dict[str, Point]:
    signs = ((frame.path, frame_buttons(frame)["fold"]) for frame in scene.frames)
    return {path: (rect.x, rect.y) for path, rect in signs}
