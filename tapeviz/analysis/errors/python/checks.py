"""Explain an ``assert`` of the snippet that failed."""

from __future__ import annotations

import ast
from collections.abc import Iterator

import numpy as np

from ....text.names import dotted
from ....text.statements import read_text
from ....trace.ids import TensorId, VariableId
from ....trace.model import Trace
from ..case import Case

_MOST_SHOWN = 4
"""Elements of a value, and names, that stand in a sentence."""


def own_assert(case: Case) -> str:
    """An ``assert`` of the snippet: what the names of its condition held."""
    statement = case.text.statement(case.line)
    if not isinstance(statement, ast.Assert):
        return ""
    condition, held = case.text.segment(statement.test), list(_held(case, statement.test))
    if not held or len(condition) > _LONGEST:
        return ""
    return (
        f"The assert on line {case.line} found {condition} to be false: "
        f"{', '.join(held[:_MOST_SHOWN])}. Look whether the value or the assert is wrong."
    )


_LONGEST = 60
"""The letters of a condition that stands in a sentence."""


def _held(case: Case, test: ast.expr) -> Iterator[str]:
    """``g has shape (2,)`` for each name that means a tensor, with its value if that is small."""
    trace, text = case.trace, read_text(case.text)
    names = {dotted(node) for node in ast.walk(test) if isinstance(node, (ast.Name, ast.Attribute))}
    for name in sorted(names):
        root = name.partition(".")[0]
        scope = text.owner(case.line, root)
        meant = [
            tensor
            for binding in trace.bindings
            for tensor, words in binding.tensors
            if words == name and text.owner(binding.site.line, root) == scope
        ]
        if meant and (words := _words(trace, meant[-1], name)):
            yield words


def _words(trace: Trace, tensor: TensorId, name: str) -> str:
    variable = trace.variables.get(VariableId(tensor))
    known = variable or trace.tensors.get(tensor)
    if known is None or known.shape is None:
        return ""
    value = trace.value(tensor) if variable is None else None
    if value is not None and 0 < value.size <= _MOST_SHOWN:
        if not value.ndim:
            return f"{name} is {value[()]}"
        elements = np.array2string(value, separator=", ").replace("\n", "")
        return f"{name} is {elements} (shape {tuple(value.shape)})"
    return f"{name} has shape {tuple(known.shape)} and dtype {known.dtype}"
