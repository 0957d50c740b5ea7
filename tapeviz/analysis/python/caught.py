"""Find the exception that kept a line from using a source, and that the snippet caught."""

from __future__ import annotations

import ast
from bisect import bisect_right
from collections.abc import Iterator, Sequence, Set
from dataclasses import dataclass
from operator import itemgetter

from ...text.messages import first_words
from ...text.names import dotted
from ...text.trees import lines_of
from ...trace.ids import TensorId
from ...trace.model import CaughtError
from ..call_facts import CallFacts
from ..flow.ancestry import Ancestry, Position

_MOST = 50
"""Exceptions looked at: a loop may catch one in each turn."""
_OF_BLOCKS = (ast.stmt, ast.ExceptHandler, ast.match_case)
"""The parts of a statement with blocks beside its head."""


@dataclass(frozen=True, slots=True)
class SkippedByError:
    """An exception of this ``type``, raised on ``line`` and caught by the ``catcher`` (``The except
    on line 8``), which came through a line that reads the source. ``is_sure``: under a name that
    means the source or what is made from it, of which no value left TensorFlow later; else one
    did, or the name means an object that has the source."""

    type: str
    message: str
    line: int
    catcher: str
    is_sure: bool

    def sentence(self, target: str, source: str) -> str:
        said = first_words(self.message)
        words = f"{self.type} ({said})" if said else self.type
        probably = "" if self.is_sure else "probably "
        return (
            f"Line {self.line} raised {words}. {self.catcher} caught it, so the code that would "
            f"{probably}have computed {target} from {source} did not run. Fix that error: as long "
            f"as it is caught there, the gradient is None."
        )


def skipped_by_error(facts: CallFacts, starts: Set[Position]) -> SkippedByError | None:
    """The last exception caught while the tape recorded that came through a line which reads the
    source or something made from it; else an object that the gradient call names as well."""
    given, made = facts.names_of_sources, facts.once(_ancestry_of_caught).leads_from(starts)
    left = (
        facts.once(_ancestry_of_left).leads_from(starts) if facts.once(_caught) else set[Position]()
    )
    gone = max((leave.when for leave in facts.leaves if leave.tensor in left), default=0)
    likely = None
    for error, paths, tensors in facts.once(_caught):
        is_meant = not made.isdisjoint(tensors)
        is_sure = is_meant and gone < error.when  # else the path may go on where the value left
        if is_sure or (likely is None and (is_meant or given & paths)):
            found = SkippedByError(
                error.type, error.message, error.lines[-1], _catcher(facts, error), is_sure
            )
            if is_sure:
                return found
            likely = found
    return likely


_Caught = tuple[CaughtError, Set[str], Sequence[TensorId]]
"""An exception, the names and paths on the lines that it came through, and what they meant then."""


def _caught(facts: CallFacts) -> Sequence[_Caught]:
    """The exceptions caught while the tape recorded, the last first."""
    tape, until = facts.tape, facts.call.when
    found = [
        error
        for error in reversed(facts.trace.caught)
        if tape is not None and error.lines and error.when < until
        if tape.is_recording(error.when)
    ]
    return [_with_what_it_read(facts, error) for error in found[:_MOST]]


def _ancestry_of_caught(facts: CallFacts) -> Ancestry:
    """The paths to all that was meant on these lines."""
    return facts.flow.ancestry(tensor for _, _, meant in facts.once(_caught) for tensor in meant)


def _ancestry_of_left(facts: CallFacts) -> Ancestry:
    """The paths to the values that left TensorFlow while the tape recorded."""
    return facts.flow.ancestry(leave.tensor for leave in facts.leaves)


def _with_what_it_read(facts: CallFacts, error: CaughtError) -> _Caught:
    paths = {path for line in error.lines for path in _read_on(facts, line)}
    meant = (_meant(facts, path, error.when) for path in paths)
    return error, paths, [tensor for tensor in meant if tensor is not None]


def _read_on(facts: CallFacts, line: int) -> Iterator[str]:
    """The names and dotted paths in the simple statement, or the head of the other, on a line."""
    statement = facts.text.statement(line)
    waiting: list[ast.AST] = [statement] if statement is not None else []
    while waiting:
        node = waiting.pop()
        if isinstance(node, (ast.Name, ast.Attribute)) and (path := dotted(node)):
            yield path
        inside = ast.iter_child_nodes(node)
        waiting += [each for each in inside if not isinstance(each, _OF_BLOCKS)]


def _meant(facts: CallFacts, path: str, when: int) -> TensorId | None:
    """The tensor or variable that a name meant at a moment; None if it meant none."""
    given = facts.flow.bound.get(path, ())
    before = bisect_right(given, when, key=itemgetter(0))
    return given[before - 1][1] if before else None


def _catcher(facts: CallFacts, error: CaughtError) -> str:
    """Name the statement that caught it: the ``with`` on that line around where it was raised, as
    of ``contextlib.suppress``, or the ``except`` around that line."""
    line, tree = error.site.line, facts.text.tree
    for node in ast.walk(tree) if tree is not None else ():
        if isinstance(node, ast.With) and node.lineno <= line <= node.body[0].lineno:
            last = node.end_lineno or line
            if any(node.body[0].lineno <= raised <= last for raised in error.lines):
                return f"The with on line {node.lineno}"
    handlers = [
        node.lineno
        for node in (ast.walk(tree) if tree is not None else ())
        if isinstance(node, ast.ExceptHandler) and line in lines_of(node)
    ]
    return f"The except on line {max(handlers)}" if handlers else "An except"
