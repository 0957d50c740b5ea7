"""Invariants of every result that a stage makes of a recording, as assertions."""

from __future__ import annotations

import math
import re
from itertools import combinations, pairwise
from typing import Any

import networkx as nx
import numpy as np

from tapeviz.analysis.findings import Cause
from tapeviz.analysis.model import CallDiagnosis, Diagnosis
from tapeviz.layout.model import Layout, Point, Rect
from tapeviz.scene.model import Scene
from tapeviz.scene.parts.geometry import curve, flattened
from tapeviz.scene.parts.placing import dense
from tapeviz.trace.model import Trace

NODE_FIELDS = {"id", "op", "name", "line", "role", "x", "y", "width", "height"}
EDGE_FIELDS = {"source", "target", "state", "route"}
ROLES = {"op", "variable", "constant", "source", "target", "group"}
STATES = {"gradient", "recorded", "unrecorded", "cut", "bridge"}
_NEAR = 1e-6


def check_trace(trace: Trace) -> None:
    """The parts of a trace name each other, and every value is where it is said to be."""
    assert trace.ending.how == "finished"
    assert trace.failure is None
    assert not trace.notes
    for op in trace.ops.values():
        assert all(tensor in trace.tensors for tensor in (*op.inputs, *op.outputs)), op
        assert 0 <= op.line <= len(trace.source.splitlines()), op
        assert op.tapes <= set(trace.tapes), op
    for tensor in trace.places:
        value = trace.value(tensor)
        assert value is not None
        assert value.shape == trace.tensors[tensor].shape
    for call in trace.calls:
        assert call.ended, call
        assert len(call.results) == len(call.sources), call
        assert all(step.op is None or step.op in trace.ops for step in call.steps), call


def check_diagnosis(trace: Trace, diagnosis: Diagnosis) -> None:
    for diagnosed in diagnosis.calls:
        for finding in diagnosed.findings:
            assert finding.source.strip()
            assert finding.target.strip()
            check_message(finding.message)
            assert (finding.status == "none") == (finding.tensor is None)
            assert (finding.status == "flows") == (finding.cause is None), finding
            for cause in (finding.cause, *finding.others):
                if cause is not None:
                    check_cause(trace, cause)
        _check_steps(diagnosed)


def check_message(message: str) -> None:
    """One to three plain sentences, without holes that a value should have filled."""
    assert message == message.strip() != ""
    assert message[-1] in ".!?", message
    assert not re.search(r"\{\w*\}|\bNone None\b|  |\blines? 0\b|<[a-z_]+ object", message), message
    prose = re.sub(r"`[^`]*`|\"[^\"]*\"", "x", message)
    assert 1 <= len(re.findall(r"[.!?](?=\s|$)", prose)) <= 3, message


def check_cause(trace: Trace, cause: Cause) -> None:
    lines = trace.source.splitlines()
    assert 1 <= cause.line <= len(lines), cause
    assert cause.code, cause
    assert cause.code.split()[0] in lines[cause.line - 1], cause
    if cause.op_id is not None:
        assert cause.op_id in trace.ops


def _check_steps(diagnosed: CallDiagnosis) -> None:
    for index, step in enumerate(diagnosed.steps):
        assert step.index == index
        assert step.title
        assert step.formula
        assert len(step.inputs) >= len(step.walked)
        if step.kind == "sum":
            assert len(step.upstream) >= 2


def check_layout(graph: nx.MultiDiGraph, layout: Layout) -> None:
    """Every node has its box and every edge its route, docked at both ends; no box on another."""
    assert set(layout.rects) == set(graph.nodes)
    assert set(layout.routes) == set(graph.edges(keys=True))
    for (node, first), (other, second) in combinations(layout.rects.items(), 2):
        assert not _overlap(first, second), (node, other)
    for (tail, head, _), route in layout.routes.items():
        assert len(route) >= 2, (tail, head)
        assert all(math.isfinite(value) for point in route for value in point), (tail, head)
        assert _on_border(layout.rects[tail], route[0]), (tail, head)
        assert _on_border(layout.rects[head], route[-1]), (tail, head)


def check_routes_are_clear(layout: Layout) -> None:
    """No edge runs through a box that it does not touch."""
    for (tail, head, _), route in layout.routes.items():
        for name, rect in layout.rects.items():
            if name not in (tail, head):
                for start, end in pairwise(route):
                    assert not _crosses(rect, start, end), (tail, head, name)


def check_scene(graph: nx.MultiDiGraph, scene: Scene) -> None:
    assert {box.node for box in scene.boxes} == set(graph.nodes)
    assert {wire.edge for wire in scene.wires} == set(graph.edges(keys=True))
    for box in scene.boxes:
        assert box.title, box
        assert box.rect.width > 0
        assert box.rect.height > 0
        assert _inside(scene.bounds, box.rect), box.node
    assert all(wire.width > 0 and wire.state in STATES for wire in scene.wires)
    assert {mark.edge for mark in scene.marks} <= set(graph.edges(keys=True))


def check_marks_hide_no_wire(scene: Scene) -> None:
    """Half of a cut wire or more can be seen beside its scissors."""
    wires = {wire.edge: wire for wire in scene.wires}
    for mark in scene.marks:
        wire = wires[mark.edge]
        path = dense(flattened(curve(wire.points, wire.axis)), scene.bounds)
        hidden = np.hypot(*(path - (mark.x, mark.y)).T) < mark.radius
        assert hidden.mean() <= 0.5, (mark, wire)


def check_node_link(data: dict[str, Any], graph: nx.MultiDiGraph) -> None:
    """The fields that are promised to a reader of the JSON export, and their values' range."""
    assert {node["id"] for node in data["nodes"]} == set(graph.nodes)
    for node in data["nodes"]:
        assert set(node) >= NODE_FIELDS
        assert node["role"] in ROLES
    edges = {(edge["source"], edge["target"], edge["key"]) for edge in data["edges"]}
    assert edges == set(graph.edges(keys=True))
    for edge in data["edges"]:
        assert set(edge) >= EDGE_FIELDS
        assert edge["state"] in STATES
        assert len(edge["route"]) >= 2


def _overlap(rect: Rect, other: Rect) -> bool:
    across = (rect.width + other.width) / 2 - abs(rect.x - other.x)
    down = (rect.height + other.height) / 2 - abs(rect.y - other.y)
    return across > _NEAR and down > _NEAR


def _on_border(rect: Rect, point: Point) -> bool:
    across = abs(point[0] - rect.x) - rect.width / 2
    down = abs(point[1] - rect.y) - rect.height / 2
    return abs(max(across, down)) < _NEAR


def _inside(bounds: Rect, rect: Rect) -> bool:
    return (
        bounds.left - _NEAR <= rect.left
        and rect.right <= bounds.right + _NEAR
        and bounds.top - _NEAR <= rect.top
        and rect.bottom <= bounds.bottom + _NEAR
    )


def _crosses(rect: Rect, start: Point, end: Point) -> bool:
    """Whether the segment enters the inside of the box (Liang and Barsky's clipping)."""
    low, high = 0.0, 1.0
    for at, to, near, far in (
        (start[0], end[0], rect.left + _NEAR, rect.right - _NEAR),
        (start[1], end[1], rect.top + _NEAR, rect.bottom - _NEAR),
    ):
        along = to - at
        if abs(along) < _NEAR:
            if not near < at < far:
                return False
            continue
        first, second = sorted(((near - at) / along, (far - at) / along))
        low, high = max(low, first), min(high, second)
    return low < high
