"""Share each value that is written at a rounded index among the cells around it."""

from __future__ import annotations

from collections.abc import Iterator

import libcst as cst

from ..model import Edit, FixCase
from ..nodes import all_of, argument, called_name
from ..plan import Plan
from ..source import ParsedSource
from .counts import uncast
from .indices import MOST_AXES, is_at_cause, sides_of


def splat(case: FixCase) -> Iterator[Edit]:
    """``tf.scatter_nd(i, v, shape)`` with ``i`` cast from ``x`` → each value shared among the cells
    around ``x``, by how near they are (bilinear splatting)."""
    source, code, tf = case.source, case.source.code, case.source.tf
    plan = Plan(source)
    for written in all_of(source.module, cst.Call):
        call = _sparse(source, written) or written
        name = called_name(call)
        place = {"scatter_nd": 0, "tensor_scatter_nd_add": 1, "SparseTensor": 0}.get(name)
        indices = argument(call, place, "indices") if place is not None else None
        updates = argument(call, 1 if place == 0 else 2, "updates", "values")
        at = (2, "shape", "dense_shape") if place == 0 else (0, "tensor")
        whole = argument(call, *at)
        x = uncast(source, indices) if indices is not None else ""
        axes = 1 if indices and _is_column(source, indices) else _last_size(case)
        if not x or indices is None or updates is None or whole is None or not axes:
            continue
        if not is_at_cause(case, indices):
            continue
        shape = code(whole) if place == 0 else f"{tf}.shape({code(whole)})"
        sides = ", ".join(f"[{', '.join(map(str, map(int, side)))}]" for side in sides_of(axes))
        cell = f"{tf}.clip_by_value({tf}.cast({tf}.floor({x}), {tf}.int32) + side, 0, "
        cell += f"{tf}.constant({shape})[:{axes}] - 1)" if place == 0 else f"{shape}[:{axes}] - 1)"
        away = f"{x} - {tf}.floor({x}) - {tf}.cast(side, {tf}.float32)"
        part = f"{source.operand(updates)} * {tf}.reduce_prod(1.0 - {tf}.abs({away}), -1)"
        text = f"{tf}.add_n([{tf}.scatter_nd({cell}, {part}, {shape}) for side in ({sides})])"
        if place == 1:
            text = f"{source.operand(whole)} + {text}"
        if name != "SparseTensor" or call is not written:
            plan.replace(written, text)
    title = "Estimate: share each value among the cells around it (bilinear splatting)"
    yield from plan.edits(title)


def _sparse(source: ParsedSource, written: cst.Call) -> cst.Call | None:
    """The ``SparseTensor(…)`` that ``tf.sparse.to_dense`` writes out."""
    if called_name(written) != "to_dense":
        return None
    calls = (node for node in source.behind(written) if isinstance(node, cst.Call))
    return next((call for call in calls if called_name(call) == "SparseTensor"), None)


def _is_column(source: ParsedSource, indices: cst.BaseExpression) -> bool:
    """Whether this is ``i[:, None]``, which has one number in each row."""
    given = source.value_of(indices)
    last = given.slice[-1].slice if isinstance(given, cst.Subscript) else None
    return isinstance(last, cst.Index) and getattr(last.value, "value", "") == "None"


def _last_size(case: FixCase) -> int:
    """How many numbers each index has that is cast at the cut; 0 if not known or too many."""
    trace = case.trace
    op = trace.op(case.cause.op_id)
    known = trace.tensors.get(op.outputs[0]) if op is not None and op.outputs else None
    size = (known.shape or (0,))[-1] if known is not None else 0
    return size if size is not None and size <= MOST_AXES else 0
