"""Let a function read the value that is meant by a name in it."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping

import libcst as cst

from ...analysis.causes.connections.not_connected import NotConnected
from ...analysis.python.late_names import LateName
from ...analysis.python.shadowed import Shadowed
from ...wording import enumerated
from ..model import Edit, FixCase
from ..nodes import all_of, argument, bound_names, name_reads, parameters_of, read_names, sole
from ..plan import Plan
from ..source import CstStatement, ParsedSource
from .neighbours import dependents, makers_of


def keep_value_of_turn(case: FixCase) -> Iterator[Edit]:
    """``lambda x: x * w`` → ``lambda x, w=w: x * w``: a default is taken when the function is
    made."""
    source, evidence = case.source, case.cause.evidence
    late = evidence.why if isinstance(evidence, NotConnected) else None
    if not isinstance(late, LateName):
        return
    name = late.name
    plan = Plan(source)
    default = cst.Param(cst.Name(name), default=cst.Name(name), equal=_TIGHT)
    for function in _functions(source):
        if source.line(function) == case.cause.line and name in read_names(function.body):
            plan.replace(function.params, _with_default(function.params, default))
            if isinstance(function, cst.Lambda):
                plan.replace(function, _spaced)
    title = f"Keep the {name} of each turn: {name}={name} among the function's parameters"
    yield from plan.edits(title, has_other_value=True)


def use_shadowed(case: FixCase) -> Iterator[Edit]:
    """``model(x, 2.0)`` of ``def model(x, w)`` → ``model(x, w)``; where the function binds the name
    itself, without that line."""
    source, evidence = case.source, case.cause.evidence
    found = evidence.why if isinstance(evidence, NotConnected) else None
    if not isinstance(found, Shadowed):
        return
    name, plan = found.name, Plan(source)
    functions = all_of(source.module, cst.FunctionDef)
    function = next((each for each in functions if source.line(each) == found.scope), None)
    if function is None:
        return
    if not found.is_parameter:
        for statement in source.statements:
            is_own = source.function_of(statement) is function
            if is_own and name in bound_names(statement) and sole(statement) is not None:
                plan.remove(statement)
        title = f"Let {function.name.value} read the {name} that is meant, in place of its own"
    else:
        names = parameters_of(function)
        for call in source.calls_to(function.name.value):
            given = argument(call, names.index(name) if name in names else len(names), name)
            if given is not None:
                plan.replace(given, name)
            else:
                plan.replace(call, _with_keyword(name))
        title = f"Give {name} to {function.name.value}, for its parameter of this name"
    yield from plan.edits(title, has_other_value=True)


def compute_when_called(case: FixCase) -> Iterator[Edit]:
    """``cost = f(w)``, ``loss = lambda: cost`` → ``loss = lambda: f(w)``: a function that hands out
    what was computed before gives a tensor of which a later tape knows nothing."""
    source = case.source
    first = source.statement(case.cause.line)
    if first is None or source.enclosing(first, cst.FunctionDef) is not None:
        return
    for function in _functions(source):
        steps = _steps_before(source, first, function)
        plan, made = Plan(source), dict[str, cst.BaseExpression]()
        if steps and isinstance(function, cst.FunctionDef):
            plan.first(function, *steps)
        elif steps and isinstance(function, cst.Lambda):
            for step in steps:
                assign = sole(step)
                target = assign.targets[0].target if isinstance(assign, cst.Assign) else None
                if isinstance(assign, cst.Assign) and isinstance(target, cst.Name):
                    made[target.value] = _inlined(source, assign.value, made)
            plan.replace(function, _with_lambda_body(_inlined(source, function.body, made)))
        if plan.changes or plan.put_first:
            names = enumerated(sorted(set[str]().union(*map(bound_names, steps))))
            yield from plan.edits(f"Compute {names} in the function, each time it is called")


def _functions(source: ParsedSource) -> list[cst.FunctionDef | cst.Lambda]:
    return [*all_of(source.module, cst.FunctionDef), *all_of(source.module, cst.Lambda)]


def _steps_before(
    source: ParsedSource, first: CstStatement, function: cst.FunctionDef | cst.Lambda
) -> list[CstStatement]:
    """The assignments from ``first`` on, before a function, that make what it reads; empty if
    ``first`` is none of them."""
    end = source.line(function)
    between = [
        statement
        for statement in (first, *source.after(first))
        if source.line(statement) < end and isinstance(sole(statement), cst.Assign)
    ]
    params = {param.name.value for param in all_of(function.params, cst.Param)}
    chosen = makers_of(read_names(function.body) - params, dependents(source, between, [first]))
    return chosen if first in chosen else []


def _inlined(
    source: ParsedSource, node: cst.BaseExpression, made: Mapping[str, cst.BaseExpression]
) -> cst.BaseExpression:
    """An expression with other expressions in the place of names."""
    if isinstance(node, cst.Name):
        return made.get(node.value, node)
    plan = Plan(source)
    for name in name_reads(node):
        if name.value in made:
            plan.replace(name, made[name.value])
    return plan.changed(node)


def _with_lambda_body(body: cst.BaseExpression) -> Callable[[cst.Lambda], cst.Lambda]:
    return lambda function: function.with_changes(body=body)


def _with_keyword(name: str) -> Callable[[cst.Call], cst.Call]:
    added = cst.Arg(cst.Name(name), keyword=cst.Name(name), equal=_TIGHT)
    return lambda call: call.with_changes(args=[*call.args, added])


_TIGHT = cst.AssignEqual(cst.SimpleWhitespace(""), cst.SimpleWhitespace(""))


def _with_default(params: cst.Parameters, default: cst.Param) -> cst.Parameters:
    if isinstance(params.star_arg, cst.MaybeSentinel):
        return params.with_changes(params=[*params.params, default])
    return params.with_changes(kwonly_params=[*params.kwonly_params, default])


def _spaced(function: cst.Lambda) -> cst.Lambda:
    """``lambda: y`` has no space where the parameters stand."""
    return function.with_changes(whitespace_after_lambda=cst.SimpleWhitespace(" "))
