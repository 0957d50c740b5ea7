"""Add the nodes of a selection to an op graph, and the edges between them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from itertools import chain
from operator import attrgetter

from ..trace.calls import Call
from ..trace.ids import OpId, TensorId, VariableId
from ..trace.ops import Op
from ..trace.state import keeps_prior_state
from ..trace.variables import Version
from .model import EdgeState, Link, NodeId
from .nodes import Nodes, constant_id, is_recorded, op_id, version_id
from .op_graph import OpGraph
from .select import NodeSelection
from .trace_index import TraceIndex, version_before


class Wiring:
    """Adds the nodes of a selection to an op graph, and the edges between them."""

    def __init__(self, index: TraceIndex, selection: NodeSelection) -> None:
        self._index = index
        self._trace = index.trace
        self._selection = selection
        self._came_back = index.came_back
        self.graph = OpGraph(Nodes(index, selection))
        self._ops: dict[OpId, int] = {}
        """The places of ops."""
        self._others: dict[NodeId, int] = {}
        """The places of versions and constants."""
        self._ended: set[OpId] = set()
        """The recorded operations that an op inside stands for, see `_ends_of_entries`."""
        self._uses = Counter(chain.from_iterable([op.inputs for op in selection.ops]))

    def wire(self) -> None:
        """Build the graph; each step needs the nodes of those before it."""
        chosen = self._selection
        versions = [self._trace.version(key) for key in sorted(chosen.scope.versions)]
        chosen.scope.versions.clear()  # nobody reads them later, and they may be many
        self._add_nodes(versions)
        for version in versions:
            self._join_initial(version)
        for tensor in sorted((chosen.scope.tensors | chosen.scope.outside) & chosen.asked):
            self._supplier(tensor, None)
        entries = [op for op in self._index.with_body if not chosen.shown.isdisjoint(op.body)]
        edges_into = self._edges_into(entries)
        for entry in entries:
            if entry.is_recorded_operation:
                self._join_entry(entry, edges_into)
            self.graph.entries[entry.id] = entry
        for op in chosen.ops:
            if op.description.runs and not op.body:
                self.graph.entries[op.id] = op

    def asked(self, call: Call) -> tuple[set[NodeId], set[VariableId]]:
        """Nodes of the tensors, and the variables, that the snippet gave to a tape: targets,
        sources and watched ones. A variable that is a target adds the version that it had then."""
        asked = self._selection.asked
        makers = (self._trace.producers.get(tensor) for tensor in asked)
        nodes = {op_id(maker) for maker in makers if maker is not None}
        for tensor in call.target_tensors:
            variable = self._trace.variable(tensor)
            if variable is not None and (seen := variable.version_at(call.when)) is not None:
                nodes.add(version_id(seen))
        return nodes | set(map(constant_id, asked)), set(map(VariableId, asked))

    def _add_nodes(self, versions: list[Version]) -> None:
        """Add versions and ops in the order of time, then the edges into the ops."""
        data, merged = self._selection.data, self._selection.merged
        parts: dict[OpId, list[Op]] = {}
        for part, end in merged.items():
            parts.setdefault(end, []).append(self._trace.ops[part])
        ordered: list[Version | Op] = [*versions]
        ops = (op for op in self._selection.ops if data.get(op.id, op.id) == op.id)
        ordered += (op for op in ops if op.id not in merged)
        ordered.sort(key=attrgetter("when"))
        ends = self._ends_of_entries()
        for made in ordered:
            if isinstance(made, Version):
                self._others[version_id(made)] = self.graph.add(version_id(made), made)
        for made in ordered:
            if isinstance(made, Op):
                place = self._ops[made.id] = self.graph.add(op_id(made.id), made)
                if made.id in ends:
                    self._ops.update(dict.fromkeys(ends[made.id], place))
                    self._ended.update(ends[made.id])
                if made.id in parts:
                    self._ops.update({op.id: place for op in parts[made.id]})
                    for op in parts[made.id]:
                        self._join_inputs(op)
                self._join_inputs(made)
        self.graph.merged = {op_id(end): [op_id(op.id) for op in of] for end, of in parts.items()}

    def _ends_of_entries(self) -> Mapping[OpId, Sequence[OpId]]:
        """For the last op of each recorded operation, these operations: what no op inside makes
        comes from there, as the lists of a loop's values that its backward pass takes."""
        chosen, ops = self._selection, self._trace.ops
        ends: dict[OpId, list[OpId]] = {}
        for entry in self._index.with_body:
            shown = [ops[op] for op in entry.body if op in chosen.shown and op not in chosen.data]
            if shown and entry.is_recorded_operation and entry.id not in chosen.shown:
                last = max(shown, key=lambda op: (is_recorded(op), op.when)).id
                ends.setdefault(chosen.merged.get(last, last), []).append(entry.id)
        return ends

    def _edge(
        self,
        source: int | None,
        target: int,
        tensor: TensorId | None,
        consumer: OpId | None,
        state: EdgeState = "unrecorded",
        folded: tuple[Link, ...] = (),
    ) -> None:
        if source is not None and source != target:
            links = (*folded, *self._read_link(tensor))
            self.graph.edges.add(source, target, tensor, consumer, state, links)

    def _read_link(self, tensor: TensorId | None) -> tuple[Link, ...]:
        """The link of the read that an edge from a variable stands for: a cut there cuts the
        edge."""
        reader = self._trace.producers.get(tensor) if tensor is not None else None
        return ((None, reader),) if reader is not None and tensor in self._trace.reads else ()

    def _join_inputs(self, op: Op) -> None:
        """Add an edge for each tensor that the op takes. Two uses of one tensor are one edge, and
        so are all values that a compiled function kept for its backward pass."""
        if op.id in self._selection.data:
            return
        target = self._ops[op.id]
        state: EdgeState = "recorded" if is_recorded(op) else "unrecorded"
        trace, places = self._trace, self._ops
        producers, add = trace.producers, self.graph.edges.add
        reads, variables = trace.reads, trace.variables
        written = trace.writes.get(op.id)
        inputs = op.inputs if len(op.inputs) < 2 else dict.fromkeys(op.inputs)
        kept: dict[int, list[TensorId]] = {}
        for tensor in inputs:
            producer = producers.get(tensor)
            source = places.get(producer) if producer is not None else None
            handle = VariableId(tensor)
            if source is not None and tensor not in reads and handle not in variables:
                if producer in self._ended:
                    kept.setdefault(source, []).append(tensor)
                elif source != target:  # nearly all edges of a long tape
                    add(source, target, tensor, op.id, state)
                continue
            if not self._is_older(tensor, op.id):
                continue
            if handle not in variables:
                self._edge(self._supplier(tensor, op), target, tensor, op.id, state)
            elif written is None or written.variable != handle:
                version = self._version_seen(op, handle)
                if version is not None:
                    self._edge(self._place_of(version), target, tensor, op.id, state)
        for source, (first, *others) in kept.items():
            links = tuple((tensor, op.id) for tensor in others)
            self._edge(source, target, first, op.id, state, folded=links)
        if written is not None:
            self._join_write(op, written)

    def _place_of(self, version: Version) -> int | None:
        return self._others.get(version_id(version))

    def _is_older(self, tensor: TensorId, op: OpId) -> bool:
        """Whether the tensor was made before the op. False only in a damaged recording, which would
        give a cycle."""
        maker = self._trace.maker(tensor)
        return maker is None or maker.when < self._trace.ops[op].when

    def _version_seen(self, op: Op, handle: VariableId) -> Version | None:
        touched = self._trace.touches.get((op.id, handle))
        reads = (self._trace.reads.get(output) for output in op.outputs)
        return touched or next((version for version in reads if version is not None), None)

    def _join_write(self, op: Op, version: Version) -> None:
        if keeps_prior_state(op.type) and version.index:
            before = self._trace.version(version.id.prior)
            # A replayed pass names the state by the handle that the write took.
            handle: Link = (TensorId(version.variable), op.id)
            self._edge(self._place_of(before), self._ops[op.id], None, op.id, folded=(handle,))
        made = self._place_of(version)
        if made is not None:
            self._edge(self._ops[op.id], made, None, None)

    def _join_initial(self, version: Version) -> None:
        """Add the edge to a variable's first version from the tensor that it was made from, if a
        gradient could reach that."""
        value = version.value
        if version.index or value is None or value not in self._selection.descent.carrying:
            return
        made = self._trace.maker(value)
        place = self._place_of(version)
        if place is not None and (made is None or made.when < version.when):
            self._edge(self._supplier(value, None), place, value, version.op)

    def _edges_into(self, entries: list[Op]) -> dict[int, list[int]]:
        """The rows of the edges into each node of the bodies of some entries."""
        inside = {self._ops[op] for entry in entries for op in entry.body if op in self._ops}
        found: dict[int, list[int]] = {}
        for row, target in enumerate(self.graph.edges.targets if inside else ()):
            if target in inside:
                found.setdefault(target, []).append(row)
        return found

    def _join_entry(self, entry: Op, edges_into: dict[int, list[int]]) -> None:
        """Add the inputs of a recorded operation to the edges into its body.

        ``edges_into``: the rows of the edges into each node of a body. ``custom_gradient`` reads
        its variables once more after the body ran; such a tensor gets an edge of its own.
        """
        inside = [op for op in entry.body if op in self._ops]
        if not inside:
            return
        edges = self.graph.edges
        state: EdgeState = "recorded" if is_recorded(entry) else "unrecorded"
        members = [self._ops[op] for op in inside]
        own = set(members)
        edges_in: dict[int, int] = {}
        for member in members:
            for row in edges_into.get(member, ()):
                edges_in.setdefault(edges.sources[row], row)
        is_compiled = any(self._trace.ops[op].within is not None for op in entry.body)
        for tensor in dict.fromkeys(entry.inputs):
            touched = self._trace.touches.get((entry.id, VariableId(tensor)))
            supplier = self._place_of(touched) if touched else self._inner_constant(tensor, inside)
            if supplier is None and not touched:
                # What no op of an opened call takes needs no node.
                supplier = self._supplier(tensor, None, adds=not is_compiled)
            if supplier is None or supplier in own:
                continue
            if supplier in edges_in:
                row = edges_in[supplier]
                edges.folded[row] = (*edges.folded.get(row, ()), (tensor, entry.id))
                edges.states[row] = state
            elif is_compiled:  # its body does not use this input
                continue
            elif tensor in self._trace.reads or self._is_older(tensor, inside[-1]):
                edges_into.setdefault(members[-1], []).append(len(edges))
                self._edge(supplier, members[-1], tensor, entry.id, state)

    # Where a tensor comes from.

    def _supplier(self, tensor: TensorId, consumer: Op | None, adds: bool = True) -> int | None:
        """The place of the node that a tensor comes from, None if the picture has none; the node of
        a constant is made here, unless it ``adds`` nothing."""
        chosen = self._selection
        producer = self._trace.producers.get(tensor)
        if producer is not None and (producer in chosen.shown or producer in self._ops):
            return self._ops.get(chosen.data.get(producer, producer))
        version = self._trace.reads.get(tensor)
        if version is not None:
            return self._place_of(version)
        if VariableId(tensor) in self._trace.variables:
            return None
        if producer is None:
            return self._constant(tensor, consumer, adds)
        if producer in chosen.bookkeeping.ops:
            return None
        # The op that made it is not in the picture: the value has a node of its own.
        if tensor in chosen.scope.outside and not self._is_inner(tensor):
            return self._constant(tensor, consumer, adds)
        return None

    def _is_inner(self, tensor: TensorId) -> bool:
        """Whether this tensor was made by a gradient call, and is neither a result nor named."""
        made = self._trace.ops[self._trace.producers[tensor]]
        is_known = tensor in self._index.results or bool(self._trace.names.get(tensor))
        return made.call is not None and not is_known

    def _constant(self, tensor: TensorId, consumer: Op | None, adds: bool) -> int | None:
        known = self._trace.tensors.get(tensor)
        hidden = tensor in self._selection.bookkeeping.constants
        if known is None or known.is_handle or hidden:
            return None
        is_named = bool(self._trace.names.get(tensor)) or tensor in self._selection.asked
        node = constant_id(tensor)
        is_shared = known.shape == () and not is_named and self._uses[tensor] > 1
        if consumer is not None and is_shared:
            node = _constant_for(tensor, consumer.id)
        place = self._others.get(node)
        if place is None and adds:
            place = self._others[node] = self.graph.add(node, tensor)
            for left in self._came_back.get(tensor, ()):
                # Ids count up: a constant is not made from a tensor with a larger id.
                if left < tensor:
                    self._edge(self._left_from(left, tensor), place, left, None)
        return place

    def _inner_constant(self, tensor: TensorId, takers: list[OpId]) -> int | None:
        """The place of the node that a constant has for one of its takers alone."""
        nodes = (_constant_for(tensor, taker) for taker in takers)
        return next((self._others[node] for node in nodes if node in self._others), None)

    def _left_from(self, left: TensorId, returned: TensorId) -> int | None:
        version = version_before(self._trace, left, returned)
        if version is not None:
            return self._place_of(version)
        return self._supplier(left, None)


def _constant_for(tensor: TensorId, taker: OpId) -> NodeId:
    return f"{constant_id(tensor)}:{taker}"
