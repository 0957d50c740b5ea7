"""A gradient that arrived as zeros or not finite in, the op that made it so out.

From the source the steps that fed it are followed upstream, as long as what they received was
spoiled already; the op that received a sound gradient and gave a spoiled one is the cause.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

from ..trace.model import Op, Operand, Stats, Step, TensorId
from .barriers import Evidence
from .model import Cause, Kind

_CLIPPING = frozenset(
    {"Relu", "Relu6", "Elu", "Selu", "LeakyRelu", "Softplus", "ClipByValue", "Maximum", "Minimum"}
    | {"Max", "Min", "Sigmoid", "Tanh", "Softmax", "LogSoftmax", "Erf", "MaxPool", "SegmentMax"}
    | {"SigmoidGrad", "TanhGrad"}
)
_NORMALISING = frozenset({"Softmax", "LogSoftmax"})
_FLAT = frozenset(
    {"Sign", "Round", "Rint", "Floor", "Ceil", "ReluGrad", "Relu6Grad", "LeakyReluGrad", "SelectV2"}
)
_PRODUCTS = frozenset(
    {"Mul", "MatMul", "BatchMatMulV2", "RealDiv", "DivNoNan", "MulNoNan", "Einsum"}
)


def explain_zero(evidence: Evidence, source: Operand) -> Cause | None:
    """The op whose gradient first became zero everywhere, on the way to this source."""
    found = _spoiling(evidence, source, _is_zero)
    if found is None:
        return None
    step, op = found
    if step is None:
        return evidence.cause("cancelled", op.line, None)
    return _caused_by(evidence, _kind_of_zero(evidence, op), op)


def explain_nonfinite(evidence: Evidence, source: Operand) -> Cause | None:
    """The first op of the backward pass that turned finite into NaN or Inf."""
    found = _spoiling(evidence, source, _is_nonfinite)
    return _caused_by(evidence, "nonfinite", found[1]) if found else None


def _caused_by(evidence: Evidence, kind: Kind, op: Op) -> Cause:
    return Cause(kind, op.line, evidence.text.code(op.line), op.type, op.id)


def _kind_of_zero(evidence: Evidence, op: Op) -> Kind:
    if op.type in _FLAT:
        return "flat-op"
    if op.type in _PRODUCTS and any(_is_zero(_stats(evidence, one)) for one in op.inputs):
        return "multiplied-by-zero"
    if op.type in _NORMALISING and _is_even(evidence, op):
        return "cancelled"
    if op.type in _CLIPPING:
        return "saturated"
    return "cancelled"


def _is_even(evidence: Evidence, op: Op) -> bool:
    """Whether the upstream gradient is the same along the last axis, where a softmax sums to 1."""
    step = evidence.returned.get(op.id)
    upstream = step.upstream[0] if step and step.upstream else None
    value = evidence.trace.value(upstream) if upstream is not None else None
    return value is not None and value.ndim > 0 and bool((value == value[..., :1]).all())


def _spoiling(
    evidence: Evidence, source: Operand, is_spoiled: Callable[[Stats | None], bool]
) -> tuple[Step | None, Op] | None:
    """The step that spoiled it (None: sound shares that add up to a spoiled sum) and its op."""
    feeding = _feeding(evidence)
    waiting = _read_tensors(evidence, source)
    seen: set[TensorId] = set()
    candidates: list[tuple[Step, Op]] = []
    sound: list[Op] = []
    while waiting:
        tensor = waiting.pop()
        if tensor in seen:
            continue
        seen.add(tensor)
        for step, op, gradient in feeding.get(tensor, ()):
            if not is_spoiled(_stats(evidence, gradient)):
                sound.append(op)
                continue
            received = [one for one in step.upstream if one is not None]
            if any(is_spoiled(_stats(evidence, one)) for one in received):
                waiting.extend(op.outputs)
            else:
                candidates.append((step, op))
    if candidates:
        return min(candidates, key=lambda pair: pair[0].index)
    return (None, sound[0]) if sound else None


def _feeding(evidence: Evidence) -> Mapping[TensorId, list[tuple[Step, Op, TensorId]]]:
    """For each tensor the steps that gave it a gradient."""
    feeding: dict[TensorId, list[tuple[Step, Op, TensorId]]] = {}
    for step in evidence.call.steps:
        op = evidence.trace.ops.get(step.op) if step.op is not None else None
        for tensor, gradient in zip(op.inputs if op else (), step.downstream, strict=False):
            if op is not None and gradient is not None:
                feeding.setdefault(tensor, []).append((step, op, gradient))
    return feeding


def _read_tensors(evidence: Evidence, source: Operand) -> list[TensorId]:
    """The source itself; of a variable every tensor that was read from it."""
    if source.tensor is None:
        return []
    trace = evidence.trace
    read = [
        tensor for tensor, one in trace.reads.items() if TensorId(one.variable) == source.tensor
    ]
    return [source.tensor, *read]


def _stats(evidence: Evidence, tensor: TensorId) -> Stats | None:
    return evidence.trace.stats(tensor)


def _is_zero(stats: Stats | None) -> bool:
    return stats is not None and stats.nonfinite == 0 and stats.min == 0 and stats.max == 0


def _is_nonfinite(stats: Stats | None) -> bool:
    return stats is not None and stats.nonfinite > 0
