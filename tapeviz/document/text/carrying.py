"""Find the lines of one text in another version of it."""

from __future__ import annotations

import difflib


class CarriedLines:
    """Finds the lines of a text in a later version of it, once for each pair of texts."""

    def __init__(self) -> None:
        self._known: tuple[str, str, dict[int, int]] = ("", "", {})

    def lines(self, before: str, now: str) -> dict[int, int]:
        """See :func:`carry_lines`."""
        if before is not self._known[0] or now is not self._known[1]:
            self._known = (before, now, carry_lines(before, now))
        return self._known[2]


def carry_lines(before: str, now: str) -> dict[int, int]:
    """Map each unchanged line of the text ``before`` to its line in the text of ``now``; both count
    from 1."""
    if before == now:
        count = before.count("\n") + 1
        return {line: line for line in range(1, count + 1)}
    old, new = before.split("\n"), now.split("\n")
    shorter = min(len(old), len(new))
    top = next((i for i in range(shorter) if old[i] != new[i]), shorter)
    below = shorter - top
    end = next((i for i in range(below) if old[-1 - i] != new[-1 - i]), below)
    carried = {line: line for line in range(1, top + 1)}
    middle = old[top : len(old) - end], new[top : len(new) - end]
    matcher = difflib.SequenceMatcher(None, *middle, autojunk=False)
    for at, after, size in matcher.get_matching_blocks():
        carried.update({top + at + i + 1: top + after + i + 1 for i in range(size)})
    carried.update({len(old) - i: len(new) - i for i in range(end)})
    return carried
