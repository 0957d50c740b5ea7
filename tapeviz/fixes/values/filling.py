"""Write tensors into a tensor where they were written into the elements of an array."""

from __future__ import annotations

from collections.abc import Iterator

import libcst as cst

from ...trace.ids import VariableId
from ..model import Edit, ErrorCase, FixCase
from ..nodes import all_of, called_name, dotted, sole
from ..plan import Plan
from ..smooth.widths import window_of
from ..source import ParsedSource
from ..states.slices import after_write, written_part
from ..translation.numpy_words import without_exit

_MAKING = ("zeros", "empty", "ones", "full", "zeros_like", "ones_like", "empty_like", "full_like")


def fill_tensor(case: FixCase) -> Iterator[Edit]:
    """``out[i, j] = t`` with ``out = np.zeros(…)`` → ``out = tf.tensor_scatter_nd_update(…)``."""
    source = case.source
    for line in case.lines():
        written = written_part(sole(source.statement(line)))
        made = _made(source, written) if written is not None else None
        if written is None or made is None:
            continue
        plan, name = Plan(source), source.code(written.value)
        plan.replace(made, f"{source.tf}.cast({source.code(made)}, {source.tf}.float32)")
        _bind_updated(plan, name)
        yield from plan.edits(f"Write into a tensor in place of the array {name}")


def bind_new_tensor(case: ErrorCase) -> Iterator[Edit]:
    """``x[i] = e`` of a tensor, which cannot be changed → a new tensor under the same name; of a
    ``tf.Variable`` the slice assign that does the same."""
    source, trace, failure = case.source, case.trace, case.failure
    written = written_part(sole(source.statement(failure.line)))
    if written is None:
        return
    plan, name = Plan(source), source.code(written.value)
    bound = [each.tensors for each in trace.bindings if each.name == name]
    held = [VariableId(tensor) for tensor, text in (bound[-1] if bound else ()) if text == name]
    if "Variable" in failure.message or any(each in trace.variables for each in held):
        for write in _assigning(source):
            target = written_part(write)
            if target is not None and source.code(target.value) == name:
                text = f"{source.code(target)}.assign({source.code(_written_value(source, write))})"
                new = after_write(source, write, write.value)
                if new.startswith(f"{source.tf}.where("):  # a mask, which assign does not take
                    text = f"{name}.assign({new})"
                call = cst.Expr(cst.parse_expression(text))
                plan.replace(write, lambda old, new=call: new.with_changes(semicolon=old.semicolon))  # type: ignore[misc]
        yield from plan.edits(f"Write into {name} by assign")
        return
    _bind_updated(plan, name)
    yield from plan.edits(f"Make a new tensor {name} with the new elements")


def _assigning(source: ParsedSource) -> list[cst.Assign | cst.AugAssign]:
    return [*all_of(source.module, cst.Assign), *all_of(source.module, cst.AugAssign)]


def _bind_updated(plan: Plan, name: str) -> None:
    """Let each write into elements of ``name`` bind it to a tensor that has the new elements."""
    source = plan.source
    for small in _assigning(source):
        target = written_part(small)
        new = after_write(source, small, without_exit(small.value))
        if target is None or source.code(target.value) != name or not new:
            continue
        bound = cst.Assign([cst.AssignTarget(cst.Name(name))], cst.parse_expression(new))
        plan.replace(small, lambda old, new=bound: new.with_changes(semicolon=old.semicolon))  # type: ignore[misc]


def blend_window(case: FixCase) -> Iterator[Edit]:
    """``mask[int(a):int(b)] = v`` of an array → a tensor blended with ``v`` by weights that go over
    from 0 to 1 at ``a`` and back at ``b``, as along each axis."""
    source, tf = case.source, case.source.tf
    for line in case.lines():
        small = sole(source.statement(line))
        written = written_part(small)
        made = _made(source, written) if written is not None else None
        if written is None or made is None or not isinstance(small, cst.Assign):
            continue
        name = source.code(written.value)
        weights, count = window_of(case, name, written.slice)
        statement = source.statement(line)
        if not count or statement is None:
            continue
        plan = Plan(source)
        window = plan.fresh_name("window")
        plan.replace(made, f"{tf}.cast({source.code(made)}, {tf}.float32)")
        plan.before(statement, f"{window} = {weights}")
        plan.replace(small.targets[0].target, name)
        value = source.operand(without_exit(small.value))
        plan.replace(small.value, f"{name} * (1.0 - {window}) + {value} * {window}")
        title = f"Estimate: write into {name} by weights that go over from 0 to 1 at the edge"
        yield from plan.edits(title)


def _written_value(source: ParsedSource, small: cst.CSTNode | None) -> cst.BaseExpression:
    """The new element: ``e`` of ``out[i] = e``, ``out[i] + e`` of ``out[i] += e``."""
    if isinstance(small, cst.AugAssign):
        sign = source.code(small.operator).strip().removesuffix("=")
        value = source.operand(without_exit(small.value))
        return cst.parse_expression(f"{source.code(small.target)} {sign} {value}")
    assert isinstance(small, cst.Assign)
    return without_exit(small.value)


def _made(source: ParsedSource, written: cst.Subscript) -> cst.Call | None:
    """The call of NumPy that made the array which is written to, in the same function."""
    for assign in all_of(source.function_of(written), cst.Assign):
        targets = [source.code(target.target) for target in assign.targets]
        if targets == [source.code(written.value)] and isinstance(assign.value, cst.Call):
            module = dotted(assign.value.func).partition(".")[0]
            if module == source.np and called_name(assign.value) in _MAKING:
                return assign.value
    return None
