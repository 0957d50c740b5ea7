"""The figures that each part prints: tried, failed, worst; and how much of it is done."""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence

MARK = "@@"
LONG = os.environ.get("LONG", "") not in ("", "0")
"""All of it: an hour."""
TINY = os.environ.get("TINY", "") not in ("", "0")
"""One of each, to see that it works at all."""
SEED = int(os.environ.get("SEED", "1"))


def count(whole: int, part: int) -> int:
    """How many to try: ``whole`` of them takes an hour with all the rest, ``part`` minutes."""
    return whole if LONG else max(1, part // 10) if TINY else part


def print_row(what: str, tried: int, failed: int, worst: str) -> None:
    """Print one line of the table."""
    print(f"{MARK} {what} | {tried:,} | {failed:,} | {worst}", flush=True)


def print_detail(words: str) -> None:
    """Print on standard error what the table has no room for."""
    print(words, file=sys.stderr, flush=True)


def rows(lines: Sequence[str]) -> list[tuple[str, int, int, str]]:
    """What, tried, failed and worst of the rows among the lines that the parts printed."""
    cells = [line[len(MARK) :].split("|") for line in lines if line.startswith(MARK)]
    return [
        (what.strip(), int(tried.replace(",", "")), int(failed.replace(",", "")), worst.strip())
        for what, tried, failed, worst in cells
    ]


def table(lines: Sequence[str]) -> str:
    """Markdown of the rows among the lines that the parts printed."""
    head = ("what | tried | failed | worst", "--- | --: | --: | ---")
    written = (
        f"{what} | {tried:,} | {failed:,} | {worst}" for what, tried, failed, worst in rows(lines)
    )
    return "\n".join(f"| {row} |" for row in (*head, *written))
