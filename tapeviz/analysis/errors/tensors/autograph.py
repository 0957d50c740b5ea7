"""Explanations of branches and loops that AutoGraph made of a function's code."""

from __future__ import annotations

import ast

from ....text.names import called_name
from ..case import Case

_GOING_OVER = ("enumerate", "zip", "map", "filter", "list", "tuple", "sorted", "reversed", "sum")


def left_loop(case: Case) -> str:
    """A tensor of a loop's or branch's graph, used outside of it: kept in a list of Python's."""
    lines = case.defining_lines
    where = f" (line {lines[-1]})" if lines else ""
    return (
        f"A tensor that was made inside of a loop or a branch of a compiled function{where} is "
        f"used outside of it, as when the loop appends it to a Python list. Only names that the "
        f"loop gives a new value come out of it. Use a tf.TensorArray, ta = ta.write(i, value), "
        f"or loop over Python's range in place of tf.range."
    )


def looped_over_symbolic(case: Case) -> str:
    """Python goes over a symbolic tensor: AutoGraph converts ``for`` alone, not what a function of
    Python or a comprehension does (``_convert_actual`` and py_builtins.py, 2.15-2.21)."""
    statement = case.statement
    head = statement.iter if isinstance(statement, ast.For) else statement
    nodes = list(ast.walk(head)) if head is not None else []
    comprehensions = (ast.ListComp, ast.GeneratorExp, ast.SetComp, ast.DictComp)
    called = [called_name(node) for node in nodes if isinstance(node, ast.Call)]
    if any(isinstance(node, comprehensions) for node in nodes):
        what = "in a comprehension"
    else:
        what = next((f"by {name}" for name in called if name in _GOING_OVER), "")
    if what:
        return (
            f"Line {case.line} goes over a symbolic tensor {what}, and its length is not known "
            f"yet. AutoGraph converts for loops over the tensor itself only: write for i in "
            f"tf.range(tf.shape(x)[0]): and take x[i]. tf.unstack(x) gives a list if the length is "
            f"known, and tf.map_fn calls a function for each element."
        )
    return (
        f"Line {case.line} loops over a symbolic tensor, whose length is not known yet. AutoGraph "
        f"turns such a loop into one of TensorFlow's only in a function under tf.function, not in "
        f"a lambda or with autograph=False. Use tf.map_fn or tf.unstack, or let AutoGraph see it."
    )
