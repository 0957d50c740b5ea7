"""A text in, the well-known names that it uses without having them out."""

from __future__ import annotations

import symtable
import warnings
from collections.abc import Iterator

PROVIDED = frozenset({"tf", "np", "keras"})


def missing_imports(text: str) -> frozenset[str]:
    """Which of ``tf``, ``np`` and ``keras`` are read as globals and bound nowhere as globals.

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
    return frozenset(used - bound)


def _tables(table: symtable.SymbolTable) -> Iterator[symtable.SymbolTable]:
    waiting = [table]
    while waiting:
        one = waiting.pop()
        yield one
        waiting.extend(one.get_children())
