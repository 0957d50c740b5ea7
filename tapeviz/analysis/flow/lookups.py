"""Find the op that picks elements, or computes, by a tensor of whole numbers."""

from __future__ import annotations

from collections.abc import Iterator

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
    for position, op in _takers(flow, tensor):
        places = _INDICES.get(op.type, ())
        if position in [op.inputs[place] for place in places if place < len(op.inputs)]:
            return op
    return None


def computed_by(flow: DataFlow, tensor: TensorId) -> Op | None:
    """The nearest op that makes real numbers by the whole ones, other than by a cast: it takes them
    as a size, a shift, a width or the number of a segment."""
    for _, op in _takers(flow, tensor):
        made = (flow.trace.tensors.get(output) for output in op.outputs)
        if op.type != "Cast" and any(each and is_differentiable(each.dtype) for each in made):
            return op
    return None


def _takers(flow: DataFlow, tensor: TensorId) -> Iterator[tuple[TensorId, Op]]:
    """The ops that take the whole numbers, or others made of them, each with what it takes."""
    variable = flow.trace.variables.get(VariableId(tensor))
    known = variable or flow.trace.tensors.get(tensor)
    if known is None or is_differentiable(known.dtype):
        return
    reached = [tensor]
    for position in reached:
        for op in flow.takers.get(position, ()):
            yield position, op
            made = ((output, flow.trace.tensors.get(output)) for output in op.outputs)
            whole = [out for out, each in made if each and not is_differentiable(each.dtype)]
            reached += [each for each in whole if each not in reached and len(reached) < _MOST]
