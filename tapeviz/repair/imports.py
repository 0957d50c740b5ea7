"""Import the well-known names that a text uses without importing them."""

from __future__ import annotations

import ast
import symtable
from collections.abc import Iterator

from .parsing import module_symbols, parse

PROVIDED = frozenset({"tf", "np", "keras"})


def missing_imports(text: str) -> frozenset[str]:
    """Find which of ``tf``, ``np`` and ``keras`` the text reads as globals before it binds them.

    They are bound nowhere, or only further down, as in a text of several snippets of a page. Empty
    for a text that does not compile.
    """
    module = module_symbols(text)
    if module is None:
        return frozenset()
    used: set[str] = set()
    bound: set[str] = set()
    for table in nested_tables(module):
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
    """The provided names that statements of the module read above their first binding."""
    first_read: dict[str, int] = {}
    first_bound: dict[str, int] = {}
    tree = parse(text)
    for node in run_at_once(tree) if isinstance(tree, ast.Module) else ():  # else it is too deep
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


def run_at_once(tree: ast.AST) -> Iterator[ast.AST]:
    """The nodes that run with a module or statement: of functions only decorators and defaults."""
    waiting: list[ast.AST] = [tree]
    while waiting:
        node = waiting.pop()
        yield node
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
            waiting += [*node.decorator_list, *node.args.defaults]
            waiting += [default for default in node.args.kw_defaults if default is not None]
        elif isinstance(node, ast.Lambda):
            waiting += node.args.defaults
        else:
            waiting += ast.iter_child_nodes(node)


def nested_tables(table: symtable.SymbolTable) -> Iterator[symtable.SymbolTable]:
    """The table, and those of all functions and classes in it."""
    waiting = [table]
    while waiting:
        symbols = waiting.pop()
        yield symbols
        waiting.extend(symbols.get_children())
