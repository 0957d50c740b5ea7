"""Find where a printed object ends: its text in, its last line out."""

from __future__ import annotations

import re
from collections.abc import Sequence

MOST_PRINTED = 300
"""Lines of one printed object, at most."""
_TOKEN = re.compile(r"'(?:\\.|[^'\\])*'|[(\[{]|<(?=[A-Za-z_])|[)\]}>]")
_PAIRS = {")": "(", "]": "[", "}": "{", ">": "<"}
# No line inside a printed object starts with these: it was cut off before.
_CODE = re.compile(r"[A-Za-z_][\w.]*\s*=\s|(?:import|from|with|for|def|class|print)\b|>>>|In ?\[")


def end_of_object(lines: Sequence[str], first: int) -> int | None:
    """The line at whose end all brackets are closed that a printed object opens from line
    ``first`` on, ``<`` before a letter among them: ``first`` if it opens none; None if the object
    is cut off.

    Arrays of more than two dimensions are printed with blank lines between their parts.
    """
    opened: list[str] = []
    for index in range(first, min(first + MOST_PRINTED, len(lines))):
        line = lines[index]
        if index > first and _CODE.match(line):
            return None
        for token in _TOKEN.findall(line):
            if token in _PAIRS:
                if opened and opened[-1] == _PAIRS[token]:
                    opened.pop()
                elif token != ">":  # `->` and `0.5 > x` close nothing
                    return None
            elif not token.startswith("'"):
                opened.append(token)
        if not opened:
            return index
    return None
