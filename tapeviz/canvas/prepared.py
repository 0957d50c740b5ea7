"""Prepare NumPy arrays of a scene's boxes and wires: for culling, hit tests and far bands."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..layout.model import Point, Rect
from ..scene.model import EMPTY_SCENE, Box, Scene, Wire
from ..scene.parts.boxes import outer_rect
from ..scene.parts.frames import button_at, frame_buttons, frame_header
from ..scene.parts.geometry import grown
from ..scene.strokes import wire_look

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
REACH = 26.0
"""Px by which rings, labels and plates may stand out from the rectangle of a box."""


@dataclass(frozen=True, slots=True)
class Routes:
    """All polylines as segments. ``segments``: (x1, y1, x2, y2) of each; ``owner``: the index of
    the wire of each; ``boxes``: (left, top, right, bottom) of each wire; ``chords``: (x1, y1, x2,
    y2) from its beginning to its end."""

    segments: Floats
    owner: Ints
    boxes: Floats
    chords: Floats


class Prepared:
    """The arrays of a scene. ``rects``: (left, top, right, bottom) of each box, in drawing order;
    ``before``: the scene before, whose arrays are taken over where they are the same."""

    def __init__(self, scene: Scene, before: Prepared | None = None) -> None:
        self.scene = scene
        self.rects = _rows(box.rect for box in scene.boxes)
        # One that nobody painted has no arrays to take over, but still those before it.
        skipped = before._before if before is not None else None
        self._before: Prepared | None = skipped or before

    @cached_property
    def bounds(self) -> Rect | None:
        """The rectangle around all boxes; None if there are none."""
        return Rect.around(self.rects) if len(self.rects) else None

    @cached_property
    def routes(self) -> Routes:
        """The polylines; those of the scene before, if no wire was moved."""
        before, self._before = self._before, None
        if before is not None and _are_routed_alike(before.scene.wires, self.scene.wires):
            return before.routes
        return _routes(self.scene.wires)

    @cached_property
    def box_kinds(self) -> tuple[Ints, list[Box]]:
        """The number of the kind of each box, and an example of each kind; boxes of a kind look
        alike from afar."""
        return _kinds(self.scene.boxes, _box_kind)

    @cached_property
    def wire_kinds(self) -> tuple[Ints, list[Wire]]:
        return _kinds(self.scene.wires, _wire_kind)

    @cached_property
    def indices(self) -> dict[str, int]:
        """The index of each node's box."""
        return {box.node: i for i, box in enumerate(self.scene.boxes)}

    @cached_property
    def ringed(self) -> Mapping[str, Ints]:
        """The indices of the boxes with each kind of ring."""
        found: dict[str, list[int]] = {}
        for place, box in enumerate(self.scene.boxes):
            if box.ring:
                found.setdefault(box.ring, []).append(place)
        return {ring: np.array(places, np.int64) for ring, places in found.items()}

    @cached_property
    def _taken(self) -> Floats:
        """(left, top, right, bottom) of each box, with its ring and the words there, and of the
        header of each frame."""
        taken = self.rects.copy()
        for places in self.ringed.values():
            taken[places] = [outer_rect(self.scene.boxes[place]).sides for place in places.tolist()]
        return np.concatenate([taken, _rows(map(frame_header, self.scene.frames))])

    @cached_property
    def _rows_of_buttons(self) -> Floats:
        """(left, top, right, bottom) around the buttons of each frame."""
        rows = (frame_buttons(frame).values() for frame in self.scene.frames)
        return _rows(Rect.around([button.sides for button in row]) for row in rows)

    def boxes_in(self, sight: Rect) -> Ints:
        """Indices of the boxes that reach into ``sight``."""
        return np.flatnonzero(grown(sight, REACH).meets_each(self.rects))

    def wires_in(self, sight: Rect) -> Ints:
        return np.flatnonzero(grown(sight, REACH).meets_each(self.routes.boxes))

    def are_taken(self, areas: Sequence[Rect]) -> list[bool]:
        """For each area whether a box, its ring with the words there, or the header of a frame
        reaches into it."""
        around = Rect.around([area.sides for area in areas])
        near = self._taken[around.meets_each(self._taken)]
        return [bool(area.meets_each(near).any()) for area in areas]

    def has_boxes(self, rect: Rect) -> bool:
        """:meth:`are_taken` for one area."""
        return self.are_taken([rect])[0]

    def has_buttons(self, rect: Rect) -> bool:
        """Whether the buttons of a frame reach into a rectangle, or the words between them."""
        return bool(rect.meets_each(self._rows_of_buttons).any())

    def is_used(self, rect: Rect) -> bool:
        """Whether a box or a piece of a wire reaches into a rectangle."""
        if self.has_boxes(rect):
            return True
        x1, y1, x2, y2 = self.routes.segments.T
        pieces = np.stack((np.minimum(x1, x2), np.minimum(y1, y2), *np.maximum((x1, y1), (x2, y2))))
        return bool(rect.meets_each(pieces.T).any())

    def box_at(self, point: Point) -> Box | None:
        """The topmost box under a scene point."""
        x, y = point
        left, top, right, bottom = self.rects.T
        hits = np.flatnonzero((left <= x) & (x <= right) & (top <= y) & (y <= bottom))
        return self.scene.boxes[int(hits[-1])] if hits.size else None

    def wire_at(self, point: Point, tolerance: float) -> Wire | None:
        """The wire nearest to a scene point, at most ``tolerance`` away."""
        routes = self.routes
        if not len(routes.segments):
            return None
        x1, y1, x2, y2 = routes.segments.T
        dx, dy = x2 - x1, y2 - y1
        length = np.maximum(dx * dx + dy * dy, 1e-12)
        share = np.clip(((point[0] - x1) * dx + (point[1] - y1) * dy) / length, 0, 1)
        away = np.hypot(x1 + share * dx - point[0], y1 + share * dy - point[1])
        nearest = int(away.argmin())
        if away[nearest] > tolerance:
            return None
        return self.scene.wires[int(routes.owner[nearest])]

    def tip_at(self, point: Point, tolerance: float) -> str:
        """The tooltip of the mark, box, button or wire at a point; empty where there is none."""
        for mark in self.scene.marks:
            reach = mark.radius + 2
            if abs(mark.x - point[0]) <= reach and abs(mark.y - point[1]) <= reach:
                return mark.tooltip
        box = self.box_at(point)
        if box is not None:
            changes = (change for change in self.scene.changes if change.node == box.node)
            return "\n".join([*(change.tooltip for change in changes), box.tooltip])
        button = button_at(self.scene.frames, point)
        if button is not None:
            return button[0].tooltip
        wire = self.wire_at(point, tolerance)
        return wire.tooltip if wire is not None else ""

    def boxes_within(self, rect: Rect) -> frozenset[str]:
        """The nodes whose box lies wholly in ``rect``."""
        left, top, right, bottom = self.rects.T
        inside = (left >= rect.left) & (right <= rect.right)
        inside &= (top >= rect.top) & (bottom <= rect.bottom)
        return frozenset(self.scene.boxes[int(i)].node for i in np.flatnonzero(inside))

    def bounds_of(self, nodes: frozenset[str]) -> Rect | None:
        """The rectangle around some nodes; None if none of them is drawn."""
        found = [self.indices[node] for node in nodes if node in self.indices]
        if not found:
            return None
        return Rect.around(self.rects[found])


def _rows(rects: Iterable[Rect]) -> Floats:
    return np.array([rect.sides for rect in rects], np.float64).reshape(-1, 4)


def _routes(wires: tuple[Wire, ...]) -> Routes:
    counts = np.array([len(wire.points) for wire in wires], np.int64)
    points = np.array([p for wire in wires for p in wire.points], np.float64).reshape(-1, 2)
    if not len(points):
        nothing = np.empty((0, 4))
        return Routes(nothing, np.empty(0, np.int64), nothing, nothing)
    starts = np.concatenate(([0], np.cumsum(counts)[:-1]))
    low = np.minimum.reduceat(points, starts)
    high = np.maximum.reduceat(points, starts)
    owner = np.repeat(np.arange(len(wires)), counts)
    inner = owner[:-1] == owner[1:]
    segments = np.concatenate((points[:-1][inner], points[1:][inner]), axis=1)
    chords = np.concatenate((points[starts], points[starts + counts - 1]), axis=1)
    return Routes(segments, owner[:-1][inner], np.concatenate((low, high), axis=1), chords)


def _are_routed_alike(before: tuple[Wire, ...], now: tuple[Wire, ...]) -> bool:
    return len(before) == len(now) and all(
        a.points is b.points for a, b in zip(before, now, strict=True)
    )


def _box_kind(box: Box) -> Hashable:
    return box.shape, box.is_pale, box.is_dashed, box.is_current, box.is_selected, box.ring


def _wire_kind(wire: Wire) -> Hashable:
    return wire_look(wire), round(wire.width)


def _kinds(shapes: tuple[Any, ...], kind_of: Any) -> tuple[Ints, list[Any]]:
    numbers: dict[Hashable, int] = {}
    examples: list[Any] = []
    found = np.empty(len(shapes), np.int64)
    for i, shape in enumerate(shapes):
        kind = kind_of(shape)
        number = numbers.get(kind)
        if number is None:
            number = numbers[kind] = len(examples)
            examples.append(shape)
        found[i] = number
    return found, examples


NOTHING_PREPARED = Prepared(EMPTY_SCENE)
