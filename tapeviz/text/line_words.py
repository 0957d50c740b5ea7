"""Say lines of a text in words."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from ..wording import enumerated


def lines_in_words(lines: Sequence[int]) -> str:
    """``line 4``, ``lines 4 and 7``, ``lines 4, 7 and 9``; there is at least one."""
    return f"{'lines' if len(lines) > 1 else 'line'} {enumerated(map(str, lines))}"


def ranges_of(lines: Iterable[int]) -> list[tuple[int, int]]:
    """The first and the last line of each stretch of lines without a gap, in order."""
    found: list[tuple[int, int]] = []
    for line in sorted(set(lines)):
        if found and line == found[-1][1] + 1:
            found[-1] = found[-1][0], line
        else:
            found.append((line, line))
    return found


def ranges_in_words(ranges: Sequence[tuple[int, int]], most: int | None = None) -> str:
    """``line 3``, ``lines 1–4, 8``; there is at least one. ``most``: ranges that are named."""
    several = len(ranges) > 1 or ranges[0][0] != ranges[0][1]
    shown = [f"{first}" if first == last else f"{first}–{last}" for first, last in ranges[:most]]
    more = ["…"] if len(shown) < len(ranges) else []
    return f"{'lines' if several else 'line'} {', '.join([*shown, *more])}"
