"""Find the ops and constants that only compute shapes, axes and permutations."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from ..trace.ids import OpId, TensorId
from ..trace.model import Trace
from ..trace.op_kinds import ops_with
from ..trace.ops import Op

_INTEGERS = frozenset(("int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64"))
_SHAPES = ops_with("no-data")
"""Op types whose output does not depend on the values of their inputs."""

_FIRST, _SECOND, _LAST = (0,), (1,), (-1,)
_STRUCTURE: Mapping[str, tuple[int, ...]] = {
    # Positions of the inputs that are a shape, axis or order (TensorFlow's op definitions,
    # 2.15 to 2.21).
    **dict.fromkeys(ops_with("reduces"), _SECOND),
    **dict.fromkeys(("ArgMax", "ArgMin", "Cumsum", "Cumprod", "CumulativeLogsumexp"), _SECOND),
    **dict.fromkeys(("Reshape", "ExpandDims", "Tile", "BroadcastTo", "ReverseV2"), _SECOND),
    **dict.fromkeys(("Transpose", "ConjugateTranspose", "Pad", "MirrorPad", "TopKV2"), _SECOND),
    **dict.fromkeys(("SumGrad", "TopK", "OneHot", "EnsureShape"), _SECOND),
    **dict.fromkeys(("ResizeBilinear", "ResizeBicubic", "ResizeNearestNeighbor"), _SECOND),
    **dict.fromkeys(("PadV2", "Roll", "MatrixBandPart", "SplitV"), (1, 2)),
    **dict.fromkeys(("MatrixDiagV3", "MatrixDiagPartV3", "MatrixSetDiagV3"), (1, 2, 3)),
    **dict.fromkeys(("StridedSlice", "ResourceStridedSliceAssign"), (1, 2, 3)),
    **dict.fromkeys(("TensorStridedSliceUpdate", "StridedSliceAssign"), (1, 2, 3)),
    **dict.fromkeys(("Fill", "Split", "Zeros", "Empty", "RandomUniformInt"), _FIRST),
    **dict.fromkeys(("RandomStandardNormal", "RandomUniform", "TruncatedNormal"), _FIRST),
    **dict.fromkeys(("RandomGamma", "RandomShuffle", "Conv2DBackpropInput"), _FIRST),
    **dict.fromkeys(
        (
            "StatelessRandomNormalV2",
            "StatelessRandomUniformV2",
            "StatelessTruncatedNormalV2",
            "StatelessRandomNormal",
            "StatelessRandomUniform",
        ),
        (0, 1, 2, 3),
    ),
    **dict.fromkeys(("ConcatV2", "UnsortedSegmentSum", "ScatterNd", "GatherV2"), _LAST),
    **dict.fromkeys(("BiasAddGrad", "ConcatOffset", "InvertPermutation"), (0, 1)),
    **dict.fromkeys(("TensorListSetItem", "TensorListResize", "TensorListStack"), _SECOND),
    **dict.fromkeys(("TensorListFromTensor", "TensorListElementShape"), _SECOND),
    **dict.fromkeys(("TensorListGetItem", "TensorListGather", "TensorListConcatV2"), (1, 2)),
    "TensorListReserve": (0, 1),
    "Slice": (1, 2),
    "StridedSliceGrad": (0, 1, 2, 3),
    "Range": (0, 1, 2),
    "LinSpace": (2,),
    "Pack": (),
}


def structure_inputs(op: Op) -> frozenset[int]:
    """Positions of the inputs that are a shape, axis or order."""
    count = len(op.inputs)
    return frozenset(
        position % count for position in _STRUCTURE.get(op.type, ()) if position < count
    )


@dataclass(frozen=True, slots=True)
class Bookkeeping:
    """Ops and constants that a picture of gradients leaves out."""

    ops: frozenset[OpId] = frozenset()
    constants: frozenset[TensorId] = frozenset()


def find_bookkeeping(trace: Trace, shown: Iterable[Op], wanted: frozenset[TensorId]) -> Bookkeeping:
    """Find the ops among ``shown`` (in the order they ran) that only feed shapes and axes.

    An op is bookkeeping if its results are integers that depend on no data value, and are used only
    by other bookkeeping or as shape, axis or order. Ops with a result that the user named, or that
    is in ``wanted``, are not.
    """
    ops = list(shown)
    candidates = _free_of_data(trace, ops, wanted)
    needed: set[TensorId] = set()
    """Tensors that a visible op takes as a value."""
    hidden: set[OpId] = set()
    constants: set[TensorId] = set()
    for op in reversed(ops):
        if op.id in candidates and needed.isdisjoint(op.outputs):
            hidden.add(op.id)
            constants.update(op.inputs)
            continue
        structure = structure_inputs(op) if op.type in _STRUCTURE else ()
        if not structure:
            needed.update(op.inputs)
            continue
        for position, tensor in enumerate(op.inputs):
            if position in structure:
                constants.add(tensor)
            else:
                needed.add(tensor)
    return Bookkeeping(
        frozenset(hidden),
        frozenset(
            tensor
            for tensor in constants - needed
            if tensor not in wanted and not trace.names.get(tensor)
        ),
    )


def _free_of_data(trace: Trace, ops: list[Op], wanted: frozenset[TensorId]) -> set[OpId]:
    """Ops whose results are unnamed integers made from shapes and unnamed constants."""
    produced = trace.producers
    candidates: set[OpId] = set()
    for op in ops:
        if not op.outputs or not is_integer(trace, op.outputs[0]) or op.is_recorded_operation:
            continue
        if op.type not in _SHAPES and not all(
            produced[tensor] in candidates
            if tensor in produced and tensor not in trace.reads
            else tensor not in trace.names and not _is_data(trace, tensor)
            for tensor in op.inputs
        ):
            continue
        if all(
            is_integer(trace, tensor) and tensor not in wanted and not trace.names.get(tensor)
            for tensor in op.outputs
        ):
            candidates.add(op.id)
    return candidates


def _is_data(trace: Trace, tensor: TensorId) -> bool:
    """Whether the tensor was read from a variable that is no counter (a Keras seed, the step of an
    optimizer)."""
    version = trace.reads.get(tensor)
    variable = trace.variables.get(version.variable) if version is not None else None
    return variable is not None and (variable.trainable or variable.dtype not in _INTEGERS)


def is_integer(trace: Trace, tensor: TensorId) -> bool:
    """Whether a tensor has an integer dtype."""
    known = trace.tensors.get(tensor)
    return known is not None and known.dtype in _INTEGERS
