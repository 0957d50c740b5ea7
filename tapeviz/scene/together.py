"""Put two scenes side by side in one, with their differences marked."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace

from ..layout.model import EdgeKey, Layout, Point, Rect
from .captions import legend_of
from .model import Box, Change, ChangeKind, FrameBox, Heading, LegendEntry, Mark, Scene, Wire
from .parts.boxes import ring_rect
from .parts.changes import HEADING_SIZE, NOTE_DROP, SIGN_RADIUS, frame_rect

GAP = 72.0
_HEAD_ROOM = 22.0
_HEAD = HEADING_SIZE + NOTE_DROP + _HEAD_ROOM
"""Px above each picture, for its heading."""
_WORDS: Mapping[ChangeKind, str] = {
    "removed": "only before",
    "added": "only after",
    "turned": "recorded by a tape in only one",
    "inside": "differs inside",
}


@dataclass(frozen=True, slots=True)
class Side:
    """One of two pictures. ``prefix``: goes before its node ids, so that they differ from those of
    the other; ``name``: stands above it, with the title of its scene."""

    scene: Scene
    prefix: str
    name: str
    changes: Mapping[str, ChangeKind]

    def called(self, node: str) -> str:
        return self.prefix + node

    def edge(self, key: EdgeKey) -> EdgeKey:
        return self.called(key[0]), self.called(key[1]), key[2]


def room_of_each(room: tuple[float, float], *, is_below: bool) -> tuple[float, float]:
    """Width and height in px that each of two pictures has in a room."""
    if is_below:
        return room[0], room[1] / 2 - _HEAD - GAP / 4
    return (room[0] - GAP) / 2, room[1] - _HEAD


def together(before: Side, after: Side, title: str, *, is_below: bool) -> tuple[Scene, Point]:
    """Both scenes, ``after`` below ``before`` or right of it, and by how much it was moved (px)."""
    bounds = _covering(before, after)
    top = bounds.top - NOTE_DROP - _HEAD_ROOM
    by = (0.0, bounds.height + GAP / 2 + _HEAD) if is_below else (bounds.width + GAP, 0.0)
    first, second = _moved(before, (0.0, 0.0)), _moved(after, by)
    heads = [
        Heading(side.name, side.scene.title, bounds.left + dx, top + dy, bounds.width)
        for side, (dx, dy) in ((before, (0.0, 0.0)), (after, by))
    ]
    changes = first.changes + second.changes
    wires = first.wires + second.wires
    kinds = {change.kind for change in changes}
    legend = legend_of(wires, first.boxes + second.boxes) + tuple(
        LegendEntry(kind, words) for kind, words in _WORDS.items() if kind in kinds
    )
    scene = Scene(
        Rect.around(
            [
                replace(bounds, y=bounds.y - _HEAD / 2, height=bounds.height + _HEAD).sides,
                bounds.moved(*by).sides,
            ]
        ),
        wires,
        first.boxes + second.boxes,
        first.marks + second.marks,
        legend,
        title,
        changes,
        tuple(heads),
        frames=first.frames + second.frames,
    )
    return scene, by


def moved_layout(layout: Layout, side: Side, by: Point) -> Layout:
    """The layout of a side, moved to where the side stands in the picture of both."""
    return replace(
        layout,
        rects={side.called(name): rect.moved(*by) for name, rect in layout.rects.items()},
        routes={side.edge(key): _along(points, by) for key, points in layout.routes.items()},
        frames={},
        bounds=layout.bounds.moved(*by),
    )


def _covering(*sides: Side) -> Rect:
    rects = [side.scene.bounds.sides for side in sides]
    for side in sides:
        for change in _changes(side):
            frame = frame_rect(change)
            rects.append(
                (
                    frame.left - 1,
                    frame.top - SIGN_RADIUS + 3,
                    frame.right + SIGN_RADIUS - 3,
                    frame.bottom + 1,
                )
            )
    return Rect.around(rects)


def _changes(side: Side) -> Iterable[Change]:
    for box in side.scene.boxes:
        kind = side.changes.get(box.node)
        if kind is not None:
            rect = ring_rect(box) if box.ring else box.rect
            yield Change(kind, rect, box.node, f"{box.title}: {_WORDS[kind]}")


def _moved(side: Side, by: Point) -> Scene:
    scene = side.scene
    return replace(
        scene,
        wires=tuple(_moved_wire(wire, side, by) for wire in scene.wires),
        boxes=tuple(_moved_box(box, side, by) for box in scene.boxes),
        marks=tuple(_moved_mark(mark, side, by) for mark in scene.marks),
        frames=tuple(_moved_frame(frame, by) for frame in scene.frames),
        changes=tuple(
            replace(change, node=side.called(change.node), rect=change.rect.moved(*by))
            for change in _changes(side)
        ),
    )


def _moved_wire(wire: Wire, side: Side, by: Point) -> Wire:
    label_at = None if wire.label_at is None else _along((wire.label_at,), by)[0]
    return replace(
        wire,
        edge=side.edge(wire.edge),
        points=_along(wire.points, by),
        label_at=label_at,
        crossings=tuple(
            replace(crossing, points=_along(crossing.points, by)) for crossing in wire.crossings
        ),
    )


def _moved_box(box: Box, side: Side, by: Point) -> Box:
    return replace(box, node=side.called(box.node), rect=box.rect.moved(*by))


def _moved_mark(mark: Mark, side: Side, by: Point) -> Mark:
    others = tuple(map(side.edge, mark.others))
    x, y = mark.x + by[0], mark.y + by[1]
    return replace(mark, x=x, y=y, edge=side.edge(mark.edge), others=others)


def _moved_frame(frame: FrameBox, by: Point) -> FrameBox:
    carried = tuple((words, _along((at,), by)[0]) for words, at in frame.carried)
    return replace(frame, rect=frame.rect.moved(*by), carried=carried)


def _along(points: tuple[Point, ...], by: Point) -> tuple[Point, ...]:
    return tuple((x + by[0], y + by[1]) for x, y in points)
