"""Positions that an op gave (argmax, top_k, where) in, the values at those positions out."""

from __future__ import annotations

from collections.abc import Iterator

import libcst as cst

from ..model import Edit, FixCase
from ..plan import Plan
from ..source import ParsedSource, argument, dotted, header_nodes, sole
from ..states.regions import region_after
from ..states.renaming import rename_reads

_VALUES = {
    "argmax": "reduce_max",
    "argmin": "reduce_min",
    "argsort": "sort",
}


def take_values(case: FixCase) -> Iterator[Edit]:
    """``tf.argsort(x)`` → ``tf.sort(x)``; the second of ``tf.math.top_k`` → the first."""
    source = case.source
    for line in case.lines():
        for old, new in _VALUES.items():
            plan = Plan(source)
            calls = [call for call in source.calls(line, old) if dotted(call.func).count(".") < 3]
            for call in calls:
                plan.replace(call, lambda old_call, name=new: _renamed(source, old_call, name))  # type: ignore[misc]
            if calls:
                yield _edit(plan, f"{old}")
        yield from _of_top_k(source, line)
        yield from _of_where(source, line)


def _edit(plan: Plan, what: str) -> Edit:
    title = f"Estimate: take the values themselves in place of the positions that {what} gives"
    return Edit(title, plan.text(), is_estimate=True)


def _renamed(source: ParsedSource, call: cst.Call, name: str) -> cst.BaseExpression:
    """With the input and the axis; what else says how positions are given goes."""
    given = argument(call, 0, "input", "values")
    axis = argument(call, 1, "axis", "dimension")
    if given is None:
        return call
    along = f", axis={source.code(axis.value)}" if axis is not None else ""
    if not along and name.startswith("reduce"):
        along = ", axis=0"
    return cst.parse_expression(f"{source.tf}.{name}({source.code(given.value)}{along})")


def _of_top_k(source: ParsedSource, line: int) -> Iterator[Edit]:
    """``values, indices = tf.math.top_k(…)``: later reads of the second name read the first."""
    for call in source.calls(line, "top_k"):
        statement = source.statement_of(call)
        small = sole(statement)
        if statement is None or not isinstance(small, cst.Assign) or small.value is not call:
            continue
        target = small.targets[0].target
        if not isinstance(target, (cst.Tuple, cst.List)) or len(target.elements) != 2:
            continue
        values, indices = (element.value for element in target.elements)
        plan = Plan(source)
        new = source.code(values)
        bound: cst.BaseExpression = values
        if new == "_":
            new = source.free_name("values")
            plan.replace(bound, new)
        region = region_after(source, statement, None)
        if rename_reads(plan, indices, new, region.statements):
            yield _edit(plan, "top_k")


def _of_where(source: ParsedSource, line: int) -> Iterator[Edit]:
    """``tf.where(x > 0)`` → ``tf.boolean_mask(x, x > 0)``."""
    for call in source.calls(line, "where"):
        if len(call.args) != 1:
            continue
        condition = call.args[0].value
        compared = [found for found in header_nodes(call, cst.Comparison) if found is condition]
        if compared:
            plan = Plan(source)
            x, mask = source.code(compared[0].left), source.code(condition)
            plan.replace(call, f"{source.tf}.boolean_mask({x}, {mask})")
            yield _edit(plan, "where")


def soft_accuracy(case: FixCase) -> Iterator[Edit]:
    """``tf.equal(tf.round(p), y)`` as a number → ``1.0 - tf.abs(p - y)``."""
    source = case.source
    for call in case.calls("equal"):
        around = source.enclosing(call, cst.Call)
        if around is None or dotted(around.func) != f"{source.tf}.cast":
            continue
        given = [_unrounded(arg.value) for arg in call.args[:2]]
        if len(given) == 2 and any(node is not two.value for node, two in _pairs(given, call)):
            p, y = (source.code(node) for node in given)
            plan = Plan(source)
            plan.replace(around, f"1.0 - {source.tf}.abs({p} - {y})")
            title = "Estimate: count how near it is in place of whether it is equal"
            yield Edit(title, plan.text(), is_estimate=True)


def _pairs(
    given: list[cst.BaseExpression], call: cst.Call
) -> Iterator[tuple[cst.BaseExpression, cst.Arg]]:
    yield from zip(given, call.args, strict=False)


def _unrounded(node: cst.BaseExpression) -> cst.BaseExpression:
    if isinstance(node, cst.Call) and dotted(node.func).endswith("round") and node.args:
        return node.args[0].value
    return node
