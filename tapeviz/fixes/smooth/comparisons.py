"""Put a sigmoid, which has a slope, in place of a comparison, and weigh by it what it chose."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import partial
from typing import Any

import libcst as cst

from ...analysis.call_facts import maker_past
from ...trace.op_kinds import ops_with
from ..forms import MORE, match
from ..model import Edit, FixCase
from ..nodes import all_of, argument, bare, called_name, header_nodes, is_call_to, is_zero
from ..plan import Plan
from ..source import ParsedSource
from ..translation.numpy_words import without_exit
from .counts import further_args, uncast
from .indices import is_at_cause


def soft_truth(
    source: ParsedSource,
    condition: cst.BaseExpression,
    number: Callable[[cst.BaseExpression], str] | None = None,
) -> str:
    """``tf.sigmoid(a - b)`` of ``a > b``, a product of such for ``and``, the larger for ``or``, and
    the distance from 1 for ``not``, as fuzzy sets have it; the largest for ``tf.reduce_any``, the
    smallest for ``tf.reduce_all``; of another shape for ``tf.reshape``; ``tf.tanh(tf.abs(x))`` of
    ``tf.cast(x, tf.bool)``; also of a name bound to a condition, and of ``bool(…)``; empty for what
    compares nothing so.

    ``number``: the code of what is compared; without it the code as it stands there, without
    ``float()`` and ``.numpy()``.
    """
    condition = without_exit(source.value_of(without_exit(condition)))
    for form, forms in LOGIC.items():
        if parts := match(condition, *forms):
            soft = [soft_truth(source, part, number) for part in parts]
            return form.format(*soft, tf=source.tf) if all(soft) else ""
    if is_call_to(condition, *_REDUCING):
        inner = soft_truth(source, condition.args[0].value, number) if condition.args else ""
        rest = further_args(source, condition)
        name = _REDUCING[called_name(condition)]
        return f"{source.tf}.{name}({inner}{rest})" if inner else ""
    if isinstance(condition, cst.Call) and is_cast_to_bool(source, condition):  # not 0
        x = condition.args[0].value
        return f"{source.tf}.tanh({source.tf}.abs({number(x) if number else source.code(x)}))"
    sides = match(condition, *_ORDERS)
    if not sides:
        return ""
    larger, smaller = sides
    if number is not None:
        codes = (source.operand(cst.parse_expression(number(side))) for side in sides)
        return f"{source.tf}.sigmoid({' - '.join(codes)})"
    larger, smaller = (without_exit(bare(side)) for side in (larger, smaller))
    difference = f"{source.operand(larger)} - {source.operand(smaller)}"
    return f"{source.tf}.sigmoid({source.code(larger) if is_zero(smaller) else difference})"


def is_cast_to_bool(source: ParsedSource, call: cst.Call) -> bool:
    """Whether this is ``tf.cast(x, tf.bool)``, which is true where x is not 0."""
    dtype = argument(call, 1, "dtype") if called_name(call) == "cast" else None
    return dtype is not None and source.code(dtype).rpartition(".")[2].strip("'\"") == "bool"


_LESS_THE_OTHER_WAY = ("_b < _a", "_b <= _a", "less(x=_b, y=_a)", "less_equal(x=_b, y=_a)")
_ORDERS = (*MORE, *_LESS_THE_OTHER_WAY)
"""Comparisons, whose part ``_a`` has to be the larger one."""
_NEW_AXIS = ("None", "newaxis")

_REDUCING = {"reduce_any": "reduce_max", "reduce_all": "reduce_min"}
_REDUCING |= {name: name for name in ("reshape", "expand_dims", "squeeze")}

LOGIC = {
    "({} * {})": ("_a and _b", "_a & _b", "logical_and(x=_a, y=_b)"),
    "{tf}.maximum({}, {})": ("_a or _b", "_a | _b", "logical_or(x=_a, y=_b)"),
    "(1.0 - {})": ("not _a", "~_a", "logical_not(x=_a)"),
}
"""The code for conditions that are made of others, each with their forms."""


def blend(case: FixCase) -> Iterator[Edit]:
    """``tf.where(a > b, p, q)`` → both, weighted by ``tf.sigmoid(a - b)``; so ``boolean_mask``."""
    source = case.source
    for call in case.calls("where", "boolean_mask"):
        is_where = called_name(call) == "where"
        condition = argument(call, 0 if is_where else 1, "condition" if is_where else "mask")
        given = [arg.value for arg in call.args if arg.value is not condition]
        weight = soft_truth(source, condition) if condition is not None else ""
        if not weight or len(given) != (2 if is_where else 1):
            continue
        p = source.operand(given[0])
        text = f"{weight} * {p}"
        if is_where:
            text += f" + (1.0 - {weight}) * {source.operand(given[1])}"
        plan = Plan(source, {call: text})
        yield from plan.edits(f"Estimate: weigh by a sigmoid in place of tf.{called_name(call)}")


def soften_comparison(case: FixCase) -> Iterator[Edit]:
    """``x > 0.5`` → ``tf.sigmoid(x - 0.5)``, and what joins several by ``and``, ``or``, ``not``."""
    source = case.source
    plan = Plan(source)
    conditions = _conditions(case.nodes)
    soft = {node: code for node in conditions if (code := soft_truth(source, node))}
    _soften_outermost(plan, soft)
    yield from plan.edits("Estimate: a sigmoid in place of the comparison")


def take_probability(case: FixCase) -> Iterator[Edit]:
    """``tf.cast(p > 0.5, tf.float32)`` and ``tf.round(p)`` → ``p``, where a sigmoid or a softmax
    gave ``p``; ``1.0 - p`` where it is ``p < 0.5``."""
    source, plan = case.source, Plan(case.source)
    soft: dict[cst.BaseExpression, str] = {}
    for node in _conditions(case.nodes):
        rounded = match(node, "round(_x, *_)", "rint(_x, *_)")
        given = rounded or match(node, *_ORDERS)
        place = _place_of_probability(case, node, bool(rounded)) if given else None
        if place is None:
            continue
        p = source.operand(given[place])
        around = source.enclosing(node, cst.Call)
        is_cast = around is not None and called_name(around) == "cast"
        whole = around if is_cast and around and around.args[0].value is node else node
        soft[whole] = p if place == 0 else f"(1.0 - {p})"
    _soften_outermost(plan, soft)
    yield from plan.edits("Estimate: compute with the probability itself")


def _place_of_probability(case: FixCase, node: cst.CSTNode, is_rounded: bool) -> int | None:
    """0 if a sigmoid or a softmax gave what is rounded, or the larger side of a comparison; 1 for
    the smaller side; None if neither or both are known to be probabilities."""
    trace = case.trace
    larger = {"Round": 0, "Rint": 0} if is_rounded else _PLACE_OF_LARGER
    for op in trace.ops.values():
        if op.type in larger and case.source.covers(node, op.line):
            makers = [maker_past(trace, tensor, _REARRANGING) for tensor in op.inputs]
            found = [i for i, maker in enumerate(makers) if maker and maker.type in _PROBABILITIES]
            return int(found[0] != larger[op.type]) if len(found) == 1 else None
    return None


_PLACE_OF_LARGER = {"Greater": 0, "GreaterEqual": 0, "Less": 1, "LessEqual": 1}
"""Which input of these ops is the larger one where they give true."""

_PROBABILITIES = ("Sigmoid", "Softmax")

_REARRANGING = ops_with("view") - ops_with("places")
"""Ops that give elements of one input, which are as likely there as here."""


def soften_bounds(case: FixCase) -> Iterator[Edit]:
    """``rows >= lo`` with ``lo = tf.cast(x, tf.int32)`` → ``tf.sigmoid(rows - x)`` of floats."""
    source = case.source
    plan = Plan(source)
    found = 0

    def number(node: cst.BaseExpression) -> str:
        nonlocal found
        x = uncast(source, node) if is_at_cause(case, node) else ""
        found += bool(x)
        return x or f"{source.tf}.cast({source.code(node)}, {source.tf}.float32)"

    soft: dict[cst.BaseExpression, str] = {}
    for statement in source.statements:
        for node in _conditions(partial(header_nodes, statement)):
            found = 0
            code = soft_truth(source, node, number)
            if code and found:
                soft[node] = code
    _soften_outermost(plan, soft)
    yield from plan.edits("Estimate: a sigmoid in place of the comparison with a whole number")


def _conditions(nodes_of: Callable[[Any], Iterable[Any]]) -> Iterator[cst.BaseExpression]:
    """The nodes that may be conditions. ``nodes_of``: gives the nodes of a kind."""
    for kind in (cst.Comparison, cst.Call, cst.BinaryOperation, cst.UnaryOperation):
        yield from nodes_of(kind)


def _soften_outermost(plan: Plan, soft: Mapping[cst.BaseExpression, str]) -> None:
    for node, code in soft.items():
        if not any(around in soft for around in plan.source.ancestors(node)):
            _soften(plan, node, code)


def _soften(plan: Plan, node: cst.BaseExpression, soft: str) -> None:
    around = plan.source.enclosing(node, cst.Call)
    if around is not None and called_name(around) == "count_nonzero":
        further = further_args(plan.source, around)
        plan.replace(around, f"{plan.source.tf}.reduce_sum({soft}{further})")
        return
    plan.replace(node, soft)
    _weigh_by(plan, node, soft)


def _weigh_by(plan: Plan, mask: cst.BaseExpression, soft: str) -> None:
    """``x[mask]``, ``tf.boolean_mask(x, mask)``, ``tf.where(mask, x, y)`` with the soft mask."""
    source, code = plan.source, plan.source.code
    for picked, index, values in source.picked_by(mask):
        weight = soft if index is mask else code(index)
        plan.replace(picked, f"{source.operand(values)} * {weight}")
    for call in all_of(source.module, cst.Call):
        place = {"boolean_mask": 1, "where": 0}.get(called_name(call))
        given = argument(call, place, "mask", "condition") if place is not None else None
        if given is None or not _is_mask(source, given, mask):
            continue
        weight = soft if given is mask else code(plan.changed(given))
        others = [source.operand(arg.value) for arg in call.args if arg.value is not given]
        if place == 1 and len(others) == 1:
            plan.replace(call, f"{others[0]} * {weight}")
        elif place == 0 and len(others) == 2:
            blended = f"{weight} * {others[0]} + (1.0 - {weight}) * {others[1]}"
            plan.replace(call, blended)


def _is_mask(source: ParsedSource, node: cst.BaseExpression, mask: cst.BaseExpression) -> bool:
    """Whether it is the mask, its name, or either with further axes: ``mask[..., tf.newaxis]``."""
    if isinstance(node, cst.Subscript):
        last = node.slice[-1].slice
        is_axis = isinstance(last, cst.Index) and source.code(last.value).endswith(_NEW_AXIS)
        node = node.value if is_axis else node
    return node is mask or source.is_bound_to(node, mask)
