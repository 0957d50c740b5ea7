"""Add the flow of a gradient call to a base scene: wires, boxes and marks."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import takewhile

import numpy as np
from numpy.typing import NDArray

from ..analysis.model import CallDiagnosis
from ..graph.model import EdgeKey, NodeId
from ..layout.model import Point, Rect
from ..trace.ids import TensorId
from .base_scene import WIDTHS, BaseScene
from .lighting import Lighting, is_constant, light
from .model import MARK_RADIUS, Box, LabelSide, Mark, Picture, Wire
from .parts.boxes import PLATE_ROOM, RING_GAP, label_rect, outer_rect, plate_rect
from .parts.frames import header_in
from .parts.geometry import curve, cut_back, end_direction, flattened, grown
from .parts.numbers import gradient_text
from .parts.pictures import picture_of_tensor
from .parts.placing import around, clear_point, dense, length_of, point_beside, shares_apart
from .parts.plates import LABEL_SIZE
from .parts.rings import Ring, rings_of
from .tooltips import cause_tooltip, stats_words

_MOST_BRIDGE = 3.2
_PLATE_WIDTH = 90.0
"""Px of the plate of a norm."""
_CLEAR = 3.0
"""Px between scissors and what they do not cover."""
_SHORT = 56.0
"""Px; scissors would hide most of a wire that is shorter."""
_LEAST_RADIUS = 9.0
_SIDES: tuple[LabelSide, ...] = ("above-left", "above-right", "below-left", "below-right")


@dataclass(frozen=True, slots=True)
class GradientLabel:
    """A gradient as a box shows it; ``words``: its part of the tooltip."""

    text: str
    picture: Picture | None
    words: str


@dataclass(frozen=True, slots=True)
class FlowScene:
    """A base scene with the flow of a call; it serves every step and selection.

    ``pending``: the wires of the flow as they look before the stepper has walked them.
    ``rects``: (left, top, right, bottom) of the boxes and of the rings and words around them.
    ``labels``, ``with_gradients``: the gradient labels and the boxes with one made so far.
    ``unasked``: constants that are no source.
    """

    base: BaseScene
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
    kept_clear: NDArray[np.float64]
    """(left, top, right, bottom) of what labels of wires keep clear of: boxes with their rings, the
    room for the gradient of each box that gets one, and headers of frames."""
    labels: dict[TensorId, GradientLabel] = field(default_factory=dict)
    with_gradients: dict[tuple[str, TensorId], Box] = field(default_factory=dict)

    def label(self, gradient: TensorId) -> GradientLabel:
        if gradient not in self.labels:
            trace = self.base.trace
            value, stats = trace.value(gradient), trace.stats(gradient)
            text = gradient_text(value, stats)
            picture = picture_of_tensor(gradient, trace)
            self.labels[gradient] = GradientLabel(
                text, picture, f"gradient {text}{stats_words(stats)}"
            )
        return self.labels[gradient]


def add_flow(base: BaseScene, shown: CallDiagnosis | None, show_bridge: bool) -> FlowScene:
    """The flow scene of a call: it does not depend on the step or the selection."""
    lighting = light(base, shown, show_bridge)
    rings = rings_of(base, shown)
    wires = _wires(base, lighting, rings, shown)
    least = WIDTHS["recorded"]
    pending = {
        key: replace(wires[key], is_lit=False, width=min(width, least))
        for key, width in lighting.gradient.items()
    }
    boxes = dict(base.boxes)
    for name, ring in rings.items():
        ringed = replace(boxes[name], ring=ring.kind, ring_label=ring.label)
        boxes[name] = _with_label_aside(base, ringed, wires)
    rects = _outer_rects(base, [boxes[name] for name in rings])
    headers = [header_in(frame).sides for frame in base.layout.frames.values()]
    covered = np.vstack([rects, np.array(headers, np.float64).reshape(-1, 4)])
    marks = _marks(base, lighting, wires, shown, covered)
    bounds = _bounds(base.layout.bounds, rects[len(base.rects) :], marks)
    unasked = frozenset(
        name for name, box in boxes.items() if is_constant(base, name) and not box.ring
    )
    lit = dict.fromkeys(name for key in lighting.gradient for name in key[:2])
    plates = [plate_rect(boxes[name], _PLATE_WIDTH).sides for name in lit]
    room = np.array(plates, np.float64).reshape(-1, 4)
    return FlowScene(
        base,
        shown,
        show_bridge,
        lighting,
        wires,
        pending,
        boxes,
        marks,
        rects,
        bounds,
        unasked,
        np.vstack([covered, room]),
    )


def _wires(
    base: BaseScene, lighting: Lighting, rings: Mapping[str, Ring], shown: CallDiagnosis | None
) -> dict[EdgeKey, Wire]:
    wires = dict(base.wires)
    for key, width in lighting.gradient.items():
        wires[key] = replace(wires[key], state="gradient", width=width)
    for key, cause in lighting.cut.items():
        if shown is not None:
            words = cause_tooltip(cause, shown, base.trace)
            wires[key] = replace(wires[key], state="cut", width=WIDTHS["cut"], tooltip=words)
    for key, width in lighting.bridge.items():
        wires[key] = replace(wires[key], state="bridge", width=min(width, _MOST_BRIDGE))
    graph = base.graph
    for name in rings:
        for key in (*graph.in_edges(name, keys=True), *graph.out_edges(name, keys=True)):
            if key in wires and key[0] != key[1]:
                wires[key] = _stopped_at_ring(wires[key], name)
    return wires


def _with_label_aside(base: BaseScene, box: Box, wires: Mapping[EdgeKey, Wire]) -> Box:
    """Put the ring's words on a side where they cover no wire of the box and no other box, if there
    is such a side. Sources try the sides above first, targets those below."""
    if not box.ring_label:
        return box
    graph, name = base.graph, box.node
    keys = (*graph.in_edges(name, keys=True), *graph.out_edges(name, keys=True))
    paths = [flattened(curve(wires[key].points, wires[key].axis)) for key in keys if key in wires]
    near = grown(outer_rect(box), 2 * LABEL_SIZE)
    points = np.concatenate([np.empty((0, 2)), *(dense(path, near) for path in paths)])
    sides = _SIDES if box.ring != "target" else (*_SIDES[2:], *_SIDES[:2])
    for side in sides:
        tried = replace(box, label_side=side)
        rect = label_rect(tried)
        if not _holds(rect, points) and not rect.meets_each(base.rects).any():
            return tried
    return replace(box, label_side=sides[0])


def _holds(rect: Rect, points: NDArray[np.float64]) -> bool:
    across = np.abs(points[:, 0] - rect.x) < rect.width / 2 + 2
    down = np.abs(points[:, 1] - rect.y) < rect.height / 2
    return bool((across & down).any())


def _stopped_at_ring(wire: Wire, name: str) -> Wire:
    """Shorten a wire so that it ends at the ring around a box, not under it."""
    points = wire.points
    if wire.edge[1] == name:
        points = cut_back(points, end_direction(points, wire.axis), RING_GAP)
    if wire.edge[0] == name:
        backwards: tuple[Point, ...] = points[::-1]
        points = cut_back(backwards, end_direction(backwards, wire.axis), RING_GAP)[::-1]
    return replace(wire, points=points)


def _marks(
    base: BaseScene,
    lighting: Lighting,
    wires: Mapping[EdgeKey, Wire],
    shown: CallDiagnosis | None,
    rects: NDArray[np.float64],
) -> tuple[Mark, ...]:
    marks: list[Mark] = []
    taken: list[tuple[float, float, float, float]] = []
    cut = {key: cause for key, cause in lighting.cut.items() if key in lighting.front}
    keys = list(wires) if cut else []
    bounds = np.array([_bounds_of(wires[key]) for key in keys]).reshape(-1, 4)
    words = {
        key: cause_tooltip(cause, shown, base.trace) if shown is not None else ""
        for key, cause in cut.items()
    }
    for wire, joined in _where_joined({key: wires[key] for key in cut}, words, wires):
        near = np.flatnonzero(Rect.from_sides(*_bounds_of(wire)).meets_each(bounds))
        others = [wires[keys[place]] for place in near.tolist() if keys[place] not in joined]
        (x, y), radius = _spot(wire, others, rects, taken)
        key, *more = joined
        marks.append(Mark("scissors", x, y, key, words[key], radius, tuple(more)))
        taken.append(around((x, y), (radius + _CLEAR, radius + _CLEAR)))
    return tuple(marks)


def _where_joined(
    cut: Mapping[EdgeKey, Wire], words: Mapping[EdgeKey, str], wires: Mapping[EdgeKey, Wire]
) -> Iterator[tuple[Wire, list[EdgeKey]]]:
    """Each cut wire with its key. Wires that are cut for one reason and leave a box together, or
    join before they end, give only the part that they share, with all their keys; ``wires``: all
    of the picture, with which that part is not shared where they leave a box."""
    left = dict(cut)
    leaving: dict[NodeId, list[tuple[Point, ...]]] = {key[0]: [] for key in cut}
    for key, wire in wires.items():
        if key[0] in leaving:
            leaving[key[0]].append(wire.points)
    for keys in _alike(left, lambda key, wire: (key[0], wire.points[:2], words[key])):
        lines = {cut[key].points for key in keys}
        trunk = _common([*lines])
        others = [points for points in leaving[keys[0][0]] if points not in lines]
        begin = max((len(_common([trunk, points])) for points in others), default=1)
        stretch = replace(cut[keys[0]], points=trunk[max(begin - 1, 0) :])
        if length_of(stretch) >= 2 * MARK_RADIUS:
            yield stretch, keys
            for key in keys:
                del left[key]
    for keys in _alike(left, lambda key, wire: (key[1], wire.points[-2:], words[key])):
        shared = _common([cut[key].points[::-1] for key in keys])
        stretch = replace(cut[keys[0]], points=shared[::-1])
        if length_of(stretch) >= 2 * MARK_RADIUS:
            yield stretch, keys
            for key in keys:
                del left[key]
    yield from ((wire, [key]) for key, wire in left.items())


def _alike(
    cut: Mapping[EdgeKey, Wire], kind: Callable[[EdgeKey, Wire], Hashable]
) -> list[list[EdgeKey]]:
    """The keys of wires of one kind, of each kind that several have."""
    groups: dict[Hashable, list[EdgeKey]] = {}
    for key, wire in cut.items():
        groups.setdefault(kind(key, wire), []).append(key)
    return [keys for keys in groups.values() if len(keys) > 1]


def _common(lines: Sequence[tuple[Point, ...]]) -> tuple[Point, ...]:
    """The points that all lines have in common, from their beginning on."""
    steps = zip(*lines, strict=False)
    return tuple(step[0] for step in takewhile(lambda step: len(set(step)) == 1, steps))


def _spot(
    wire: Wire,
    others: Sequence[Wire],
    rects: NDArray[np.float64],
    taken: Sequence[tuple[float, float, float, float]],
) -> tuple[Point, float]:
    """The middle of the scissors of a wire, and the radius of their disc in px. They stand beside a
    wire that they would hide, where there is room, and away from the other wires near it."""
    length = length_of(wire)
    if length < _SHORT:
        radius = min(MARK_RADIUS, max(length / 2 - 1, _LEAST_RADIUS))
        point = point_beside(wire, others, rects, taken, radius)
        if point is not None:
            return point, radius
    radius = MARK_RADIUS + _CLEAR
    shares = shares_apart(wire, others, radius)
    return clear_point(wire, rects, taken, (radius, radius), shares), MARK_RADIUS


def _bounds_of(wire: Wire) -> tuple[float, float, float, float]:
    """(left, top, right, bottom) of a wire with room for scissors."""
    xs, ys = zip(*wire.points, strict=True)
    room = MARK_RADIUS + _CLEAR
    return min(xs) - room, min(ys) - room, max(xs) + room, max(ys) + room


def _outer_rects(base: BaseScene, ringed: list[Box]) -> NDArray[np.float64]:
    """(left, top, right, bottom) of all boxes, then of the ringed boxes with ring, then of the
    rings' words."""
    outer = [outer_rect(replace(box, ring_label="")) for box in ringed]
    outer += [label_rect(box) for box in ringed if box.ring_label]
    extra = np.array([rect.sides for rect in outer], np.float64)
    return np.vstack([base.rects, extra.reshape(-1, 4)])


def _bounds(layout: Rect, ringed: NDArray[np.float64], marks: tuple[Mark, ...]) -> Rect:
    """The bounds of the layout with room for rings, their words and marks."""
    corners = [layout.sides]
    corners += [around((mark.x, mark.y), (mark.radius, mark.radius)) for mark in marks]
    return Rect.around(np.vstack([np.array(corners, np.float64), ringed]))


def with_plates(rects: NDArray[np.float64]) -> NDArray[np.float64]:
    """The rectangles, each extended downwards by the room of a gradient's plate."""
    roomy: NDArray[np.float64] = rects.copy()
    roomy[:, 3] += PLATE_ROOM
    return roomy
