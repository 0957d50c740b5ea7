"""Explain errors that the snippet asked for: its own ``assert``, warnings and floating-point
errors that it has raised as exceptions."""

from __future__ import annotations

import ast
from collections.abc import Iterator

import numpy as np

from ....text.names import called_name, calls_in, dotted
from ....text.statements import read_text
from ....trace.ids import TensorId, VariableId
from ....trace.model import Trace
from ..case import Case, Explain

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


def raised_warning(case: Case) -> str:
    """A warning that ``warnings.simplefilter("error")`` or the like made an exception of."""
    filters = [
        call
        for call in calls_in(case.text.tree)
        if called_name(call) in ("simplefilter", "filterwarnings") and call.lineno <= case.line
        if call.args and isinstance(call.args[0], ast.Constant) and call.args[0].value == "error"
    ]
    if not filters:
        return ""
    return (
        f"Line {case.line} only warns, and line {filters[-1].lineno} makes exceptions of warnings. "
        f"Change what it warns of, or let it pass: warnings.filterwarnings('default', "
        f"category={case.failure.type}) below line {filters[-1].lineno}."
    )


def raised_by_numpy(case: Case) -> str:
    """A floating-point error that ``np.seterr`` or ``np.errstate`` made an exception of."""
    asked = [
        call
        for call in calls_in(case.text.tree)
        if called_name(call) in ("seterr", "errstate") and call.lineno <= case.line
        if any(isinstance(n, ast.Constant) and n.value == "raise" for n in ast.walk(call))
    ]
    if not asked:
        return ""
    what = case.match[1]
    article = "an" if what[0] in "aeiou" else "a"
    return (
        f"NumPy met {article} {what} on line {case.line}, and line {asked[-1].lineno} makes it an "
        f"exception. Without that the elements concerned become infinite, NaN or zero. Look at the "
        f"numbers that go in there."
    )


CHECK_ERRORS: tuple[tuple[str, str | Explain], ...] = (
    (r"^AssertionError", own_assert),
    (r"^\w*Warning: ", raised_warning),
    (
        r"^FloatingPointError: (divide by zero|overflow|underflow|invalid value) encountered",
        raised_by_numpy,
    ),
)
"""In the order in which they are asked: the first that has words is shown."""
