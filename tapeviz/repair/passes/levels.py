"""A pass for lost and slipped indentation: each statement gets the column of its block."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from itertools import pairwise

from ..bodies import Gap, Script, body_end, cannot_stay, ends_body, is_needed, leaves, tape_names
from ..facts import read_facts
from ..page import LineEdit, Page
from ..scanning import scan_lines
from ..statements import PastedStatement, indent_of, read_statements

_STEP = 4
_DEEPEST = 40
"""Nested blocks at most; Python allows 100, and 20 of some kinds."""
_GOES_ON = {
    "else": ("if", "elif", "for", "while", "try", "except"),
    "elif": ("if", "elif"),
    "except": ("try", "except"),
    "finally": ("try", "except", "else"),
    "case": ("case",),
}


def restore_indentation(page: Page) -> Iterator[LineEdit]:
    """Indent bodies that are flush with their header, and align lines that match no level."""
    script = _read_script(page)
    if not len(script):
        return
    walk = _Walk(script)
    try:
        walk.run()
    except _TooDeep:
        return
    inside_string = [found.code == () or found.code[0][0] > 0 for found in scan_lines(page.lines)]
    for index, statement in enumerate(script.statements):
        shift = walk.columns[index] - statement.indent
        if shift:
            yield from _shifted(page, statement, shift, walk.reasons[index], inside_string)


class _TooDeep(Exception):
    """There are more than ``_DEEPEST`` nested blocks."""


@dataclass(frozen=True, slots=True)
class _Block:
    """A body that is being read."""

    header: int
    """Index of the statement that opens it; -1 for the text itself."""
    start: int
    level: int
    """The column where its statements stand on the page."""
    column: int
    """The column they get."""
    limit: int
    is_lost: bool


@dataclass(slots=True)
class _Walk:
    """Goes over the statements once, opening and leaving blocks as a parser does."""

    script: Script
    at: int = 0
    blocks: list[_Block] = field(default_factory=list)
    latest: list[str] = field(default_factory=list)
    """The keyword of the last statement so far, for each open block."""
    columns: list[int] = field(default_factory=list)
    reasons: list[str] = field(default_factory=list)

    def run(self) -> None:
        first = self.script.statements[0].indent
        while self.at < len(self.script):
            self._read_block(_Block(-1, self.at, first, 0, len(self.script), is_lost=False))
            # The outermost block ends at a statement further left than the first one.
            first = 0

    def _read_block(self, block: _Block) -> None:
        if len(self.blocks) > _DEEPEST:
            raise _TooDeep
        self.blocks.append(block)
        self.latest.append("")
        while self.at < block.limit:
            index = self.at
            if index > block.start and self._is_left(block, index):
                break
            self._place(block, index)
            if self.script.statements[index].opens:
                self._open(block, index)
            elif block.is_lost and ends_body(self.script, block.header, index):
                break
        self.blocks.pop()
        self.latest.pop()

    def _place(self, block: _Block, index: int) -> None:
        self.columns.append(block.column)
        self.latest[-1] = self.script.statements[index].keyword
        if block.header < 0:
            self.reasons.append("moved to the left margin")
        elif block.is_lost:
            header = self.script.statements[block.header]
            self.reasons.append(
                f"indented as part of the “{header.keyword}” on line {header.first + 1}"
            )
        else:
            self.reasons.append("aligned with the lines around it")
        self.at += 1

    def _open(self, outer: _Block, header: int) -> None:
        """Read the body of the header just placed."""
        start = self.at
        if start >= outer.limit:
            return
        opener, first = self.script.statements[header], self.script.statements[start]
        if first.is_clause and opener.keyword in _GOES_ON[first.keyword]:
            return
        if first.indent > opener.indent:
            level = self._body_level(start, opener.indent, outer.limit)
            column = outer.column + level - opener.indent
            self._read_block(_Block(header, start, level, column, outer.limit, is_lost=False))
        elif opener.tree is not None:
            limit = body_end(self.script, header, start, outer.limit)
            column = outer.column + _STEP
            self._read_block(_Block(header, start, first.indent, column, limit, is_lost=True))

    def _body_level(self, start: int, outer: int, limit: int) -> int:
        """The column of a body whose first line may have slipped: the commonest one near it."""
        first = self.script.statements[start]
        if first.opens:
            return first.indent
        seen: dict[int, int] = {}
        for index in range(start, min(limit, start + 50)):
            statement = self.script.statements[index]
            if statement.indent <= outer:
                break
            if abs(statement.indent - first.indent) <= 2:
                seen[statement.indent] = seen.get(statement.indent, 0) + 1
            if statement.opens:
                break
        return max(seen, key=lambda column: (seen[column], column == first.indent))

    def _is_left(self, block: _Block, index: int) -> bool:
        statement = self.script.statements[index]
        if statement.is_clause:
            belongs_here = self._goes_on_here(block, statement)
            if belongs_here is not None:
                return not belongs_here
        if statement.indent < block.level:
            return self._falls_back(block, index)
        if not block.is_lost or statement.indent > self.script.statements[block.header].indent:
            return False
        return leaves(self.script, block.header, block.start, index)

    def _goes_on_here(self, block: _Block, clause: PastedStatement) -> bool | None:
        """Whether a clause (``else``) continues the statement before it in this block.

        False if it continues the header of an open block, None if it fits nothing.
        """
        openers = _GOES_ON[clause.keyword]
        headers = [
            self.script.statements[block.header] for block in self.blocks if block.header >= 0
        ]
        outside = [
            abs(clause.indent - header.indent) for header in headers if header.keyword in openers
        ]
        if self.latest[-1] in openers:
            return abs(clause.indent - block.level) <= min(outside, default=clause.indent + 99)
        return False if outside else None

    def _falls_back(self, block: _Block, index: int) -> bool:
        """Whether a statement left of its block belongs to a block around it."""
        indent = self.script.statements[index].indent
        levels = {block.level for block in self.blocks}
        levels |= {self.script.statements[block.header].indent for block in self.blocks[1:]}
        outer = max((level for level in levels if level < block.level), default=None)
        if outer is None:
            return False
        to_outer, to_block = abs(indent - outer), block.level - indent
        if to_outer == to_block:
            is_behind = self.script.statements[index - 1].indent == block.level
            if cannot_stay(self.script, block.header, index, is_behind=is_behind):
                return True
        if to_outer >= to_block or self._returns_to(block, index):
            return False
        is_off = indent not in levels
        return not (is_off and is_needed(self.script, block.header, block.start, index))

    def _returns_to(self, block: _Block, index: int) -> bool:
        """Whether one of the next lines is in the block again, so that this one has only
        slipped."""
        for ahead in range(index, min(index + 4, block.limit)):
            statement = self.script.statements[ahead]
            if ahead > index and statement.indent == block.level:
                return True
            if statement.opens or statement.indent > block.level:
                return False
            if ahead > index and self.script.gaps[ahead]:
                return False
        return False


def _read_script(page: Page) -> Script:
    statements = list(read_statements(page.lines))
    _join_first(statements)
    return Script(
        statements,
        _gaps(page, statements),
        [read_facts(statement) for statement in statements],
        [tape_names(statement) for statement in statements],
    )


def _join_first(statements: list[PastedStatement]) -> None:
    """Give the first statement the column of its block: a copied selection often begins after its
    indentation."""
    if len(statements) < 2:
        return
    first, second = statements[:2]
    rest = min(statement.indent for statement in statements[1:])
    if first.indent >= rest:
        return
    if first.opens:
        # The rest may be its body, with a slip.
        is_slip = (
            second.indent - rest < 2
            or sum(statement.indent == rest for statement in statements) < 2
        )
        if (is_slip and rest < 3) or second.indent - rest < 2 or not _is_sound(statements, rest):
            return
    statements[0] = replace(first, indent=rest)


def _is_sound(statements: Sequence[PastedStatement], base: int) -> bool:
    """Whether the lines fit each other when the first one stands at ``base``."""
    levels = [base]
    for before, statement in pairwise(statements):
        if before.opens:
            if statement.indent <= levels[-1]:
                return False
            levels.append(statement.indent)
        while statement.indent < levels[-1] and len(levels) > 1:
            levels.pop()
        if statement.indent != levels[-1]:
            return False
    return True


def _gaps(page: Page, statements: Sequence[PastedStatement]) -> list[Gap]:
    blanks, debris = [0], [False]
    for before, statement in pairwise(statements):
        between = range(before.last + 1, statement.first)
        blanks.append(sum(1 for index in between if not page.lines[index].strip()))
        debris.append(any(page.is_aside(index) for index in between))
    # On a page with a blank line after every line, a paragraph ends with two of them.
    usual = 1 if sum(map(bool, blanks)) > 0.6 * len(blanks) else 0
    return [
        Gap.DEBRIS if aside else Gap(min(max(blank - usual, 0), Gap.WIDE))
        for blank, aside in zip(blanks, debris, strict=True)
    ]


def _shifted(
    page: Page, statement: PastedStatement, shift: int, what: str, inside_string: Sequence[bool]
) -> Iterator[LineEdit]:
    for index in range(statement.first, statement.last + 1):
        line = page.lines[index]
        is_text = index > statement.first and inside_string[index]
        if is_text or not line.strip():
            continue
        column = max(indent_of(line) + shift, 0)
        if index == statement.first or column:
            yield LineEdit(index, " " * column + line.lstrip(" \t\f"), what)
