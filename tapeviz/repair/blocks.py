"""Turn the parts of a page with several blocks of code that cannot run into comments.

A block is the code between two stretches of page text (sentences, fences, buttons). A text with
one block is one program and stays as it is.
"""

from __future__ import annotations

import ast
import builtins
import re
from bisect import bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import replace

from ..text.names import bound_names
from .imports import PROVIDED, nested_tables, run_at_once
from .page import PAGE_MARK, Page, Pass, Skipped, as_comment, aside
from .parsing import SyntaxFailure, compile_failure, module_symbols, parse
from .problems import find_problem
from .sentences import CODE_START
from .statements import indent_of, read_statements

_ALWAYS_THERE = (
    frozenset(dir(builtins))
    | PROVIDED
    | {"__name__", "__file__", "__doc__", "__spec__", "__loader__", "__package__"}
)
_BINDS_UNSEEN = frozenset({"exec", "eval", "globals", "locals", "vars", "setattr", "__import__"})
_GOES_ON = re.compile(r"[)\]}]|(else|elif|except|finally)\b")
_NOT_CODE = "not Python: kept as a comment"

_OF_VALUES = (
    *(ast.Expr, ast.Constant, ast.Tuple, ast.List, ast.Dict, ast.Set, ast.expr_context),
    *(ast.UnaryOp, ast.unaryop, ast.BinOp, ast.operator),
)

Range = tuple[int, int]
"""The first line (0-based) and the line after the last."""


def blocks_of(page: Page) -> list[Range]:
    """The stretches of code between the page's own text, without those that are only values."""
    found = _stretches(page)
    return found if len(found) < 2 else [each for each in found if not _is_shown(page, each)]


def _is_shown(page: Page, block: Range) -> bool:
    """Whether a block is only values, as a page shows them beside its code: ``None``, ``[1,
    2]``."""
    tree = parse(page.part(*block).text)
    if isinstance(tree, SyntaxFailure):
        return False
    nodes = [node for statement in tree.body for node in ast.walk(statement)]
    return all(isinstance(node, _OF_VALUES) for node in nodes)


def _stretches(page: Page) -> list[Range]:
    found: list[Range] = []
    start = -1
    for index, line in enumerate(page.lines):
        if index in page.page_text:
            start = -1
        elif _is_code(line):
            if start < 0:
                start = index
                found.append((start, start))
            found[-1] = (start, index + 1)
    return found


def block_starts(text: str) -> tuple[int, ...]:
    """The first line (1-based) of each block of a repaired page; empty for a single program."""
    page = Page.of(text)
    marks = (index for index, line in enumerate(page.lines) if line.startswith(PAGE_MARK))
    found = blocks_of(replace(page, page_text=frozenset(marks)))
    return tuple(first + 1 for first, _ in found) if len(found) > 1 else ()


def leave_out_unreadable(
    page: Page, blocks: Sequence[Range], restoring: Sequence[Pass]
) -> tuple[Page, list[Skipped]]:
    """Repair each block by itself. Statements that still do not parse become comments, or the whole
    block if that would be half of its statements or more.

    An indented block continues the one before it, if that ends indented or with a header.
    """
    skipped: list[Skipped] = []
    for first, end in _joined(page, blocks):
        part, failure = _mended(page.part(first, end), restoring)
        if failure is not None:
            part, left_out = _without_unreadable(part, failure, first)
            skipped += left_out
        page = page.with_part(first, part)
    return page, skipped


def _without_unreadable(
    part: Page, failure: SyntaxFailure, first: int
) -> tuple[Page, list[Skipped]]:
    """The block with comments for the statements that do not parse, or for all of it if these were
    half of it or more."""
    starts = _statement_starts(part)
    kept, found = part, list[Skipped]()
    left: SyntaxFailure | None = failure
    while left is not None and 2 * (len(found) + 1) < len(starts):
        problem = find_problem(kept, left, lines_before=first)
        place = max(bisect_right(starts, left.line - 1) - 1, 0)
        begin, end = starts[place], [*starts, len(part.lines)][place + 1]
        why = str(problem)
        kept = kept.with_part(begin, _as_comments(kept.part(begin, end)))
        if any(skip.line == first + begin + 1 for skip in found):
            break  # leaving it out did not help
        found.append(Skipped(first + begin + 1, first + end, why))
        left = _failure(kept)
    if left is None and has_code(kept):
        return kept, sorted(found, key=lambda part: part.line)
    problem = find_problem(part, failure, lines_before=first)
    whole = Skipped(first + 1, first + len(part.lines), str(problem))
    return _as_comments(part), [whole]


def _statement_starts(part: Page) -> list[int]:
    """The lines (0-based) at which a statement at the left margin begins; clauses and closing
    brackets begin none."""
    return [
        index
        for index, line in enumerate(part.lines)
        if _is_code(line) and not indent_of(line) and not _GOES_ON.match(line)
    ]


def _joined(page: Page, blocks: Sequence[Range]) -> list[Range]:
    joined: list[Range] = []
    for first, end in blocks:
        if joined and indent_of(page.lines[first]) and _is_header_open(page, joined[-1]):
            joined[-1] = (joined[-1][0], end)
        else:
            joined.append((first, end))
    return joined


def _is_header_open(page: Page, block: Range) -> bool:
    """Whether a block ends with an indented line or a header, so that the next may continue it."""
    last = page.lines[block[1] - 1]
    return bool(indent_of(last)) or last.rstrip().endswith(":")


def _mended(part: Page, restoring: Sequence[Pass]) -> tuple[Page, SyntaxFailure | None]:
    """The block after the restoring passes, and why it still does not parse (None: it does)."""
    failure = _failure(part)
    if failure is not None and restoring:
        stray = [
            aside(part, index, _NOT_CODE)
            for statement in read_statements(part.lines)
            if statement.tree is None and not CODE_START.match(statement.text)
            for index in range(statement.first, statement.last + 1)
        ]
        candidate = part
        for candidate in (part.apply(stray), part):
            for restore in restoring:
                candidate = candidate.apply(restore(candidate))
                failure = _failure(candidate)
                if failure is None:
                    return candidate, None
        part = candidate
    return part, failure


def _failure(part: Page) -> SyntaxFailure | None:
    tree = parse(part.text)
    return tree if isinstance(tree, SyntaxFailure) else compile_failure(part.text)


def has_code(page: Page) -> bool:
    """Whether a page has a line that is neither blank nor a comment."""
    return any(map(_is_code, page.lines))


def leave_out_undefined(page: Page, blocks: Sequence[Range]) -> tuple[Page, list[Skipped]]:
    """Make comments of statements that would raise a NameError, to the end of their block.

    ``page`` must parse. Nothing is left out if names may be bound in ways that cannot be seen
    (``exec``, ``import *``), or if all blocks would be left out.
    """
    tree = parse(page.text)
    if isinstance(tree, SyntaxFailure) or _may_bind_unseen(tree):
        return page, []
    globals_read = _reads_of_functions(page.text)
    bound = set(_ALWAYS_THERE)
    anywhere = bound.union(*(_binds(statement) for statement in tree.body))
    skipped: list[Skipped] = []
    mended = page
    for (_, end), statements in _by_block(tree.body, blocks):
        for statement in statements:
            missing = _missing(statement, bound, anywhere, globals_read)
            if missing:
                from_line = _first_line(statement)
                left_out = _as_comments(page.part(from_line - 1, end))
                mended = mended.with_part(from_line - 1, left_out)
                skipped.append(Skipped(from_line, end, f"{missing} is defined nowhere before it"))
                break
            bound |= _binds(statement)
    starts = {first + 1 for first, _ in blocks}
    is_all = len([part for part in skipped if part.line in starts]) == len(blocks)
    return (page, []) if is_all else (mended, skipped)


def _by_block(
    statements: Sequence[ast.stmt], blocks: Sequence[Range]
) -> Iterator[tuple[Range, list[ast.stmt]]]:
    waiting = list(reversed(statements))
    for block in blocks:
        own = []
        while waiting and _first_line(waiting[-1]) - 1 < block[1]:
            own.append(waiting.pop())
        # A statement may reach over page text, as a function with a sentence in its body does.
        last = max((statement.end_lineno or 0 for statement in own), default=0)
        if own:
            yield (block[0], max(block[1], last)), own


def _first_line(statement: ast.stmt) -> int:
    decorators: list[ast.expr] = getattr(statement, "decorator_list", [])
    return min([statement.lineno, *[decorator.lineno for decorator in decorators]])


def _missing(
    statement: ast.stmt,
    bound: set[str],
    anywhere: set[str],
    globals_read: dict[str, frozenset[str]],
) -> str:
    """A name that the statement reads when it runs and that nothing binds; empty if there is
    none."""
    if isinstance(statement, ast.Try):  # it may handle the NameError
        return ""
    known = bound | _binds(statement)
    own = _binds(statement) - bound
    missing: list[tuple[int, int, str]] = []
    for node in run_at_once(statement):
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load):
            is_own_result = isinstance(statement, (ast.Assign, ast.AugAssign)) and node.id in own
            if node.id not in known or (is_own_result and not _is_inner(statement, node.id)):
                missing.append((node.lineno, node.col_offset, node.id))
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name):
            unknown = globals_read.get(node.func.id, frozenset()) - anywhere
            missing += [(node.lineno, node.col_offset, name) for name in unknown]
    return min(missing)[-1] if missing else ""


def _is_inner(statement: ast.stmt, name: str) -> bool:
    """Whether a comprehension or ``:=`` of the statement itself binds the name."""
    return any(
        isinstance(node, ast.Name) and node.id == name and isinstance(node.ctx, ast.Store)
        for part in ast.walk(statement)
        if isinstance(part, (ast.comprehension, ast.NamedExpr))
        for node in ast.walk(part.target)
    )


def _binds(statement: ast.stmt) -> frozenset[str]:
    """The names that the statement binds in the module or in a comprehension."""
    declared = (node.names for node in ast.walk(statement) if isinstance(node, ast.Global))
    return frozenset().union(*map(bound_names, run_at_once(statement)), *declared)


def _may_bind_unseen(tree: ast.Module) -> bool:
    return any(
        (isinstance(node, ast.ImportFrom) and node.names[0].name == "*")
        or (isinstance(node, ast.Name) and node.id in _BINDS_UNSEEN)
        for node in ast.walk(tree)
    )


def _reads_of_functions(text: str) -> dict[str, frozenset[str]]:
    """The globals that each function of the module, with the functions in it, reads."""
    module = module_symbols(text)
    if module is None:
        return {}
    return {
        function.get_name(): frozenset(
            symbol.get_name()
            for table in nested_tables(function)
            for symbol in table.get_symbols()
            if symbol.is_global() and symbol.is_referenced() and not symbol.is_assigned()
        )
        for function in module.get_children()
        if function.get_type() == "function"
    }


def _is_code(line: str) -> bool:
    return bool(line.strip()) and not line.lstrip().startswith("#")


def _as_comments(part: Page) -> Page:
    """The lines as comments, without a repair for each: they are reported as skipped."""
    lines = tuple(
        as_comment(pasted) if _is_code(line) else line
        for line, pasted in zip(part.lines, part.pasted, strict=True)
    )
    return replace(part, lines=lines, done=((),) * len(lines))
