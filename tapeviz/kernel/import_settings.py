"""Find the environment variables that a snippet sets for TensorFlow's import.

``os.environ["TF_ENABLE_ONEDNN_OPTS"] = "0"`` above ``import tensorflow`` changes the last bits of
results (seen on 2.21.0). In a warm kernel TensorFlow is loaded already, and it would do nothing.
"""

from __future__ import annotations

import ast
import os

from ..text.trees import parse_module

READ_AT_IMPORT = frozenset({"TF_ENABLE_ONEDNN_OPTS", "TF_USE_LEGACY_KERAS", "KERAS_BACKEND"})
_LOADING = {"tensorflow", "keras", "tf_keras"}


def import_settings(source: str) -> dict[str, str]:
    """The variables of :data:`READ_AT_IMPORT` that the snippet sets before it imports
    TensorFlow."""
    if not any(name in source for name in READ_AT_IMPORT):
        return {}
    try:
        statements = parse_module(source).body
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return {}
    settings: dict[str, str] = {}
    for statement in statements:
        if _loads_tensorflow(statement):
            break
        settings |= _setting(statement)
    return {
        name: value
        for name, value in settings.items()
        if name in READ_AT_IMPORT and os.environ.get(name) != value
    }


def _loads_tensorflow(statement: ast.stmt) -> bool:
    if isinstance(statement, ast.Import):
        return any(alias.name.split(".")[0] in _LOADING for alias in statement.names)
    return (
        isinstance(statement, ast.ImportFrom) and (statement.module or "").split(".")[0] in _LOADING
    )


def _setting(statement: ast.stmt) -> dict[str, str]:
    match statement:
        case ast.Assign(
            targets=[ast.Subscript(value=place, slice=ast.Constant(value=str(name)))],
            value=ast.Constant(value=str(value)),
        ) if _is_environ(place):
            return {name: value}
        case ast.Expr(
            value=ast.Call(
                func=ast.Attribute(value=place, attr="setdefault"),
                args=[ast.Constant(value=str(name)), ast.Constant(value=str(value))],
            )
        ) if _is_environ(place) and name not in os.environ:
            return {name: value}
    return {}


def _is_environ(place: ast.expr) -> bool:
    return ast.unparse(place) in ("os.environ", "environ")
