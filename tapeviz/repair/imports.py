"""A text in, the well-known names that it uses without having them out."""

from __future__ import annotations

import ast
import symtable
import warnings
from collections.abc import Iterator

PROVIDED = frozenset({"tf", "np", "keras"})


def missing_imports(text: str) -> frozenset[str]:
    """Which of ``tf``, ``np`` and ``keras`` are read as globals before anything binds them.

    Bound nowhere, or further down only, as when several snippets of a page stand in one text.
    Empty for a text that does not compile.
    """
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            module = symtable.symtable(text, "<pasted>", "exec")
        except (SyntaxError, ValueError, RecursionError, MemoryError):
            return frozenset()
    used: set[str] = set()
    bound: set[str] = set()
    for table in _tables(module):
        is_module = table.get_type() == "module"
        for symbol in table.get_symbols():
            name = symbol.get_name()
            is_global = is_module or symbol.is_global()
            if name in PROVIDED and is_global:
                if symbol.is_referenced():
                    used.add(name)
                if symbol.is_assigned() or symbol.is_imported() or symbol.is_namespace():
                    bound.add(name)
    return frozenset((used - bound) | (used & _read_too_early(text)))


def _read_too_early(text: str) -> set[str]:
    """The names that the module's own statements read above their first binding."""
    first_read: dict[str, int] = {}
    first_bound: dict[str, int] = {}
    for node in _of_module(ast.parse(text)):
        if isinstance(node, ast.Name):
            lines = first_read if isinstance(node.ctx, ast.Load) else first_bound
            lines.setdefault(node.id, node.lineno)
            lines[node.id] = min(lines[node.id], node.lineno)
        elif isinstance(node, (ast.Import, ast.ImportFrom)):
            for alias in node.names:
                name = alias.asname or alias.name
                first_bound[name] = min(first_bound.get(name, node.lineno), node.lineno)
    return {
        name
        for name, line in first_read.items()
        if name in PROVIDED and line < first_bound.get(name, line)
    }


def _of_module(module: ast.Module) -> Iterator[ast.AST]:
    """All nodes but those in the bodies of functions, which run later."""
    waiting: list[ast.AST] = [module]
    while waiting:
        node = waiting.pop()
        yield node
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
            waiting += [*node.decorator_list, node.args]
        elif isinstance(node, ast.Lambda):
            waiting.append(node.args)
        else:
            waiting += ast.iter_child_nodes(node)


def _tables(table: symtable.SymbolTable) -> Iterator[symtable.SymbolTable]:
    waiting = [table]
    while waiting:
        symbols = waiting.pop()
        yield symbols
        waiting.extend(symbols.get_children())
