"""Graph, layout, trace and what is shown of them in, the scene out."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

import networkx as nx
import numpy as np
from numpy.typing import NDArray

from ..analysis.model import CallDiagnosis
from ..graph.model import EdgeKey
from ..layout.model import Layout, Point, Rect
from ..trace.model import TensorId, Trace
from .boxes import RING_GAP, outer_rect
from .captions import legend_of, title_of
from .geometry import cut_back, end_direction
from .lighting import Lighting, light
from .model import Box, Mark, Overlay, Scene, Wire
from .numbers import gradient_text
from .pictures import picture_of
from .placing import clear_point
from .plain import WIDTHS, Plain, prepare
from .plates import PLATE_HEIGHT, plate_width
from .rings import Ring, rings_of
from .strokes import MARK_RADIUS, wire_look
from .tooltips import cause_tooltip, stats_words

_ORDER = ("unrecorded", "recorded", "cut", "pending", "bridge", "gradient")
_SHARE_LENGTH = 14
_LABEL_SHARES = (0.5, 0.42, 0.58, 0.34, 0.66, 0.26, 0.74)


def compose(
    graph: nx.MultiDiGraph,
    layout: Layout,
    trace: Trace,
    shown: CallDiagnosis | None,
    overlay: Overlay,
) -> Scene:
    """Everything that is drawn, back to front, in the units of the layout.

    The parts that no overlay touches are made once for each layout: a step costs little.
    """
    plain = _prepared(graph, layout, trace)
    lighting = light(plain, shown, overlay.step, overlay.show_bridge)
    rings = rings_of(plain, shown)
    wires = _wires(plain, lighting, rings, shown)
    boxes = _boxes(plain, lighting, rings, overlay)
    rects = _outer_rects(plain, boxes)
    marks = _marks(plain, lighting, wires, shown, rects)
    wires = _labelled(plain, lighting, wires, marks, rects)
    drawn = tuple(sorted(wires.values(), key=lambda wire: _ORDER.index(wire_look(wire))))
    bounds = _bounds(layout, boxes, marks)
    return Scene(bounds, drawn, tuple(boxes.values()), marks, legend_of(drawn), title_of(shown))


_latest: list[Plain] = []


def _prepared(graph: nx.MultiDiGraph, layout: Layout, trace: Trace) -> Plain:
    """The last one again if its inputs are the same objects."""
    for plain in _latest:
        if plain.graph is graph and plain.layout is layout and plain.trace is trace:
            return plain
    made = prepare(graph, layout, trace)
    _latest[:] = [made]
    return made


def _wires(
    plain: Plain, lighting: Lighting, rings: Mapping[str, Ring], shown: CallDiagnosis | None
) -> dict[EdgeKey, Wire]:
    wires = dict(plain.wires)
    for key, width in lighting.gradient.items():
        is_lit = lighting.walked is None or key in lighting.walked
        wire = wires[key]
        if not is_lit:
            width = min(width, WIDTHS["recorded"])
        wires[key] = replace(wire, state="gradient", width=width, is_lit=is_lit)
    for key, cause in lighting.cut.items():
        if shown is not None:
            words = cause_tooltip(cause, shown, plain.trace)
            wires[key] = replace(wires[key], state="cut", width=WIDTHS["cut"], tooltip=words)
    for key, width in lighting.bridge.items():
        wires[key] = replace(wires[key], state="bridge", width=min(width, 3.2))
    for name in rings:
        for key in (
            *plain.graph.in_edges(name, keys=True),
            *plain.graph.out_edges(name, keys=True),
        ):
            if key in wires and key[0] != key[1]:
                wires[key] = _stopped_at_ring(wires[key], name)
    return wires


def _stopped_at_ring(wire: Wire, name: str) -> Wire:
    """An arrow ends at the ring around its box, not under it."""
    points = wire.points
    if wire.edge[1] == name:
        points = cut_back(points, end_direction(points, wire.axis), RING_GAP)
    if wire.edge[0] == name:
        backwards: tuple[Point, ...] = points[::-1]
        points = cut_back(backwards, end_direction(backwards, wire.axis), RING_GAP)[::-1]
    return replace(wire, points=points)


def _boxes(
    plain: Plain, lighting: Lighting, rings: Mapping[str, Ring], overlay: Overlay
) -> dict[str, Box]:
    boxes = dict(plain.boxes)
    for name, ring in rings.items():
        boxes[name] = replace(boxes[name], ring=ring.kind, ring_label=ring.label)
    if lighting.walked is not None:
        for name in _current(plain, lighting):
            boxes[name] = replace(boxes[name], is_current=True)
        for name, gradient in lighting.arrived.items():
            boxes[name] = _with_gradient(boxes[name], gradient, plain.trace)
    for name in overlay.selected_nodes:
        if name in boxes:
            boxes[name] = replace(boxes[name], is_selected=True)
    return boxes


def _current(plain: Plain, lighting: Lighting) -> Sequence[str]:
    if lighting.current_op is not None:
        return plain.ops.get(lighting.current_op, ())
    if lighting.current_tensor is not None:
        return plain.holders.get(lighting.current_tensor, ())
    return ()


def _with_gradient(box: Box, gradient: TensorId, trace: Trace) -> Box:
    value, stats = trace.value(gradient), trace.stats(gradient)
    text = gradient_text(value, stats)
    picture = None if value is None or box.picture is None else picture_of(value)
    words = f"{box.tooltip}\ngradient {text}{stats_words(stats)}"
    return replace(box, gradient=text, gradient_picture=picture, tooltip=words)


def _outer_rects(plain: Plain, boxes: Mapping[str, Box]) -> NDArray[np.float64]:
    """(left, top, right, bottom) of every box with its ring and plate."""
    more = [outer_rect(box) for box in boxes.values() if box.ring or box.gradient]
    extra = np.array([(r.left, r.top, r.right, r.bottom) for r in more], np.float64)
    return np.vstack([plain.rects, extra.reshape(-1, 4)])


def _marks(
    plain: Plain,
    lighting: Lighting,
    wires: Mapping[EdgeKey, Wire],
    shown: CallDiagnosis | None,
    rects: NDArray[np.float64],
) -> tuple[Mark, ...]:
    marks: list[Mark] = []
    half = (MARK_RADIUS + 3, MARK_RADIUS + 3)
    for key, cause in lighting.cut.items():
        taken = [_around(mark.x, mark.y, half) for mark in marks]
        x, y = clear_point(wires[key], rects, taken, half)
        words = cause_tooltip(cause, shown, plain.trace) if shown is not None else ""
        marks.append(Mark("scissors", x, y, key, words))
    return tuple(marks)


def _labelled(
    plain: Plain,
    lighting: Lighting,
    wires: dict[EdgeKey, Wire],
    marks: tuple[Mark, ...],
    rects: NDArray[np.float64],
) -> dict[EdgeKey, Wire]:
    """The shares of a sum stand on their wires."""
    taken = [_around(mark.x, mark.y, (MARK_RADIUS, MARK_RADIUS)) for mark in marks]
    for key, gradient in lighting.shares.items():
        stats = plain.trace.stats(gradient)
        text = gradient_text(plain.trace.value(gradient), stats, _SHARE_LENGTH)
        if text and key in lighting.gradient:
            half = (plate_width(text) / 2 + 2, PLATE_HEIGHT / 2 + 2)
            at = clear_point(wires[key], rects, taken, half, _LABEL_SHARES)
            taken.append(_around(*at, half))
            wires[key] = replace(wires[key], label=text, label_at=at)
    return wires


def _around(x: float, y: float, half: tuple[float, float]) -> tuple[float, float, float, float]:
    return x - half[0], y - half[1], x + half[0], y + half[1]


def _bounds(layout: Layout, boxes: Mapping[str, Box], marks: tuple[Mark, ...]) -> Rect:
    """The layout's, and what rings, labels and marks add to it."""
    rect = layout.bounds
    left, top, right, bottom = rect.left, rect.top, rect.right, rect.bottom
    for box in boxes.values():
        if box.ring or box.gradient:
            outer = outer_rect(box)
            left, right = min(left, outer.left), max(right, outer.right)
            top, bottom = min(top, outer.top), max(bottom, outer.bottom)
    for mark in marks:
        left, right = min(left, mark.x - MARK_RADIUS), max(right, mark.x + MARK_RADIUS)
        top, bottom = min(top, mark.y - MARK_RADIUS), max(bottom, mark.y + MARK_RADIUS)
    return Rect((left + right) / 2, (top + bottom) / 2, right - left, bottom - top)
