"""Let rows count for several groups, by how near the number of each group is to theirs."""

from __future__ import annotations

import libcst as cst

from ..model import FixCase
from ..nodes import argument, called_name, is_call_to
from ..rewrites import CallRewrite
from ..source import ParsedSource
from .comparisons import soft_truth
from .counts import count_unique, triangle, uncast


def _segments(case: FixCase, call: cst.Call) -> str:
    """Each row counts for the segments around the float that its number was rounded from, for both
    sides of the comparison that it was cast from, or by the softmax of the scores whose largest
    has that place."""
    source, tf = case.source, case.source.tf
    rows, given = argument(call, 0, "data"), argument(call, 1, "segment_ids")
    number = argument(call, 2, "num_segments")
    if rows is None or given is None or number is None:
        return ""
    count, floats = source.code(number), uncast(source, given)
    made = _before_casts(source, given)
    side = "" if floats else soft_truth(source, made)
    if floats:
        far = f"{tf}.expand_dims({floats}, -1) - {tf}.range({count}, dtype={tf}.float32)"
        weights = triangle(source, far)
    elif side and count == "2":
        weights = f"{tf}.stack([1.0 - {side}, {side}], -1)"
    elif is_call_to(made, "argmax", "argmin"):
        scores, axis = argument(made, 0, "input"), argument(made, 1, "axis")
        if scores is None or axis is None or source.code(axis) not in ("1", "-1"):
            return ""
        sign = "-" if called_name(made) == "argmin" else ""
        weights = f"{tf}.nn.softmax({sign}{source.operand(scores)}, axis=-1)"
    else:
        return ""
    added = f"{tf}.tensordot({weights}, {source.code(rows)}, [[0], [0]])"
    if called_name(call) == "unsorted_segment_sum":
        return added
    return f"{tf}.transpose({tf}.transpose({added}) / {tf}.reduce_sum({weights}, 0))"


def _parts(case: FixCase, call: cst.Call) -> str:
    """Each part is all rows, weighed by how near the float that the number of the part was rounded
    from is to it, or by both sides of the comparison that it was cast from."""
    source, tf = case.source, case.source.tf
    rows, given = argument(call, 0, "data"), argument(call, 1, "partitions")
    number = argument(call, 2, "num_partitions")
    if rows is None or given is None or number is None:
        return ""
    floats = uncast(source, given)
    side = "" if floats else soft_truth(source, _before_casts(source, given))
    near = triangle(source, f"({floats}) - {tf}.cast(part, {tf}.float32)") if floats else ""
    weight = near or (side and f"(part * {side} + (1.0 - part) * (1.0 - {side}))")
    if not weight:
        return ""
    weighed = f"{tf}.einsum('n...,n->n...', {source.code(rows)}, {weight})"
    return f"[{weighed} for part in range({source.code(number)})]"


_SOFT_PARTS = CallRewrite(
    ("dynamic_partition",),
    _parts,
    "Estimate: each part has all rows, weighed by how near their numbers are to it",
)


def _before_casts(source: ParsedSource, node: cst.BaseExpression) -> cst.BaseExpression:
    for _ in range(8):
        node = source.value_of(node)
        if is_call_to(node, "cast") and node.args:
            node = node.args[0].value
    return node


_SOFT_SEGMENTS = CallRewrite(
    ("unsorted_segment_sum", "unsorted_segment_mean"),
    _segments,
    "Estimate: rows that count for the segments near them",
)
SOFT_GROUPS = (_SOFT_SEGMENTS, _SOFT_PARTS, count_unique)
