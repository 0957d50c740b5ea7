"""Compute the elements of a ``tf.range`` by operations that have a slope."""

from __future__ import annotations

from collections.abc import Iterator

import libcst as cst

from ..model import Edit, FixCase
from ..nodes import argument, called_name, dotted
from ..plan import Plan, fitting


def count_up(case: FixCase) -> Iterator[Edit]:
    """``tf.range(a, b, d)`` → ``a + d * i`` with ``i`` = 0, 1, … of as many elements; then times
    ``(b - a) / tf.stop_gradient(b - a)``, as the elements of ``tf.linspace`` move with its end.

    TensorFlow has no gradient of ``Range`` by any input (``ops.NotDifferentiable("Range")`` in
    math_grad.py, 2.15-2.21). By the first element and by the step there is one as long as their
    number stays.
    """
    code, tf = case.source.code, case.source.tf
    exact, stretched = Plan(case.source), Plan(case.source)
    has_slope = False
    for call, start, end, step in _ranges(case):
        turns = f"{tf}.cast({tf}.range({tf}.size({code(call)})), {tf}.float32)"
        first = f"{case.source.operand(start)} + " if start is not None else ""
        scaled = f"{case.source.operand(step)} * {turns}" if step is not None else turns
        length = case.source.operand(end)
        if start is not None:
            length = f"({code(end)} - {case.source.operand(start)})"
        _put(exact, call, f"{first}{scaled}")
        _put(stretched, call, f"{first}{scaled} * ({length} / {tf}.stop_gradient({length}))")
        has_slope |= start is not None or step is not None
    if has_slope:
        yield from exact.edits("Compute the elements from the first one and the step")
    title = "Estimate: let the elements move with the end of the range, their number stays"
    yield from stretched.edits(title)


def _put(plan: Plan, call: cst.Call, text: str) -> None:
    plan.replace(call, fitting(plan.source, call, cst.parse_expression(text)))


_Range = tuple[cst.Call, cst.BaseExpression | None, cst.BaseExpression, cst.BaseExpression | None]
"""A call with start, end and step; None where it has none."""


def _ranges(case: FixCase) -> Iterator[_Range]:
    """The calls of ``tf.range`` on the lines of the cause."""
    for call in case.calls("range"):
        if dotted(call.func) != f"{case.source.tf}.{called_name(call)}":
            continue
        names = enumerate(("start", "limit", "delta"))
        start, end, step = (argument(call, place, name) for place, name in names)
        if end is None:
            start, end = None, start
        if end is not None:
            yield call, start, end, step
