"""Read a snippet's text, and find its functions by their names."""

from __future__ import annotations

import ast
import warnings
from collections.abc import Mapping, Sequence
from functools import cached_property

Function = ast.FunctionDef | ast.AsyncFunctionDef


def parsed(source: str, filename: str = "<unknown>") -> ast.Module:
    """The syntax tree. Python warns of the text (``"\\d"``) when it compiles the snippet, and not
    once more.

    ``catch_warnings`` would let each warning that was given once be given again: it tells the
    module that the filters are others.
    """
    before = warnings.filters
    warnings.filters = [("ignore", None, Warning, None, 0)]
    try:
        return ast.parse(source, filename)
    finally:
        warnings.filters = before


class Definitions:
    """Finds functions; the text is read when one is asked for first."""

    def __init__(self, source: str) -> None:
        self._source = source

    def line(self, name: str, near: int | None = None) -> int:
        """The line of ``def name``: of the one decorated at ``near``, or the last; 0 if none."""
        found = self._functions.get(name, ())
        for function in found:
            if near is not None and first_line(function) == near:
                return function.lineno
        return found[-1].lineno if found else 0

    @cached_property
    def _functions(self) -> Mapping[str, Sequence[Function]]:
        found: dict[str, list[Function]] = {}
        for node in ast.walk(parsed(self._source)):
            if isinstance(node, Function):
                found.setdefault(node.name, []).append(node)
        return found


def first_line(statement: ast.stmt) -> int:
    """The line at which it begins for Python (``co_firstlineno``): that of its first decorator."""
    decorators: list[ast.expr] = getattr(statement, "decorator_list", [])
    return min([statement.lineno, *(decorator.lineno for decorator in decorators)])
