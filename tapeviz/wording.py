"""Words that panels, exports and the command line share."""

from __future__ import annotations


def counted(number: int, noun: str) -> str:
    """``1 step``, ``1,024 steps``."""
    return f"{number:,} {noun}" if number == 1 else f"{number:,} {noun}s"
