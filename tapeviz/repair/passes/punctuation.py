"""A pass for typographic punctuation: curly quotes and full-width signs become Python's."""

from __future__ import annotations

import re
from collections.abc import Iterator

from ..page import LineEdit, Page
from ..scanning import Scan, map_code, scan_lines

_DOUBLE = "“”„‟«»＂〝〞″"
_SINGLE = "‘’‚‛＇′´"
_QUOTES = '"' + _DOUBLE + "'" + _SINGLE

_SIGNS = {code: chr(code - 0xFEE0) for code in range(0xFF01, 0xFF5F) if chr(code) not in _QUOTES}
_SIGNS |= {
    ord(sign): plain
    for signs, plain in (
        ("，、", ","), ("。﹒", "."), ("；", ";"), ("：︰", ":"), ("【〔", "["), ("】〕", "]"),
        ("（｟⟨", "("), ("）｠⟩", ")"), ("−–—‐‑―", "-"), ("×∗⋅·", "*"), ("÷⁄", "/"), ("∼", "~"),
        ("≤", "<="), ("≥", ">="), ("≠", "!="), ("…", "..."), ("＿", "_"),
    )
    for sign in signs
}  # fmt: skip
_ODD = re.compile(f"[{re.escape(_DOUBLE + _SINGLE)}{''.join(map(re.escape, map(chr, _SIGNS)))}]")
_LONGEST = 2_000
"""Characters of a string between curly quotes, at most."""
_STRING = re.compile(r""""(?:\\.|[^"\\])*"|'(?:\\.|[^'\\])*'""")
_TRIPLE = re.compile(f"[\"{_DOUBLE}]{{3}}|['{_SINGLE}]{{3}}")


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


def fold(code: str) -> str:
    """A piece of code that starts outside any string, in Python's punctuation."""
    parts: list[str] = []
    at = 0
    while at < len(code):
        char = code[at]
        if char == "#":
            parts.append(code[at:])
            break
        if char in _QUOTES:
            string, at = _read_string(code, at)
            parts.append(string)
            continue
        parts.append(char.translate(_SIGNS))
        at += 1
    return "".join(parts)


def _read_string(code: str, at: int) -> tuple[str, int]:
    """The string literal that starts at ``at``, with straight quotes, and where it ends."""
    if code[at] in "\"'" and (plain := _STRING.match(code, at)):
        return plain[0], plain.end()
    is_double = code[at] == '"' or code[at] in _DOUBLE
    curly = _DOUBLE if is_double else _SINGLE
    straight = '"' if is_double else "'"
    end = _closing(code, at + 1, curly, nests=True)
    if end is None:  # “…“
        end = _closing(code, at + 1, curly, nests=False)
    if end is None:
        end = _closing(code, at + 1, straight, nests=False)
    if end is None:
        return code[at], at + 1
    return _quoted(code[at + 1 : end], straight), end + 1


def _closing(code: str, at: int, closers: str, *, nests: bool) -> int | None:
    depth = 0
    for index in range(at, min(len(code), at + _LONGEST)):
        char = code[index]
        if char == "“" and nests:
            depth += 1
        elif char == "”" and depth:
            depth -= 1
        elif char in closers and (
            # A single one between two letters is an apostrophe.
            "”" in closers
            or closers == '"'
            or not (code[index - 1].isalnum() and code[index + 1 : index + 2].isalnum())
        ):
            return index
    return None


def _quoted(content: str, quote: str) -> str:
    if quote in content:
        other = "'" if quote == '"' else '"'
        if other not in content:
            return f"{other}{content}{other}"
        content = re.sub(rf"(?<!\\){quote}", rf"\\{quote}", content)
    return f"{quote}{content}{quote}"


def _straight_triple(quotes: re.Match[str]) -> str:
    text = quotes[0]
    if text in ('"""', "'''"):
        return text
    # Two straight quotes and a curly one may be an empty string before a quoted text, but rarely.
    return '"""' if text[0] == '"' or text[0] in _DOUBLE else "'''"


def _what(before: str, after: str) -> str:
    quotes = any(char in _DOUBLE + _SINGLE and char not in after for char in before)
    signs = any(ord(char) in _SIGNS and char not in after for char in before)
    if quotes and signs:
        return "replaced curly quotes and full-width signs by plain ones"
    if quotes:
        return "replaced curly quotes by straight ones"
    return "replaced full-width or typographic signs by plain ones"
