"""Find the stretches of code in lines (outside strings and comments), and what they leave open."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

Extent = tuple[int, int]

_TOKEN = re.compile(
    r"""(?P<comment>\#.*)
    |(?P<triple>\"{3}|'{3})
    |(?P<string>"(?:\\.|[^"\\])*"|'(?:\\.|[^'\\])*')
    |(?P<open>[(\[{])
    |(?P<close>[)\]}])""",
    re.VERBOSE | re.DOTALL,
)
_END = {
    '"""': re.compile(r'(?:\\.|[^\\])*?"""', re.DOTALL),
    "'''": re.compile(r"(?:\\.|[^\\])*?'''", re.DOTALL),
}
_PAIRS = {")": "(", "]": "[", "}": "{"}


@dataclass(frozen=True, slots=True)
class Open:
    """The brackets and the string that are still open at the end of a line."""

    quote: str = ""
    brackets: str = ""
    backslash: bool = False
    mismatch: bool = False

    @property
    def is_open(self) -> bool:
        """Whether the logical line goes on."""
        return bool(self.quote or self.brackets or self.backslash)


CLOSED = Open()


@dataclass(frozen=True, slots=True)
class Scan:
    """A line's stretches of code (no strings, no comment), and what it leaves open."""

    code: tuple[Extent, ...]
    comment: int
    """The column where the comment starts, the line's length when there is none."""
    after: Open


def scan(line: str, before: Open = CLOSED) -> Scan:
    """Scan a line; ``before``: what is open at its start."""
    code: list[Extent] = []
    brackets, quote, mismatch = before.brackets, before.quote, before.mismatch
    at = start = 0
    if quote:
        end = _END[quote].match(line)
        if end is None:
            return Scan((), len(line), before)
        at = start = end.end()
        quote = ""
    comment = len(line)
    while token := _TOKEN.search(line, at):
        at = token.end()
        if token["open"]:
            brackets += token["open"]
        elif token["close"]:
            if brackets.endswith(_PAIRS[token["close"]]):
                brackets = brackets[:-1]
            else:
                mismatch = True
        else:
            code.append((start, token.start()))
            start = at
            if token["comment"]:
                comment = token.start()
                break
            if token["triple"]:
                end = _END[token["triple"]].match(line, at)
                if end is None:
                    quote, start = token["triple"], len(line)
                    break
                at = start = end.end()
    if start < len(line):
        code.append((start, len(line)))
    backslash = not quote and comment == len(line) and line.endswith("\\")
    return Scan(tuple(code), comment, Open(quote, brackets, backslash, mismatch))


def scan_lines(lines: Sequence[str]) -> list[Scan]:
    """The scan of each line, ignoring brackets; a triple quote that never ends opens nothing."""
    scans: list[Scan] = []
    last = {quote: _last_line_with(lines, quote) for quote in _END}
    before = CLOSED
    for index, line in enumerate(lines):
        found = scan(line, before)
        quote = found.after.quote
        if quote and not before.quote and last[quote] <= index:
            found = replace(found, code=((0, len(line)),), comment=len(line))
            quote = ""
        before = Open(quote=quote)
        scans.append(found)
    return scans


def map_code(line: str, found: Scan, change: Callable[[str], str]) -> str:
    """The line with ``change`` applied to its code, its strings and comment untouched."""
    parts: list[str] = []
    at = 0
    for start, end in found.code:
        parts += line[at:start], change(line[start:end])
        at = end
    parts.append(line[at:])
    return "".join(parts)


def _last_line_with(lines: Sequence[str], quote: str) -> int:
    return next((i for i in range(len(lines) - 1, -1, -1) if quote in lines[i]), -1)
