"""Explanations of branches and loops that AutoGraph made of a function's code."""

from __future__ import annotations

import ast

from ....text.names import called_name
from ..case import OUT_OF_A_LOOP, Case, Explain

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


_IN_BOTH = (
    "The if on line {line} depends on a tensor, so a compiled function holds both of its branches, "
    "and "
)
AUTOGRAPH_ERRORS: tuple[tuple[str, str | Explain], ...] = (
    (r"Iterating over a symbolic `tf\.Tensor` is not allowed", looped_over_symbolic),
    (
        r"'retval_' is None at the end of the (main|else) branch",
        _IN_BOTH + "the {0} branch returns None. Return a tensor of the same shape and dtype in "
        "both, as tf.zeros_like(x).",
    ),
    (
        r"[`']([\w.]+)[`'] (?:must also be initialized in|is None at the end of) the (main|else) "
        r"branch",
        _IN_BOTH + "the {1} branch gives {0} no value. Each branch has to give the same names "
        "a tensor. Give {0} a value before the if, or in that branch.",
    ),
    (
        r"the (main|else) branch must also have a return statement",
        _IN_BOTH + "the {0} branch returns nothing. "
        "Return a tensor of the same shape and dtype in both.",
    ),
    (
        r"[`']([\w.]+)[`'] has (dtype|shape) (.+?) in the main branch, but (?:dtype|shape) (.+?) "
        r"in the else branch",
        _IN_BOTH + "{0} has {1} {2} in the one and {3} in the other. "
        "Give it one {1} in both, as by tf.cast or 1.0 in place of 1.",
    ),
    (
        r"'([\w.]+)' (?:must be defined|may not be None) before the loop",
        "The loop on line {line} runs in a compiled function as one operation, which keeps {0} "
        "from turn to turn and needs its shape and dtype from the start. Give {0} a tensor of "
        "this shape and dtype before the loop.",
    ),
    (
        r"'([\w.]+)' (?:is None at the end of the|has shape .* after one) iteration",
        "The loop on line {line} runs in a compiled function as one operation, and {0} has to be "
        "a tensor of the same shape and dtype after each of its turns.",
    ),
    (OUT_OF_A_LOOP, left_loop),
)
"""In the order in which they are asked: where two match a message, the first one answers."""
