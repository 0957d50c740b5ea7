"""Tell the names that a statement binds and reads, and the gradients that it asks for."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass

from ..text.names import bound_names, dotted, names_in
from .statements import PastedStatement

_ASKING = frozenset({"gradient", "jacobian", "batch_jacobian"})
_NOTHING: frozenset[str] = frozenset()


@dataclass(frozen=True, slots=True)
class Facts:
    """The names that a statement binds and reads."""

    binds: frozenset[str]
    """Names assigned, defined or imported."""
    changes: frozenset[str]
    """``binds``, and names whose object may be changed by a method call (``c.assign(…)``)."""
    reads: frozenset[str]
    asks: tuple[tuple[str, frozenset[str]], ...]
    """(tape, names of the target) for each ``tape.gradient(target, …)``."""
    calls: frozenset[str]
    """Dotted names of the functions called."""

    def asked(self, tapes: frozenset[str]) -> frozenset[str] | None:
        """The names in the targets of ``gradient`` calls of ``tapes``; None without such a call."""
        targets = [names for tape, names in self.asks if tape in tapes]
        return frozenset().union(*targets) if targets else None


UNKNOWN = Facts(_NOTHING, _NOTHING, _NOTHING, (), _NOTHING)


def read_facts(statement: PastedStatement) -> Facts:
    """The facts of a statement; `UNKNOWN` if it does not parse."""
    if statement.tree is None:
        return UNKNOWN
    binds: set[str] = set()
    changes: set[str] = set()
    reads: set[str] = set()
    calls: set[str] = set()
    asks: list[tuple[str, frozenset[str]]] = []
    declared: set[str] = set()
    for node in ast.walk(statement.tree):
        if isinstance(node, ast.AnnAssign) and node.value is None:
            declared |= names_in(node.target)  # `x: int` binds nothing
        binds.update(bound_names(node))
        changes.update(_changed(node))
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load):
            reads.add(node.id)
        elif isinstance(node, ast.Call):
            name = dotted(node.func)
            calls.add(name)
            tape, _, method = name.rpartition(".")
            if method in _ASKING and tape and node.args:
                asks.append((tape, names_in(node.args[0])))
            elif method in _ASKING and tape:
                targets = [word.value for word in node.keywords if word.arg == "target"]
                asks.append((tape, names_in(targets[0]) if targets else _NOTHING))
    binds -= declared
    return Facts(
        frozenset(binds),
        frozenset(binds | changes),
        frozenset(reads),
        tuple(asks),
        frozenset(calls),
    )


def _changed(node: ast.AST) -> Iterator[str]:
    match node:
        case (
            ast.Subscript(ctx=ast.Store(), value=value)
            | ast.Attribute(ctx=ast.Store(), value=value)
        ):
            yield from names_in(value)
        case ast.Expr(value=ast.Call(func=ast.Attribute(value=value))):
            yield from names_in(value)
