"""Write a table of shares as lines for a terminal."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from ..recording.shares import Cell, ShareRow, ShareTable

MOST_ROWS = 6
MOST_COLUMNS = 6
MOST_IN_CELL = 6
_RULE = "─"


def share_lines(table: ShareTable) -> Iterator[str]:
    """A row for each target, a column for each source, and below the sums, which TensorFlow
    returned.

    Then a table of the elements of each target that has some. Nothing for a table that is too
    large, or in which every share is None.
    """
    if all(cell is None for row in table.lines for cell in row.cells):
        return
    if is_small(table.lines, len(table.columns)):
        yield f"  What each {_noun(table)} gives; TensorFlow returns the sum"
        yield from _grid(table.lines, table.columns, table.sums)
    if len(table.rows) > 1:
        for row in table.rows:
            if row.elements and is_small(row.elements, len(table.columns)):
                yield f"  Of {row.label} element by element, as tape.jacobian gives it"
                yield from _grid(row.elements, table.columns, None)


def is_small(rows: Sequence[ShareRow], columns: int) -> bool:
    """Whether a terminal has room for it."""
    cells = (cell for row in rows for cell in row.cells if cell is not None)
    return (
        len(rows) <= MOST_ROWS
        and columns <= MOST_COLUMNS
        and all(cell.size <= MOST_IN_CELL for cell in cells)
    )


def _noun(table: ShareTable) -> str:
    return "element of the target" if len(table.rows) == 1 else "target"


def _grid(
    rows: Sequence[ShareRow], columns: Sequence[str], sums: Sequence[Cell] | None
) -> Iterator[str]:
    lines = [["", *(f"∂/∂{name}" for name in columns)]]
    lines += [[row.label, *map(_text, row.cells)] for row in rows]
    if sums is not None:
        lines.append(["sum", *map(_text, sums)])
    widths = [max(map(len, column)) for column in zip(*lines, strict=True)]
    for number, line in enumerate(lines):
        if sums is not None and number == len(lines) - 1:
            yield "    " + "  ".join(_RULE * width for width in widths)
        label, *cells = line
        padded = (cell.rjust(width) for cell, width in zip(cells, widths[1:], strict=True))
        yield f"    {label.ljust(widths[0])}  {'  '.join(padded)}".rstrip()


def _text(cell: Cell) -> str:
    if cell is None:
        return "None"
    return " ".join(np.array2string(cell, separator=" ", threshold=50).split())
