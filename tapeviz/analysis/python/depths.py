"""How many operations a statement does with a name that it reads, or with a call in it."""

from __future__ import annotations

import ast
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import lru_cache

from ...text.names import dotted
from ...text.source import SourceText
from ...trace.sites import StackFrame

_OPERATIONS = (ast.Call, ast.BinOp, ast.UnaryOp, ast.Compare, ast.BoolOp, ast.Subscript, ast.IfExp)
_Span = tuple[int, int, int, int]
_DEPTH_LIMIT = 200


@dataclass(frozen=True)
class Depths:
    """For the expressions of a text: the number of operations around each in its statement.

    In ``y = r + g * q.max()`` there are three around ``q``, two around ``q.max()``.
    """

    of_names: Mapping[tuple[int, str], int] = field(default_factory=dict)
    """By the first line of the statement and the name as it is read."""
    of_spans: Mapping[_Span, int] = field(default_factory=dict)

    def of_call(self, frame: StackFrame) -> int:
        """The operations around the call at which a frame stands; 0 where its columns are not
        known (Python 3.10)."""
        return self.of_spans.get((frame.line, frame.column, frame.end_line, frame.end_column), 0)


@lru_cache(maxsize=1)
def read_depths(text: SourceText) -> Depths:
    """The depths of a text; none if it does not parse. Asked of one text many times."""
    names: dict[tuple[int, str], int] = {}
    spans: dict[_Span, int] = {}

    def visit(node: ast.AST, first: int, depth: int) -> None:
        if isinstance(node, ast.stmt):
            first, depth = node.lineno, 0
        elif isinstance(node, ast.expr):
            path = dotted(node)
            if path:
                names[first, path] = min(depth, names.get((first, path), depth))
            span = (node.lineno, node.col_offset, node.end_lineno or 0, node.end_col_offset or 0)
            spans[span] = depth
            depth += isinstance(node, _OPERATIONS)
        if depth < _DEPTH_LIMIT:
            for child in ast.iter_child_nodes(node):
                visit(child, first, depth)

    if text.tree is not None:
        visit(text.tree, 0, 0)
    return Depths(names, spans)
