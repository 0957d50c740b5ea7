"""Explain an ``assert`` of the snippet that failed."""

from __future__ import annotations

import ast

from ..case import Case
from ..tensors.operands import MOST_SHOWN, held_words


def own_assert(case: Case) -> str:
    """An ``assert`` of the snippet: what the names of its condition held."""
    statement = case.statement
    if not isinstance(statement, ast.Assert):
        return ""
    condition, held = case.text.segment(statement.test), list(held_words(case, statement.test))
    if not held or len(condition) > _LONGEST:
        return ""
    return (
        f"The assert on line {case.line} found {condition} to be false: "
        f"{', '.join(held[:MOST_SHOWN])}. Look whether the value or the assert is wrong."
    )


_LONGEST = 60
"""The letters of a condition that stands in a sentence."""
