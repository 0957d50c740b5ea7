"""Sort by a softmax of distances, which has a slope, in place of by positions."""

from __future__ import annotations

from collections.abc import Iterator

import libcst as cst

from ..forms import matches
from ..model import Edit, FixCase
from ..nodes import all_of, argument, dotted, name_reads, separated, sole, with_arguments
from ..plan import Plan
from ..smooth.indices import input_shape, ranks_gathered
from ..values.leaving import said_in_tensorflow

_Pick = tuple[cst.BaseExpression, cst.BaseExpression]
"""An expression that takes values at positions (``tf.gather(v, order)``), and the values."""


def sort_softly(case: FixCase) -> Iterator[Edit]:
    """``order = tf.argsort(s)``, ``tf.gather(v, order)`` → an average of ``v`` for each place,
    weighed by how near the score at this place is to each of ``s``.

    Where ``s`` itself is picked it is sorted, which has a slope (Prillo and Eisenschlos 2020,
    "SoftSort: a continuous relaxation for the argsort operator").
    """
    source, tf = case.source, case.source.tf
    for order in case.calls("argsort"):
        given, axis = argument(order, 0, "values", "a"), argument(order, 1, "axis")
        statement = source.statement_of(order)
        assign = sole(statement)
        if statement is None or not isinstance(assign, cst.Assign) or given is None:
            continue
        name = dotted(assign.targets[0].target)
        is_last = axis is None or source.code(axis) == "-1"
        if not name or not is_last or not _is_order(assign.value, order):
            continue
        scores = said_in_tensorflow(case, given)
        plan, picks = Plan(source), [*_picks(case, name)]
        ordered, weights = map(plan.fresh_name, ("ordered", "permutation"))
        averages = [_average(case, pick, values, weights) for pick, values in picks]
        are_same = [values.deep_equals(given) for _, values in picks]
        if all(are_same) or not all(map(any, zip(are_same, averages, strict=True))):
            continue
        for (pick, _), average, is_same in zip(picks, averages, are_same, strict=True):
            plan.replace(pick, ordered if is_same else average)
        kept = [arg for arg in order.args if arg.keyword is None or arg.keyword.value != "stable"]
        args = [arg.with_changes(value=scores) if arg.value is given else arg for arg in kept]
        sort = Plan(source, {order: cst.Call(cst.parse_expression(f"{tf}.sort"), separated(args))})
        others = source.operand(scores)
        far = f"{tf}.abs({ordered}[:, {tf}.newaxis] - {others})"
        if len(input_shape(case)) != 1:
            others += f"[..., {tf}.newaxis, :]"
            far = f"{tf}.abs({ordered}[..., {tf}.newaxis] - {others})"
        plan.after(
            statement,
            f"{ordered} = {source.code(sort.changed(assign.value))}",
            f"{weights} = {tf}.nn.softmax(-{far})",
        )
        reads = [read for read in name_reads(source.module) if read.value == name]
        if len(reads) == len(picks):
            plan.remove(statement)
        title = "Estimate: sort softly, an average for each place by how near the scores are to it"
        yield from plan.edits(title)


def _is_order(value: cst.BaseExpression, order: cst.Call) -> bool:
    """Whether a value is an order, or a part of it: ``order[::-1][:3]``."""
    while isinstance(value, cst.Subscript):
        value = value.value
    return value is order


def _picks(case: FixCase, name: str) -> Iterator[_Pick]:
    """The expressions that take values at the positions of this name."""
    source = case.source
    gathers = source.calls_to("gather")
    for call, (values, positions) in with_arguments(gathers, "params", "indices"):
        if dotted(positions) == name:
            yield call, values
    for node, (index, values) in matches(all_of(source.module, cst.Subscript), "_v[_i]"):
        if dotted(index) == name:
            yield node, values


def _average(
    case: FixCase, pick: cst.BaseExpression, values: cst.BaseExpression, weights: str
) -> str:
    """The average of values at each place, in place of those that were picked; or empty."""
    source, tf = case.source, case.source.tf
    known = ranks_gathered(case, source.line(pick))
    v = source.code(values)
    if known is None or isinstance(pick, cst.Subscript):
        return f"{tf}.tensordot({weights}, {v}, 1)"
    picked, positions, is_float = known
    v = v if is_float else f"{tf}.cast({v}, {tf}.float32)"
    if positions == 1:
        return f"{tf}.tensordot({weights}, {v}, 1)"
    if positions == picked == 2:
        return f"{tf}.linalg.matvec({weights}, {v})"
    return f"{tf}.matmul({weights}, {v})" if positions == 2 and picked == 3 else ""
