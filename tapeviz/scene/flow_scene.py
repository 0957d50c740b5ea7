"""A base scene and a gradient call in, wires, boxes and marks with its flow on them out."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np
from numpy.typing import NDArray

from ..analysis.model import CallDiagnosis
from ..graph.model import EdgeKey
from ..layout.model import Point, Rect
from ..trace.model import TensorId
from .base_scene import WIDTHS, BaseScene
from .lighting import Lighting, is_constant, light
from .model import MARK_RADIUS, Box, LabelSide, Mark, Picture, Wire
from .parts.boxes import PLATE_DROP, RING_GAP, label_rect, outer_rect
from .parts.geometry import curve, cut_back, end_direction, flattened, grown
from .parts.numbers import gradient_text
from .parts.pictures import picture_of
from .parts.placing import around, clear_point, dense, length_of, point_beside
from .parts.plates import LABEL_SIZE, PLATE_HEIGHT
from .parts.rings import Ring, rings_of
from .tooltips import cause_tooltip, stats_words

_MOST_BRIDGE = 3.2
_CLEAR = 3.0
"""Px between scissors and what they do not cover."""
_SHORT = 56.0
"""Px of a wire of which scissors on it would hide most."""
_LEAST_RADIUS = 9.0
_SIDES: tuple[LabelSide, ...] = ("above-left", "above-right", "below-left", "below-right")


@dataclass(frozen=True, slots=True)
class GradientLabel:
    """A gradient as it stands on a box: its text, its picture, its words in the tooltip."""

    text: str
    picture: Picture | None
    words: str


@dataclass(frozen=True, slots=True)
class FlowScene:
    """Everything that a call adds, for all of its steps.

    ``pending``: wires of the flow as they are before the stepper has walked them; ``rects``:
    (left, top, right, bottom) of the boxes and of all that may stand around them; ``written``:
    gradients that were asked for already; ``unasked``: constants that no one asked about.
    """

    plain: BaseScene
    shown: CallDiagnosis | None
    show_bridge: bool
    lighting: Lighting
    wires: dict[EdgeKey, Wire]
    pending: dict[EdgeKey, Wire]
    boxes: dict[str, Box]
    marks: tuple[Mark, ...]
    rects: NDArray[np.float64]
    bounds: Rect
    unasked: frozenset[str]
    written: dict[TensorId, GradientLabel] = field(default_factory=dict)

    def write(self, gradient: TensorId) -> GradientLabel:
        if gradient not in self.written:
            trace = self.plain.trace
            value, stats = trace.value(gradient), trace.stats(gradient)
            text = gradient_text(value, stats)
            picture = None if value is None else picture_of(value)
            self.written[gradient] = GradientLabel(
                text, picture, f"gradient {text}{stats_words(stats)}"
            )
        return self.written[gradient]


def light_up(plain: BaseScene, shown: CallDiagnosis | None, show_bridge: bool) -> FlowScene:
    """Nothing here depends on the step or the selection."""
    lighting = light(plain, shown, show_bridge)
    rings = rings_of(plain, shown)
    wires = _wires(plain, lighting, rings, shown)
    least = WIDTHS["recorded"]
    pending = {
        key: replace(wires[key], is_lit=False, width=min(width, least))
        for key, width in lighting.gradient.items()
    }
    boxes = dict(plain.boxes)
    for name, ring in rings.items():
        ringed = replace(boxes[name], ring=ring.kind, ring_label=ring.label)
        boxes[name] = _with_label_aside(plain, ringed, wires)
    rects = _outer_rects(plain, [boxes[name] for name in rings])
    marks = _marks(plain, lighting, wires, shown, rects)
    bounds = _bounds(plain.layout.bounds, rects[len(plain.rects) :], marks)
    unasked = frozenset(
        name for name, box in boxes.items() if is_constant(plain, name) and not box.ring
    )
    return FlowScene(
        plain, shown, show_bridge, lighting, wires, pending, boxes, marks, rects, bounds, unasked
    )


def _wires(
    plain: BaseScene, lighting: Lighting, rings: Mapping[str, Ring], shown: CallDiagnosis | None
) -> dict[EdgeKey, Wire]:
    wires = dict(plain.wires)
    for key, width in lighting.gradient.items():
        wires[key] = replace(wires[key], state="gradient", width=width)
    for key, cause in lighting.cut.items():
        if shown is not None:
            words = cause_tooltip(cause, shown, plain.trace)
            wires[key] = replace(wires[key], state="cut", width=WIDTHS["cut"], tooltip=words)
    for key, width in lighting.bridge.items():
        wires[key] = replace(wires[key], state="bridge", width=min(width, _MOST_BRIDGE))
    graph = plain.graph
    for name in rings:
        for key in (*graph.in_edges(name, keys=True), *graph.out_edges(name, keys=True)):
            if key in wires and key[0] != key[1]:
                wires[key] = _stopped_at_ring(wires[key], name)
    return wires


def _with_label_aside(plain: BaseScene, box: Box, wires: Mapping[EdgeKey, Wire]) -> Box:
    """The ring's words where no wire of its box runs and no other box stands, if there is such a
    side. Sources have free room above, targets below."""
    if not box.ring_label:
        return box
    graph, name = plain.graph, box.node
    keys = (*graph.in_edges(name, keys=True), *graph.out_edges(name, keys=True))
    paths = [flattened(curve(wires[key].points, wires[key].axis)) for key in keys if key in wires]
    near = grown(outer_rect(box), 2 * LABEL_SIZE)
    points = np.concatenate([np.empty((0, 2)), *(dense(path, near) for path in paths)])
    sides = _SIDES if box.ring != "target" else (*_SIDES[2:], *_SIDES[:2])
    for side in sides:
        tried = replace(box, label_side=side)
        rect = label_rect(tried)
        if not _holds(rect, points) and not _covers(rect, plain.rects):
            return tried
    return replace(box, label_side=sides[0])


def _holds(rect: Rect, points: NDArray[np.float64]) -> bool:
    across = np.abs(points[:, 0] - rect.x) < rect.width / 2 + 2
    down = np.abs(points[:, 1] - rect.y) < rect.height / 2
    return bool((across & down).any())


def _covers(rect: Rect, rects: NDArray[np.float64]) -> bool:
    across = (rects[:, 0] < rect.right) & (rects[:, 2] > rect.left)
    down = (rects[:, 1] < rect.bottom) & (rects[:, 3] > rect.top)
    return bool((across & down).any())


def _stopped_at_ring(wire: Wire, name: str) -> Wire:
    """An arrow ends at the ring around its box, not under it."""
    points = wire.points
    if wire.edge[1] == name:
        points = cut_back(points, end_direction(points, wire.axis), RING_GAP)
    if wire.edge[0] == name:
        backwards: tuple[Point, ...] = points[::-1]
        points = cut_back(backwards, end_direction(backwards, wire.axis), RING_GAP)[::-1]
    return replace(wire, points=points)


def _marks(
    plain: BaseScene,
    lighting: Lighting,
    wires: Mapping[EdgeKey, Wire],
    shown: CallDiagnosis | None,
    rects: NDArray[np.float64],
) -> tuple[Mark, ...]:
    marks: list[Mark] = []
    taken: list[tuple[float, float, float, float]] = []
    for key, cause in lighting.cut.items():
        if key not in lighting.front:
            continue
        (x, y), radius = _spot(key, wires, rects, taken)
        words = cause_tooltip(cause, shown, plain.trace) if shown is not None else ""
        marks.append(Mark("scissors", x, y, key, words, radius))
        taken.append(around((x, y), (radius + _CLEAR, radius + _CLEAR)))
    return tuple(marks)


def _spot(
    key: EdgeKey,
    wires: Mapping[EdgeKey, Wire],
    rects: NDArray[np.float64],
    taken: Sequence[tuple[float, float, float, float]],
) -> tuple[Point, float]:
    """Where scissors stand on a wire, and the radius of their disc; beside a wire that is so short
    that they would hide it, where there is room."""
    wire = wires[key]
    length = length_of(wire)
    if length < _SHORT:
        radius = min(MARK_RADIUS, max(length / 2 - 1, _LEAST_RADIUS))
        others = [other for name, other in wires.items() if name != key]
        point = point_beside(wire, others, rects, taken, radius)
        if point is not None:
            return point, radius
    half = (MARK_RADIUS + _CLEAR, MARK_RADIUS + _CLEAR)
    return clear_point(wire, rects, taken, half), MARK_RADIUS


def _outer_rects(plain: BaseScene, ringed: list[Box]) -> NDArray[np.float64]:
    """Rectangles of all boxes, and of the ringed boxes with their rings and words."""
    outer = [outer_rect(replace(box, ring_label="")) for box in ringed]
    outer += [label_rect(box) for box in ringed if box.ring_label]
    extra = np.array([(r.left, r.top, r.right, r.bottom) for r in outer], np.float64)
    return np.vstack([plain.rects, extra.reshape(-1, 4)])


def _bounds(layout: Rect, ringed: NDArray[np.float64], marks: tuple[Mark, ...]) -> Rect:
    """The layout's, and what rings, their words and marks add to it."""
    corners = [(layout.left, layout.top, layout.right, layout.bottom)]
    corners += [around((mark.x, mark.y), (mark.radius, mark.radius)) for mark in marks]
    return hull(np.vstack([np.array(corners, np.float64), ringed]))


def hull(rects: NDArray[np.float64]) -> Rect:
    """The least rectangle around (left, top, right, bottom) rows."""
    left, top = (float(n) for n in rects[:, :2].min(axis=0))
    right, bottom = (float(n) for n in rects[:, 2:].max(axis=0))
    return Rect((left + right) / 2, (top + bottom) / 2, right - left, bottom - top)


def with_plates(rects: NDArray[np.float64]) -> NDArray[np.float64]:
    """The rectangles with the room below each that a gradient's plate may take."""
    roomy: NDArray[np.float64] = rects.copy()
    roomy[:, 3] += PLATE_DROP + PLATE_HEIGHT / 2 + 1
    return roomy
