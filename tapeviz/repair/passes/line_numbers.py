"""A pass for the line numbers that a page shows in the margin of its code."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from ..page import LineEdit, Page

_NUMBERED = re.compile(
    r"^[ \t]*(?:(?:❱|→|-+>)[ \t]+)?(\d{1,6})(?:[.:|)\]│](?!\d)|[ \t]+[|│](?=[ \t]|$)|(?=[ \t]|$)"
    r"|(?P<glued>(?=[A-Za-z_@#])))([ \t]*)(.*)$"
)
_FAR = 4
"""Most numbers left out in a row: pages drop blank lines and count them all the same."""
_GOES_ON = re.compile(r"(?!>>>|\.\.\.)[,;)\]}=*/+\-%|&<>.]")
"""Text that starts no statement: the number before it is more likely data."""
_IS_DATA = re.compile(r"[-+\d.,eE\s]*")
"""Text after a number in a table of numbers: none, or more numbers."""


@dataclass(frozen=True, slots=True)
class _Numbered:
    index: int
    number: int
    gap: int
    """Columns between the number (with its dot or bracket) and the text."""
    column: int
    """The place at which the text starts."""
    text: str
    is_glued: bool
    """Whether nothing stands between the number and the text."""


def drop_line_numbers(page: Page) -> Iterator[LineEdit]:
    """Remove line numbers."""
    for run in _runs(page.lines):
        texts = [line for line in run if line.text]
        if not texts:
            continue
        is_pushed = _is_pushed(texts)
        nearest = min(text.gap if is_pushed else text.column for text in texts)
        for line in run:
            margin = (line.gap if is_pushed else line.column) - nearest
            text = " " * margin + line.text if line.text else ""
            yield LineEdit(line.index, text, "removed the line number")


def _runs(lines: Sequence[str]) -> Iterator[list[_Numbered]]:
    """Stretches of at least two lines whose numbers count up."""
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
    gap = len(match[3].expandtabs(4))
    column = len(line[: match.start(4)].expandtabs(4))
    is_glued = match["glued"] is not None
    return _Numbered(index, int(match[1]), gap, column, match[4], is_glued)


def _counts_on(last: _Numbered, this: _Numbered) -> bool:
    # Blank lines may have no number of their own, or have lost it.
    return 1 <= this.number - last.number <= max(this.index - last.index, _FAR)


def _is_margin(run: Sequence[_Numbered]) -> bool:
    if len(run) < 2:
        return False
    if any(line.is_glued for line in run) and (len(run) < 3 or run[0].number != 1):
        return False  # 2e5, 1if x else y
    # Numbers alone are as likely data, and so are numbers before numbers: `0 0.31`, `1 0.29`.
    return sum(1 for line in run if not _IS_DATA.fullmatch(line.text)) >= min(2, len(run))


def _is_pushed(texts: Sequence[_Numbered]) -> bool:
    """Whether longer numbers push the text to the right; else the text keeps its column."""

    def odd(margins: list[int]) -> int:
        low = min(margins)
        return sum((margin - low) % 2 for margin in margins)

    return odd([text.gap for text in texts]) <= odd([text.column for text in texts])
