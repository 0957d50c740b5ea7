"""The lines that benchmarks print in: figures for the table that ``make bench`` ends with."""

from __future__ import annotations

import math
import os
from collections.abc import Sequence

MARK = "@@"
LONG = os.environ.get("LONG", "") not in ("", "0")
"""Also what takes an hour."""


def print_row(what: str, figure: str, wanted: str = "") -> None:
    """Print one line of the table: what was measured, the figure, and what it should be."""
    print(f"{MARK} {what} | {figure} | {wanted}", flush=True)


def exponent(sizes: Sequence[float], costs: Sequence[float]) -> float:
    """The k of costs that grow as size^k: slope of the least squares line through the logs."""
    x = [math.log(size) for size in sizes]
    y = [math.log(max(cost, 1e-6)) for cost in costs]
    middle_x, middle_y = sum(x) / len(x), sum(y) / len(y)
    spread = sum((a - middle_x) ** 2 for a in x)
    return sum((a - middle_x) * (b - middle_y) for a, b in zip(x, y, strict=True)) / spread


def table(lines: Sequence[str]) -> str:
    """Markdown of the rows among the lines that benchmarks printed."""
    rows = [line[len(MARK) :].strip() for line in lines if line.startswith(MARK)]
    return "\n".join(f"| {row} |" for row in ("what | figure | wanted", "--- | --- | ---", *rows))
