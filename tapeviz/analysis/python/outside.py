"""A trace in, the ways of values through Python and NumPy out.

TensorFlow sees a value leave (``.numpy()``, ``float()``) and a constant come back, nothing between.
What happened between is read from the text: the statement on which the constant came back reads
names, those were bound by other statements, and so on back to the lines on which something left.
What ran narrows it down: names bound to a tensor carry nothing, others only what was bound last.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from ...text.source import SourceText
from ...text.statements import PythonText, Statement, read_text
from ...trace.model import Array, Binding, Call, Leave, Op, Site, StackFrame, TensorId, Trace

_MOST_LEAVES = 64
_DEEPEST = 24
# Asked for its truth value, a tensor decides what runs: no number of it goes on.
NO_NUMBER = frozenset({"bool"})


@dataclass(frozen=True, slots=True)
class Outside:
    """``left``: constant that came back → the leaves that its value was made from."""

    left: Mapping[TensorId, tuple[Leave, ...]] = field(default_factory=dict)

    @property
    def links(self) -> dict[TensorId, tuple[TensorId, ...]]:
        """Constant that came back → the tensors that its value was made from."""
        return {
            tensor: tuple(dict.fromkeys(leave.tensor for leave in leaves))
            for tensor, leaves in self.left.items()
        }


NOTHING_OUTSIDE = Outside()


def follow(trace: Trace, text: SourceText) -> Outside:
    """The links between what left TensorFlow and the constants that came back."""
    leaves = [leave for leave in trace.leaves if leave.how not in NO_NUMBER and leave.site.line]
    if not leaves or text.tree is None:
        return NOTHING_OUTSIDE
    slicer = _Slicer(trace.bindings, leaves, read_text(text))
    found: dict[TensorId, tuple[Leave, ...]] = {}
    seen: set[TensorId] = set()
    for tensors, site, when in _came_back(trace):
        new = [tensor for tensor in tensors if tensor not in seen]
        seen.update(new)
        left = slicer.leaves_of(site, when) if new else []
        for tensor in _made_of(trace, new, left, slicer.text.statement(site.line)):
            found[tensor] = tuple(leave for leave in left if leave.tensor != tensor)
    return Outside({tensor: leaves for tensor, leaves in found.items() if leaves})


def _came_back(trace: Trace) -> Iterator[tuple[list[TensorId], Site, int]]:
    """Constants where they are first seen: bound to a name, taken by an op, given as a source."""
    happened: list[Binding | Op | Call] = [binding for binding in trace.bindings if binding.tensors]
    happened.extend(trace.ops.values())
    happened.extend(trace.calls)
    for event in sorted(happened, key=lambda event: event.when):
        tensors = _tensors_of(event)
        constants = [tensor for tensor in tensors if _is_constant(trace, tensor)]
        if constants and event.site.line:
            yield constants, event.site, event.when


def _tensors_of(event: Binding | Op | Call) -> Sequence[TensorId]:
    if isinstance(event, Op):
        return event.outputs if event.type == "Const" else event.inputs
    if isinstance(event, Call):
        return [source.tensor for source in event.sources if source.tensor is not None]
    return [tensor for tensor, _ in event.tensors]


def _is_constant(trace: Trace, tensor: TensorId) -> bool:
    """Whether it came from Python: no op made it, or one that stands for it in a graph."""
    known, producer = trace.tensors.get(tensor), trace.producers.get(tensor)
    if known is None or known.is_handle:
        return False
    return tensor > 0 if producer is None else trace.ops[producer].type == "Const"


def _made_of(
    trace: Trace,
    constants: Sequence[TensorId],
    left: Sequence[Leave],
    statement: Statement | None,
) -> list[TensorId]:
    """Those that may hold what left: not literals, and axes or indices only for want of others.

    A literal may be the very number that left; that it is one proves nothing then.
    """
    if not left:
        return []
    open_to_it = [
        constant for constant in constants if not _is_own_number(trace, constant, statement)
    ]
    if not open_to_it:
        numbers = [trace.value(leave.tensor) for leave in left]
        open_to_it = [
            constant for constant in constants if _is_one_of(trace.value(constant), numbers)
        ]
    values = {constant: trace.value(constant) for constant in open_to_it}
    arrays = [
        tensor
        for tensor, value in values.items()
        if value is None or value.ndim != 1 or value.dtype.kind not in "iu"
    ]
    return arrays or open_to_it


def _is_one_of(value: Array | None, numbers: Iterable[Array | None]) -> bool:
    return value is not None and any(
        number is not None
        and number.size == value.size == 1
        and bool(number.ravel()[0] == value.ravel()[0])
        for number in numbers
    )


def _is_own_number(trace: Trace, tensor: TensorId, statement: Statement | None) -> bool:
    """Whether the constant is a number that stands in the statement."""
    value = trace.value(tensor)
    if value is None or statement is None or value.size != 1 or value.dtype.kind not in "iuf":
        return False
    number = value.ravel()[0]
    made = (value.dtype.type(number) for number in statement.numbers if abs(number) < 1e15)
    return any(value == number or -value == number for value in made)


def _keeps_tensors(binding: Binding) -> bool:
    """A model, layer or tape: what goes into it goes into variables, which are seen."""
    return binding.value.startswith("keras") or binding.value == "GradientTape"


class _Slicer:
    """Finds what left on the way to a statement."""

    def __init__(
        self, bindings: Iterable[Binding], leaves: Iterable[Leave], text: PythonText
    ) -> None:
        self.text = text
        self._at_line: dict[int, list[Leave]] = {}
        for leave in leaves:
            for line in {frame.line for frame in leave.site.frames}:
                self._at_line.setdefault(line, []).append(leave)
        self._bindings: dict[tuple[int, str], list[Binding]] = {}
        for binding in bindings:
            if binding.site.line:
                scope = text.home(text.scope(binding.site.line), binding.name)
                key = self._key(scope, binding.name)
                self._bindings.setdefault(key, []).append(binding)
        self._reaching: dict[int, bool] = {}

    def leaves_of(self, site: Site, when: int) -> list[Leave]:
        """The leaves, before ``when``, that the statement at this place may have made use of."""
        if not self._may_reach(site.frames):
            return []
        found: dict[int, Leave] = {}
        self._statement(site.frames, when, found, frozenset())
        return [found[moment] for moment in sorted(found)[-_MOST_LEAVES:]]

    @staticmethod
    def _key(scope: int, path: str) -> tuple[int, str]:
        """Attributes are the same in every scope: ``self`` names one object in all methods."""
        return (0 if "." in path else scope, path)

    def _statement(
        self,
        frames: Sequence[StackFrame],
        when: int,
        found: dict[int, Leave],
        path: frozenset[tuple[int, str]],
        since: int = 0,
    ) -> None:
        statement = self.text.statement(frames[0].line) if frames else None
        if statement is None:
            return
        self._left_on(statement, since, when, found)
        for name in statement.reads:
            self._name(name, statement.scope, frames, when, found, path)

    def _left_on(
        self, statement: Statement, since: int, when: int, found: dict[int, Leave]
    ) -> None:
        for line in statement.lines:
            for leave in self._at_line.get(line, ()):
                if since <= leave.when < when:
                    found[leave.when] = leave

    def _name(
        self,
        name: str,
        scope: int,
        frames: Sequence[StackFrame],
        when: int,
        found: dict[int, Leave],
        path: frozenset[tuple[int, str]],
    ) -> None:
        if (scope, name) in path or len(path) > _DEEPEST:
            return
        path |= {(scope, name)}
        for outer in self.text.outer_scopes(scope):
            bound = self._bindings.get(self._key(outer, name), ())
            last = bisect_left(bound, when, key=lambda binding: binding.when) - 1
            if last >= 0:
                self._bound(bound, last, name, outer, when, found, path)
                return
            if outer == scope and self.text.is_parameter(outer, name):
                self._statement(frames[1:], when, found, path)
                return
            writers = self.text.writers(outer, name)
            if writers:
                for writer in writers:
                    self._written(writer, frames, when, found, path)
                return

    def _bound(
        self,
        bound: Sequence[Binding],
        last: int,
        name: str,
        scope: int,
        when: int,
        found: dict[int, Leave],
        path: frozenset[tuple[int, str]],
    ) -> None:
        """The name was bound by something that was seen: only this binding counts."""
        binding = bound[last]
        if any(text == name for _, text in binding.tensors) or _keeps_tensors(binding):
            return
        frames = binding.site.frames
        if self.text.statement(frames[0].line) is None:  # a parameter: the caller made it
            default = self._default(binding)
            if default is not None:
                found[default.when] = default
                return
            frames = frames[1:]
        before = [
            earlier.when for earlier in bound[:last] if earlier.site.line == binding.site.line
        ]
        since = before[-1] if before else 0
        self._statement(frames, binding.when, found, path, since)
        for writer in self.text.writers(scope, name):
            if name in writer.changes:
                self._written(writer, (), when, found, path)

    def _default(self, binding: Binding) -> Leave | None:
        """The value that left TensorFlow in a default, if the parameter still has it."""
        lines = self.text.header(binding.site.line)
        return next(
            (
                leave
                for line in lines
                for leave in self._at_line.get(line, ())
                if leave.object == binding.object and leave.when < binding.when and leave.object
            ),
            None,
        )

    def _written(
        self,
        writer: Statement,
        frames: Sequence[StackFrame],
        when: int,
        found: dict[int, Leave],
        path: frozenset[tuple[int, str]],
    ) -> None:
        """A statement of which it is not known when it ran."""
        self._left_on(writer, 0, when, found)
        for name in writer.reads:
            self._name(name, writer.scope, frames, when, found, path)

    def _may_reach(self, frames: Sequence[StackFrame]) -> bool:
        """Whether the text alone leads from this place to a line on which something left."""
        return any(self._line_reaches(frame.line) for frame in frames)

    def _line_reaches(self, line: int) -> bool:
        known = self._reaching.get(line)
        if known is None:
            known = self._reaching[line] = self._search(line)
        return known

    def _search(self, line: int) -> bool:
        start = self.text.statement(line)
        waiting = [start] if start else []
        seen: set[tuple[int, int]] = set()
        while waiting:
            statement = waiting.pop()
            if (statement.first, statement.scope) in seen:
                continue
            seen.add((statement.first, statement.scope))
            if any(line in self._at_line for line in statement.lines):
                return True
            if any(line in self._at_line for line in self.text.header(statement.scope)):
                return True
            for name in statement.reads:
                for outer in self.text.outer_scopes(statement.scope):
                    waiting.extend(self.text.writers(outer, name))
        return False
