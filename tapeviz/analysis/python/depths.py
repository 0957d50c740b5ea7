"""How many operations a statement does with a name that it reads, or with a call in it."""

from __future__ import annotations

import ast
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import lru_cache

from ...text.names import dotted
from ...text.source import SourceText, TextSpan
from ...trace.sites import StackFrame

_OPERATIONS = (ast.Call, ast.BinOp, ast.UnaryOp, ast.Compare, ast.BoolOp, ast.Subscript, ast.IfExp)


@dataclass(frozen=True)
class Depths:
    """For the expressions of a text: the number of operations around each in its statement.

    In ``y = r + g * q.max()`` there are three around ``q``, two around ``q.max()``.
    """

    of_names: Mapping[tuple[int, str], int] = field(default_factory=dict)
    """For the first line of a statement and a name that it reads: the number for that name."""
    of_spans: Mapping[TextSpan, int] = field(default_factory=dict)

    def of_call(self, frame: StackFrame) -> int:
        """The operations around the call at which a frame stands; 0 where its columns are not
        known (Python 3.10)."""
        return self.of_spans.get(frame.span, 0)


@lru_cache(maxsize=1)
def read_depths(text: SourceText) -> Depths:
    """The depths of a text; none if it does not parse. Asked of one text many times."""
    names: dict[tuple[int, str], int] = {}
    spans: dict[TextSpan, int] = {}
    waiting: list[tuple[ast.AST, int, int]] = [(text.tree, 0, 0)] if text.tree is not None else []
    while waiting:  # a chain of elif, +, or attributes may be as deep as Python parses
        node, first, depth = waiting.pop()
        if isinstance(node, ast.stmt):
            first, depth = node.lineno, 0
        elif isinstance(node, ast.expr):
            path = dotted(node)
            if path:
                names[first, path] = min(depth, names.get((first, path), depth))
            spans[text.span(node)] = depth
            depth += isinstance(node, _OPERATIONS)
        waiting += [(child, first, depth) for child in ast.iter_child_nodes(node)]
    return Depths(names, spans)
