"""Fold the quotes and signs of typography into those of Python."""

from __future__ import annotations

import re

DOUBLE = "“”„‟«»＂〝〞″"
SINGLE = "‘’‚‛＇′´"
_QUOTES = '"' + DOUBLE + "'" + SINGLE

SIGNS = {code: chr(code - 0xFEE0) for code in range(0xFF01, 0xFF5F) if chr(code) not in _QUOTES}
SIGNS |= {
    ord(sign): plain
    for signs, plain in (
        ("，、", ","), ("。﹒", "."), ("；", ";"), ("：︰", ":"), ("【〔", "["), ("】〕", "]"),
        ("（｟⟨", "("), ("）｠⟩", ")"), ("−–—‐‑―", "-"), ("×∗⋅·", "*"), ("÷⁄", "/"), ("∼", "~"),
        ("≤", "<="), ("≥", ">="), ("≠", "!="), ("…", "..."), ("＿", "_"),
    )
    for sign in signs
}  # fmt: skip
_LONGEST = 2_000
"""Characters of a string between curly quotes, at most."""
_STRING = re.compile(r""""(?:\\.|[^"\\])*"|'(?:\\.|[^'\\])*'""")


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
        parts.append(char.translate(SIGNS))
        at += 1
    return "".join(parts)


def _read_string(code: str, at: int) -> tuple[str, int]:
    """The string literal that starts at ``at``, with straight quotes, and where it ends."""
    if code[at] in "\"'" and (plain := _STRING.match(code, at)):
        return plain[0], plain.end()
    is_double = code[at] == '"' or code[at] in DOUBLE
    curly = DOUBLE if is_double else SINGLE
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
