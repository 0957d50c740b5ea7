"""Python text in, its syntax tree out, on any thread; and the lines of a node of it."""

from __future__ import annotations

import ast
import threading

_ALONE = threading.Lock()
"""CPython counts the depth of the tree that it makes in one place for all threads, and raises
SystemError if another parses meanwhile (``PyAST_mod2obj``, seen in 3.11.7)."""


_MOST_LEVELS = 1000
"""Nodes inside one another. The least Python 3.11 to 3.13 refuse is 3,000 levels, 3.10 refuses
none; libcst takes 0.2 s for 1,000, 6 s for 3,000 and minutes for 20,000."""


def parse_module(text: str) -> ast.Module:
    """The tree of a whole text. Raises what :func:`ast.parse` raises, and ``RecursionError`` for
    one of more than :data:`_MOST_LEVELS`, whatever the Python."""
    with _ALONE:
        tree = ast.parse(text)
    level: list[ast.AST] = [tree]
    for _ in range(_MOST_LEVELS):
        level = [
            each for node in level for each in ast.iter_child_nodes(node) if _may_be_deep(each)
        ]
        if not level:
            return tree
    raise RecursionError("the text is nested too deeply")


def _may_be_deep(node: ast.AST) -> bool:
    """Whether there is room for so many levels in the text of a node: each takes a character."""
    if not isinstance(node, ast.expr):
        return True
    length = (node.end_col_offset or 0) - node.col_offset
    return node.end_lineno != node.lineno or length >= _MOST_LEVELS


def parse_expression(text: str) -> ast.expr:
    """The tree of one expression. Raises what :func:`ast.parse` raises."""
    with _ALONE:
        return ast.parse(text, mode="eval").body


def lines_of(node: ast.AST) -> range:
    """The lines that a node covers; none of what has no place, as the operator of a sum."""
    first = getattr(node, "lineno", 0)
    return range(first, (getattr(node, "end_lineno", 0) or first) + 1) if first else range(0)
