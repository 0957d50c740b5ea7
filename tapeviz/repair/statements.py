"""Split lines into statements, each parsed by itself, so that a bad line spoils no other."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache

from .parsing import SyntaxFailure, parse
from .scanning import CLOSED, Open, scan

TAB = 8
"""Columns to the next tab stop, as Python counts them."""

_HEADER = re.compile(r"(?:async\s+)?(with|for|while|if|def|class|try|match)\b")
_CLAUSE = re.compile(r"(else|elif|except|finally|case)\b")
# No line inside brackets starts with these: a bracket that is open before it was never closed.
_STARTS_STATEMENT = re.compile(
    r"\s*(?:(?:with|while|def|class|import|return|del|assert|raise|try)\b|from\s+[\w.]+\s+import\b|@\w)"
)
_FRAMES = {
    "else": "if 1:\n pass\n",
    "elif": "if 1:\n pass\n",
    "except": "try:\n pass\n",
    "finally": "try:\n pass\n",
    "case": "match 0:\n ",
}
_LONGEST = 5_000
"""Lines of one statement: enough for an array written out."""
_SHORT = 10
"""Lines that may be read ahead after the budget is used up."""


@dataclass(frozen=True, slots=True)
class PastedStatement:
    """A simple statement, or the header of a compound one, from line ``first`` to ``last``.

    ``tree`` is None if it does not parse. The tree of a header has ``pass`` as its body, the tree
    of a clause the statement that it continues."""

    first: int
    last: int
    indent: int
    text: str
    tree: ast.Module | None
    keyword: str = ""
    """``with``, ``else``, ``@`` … of a header or clause, else empty."""
    opens: bool = False
    """Whether an indented body must follow."""
    failure: SyntaxFailure | None = None
    """Why it does not parse, at the lines and columns of ``text``."""

    @property
    def node(self) -> ast.stmt | None:
        """The first (nearly always only) statement of the tree."""
        return self.tree.body[0] if self.tree else None

    @property
    def is_clause(self) -> bool:
        """Whether it goes on with a compound statement: ``else``, ``except``."""
        return self.keyword in _FRAMES


@lru_cache(maxsize=1)  # most passes change nothing, and the next one asks for the same again
def read_statements(lines: tuple[str, ...]) -> tuple[PastedStatement, ...]:
    """All statements; blank lines and comments are left out."""
    return tuple(_read(lines))


def statement_starts(lines: tuple[str, ...], wanted: Sequence[int]) -> list[int]:
    """The lines among ``wanted`` that are not the inside of a statement."""
    if not wanted:
        return []
    starts = {statement.first for statement in read_statements(lines)}
    return [index for index in wanted if index in starts]


def indent_of(line: str) -> int:
    """The column (0-based) where the text of a line starts."""
    margin = line[: len(line) - len(line.lstrip(" \t\f"))]
    return len(margin.replace("\f", "").expandtabs(TAB))


def _read(lines: Sequence[str]) -> Iterator[PastedStatement]:
    # The budget of lines read ahead in vain: open brackets on every line must not cost n² steps.
    patience = 4 * len(lines) + 1_000
    at = 0
    while at < len(lines):
        text = lines[at].strip()
        if not text or text.startswith("#"):
            at += 1
            continue
        read, is_whole = _read_ahead(lines, at, min(_LONGEST, max(patience, _SHORT)))
        statement = _parse(lines, at, read - 1) if is_whole else None
        if read > at + 1 and (statement is None or statement.tree is None):
            patience -= read - at
            statement = None
        statement = statement or _parse(lines, at, at)
        yield statement
        at = statement.last + 1


def _read_ahead(lines: Sequence[str], first: int, most: int) -> tuple[int, bool]:
    """The first line after a statement, and whether its brackets are closed there."""
    before: Open = CLOSED
    index = first
    for index in range(first, min(len(lines), first + most)):
        inside_brackets = before.brackets and not before.quote
        if inside_brackets and _STARTS_STATEMENT.match(lines[index]):
            return index, False
        before = scan(lines[index], before).after
        if before.mismatch or not before.is_open:
            return index + 1, not before.mismatch
    return index + 1, False


def _parse(lines: Sequence[str], first: int, last: int) -> PastedStatement:
    indent = indent_of(lines[first])
    text = "\n".join([lines[first].strip(" \t\f"), *lines[first + 1 : last + 1]])
    found = PastedStatement(first, last, indent, text, None)
    clause = _CLAUSE.match(text)
    if clause:
        return _parse_clause(found, clause[1])
    if text.startswith("@"):
        return _framed(replace(found, keyword="@"), text + "\ndef f(): pass")
    header = _HEADER.match(text)
    if header and _ends_with_colon(lines[last]):
        found = replace(found, keyword=header[1], opens=True)
        body = "\n case _: pass" if header[1] == "match" else "\n pass"
        if header[1] == "try":
            body += "\nfinally: pass"
        framed = _framed(found, text + body)
        if framed.tree is not None or header[1] != "match":
            return framed
    return _framed(replace(found, keyword="", opens=False), text)


def _parse_clause(found: PastedStatement, keyword: str) -> PastedStatement:
    opens = _ends_with_colon(found.text)
    body = "\n  pass" if opens else ""
    clause = replace(found, keyword=keyword, opens=opens)
    framed = _framed(clause, found.text + body, _FRAMES[keyword])
    if framed.tree is None and keyword == "case":  # `case` may be a name
        return _framed(replace(found, keyword="", opens=False), found.text)
    return framed


def _framed(found: PastedStatement, source: str, frame: str = "") -> PastedStatement:
    tree = parse(frame + source)
    if isinstance(tree, SyntaxFailure):
        line = max(tree.line - frame.count("\n"), 1)
        return replace(found, failure=SyntaxFailure(line, tree.column, tree.message))
    return replace(found, tree=tree) if tree.body else found


def _ends_with_colon(text: str) -> bool:
    line = text.rsplit("\n", 1)[-1]
    return line[: scan(line).comment].rstrip().endswith(":")
