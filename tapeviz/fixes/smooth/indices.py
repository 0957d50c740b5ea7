"""Elements picked by a rounded number in, their interpolation at the number itself out."""

from __future__ import annotations

from collections.abc import Iterator

import libcst as cst

from ..model import Edit, FixCase
from ..plan import Plan, enclosed, fitting
from ..source import all_of, argument, called_name
from .counts import uncast

_TITLE = "Estimate: interpolate between the element at the index and the next"


def interpolate(case: FixCase) -> Iterator[Edit]:
    """``tf.gather(p, i)`` with ``i = tf.cast(x, tf.int32)`` → the line between two elements at x.

    ``p[int(x)]`` likewise.
    """
    source = case.source
    plan = Plan(source)
    count = 0
    for call in all_of(source.module, cst.Call):
        params, indices = argument(call, 0, "params"), argument(call, 1, "indices")
        if called_name(call) != "gather" or params is None or indices is None:
            continue
        x = uncast(source, indices.value)
        if x and argument(call, 2, "axis", "batch_dims") is None and _is_at_cause(case, indices):
            code, tf = source.code, source.tf
            p, i = code(enclosed(params.value)), code(enclosed(indices.value))
            here = f"{tf}.gather({p}, {i})"
            following = f"{tf}.gather({p}, {tf}.minimum({i} + 1, {tf}.shape({p})[0] - 1))"
            part = f"({x} - {tf}.cast({i}, {tf}.float32))" + _widened(case, p)
            _put(plan, call, f"{here} + {part} * ({following} - {here})")
            count += 1
    for node in all_of(source.module, cst.Subscript):
        part_of = node.slice[0].slice
        if len(node.slice) != 1 or not isinstance(part_of, cst.Index):
            continue
        x = uncast(source, part_of.value)
        if x and _is_at_cause(case, part_of):
            p, i = source.code(node.value), source.code(enclosed(part_of.value))
            following = f"{p}[min({i} + 1, len({p}) - 1)]"
            _put(plan, node, f"{p}[{i}] + ({x} - {i}) * ({following} - {p}[{i}])")
            count += 1
    if count:
        yield Edit(_TITLE, plan.text(), is_estimate=True)


def _put(plan: Plan, place: cst.BaseExpression, text: str) -> None:
    plan.replace(place, fitting(plan.source, place, cst.parse_expression(text)))


def _is_at_cause(case: FixCase, indices: cst.CSTNode) -> bool:
    """Whether the index is cast on a line of the cause, or is a name that was bound there."""
    source, lines = case.source, case.lines()
    if any(source.covers(indices, line) for line in lines):
        return True
    value = indices.value if isinstance(indices, (cst.Arg, cst.Index)) else None
    bound = source.bound_to(value.value) if isinstance(value, cst.Name) else None
    return bound is not None and any(source.covers(bound, line) for line in lines)


def _widened(case: FixCase, params: str) -> str:
    """A new axis for each of the params' rows, where they are more than single numbers."""
    trace = case.trace
    shapes = [
        known.shape
        for tensor, names in trace.names.items()
        if params in names and (known := trace.tensors.get(tensor)) is not None
    ]
    shapes += [
        variable.shape for variable in trace.variables.values() if variable.name == f"{params}:0"
    ]
    rank = len(shapes[0] or ()) if shapes else 1
    return f"[..., {', '.join([f'{case.source.tf}.newaxis'] * (rank - 1))}]" if rank > 1 else ""
