"""Python text in, its syntax tree out, on any thread."""

from __future__ import annotations

import ast
import threading

_ALONE = threading.Lock()
"""CPython counts the depth of the tree that it makes in one place for all threads, and raises
SystemError if another parses meanwhile (``PyAST_mod2obj``, seen in 3.11.7)."""


def parse_module(text: str) -> ast.Module:
    """The tree of a whole text. Raises what :func:`ast.parse` raises."""
    with _ALONE:
        return ast.parse(text)


def parse_expression(text: str) -> ast.expr:
    """The tree of one expression. Raises what :func:`ast.parse` raises."""
    with _ALONE:
        return ast.parse(text, mode="eval").body
