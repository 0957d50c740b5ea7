"""A pass for the line numbers that a page shows in the margin of its code."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from tapeviz.repair.page import Edit, Page

_NUMBERED = re.compile(r"^[ \t]*(\d{1,6})(?:[.:|)\]│](?!\d)|(?=[ \t]|$))([ \t]*)(.*)$")
_GOES_ON = re.compile(r"(?!>>>|\.\.\.)[,;)\]}=*/+\-%|&<>.]")
"""What no statement starts with: the number before it is more likely data."""


@dataclass(frozen=True, slots=True)
class _Numbered:
    index: int
    number: int
    gap: int
    """Columns between the number with its sign and the text."""
    column: int
    """Where the text starts."""
    text: str


def drop_line_numbers(page: Page) -> Iterator[Edit]:
    """Numbers that count the lines."""
    for run in _runs(page.lines):
        texts = [one for one in run if one.text]
        if not texts:
            continue
        cut_by_gap = _by_gap(texts)
        for one in run:
            line = page.lines[one.index].rstrip() if not one.text else page.lines[one.index]
            margin = one.gap - min(t.gap for t in texts) if cut_by_gap else 0
            if not cut_by_gap:
                margin = one.column - min(t.column for t in texts)
            text = " " * max(margin, 0) + one.text if one.text else ""
            if line != text:
                yield Edit(one.index, text, f"removed the line number {one.number}")


def _runs(lines: Sequence[str]) -> Iterator[list[_Numbered]]:
    """Stretches of at least two numbered lines that count up with the lines."""
    run: list[_Numbered] = []
    for index, line in enumerate(lines):
        found = _read(index, line)
        if found and run and _counts_on(run[-1], found):
            run.append(found)
        elif found or line.strip():
            if _is_margin(run):
                yield run
            run = [found] if found and not _GOES_ON.match(found.text) else []
    if _is_margin(run):
        yield run


def _read(index: int, line: str) -> _Numbered | None:
    match = _NUMBERED.match(line)
    if match is None:
        return None
    gap = len(match[2].expandtabs(4))
    return _Numbered(index, int(match[1]), gap, len(line[: match.start(3)].expandtabs(4)), match[3])


def _counts_on(last: _Numbered, one: _Numbered) -> bool:
    # Blank lines may have no number of their own, or have lost it.
    return 1 <= one.number - last.number <= one.index - last.index


def _is_margin(run: Sequence[_Numbered]) -> bool:
    if len(run) < 2:
        return False
    # Numbers alone are as likely data.
    return sum(1 for one in run if one.text) >= min(2, len(run))


def _by_gap(texts: Sequence[_Numbered]) -> bool:
    """Whether longer numbers push the text on; else it keeps its column."""

    def odd(margins: list[int]) -> int:
        low = min(margins)
        return sum((margin - low) % 2 for margin in margins)

    return odd([one.gap for one in texts]) <= odd([one.column for one in texts])
