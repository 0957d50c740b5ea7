"""The tables of a recording together with those of the insides of opened calls."""

from __future__ import annotations

from collections.abc import Callable, Container, Iterable, Mapping, Sequence
from typing import TypeVar

from ...text.source import SourceText
from ..compiled.model import TracedFunction, Word
from ..ids import OpId, TapeId, TensorId, VariableId, VersionId
from ..model import Tape
from ..ops import Op, Tensor
from ..state import writes_state
from ..tapes import with_watches
from ..unread import state_id, tensor_of, unread_states
from ..variables import Version
from .bindings import BoundNames
from .in_order import in_order
from .insides import Inside
from .tables import Tables
from .versions import with_insides
from .worded import WordedCalls

ReadVersions = dict[TensorId, Version]
Touches = dict[tuple[OpId, VariableId], Version]
Writes = dict[OpId, Version]
_Key = TypeVar("_Key")
_Known = TypeVar("_Known")


class ClosedRun:
    """All that follows from a recording without the insides of its calls.

    ``first_reads``: the first tensor that was read from each variable.
    """

    def __init__(self, tables: Tables, text: SourceText) -> None:
        self.variables = tables.states.variables()
        versions = [at for variable in self.variables.values() for at in variable.versions]
        self.reads = {tensor: version for version in versions for tensor in version.reads}
        self.touches = {(op, at.variable): at for at in versions for op in at.touched_by}
        self.writes: dict[OpId, Version] = {
            at.op: at
            for at in versions
            if at.op in tables.ops and writes_state(tables.ops[at.op].type)
        }
        has_elements = elements_in(tables.tensors, tables.places.map(), tables.samples)
        self.unread = unread_states(self.variables, versions, tables.ops, has_elements)
        self.first_reads: dict[VariableId, TensorId] = {}
        for tensor, version in self.reads.items():
            self.first_reads.setdefault(version.variable, tensor)
        self.recorded_ops = sum(op.within is None for op in tables.ops.values())
        self.functions: Mapping[int, TracedFunction] = tables.functions.functions()
        self.calls = WordedCalls(text, tables.calls)
        self._tapes: dict[TapeId, Tape] | None = None
        self._tables = tables
        self._text = text

    def tapes(self) -> dict[TapeId, Tape]:
        """Every tape that was opened outside of functions."""
        if self._tapes is None:
            bound = self._tables.names
            self._tapes = self._tables.tapes.tapes(lambda tape: tape_name(bound, tape, self._text))
        return self._tapes


class Joined:
    """All that the recording (``tables``, ``whole``) and the ``insides`` tell together.

    ``changed``: versions of variables that are new, or other ones than without the insides;
    ``copies``: tensors that have the value of another one, and do not go by its id.
    """

    def __init__(
        self, tables: Tables, insides: Sequence[Inside], whole: ClosedRun, *, is_kept: bool
    ) -> None:
        self.tables, self.whole, self.insides = tables, whole, insides
        self._is_kept = is_kept
        self.parts = [inside.tables for inside in insides]
        self.copies = together(part.functions.copies for part in self.parts)
        self._copied = together(part.copied for part in self.parts)
        self.ops = self._ops()
        self.producers, self.tensors = self._own(tables.producers), self._own(tables.tensors)
        for part in self.parts:
            self.producers.update(part.producers)
            for tensor, form in part.tensors.items():
                self.tensors.setdefault(tensor, form)
        own = tables.places.map()
        more = {copy: own[known] for copy, known in self._copied.items() if known in own}
        more = {copy: place for copy, place in more.items() if copy not in own}
        more |= {copy: own[known] for copy, known in self.copies.items() if known in own}
        self.places = own.with_more(more) if more else own
        self.samples = self._with_copies(tables.samples)
        self.stats = self._with_copies(tables.stats)
        self.texts = self._own(tables.texts)
        for copy, known in self._copied.items():
            if known in self.texts:
                self.texts.setdefault(copy, self.texts[known])
        self.texts = self._with_copies(self.texts)
        self.bound = tables.names
        if is_kept:
            self.bound = tables.names.with_insides([part.names for part in self.parts])
        touched = [inside.touched for inside in insides]
        self.variables, self.changed = with_insides(
            whole.variables, touched, self._moment, lambda op: self.ops[op].when
        )
        self._new_reads: dict[VariableId, list[TensorId]] = {}
        for version in self.changed:
            self._new_reads.setdefault(version.variable, []).extend(version.reads[:1])
        self.reruns = together(each.functions.reruns for each in (tables, *self.parts))
        self.unread = self._unread()

    def _own(self, table: dict[_Key, _Known]) -> dict[_Key, _Known]:
        return dict(table) if self._is_kept else table

    def _with_copies(self, table: dict[TensorId, _Known]) -> dict[TensorId, _Known]:
        found = self._own(table)
        found.update((own, found[known]) for own, known in self.copies.items() if known in found)
        return found

    def _ops(self) -> dict[OpId, Op]:
        if not self.insides:
            return self._own(self.tables.ops)
        around = list(self.tables.ops.items())
        insides = [list(part.ops.items()) for part in self.parts]
        ops = dict(in_order(around, insides, lambda item: item[1].when))
        for inside in self.insides:
            if inside.call is not None:
                ops[inside.call.id] = inside.call
        return ops

    def _maker(self, tensor: TensorId) -> Op | None:
        producer = self.producers.get(tensor)
        return self.ops.get(producer) if producer is not None else None

    def _moment(self, tensor: TensorId) -> int:
        maker = self._maker(tensor)
        return maker.when if maker is not None else 0

    def reader_of(self, variable: VariableId) -> Op | None:
        """The op that read a variable first."""
        known = self.whole.first_reads.get(variable)
        reads = [*([known] if known is not None else []), *self._new_reads.get(variable, ())]
        return self._maker(min(reads, key=self._moment)) if reads else None

    def _unread(self) -> dict[TensorId, VersionId]:
        """The states that no op read; their forms become known."""
        unread = self._own(self.whole.unread)
        for version in self.changed:
            if version.op is not None:
                unread.pop(state_id(version.op), None)
        if self.changed:
            has_elements = elements_in(self.tensors, self.places, self.samples)
            unread |= unread_states(self.variables, self.changed, self.ops, has_elements)
        self.tensors.update(
            (state, tensor_of(self.variables[at.variable])) for state, at in unread.items()
        )
        return unread

    def by_version(self) -> tuple[ReadVersions, Touches, Writes]:
        """The version that each tensor was read from, each op touched, each write made."""
        whole = self.whole
        reads, touches = self._own(whole.reads), self._own(whole.touches)
        writes = self._own(whole.writes)
        for version in self.changed:
            reads.update(dict.fromkeys(version.reads, version))
            touches.update(((op, version.variable), version) for op in version.touched_by)
            if version.op in self.ops and writes_state(self.ops[version.op].type):
                writes[version.op] = version
        return reads, touches, writes

    def tapes(self, text: SourceText) -> dict[TapeId, Tape]:
        """Every tape; those of a function are the ones of the call that stands for all."""
        tapes = self._own(self.whole.tapes())
        for part in self.parts:
            own = part.tapes.tapes(lambda tape: tape_name(self.bound, tape, text))
            for id_, tape in own.items():
                if id_ not in tapes:
                    tapes[id_] = tape
                elif tape.watches:
                    tapes[id_] = with_watches(tapes[id_], tape.watches)
        return tapes

    def words(self, sums: Mapping[TensorId, tuple[TensorId, TensorId]]) -> dict[TensorId, Word]:
        """How values are known, where they are not exact. ``sums``: see :attr:`Trace.sums`."""
        words = together(part.functions.words for part in self.parts)
        words |= {dense: words[rows] for dense, (rows, _) in sums.items() if rows in words}
        return words


def tape_name(names: BoundNames, tape: Tape, text: SourceText) -> str:
    """In a function that AutoGraph converts no binding is seen: its text is there."""
    bound = names.tapes.get(tape.id)
    return bound[1] if bound is not None else text.opened_name(tape.site.line)


def elements_in(
    tensors: Mapping[TensorId, Tensor],
    places: Container[TensorId],
    samples: Container[TensorId],
) -> Callable[[TensorId], bool]:
    """Return the predicate that tells whether elements of a tensor are known: its values or a
    sample travelled, or the process of the run keeps it."""

    def has_elements(tensor: TensorId) -> bool:
        known = tensors.get(tensor)
        is_kept = known is not None and known.kept
        return tensor in places or tensor in samples or is_kept

    return has_elements


def together(tables: Iterable[Mapping[_Key, _Known]]) -> dict[_Key, _Known]:
    """All entries of some tables, of which the later ones count."""
    found: dict[_Key, _Known] = {}
    for table in tables:
        found.update(table)
    return found
