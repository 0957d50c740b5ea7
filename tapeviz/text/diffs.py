"""Write the lines in which two texts differ, and read them again."""

from __future__ import annotations

import difflib
from collections.abc import Iterator

FOLD = "⋯"
_FAR = " ⋮"


def short_diff(before: str, after: str) -> str:
    """A unified diff without headings: one line of context, ``⋮`` between places far apart."""
    lines = difflib.unified_diff(before.split("\n"), after.split("\n"), lineterm="", n=1)
    shown: list[str] = []
    for line in list(lines)[2:]:
        if not line.startswith("@@"):
            if line.strip():
                shown.append(line)
        elif shown:
            shown.append(_FAR)
    return "\n".join(shown)


def diff_lines(diff: str) -> Iterator[tuple[str, str]]:
    """Sign (``+``, ``-`` or a space) and code of each line of a :func:`short_diff`; :data:`FOLD`
    and no code between places far apart."""
    for line in diff.removesuffix("\n").split("\n"):
        yield (FOLD, "") if line == _FAR else (line[:1] or " ", line[1:])
