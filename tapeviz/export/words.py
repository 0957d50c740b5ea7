"""Describe a scene to a screen reader, in sentences."""

from __future__ import annotations

from ..scene.model import Scene
from ..scene.text import clean
from ..wording import counted


def sentences(scene: Scene) -> str:
    """The gradients asked for, the size of the graph, and where it is cut."""
    parts = [f"{scene.title}." if scene.title else ""]
    parts.append(f"{counted(len(scene.boxes), 'node')} and {counted(len(scene.wires), 'edge')}.")
    titles = {box.node: box.title for box in scene.boxes}
    cuts = [(edge, mark) for mark in scene.marks for edge in (mark.edge, *mark.others)]
    for edge, mark in cuts[:8]:
        source, target = titles.get(edge[0], ""), titles.get(edge[1], "")
        parts.append(f"The gradient stops between {source} and {target}: {mark.tooltip}")
    return clean(" ".join(part for part in parts if part))
