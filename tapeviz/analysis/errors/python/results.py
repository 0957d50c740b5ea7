"""Explain a name that means all results of a call, where one of them is needed."""

from __future__ import annotations

import ast

from ....text.names import called_name, dotted, targets_of
from ....text.trees import lines_of
from ..case import Case
from ..tensors.operands import line_of_value
from .calls import definition


def several_returned(case: Case, name: str) -> str:
    """Words for a name that an assignment gives the tuple that a function of the snippet returns;
    empty for others."""
    line = line_of_value(case, name)
    for assign in case.nodes(ast.Assign) if line else ():
        if assign.lineno != line or name not in map(dotted, targets_of(assign)):
            continue
        call = assign.value
        made = definition(case, called_name(call)) if isinstance(call, ast.Call) else None
        returned = _returned_tuple(made) if made is not None else None
        if made is None or returned is None:
            continue
        parts = [case.text.segment(each) for each in returned.elts]
        names = [part if part.isidentifier() else f"part{i}" for i, part in enumerate(parts, 1)]
        return (
            f"Line {line} gives {name} all that {made.name} returns on line {returned.lineno}: a "
            f"tuple of {' and '.join(parts)}. Give each a name, as in "
            f"{', '.join(names)} = {case.text.segment(assign.value)}, or return what is needed."
        )
    return ""


def applied_with_others(case: Case) -> str:
    """``apply_gradients(zip(grads, variables))`` where grads is a tuple of a loss and a list."""
    call = case.calling("apply_gradients", line=case.line)
    pairs = call.args[0] if call is not None and call.args else None
    if not isinstance(pairs, ast.Call) or called_name(pairs) != "zip" or not pairs.args:
        return ""
    name = ast.unparse(pairs.args[0])
    held = case.held.get(name)
    if held is None or not {"list", "tuple"} & {kind.partition(" ")[0] for kind in held.kinds}:
        return ""
    words = several_returned(case, name)
    return (
        f"Line {case.line} gives apply_gradients {name}, a {held.type} whose elements are not all "
        f"gradients: among them is a list. {words or f'Take the list of gradients out of {name}.'}"
    )


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
