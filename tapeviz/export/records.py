"""List the nodes, edges, frames and cuts of a drawing as dicts, for the data formats."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from ..graph.model import Node
from ..scene.model import Box
from ..scene.text import clean
from .drawing import Drawing

Record = dict[str, Any]


def graph_record(drawing: Drawing) -> Record:
    """Attributes of the whole picture; lengths in px, y downwards."""
    bounds = drawing.scene.bounds
    return {
        "title": clean(drawing.scene.title),
        "layout": drawing.layout.name,
        "direction": drawing.layout.direction,
        "x": _length(bounds.x),
        "y": _length(bounds.y),
        "width": _length(bounds.width),
        "height": _length(bounds.height),
    }


def node_records(drawing: Drawing) -> Iterator[Record]:
    """A record for each box. ``x, y``: its centre; ``role``: ``target`` or ``source`` of the call
    shown, else ``op``, ``variable``, ``constant`` or ``group``."""
    for box in drawing.scene.boxes:
        node: Node = drawing.graph.nodes[box.node]["node"]
        yield {
            "id": clean(box.node),
            "op": clean(node.type),
            "name": clean(node.name or node.title),
            "line": node.line,
            "role": role_of(node, box),
            "title": clean(node.title),
            "subtitle": clean(node.subtitle),
            "value": box.value,
            "gradient": box.gradient,
            "is_recorded": node.is_recorded,
            "group": clean(node.group),
            "frame": clean(drawing.graph.nodes[box.node].get("frame", "")),
            "x": _length(box.rect.x),
            "y": _length(box.rect.y),
            "width": _length(box.rect.width),
            "height": _length(box.rect.height),
        }


def edge_records(drawing: Drawing) -> Iterator[Record]:
    """A record for each wire. ``state``: how it is drawn; ``route``: the points of its polyline."""
    for wire in drawing.scene.wires:
        source, target, key = wire.edge
        yield {
            "source": clean(source),
            "target": clean(target),
            "key": key,
            "state": wire.state,
            "width": wire.width,
            "gradient": wire.label,
            "is_lit": wire.is_lit,
            "is_carried": wire.is_carried,
            "route": [[_length(x), _length(y)] for x, y in wire.points],
        }


def frame_records(drawing: Drawing) -> Iterator[Record]:
    """A record for each frame. ``turn`` of ``count``: the turn shown of a repeat, else 0 of 0."""
    for frame in drawing.scene.frames:
        yield {
            "path": clean(frame.path),
            "title": clean(frame.title),
            "line": frame.line,
            "turn": frame.turn,
            "count": frame.count,
            "x": _length(frame.rect.x),
            "y": _length(frame.rect.y),
            "width": _length(frame.rect.width),
            "height": _length(frame.rect.height),
        }


def cut_records(drawing: Drawing) -> Iterator[Record]:
    """A record for each cut edge: the place of its scissors, and the cause of the cut."""
    for mark in drawing.scene.marks:
        for source, target, key in (mark.edge, *mark.others):
            yield {
                "source": clean(source),
                "target": clean(target),
                "key": key,
                "x": _length(mark.x),
                "y": _length(mark.y),
                "why": "\n".join(clean(line) for line in mark.tooltip.split("\n")),
            }


def role_of(node: Node, box: Box) -> str:
    if box.ring == "target":
        return "target"
    if box.ring == "source" or box.ring_label.startswith("source"):
        return "source"
    return node.role


def _length(value: float) -> float:
    return round(float(value), 2)
