"""A pass for tabs in the margin: spaces, at the tab width that makes the lines agree."""

from __future__ import annotations

from collections.abc import Iterator

from ..page import LineEdit, Page
from ..parsing import SyntaxFailure, parse
from ..scanning import scan_lines

_WIDTHS = (4, 8, 2)


def expand_tabs(page: Page) -> Iterator[LineEdit]:
    """Replace tabs in margins by spaces."""
    tabbed = [
        index
        for index, found in enumerate(scan_lines(page.lines))
        if "\t" in _margin(page.lines[index]) and found.code and found.code[0][0] == 0
    ]
    if not tabbed:
        return
    width = next((width for width in _WIDTHS if _parses(page, tabbed, width)), _WIDTHS[0])
    for index in tabbed:
        yield LineEdit(index, _expand(page.lines[index], width), "replaced tabs by spaces")


def _parses(page: Page, tabbed: list[int], width: int) -> bool:
    lines = list(page.lines)
    for index in tabbed:
        lines[index] = _expand(lines[index], width)
    return not isinstance(parse("\n".join(lines)), SyntaxFailure)


def _margin(line: str) -> str:
    return line[: len(line) - len(line.lstrip())]


def _expand(line: str, width: int) -> str:
    margin = _margin(line)
    return margin.expandtabs(width) + line[len(margin) :]
