"""The data flow of a trace: where values went, through ops, state and Python, taped or not.

The nodes of this graph are tensors and versions of variables (:data:`Position`), its edges
:class:`DataEdge`. It is what a gradient *could* follow if nothing stopped it.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence, Set
from functools import cached_property

from ...text.source import SourceText
from ...trace.calls import Call, Operand
from ...trace.compiled.handed import handed_on
from ...trace.ids import OpId, SiteId, TensorId, VariableId, VersionId
from ...trace.model import Binding, Leave, Trace
from ...trace.naming import bound_lines
from ...trace.op_kinds import ops_with
from ...trace.ops import Op
from ...trace.reading.attributes import ObjectAttributes, attributes_of
from ...trace.sites import Site
from ...trace.state import keeps_prior_state
from ...trace.variables import Version
from .ancestry import Ancestry, DataEdge, DataEdgeKind, Position
from .origins import Origins

REF_VARIABLES = ops_with("ref-variable")
REF_ASSIGNS = ops_with("ref-assign")
# They look at the form of a tensor and never at its elements.
FORM_OPS = ops_with("form")
# What they give jumps from value to value, and is constant in between.
LEVEL_OPS = ops_with("flat", "position", "question")
# They give a new list (list_ops, TensorArray in a function).
LIST_WRITES = ops_with("list-write")
_BRANCHES, _LOOPS = ops_with("branch"), ops_with("loop")
_FEW = 10
"""Edges into a position, or versions of a variable, up to which finding them again is cheaper than
keeping them."""
Skip = Callable[[DataEdge], bool]


def position_of_target(trace: Trace, tensor: TensorId, when: int) -> Position:
    """The position at which a target ends: a tensor, or the version that a variable had then."""
    variable = trace.variable(tensor)
    if variable is None or not variable.versions:
        return tensor
    return (variable.version_at(when) or variable.versions[0]).id


class DataFlow:
    """The edges of a trace, asked for backwards (:meth:`into`)."""

    def __init__(
        self, trace: Trace, left: Mapping[TensorId, tuple[Leave, ...]] | None = None
    ) -> None:
        self.trace = trace
        self._left = left or {}
        self._known: dict[Position, tuple[DataEdge, ...]] = {}
        self._is_shared = len(trace.calls) > 1
        """Several calls ask for the same edges; a single one keeps those that it needs."""
        self._starts: dict[TensorId, Set[Position]] = {}
        self._taken: dict[int, Mapping[int, int]] = {}

    @cached_property
    def origins(self) -> Origins:
        return Origins(self.trace)

    def into(self, position: Position) -> tuple[DataEdge, ...]:
        """How the value at this position came about: an edge for each value it was made from."""
        edges = self._known.get(position)
        if edges is None:
            edges = self._edges_into(position)
            if self._is_shared or len(edges) > _FEW:
                self._known[position] = edges
        return edges

    def _edges_into(self, position: Position) -> tuple[DataEdge, ...]:
        if isinstance(position, VersionId):
            return self._into_version(position, self.trace.version(position))
        version = self.trace.reads.get(position)
        if version is not None:
            reader = self.trace.producers.get(position)
            return (DataEdge("read", version.id, position, reader),)
        producer = self.trace.producers.get(position)
        if producer is None or position in self._left:
            return tuple(
                DataEdge(
                    "python", self.position_left(leave), position, None, leave.tensor, leave=leave
                )
                for leave in self._left.get(position, ())
            )
        return self._through(self.trace.ops[producer], position)

    def _through(self, op: Op, position: TensorId) -> tuple[DataEdge, ...]:
        edges = []
        for index, tensor in self._inputs_of(op, position):
            start: Position = tensor
            touched = self.trace.touches.get((op.id, VariableId(tensor)))
            if touched is not None:
                start = touched.id
            edges.append(DataEdge("op", start, position, op.id, tensor, index))
            for handed in self._handed_on.get((op.id, tensor), ()):
                edges.append(DataEdge("op", handed, position, op.id, tensor, index))
            for filler in self._fillers.get(tensor, ()):
                if filler.when < op.when:
                    edges.extend(self._filled(filler, tensor, position))
        if op.is_recorded_operation and op.body and not op.is_open:
            edges.extend(self._captured(op, position))
        if op.type in REF_VARIABLES:
            for assign in self._ref_assigns.get(position, ()):
                edges.append(
                    DataEdge("assign", assign.inputs[-1], position, assign.id, assign.inputs[-1])
                )
        return tuple(edges)

    def _inputs_of(self, op: Op, output: TensorId) -> Iterator[tuple[int, TensorId]]:
        """The inputs that an output may be made from, with their places.

        What an opened loop computes is an output of an op in its body. An output of the loop itself
        is handed on as it came in, in the same place. Which inputs an output of a compiled function
        is made from is seen in a call of it that is open.
        """
        place = op.outputs.index(output) if op.id in self.trace.loops else len(op.inputs)
        if place < len(op.inputs):
            yield place, op.inputs[place]
            return
        taken = self._taken_by(op.runs).get(op.outputs.index(output)) if op.runs else None
        for index, tensor in enumerate(op.inputs):
            if taken is None or taken >> index & 1:
                yield index, tensor

    def _taken_by(self, graph: int) -> Mapping[int, int]:
        """For outputs of a compiled function, by their places, the arguments that they are made
        from: bit i for argument i. Without outputs that no op in an open call gave; none of a
        function with a branch, or a loop that did not turn: another call may take another course.
        """
        if graph not in self._taken:
            self._taken[graph] = {}
            function = self.trace.functions.get(graph)
            calls = (self.trace.ops[call] for call in function.calls) if function else ()
            opened = next((call for call in calls if call.inside and call.body), None)
            body = [self.trace.ops[inner] for inner in opened.body] if opened is not None else []
            is_known = not any(
                op.type in _BRANCHES or (op.type in _LOOPS and op.id not in self.trace.loops)
                for op in body
            )
            if opened is not None and is_known:
                found = self._taken_inside(opened, body)
                places = {tensor: place for place, tensor in enumerate(opened.outputs)}
                inside = places.keys() & found.keys()
                self._taken[graph] = {places[tensor]: found[tensor] for tensor in inside}
        return self._taken[graph]

    def _taken_inside(self, call: Op, body: Sequence[Op]) -> Mapping[Position, int]:
        """The arguments that what is made in an open call is made from."""
        found: dict[Position, int] = {}
        arguments = {tensor: 1 << place for place, tensor in enumerate(call.inputs)}
        made: list[Position] = []
        carried: dict[Position, Sequence[tuple[TensorId, TensorId]]] = {}
        for inner in body:
            version = self.trace.writes.get(inner.id)
            made += [version.id] if version is not None else []
            made += inner.outputs
            if (loop := self.trace.loops.get(inner.id)) is not None:
                carried |= {handed: loop.carried for _, handed in loop.carried}

        def taken_by(start: Position) -> int:
            given = start.variable if isinstance(start, VersionId) else start
            return found.get(start, arguments.get(TensorId(given), 0))

        is_open = True
        while is_open:  # once more for each loop that hands a value on to its next turn
            is_open = False
            for position in made:
                taken = found.get(position, 0)
                for edge in self.into(position):
                    taken |= taken_by(edge.start)
                # With no turn a loop gives what it was given; with more turns than here also what
                # comes from the others that a turn may have used.
                for given, handed in carried.get(position, ()):
                    if handed == position or not taken_by(given) & ~taken:
                        taken |= taken_by(given) | found.get(handed, 0)
                is_open |= taken != found.get(position)
                found[position] = taken
        return found

    def _captured(self, entry: Op, position: TensorId) -> Iterator[DataEdge]:
        """The edges of values that a custom gradient's body captured, not taken as arguments."""
        body = [self.trace.ops[number] for number in entry.body]
        known = {*entry.inputs, *(tensor for op in body for tensor in op.outputs)}
        for op in body:
            for tensor in op.inputs:
                if tensor not in known and VariableId(tensor) not in self.trace.variables:
                    known.add(tensor)
                    yield DataEdge("captured", tensor, position, entry.id, tensor)

    @cached_property
    def writes(self) -> Sequence[Op]:
        """The writes of a tensor into a variable, its first value too, in the order of time.

        Without those inside a recorded operation, which brings a gradient of its own.
        """
        ops = self.trace.ops
        covered = {inner for op in ops.values() if op.is_recorded_operation for inner in op.body}
        found = [
            ops[version.op]
            for version in self.trace.writes.values()
            if version.op is not None and version.value is not None
        ]
        return sorted((op for op in found if op.id not in covered), key=lambda op: op.when)

    @cached_property
    def assigns(self) -> Sequence[Op]:
        """The writes but those of a variable's first value."""
        return [op for op in self.writes if self.trace.writes[op.id].index]

    @cached_property
    def _handed_on(self) -> Mapping[tuple[OpId, TensorId], Sequence[TensorId]]:
        return handed_on(self.trace)

    @cached_property
    def _ref_assigns(self) -> Mapping[TensorId, Sequence[Op]]:
        """The ops that write to each TF1 ref variable, which a graph names by a tensor."""
        found: dict[TensorId, list[Op]] = {}
        for op in self.trace.ops.values():
            if op.type in REF_ASSIGNS and op.inputs:
                found.setdefault(op.inputs[0], []).append(op)
        return found

    @staticmethod
    def _filled(filler: Op, handle: TensorId, position: TensorId) -> Iterator[DataEdge]:
        for index, tensor in enumerate(filler.inputs):
            if tensor != handle:
                yield DataEdge("object", tensor, position, filler.id, tensor, index)

    @cached_property
    def _fillers(self) -> Mapping[TensorId, Sequence[Op]]:
        """Ops that put a value into an object that is no variable: an iterator, a table, a queue.

        Such an op takes the handle and values, and gives nothing back (``MakeIterator``,
        ``LookupTableInsertV2``, ``QueueEnqueueV2``).
        """
        found: dict[TensorId, list[Op]] = {}
        for op in self.trace.ops.values():
            if not op.outputs and len(op.inputs) > 1:
                for tensor in op.inputs:
                    known = self.trace.tensors.get(tensor)
                    if known and known.is_handle and VariableId(tensor) not in self.trace.variables:
                        found.setdefault(tensor, []).append(op)
        return found

    def position_left(self, leave: Leave) -> Position:
        """A tensor, or what a variable held when NumPy read it.

        A symbol of a compiled function, as ``predict`` gives, stands for the value of a run.
        """
        variable = self.trace.variable(leave.tensor)
        if variable is None:
            is_made = leave.tensor in self.trace.producers
            return leave.tensor if is_made else self.trace.fetched.get(leave.tensor, leave.tensor)
        return (variable.version_at(leave.when - 1) or variable.versions[0]).id

    def _into_version(self, position: VersionId, version: Version) -> tuple[DataEdge, ...]:
        edges = []
        if version.value is not None:
            kind: DataEdgeKind = "assign" if version.index else "creation"
            edges.append(DataEdge(kind, version.value, position, version.op, version.value))
        if version.index and version.op is not None:
            variable = self.trace.variables.get(version.variable)
            prior = variable.versions[version.index - 1] if variable else None
            if prior is not None and keeps_prior_state(self.trace.ops[version.op].type):
                edges.append(DataEdge("state", prior.id, position, version.op))
        return tuple(edges)

    @cached_property
    def runs(self) -> Mapping[str, Sequence[Op]]:
        """The calls of each compiled function, by the type of the op that a call is."""
        found: dict[str, list[Op]] = {}
        for op in self.trace.ops.values():
            if op.is_compiled_call and op.within is None:
                found.setdefault(op.type, []).append(op)
        return found

    @cached_property
    def gave(self) -> Mapping[Position, tuple[Call, Operand]]:
        """The call and the source of each gradient that a call gave."""
        return {
            result: (call, source)
            for call in self.trace.calls
            for source, result in zip(call.sources, call.results, strict=False)
            if result is not None
        }

    @cached_property
    def asked(self) -> frozenset[TensorId]:
        """The targets of gradient calls."""
        return frozenset(tensor for call in self.trace.calls for tensor in call.target_tensors)

    @cached_property
    def sources(self) -> frozenset[TensorId]:
        """The sources of gradient calls."""
        return frozenset(tensor for call in self.trace.calls for tensor in call.source_tensors)

    @cached_property
    def gone_out(self) -> frozenset[TensorId]:
        """The tensors whose value left TensorFlow."""
        return frozenset(leave.tensor for leave in self.trace.leaves)

    @cached_property
    def takers(self) -> Mapping[TensorId, Sequence[Op]]:
        """The ops that took each tensor, or handle of a variable, in their order."""
        found: dict[TensorId, list[Op]] = {}
        for op in self.trace.ops.values():
            for tensor in dict.fromkeys(op.inputs):
                found.setdefault(tensor, []).append(op)
        return found

    @cached_property
    def first_seen(self) -> Mapping[TensorId, tuple[Site, int]]:
        """The place and moment at which each tensor was first bound to a name or taken by an op."""
        found: dict[TensorId, tuple[Site, int]] = {}
        happened: list[Op | Binding] = [*self.trace.ops.values(), *self.trace.bindings]
        for event in sorted(happened, key=lambda event: event.when):
            tensors = (
                event.inputs if isinstance(event, Op) else [tensor for tensor, _ in event.tensors]
            )
            for tensor in tensors:
                found.setdefault(tensor, (event.site, event.when))
        return found

    @cached_property
    def bound_lines(self) -> Mapping[TensorId, int]:
        """The line that first bound each tensor to a name."""
        return bound_lines(self.trace)

    @cached_property
    def bound(self) -> Mapping[str, Sequence[tuple[int, TensorId, int]]]:
        """The values that each name, with its key, was given: when, which tensor, on which line.

        What it meant when it was asked for counts, too (on line 0): ``layer.w`` was given its
        variable under the name of ``self.w``.
        """
        found: dict[str, list[tuple[int, TensorId, int]]] = {}
        for binding in self.trace.bindings:
            for tensor, name in binding.tensors:
                found.setdefault(name, []).append((binding.when, tensor, binding.site.line))
        for call in self.trace.calls:
            for operand in call.sources:
                if (
                    operand.tensor is not None
                    and VariableId(operand.tensor) in self.trace.variables
                ):
                    found.setdefault(operand.text, []).append((call.when, operand.tensor, 0))
        return {name: sorted(given) for name, given in found.items()}

    @cached_property
    def variables_at(self) -> Mapping[tuple[SiteId, str], Set[VariableId]]:
        """The variables that each source in the text of a gradient call was, in any round of it."""
        found: dict[tuple[SiteId, str], set[VariableId]] = {}
        for call in self.trace.calls:
            for source in call.sources:
                variable = VariableId(source.tensor or TensorId(0))
                if variable in self.trace.variables:
                    found.setdefault((call.site.id, source.text), set()).add(variable)
        return found

    @cached_property
    def attributes(self) -> ObjectAttributes:
        """The tensors that attributes were given; :attr:`bound` has them by name alone."""
        return attributes_of(self.trace.bindings, SourceText(self.trace.source))

    @cached_property
    def level_whens(self) -> Sequence[int]:
        """The times at which ops ran whose output has no slope, in order."""
        return sorted(op.when for op in self.trace.ops.values() if op.type in LEVEL_OPS)

    @cached_property
    def list_writes(self) -> Sequence[Op]:
        """Ops that gave a new list with another element; the old list stays as it was."""
        return [op for op in self.trace.ops.values() if op.type in LIST_WRITES]

    def positions_of_source(self, tensor: TensorId) -> Set[Position]:
        """The positions at which a source starts: a tensor, or all versions of a variable, in
        order. A loop asks in each round, and writes a version in each."""
        starts = self._starts.get(tensor)
        if starts is None:
            variable = self.trace.variable(tensor)
            versions = variable.versions if variable is not None else ()
            positions: list[Position] = [tensor, *(version.id for version in versions)]
            starts = dict.fromkeys(positions).keys()
            if len(starts) > _FEW:
                self._starts[tensor] = starts
        return starts

    def ancestry(
        self, targets: Iterable[Position], skip: Skip | None = None, most: int | None = None
    ) -> Ancestry:
        """Every position that the targets were made from, with the edges into it but those skipped.

        ``most``: so many of them, the nearest first.
        """
        found: dict[Position, tuple[DataEdge, ...]] = {}
        waiting = deque(targets)
        while waiting and (most is None or len(found) < most):
            position = waiting.popleft()
            if position in found:
                continue
            edges = self.into(position)
            kept = edges if skip is None else tuple(edge for edge in edges if not skip(edge))
            found[position] = edges if len(kept) == len(edges) else kept  # no second tuple of all
            waiting.extend(edge.start for edge in kept)
        return Ancestry(found)
