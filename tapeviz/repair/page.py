"""The values of repairs: the pasted lines, an edit of a line, the repaired text."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from itertools import zip_longest
from typing import NamedTuple

PAGE_MARK = "#¶"
"""The start of a comment with page text, which ends the block of code before it."""
_LINE_END = re.compile(r"(\r\n|\r|\n)")


class Repair(NamedTuple):
    """A repair of a line (1-based) of the pasted text."""

    line: int
    what: str


@dataclass(frozen=True, slots=True)
class SyntaxProblem:
    """Why Python cannot read the text, and what to do; 1-based line and column of the pasted
    text."""

    line: int
    column: int
    message: str

    def __str__(self) -> str:
        return f"line {self.line}: {self.message}"


class Skipped(NamedTuple):
    """Lines of a pasted page that do not run, 1-based and inclusive; ``why``: a short phrase."""

    line: int
    last_line: int
    why: str

    def is_within(self, other: Skipped) -> bool:
        return other.line <= self.line and self.last_line <= other.last_line


@dataclass(frozen=True, slots=True)
class Repaired:
    """The text to run, line for line the pasted one.

    With an ``error`` it is the pasted text, unchanged. ``skipped``: the parts that were left out,
    by line; they are comments in ``text``. ``blocks``: the number of pieces of code between the
    sentences of the page, 1 for a single program. ``prose``: the other lines (from 1) that were
    made comments."""

    text: str
    repairs: tuple[Repair, ...] = ()
    error: SyntaxProblem | None = None
    skipped: tuple[Skipped, ...] = ()
    blocks: int = 1
    prose: tuple[int, ...] = ()


def prose_lines(pasted: str, repaired: str, skipped: Iterable[Skipped]) -> tuple[int, ...]:
    """The lines (from 1) of the pasted text that were made comments, and not left out."""
    out = {n for part in skipped for n in range(part.line, part.last_line + 1)}
    pairs = zip(pasted.split("\n"), repaired.split("\n"), strict=False)
    return tuple(
        number
        for number, (before, after) in enumerate(pairs, 1)
        if number not in out and _is_comment(after) and not _is_comment(before)
    )


def _is_comment(line: str) -> bool:
    return line.lstrip().startswith("#")


@dataclass(frozen=True, slots=True)
class LineEdit:
    """A new text for the line at ``index`` (0-based); ``what``: the repair in words.

    ``sets_aside``: the line holds no code, so earlier repairs of it do not count.
    """

    index: int
    text: str
    what: str
    sets_aside: bool = False
    is_page_text: bool = False
    """The line is part of the page around the code: a sentence, a fence, a button."""


@dataclass(frozen=True, slots=True)
class Page:
    """The lines as ``pasted``, the ``lines`` now, and the repairs ``done`` to each.

    ``ends``: the line end after each. ``page_text``: the lines (0-based) that are text of the page
    around the code.
    """

    pasted: tuple[str, ...]
    ends: tuple[str, ...]
    lines: tuple[str, ...]
    done: tuple[tuple[str, ...], ...]
    page_text: frozenset[int] = frozenset()

    @classmethod
    def of(cls, text: str) -> Page:
        """The page of a pasted text, cut at ``\\n``, ``\\r\\n`` and ``\\r``, as Python does."""
        parts = _LINE_END.split(text)
        lines = tuple(parts[::2])
        return cls(lines, tuple(parts[1::2]), lines, ((),) * len(lines))

    @property
    def text(self) -> str:
        """The lines as they are now, with the line ends of the pasted text."""
        pairs = zip_longest(self.lines, self.ends, fillvalue="")
        return "".join(part for pair in pairs for part in pair)

    @property
    def repairs(self) -> tuple[Repair, ...]:
        """The repairs, by line."""
        return tuple(
            Repair(index + 1, what)
            for index, whats in enumerate(self.done)
            if self.lines[index] != self.pasted[index]
            for what in whats
        )

    def is_aside(self, index: int) -> bool:
        """Whether the line was debris: it had text when pasted, and has no code now."""
        now = self.lines[index].strip()
        before = self.pasted[index].strip()
        return now != before and (not now or now.startswith("#")) and not before.startswith("#")

    def apply(self, edits: Iterable[LineEdit]) -> Page:
        """The page after ``edits``."""
        lines, done = list(self.lines), list(self.done)
        page_text = set(self.page_text)
        for edit in edits:
            index = edit.index
            if edit.is_page_text:
                page_text.add(index)
            text = edit.text
            if not text and index == len(lines) - 1:
                text = "#"  # an empty last line would no longer count as one
            if text == lines[index]:
                continue
            lines[index] = text
            if edit.sets_aside:
                done[index] = (edit.what,)
            elif edit.what not in done[index]:
                done[index] += (edit.what,)
        return Page(self.pasted, self.ends, tuple(lines), tuple(done), frozenset(page_text))

    def part(self, first: int, end: int) -> Page:
        """The lines from ``first`` up to ``end`` as a page of their own."""
        return Page(
            self.pasted[first:end],
            self.ends[first:end],
            self.lines[first:end],
            self.done[first:end],
            frozenset(index - first for index in self.page_text if first <= index < end),
        )

    def with_part(self, first: int, part: Page) -> Page:
        """The page in which the lines from ``first`` on are those of ``part``."""
        end = first + len(part.lines)
        return replace(
            self,
            lines=(*self.lines[:first], *part.lines, *self.lines[end:]),
            done=(*self.done[:first], *part.done, *self.done[end:]),
        )


Pass = Callable[[Page], Iterable[LineEdit]]
"""A kind of repair: the edits that it would make on a page."""


def blank(index: int, what: str, *, is_page_text: bool = False) -> LineEdit:
    """An edit that empties a line; page text leaves a mark, which separates blocks of code."""
    text = PAGE_MARK if is_page_text else ""
    return LineEdit(index, text, what, sets_aside=True, is_page_text=is_page_text)


def as_comment(pasted: str, sign: str = "#") -> str:
    """A pasted line as a comment."""
    # Python refuses a NUL even in a comment.
    return f"{sign} " + pasted.replace("\0", "").rstrip(" \t")


def aside(page: Page, index: int, what: str, *, is_page_text: bool = False) -> LineEdit:
    """An edit that makes a comment of a line as it was pasted."""
    text = as_comment(page.pasted[index], PAGE_MARK if is_page_text else "#")
    return LineEdit(index, text, what, sets_aside=True, is_page_text=is_page_text)
