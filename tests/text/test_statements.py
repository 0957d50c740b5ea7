"""The names that statements read, bind and change."""

from __future__ import annotations

import pytest

from tapeviz.text.source import SourceText
from tapeviz.text.statements import read_text


@pytest.mark.parametrize(
    ("head", "line", "changed"),
    [
        ("for row in rows:", 'row["sum"] = 1', {"row", "rows"}),
        ("for n, row in enumerate(rows):", "row.append(n)", {"row", "rows", "enumerate"}),
        ("for row in rows:", "row += 1", {"row"}),
        ("if row in rows:", 'row["sum"] = 1', {"row"}),
    ],
)
def test_an_item_that_a_loop_changes_changes_its_list(
    head: str, line: str, changed: set[str]
) -> None:
    statement = read_text(SourceText(f"{head}\n    {line}\n")).statement(2)
    assert statement is not None
    assert statement.changes == changed
