"""Say why a run asked for no gradient, from the text of the snippet."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from functools import lru_cache

from ..text.names import called_name
from ..text.trees import parse_module

_ASKING = frozenset(("gradient", "jacobian", "batch_jacobian", "jvp", "gradients"))
_ASKING_WORDS = re.compile(rf"\b(?:{'|'.join(sorted(_ASKING))})\s*\(")
LONG = 100_000
"""Characters; the window asks about a text whenever something of the run changes, and to read the
tree of a longer one takes a tenth of a second and more."""
_OF_ARRAYS = frozenset(("np", "numpy"))
_Definition = ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef
_NOWHERE = (
    "No gradient was asked for: the snippet calls neither gradient nor jacobian. Compute inside "
    "a block  with tf.GradientTape() as tape:  and call  tape.gradient(y, x)  after it."
)


def unasked_words(text: str) -> str:
    """Why no gradient call ran: see :func:`uncalled_words`, or there is none in the text."""
    return uncalled_words(text) or _NOWHERE


@lru_cache(maxsize=2)
def uncalled_words(text: str) -> str:
    """Say that the gradient call of a text did not run, as it stands in a function or class that
    nothing calls, or as the run did not come to it; empty for a text without one.

    ``text``: the snippet as it ran; of one of more than :data:`LONG` characters no line is named.
    """
    if len(text) > LONG:
        return "No gradient was asked for." if _ASKING_WORDS.search(text) else ""
    try:
        tree = parse_module(text)
    except (SyntaxError, ValueError, RecursionError):
        return ""
    asking = next(_asking(tree), None)
    if asking is None:
        return ""
    around = next(each for each in tree.body if asking in ast.walk(each))
    if isinstance(around, _Definition) and around.name not in _read_outside(tree, around):
        verb = "makes" if isinstance(around, ast.ClassDef) else "calls"
        return (
            f"No gradient was asked for: line {asking.lineno} asks for one, but nothing {verb} "
            f"{around.name}, in which it stands. Add a line that does:  {_call(around)}"
        )
    return f"No gradient was asked for: the run did not come to line {asking.lineno}."


def _asking(tree: ast.Module) -> Iterator[ast.Call]:
    for node in ast.walk(tree):
        if isinstance(node, ast.Call) and called_name(node) in _ASKING:
            function = node.func
            root = function.value if isinstance(function, ast.Attribute) else None
            if not (isinstance(root, ast.Name) and root.id in _OF_ARRAYS):
                yield node


def _read_outside(tree: ast.Module, definition: ast.stmt) -> set[str]:
    """The names that the text reads outside of a definition."""
    return {
        node.id
        for statement in tree.body
        if statement is not definition
        for node in ast.walk(statement)
        if isinstance(node, ast.Name)
    }


def _call(definition: _Definition) -> str:
    """How the definition is called, with its parameters as they are named: ``step(x, y)``."""
    if isinstance(definition, ast.ClassDef):
        return f"{definition.name}(…)"
    given = definition.args
    names = [each.arg for each in (*given.posonlyargs, *given.args)]
    needed = names[: len(names) - len(given.defaults)]
    return f"{definition.name}({', '.join(needed)})"
