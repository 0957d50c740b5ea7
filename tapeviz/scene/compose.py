"""Graph, layout, trace and what is shown of them in, the scene out."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

import networkx as nx
import numpy as np
from numpy.typing import NDArray

from ..analysis.model import CallDiagnosis
from ..graph.model import EdgeKey
from ..layout.model import Layout
from ..trace.model import TensorId, Trace
from .base_scene import prepare
from .captions import legend_of, title_of
from .flow_scene import FlowScene, hull, light_up, with_plates
from .model import Box, Overlay, Scene, Wire
from .parts.frames import frames_of
from .parts.numbers import gradient_text
from .parts.placing import around, clear_point
from .parts.plates import PLATE_HEIGHT, plate_width
from .stepping import Progress, advance
from .strokes import wire_look

_ORDER = ("unrecorded", "recorded", "cut", "pending", "bridge", "gradient")
_SHARE_LENGTH = 14
_MOST_LABELS = 200
_LABEL_SHARES = (0.5, 0.42, 0.58, 0.34, 0.66, 0.26, 0.74)


def compose(
    graph: nx.MultiDiGraph,
    layout: Layout,
    trace: Trace,
    shown: CallDiagnosis | None,
    overlay: Overlay,
) -> Scene:
    """Everything that is drawn, back to front, in the units of the layout.

    What the selection and the step leave as it is was made before, once for each layout and
    call: a step costs little.
    """
    lit = _lit(graph, layout, trace, shown, overlay.show_bridge)
    wires, boxes, bounds = lit.wires, dict(lit.boxes), lit.bounds
    if shown is not None and overlay.step is not None:
        progress = advance(lit.plain, shown, overlay.step, lit.lighting.fans)
        wires = _stepped_wires(lit, progress)
        _step_boxes(lit, progress, boxes)
        room = with_plates(lit.rects)
        bounds = hull(np.vstack([room, _corners(lit)]))
    for name in overlay.selected_nodes:
        if name in boxes:
            boxes[name] = replace(boxes[name], is_selected=True)
    drawn = _ordered(wires.values())
    return Scene(
        bounds,
        drawn,
        tuple(boxes.values()),
        lit.marks,
        legend_of(drawn, boxes.values()),
        title_of(shown, trace),
        frames=frames_of(graph, layout, trace),
    )


_latest: list[FlowScene] = []
"""The last one made: the same objects come again and again, with another step or selection."""


def _lit(
    graph: nx.MultiDiGraph,
    layout: Layout,
    trace: Trace,
    shown: CallDiagnosis | None,
    show_bridge: bool,
) -> FlowScene:
    plain = None
    for lit in _latest:
        known = lit.plain
        if known.graph is graph and known.layout is layout and known.trace is trace:
            if lit.shown is shown and lit.show_bridge == show_bridge:
                return lit
            plain = known
    made = light_up(plain or prepare(graph, layout, trace), shown, show_bridge)
    _latest[:] = [made]
    return made


def _corners(lit: FlowScene) -> NDArray[np.float64]:
    rect = lit.bounds
    return np.array([[rect.left, rect.top, rect.right, rect.bottom]])


def _ordered(wires: Iterable[Wire]) -> tuple[Wire, ...]:
    """Wires in drawing order: the most important ones last, on top."""
    looks: dict[str, list[Wire]] = {look: [] for look in _ORDER}
    for wire in wires:
        looks[wire_look(wire)].append(wire)
    return tuple(wire for some in looks.values() for wire in some)


def _stepped_wires(lit: FlowScene, progress: Progress) -> dict[EdgeKey, Wire]:
    """Wires that were not walked yet are pale; the shares of a sum stand on their wires, of very
    many those that were walked last."""
    wires = lit.wires | {
        key: wire for key, wire in lit.pending.items() if key not in progress.walked
    }
    trace = lit.plain.trace
    taken = [around((mark.x, mark.y), (mark.radius, mark.radius)) for mark in lit.marks]
    rects = with_plates(lit.rects) if progress.shares else lit.rects
    for key, gradient in list(progress.shares.items())[-_MOST_LABELS:]:
        text = gradient_text(trace.value(gradient), trace.stats(gradient), _SHARE_LENGTH)
        if text and key in lit.lighting.gradient:
            half = (plate_width(text) / 2 + 2, PLATE_HEIGHT / 2 + 2)
            at = clear_point(wires[key], rects, taken, half, _LABEL_SHARES)
            taken.append(around(at, half))
            wires[key] = replace(wires[key], label=text, label_at=at)
    return wires


def _step_boxes(lit: FlowScene, progress: Progress, boxes: dict[str, Box]) -> None:
    for name, gradient in progress.arrived.items():
        if name in lit.unasked:
            continue
        boxes[name] = _with_gradient(lit, boxes[name], gradient)
    for name in progress.current:
        boxes[name] = replace(boxes[name], is_current=True)


def _with_gradient(lit: FlowScene, box: Box, gradient: TensorId) -> Box:
    written = lit.write(gradient)
    picture = None if box.picture is None else written.picture
    words = f"{box.tooltip}\n{written.words}"
    return replace(box, gradient=written.text, gradient_picture=picture, tooltip=words)
