"""A trace in, the way values really went out: through ops, state, and Python, taped or not.

The nodes of this graph are tensors and versions of variables; :class:`Way` is one of its edges. It
is what a gradient *could* follow if nothing stood in its way.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Literal

from ...trace.model import (
    Binding,
    Leave,
    Op,
    OpId,
    Site,
    TensorId,
    Trace,
    Variable,
    VariableId,
    Version,
    VersionId,
)
from ...trace.op_kinds import ops_with
from ...trace.state import keeps_prior_state
from .origins import Origins

Place = TensorId | VersionId
"""A tensor, or a version of a variable."""
WayKind = Literal["op", "read", "assign", "state", "creation", "object", "python", "captured"]


REF_VARIABLES = ops_with("ref-variable")
REF_ASSIGNS = ops_with("ref-assign")
# They look at the form of a tensor and never at its elements.
FORM_OPS = ops_with("form")
# They give a new list (list_ops, TensorArray in a function).
LIST_WRITES = ops_with("list-write")


@dataclass(frozen=True, slots=True)
class Way:
    """A value went from ``start`` to ``end``.

    ``captured``: by the body of a custom gradient, not as its argument.
    ``op``: the op that took it (an assign for ``assign`` and ``state``, the one that filled a
    stateful object for ``object``, None for ``python``);
    ``tensor``: the tensor that it took, ``position`` among its inputs. ``leave``: for ``python``
    how it left TensorFlow.
    """

    kind: WayKind
    start: Place
    end: Place
    op: OpId | None
    tensor: TensorId | None = None
    position: int = -1
    leave: Leave | None = None


Ways = Mapping[Place, tuple[Way, ...]]
Skip = Callable[[Way], bool]


class DataFlow:
    """The ways of a trace, asked for backwards (:meth:`into`)."""

    def __init__(
        self, trace: Trace, left: Mapping[TensorId, tuple[Leave, ...]] | None = None
    ) -> None:
        self.trace = trace
        self._left = left or {}
        self._known: dict[Place, tuple[Way, ...]] = {}

    @cached_property
    def origins(self) -> Origins:
        return Origins(self.trace)

    def into(self, place: Place) -> tuple[Way, ...]:
        """How the value at this place came about: one way for each thing it was made from."""
        ways = self._known.get(place)
        if ways is None:
            ways = self._known[place] = self._ways_into(place)
        return ways

    def _ways_into(self, place: Place) -> tuple[Way, ...]:
        if isinstance(place, VersionId):
            return self._into_version(self._versions[place])
        version = self.trace.version_read(place)
        if version is not None:
            reader = self.trace.producers.get(place)
            return (Way("read", version.id, place, reader),)
        producer = self.trace.producers.get(place)
        if producer is None or place in self._left:
            return tuple(
                Way("python", self.place_left(leave), place, None, leave.tensor, leave=leave)
                for leave in self._left.get(place, ())
            )
        return self._through(self.trace.ops[producer], place)

    def _through(self, op: Op, place: TensorId) -> tuple[Way, ...]:
        ways = []
        for position, tensor in enumerate(op.inputs):
            start: Place = tensor
            touched = self.trace.touches.get((op.id, VariableId(tensor)))
            if touched is not None:
                start = touched.id
            ways.append(Way("op", start, place, op.id, tensor, position))
            for filler in self._fillers.get(tensor, ()):
                if filler.when < op.when:
                    ways.extend(self._filled(filler, tensor, place))
        if op.is_recorded_operation and op.body and not op.is_open:
            ways.extend(self._captured(op, place))
        if op.type in REF_VARIABLES:
            for assign in self._ref_assigns.get(place, ()):
                ways.append(Way("assign", assign.inputs[-1], place, assign.id, assign.inputs[-1]))
        return tuple(ways)

    def _captured(self, entry: Op, place: TensorId) -> Iterator[Way]:
        """Ways of values that a custom gradient's body captured instead of taking as arguments."""
        body = [self.trace.ops[number] for number in entry.body]
        known = {*entry.inputs, *(tensor for op in body for tensor in op.outputs)}
        for op in body:
            for tensor in op.inputs:
                if tensor not in known and VariableId(tensor) not in self.trace.variables:
                    known.add(tensor)
                    yield Way("captured", tensor, place, entry.id, tensor)

    @cached_property
    def assigns(self) -> Sequence[Op]:
        """The writes of a tensor into a variable's state, in the order in which they ran.

        Without those inside a recorded operation, which brings a gradient of its own.
        """
        ops = self.trace.ops
        covered = {inner for op in ops.values() if op.is_recorded_operation for inner in op.body}
        found = [
            ops[version.op]
            for version in self.trace.writes.values()
            if version.op is not None and version.value is not None and version.index
        ]
        return sorted((op for op in found if op.id not in covered), key=lambda op: op.when)

    @cached_property
    def _ref_assigns(self) -> Mapping[TensorId, Sequence[Op]]:
        """For each TF1 ref variable, which a graph names by a tensor, the ops that write to it."""
        found: dict[TensorId, list[Op]] = {}
        for op in self.trace.ops.values():
            if op.type in REF_ASSIGNS and op.inputs:
                found.setdefault(op.inputs[0], []).append(op)
        return found

    @staticmethod
    def _filled(filler: Op, handle: TensorId, place: TensorId) -> Iterator[Way]:
        for position, tensor in enumerate(filler.inputs):
            if tensor != handle:
                yield Way("object", tensor, place, filler.id, tensor, position)

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

    def place_left(self, leave: Leave) -> Place:
        """A tensor, or what a variable held when NumPy read it.

        A symbol of a compiled function, as ``predict`` gives, stands for the value of a run.
        """
        variable = self.trace.variables.get(VariableId(leave.tensor))
        if variable is None:
            is_made = leave.tensor in self.trace.producers
            return leave.tensor if is_made else self.trace.fetched.get(leave.tensor, leave.tensor)
        held = [version for version in variable.versions if version.when < leave.when]
        return (held[-1] if held else variable.versions[0]).id

    def _into_version(self, version: Version) -> tuple[Way, ...]:
        place = version.id
        ways = []
        if version.value is not None:
            kind: WayKind = "assign" if version.index else "creation"
            ways.append(Way(kind, version.value, place, version.op, version.value))
        if version.index and version.op is not None:
            prior = self._prior(version)
            if prior is not None and keeps_prior_state(self.trace.ops[version.op].type):
                ways.append(Way("state", prior.id, place, version.op))
        return tuple(ways)

    def _prior(self, version: Version) -> Version | None:
        variable = self.trace.variables.get(version.variable)
        return variable.versions[version.index - 1] if variable else None

    @cached_property
    def runs(self) -> Mapping[str, Sequence[Op]]:
        """The calls of each compiled function, by the type of the op that a call is."""
        found: dict[str, list[Op]] = {}
        for op in self.trace.ops.values():
            if op.is_compiled_call and op.within is None:
                found.setdefault(op.type, []).append(op)
        return found

    @cached_property
    def takers(self) -> Mapping[TensorId, Sequence[Op]]:
        """For each tensor, or handle of a variable, the ops that took it, in their order."""
        found: dict[TensorId, list[Op]] = {}
        for op in self.trace.ops.values():
            for tensor in dict.fromkeys(op.inputs):
                found.setdefault(tensor, []).append(op)
        return found

    @cached_property
    def first_seen(self) -> Mapping[TensorId, tuple[Site, int]]:
        """Where and when each tensor was first bound to a name or taken by an op."""
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
    def bound(self) -> Mapping[str, Sequence[tuple[int, TensorId, int]]]:
        """For each name, with its key, what it was given: when, which tensor, on which line.

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
    def list_writes(self) -> Sequence[Op]:
        """Ops that gave a new list with another element; the old list stays as it was."""
        return [op for op in self.trace.ops.values() if op.type in LIST_WRITES]

    @cached_property
    def _versions(self) -> dict[VersionId, Version]:
        variables: Iterable[Variable] = self.trace.variables.values()
        return {version.id: version for variable in variables for version in variable.versions}

    def version_at(self, place: VersionId) -> Version:
        return self._versions[place]

    def places_of_source(self, tensor: TensorId) -> tuple[Place, ...]:
        """Where a source of a gradient call starts: a tensor, or all versions of a variable."""
        variable = self.trace.variables.get(VariableId(tensor))
        if variable is None:
            return (tensor,)
        return (tensor, *(version.id for version in variable.versions))

    def places_of_target(self, tensor: TensorId, when: int) -> tuple[Place, ...]:
        """Where a target ends: a tensor, or the version that a variable had at that time."""
        variable = self.trace.variables.get(VariableId(tensor))
        if variable is None or not variable.versions:
            return (tensor,)
        held = [version for version in variable.versions if version.when <= when]
        return ((held[-1] if held else variable.versions[0]).id,)

    def ancestry(
        self, targets: Iterable[Place], skip: Skip | None = None, most: int | None = None
    ) -> Ancestry:
        """Every place that the targets were made from, with the ways into it but those skipped.

        ``most``: so many of them, the nearest first.
        """
        found: dict[Place, tuple[Way, ...]] = {}
        waiting = deque(targets)
        while waiting and (most is None or len(found) < most):
            place = waiting.popleft()
            if place in found:
                continue
            ways = self.into(place)
            found[place] = ways if skip is None else tuple(way for way in ways if not skip(way))
            waiting.extend(way.start for way in found[place])
        return Ancestry(found)


class Ancestry:
    """Ways by the place they lead into (``into``), asked for the part that a source leads to."""

    def __init__(self, into: Ways) -> None:
        self.into = into

    def __len__(self) -> int:
        return len(self.into)

    @cached_property
    def _onward(self) -> Mapping[Place, Sequence[tuple[int, Way]]]:
        """The ways from each place, each with its number among the ways into its end."""
        onward: dict[Place, list[tuple[int, Way]]] = {}
        for ways in self.into.values():
            for number, way in enumerate(ways):
                onward.setdefault(way.start, []).append((number, way))
        return onward

    def leads_from(self, sources: Iterable[Place]) -> frozenset[Place]:
        """The places that something leads to from one of the sources, those included."""
        reached: set[Place] = set()
        waiting = [source for source in sources if source in self.into]
        while waiting:
            place = waiting.pop()
            if place not in reached:
                reached.add(place)
                waiting.extend(way.end for _, way in self._onward.get(place, ()))
        return frozenset(reached)

    def ways_from(self, sources: Iterable[Place]) -> dict[Place, tuple[Way, ...]]:
        """Only the ways that lead on from one of the sources."""
        found: dict[Place, list[tuple[int, Way]]] = {p: [] for p in self.leads_from(sources)}
        for place in list(found):
            for number, way in self._onward.get(place, ()):
                found[way.end].append((number, way))
        return {
            place: tuple(way for _, way in sorted(ways, key=lambda pair: pair[0]))
            for place, ways in found.items()
        }
