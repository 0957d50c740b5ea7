"""Build the op graph of a gradient call: ops, versions, constants, and their edges."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Set
from dataclasses import replace

from msgspec import structs

from ..errors import go_on
from ..trace.compiled.model import Loop
from ..trace.model import Call, Op, OpId, TensorId, Trace, VariableId, Version
from ..trace.state import keeps_prior_state
from .loose_ends import drop_loose_ends
from .model import Edge, EdgeState, Link, NodeId, Part
from .nodes import Nodes, constant_id, is_recorded, op_id, value_of, version_id
from .op_graph import OpGraph
from .select import NodeSelection, select
from .trace_index import (
    NO_LINKS,
    Links,
    TraceIndex,
    shown_calls,
    version_before,
)
from .words import ranked_names


def build(
    trace: Trace,
    call: Call | None = None,
    *,
    shows_all: bool = False,
    links: Links = NO_LINKS,
    opened: Collection[str] = (),
) -> OpGraph:
    """The op graph of a gradient call (default: the last), or with ``shows_all`` of the whole run.

    ``links``: for each constant that came back from Python, the tensors that it was made from.
    ``opened``: paths of values computed outside the picture whose ops are shown all the same, see
    `scope.before_path`.
    """
    index = _index_of(trace, links)
    if call is None and trace.calls:
        call = shown_calls(trace)[-1]
    go_on()
    selection = select(index, call, opened, shows_all=shows_all)
    go_on()
    wiring = _Wiring(index, selection)
    wiring.wire()
    go_on()
    if not shows_all and call is not None:
        drop_loose_ends(wiring.graph, index.trace, *wiring.asked())
    wiring.graph.pinned = wiring.pinned(call)
    return wiring.graph


_latest: list[tuple[Trace, Links, TraceIndex]] = []
"""The index made last: most pictures are of the same trace as the one before."""


def _index_of(trace: Trace, links: Links) -> TraceIndex:
    for known, with_links, index in _latest:
        if known is trace and with_links == links:
            return index
    prepared = replace(trace, producers=_makers(trace), names=ranked_names(trace))
    index = TraceIndex(prepared, links)
    _latest[:] = [(trace, links, index)]
    return index


def _makers(trace: Trace) -> Mapping[TensorId, OpId]:
    """Map each tensor to the op that computed it.

    `Trace.producers` has the custom_gradient for its outputs, as the tape does; here they map to
    the op inside of it. (A compiled function runs as an op of the same type inside of its entry:
    its outputs keep the entry.)
    """
    makers: dict[TensorId, OpId] = {}
    for entry in trace.ops.values():
        for inside in entry.body:
            op = trace.ops[inside]
            if not op.is_recorded_operation and op.type != entry.type:
                makers.update(
                    (tensor, op.id)
                    for tensor in op.outputs
                    if makers.get(tensor, trace.producers.get(tensor)) == entry.id
                )
    return {**trace.producers, **makers} if makers else trace.producers


_MOST_SOURCES = 8


class _Wiring:
    """Adds the nodes of a selection to an op graph, and the edges between them."""

    def __init__(self, index: TraceIndex, selection: NodeSelection) -> None:
        self._index = index
        self._trace = index.trace
        self._selection = selection
        self._links = index.links
        self._nodes = Nodes(index, selection)
        self.graph = OpGraph(self._nodes)
        self._ids: dict[OpId, NodeId] = {}
        self._uses: dict[TensorId, int] = {}
        for op in selection.ops:
            for tensor in op.inputs:
                self._uses[tensor] = self._uses.get(tensor, 0) + 1

    def wire(self) -> None:
        """Build the graph; each step needs the nodes of those before it."""
        chosen = self._selection
        versions = [self._trace.version(key) for key in sorted(chosen.scope.versions)]
        self._add_nodes(versions)
        for version in versions:
            self._join_initial(version)
        for tensor in sorted((chosen.scope.tensors | chosen.scope.outside) & chosen.asked):
            self._supplier(tensor, None)
        stretched: dict[int, Edge] = {}
        for op in self._index.with_body:
            if chosen.shown.isdisjoint(op.body):
                continue
            if op.is_recorded_operation:
                self._join_entry(op, stretched)
            self.graph.entries[op.id] = op
        self.graph.exchange(stretched)
        for op in chosen.ops:
            if op.runs and not op.body:
                self.graph.entries[op.id] = op
        self.graph.carried = {
            loop.op: self._carried(loop) for loop in self._trace.loops.values() if loop.carried
        }

    def _carried(self, loop: Loop) -> tuple[Edge, ...]:
        """Edges for the values that a turn of a compiled loop hands to the next."""
        inside = set(loop.body)
        makers = {out: op for op in loop.body for out in self._trace.ops[op].outputs}
        found = []
        for taken, handed in loop.carried:
            maker = makers.get(handed, self._trace.producers.get(handed))
            if maker not in inside or op_id(maker) not in self.graph:
                continue
            for op in loop.body:
                if taken in self._trace.ops[op].inputs and op_id(op) in self.graph:
                    ends = op_id(maker), op_id(op)
                    found.append(Edge(*ends, 0, handed, op, "unrecorded", is_carried=True))
        return tuple(found)

    def asked(self) -> tuple[set[NodeId], set[VariableId]]:
        """Nodes of the tensors, and the variables, that the snippet gave to a tape: targets,
        sources and watched ones."""
        asked = self._selection.asked
        makers = (self._trace.producers.get(tensor) for tensor in asked)
        nodes = {op_id(maker) for maker in makers if maker is not None}
        return nodes | set(map(constant_id, asked)), set(map(VariableId, asked))

    def pinned(self, call: Call | None) -> frozenset[NodeId]:
        """Nodes of the targets, of up to :data:`_MOST_SOURCES` sources and of the cuts. If all ops
        are shown, the only versions of a variable among them are those that no op wrote."""
        if call is None:
            return frozenset()
        operands = list(call.targets[:_MOST_SOURCES])
        if len(call.sources) <= _MOST_SOURCES:
            operands += call.sources
        wanted = {operand.tensor for operand in operands if operand.tensor is not None}
        makers = {self._trace.producers.get(tensor) for tensor in wanted}
        makers |= self._selection.scope.cuts
        none_of = wanted.isdisjoint
        return frozenset(
            [
                name
                for name, part in self.graph.parts.items()
                if not (isinstance(part, Op) and none_of(part.outputs) and part.id not in makers)
                and self._is_pinned(name, part, wanted, makers)
            ]
        )

    def _is_pinned(
        self,
        name: NodeId,
        part: Part,
        wanted: Set[TensorId],
        makers: Set[OpId | None],
    ) -> bool:
        if isinstance(part, Op):
            return part.id in makers or self._nodes.tensor_of(part) in wanted
        if isinstance(part, Version):
            is_first = not (self._selection.is_all and name in self.graph.into)
            return (TensorId(part.variable) in wanted and is_first) or value_of(
                self._trace, part
            ) in wanted
        maker = self._nodes.maker_of(part)
        return part in wanted or (maker is not None and maker in makers)

    def _id_of(self, op: OpId) -> NodeId:
        """The id of an op's node; always the same string object, which edges and tables share."""
        known = self._ids.get(op)
        if known is None:
            known = self._ids[op] = op_id(op)
        return known

    def _add_nodes(self, versions: list[Version]) -> None:
        """Add versions and ops in the order of time, then the edges into the ops."""
        data = self._selection.data
        whens: list[tuple[int, Version | Op]] = [(version.when, version) for version in versions]
        whens += [(op.when, op) for op in self._selection.ops if data.get(op.id, op.id) == op.id]
        ordered = [made for _, made in sorted(whens, key=lambda pair: pair[0])]
        for made in ordered:
            if isinstance(made, Version):
                self.graph.parts[version_id(made)] = made
        for made in ordered:
            if isinstance(made, Op):
                self.graph.parts[self._id_of(made.id)] = made
                self._join_inputs(made)

    def _edge(
        self,
        source: NodeId | None,
        target: NodeId,
        tensor: TensorId | None,
        consumer: OpId | None,
        state: EdgeState = "unrecorded",
        folded: tuple[Link, ...] = (),
    ) -> None:
        if source is not None and source in self.graph and source != target:
            links = (*folded, *self._read_link(tensor))
            self.graph.add(Edge(source, target, 0, tensor, consumer, state, links))

    def _read_link(self, tensor: TensorId | None) -> tuple[Link, ...]:
        """The link of the read that an edge from a variable stands for: a cut there cuts the
        edge."""
        reader = self._trace.producers.get(tensor) if tensor is not None else None
        return ((None, reader),) if reader is not None and tensor in self._trace.reads else ()

    def _join_inputs(self, op: Op) -> None:
        """Add an edge for each tensor that the op takes; two uses of one tensor are one edge."""
        if op.id in self._selection.data:
            return
        target = self._id_of(op.id)
        state: EdgeState = "recorded" if is_recorded(op) else "unrecorded"
        trace, graph = self._trace, self.graph
        shown, data = self._selection.shown, self._selection.data
        written = trace.writes.get(op.id)
        inputs = op.inputs if len(op.inputs) < 2 else dict.fromkeys(op.inputs)
        for tensor in inputs:
            producer = trace.producers.get(tensor)
            handle = VariableId(tensor)
            if (
                producer in shown
                and producer in self._ids
                and producer not in data
                and handle not in trace.variables
                and tensor not in trace.reads
                and trace.ops[producer].when < op.when
            ):  # nearly all edges of a long tape
                source = self._ids[producer]
                if source != target and source in graph.parts:
                    graph.add(Edge(source, target, 0, tensor, op.id, state))
                continue
            if not self._is_older(tensor, op.id):
                continue
            if handle not in self._trace.variables:
                self._edge(self._supplier(tensor, op), target, tensor, op.id, state)
            elif written is None or written.variable != handle:
                version = self._version_seen(op, handle)
                if version is not None:
                    self._edge(version_id(version), target, tensor, op.id, state)
        if written is not None:
            self._join_write(op, written)

    def _is_older(self, tensor: TensorId, op: OpId) -> bool:
        """Whether the tensor was made before the op. False only in a damaged recording, which would
        give a cycle."""
        producer = self._trace.producers.get(tensor)
        ops = self._trace.ops
        return producer is None or ops[producer].when < ops[op].when

    def _version_seen(self, op: Op, handle: VariableId) -> Version | None:
        touched = self._trace.touches.get((op.id, handle))
        reads = (self._trace.reads.get(output) for output in op.outputs)
        return touched or next((version for version in reads if version is not None), None)

    def _join_write(self, op: Op, version: Version) -> None:
        if keeps_prior_state(op.type) and version.index:
            before = self._trace.version(version.id.prior)
            # A replayed pass names the state by the handle that the write took.
            handle: Link = (TensorId(version.variable), op.id)
            self._edge(version_id(before), op_id(op.id), None, op.id, folded=(handle,))
        if version_id(version) in self.graph:
            self._edge(op_id(op.id), version_id(version), None, None)

    def _join_initial(self, version: Version) -> None:
        """Add the edge to a variable's first version from the tensor that it was made from, if a
        gradient could reach that."""
        value = version.value
        if version.index or value is None or value not in self._selection.descent.carrying:
            return
        made = self._trace.ops.get(self._trace.producers.get(value, OpId(0)))
        if made is None or made.when < version.when:
            self._edge(self._supplier(value, None), version_id(version), value, version.op)

    def _join_entry(self, entry: Op, stretched: dict[int, Edge]) -> None:
        """Add the inputs of a recorded operation to the edges into its body.

        ``stretched``: the new edge for each of these, by ``id`` of the edge that it replaces.
        ``custom_gradient`` reads its variables once more after the body ran; such a tensor gets
        an edge of its own.
        """
        inside = [op for op in entry.body if op_id(op) in self.graph]
        if not inside:
            return
        state: EdgeState = "recorded" if is_recorded(entry) else "unrecorded"
        members = set(map(op_id, inside))
        ways_in: dict[NodeId, Edge] = {}
        for member in map(op_id, inside):
            for edge in self.graph.into.of(member):
                ways_in.setdefault(edge.source, edge)
        is_compiled = any(self._trace.ops[op].within is not None for op in entry.body)
        for tensor in dict.fromkeys(entry.inputs):
            touched = self._trace.touches.get((entry.id, VariableId(tensor)))
            supplier = version_id(touched) if touched else self._supplier(tensor, None)
            if supplier is None or supplier in members:
                continue
            if supplier in ways_in:
                way = ways_in[supplier]
                edge = stretched.get(id(way), way)
                links: tuple[Link, ...] = (*edge.folded, (tensor, entry.id))
                stretched[id(way)] = structs.replace(edge, folded=links, state=state)
            elif is_compiled:  # its body does not use this input
                continue
            elif tensor in self._trace.reads or self._is_older(tensor, inside[-1]):
                self._edge(supplier, op_id(inside[-1]), tensor, entry.id, state)

    # Where a tensor comes from.

    def _supplier(self, tensor: TensorId, consumer: Op | None) -> NodeId | None:
        """The node that a tensor comes from, None if the picture has none; the node of a constant
        is made here."""
        chosen = self._selection
        producer = self._trace.producers.get(tensor)
        if producer is not None and producer in chosen.shown:
            return self._id_of(chosen.data.get(producer, producer))
        version = self._trace.reads.get(tensor)
        if version is not None:
            return version_id(version)
        if VariableId(tensor) in self._trace.variables:
            return None
        if producer is None:
            return self._constant(tensor, consumer)
        if producer in chosen.bookkeeping.ops:
            return None
        # The op that made it is not in the picture: the value has a node of its own.
        if tensor in chosen.scope.outside and not self._is_inner(tensor):
            return self._constant(tensor, consumer)
        return None

    def _is_inner(self, tensor: TensorId) -> bool:
        """Whether this tensor was made by a gradient call, and is neither a result nor named."""
        made = self._trace.ops[self._trace.producers[tensor]]
        is_known = tensor in self._index.results or bool(self._trace.names.get(tensor))
        return made.call is not None and not is_known

    def _constant(self, tensor: TensorId, consumer: Op | None) -> NodeId | None:
        known = self._trace.tensors.get(tensor)
        hidden = tensor in self._selection.bookkeeping.constants
        if known is None or known.is_handle or hidden:
            return None
        is_named = bool(self._trace.names.get(tensor)) or tensor in self._selection.asked
        node = constant_id(tensor)
        is_shared = known.shape == () and not is_named and self._uses.get(tensor, 0) > 1
        if consumer is not None and is_shared:
            node = f"{node}:{consumer.id}"
        if node not in self.graph:
            self.graph.parts[node] = tensor
            for left in self._links.get(tensor, ()):
                # Ids count up: a constant is not made from a tensor with a larger id.
                if left < tensor:
                    self._edge(self._left_from(left, tensor), node, left, None)
        return node

    def _left_from(self, left: TensorId, returned: TensorId) -> NodeId | None:
        version = version_before(self._trace, left, returned)
        return version_id(version) if version is not None else self._supplier(left, None)
