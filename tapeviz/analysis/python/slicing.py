"""Follow names back from a statement to the values that left TensorFlow.

The statement on which a constant came back reads names, those were bound by other statements, and
so on back to the lines on which something left. What ran narrows it down: names bound to a tensor
carry nothing, others only what was bound last.
"""

from __future__ import annotations

from bisect import bisect_left
from collections import deque
from collections.abc import Iterable, Iterator, Mapping, Sequence
from types import MappingProxyType
from typing import NamedTuple

from ...text.source import SourceText
from ...text.statements import Statement, read_text
from ...trace.model import Binding, Leave
from ...trace.sites import Site, StackFrame
from .depths import read_depths

_MOST_LEAVES = 64
_MOST_BINDINGS = 200
_NEAREST = 20
"""Bindings before a statement among which one of another statement is looked for."""


def _carries_nothing(binding: Binding) -> bool:
    """A tensor, which the recording links itself; a model, layer or tape: what goes into those
    goes into variables, which are seen."""
    is_tensor = any(text == binding.name for _, text in binding.tensors)
    return is_tensor or binding.value.startswith("keras") or binding.value == "GradientTape"


def _encloses(outer: StackFrame, inner: StackFrame) -> bool:
    """Whether the expression of one frame stands inside of the other's, and is not all of it."""
    if outer.column < 0 or outer.function != inner.function:
        return False
    begins = (outer.line, outer.column) <= (inner.line, inner.column)
    ends = (outer.end_line, outer.end_column) >= (inner.end_line, inner.end_column)
    return begins and ends and outer.span != inner.span


def _stands_in(inner: StackFrame, outer: StackFrame) -> bool:
    """Whether the expression of one frame is the other's or a part of it, as far as is known."""
    return inner.column < 0 or inner.span == outer.span or _encloses(outer, inner)


def _is_index_within(leave: Leave, inner: StackFrame) -> bool:
    """Whether the leave is an index that a library took inside the very call in which the constant
    came back, as Keras's loop over time steps does: the snippet sees no number of it."""
    frame = leave.site.frames[0]
    return leave.how == "index" and (frame.function, frame.span) == (inner.function, inner.span)


def _callers(frames: Sequence[StackFrame]) -> Sequence[StackFrame]:
    """The frames around the function that a statement stands in: those of lambdas and
    comprehensions in the statement, as ``<lambda>``, are still inside of it."""
    inner = next((i for i, frame in enumerate(frames) if frame.function[:1] != "<"), 0)
    return frames[inner + 1 :]


class Trail(NamedTuple):
    """Leaves on the way to a statement, the first lines of the statements gone through, and by the
    time at which a value left the operations done with it on the way."""

    left: Sequence[Leave] = ()
    lines: frozenset[int] = frozenset()
    steps: Mapping[int, int] = MappingProxyType({})


class _Ran(NamedTuple):
    """A statement that ran: the stack that it ran in, between which times, and how many operations
    follow on what it binds; -1 where the value came back, for TensorFlow recorded those. ``part``:
    the frame of the expression in it that the value came from; None for all of it."""

    statement: Statement
    frames: Sequence[StackFrame]
    since: int
    until: int
    steps: int = -1
    part: StackFrame | None = None


def _steps_with(ran: _Ran, depth: int) -> int:
    return 0 if ran.steps < 0 else ran.steps + depth


class Slicer:
    """Finds the values that left TensorFlow on the way to a statement."""

    def __init__(
        self,
        bindings: Iterable[Binding],
        leaves: Iterable[Leave],
        source: SourceText,
    ) -> None:
        self._source = source
        self.text = read_text(source)
        self._depths = read_depths(source)
        self._at_line: dict[int, list[Leave]] = {}
        for leave in sorted(leaves, key=lambda leave: leave.when):
            for line in {frame.line for frame in leave.site.frames}:
                self._at_line.setdefault(line, []).append(leave)
        self._bindings: dict[tuple[int, str], dict[int, list[Binding]]] = {}
        self._in_scope: dict[int, list[Binding]] = {}
        for binding in bindings:
            if binding.site.line:
                inner = self.text.scope(binding.site.line)
                self._in_scope.setdefault(inner, []).append(binding)
                scope = self.text.home(inner, binding.name)
                by_line = self._bindings.setdefault(self._key(scope, binding.name), {})
                by_line.setdefault(binding.site.line, []).append(binding)
        self._reaching: dict[int, bool] = {}
        self._returned: dict[int, frozenset[int]] = {}

    def leaves_of(self, site: Site, when: int) -> Trail:
        """The leaves, before ``when``, that the statement at this place may have made use of, and
        the way to them through other statements. Where the columns are known (Python 3.11 and
        later) only the operands of the operation there count, not all of its statement.

        Statements are gone through backwards, the nearest first, and each line that binds a name
        once: of a loop one turn tells what the others do.
        """
        if not any(self._line_reaches(frame.line) for frame in site.frames):
            return Trail()
        found: dict[int, Leave] = {}
        steps: dict[int, int] = {}
        passed: set[int] = set()
        seen: dict[tuple[int, str, int], int] = {}
        waiting = deque(self._came_back(site.frames, when))
        while waiting and len(seen) < _MOST_BINDINGS:
            ran = waiting.popleft()
            first = ran.statement.first
            for line in ran.statement.lines:
                for leave in self._left_on(line, ran):
                    found[leave.when] = leave
                    count = _steps_with(ran, self._depth_of(leave, ran.statement))
                    steps[leave.when] = min(count, steps.get(leave.when, count))
            for name in self._reads(ran):
                bound = self._bound_by(name, ran, found, seen)
                passed.update(each.statement.first for each in bound)
                count = _steps_with(ran, self._depths.of_names.get((first, name), 0))
                waiting.extend(each._replace(steps=count) for each in bound)
        left = [found[moment] for moment in sorted(found)[-_MOST_LEAVES:]]
        counted = {leave.when: steps[leave.when] for leave in left if steps.get(leave.when)}
        return Trail(left, frozenset(passed), counted)

    def _depth_of(self, leave: Leave, statement: Statement) -> int:
        frames = leave.site.frames
        at = next((frame for frame in frames if frame.line in statement.lines), None)
        return self._depths.of_call(at) if at is not None else 0

    def _left_on(self, line: int, ran: _Ran) -> Sequence[Leave]:
        """The leaves on the line between those times, the latest: more are not asked for.

        ``float(f(x))`` comes after ``f(x)``: in a loop it left in an earlier turn, and no name
        leads from there into the call. A generator is resumed by the whole loop, to its last line
        (FOR_ITER, Python 3.11 to 3.13).
        """
        leaves = self._at_line.get(line, ())
        first = bisect_left(leaves, ran.since, key=lambda leave: leave.when)
        end = bisect_left(leaves, ran.until, key=lambda leave: leave.when)
        found = list(leaves[max(first, end - _MOST_LEAVES) : end])
        if ran.steps < 0 or ran.statement.binds:
            found = self._without_unreturned(found, ran.statement)
        part = ran.part
        if part is not None:
            found = [
                leave
                for leave in found
                if any(
                    frame.line in ran.statement.lines and _stands_in(frame, part)
                    for frame in leave.site.frames
                )
            ]
        inner = ran.frames[0] if ran.frames else None
        if inner is None or inner.column < 0:
            return found
        return [
            leave
            for leave in found
            if not _is_index_within(leave, inner)
            and not any(
                _encloses(frame, inner)
                for frame in leave.site.frames
                if frame.line == line and frame.end_line <= ran.statement.last
            )
        ]

    def _without_unreturned(self, leaves: Sequence[Leave], statement: Statement) -> list[Leave]:
        """The leaves without those in functions called by the statement which what the function
        returns does not come from; with all of a function where it seems to come from none."""
        callees = [self._callee(leave, statement) for leave in leaves]
        functions = [callee and self.text.scope(callee.line) for callee in callees]
        returned = [callee is None or self._is_returned(callee) for callee in callees]
        known = {function for function, is_in in zip(functions, returned, strict=True) if is_in}
        of_each = zip(leaves, functions, returned, strict=True)
        return [leave for leave, function, is_in in of_each if is_in or function not in known]

    def _callee(self, leave: Leave, statement: Statement) -> StackFrame | None:
        """The frame, in a function with a name, that the statement called and the value left in."""
        inner: StackFrame | None = None
        for frame in leave.site.frames:
            if frame.line in statement.lines:
                break
            inner = frame
        return inner if inner is not None and inner.function[:1] != "<" else None

    def _is_returned(self, callee: StackFrame) -> bool:
        """Whether names lead from the line of a function to what the function returns, but by those
        that were bound to tensors."""
        scope = self.text.scope(callee.line)
        if scope not in self._returned:
            self._returned[scope] = frozenset(self._lines_returned(scope))
        at = self.text.statement(callee.line)
        return at is not None and at.first in self._returned[scope]

    def _lines_returned(self, scope: int) -> Iterator[int]:
        waiting = list(self.text.returns(scope))
        seen: set[int] = set()
        while waiting:
            statement = waiting.pop()
            if statement.first in seen:
                continue
            seen.add(statement.first)
            yield statement.first
            for name in statement.reads:
                bound = self._bindings.get(self._key(self.text.home(scope, name), name), {})
                for writer in self.text.writers(scope, name):
                    known = bound.get(writer.first, ())
                    if writer.scope == scope and not (known and all(map(_carries_nothing, known))):
                        waiting.append(writer)

    @staticmethod
    def _key(scope: int, path: str) -> tuple[int, str]:
        """Attributes are the same in every scope: ``self`` names one object in all methods."""
        return (0 if "." in path else scope, path)

    def _ran(self, frames: Sequence[StackFrame], since: int, until: int) -> list[_Ran]:
        statement = self.text.statement(frames[0].line) if frames else None
        return [] if statement is None else [_Ran(statement, frames, since, until)]

    def _came_back(self, frames: Sequence[StackFrame], until: int) -> list[_Ran]:
        """The statement of the innermost frame, of it only the call or operator that ran there. All
        of it if that reads names which the statement binds inside, as a comprehension does."""
        ran = self._ran(frames, 0, until)
        if ran:
            ran = [ran[0]._replace(since=self._begun(ran[0]))]
            names = self._source.names_given(frames[0].span)[1]
            known = {path.partition(".")[0] for path in ran[0].statement.reads}
            if names and names <= known:
                return [ran[0]._replace(part=frames[0])]
        return ran

    def _begun(self, ran: _Ran) -> int:
        """A time before this execution of the statement: that at which another statement of the
        same call of its function last bound a name; 0 if none is known, and for the head of a loop,
        which runs on for as long as the loop turns."""
        bound = () if ran.statement.is_for else self._in_scope.get(ran.statement.scope, ())
        end = bisect_left(bound, ran.until, key=lambda binding: binding.when)
        for binding in reversed(bound[max(0, end - _NEAREST) : end]):
            is_other = binding.site.line not in ran.statement.lines
            if is_other and _callers(binding.site.frames) == _callers(ran.frames):
                return binding.when
        return 0

    def _reads(self, ran: _Ran) -> Iterable[str]:
        """The names that a statement reads, or the part of it that counts."""
        reads = ran.statement.reads
        if ran.part is None:
            return reads
        names = self._source.names_given(ran.part.span)[1]
        return [path for path in reads if path.partition(".")[0] in names]

    def _bound_by(
        self, name: str, ran: _Ran, found: dict[int, Leave], seen: dict[tuple[int, str, int], int]
    ) -> list[_Ran]:
        """The statements that gave a name its value; a default that left goes into ``found``."""
        scope = ran.statement.scope
        for outer in self.text.outer_scopes(scope):
            key = self._key(outer, name)
            bound = self._before(key, ran.until)
            for binding, since in bound:
                place = (*key, binding.site.line)
                if place not in seen:
                    seen[place] = binding.when
                    return self._of_binding(binding, since, outer, ran.until, found)
                if seen[place] == binding.when or _carries_nothing(binding):
                    return []
            unseen = (*key, 0)
            if bound or unseen in seen:
                return []
            if outer == scope and self.text.is_parameter(outer, name):
                seen[unseen] = 0
                return self._came_back(_callers(ran.frames), ran.until)
            writers = self.text.writers(outer, name)
            if writers:
                seen[unseen] = 0
                return [_Ran(writer, ran.frames, 0, ran.until) for writer in writers]
        return []

    def _before(self, key: tuple[int, str], when: int) -> list[tuple[Binding, int]]:
        """The last binding of a name on each line before ``when``, the latest first, with the time
        of the one before it on that line.

        The head of a loop binds in each turn what left before the first: there the time is that of
        the last binding before something left.
        """
        found = []
        for line, bound in self._bindings.get(key, {}).items():
            last = bisect_left(bound, when, key=lambda binding: binding.when) - 1
            if last < 0:
                continue
            statement, began = self.text.statement(line), last
            if statement is not None and statement.is_for:
                left = self._left_before(line, bound[last].when)
                began = bisect_left(bound, left, key=lambda binding: binding.when)
            found.append((bound[last], bound[began - 1].when if began else 0))
        return sorted(found, key=lambda pair: -pair[0].when)

    def _left_before(self, line: int, when: int) -> int:
        """The time at which something last left on the line; ``when`` itself if nothing did."""
        leaves = self._at_line.get(line, ())
        count = bisect_left(leaves, when, key=lambda leave: leave.when)
        return leaves[count - 1].when if count else when

    def _of_binding(
        self, binding: Binding, since: int, scope: int, until: int, found: dict[int, Leave]
    ) -> list[_Ran]:
        """The name was bound by something that was seen: only this binding counts."""
        if _carries_nothing(binding):
            return []
        frames = binding.site.frames
        if self.text.statement(frames[0].line) is None:  # a parameter: the caller made it
            default = self._default(binding)
            if default is not None:
                found[default.when] = default
                return []
            frames = frames[1:]
        changing = [
            _Ran(writer, (), 0, until)
            for writer in self.text.writers(scope, binding.name)
            if binding.name in writer.changes
        ]
        return [*self._ran(frames, since, binding.when), *changing]

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
