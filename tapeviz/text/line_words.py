"""Say lines of a text in words."""

from __future__ import annotations

from collections.abc import Sequence


def lines_in_words(lines: Sequence[int]) -> str:
    """``line 4``, ``lines 4 and 7``, ``lines 4, 7 and 9``; there is at least one."""
    *most, last = map(str, lines)
    return f"lines {', '.join(most)} and {last}" if most else f"line {last}"
