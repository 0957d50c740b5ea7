"""Find the op that picks elements of another tensor by a tensor of whole numbers."""

from __future__ import annotations

from ...trace.model import Op, TensorId, VariableId
from ...trace.tapes import is_differentiable
from .dataflow import DataFlow

_INDICES = {
    "GatherV2": (1,),
    "ResourceGather": (1,),
    "GatherNd": (1,),
    "ResourceGatherNd": (1,),
    "OneHot": (0,),
    "StridedSlice": (1, 2),
    "Slice": (1, 2),
}
"""The places of the indices among the inputs of each op type that picks elements (2.15-2.21)."""
_MOST = 1_000


def picked_by(flow: DataFlow, tensor: TensorId) -> Op | None:
    """The op that picks by the numbers, or by other whole numbers made of them; the nearest."""
    variable = flow.trace.variables.get(VariableId(tensor))
    known = variable or flow.trace.tensors.get(tensor)
    if known is None or is_differentiable(known.dtype):
        return None
    reached = [tensor]
    for position in reached:
        for op in flow.takers.get(position, ()):
            places = _INDICES.get(op.type, ())
            if position in [op.inputs[place] for place in places if place < len(op.inputs)]:
                return op
            made = ((output, flow.trace.tensors.get(output)) for output in op.outputs)
            whole = [out for out, each in made if each and not is_differentiable(each.dtype)]
            reached += [each for each in whole if each not in reached and len(reached) < _MOST]
    return None
