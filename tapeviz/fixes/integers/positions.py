"""Take the values at the positions that an op gave (argmax, top_k, where)."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import libcst as cst

from ..forms import EQUAL, UNEQUAL, matches
from ..model import Edit, FixCase
from ..nodes import all_of, argument, called_name, dotted, elements, header_nodes, is_call_to
from ..plan import Plan
from ..regions import region_after
from ..renaming import rename_reads
from ..rewrites import CallRewrite
from ..smooth.comparisons import soft_truth
from ..smooth.counts import further_args
from ..smooth.indices import is_at_cause
from ..source import ParsedSource

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
            calls = [
                call
                for call in source.calls(line, old)
                if dotted(call.func).count(".") < 3 and not any(_ranks(source))
            ]
            for call in calls:
                plan.replace(call, lambda old_call, name=new: _renamed(source, old_call, name))  # type: ignore[misc]
            if calls:
                yield _edit(plan, f"{old}")
        yield from _of_top_k(source, line)
        yield from _of_where(source, line)


def soft_ranks(case: FixCase) -> Iterator[Edit]:
    """``tf.argsort(tf.argsort(x))`` → how many elements are smaller, counted by sigmoids.

    ``tf.math.invert_permutation(tf.argsort(x))`` likewise.

    The rank of x_i is the number of j with x_j < x_i; a sigmoid of the difference stands for each
    comparison (Qin, Liu and Li 2010, "A general approximation framework for direct optimization of
    information retrieval measures").
    """
    source = case.source
    for ranks, order in _ranks(source):
        given = argument(order, 0, "values")
        if given is None or not any(source.covers(order, line) for line in case.lines()):
            continue
        tf, x = source.tf, source.operand(given)
        direction = argument(order, 2, "direction")
        is_falling = direction is not None and "DESC" in source.code(direction)
        mine, others = f"{x}[..., {tf}.newaxis]", f"{x}[..., {tf}.newaxis, :]"
        difference = f"{others} - {mine}" if is_falling else f"{mine} - {others}"
        plan = Plan(source, {ranks: f"{tf}.reduce_sum({tf}.sigmoid({difference}), -1) - 0.5"})
        yield from plan.edits("Estimate: soft ranks, counted by a sigmoid of each difference")


def _ranks(source: ParsedSource) -> Iterator[tuple[cst.Call, cst.Call]]:
    """Calls that rank by what an ``argsort`` gave, along the last axis, each with that one."""
    for ranks in source.calls_to("argsort", "invert_permutation"):
        given = argument(ranks, 0, "values", "x")
        order = source.value_of(given) if given is not None else None
        if is_call_to(order, "argsort"):
            axes = (argument(call, 1, "axis") for call in (ranks, order))
            if all(axis is None or source.code(axis) == "-1" for axis in axes):
                yield ranks, order


def _edit(plan: Plan, what: str) -> Edit:
    title = f"Estimate: take the values themselves in place of the positions that {what} gives"
    return Edit(title, plan.text(), is_estimate=True)


def _renamed(source: ParsedSource, call: cst.Call, name: str) -> cst.BaseExpression:
    """The call with its input and axis alone: what else it is given says how positions are
    returned."""
    given = argument(call, 0, "input", "values")
    axis = argument(call, 1, "axis", "dimension")
    if given is None:
        return call
    along = f", axis={source.code(axis)}" if axis is not None else ""
    if not along and name.startswith("reduce"):
        along = ", axis=0"
    return cst.parse_expression(f"{source.tf}.{name}({source.code(given)}{along})")


def _of_top_k(source: ParsedSource, line: int) -> Iterator[Edit]:
    """``values, indices = tf.math.top_k(…)``: later reads of the second name read the first."""
    for call in source.calls(line, "top_k"):
        statement, targets = source.statement_of(call), elements(source.target_of(call))
        if statement is None or len(targets) != 2:
            continue
        values, indices = targets
        plan, new = Plan(source), source.code(values)
        if new == "_":
            new = plan.fresh_name("values")
            plan.replace(values, new)
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
            x, mask = source.code(compared[0].left), source.code(condition)
            plan = Plan(source, {call: f"{source.tf}.boolean_mask({x}, {mask})"})
            yield _edit(plan, "where")


def soft_accuracy(case: FixCase) -> Iterator[Edit]:
    """``tf.equal(tf.round(p), y)`` as a number → ``1.0 - tf.abs(p - y)``; the sum of these in place
    of ``tf.math.count_nonzero``.

    Also of a name bound to ``tf.round(p)`` or ``tf.cast(p > 0.5, …)``, of real numbers as they are,
    of ``==``, and of what asks whether they differ.
    """
    source, tf = case.source, case.source.tf
    for sides, asked, is_equal in _equalities(case):
        around = _as_number_by(source, asked)
        if around is None:
            continue
        given = [_unrounded(source, side) for side in sides]
        is_asked = case.cause.op in ("", "Equal", "NotEqual") and _are_no_positions(source, sides)
        if len(given) != 2 or not (any(given) or is_asked):
            continue
        p, y = (soft or _as_number(source, side) for soft, side in zip(given, sides, strict=True))
        plan = Plan(source)
        far = f"{tf}.abs({p} - {y})"
        near = f"1.0 - {far}" if is_equal else far
        if called_name(around) == "count_nonzero":
            near = f"{tf}.reduce_sum({near}{further_args(source, around)})"
        plan.replace(around, near)
        yield from plan.edits("Estimate: count how near it is in place of whether it is equal")


def _probability(case: FixCase, call: cst.Call) -> str:
    """The probability that was given to the right answer."""
    tf = case.source.tf
    y, p = (case.source.argument_code(call, *at) for at in ((0, "y_true"), (1, "y_pred")))
    if not y or not p:
        return ""
    if called_name(call) == "binary_accuracy":
        return f"{y} * {p} + (1.0 - {y}) * (1.0 - {p})"
    if called_name(call) == "categorical_accuracy":
        return f"{tf}.reduce_sum({y} * {p}, axis=-1)"
    rows = f"{tf}.cast({tf}.reshape({y}, [-1]), {tf}.int32)"
    return f"{tf}.gather({p}, {rows}, batch_dims=1)"


def _mean_probability(case: FixCase, call: cst.Call) -> str:
    """As :func:`_probability`, averaged, as Keras 2 did where Keras 3 gives each answer."""
    each = _probability(case, call)
    return f"{case.source.tf}.reduce_mean({each}, axis=-1)" if each else ""


_PROBABLE = "Estimate: the probability of the right answer, in place of whether it was given"
LIKELIHOODS = (
    CallRewrite(
        ("binary_accuracy", "categorical_accuracy", "sparse_categorical_accuracy"),
        _probability,
        _PROBABLE,
        is_estimate=True,
    ),
    CallRewrite(("binary_accuracy",), _mean_probability, _PROBABLE, is_estimate=True),
)


def _are_no_positions(source: ParsedSource, sides: Sequence[cst.BaseExpression]) -> bool:
    """Whether neither side is the place of the largest or smallest, as far as the text tells."""
    behind = (node for side in sides for node in source.behind(side) if isinstance(node, cst.Call))
    return all(called_name(call) not in ("argmax", "argmin") for call in behind)


def _as_number_by(source: ParsedSource, asked: cst.BaseExpression) -> cst.Call | None:
    """The ``tf.cast`` or the count around an answer, or around the name that it is bound to."""
    assign = source.parent(asked)
    if isinstance(assign, cst.Assign) and isinstance(assign.targets[0].target, cst.Name):
        name = assign.targets[0].target
        calls = (call for call in all_of(source.module, cst.Call) if _makes_numbers(source, call))
        return next((c for c in calls if c.args and name.deep_equals(c.args[0].value)), None)
    around = source.enclosing(asked, cst.Call)
    return around if around is not None and _makes_numbers(source, around) else None


def _makes_numbers(source: ParsedSource, call: cst.Call) -> bool:
    name = dotted(call.func)
    return name in [f"{source.tf}.{end}" for end in ("cast", "math.count_nonzero")]


def _equalities(
    case: FixCase,
) -> Iterator[tuple[Sequence[cst.BaseExpression], cst.BaseExpression, bool]]:
    """Both sides of ``tf.equal(a, b)`` and ``a == b``, the whole, and whether it asks for that or
    for the contrary."""
    asked = list(case.calls("equal", "not_equal"))
    calls = asked or [
        call
        for call in case.source.calls_to("equal", "not_equal")
        if any(is_at_cause(case, arg.value) for arg in call.args[:2])
    ]
    for forms, is_equal in ((EQUAL, True), (UNEQUAL, False)):
        for whole, sides in matches([*calls, *case.nodes(cst.Comparison)], *forms):
            yield sides, whole, is_equal


def _as_number(source: ParsedSource, side: cst.BaseExpression) -> str:
    is_cast = isinstance(side, cst.Call) and dotted(side.func) == f"{source.tf}.cast"
    if is_cast or isinstance(side, (cst.List, cst.Float)):
        return source.operand(side)
    return f"{source.tf}.cast({source.code(side)}, {source.tf}.float32)"


def _unrounded(source: ParsedSource, node: cst.BaseExpression) -> str:
    """The code of a number that was rounded, or a sigmoid of two that were compared; else empty.

    A parameter is what its function was given, whatever else has its name; what was drawn would be
    drawn anew.
    """
    if dotted(node) not in source.parameters(node):
        node = source.value_of(node)
    if any(".random." in dotted(call.func) for call in all_of(node, cst.Call)):
        return ""
    while is_call_to(node, "cast") and node.args:
        node = node.args[0].value
    if is_call_to(node, "round", "rint") and node.args:
        return source.operand(node.args[0].value)
    return soft_truth(source, node)
