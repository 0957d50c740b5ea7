"""Write tensors into a tensor where they were written into the elements of an array."""

from __future__ import annotations

from collections.abc import Iterator

import libcst as cst

from ..model import Edit, FixCase
from ..plan import Plan
from ..source import ParsedSource, all_of, called_name, dotted, sole
from ..states.slices import axes_of, updated
from .numpy_words import LEAVING_FUNCTIONS, LEAVING_METHODS

_MAKING = ("zeros", "empty", "ones", "full", "zeros_like", "ones_like", "empty_like", "full_like")


def fill_tensor(case: FixCase) -> Iterator[Edit]:
    """``out[i, j] = t`` with ``out = np.zeros(…)`` → ``out = tf.tensor_scatter_nd_update(…)``."""
    source = case.source
    for line in case.lines():
        written = _written(sole(source.statement(line)))
        made = _made(source, written) if written is not None else None
        if written is None or made is None:
            continue
        plan, name = Plan(source), source.code(written.value)
        plan.replace(made, f"{source.tf}.cast({source.code(made)}, {source.tf}.float32)")
        for assign in all_of(source.function_of(made), cst.Assign):
            target = _written(assign)
            axes = axes_of(target, None) if target is not None else None
            if target is None or axes is None or source.code(target.value) != name:
                continue
            value = source.code(_without_exit(assign.value))
            plan.replace(assign.targets[0].target, name)
            plan.replace(assign.value, updated(source.tf, name, axes, value))
        yield Edit(f"Write into a tensor in place of the array {name}", plan.text())


def _written(small: cst.CSTNode | None) -> cst.Subscript | None:
    """``out[i, j]`` of ``out[i, j] = …``."""
    if not isinstance(small, cst.Assign) or len(small.targets) > 1:
        return None
    target = small.targets[0].target
    is_of_name = isinstance(target, cst.Subscript) and isinstance(target.value, cst.Name)
    return target if is_of_name else None  # type: ignore[return-value]


def _made(source: ParsedSource, written: cst.Subscript) -> cst.Call | None:
    """The call of NumPy that made the array which is written to, in the same function."""
    for assign in all_of(source.function_of(written), cst.Assign):
        targets = [source.code(target.target) for target in assign.targets]
        if targets == [source.code(written.value)] and isinstance(assign.value, cst.Call):
            module = dotted(assign.value.func).partition(".")[0]
            if module == source.np and called_name(assign.value) in _MAKING:
                return assign.value
    return None


def _without_exit(value: cst.BaseExpression) -> cst.BaseExpression:
    """``t`` of ``float(t)`` and of ``t.numpy()``."""
    if not isinstance(value, cst.Call):
        return value
    if dotted(value.func) in LEAVING_FUNCTIONS and len(value.args) == 1:
        return value.args[0].value
    if isinstance(value.func, cst.Attribute) and called_name(value) in LEAVING_METHODS:
        return value.func.value
    return value
