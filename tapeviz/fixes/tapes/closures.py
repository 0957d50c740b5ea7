"""Let functions that a loop makes keep the value of their turn."""

from __future__ import annotations

from collections.abc import Iterator

import libcst as cst

from ...analysis.causes.not_connected import NotConnected
from ..model import Edit, FixCase
from ..nodes import all_of, read_names
from ..plan import Plan


def keep_value_of_turn(case: FixCase) -> Iterator[Edit]:
    """``lambda x: x * w`` → ``lambda x, w=w: x * w``: a default is taken when the function is
    made."""
    source, evidence = case.source, case.cause.evidence
    if not isinstance(evidence, NotConnected) or evidence.late is None:
        return
    name = evidence.late.name
    plan = Plan(source)
    default = cst.Param(cst.Name(name), default=cst.Name(name), equal=_TIGHT)
    functions: list[cst.FunctionDef | cst.Lambda] = [
        *all_of(source.module, cst.FunctionDef),
        *all_of(source.module, cst.Lambda),
    ]
    for function in functions:
        if source.line(function) == case.cause.line and name in read_names(function.body):
            plan.replace(function.params, _with_default(function.params, default))
            if isinstance(function, cst.Lambda):
                plan.replace(function, _spaced)
    if plan.changes:
        title = f"Keep the {name} of each turn: {name}={name} among the function's parameters"
        yield Edit(title, plan.text(), has_other_value=True)


_TIGHT = cst.AssignEqual(cst.SimpleWhitespace(""), cst.SimpleWhitespace(""))


def _with_default(params: cst.Parameters, default: cst.Param) -> cst.Parameters:
    if isinstance(params.star_arg, cst.MaybeSentinel):
        return params.with_changes(params=[*params.params, default])
    return params.with_changes(kwonly_params=[*params.kwonly_params, default])


def _spaced(function: cst.Lambda) -> cst.Lambda:
    """``lambda: y`` has no space where the parameters stand."""
    return function.with_changes(whitespace_after_lambda=cst.SimpleWhitespace(" "))
