"""A tensor of whole numbers in, the op that picks elements of another tensor by them out."""

from __future__ import annotations

from ...trace.model import Op, TensorId, Trace, VariableId
from ...trace.tapes import is_differentiable

_INDICES = {"GatherV2": 1, "ResourceGather": 1, "GatherNd": 1, "ResourceGatherNd": 1, "OneHot": 0}
"""For each op type that picks elements the place of its indices among its inputs (2.15-2.21)."""


def picked_by(trace: Trace, tensor: TensorId) -> Op | None:
    """The first op that picks by the numbers, or by what other whole numbers are made of them."""
    known = trace.tensors.get(tensor)
    variable = trace.variables.get(VariableId(tensor))
    dtype = variable.dtype if variable is not None else known.dtype if known is not None else ""
    if is_differentiable(dtype):
        return None
    reached = {tensor}
    for op in trace.ops.values():
        if not reached.intersection(op.inputs):
            continue
        place = _INDICES.get(op.type)
        if place is not None and op.inputs[place] in reached:
            return op
        reached.update(
            output
            for output in op.outputs
            if (made := trace.tensors.get(output)) and not is_differentiable(made.dtype)
        )
    return None
