"""Names in a syntax tree: the path of an expression, the function of a call, assignment targets."""

from __future__ import annotations

import ast
from collections.abc import Iterator


def dotted(node: ast.AST) -> str:
    """``a`` or ``a.b.c``; empty for any other expression."""
    names: list[str] = []
    while isinstance(node, ast.Attribute):
        names.append(node.attr)
        node = node.value
    return ".".join([node.id, *reversed(names)]) if isinstance(node, ast.Name) else ""


def called_name(call: ast.Call) -> str:
    """The last name of the function called: ``gradient`` of ``tape.gradient(…)``."""
    function = call.func
    if isinstance(function, ast.Attribute):
        return function.attr
    return function.id if isinstance(function, ast.Name) else ""


def calls_in(node: ast.AST | None) -> Iterator[ast.Call]:
    """All calls that stand anywhere in the statement or expression; none in None."""
    for found in ast.walk(node) if node is not None else ():
        if isinstance(found, ast.Call):
            yield found


def names_in(node: ast.AST) -> frozenset[str]:
    """All plain names that stand anywhere in the expression."""
    return frozenset(found.id for found in ast.walk(node) if isinstance(found, ast.Name))


def bound_names(node: ast.AST) -> Iterator[str]:
    """The names that a node of a syntax tree assigns, defines or imports."""
    match node:
        case ast.Name(id=name, ctx=ast.Store() | ast.Del()):
            yield name
        case ast.FunctionDef(name=name) | ast.AsyncFunctionDef(name=name) | ast.ClassDef(name=name):
            yield name
        case ast.arg(arg=name):
            yield name
        case ast.alias(name=name, asname=asname):
            yield asname or name.split(".")[0]
        case ast.ExceptHandler(name=str(name)) | ast.MatchMapping(rest=str(name)):
            yield name
        case ast.MatchAs(name=str(name)) | ast.MatchStar(name=str(name)):
            yield name


def targets_of(node: ast.stmt) -> Iterator[ast.expr]:
    """The expressions that a statement assigns to, taken out of tuples and lists."""
    given: list[ast.expr] = []
    if isinstance(node, ast.Assign):
        given = list(node.targets)
    elif isinstance(node, (ast.AugAssign, ast.AnnAssign, ast.For, ast.AsyncFor)):
        given = [node.target]
    elif isinstance(node, (ast.With, ast.AsyncWith)):
        given = [item.optional_vars for item in node.items if item.optional_vars is not None]
    while given:
        target = given.pop()
        if isinstance(target, (ast.Tuple, ast.List)):
            given.extend(target.elts)
        elif isinstance(target, ast.Starred):
            given.append(target.value)
        else:
            yield target


def pairs_of(assign: ast.Assign) -> Iterator[tuple[str, ast.expr]]:
    """The path of each target of an assignment with its value; ``a, b = c, d`` in its parts,
    nothing for ``a, b = c``."""
    for target in assign.targets:
        if isinstance(target, ast.Tuple) and isinstance(assign.value, ast.Tuple):
            for part, value in zip(target.elts, assign.value.elts, strict=False):
                yield dotted(part), value
        elif not isinstance(target, (ast.Tuple, ast.List)):
            yield dotted(target), assign.value
