"""Return the tensor from a function that does nothing but write a variable."""

from __future__ import annotations

from collections.abc import Iterator

import libcst as cst

from ..blocks import Block, block_of_call
from ..model import Edit, FixCase
from ..nodes import all_of, argument, called_name, dotted, sole
from ..plan import Plan
from ..regions import region_after
from ..renaming import rename_reads
from .assigns import SLICE_OP, bind_new_state, new_name, stem
from .writes import Write, new_value, writes_on


def return_tensor(case: FixCase) -> Iterator[Edit]:
    """A function that does nothing but write a variable returns the tensor, and its caller uses
    that."""
    source, trace = case.source, case.trace
    block = block_of_call(source, trace, case.call)
    op = trace.op(case.cause.op_id)
    frames = op.site.frames[1:2] if op is not None else ()
    for write in writes_on(source, case.cause.line, case.cause.op == SLICE_OP):
        for frame in frames:
            edit = _returned(case, write, frame.line, block)
            if edit is not None:
                yield edit


def _returned(case: FixCase, write: Write, line: int, block: Block | None) -> Edit | None:
    source, receiver = case.source, write.receiver
    caller = source.statement(line)
    small = sole(caller)
    if caller is None or not isinstance(small, cst.Expr) or not isinstance(small.value, cst.Call):
        return None
    plan = Plan(source)
    above, name = source.parent(write.call), source.code(receiver)
    function = source.enclosing(write.call, cst.FunctionDef)
    params: cst.Parameters
    if isinstance(above, cst.Lambda):
        params, given_to = above.params, source.target_of(above)
        called = dotted(given_to) if given_to is not None else ""
        value = new_value(source, write, name, case.trace)
        if value is None:
            return None
        plan.replace(write.call, value)
    elif function is not None and not all_of(function.body, cst.Return):
        called, params = function.name.value, function.params
        new = plan.fresh_name(new_name(stem(receiver)))
        is_last = source.beside(write.statement, function.body.body[-1]) is not None  # type: ignore[arg-type]
        if not is_last or not bind_new_state(case, plan, write, name, new):
            return None
        plan.after(write.statement, f"{name}.assign({new})")
        plan.last(function, f"return {new}")
    else:
        return None
    if called_name(small.value) != called:
        return None
    receiver = _given_for(params, small.value, receiver)
    bound = plan.fresh_name(new_name(stem(receiver)))
    target = cst.AssignTarget(cst.Name(bound))

    def bind(updated: cst.Expr) -> cst.CSTNode:
        return cst.Assign([target], updated.value)

    plan.replace(small, bind)
    if isinstance(above, cst.Lambda):
        plan.after(caller, f"{source.code(receiver)}.assign({bound})")
    region = region_after(source, caller, block)
    if not rename_reads(plan, receiver, bound, region.statements):
        return None
    return Edit(f"Return the tensor from {called}, and compute with it", plan.text())


def _given_for(
    params: cst.Parameters, call: cst.Call, receiver: cst.BaseExpression
) -> cst.BaseExpression:
    """The argument that the caller gives for a parameter; the receiver itself if it is none."""
    names = [parameter.name.value for parameter in params.params]
    if isinstance(call.func, cst.Attribute) and names[:1] == ["self"]:
        names = names[1:]
    if not isinstance(receiver, cst.Name) or receiver.value not in names:
        return receiver
    given = argument(call, names.index(receiver.value), receiver.value)
    return given if given is not None else receiver
