"""A snippet's text in; the line of a function's ``def`` out."""

from __future__ import annotations

import ast
from functools import cached_property


class Definitions:
    """Finds functions by name; read from the text when first asked."""

    def __init__(self, source: str) -> None:
        self._source = source

    def line(self, name: str, near: int | None = None) -> int:
        """The line of ``def name``: of the one decorated at ``near``, or the last; 0 if none."""
        found = self._functions.get(name, [])
        for first, line in found:
            if near is not None and first == near:
                return line
        return found[-1][1] if found else 0

    @cached_property
    def _functions(self) -> dict[str, list[tuple[int, int]]]:
        found: dict[str, list[tuple[int, int]]] = {}
        for node in ast.walk(ast.parse(self._source)):
            if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
                first = min([node.lineno, *(one.lineno for one in node.decorator_list)])
                found.setdefault(node.name, []).append((first, node.lineno))
        return found
