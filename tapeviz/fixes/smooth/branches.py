"""A Python ``if`` that compares a tensor in, both of its results weighed by a sigmoid out."""

from __future__ import annotations

from collections.abc import Iterator

import libcst as cst

from ...analysis.causes.not_connected import NotConnected
from ..model import Edit, FixCase
from ..plan import Plan
from ..source import ParsedSource, all_of, argument, called_name, sole

_OF_COND = ("pred", "true_fn", "false_fn")
_TITLE = "Weigh both results by a sigmoid, which has a slope, in place of the if"


def weigh_both(case: FixCase) -> Iterator[Edit]:
    """``if w > 0.5: y = a`` / ``else: y = b`` → ``y = s * a + (1 - s) * b``, s = sigmoid(w - 0.5).

    Without an ``else`` ``b`` is what the name held before; ``a if w > 0.5 else b`` and ``tf.cond``
    likewise.
    """
    source, line = case.source, _line(case)
    statement = source.statement(line)
    if statement is None:
        return
    if not isinstance(statement, cst.If):
        yield from _choices(source, statement)
        return
    difference, then = _difference(source, statement.test), _assigned(statement.body)
    if difference is None or then is None:
        return
    name, value = then
    other = name
    if statement.orelse is not None:
        otherwise = _assigned(statement.orelse.body)
        if not isinstance(statement.orelse, cst.Else) or otherwise is None or otherwise[0] != name:
            return
        other = source.code(otherwise[1])
    weight = source.free_name("weight")
    plan = Plan(source)
    plan.before(
        statement,
        f"{weight} = {source.tf}.sigmoid({difference})",
        f"{name} = {weight} * ({source.code(value)}) + (1 - {weight}) * ({other})",
    )
    plan.remove(statement)
    yield Edit(_TITLE, plan.text(), is_estimate=True)


def _line(case: FixCase) -> int:
    """Where the tensor decides: the end of the path from the source, if that is a truth value."""
    evidence = case.cause.evidence
    ends = evidence.ends if isinstance(evidence, NotConnected) else None
    return ends.reaches_line if ends is not None and ends.fate == "decides" else case.cause.line


def _choices(source: ParsedSource, statement: cst.CSTNode) -> Iterator[Edit]:
    plan = Plan(source)
    for choice in all_of(statement, cst.IfExp):
        difference = _difference(source, choice.test)
        if difference is not None:
            weight = f"{source.tf}.sigmoid({difference})"
            value, other = source.code(choice.body), source.code(choice.orelse)
            plan.replace(choice, f"({weight} * ({value}) + (1 - {weight}) * ({other}))")
    for call in all_of(statement, cst.Call):
        test, *given = (argument(call, place, name) for place, name in enumerate(_OF_COND))
        results = [each.value.body for each in given if each and isinstance(each.value, cst.Lambda)]
        difference = _difference(source, test.value) if test is not None else None
        if called_name(call) == "cond" and difference is not None and len(results) == 2:
            weight = f"{source.tf}.sigmoid({difference})"
            value, other = map(source.code, results)
            plan.replace(call, f"({weight} * ({value}) + (1 - {weight}) * ({other}))")
    if plan.changes:
        yield Edit(_TITLE, plan.text(), is_estimate=True)


def _difference(source: ParsedSource, test: cst.BaseExpression) -> str | None:
    """``a - (b)`` of ``a > b`` and of ``b < a``."""
    if not isinstance(test, cst.Comparison) or len(test.comparisons) != 1:
        return None
    compared = test.comparisons[0]
    left, right = source.code(test.left), source.code(compared.comparator)
    if isinstance(compared.operator, (cst.LessThan, cst.LessThanEqual)):
        left, right = right, left
    elif not isinstance(compared.operator, (cst.GreaterThan, cst.GreaterThanEqual)):
        return None
    return f"{left} - ({right})"


def _assigned(block: cst.BaseSuite) -> tuple[str, cst.BaseExpression] | None:
    """The name and the value of a block that is one assignment."""
    lines = block.body
    if len(lines) != 1:
        return None
    only = sole(lines[0]) if isinstance(lines[0], cst.SimpleStatementLine) else lines[0]
    if not isinstance(only, cst.Assign) or len(only.targets) != 1:
        return None
    target = only.targets[0].target
    return (target.value, only.value) if isinstance(target, cst.Name) else None
