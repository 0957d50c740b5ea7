"""Elements picked by a rounded number in, their interpolation at the number itself out."""

from __future__ import annotations

import itertools
from collections.abc import Iterator

import libcst as cst

from ...trace.model import VariableId
from ..model import Edit, FixCase
from ..plan import Plan, enclosed, fitting
from ..source import all_of, argument, called_name
from .counts import uncast

_MOST_AXES = 3
_TITLE = "Estimate: interpolate between the element at the index and the next"


def interpolate(case: FixCase) -> Iterator[Edit]:
    """``tf.gather(p, i)`` with ``i = tf.cast(x, tf.int32)`` → the line between two elements at x.

    ``p[int(x)]`` likewise, and ``tf.gather_nd(p, i)`` along each of the axes that are picked from.
    """
    source = case.source
    plan = Plan(source)
    for call in all_of(source.module, cst.Call):
        params, indices = argument(call, 0, "params"), argument(call, 1, "indices")
        name = called_name(call)
        if name not in ("gather", "gather_nd") or params is None or indices is None:
            continue
        x = uncast(source, indices.value)
        if name == "gather_nd":
            text = _between_corners(case, params, indices, x)
            if x and text and _is_at_cause(case, indices):
                _put(plan, call, text)
            continue
        if x and argument(call, 2, "axis", "batch_dims") is None and _is_at_cause(case, indices):
            code, tf = source.code, source.tf
            p, i = code(enclosed(params.value)), code(enclosed(indices.value))
            here = f"{tf}.gather({p}, {i})"
            following = f"{tf}.gather({p}, {tf}.minimum({i} + 1, {tf}.shape({p})[0] - 1))"
            part = f"({x} - {tf}.cast({i}, {tf}.float32))" + _widened(case, p)
            _put(plan, call, f"{here} + {part} * ({following} - {here})")
    for node in all_of(source.module, cst.Subscript):
        part_of = node.slice[0].slice
        if len(node.slice) != 1 or not isinstance(part_of, cst.Index):
            continue
        x = uncast(source, part_of.value)
        if x and _is_at_cause(case, part_of):
            p, i = source.code(node.value), source.code(enclosed(part_of.value))
            following = f"{p}[min({i} + 1, len({p}) - 1)]"
            _put(plan, node, f"{p}[{i}] + ({x} - {i}) * ({following} - {p}[{i}])")
    if plan.changes:
        yield Edit(_TITLE, plan.text(), is_estimate=True)


def _between_corners(case: FixCase, params: cst.Arg, indices: cst.Arg, x: str) -> str:
    """Multilinear interpolation, where an index has a number for each axis of the params."""
    source, tf = case.source, case.source.tf
    p, i = (source.code(enclosed(given.value)) for given in (params, indices))
    rank = rank_of(case, p)
    if not 1 <= rank <= _MOST_AXES:
        return ""
    corners = ", ".join(f"[{', '.join(map(str, sides))}]" for sides in _sides(rank))
    part = f"{x} - {tf}.cast({i}, {tf}.float32)"
    weight = f"{tf}.reduce_prod({tf}.where(side, {part}, 1.0 - ({part})), -1)"
    last = f"{tf}.shape({p}) - 1"
    corner = f"{tf}.minimum({tf}.cast({i}, {tf}.int32) + {tf}.cast(side, {tf}.int32), {last})"
    return f"{tf}.add_n([{weight} * {tf}.gather_nd({p}, {corner}) for side in ({corners})])"


def _sides(rank: int) -> list[tuple[bool, ...]]:
    return list(itertools.product((False, True), repeat=rank))


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
    rank = rank_of(case, params) or 1
    return f"[..., {', '.join([f'{case.source.tf}.newaxis'] * (rank - 1))}]" if rank > 1 else ""


def rank_of(case: FixCase, params: str) -> int:
    """The rank of the tensor or variable of this name; 0 if it is not known."""
    trace = case.trace
    shapes = [
        known.shape
        for tensor, names in trace.names.items()
        if params in names
        and (known := trace.variables.get(VariableId(tensor)) or trace.tensors.get(tensor))
    ]
    return len(shapes[0] or ()) if shapes else 0
