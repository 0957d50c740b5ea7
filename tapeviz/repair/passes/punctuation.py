"""A pass for typographic punctuation: curly quotes and full-width signs become Python's."""

from __future__ import annotations

import re
from collections.abc import Iterator

from ..folding import DOUBLE, SIGNS, SINGLE, fold
from ..page import LineEdit, Page
from ..scanning import Scan, map_code, scan_lines

_ODD = re.compile(f"[{re.escape(DOUBLE + SINGLE)}{''.join(map(re.escape, map(chr, SIGNS)))}]")
_TRIPLE = re.compile(f"[\"{DOUBLE}]{{3}}|['{SINGLE}]{{3}}")


def plain_punctuation(page: Page) -> Iterator[LineEdit]:
    """Replace quotes, and signs outside strings; the text between quotes stays as it is."""
    if not _ODD.search(page.text):
        return
    lines = [_TRIPLE.sub(_straight_triple, line) for line in page.lines]
    for index, (line, found) in enumerate(zip(lines, scan_lines(lines), strict=True)):
        if _ODD.search(page.lines[index]):
            text = fold_line(line, found)
            yield LineEdit(index, text, _what(page.lines[index], text))


def fold_line(line: str, found: Scan) -> str:
    """The line in Python's punctuation."""
    if '"""' in line or "'''" in line or not found.code:
        return map_code(line, found, fold)
    return fold(line)


def _straight_triple(quotes: re.Match[str]) -> str:
    text = quotes[0]
    if text in ('"""', "'''"):
        return text
    # Two straight quotes and a curly one may be an empty string before a quoted text, but rarely.
    return '"""' if text[0] == '"' or text[0] in DOUBLE else "'''"


def _what(before: str, after: str) -> str:
    quotes = any(char in DOUBLE + SINGLE and char not in after for char in before)
    signs = any(ord(char) in SIGNS and char not in after for char in before)
    if quotes and signs:
        return "replaced curly quotes and full-width signs by plain ones"
    if quotes:
        return "replaced curly quotes by straight ones"
    return "replaced full-width or typographic signs by plain ones"
