"""Compose the scene of a laid-out graph, with the call shown and the overlay."""

from __future__ import annotations

from dataclasses import replace

import networkx as nx
import numpy as np

from ..analysis.model import CallDiagnosis
from ..graph.model import EdgeKey
from ..layout.model import Layout, Rect
from ..trace.ids import TensorId
from ..trace.model import Trace
from .base_scene import prepare
from .captions import legend_of, title_of
from .flow_scene import FlowScene, add_flow, with_plates
from .model import Box, Overlay, Scene, Wire
from .parts.frames import frames_of
from .parts.numbers import gradient_text
from .parts.placing import around, free_point
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
    """Everything that is drawn, back to front, in the units of the layout (px).

    The parts that do not depend on step and selection are kept from the call before, so that a
    step costs little.
    """
    flow = _flow_scene(graph, layout, trace, shown, overlay.show_bridge)
    wires, boxes, bounds = flow.wires, dict(flow.boxes), flow.bounds
    if shown is not None and overlay.step is not None:
        progress = advance(flow.base, shown, overlay.step, flow.lighting.fans)
        wires = _stepped_wires(flow, progress)
        _step_boxes(flow, progress, boxes)
        bounds = Rect.around(np.vstack([with_plates(flow.rects), flow.bounds.sides]))
    for name in overlay.selected_nodes:
        if name in boxes:
            boxes[name] = replace(boxes[name], is_selected=True)
    looks: dict[str, list[Wire]] = {look: [] for look in _ORDER}  # the most important on top
    for wire in wires.values():
        looks[wire_look(wire)].append(wire)
    drawn = tuple(wire for some in looks.values() for wire in some)
    return Scene(
        bounds,
        drawn,
        tuple(boxes.values()),
        flow.marks,
        legend_of(drawn, boxes.values()),
        title_of(shown),
        frames=frames_of(graph, layout, trace),
    )


_latest: list[FlowScene] = []
"""The last flow scene: most calls of `compose` differ from the one before in step or selection."""


def _flow_scene(
    graph: nx.MultiDiGraph,
    layout: Layout,
    trace: Trace,
    shown: CallDiagnosis | None,
    show_bridge: bool,
) -> FlowScene:
    base = None
    for flow in _latest:
        known = flow.base
        if known.graph is graph and known.layout is layout and known.trace is trace:
            if flow.shown is shown and flow.show_bridge == show_bridge:
                return flow
            base = known
    made = add_flow(base or prepare(graph, layout, trace), shown, show_bridge)
    _latest[:] = [made]
    return made


def _stepped_wires(flow: FlowScene, progress: Progress) -> dict[EdgeKey, Wire]:
    """The wires after some steps: pale where the stepper has not been, with the shares of sums as
    labels (the last 200 of more), where these cover nothing. A wire in a trunk has no label: it
    would not tell from which wire of the trunk it is."""
    wires = flow.wires | {
        key: wire for key, wire in flow.pending.items() if key not in progress.walked
    }
    trace = flow.base.trace
    taken = [around((mark.x, mark.y), (mark.radius, mark.radius)) for mark in flow.marks]
    for key, gradient in list(progress.shares.items())[-_MOST_LABELS:]:
        text = gradient_text(trace.value(gradient), trace.stats(gradient), _SHARE_LENGTH)
        if text and key in flow.lighting.gradient and not wires[key].is_joined:
            half = (plate_width(text) / 2 + 2, PLATE_HEIGHT / 2 + 2)
            at = free_point(wires[key], flow.kept_clear, taken, half, _LABEL_SHARES, flow.bounds)
            if at is not None:
                taken.append(around(at, half))
                wires[key] = replace(wires[key], label=text, label_at=at)
    return wires


def _step_boxes(flow: FlowScene, progress: Progress, boxes: dict[str, Box]) -> None:
    for name, gradient in progress.arrived.items():
        if name not in flow.unasked:
            boxes[name] = _with_gradient(flow, boxes[name], gradient)
    for name in progress.current:
        boxes[name] = replace(boxes[name], is_current=True)


def _with_gradient(flow: FlowScene, box: Box, gradient: TensorId) -> Box:
    """The box with its gradient; the same object in all steps, made once in a film."""
    known = flow.with_gradients.get((box.node, gradient))
    if known is None:
        label = flow.label(gradient)
        picture = None if box.picture is None else label.picture
        words = f"{box.tooltip}\n{label.words}"
        known = replace(box, gradient=label.text, gradient_picture=picture, tooltip=words)
        flow.with_gradients[box.node, gradient] = known
    return known
