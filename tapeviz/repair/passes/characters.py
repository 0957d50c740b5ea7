"""Passes for single characters: invisible ones, odd spaces, HTML entities."""

from __future__ import annotations

import html
import re
import unicodedata
from collections.abc import Iterator

from ..page import LineEdit, Page
from ..scanning import map_code, scan_lines

# Zero-width characters, direction marks, soft hyphen, byte-order mark: pages put them between
# letters, Python refuses them. A NUL even ends the reading of the text.
_INVISIBLE = re.compile(
    "[\0\u00ad\u061c\u180e\u200b-\u200f\u202a-\u202e\u2060-\u2064\u2066-\u206f\ufeff]"
)

# Python's own white space is space, tab and form feed; all else that looks empty is a page's.
_ODD_SPACE = re.compile("[\u00a0\u1680\u2000-\u200a\u202f\u205f\u3000\u2800\u3164]")
# These break a line for Unicode and not for Python. A form feed does the same and Python skips it.
_ODD_BREAK = re.compile("[\x0b\x1c-\x1e\x85\u2028\u2029]")
_WIDE_SPACES = "\u2003\u3000"

_ENTITY = re.compile(r"&(?:[A-Za-z][A-Za-z0-9]*|#[0-9]+|#[xX][0-9A-Fa-f]+);")
_QUOTE_ENTITY = re.compile(r"&(?:quot|apos|#0*3[49]|#[xX]2[27]);")

_SPACED_BACKSLASH = re.compile(r"\\[ \t\f]+$")


def drop_invisible(page: Page) -> Iterator[LineEdit]:
    """Remove zero-width characters outside strings."""
    if not _INVISIBLE.search(page.text):
        return
    for index, (line, found) in enumerate(zip(page.lines, scan_lines(page.lines), strict=True)):
        if _INVISIBLE.search(line):
            text = map_code(line, found, lambda code: _INVISIBLE.sub("", code))
            yield LineEdit(index, text.replace("\0", ""), "removed an invisible character")


def plain_spaces(page: Page) -> Iterator[LineEdit]:
    """Replace non-breaking, full-width and typographic spaces."""
    if not (_ODD_SPACE.search(page.text) or _ODD_BREAK.search(page.text)):
        return
    for index, (line, found) in enumerate(zip(page.lines, scan_lines(page.lines), strict=True)):
        odd = _ODD_SPACE.search(line) or _ODD_BREAK.search(line)
        if odd:
            text = map_code(line, found, _space)
            yield LineEdit(index, text, f"replaced a {_space_name(odd[0])} by a plain one")


def _space(code: str) -> str:
    body = code.lstrip()
    margin = code[: len(code) - len(body)]
    # In a margin, a wide space is two columns.
    for wide in _WIDE_SPACES:
        margin = margin.replace(wide, "  ")
    return _ODD_BREAK.sub("\f", _ODD_SPACE.sub(" ", margin + body))


def _space_name(char: str) -> str:
    named = {"\u00a0": "non-breaking space", "\u3000": "full-width space"}
    return named.get(char) or unicodedata.name(char, "odd space").lower()


def decode_entities(page: Page) -> Iterator[LineEdit]:
    """Decode HTML entities such as ``&gt;``."""
    if "&" not in page.text:
        return
    for index, (line, found) in enumerate(zip(page.lines, scan_lines(page.lines), strict=True)):
        entity = _ENTITY.search(line)
        if entity is None:
            continue
        # If quotes are entities, the strings of the line are not known yet.
        whole = _QUOTE_ENTITY.search(line) is not None
        text = _decode(line) if whole else map_code(line, found, _decode)
        yield LineEdit(index, text, f"decoded {entity[0]}")


def _decode(code: str) -> str:
    """The text without entities, also where a page encoded them twice: ``&amp;lt;``."""
    decoded = ""
    while decoded != code:
        decoded, code = code, _ENTITY.sub(lambda entity: html.unescape(entity[0]), code)
    return decoded.replace("\u00a0", " ")


def strip_after_backslash(page: Page) -> Iterator[LineEdit]:
    """Remove spaces after the backslash at the end of a line."""
    if not any(_SPACED_BACKSLASH.search(line) for line in page.lines):
        return
    for index, (line, found) in enumerate(zip(page.lines, scan_lines(page.lines), strict=True)):
        tail = _SPACED_BACKSLASH.search(line)
        if tail and any(start <= tail.start() < end for start, end in found.code):
            text = line[: tail.start() + 1]
            yield LineEdit(index, text, "removed the spaces after the backslash")
