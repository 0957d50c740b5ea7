"""Put a computed tensor in the place of the variable that was made from it."""

from __future__ import annotations

from collections.abc import Iterator

import libcst as cst

from ..blocks import block_of_call, watch_inside
from ..model import Edit, FixCase
from ..plan import Plan
from ..source import ParsedSource, argument

_COMPUTED = (cst.BinaryOperation, cst.UnaryOperation, cst.Call, cst.Subscript, cst.Attribute)


def keep_tensor(case: FixCase) -> Iterator[Edit]:
    """``tf.Variable(e)`` → ``e``, converted where ``e`` may be a list or a number.

    Then also with tapes that watch what they are asked for, as the inner ones of a loop of updates.
    """
    source = case.source
    plan = Plan(source)
    for line in case.lines("new-variable"):
        for call in source.calls(line, "Variable"):
            initial = argument(call, 0, "initial_value", "initializer", "value")
            if initial is not None:
                plan.replace(call, _tensor(source, call, initial.value))
    title = "Keep the computed value a tensor, without tf.Variable"
    if plan.changes:
        yield Edit(title, plan.text())
        block = block_of_call(source, case.trace, case.call)
        watch_inside(plan, [source.module], block, source.code)
        yield Edit(title, plan.text())


def _tensor(source: ParsedSource, call: cst.Call, value: cst.BaseExpression) -> cst.BaseExpression:
    if isinstance(value, cst.Lambda):
        value = value.body
    dtype = argument(call, 99, "dtype")
    if dtype is not None:
        text = f"{source.tf}.cast({source.code(value)}, {source.code(dtype.value)})"
        return cst.parse_expression(text)
    if isinstance(value, (*_COMPUTED, cst.Name)) and not isinstance(value, cst.Name):
        is_alone = isinstance(source.parent(call), (cst.Assign, cst.AnnAssign, cst.Arg, cst.Return))
        text = source.code(value)
        return cst.parse_expression(text if is_alone else f"({text})")
    return cst.parse_expression(f"{source.tf}.convert_to_tensor({source.code(value)})")
