"""Make the boxes and wires of a laid-out graph, without any overlay."""

from __future__ import annotations

from array import array
from collections.abc import Iterable
from dataclasses import dataclass

import networkx as nx
import numpy as np
from numpy.typing import NDArray

from ..analysis.findings import Link
from ..analysis.inside_words import Doubt, doubt_about
from ..graph.model import Edge, EdgeKey, Node
from ..graph.nodes import op_of, version_of
from ..layout.model import Layout, Point, Rect
from ..trace.ids import OpId, TensorId, VariableId
from ..trace.model import Trace
from ..trace.number_maps import NumberPairs
from .content import content_of, is_write
from .model import Axis, Box, Picture, Wire, WireState
from .parts.crossings import with_crossings
from .parts.pictures import picture_of_tensor
from .tooltips import node_tooltip, tensor_words

WIDTHS: dict[WireState, float] = {
    "recorded": 1.5,
    "unrecorded": 1.3,
    "cut": 1.6,
    "bridge": 2.4,
    "gradient": 2.4,
}
_NEAR = 1.0
_MOST_STATS = 2000
"""Boxes up to which tooltips have statistics; in larger graphs they would delay the picture."""


@dataclass(frozen=True, slots=True)
class Hidden:
    """The ops and tensors behind boxes that stand for several nodes: their ids lead to places in
    ``names``. A variable's handle stands for each version hidden."""

    names: list[str]
    ops: NumberPairs
    tensors: NumberPairs

    def boxes_of_op(self, op: OpId) -> tuple[str, ...]:
        return tuple([self.names[place] for place in self.ops.all(op)])

    def boxes_of_tensor(self, tensor: TensorId) -> tuple[str, ...]:
        return tuple([self.names[place] for place in self.tensors.all(tensor)])


@dataclass(frozen=True, slots=True)
class BaseScene:
    """Everything that is drawn whatever call, step or selection is shown.

    ``edges``: the wires that carry a link. ``writes``: wires from an assign to the variable's next
    version. ``ops``, ``variables``: the boxes that show an op, a variable. ``holders``: those that
    show a tensor, and the variables that it was read from. ``hidden``: what others hide.
    ``rects``: (left, top, right, bottom) of each box.
    """

    graph: nx.MultiDiGraph
    layout: Layout
    trace: Trace
    boxes: dict[str, Box]
    wires: dict[EdgeKey, Wire]
    edges: dict[Link, tuple[EdgeKey, ...]]
    writes: list[EdgeKey]
    ops: dict[OpId, tuple[str, ...]]
    variables: dict[VariableId, list[str]]
    holders: dict[TensorId, list[str]]
    hidden: Hidden
    rects: NDArray[np.float64]

    def boxes_of_op(self, op: OpId) -> tuple[str, ...]:
        """The boxes that show an op, then those that hide it."""
        return (*self.ops.get(op, ()), *self.hidden.boxes_of_op(op))

    def node(self, name: str) -> Node:
        node: Node = self.graph.nodes[name]["node"]
        return node

    def edge(self, key: EdgeKey) -> Edge:
        edge: Edge = self.graph.edges[key]["edge"]
        return edge


def prepare(graph: nx.MultiDiGraph, layout: Layout, trace: Trace) -> BaseScene:
    """The base scene of a layout, whatever call, step or selection is shown."""
    has_stats = len(graph) <= _MOST_STATS
    boxes = {
        name: _box(data["node"], layout.rects[name], trace, has_stats)
        for name, data in graph.nodes(data=True)
        if name in layout.rects
    }
    rects = np.array([box.rect.sides for box in boxes.values()], dtype=np.float64).reshape(-1, 4)
    hidden = _hidden_in((graph.nodes[name]["node"] for name in boxes), trace)
    base = BaseScene(graph, layout, trace, boxes, {}, {}, [], {}, {}, {}, hidden, rects)
    _index_nodes(base)
    _add_wires(base)
    return base


def _index_nodes(base: BaseScene) -> None:
    trace = base.trace
    for name in base.boxes:
        node = base.node(name)
        if node.op is not None:
            base.ops[node.op] = (*base.ops.get(node.op, ()), name)
        if node.role == "variable" and node.variable is not None:
            base.variables.setdefault(node.variable, []).append(name)
        if node.tensor is not None and (node.role != "variable" or node.tensor in trace.reads):
            base.holders.setdefault(node.tensor, []).append(name)


def _hidden_in(boxes: Iterable[Node], trace: Trace) -> Hidden:
    """Index the boxes that stand for several nodes by what they hide."""
    names: list[str] = []
    ops, ops_in, tensors, tensors_in = array("q"), array("q"), array("q"), array("q")
    for place, box in enumerate(node for node in boxes if node.members):
        names.append(box.id)
        for member in box.members:
            if (op := op_of(member, trace)) is not None:
                ops.append(op.id)
                ops_in.append(place)
                for tensor in op.outputs:
                    tensors.append(tensor)
                    tensors_in.append(place)
            elif (version := version_of(member, trace)) is not None:
                tensors.append(version.variable)
                tensors_in.append(place)
    return Hidden(names, NumberPairs(ops, ops_in), NumberPairs(tensors, tensors_in))


def _add_wires(base: BaseScene) -> None:
    """Make the wires, and index them by the links that they carry."""
    layout, boxes = base.layout, base.boxes
    is_layered = layout.name == "layered"
    for source, target, number, data in base.graph.edges(keys=True, data=True):
        key = (source, target, number)
        if key not in layout.routes or source not in boxes or target not in boxes:
            continue
        edge: Edge = data["edge"]
        points = tuple(layout.routes[key])
        axis = _axis(points, layout.rects[source], layout.rects[target]) if is_layered else ""
        base.wires[key] = _wire(key, edge, points, axis, base.trace)
        alone = (key,)
        for tensor, consumer in edge.links:
            if consumer is not None:
                known = base.edges.get((tensor, consumer))
                base.edges[tensor, consumer] = (*known, key) if known else alone
            elif tensor is None:
                base.writes.append(key)
            if tensor is not None and boxes[source].shape == "capsule":
                holders = base.holders.setdefault(tensor, [])
                if source not in holders:
                    holders.append(source)
    wires = with_crossings([*base.wires.values()], layout.frames.values())
    base.wires.clear()
    base.wires.update((wire.edge, wire) for wire in wires)


def _box(node: Node, rect: Rect, trace: Trace, has_stats: bool) -> Box:
    content = content_of(node, trace)
    return Box(
        node=node.id,
        rect=rect,
        shape=content.shape,
        title=content.title,
        subtitle=content.subtitle,
        value=content.value,
        picture=_picture(node, trace) if content.cells else None,
        is_pale=not node.is_recorded,
        is_small=content.is_small,
        opens=node.role == "group",
        doubt=_doubt(node, trace),
        is_dashed=is_write(node),
        tooltip=node_tooltip(node, trace, has_stats),
    )


def _doubt(node: Node, trace: Trace) -> Doubt:
    op = trace.op(node.op)
    if node.role == "group" and op is not None and op.inside is not None and op.runs:
        return "differs" if op.inside.state == "differs" else ""
    return doubt_about(trace, node.tensor)


def _picture(node: Node, trace: Trace) -> Picture | None:
    return None if node.tensor is None else picture_of_tensor(node.tensor, trace)


def _wire(key: EdgeKey, edge: Edge, points: tuple[Point, ...], axis: Axis, trace: Trace) -> Wire:
    state: WireState = "unrecorded" if edge.state == "unrecorded" else "recorded"
    words = "a variable's state" if edge.tensor is None else tensor_words(edge.tensor, trace, False)
    more = len({tensor for tensor, _ in edge.folded if tensor not in (None, edge.tensor)})
    if more:
        words += f"\nand {more} more"
    if edge.is_carried:
        words = f"goes on into the next turn: {words}"
    return Wire(
        key, points, state, WIDTHS[state], tooltip=words, axis=axis, is_carried=edge.is_carried
    )


def _axis(points: tuple[Point, ...], source: Rect, target: Rect) -> Axis:
    """The axis along which the route leaves its first box and enters its last; empty if they
    differ."""
    start, end = _side(points[0], source), _side(points[-1], target)
    return start if start == end else ""


def _side(point: Point, rect: Rect) -> Axis:
    x, y = point
    if min(abs(y - rect.top), abs(y - rect.bottom)) <= _NEAR:
        return "y"
    if min(abs(x - rect.left), abs(x - rect.right)) <= _NEAR:
        return "x"
    return ""
