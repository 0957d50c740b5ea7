"""A recording made by hand: ``patch`` is assigned into ``x``, and ``o`` follows from ``x``."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import networkx as nx
import numpy as np

from tapeviz.analysis.backward.steps import BackwardPass, Flow, WalkStep
from tapeviz.analysis.findings import Cause, Finding
from tapeviz.analysis.model import CallDiagnosis
from tapeviz.graph.model import Edge, Node
from tapeviz.layout.model import Layout, Rect
from tapeviz.scene.sizes import with_sizes
from tapeviz.trace.calls import Call, Operand
from tapeviz.trace.ids import CallId, OpId, TensorId, VariableId
from tapeviz.trace.model import Trace
from tapeviz.trace.sites import NOWHERE

from ..evidence import Said
from ..traces import SLICE_ASSIGN, op_at, trace_of

PATCH, READ, TURNED, Y, LOSS, TWO = (TensorId(n) for n in (11, 12, 13, 14, 15, 16))
G_O, G_Y, G_TURNED, G_SHARE, G_X = (TensorId(n) for n in (21, 22, 23, 24, 25))
X_ID, PATCH_ID = VariableId(1), VariableId(2)
ASSIGN, TRANSPOSE, MATMUL, MEAN = (OpId(n) for n in (1, 2, 3, 4))
MESSAGE = "Line 5 copies the value of patch into x, and assign is not recorded."


@dataclass(frozen=True)
class Pictured:
    graph: nx.MultiDiGraph
    layout: Layout
    trace: Trace
    shown: CallDiagnosis


def make_trace(values: dict[TensorId, Any]) -> Trace:
    ops = (
        op_at(5, ASSIGN, "ResourceStridedSliceAssign", (1, PATCH), ()),
        op_at(6, TRANSPOSE, "Transpose", (READ,), (TURNED,)),
        op_at(6, MATMUL, "MatMul", (READ, TURNED), (Y,)),
        op_at(7, MEAN, "Mean", (Y,), (LOSS,)),
    )
    return trace_of(SLICE_ASSIGN, ops, values, names={Y: ("y",), LOSS: ("o",)})


def pictured() -> Pictured:
    after = np.float32([[0, 1, 4], [2, 3, 100]])
    y = after @ after.T
    before = np.float32([[2, 3, 4], [1, 10, 100]])
    values = {
        PATCH: np.float32([[0, 1], [2, 3]]),
        TensorId(1): before,
        READ: after,
        TURNED: after.T,
        Y: y,
        LOSS: y.mean(),
        TWO: np.float32(2),
        G_O: np.float32(1),
        G_Y: np.full((2, 2), 0.25, np.float32),
        G_TURNED: np.float32([[0.5, 0.5], [1, 1], [26, 26]]),
        G_SHARE: np.float32([[0.5, 1, 26], [0.5, 1, 26]]),
        G_X: np.float32([[1, 2, 52], [1, 2, 52]]),
    }
    trace = make_trace(values)
    graph = nx.MultiDiGraph()

    def add(id_: str, role: str, title: str, subtitle: str, kind: str, line: int, **more: Any):
        node = Node(id_, role, title, subtitle, kind, line, **more)  # type: ignore[arg-type]
        graph.add_node(id_, node=node)

    add(
        "patch",
        "variable",
        "patch",
        "Variable · 2×2",
        "Variable",
        3,
        tensor=PATCH,
        variable=PATCH_ID,
    )
    add("x", "variable", "x", "Variable · 2×3", "Variable", 1, tensor=TensorId(1), variable=X_ID)
    add(
        "assign",
        "op",
        "x[:2,:2] ← patch",
        "assign · line 5",
        "ResourceStridedSliceAssign",
        5,
        op=ASSIGN,
        assigns=True,
        is_recorded=False,
    )
    add(
        "x′",
        "variable",
        "x′",
        "after line 5 · 2×3",
        "Variable",
        5,
        tensor=READ,
        variable=X_ID,
        version=1,
    )
    add("transpose", "op", "Transpose", "3×2 · line 6", "Transpose", 6, tensor=TURNED, op=TRANSPOSE)
    add("y", "op", "y", "MatMul · 2×2", "MatMul", 6, tensor=Y, op=MATMUL)
    add("o", "op", "o", "Mean", "Mean", 7, tensor=LOSS, op=MEAN)
    for source, target, tensor, consumer, state in (
        ("patch", "assign", PATCH, ASSIGN, "unrecorded"),
        ("x", "assign", None, ASSIGN, "unrecorded"),
        ("assign", "x′", None, None, "unrecorded"),
        ("x′", "transpose", READ, TRANSPOSE, "recorded"),
        ("x′", "y", READ, MATMUL, "recorded"),
        ("transpose", "y", TURNED, MATMUL, "recorded"),
        ("y", "o", Y, MEAN, "recorded"),
    ):
        graph.add_edge(source, target, 0, edge=Edge(source, target, 0, tensor, consumer, state))
    graph = with_sizes(graph, trace)
    return Pictured(graph, lay_by_hand(graph), trace, diagnosis())


def lay_by_hand(graph: nx.MultiDiGraph) -> Layout:
    centres = {
        "patch": (100, 29),
        "x": (410, 29),
        "assign": (255, 121),
        "x′": (255, 203),
        "transpose": (130, 289),
        "y": (268, 375),
        "o": (268, 463),
    }
    rects = {
        name: Rect(*centres[name], data["width"], data["height"])
        for name, data in graph.nodes(data=True)
    }

    def route(source: str, target: str, *bends: tuple[float, float], start: float, end: float):
        begins, ends = rects[source], rects[target]
        return ((start, begins.bottom), *bends, (end, ends.top))

    routes = {
        ("patch", "assign", 0): route("patch", "assign", start=100, end=215),
        ("x", "assign", 0): route("x", "assign", start=410, end=295),
        ("assign", "x′", 0): route("assign", "x′", start=255, end=255),
        ("x′", "transpose", 0): route("x′", "transpose", start=220, end=130),
        ("x′", "y", 0): route("x′", "y", (374, 289), start=290, end=311),
        ("transpose", "y", 0): route("transpose", "y", start=130, end=223),
        ("y", "o", 0): route("y", "o", start=268, end=268),
    }
    left = min(rect.left for rect in rects.values())
    right = max(rect.right for rect in rects.values())
    bounds = Rect((left + right) / 2, 246, right - left, 484)
    return Layout("layered", "down", rects, routes, bounds)


def diagnosis() -> CallDiagnosis:
    operands = (Operand("o", LOSS, "tensor"), Operand("patch", TensorId(PATCH_ID), "variable"))
    call = Call(
        CallId(1), "gradient", None, operands[:1], operands[1:], (), "none", NOWHERE, True, 9, 10
    )
    cause = Cause(Said(MESSAGE), 5, "x[:2, :2].assign(patch)", links=((PATCH, ASSIGN),))
    finding = Finding("o", "patch", "none", "float32", (2, 2), None, cause)

    def step(index: int, op: OpId, up: TensorId, *ways: tuple[TensorId, TensorId]) -> WalkStep:
        inputs = tuple(tensor for tensor, _ in ways)
        downs = tuple(gradient for _, gradient in ways)
        return WalkStep(index, "replayed", op, "", 0, "", (up,), downs, inputs)

    steps = (
        step(0, MEAN, G_O, (Y, G_Y)),
        step(1, MATMUL, G_Y, (READ, G_SHARE), (TURNED, G_TURNED)),
        step(2, TRANSPOSE, G_TURNED, (READ, G_SHARE)),
        WalkStep(3, "sum", None, "Σ at x′", 6, "", (G_SHARE, G_SHARE), (G_X,), at=READ),
    )
    walked = {(Y, MEAN): 0.5, (READ, MATMUL): 36.8, (TURNED, MATMUL): 36.8, (READ, TRANSPOSE): 36.8}
    flow = Flow(
        walked,  # type: ignore[arg-type]
        {(PATCH, ASSIGN): cause},
        {(PATCH, ASSIGN): 3.2},
        {READ: G_X, Y: G_Y, TURNED: G_TURNED},
        frozenset({LOSS}),
        frozenset({TensorId(PATCH_ID)}),
    )
    return CallDiagnosis(call, (finding,), lambda: BackwardPass(steps, flow))


def with_flow(shown: CallDiagnosis, flow: Flow, **changes: Any) -> CallDiagnosis:
    """The same call with another flow."""
    steps = shown.steps
    return replace(shown, backward_pass=lambda: BackwardPass(steps, flow), **changes)
