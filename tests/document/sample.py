"""A run written by hand, small and with everything in it: a slice assign that cuts a gradient.

The window is tried on it without TensorFlow and without a kernel.
"""

from __future__ import annotations

import threading
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import networkx as nx
import numpy as np

from tapeviz.analysis.backward.steps import BackwardPass, Flow, WalkStep
from tapeviz.analysis.causes.states.assign import Assigned
from tapeviz.analysis.findings import Cause, Finding, Fix
from tapeviz.analysis.model import CallDiagnosis, Diagnosis, Warned
from tapeviz.document.pipeline import Stages
from tapeviz.drawing import Arranged
from tapeviz.errors import TapevizError
from tapeviz.graph.model import Edge, Node
from tapeviz.layout.model import Layout, Rect
from tapeviz.recording.live import Listener
from tapeviz.repair import Repaired
from tapeviz.scene.model import (
    EMPTY_SCENE,
    Box,
    LegendEntry,
    Mark,
    Overlay,
    Picture,
    Scene,
    Wire,
)
from tapeviz.trace.calls import Call, Operand
from tapeviz.trace.ids import CallId, OpId, TensorId
from tapeviz.trace.model import Ending, Trace
from tapeviz.trace.stats import Stats
from tapeviz.trace.values import TensorPart
from tapeviz.view import View
from tests.waiting import PATIENCE

from ..traces import SLICE_ASSIGN, op_at, site_at, trace_of

SOURCE = SLICE_ASSIGN

X = np.array([[2, 3, 4], [1, 10, 100]], np.float32)
PATCH = np.array([[0, 1], [2, 3]], np.float32)
X_AFTER = np.array([[0, 1, 4], [2, 3, 100]], np.float32)
Y = X_AFTER @ X_AFTER.T
QUARTERS = np.full((2, 2), 0.25, np.float32)
LEFT = QUARTERS @ X_AFTER
RIGHT = X_AFTER.T @ QUARTERS
VALUES: dict[int, Any] = {
    1: X,
    2: PATCH,
    3: X_AFTER,
    4: X_AFTER.T,
    5: Y,
    6: Y.mean(),
    10: np.float32(1),
    11: QUARTERS,
    12: LEFT,
    13: RIGHT,
    14: RIGHT.T,
    15: LEFT + RIGHT.T,
    16: (LEFT + RIGHT.T)[:, :2],
}


OPS = (
    op_at(5, 1, "ResourceStridedSliceAssign", [2], []),
    op_at(6, 2, "ReadVariableOp", [], [3]),
    op_at(6, 3, "Transpose", [3], [4]),
    op_at(6, 4, "MatMul", [3, 4], [5]),
    op_at(7, 5, "Mean", [5], [6]),
)


def make_trace(source: str = SOURCE) -> Trace:
    call = Call(
        CallId(1),
        "gradient",
        None,
        (Operand("o", TensorId(6), "tensor"),),
        (Operand("patch", TensorId(2), "variable"),),
        (),
        "none",
        site_at(8),
        True,
        8,
        9,
        (None,),
        ended=True,
    )
    return trace_of(
        source,
        OPS,
        VALUES,
        filename="assign_cut.py",
        tensorflow="2.21.0",
        python="3.11.7",
        producers={output: op.id for op in OPS for output in op.outputs},
        calls=(call,),
        names={TensorId(5): ("y",), TensorId(6): ("o",)},
        ending=Ending("finished", 0.041),
    )


def walk(
    index: int, kind: Any, op_: int | None, title: str, line: int, formula: str, *rest: Any
) -> WalkStep:
    return WalkStep(index, kind, None if op_ is None else OpId(op_), title, line, formula, *rest)


STEPS = (
    walk(0, "op", 5, "Mean", 7, "ḡ / n", (10,), (11,), (5,)),
    walk(1, "op", 4, "MatMul", 6, "ḡ bᵀ , aᵀ ḡ", (11,), (12, 13), (3, 4)),
    walk(2, "op", 3, "Transpose", 6, "ḡᵀ", (13,), (14,), (3,)),
    walk(3, "sum", None, "Σ at x′", 6, "ḡ₁ + ḡ₂", (12, 14), (15,), (), 3),
    walk(4, "stop", 1, "assign", 5, "stops here", (15,), (None,)),
)

CAUSE = Cause(
    Assigned("x"),
    5,
    "x[:2, :2].assign(patch)",
    "ResourceStridedSliceAssign",
    OpId(1),
    ((TensorId(2), OpId(1)),),
)
FIX = Fix(
    "Use a new tensor in place of the assign",
    "- x[:2, :2].assign(patch)\n+ x2 = tf.tensor_scatter_nd_update(x, …)",
    SOURCE.replace("x[:2, :2].assign(patch)", "x = tf.concat([patch, x[:, 2:]], 1)"),
    VALUES[16],
)


def make_diagnosis(trace: Trace, with_fix: bool = False) -> Diagnosis:
    finding = Finding("o", "patch", "none", "float32", (2, 2), None, CAUSE, bridged=TensorId(16))
    if with_fix:
        finding = replace(finding, fixes=(FIX,))
    flow = Flow(
        {(5, 5): 0.5, (3, 4): 70.0, (4, 4): 70.0, (3, 3): 70.0},
        {(2, 1): CAUSE},
        {(2, 1): 3.2},
        {TensorId(k): TensorId(v) for k, v in {6: 10, 5: 11, 4: 13, 3: 15}.items()},
        frozenset((TensorId(6),)),
        frozenset((TensorId(2),)),
    )
    call = CallDiagnosis(trace.calls[0], (finding,), lambda: BackwardPass(STEPS, flow))
    return Diagnosis((call,), (), (Warned("vector-target", 8, "A warning in plain words."),))


def node(id_: str, role: Any, title: str, subtitle: str, line: int, **more: Any) -> Node:
    return Node(id_, role, title, subtitle, more.pop("type_", ""), line, **more)


NODES = (
    node("patch", "variable", "patch", "Variable · 2×2", 3, tensor=TensorId(2)),
    node("x", "variable", "x", "Variable · 2×3", 1, tensor=TensorId(1), lines=(1, 2)),
    node("op1", "op", "x[:2,:2] ← patch", "assign · line 5", 5, op=OpId(1), assigns=True),
    node("x1", "variable", "x′", "after line 5 · 2×3", 5, tensor=TensorId(3), version=1),
    node("op3", "op", "Transpose", "3×2 · line 6", 6, op=OpId(3), tensor=TensorId(4)),
    node("op4", "op", "y", "MatMul · 2×2", 6, op=OpId(4), tensor=TensorId(5), type_="MatMul"),
    node("op5", "op", "o", "Mean · target", 7, op=OpId(5), tensor=TensorId(6), type_="Mean"),
)
EDGES = (
    Edge("patch", "op1", 0, TensorId(2), OpId(1), "cut"),
    Edge("x", "op1", 0, TensorId(1), OpId(1)),
    Edge("op1", "x1", 0, None, None),
    Edge("x1", "op3", 0, TensorId(3), OpId(3)),
    Edge("x1", "op4", 0, TensorId(3), OpId(4)),
    Edge("op3", "op4", 0, TensorId(4), OpId(4)),
    Edge("op4", "op5", 0, TensorId(5), OpId(5)),
)
PLACES = {
    "patch": (649, 110, 156, 52),
    "x": (959, 110, 166, 52),
    "op1": (801, 202, 210, 52),
    "x1": (801, 284, 172, 52),
    "op3": (690, 370, 150, 52),
    "op4": (815, 456, 160, 52),
    "op5": (815, 544, 160, 52),
}
ROUTES = {
    ("patch", "op1", 0): ((649, 136), (670, 155), (740, 160), (762, 176)),
    ("x", "op1", 0): ((959, 136), (930, 158), (860, 160), (840, 176)),
    ("op1", "x1", 0): ((801, 228), (801, 258)),
    ("x1", "op3", 0): ((765, 310), (760, 328), (690, 330), (690, 344)),
    ("x1", "op4", 0): ((838, 310), (840, 325), (920, 340), (920, 400), (860, 412), (858, 430)),
    ("op3", "op4", 0): ((690, 396), (700, 412), (770, 412), (770, 430)),
    ("op4", "op5", 0): ((815, 482), (815, 518)),
}


def arrange(trace: Trace, view: View, call: int | None = None, before: Any = None) -> Arranged:
    graph = nx.MultiDiGraph()
    for node in NODES:
        graph.add_node(node.id, node=node)
    for edge in EDGES:
        graph.add_edge(edge.source, edge.target, edge.key, edge=edge)
    rects = {name: Rect(*place) for name, place in PLACES.items()}
    bounds = Rect(802, 327, 500, 490)
    return Arranged(graph, Layout(view.layout, view.direction, rects, ROUTES, bounds))


def picture(value: Any) -> Picture | None:
    if np.ndim(value) != 2:
        return None
    top = float(np.abs(value).max()) or 1.0
    return Picture(tuple(tuple(float(abs(v)) / top for v in row) for row in value))


def compose(
    arranged: Arranged, trace: Trace, call: CallDiagnosis | None, overlay: Overlay
) -> Scene:
    if not arranged.layout.rects:  # before the first picture
        return EMPTY_SCENE
    flow = call.flow if call else Flow()
    walked = set(flow.walked)
    if call and overlay.step is not None:
        walked = {link for step in call.steps[: overlay.step] for link, _ in step.walked}
    current = call.steps[overlay.step - 1] if call and overlay.step else None
    shapes: Any = {"variable": "capsule", "constant": "chip", "group": "stack"}
    boxes = tuple(
        Box(
            node.id,
            arranged.layout.rects[node.id],
            shapes.get(node.role, "rounded"),
            node.title,
            node.subtitle,
            "2709.0" if node.id == "op5" else "",
            picture(VALUES.get(node.tensor or 0)),
            ring="cut" if node.id == "patch" else "target" if node.id == "op5" else "",
            is_dashed=node.assigns,
            is_current=bool(current and current.op == node.op and node.op),
            is_selected=node.id in overlay.selected_nodes,
            tooltip=f"{node.title}: line {node.line}",
        )
        for node in NODES
    )
    wires = tuple(
        Wire(
            (edge.source, edge.target, edge.key),
            arranged.layout.routes[(edge.source, edge.target, edge.key)],
            "gradient" if (edge.tensor, edge.consumer) in flow.walked else edge.state,
            3.0 if (edge.tensor, edge.consumer) in flow.walked else 1.2,
            is_lit=(edge.tensor, edge.consumer) in walked,
        )
        for edge in EDGES
    )
    if overlay.show_bridge:
        points = ((649, 136), (560, 220), (640, 290), (715, 284))
        wires += (Wire(("patch", "x1", 1), points, "bridge", 2.5),)
    marks = (Mark("scissors", 705, 158, ("patch", "op1", 0), "Line 5: assign is not recorded"),)
    legend = tuple(
        LegendEntry(state, text)
        for state, text in (
            ("gradient", "gradient"),
            ("recorded", "value"),
            ("cut", "cut"),
            ("bridge", "across the cut"),
        )
    )
    return Scene(arranged.layout.bounds, wires, boxes, marks, legend)


@dataclass
class SampleRecording:
    stopped: threading.Event = field(default_factory=threading.Event)
    fetched: dict[int, Any] = field(default_factory=dict)

    def stop(self) -> None:
        self.stopped.set()

    def fetch_tensor(self, tensor: TensorId) -> Any:
        return self.fetched.get(tensor)

    def fetch_part(
        self, tensor: TensorId, shape: tuple[int, ...], index: tuple[int, ...]
    ) -> TensorPart:
        part = np.full(shape[len(index) :], float(index[0]), np.float32)
        return TensorPart(part, (1, 1, 1), part.ravel()[:100], Stats(0.0, 7.0, 3.5, 9.0, 0, 0))

    def look_into(self, op: OpId, turns: Sequence[int] = ()) -> Trace:
        raise TapevizError("no compiled function was called")


@dataclass
class SamplePipeline:
    """Answers at once from a thread of its own; with ``endless`` only when it is stopped."""

    endless: bool = False
    printed: tuple[tuple[str, str], ...] = (("stdout", "None\n"),)
    trace: Trace | None = None
    error: Exception | None = None
    sources: list[str] = field(default_factory=list)
    tried: int = 0
    recordings: list[SampleRecording] = field(default_factory=list)

    def record(self, source: str, filename: str, listener: Listener) -> SampleRecording:
        self.sources.append(source)
        if self.error is not None:
            raise self.error
        recording = SampleRecording()
        self.recordings.append(recording)
        threading.Thread(
            target=self._report, args=(source, listener, recording), daemon=True
        ).start()
        return recording

    def _report(self, source: str, listener: Listener, recording: SampleRecording) -> None:
        trace = self.trace or make_trace(source)
        listener.progressed(3)
        for stream, text in self.printed:
            listener.printed(stream, text)
        if self.endless:
            recording.stopped.wait(PATIENCE)
            trace = replace(trace, ending=Ending("stopped", 1.0))
        listener.ended(replace(trace, source=source, printed=self.printed))

    def try_fixes(self, trace: Trace, diagnosis: Diagnosis, note: Any, should_stop: Any) -> Any:
        self.tried += 1
        note(1, 1)
        (call,) = diagnosis.calls
        findings = tuple(replace(finding, fixes=(FIX,)) for finding in call.findings)
        return replace(diagnosis, calls=(replace(call, findings=findings),))

    def record_apart(self, source: str, filename: str, should_stop: Any, look: Any) -> Trace:
        self.sources.append(source)
        if self.error is not None:
            raise self.error
        while self.endless and not should_stop():
            threading.Event().wait(0.01)
        if should_stop():
            raise TapevizError("given up")
        return make_trace(source)

    def close(self) -> None:
        pass


def make_stages() -> Stages:
    return Stages(make_diagnosis, arrange, compose, Repaired)
