"""Find the statements that a statement needs, and those that depend on it, by their names."""

from __future__ import annotations

from collections.abc import Iterator, Sequence, Set

import libcst as cst

from ...analysis.findings import Cause
from ...text.line_words import lines_in_words
from ...trace.sites import StackFrame
from ..model import FixCase
from ..nodes import all_of, bound_names, read_names, sole
from ..source import CstStatement, ParsedSource


def statements_of_cause(case: FixCase) -> Iterator[CstStatement]:
    return statements_of(case, case.cause)


def statements_of(case: FixCase, cause: Cause) -> Iterator[CstStatement]:
    """The statement on the line of a cause, then those of the calls around its op."""
    op = case.trace.op(cause.op_id)
    frames: tuple[StackFrame, ...] = op.site.frames if op is not None else ()
    for line in (cause.line, *(frame.line for frame in frames)):
        statement = case.source.statement(line)
        if statement is not None:
            yield statement


def makers_of(names: Set[str], statements: Sequence[CstStatement]) -> list[CstStatement]:
    """The statements that make the names, or what such a statement reads, in their order."""
    chosen, needed = list[CstStatement](), set(names)
    for statement in reversed(statements):
        if needed & bound_names(statement):
            chosen.insert(0, statement)
            needed |= read_names(statement)
    return chosen


def dependents(
    source: ParsedSource,
    statements: Sequence[CstStatement],
    firsts: Sequence[CstStatement],
    with_shown: bool = False,
) -> list[CstStatement]:
    """``firsts``, and of those after them what reads something that was made from one; with what
    only shows or writes it (``print(y)``, ``q.assign(y)``), which cannot run before."""
    kept: list[CstStatement] = []
    names: set[str] = set()
    for statement in statements:
        is_shown = isinstance(sole(statement), cst.Expr) and not with_shown
        if statement in firsts or (names & read_names(statement) and not is_shown):
            kept.append(statement)
            names |= bound_names(statement) | _filled_names(source, statement)
    return kept


def _filled_names(source: ParsedSource, statement: CstStatement) -> frozenset[str]:
    """``memory`` of ``memory.append(x)``, in the statement or anywhere in it; no module."""
    alone = (each.value for each in all_of(statement, cst.Expr))
    called = (each.func for each in alone if isinstance(each, cst.Call))
    owners = (each.value for each in called if isinstance(each, cst.Attribute))
    names = frozenset(owner.value for owner in owners if isinstance(owner, cst.Name))
    return names - source.imported


def with_needed(
    statements: Sequence[CstStatement], chosen: list[CstStatement]
) -> list[CstStatement]:
    """The chosen statements with those that make what they read."""
    kept = list(chosen)
    needed = set().union(*(read_names(statement) for statement in chosen))
    for statement in reversed(statements):
        is_later = all(
            place_in(statements, statement) > place_in(statements, other) for other in chosen
        )
        if any(statement is other for other in kept) or is_later:
            continue
        if needed & bound_names(statement):
            kept.append(statement)
            needed |= read_names(statement)
    return sorted(kept, key=lambda statement: place_in(statements, statement))


def is_moved_past(
    source: ParsedSource, statements: Sequence[CstStatement], moved: Sequence[CstStatement]
) -> bool:
    """Whether a statement that stays changes what a moved one before it reads: ``s += 1`` or
    ``w.assign(e)`` behind ``h = s * w``. Statements that are moved to the front: in reverse."""
    read = set[str]()
    for statement in statements:
        if any(statement is each for each in moved):
            read |= read_names(statement)
            continue
        is_run = not isinstance(statement, (cst.FunctionDef, cst.ClassDef))
        if is_run and read & (bound_names(statement) | _filled_names(source, statement)):
            return True
    return False


def place_in(statements: Sequence[CstStatement], node: cst.CSTNode) -> int:
    return next((i for i, each in enumerate(statements) if each is node), -1)


def lines_of(source: ParsedSource, moved: Sequence[CstStatement]) -> str:
    return lines_in_words([source.line(statement) for statement in moved])
