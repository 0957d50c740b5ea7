"""Explain a name that means all results of a call, where one of them is needed."""

from __future__ import annotations

import ast

from ....text.names import called_name
from ....text.trees import lines_of
from ..case import Case
from .calls import definition


def several_returned(case: Case, name: str) -> str:
    """Words for a name that an assignment gives all results of a call: the tuple that a function
    of the snippet returns, or the list or tuple of another one; empty for others."""
    assign, held = case.last_binding(name), case.held.get(name)
    if not isinstance(assign, ast.Assign) or not isinstance(call := assign.value, ast.Call):
        return ""
    made = definition(case, called_name(call))
    returned = _returned_tuple(made) if made is not None else None
    code = case.text.segment(call)
    if made is not None and returned is not None:
        parts = [case.text.segment(each) for each in returned.elts]
        names = [part if part.isidentifier() else f"part{i}" for i, part in enumerate(parts, 1)]
        code = code if len(code) <= _LONGEST else f"{case.text.segment(call.func)}(…)"
        return (
            f"Line {assign.lineno} gives {name} all that {made.name} returns on line "
            f"{returned.lineno}: a tuple of {' and '.join(parts)}. Give each a name, as in "
            f"{', '.join(names)} = {code}, or return what is needed."
        )
    if made is None and held is not None and held.size > 1 and len(code) <= _LONGEST:
        return (
            f"Line {assign.lineno} gives {name} the {held.size} results of {code}, a {held.type}. "
            f"Give each a name there, or take one of them, as in {name}[0]."
        )
    return ""


_LONGEST = 40
"""The letters of a call that stands in a sentence."""


def applied_otherwise(case: Case) -> str:
    """``apply_gradients(zip(grads, variables))`` where grads is a tuple of a loss and a list, where
    both are dicts, whose keys zip goes over, or a tensor and a variable."""
    call = case.calling("apply_gradients")
    pairs = call.args[0] if call is not None and call.args else None
    if not isinstance(pairs, ast.Call) or called_name(pairs) != "zip" or len(pairs.args) != 2:
        return ""
    names = [case.text.segment(each) for each in pairs.args]
    held = [case.held.get(ast.unparse(each)) for each in pairs.args]
    if all(each is not None and each.keys and each.size >= 0 for each in held):
        return (
            f"{names[0]} and {names[1]} on line {case.line} are dicts, and zip goes over their "
            f"keys. Give the gradient and the variable of each key: "
            f"{paired_by_key(*names)}."
        )
    if all(each is not None and each.dtype for each in held):
        return (
            f"{names[0]} and {names[1]} on line {case.line} are a single tensor and a single "
            f"variable, and zip goes over their elements. Put each into a list: "
            f"zip([{names[0]}], [{names[1]}])."
        )
    kinds = held[0].kinds if held[0] is not None else ()
    if held[0] is None or not {"list", "tuple"} & {kind.partition(" ")[0] for kind in kinds}:
        return ""
    words = several_returned(case, names[0]) or f"Take the list of gradients out of {names[0]}."
    return (
        f"Line {case.line} gives apply_gradients {names[0]}, a {held[0].type} whose elements are "
        f"not all gradients: among them is a list. {words}"
    )


def paired_by_key(gradients: str, variables: str) -> str:
    """Code that pairs the gradients in a dict with the variables of the same keys."""
    return f"[({gradients}[key], {variables}[key]) for key in {variables}]"


def _returned_tuple(made: ast.FunctionDef) -> ast.Tuple | None:
    """The tuple that the last return of a function gives."""
    returns = [each for each in ast.walk(made) if isinstance(each, ast.Return)]
    inner = [
        line
        for each in ast.walk(made)
        if isinstance(each, (ast.FunctionDef, ast.Lambda)) and each is not made
        for line in lines_of(each)
    ]
    own = [each.value for each in returns if each.lineno not in inner]
    return own[-1] if own and isinstance(own[-1], ast.Tuple) else None
