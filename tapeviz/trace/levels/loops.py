"""Find the loops and the parameters in a snippet's text."""

from __future__ import annotations

import ast
from dataclasses import dataclass

from ...text.names import called_name
from ...text.source import SourceText
from ...text.trees import lines_of

_LONGEST_HEADER = 30


@dataclass(frozen=True, slots=True, eq=False)
class LoopStatement:
    """A loop. ``names``: the names that each turn binds, none for ``while``.

    Compared by identity: it is part of many keys, and to hash its fields takes long.
    """

    line: int
    header: str
    names: frozenset[str]
    starts: tuple[int, ...]
    """First lines of the statements of its body."""


class LoopLines:
    """The loops and parameters of a snippet, by line."""

    def __init__(self, text: SourceText) -> None:
        self.loops: dict[int, tuple[LoopStatement, ...]] = {}
        self.headers: dict[int, LoopStatement] = {}
        self.parameters: dict[int, frozenset[str]] = {}
        self.scopes: set[int] = set()
        """Lines within ``with tf.name_scope(…)``, or another such scope."""
        self._comprehensions: dict[int, list[str]] = {}
        if text.tree is not None:
            self._read(text, text.tree, ())

    def _read(self, text: SourceText, node: ast.AST, around: tuple[LoopStatement, ...]) -> None:
        for child in ast.iter_child_nodes(node):
            inside = around
            if isinstance(child, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
                inside = ()
                if not isinstance(child, ast.ClassDef):
                    arguments = child.args
                    every = (*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs)
                    self.parameters[child.lineno] = frozenset(argument.arg for argument in every)
            elif isinstance(child, (ast.For, ast.AsyncFor, ast.While)):
                loop = _loop_of(text, child)
                self.headers[loop.line] = loop
                for statement in child.body:
                    self._fill(statement, (*around, loop))
                    self._read(text, ast.Module([statement], []), (*around, loop))
                continue
            if isinstance(child, (ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)):
                header = _header(text, child.generators[0])
                for line in lines_of(child):
                    self._comprehensions.setdefault(line, []).append(header)
            if isinstance(child, ast.With) and any(map(_opens_scope, child.items)):
                self.scopes.update(lines_of(child))
            if isinstance(child, ast.stmt) and (inside or around):
                self._fill(child, inside)
            self._read(text, child, inside)

    @property
    def comprehensions(self) -> dict[int, str]:
        """The header of the comprehension on each line that has a single one."""
        return {line: found[0] for line, found in self._comprehensions.items() if len(found) == 1}

    def _fill(self, statement: ast.stmt, loops: tuple[LoopStatement, ...]) -> None:
        for line in lines_of(statement):
            self.loops[line] = loops


def _opens_scope(item: ast.withitem) -> bool:
    """Whether a ``with`` item calls ``name_scope``, ``variable_scope`` or another ``…scope``."""
    call = item.context_expr
    return isinstance(call, ast.Call) and called_name(call).endswith("scope")


def _loop_of(text: SourceText, node: ast.For | ast.AsyncFor | ast.While) -> LoopStatement:
    names: frozenset[str] = frozenset()
    if isinstance(node, ast.While):
        words = f"while {text.segment(node.test)}"
    else:
        words = _header(text, node)
        names = frozenset(n.id for n in ast.walk(node.target) if isinstance(n, ast.Name))
    return LoopStatement(
        node.lineno, _short(words), names, tuple(statement.lineno for statement in node.body)
    )


def _header(text: SourceText, node: ast.For | ast.AsyncFor | ast.comprehension) -> str:
    return _short(f"for {text.segment(node.target)} in {text.segment(node.iter)}")


def _short(words: str) -> str:
    return words if len(words) <= _LONGEST_HEADER else words[: _LONGEST_HEADER - 1] + "…"
