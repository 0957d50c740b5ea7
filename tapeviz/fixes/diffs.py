"""Show the lines in which two texts differ."""

from __future__ import annotations

import difflib


def short_diff(before: str, after: str) -> str:
    """A unified diff without headings: one line of context, ``⋮`` between places far apart."""
    lines = difflib.unified_diff(before.split("\n"), after.split("\n"), lineterm="", n=1)
    shown: list[str] = []
    for line in list(lines)[2:]:
        if not line.startswith("@@"):
            if line.strip():
                shown.append(line)
        elif shown:
            shown.append(" ⋮")
    return "\n".join(shown)
