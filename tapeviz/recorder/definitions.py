"""A snippet's text in; its functions, by their names and by the lines they begin on, out."""

from __future__ import annotations

import ast
from collections.abc import Mapping, Sequence
from functools import cached_property

Function = ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda
_NAMED = (ast.FunctionDef, ast.AsyncFunctionDef)


class Definitions:
    """Finds functions; the text is read when one is asked for first."""

    def __init__(self, source: str) -> None:
        self._source = source

    def line(self, name: str, near: int | None = None) -> int:
        """The line of ``def name``: of the one decorated at ``near``, or the last; 0 if none."""
        found = self.at(name)
        for one in found:
            if near is not None and _first_line(one) == near:
                return one.lineno
        return found[-1].lineno if found else 0

    def at(self, place: int | str) -> Sequence[Function]:
        """Those of a name, or that begin on a line; that is their first decorator's. A lambda has
        a line only."""
        return self._places.get(place, ())

    @cached_property
    def _places(self) -> Mapping[int | str, Sequence[Function]]:
        found: dict[int | str, list[Function]] = {}
        for node in ast.walk(ast.parse(self._source)):
            if isinstance(node, Function):
                found.setdefault(_first_line(node), []).append(node)
            if isinstance(node, _NAMED):
                found.setdefault(node.name, []).append(node)
        return found


def _first_line(function: Function) -> int:
    """Where Python says that its code begins (``co_firstlineno``)."""
    decorators = function.decorator_list if isinstance(function, _NAMED) else []
    return min([function.lineno, *(one.lineno for one in decorators)])
