"""Know which node, line, step and tensor of a picture belong together."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping
from functools import cached_property
from itertools import islice
from typing import Any

from ..analysis.backward.steps import WalkStep
from ..analysis.findings import Cause
from ..analysis.model import CallDiagnosis
from ..drawing import Arranged
from ..graph.groups.fold import path_of
from ..graph.groups.tree import upwards
from ..graph.model import Node, NodeId
from ..graph.nodes import op_id, op_of, version_id, version_of
from ..text.op_words import friendly
from ..trace.calls import Operand
from ..trace.ids import OpId, TensorId
from ..trace.model import Trace
from ..trace.naming import source_name
from ..trace.ops import Op
from ..trace.sites import StackFrame
from .selecting import Selection

MOST_SPANS = 30
"""Places in the text that are lit up at once."""
MOST_INSIDE = 20_000
"""Folded nodes whose names a search knows, at most."""


def groups_in(arranged: Arranged) -> Mapping[NodeId, NodeId]:
    """The group that stands for each node that is folded away."""
    nodes = arranged.graph.nodes(data="node")
    return {member: name for name, node in nodes for member in node.members}


class Links:
    """The ties between the parts of one picture; each table is made when first asked for.

    ``groups``: of :func:`groups_in`, where it is known already.
    """

    def __init__(
        self,
        arranged: Arranged,
        trace: Trace,
        call: CallDiagnosis | None,
        groups: Mapping[NodeId, NodeId] | None = None,
    ) -> None:
        self._arranged = arranged
        self._graph: Any = arranged.graph
        self._trace = trace
        self._call = call
        self._known_groups = groups

    @cached_property
    def nodes(self) -> dict[NodeId, Node]:
        return {id_: data["node"] for id_, data in self._graph.nodes(data=True)}

    @cached_property
    def _by_op(self) -> dict[OpId, NodeId]:
        return {node.op: id_ for id_, node in self.nodes.items() if node.op is not None}

    @cached_property
    def _by_tensor(self) -> dict[TensorId, NodeId]:
        return {node.tensor: id_ for id_, node in self.nodes.items() if node.tensor is not None}

    @cached_property
    def _by_line(self) -> dict[int, list[NodeId]]:
        found: dict[int, list[NodeId]] = defaultdict(list)
        for id_, node in self.nodes.items():
            for line in dict.fromkeys((node.line, *node.lines)):
                if line > 0:
                    found[line].append(id_)
        return found

    def nodes_on(self, line: int) -> frozenset[NodeId]:
        return frozenset(self._by_line.get(line, ()))

    @cached_property
    def _groups(self) -> Mapping[NodeId, NodeId]:
        return groups_in(self._arranged) if self._known_groups is None else self._known_groups

    @cached_property
    def _names_inside(self) -> Mapping[NodeId, frozenset[str]]:
        """For each folded box the names of what is in it, in small letters."""
        trace = self._trace
        found: dict[NodeId, set[str]] = defaultdict(set)
        for member, box in islice(self._groups.items(), MOST_INSIDE):
            op, version = op_of(member, trace), version_of(member, trace)
            if version is not None:
                found[box].add(trace.variable_names.get(version.variable, ""))
            elif op is not None:
                found[box].add(friendly(op.type))
                found[box].update(name for out in op.outputs for name in trace.names.get(out, ()))
        return {box: frozenset(map(str.lower, names)) for box, names in found.items()}

    def boxes_with(self, text: str) -> list[NodeId]:
        """The folded boxes in which something has a name with this text."""
        sought = text.strip().lower()
        return [
            box
            for box, names in self._names_inside.items()
            if sought and any(sought in name for name in names)
        ]

    def node_of_op(self, op: OpId | None) -> NodeId | None:
        """The node of an op, or the folded group that it is in."""
        if op is None:
            return None
        return self._by_op.get(op) or self._groups.get(op_id(op))

    def node_of_tensor(self, tensor: TensorId | None) -> NodeId | None:
        """The node that shows this tensor, else the one of the op that made it."""
        if tensor is None:
            return None
        direct = self._by_tensor.get(tensor)
        if direct is not None:
            return direct
        version = self._trace.reads.get(tensor)
        if version is not None:
            name = version_id(version)
            return name if name in self.nodes else self._groups.get(name)
        return self.node_of_op(self._trace.producers.get(tensor))

    def spans_of(self, nodes: frozenset[NodeId]) -> tuple[StackFrame, ...]:
        """The places in the text that ran at which these nodes were made, each once."""
        found: dict[StackFrame, None] = {}
        for node in list(nodes)[:MOST_SPANS]:
            known = self.nodes.get(node)
            op = self._trace.ops.get(known.op) if known is not None and known.op else None
            if op is not None and op.site.frames:
                found[op.site.frames[0]] = None
            elif known is not None and known.variable is not None:
                variable = self._trace.variables.get(known.variable)
                found.update(dict.fromkeys(variable.site.frames[:1] if variable else ()))
        return tuple(found)

    def spans_of_step(self, step: WalkStep) -> tuple[StackFrame, ...]:
        """The places in the text at which the op of a step was made, also if its node is folded
        away."""
        op = self._trace.op(step.op)
        return op.site.frames[:1] if op is not None else ()

    def line_of_operand(self, tensor: TensorId) -> int:
        """The line on which a source or a target of a gradient was made; 0 where unknown."""
        node = self.node_of_tensor(tensor)
        line = self.nodes[node].line if node else 0
        variable = self._trace.variable(tensor)
        return line or (variable.site.line if variable is not None else 0)

    def name_of(self, operand: Operand) -> str:
        return source_name(self._trace, operand)

    @cached_property
    def _by_name(self) -> dict[str, set[NodeId]]:
        found: dict[str, set[NodeId]] = defaultdict(set)
        for id_, node in self.nodes.items():
            found[node.title.rstrip("′")].add(id_)
            for name in self._trace.names.get(node.tensor, ()) if node.tensor is not None else ():
                found[name].add(id_)
        return found

    def nodes_named(self, name: str) -> frozenset[NodeId]:
        """The nodes of what the snippet calls by this name."""
        return frozenset(self._by_name.get(name, ()))

    def node_of_step(self, step: WalkStep) -> NodeId | None:
        return self.node_of_op(step.op) or self.node_of_tensor(step.at)

    @cached_property
    def _steps_by_node(self) -> dict[NodeId, list[int]]:
        found: dict[NodeId, list[int]] = defaultdict(list)
        for number, step in enumerate(self._call.steps if self._call else (), start=1):
            node = self.node_of_step(step)
            if node is not None:
                found[node].append(number)
        return found

    def selection_at(self, step: WalkStep) -> Selection:
        """The selection for a step of the walk: its node, line, and gradient."""
        node = self.node_of_step(step)
        nodes = frozenset((node,)) if node else frozenset[NodeId]()
        tensor = step.summed if step.kind == "sum" else self.tensor_of(nodes)
        return Selection(nodes, step.line, tensor, "gradient")

    def closed_path(self, node: NodeId) -> str:
        """The path that opens a node: of a folded group, or of a value computed before."""
        known = self.nodes.get(node)
        return known.opens if known is not None else ""

    def unknown_call(self, node: NodeId) -> Op | None:
        """The call of a compiled function that a node is, if it was not looked into yet."""
        known = self.nodes.get(node)
        op = self._trace.op(known.op) if known is not None else None
        is_call = op is not None and bool(op.runs) and op.inside is None
        return op if is_call and known is not None and known.role in ("op", "group") else None

    def open_path(self, node: NodeId) -> str:
        """The path of the group that a node stands in, ``""`` if in none."""
        known = self.nodes.get(node)
        if known is None:
            return ""
        # A closed group's own path names itself: it stands in the one around it.
        return known.group if known.role != "group" else path_of(known).rpartition("/")[0]

    def repeat_of(self, nodes: frozenset[NodeId]) -> tuple[str, int]:
        """Path and number of turns of the repeat that one of these nodes is or stands in, else of
        the first that is drawn; ``("", 0)`` where there is none."""
        counts = {frame.path: frame.count for frame in self._graph.graph.get("frames", ())}
        counts.update({node.opens: node.turns for node in self.nodes.values() if node.turns})
        counts = {path: count for path, count in counts.items() if count}
        homes = [path_of(node) for id_, node in self.nodes.items() if id_ in nodes]
        paths = (path for home in homes for path in upwards(home))
        found = next((path for path in paths if path in counts), next(iter(counts), ""))
        return found, counts.get(found, 0)

    def steps_of(self, nodes: frozenset[NodeId]) -> tuple[int, ...]:
        """Numbers (from 1) of the steps that run at one of these nodes."""
        return tuple(sorted(n for node in nodes for n in self._steps_by_node.get(node, ())))

    def line_of(self, nodes: frozenset[NodeId]) -> int:
        """The line that all of these nodes share, else 0."""
        lines = {self.nodes[node].line for node in nodes if node in self.nodes}
        return lines.pop() if len(lines) == 1 else 0

    def tensor_of(self, nodes: frozenset[NodeId]) -> TensorId | None:
        """The value to look at: of a single node its own, of a line's nodes the last one's."""
        known = [id_ for id_ in self.nodes if id_ in nodes] if len(nodes) < 200 else []
        tensors = [self.nodes[id_].tensor for id_ in known]
        return next((tensor for tensor in reversed(tensors) if tensor is not None), None)

    def nodes_of_cause(self, cause: Cause) -> frozenset[NodeId]:
        """Both ends of the edges that a cause cuts, else the nodes on its line."""
        found: set[NodeId] = set()
        for tensor, op in cause.links:
            found.update(
                node for node in (self.node_of_op(op), self.node_of_tensor(tensor)) if node
            )
        at_op = self.node_of_op(cause.op_id)
        if at_op:
            found.add(at_op)
        return frozenset(found) or self.nodes_on(cause.line)

    @cached_property
    def _upstream(self) -> dict[TensorId, TensorId]:
        """Gradients as the steps received them: those of targets are recorded nowhere else."""
        found: dict[TensorId, TensorId] = {}
        for step in self._call.steps if self._call else ():
            op = self._trace.op(step.op)
            if op is not None:
                pairs = zip(step.made or op.outputs, step.upstream, strict=False)
                found.update({output: given for output, given in pairs if given is not None})
        return found

    @cached_property
    def _sums(self) -> dict[TensorId, TensorId]:
        """Gradients of variables: each read of a variable has a share, the sum is the gradient."""
        return {
            step.summed: step.downstream[0]
            for step in (self._call.steps if self._call else ())
            if step.kind == "sum" and step.summed is not None and step.downstream[0] is not None
        }

    def gradient_of(self, tensor: TensorId | None) -> TensorId | None:
        """The gradient that reached a tensor in the call that is shown; for a variable's value that
        of the variable, in this version of it."""
        if tensor is None or self._call is None:
            return None
        same = self._same_value(tensor)
        for found in (self._sums, self._call.flow.gradients):
            for same_tensor in same:
                if same_tensor in found:
                    return found[same_tensor]
        return self._upstream.get(tensor)

    def _same_value(self, tensor: TensorId) -> tuple[TensorId, ...]:
        """The tensor, other reads of the same version, and the variable's handle."""
        node = self.nodes.get(self.node_of_tensor(tensor) or "")
        if node is None or node.variable is None:
            return (tensor,)
        version = self._trace.reads.get(tensor)
        reads = version.reads if version is not None else ()
        return (tensor, *reads, TensorId(node.variable))

    def bridged_of(self, tensor: TensorId | None) -> TensorId | None:
        """The gradient across the cut of a source, where there is one."""
        if tensor is None or self._call is None or self._call.bridged is None:
            return None
        same = self._same_value(tensor)
        for operand, finding in zip(self._call.call.sources, self._call.findings, strict=False):
            if operand.tensor in same and finding.bridged is not None:
                return finding.bridged
        return None
