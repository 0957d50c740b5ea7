"""A call that gave None in, the backward pass to ask the kernel for out.

The kernel runs TensorFlow's own gradient functions over the tensors it kept
(``recorder.answer("replay", …)``); the program says in which order, and where state links ops.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from ..trace.model import Call, Op, OpId, TensorId, Trace, VariableId
from ..trace.tapes import is_differentiable
from .dataflow import DataFlow, Ways, place_of
from .paths import Paths

MAX_OPS = 20_000
MAX_CALLS = 50


def calls_to_replay(trace: Trace) -> tuple[Call, ...]:
    """The eager calls that need a replay to be understood.

    Those with a source unconnected, whose gradient could be had across a cut; and jacobians that
    are zero or not finite, of which TensorFlow shows no step. One that the snippet repeats in a
    loop is replayed for its first times only.
    """
    wanted = (call for call in trace.calls if call.ended and call.replay is None)
    return tuple(call for call in wanted if _needs_replay(trace, call))[:MAX_CALLS]


def _needs_replay(trace: Trace, call: Call) -> bool:
    if call.method not in ("gradient", "jacobian", "batch_jacobian"):
        return False
    if any(is_unconnected(trace, call, index) for index in range(len(call.results))):
        return True
    return call.method != "gradient" and any(
        stats is not None and (stats.nonfinite > 0 or stats.norm == 0)
        for stats in (trace.stats(one) for one in call.results if one is not None)
    )


def is_unconnected(trace: Trace, call: Call, index: int) -> bool:
    """Whether no gradient function gave this source anything, so that it got None or zeros."""
    if call.results[index] is None:
        return True
    source = call.sources[index].tensor
    if call.method == "batch_jacobian":  # gives zeros in place of None
        return source is not None and not _is_followed(trace, call, source)
    if call.unconnected != "zero":
        return False
    return not any(
        tensor == source and gradient is not None
        for step in call.steps
        if step.op is not None and step.op in trace.ops
        for tensor, gradient in zip(trace.ops[step.op].inputs, step.downstream, strict=False)
    )


def _is_followed(trace: Trace, call: Call, source: TensorId) -> bool:
    """Whether the call's tape has an op that took this source."""
    return any(
        source in op.inputs and call.tape in op.tapes for op in trace.ops.values() if op.tapes
    )


def request(flow: DataFlow, call: Call) -> dict[str, Any]:
    """The arguments of the kernel's ``replay`` for this call."""
    trace = flow.trace
    targets = [one.tensor for one in call.targets if one.tensor is not None]
    paths = Paths(flow, call)
    starts = [
        place for one in call.sources if one.tensor for place in flow.places_of_source(one.tensor)
    ]
    found = paths.ancestry_from(starts)
    ancestry = found.into if len(found) <= MAX_OPS else found.ways_from(starts)
    given = [one.tensor or 0 for one in call.output_gradients]
    seeds = [[target, given[i] if i < len(given) else 0] for i, target in enumerate(targets)]
    return {
        "call": call.id,
        "seeds": seeds,
        "program": list(_program(trace, ancestry)),
        "wanted": [
            *(one.tensor for one in call.sources if one.tensor is not None),
            *(place for place in ancestry if isinstance(place, str)),
        ],
    }


def _program(trace: Trace, ancestry: Ways) -> Iterator[list[Any]]:
    """Instructions in backward order: an op comes before whatever it took its inputs from."""
    instructions: list[tuple[float, list[Any]]] = []
    done: set[OpId] = set()
    for place, ways in ancestry.items():
        for way in ways:
            if way.kind == "read" and isinstance(place, int):
                variable = trace.reads[place].variable
                when = _when(trace, way.op)
                instructions.append((when, ["move", place, way.start]))
                instructions.append((when, ["move", place, variable]))
            elif way.kind == "creation":
                when = _when(trace, way.op)
                instructions.append((when, ["move", way.end, way.start]))
            elif way.op is not None and way.op not in done:
                done.add(way.op)
                op = trace.ops[way.op]
                instructions.extend(_of_op(trace, op))
    instructions.sort(key=lambda pair: -pair[0])
    return (instruction for _, instruction in instructions)


def _of_op(trace: Trace, op: Op) -> Iterator[tuple[float, list[Any]]]:
    version = trace.writes.get(op.id)
    if version is None:
        if any(_carries_gradient(trace, tensor) for tensor in op.outputs):
            yield op.when, ["op", op.id]
            for tensor in op.inputs:
                touched = trace.touches.get((op.id, VariableId(tensor)))
                if touched is not None:
                    yield op.when - 0.5, ["move", tensor, place_of(touched)]
        return
    prior = 0 if not version.index else f"v{version.variable}:{version.index - 1}"
    yield op.when, ["assign", op.id, place_of(version), version.value or 0, prior]


def _carries_gradient(trace: Trace, tensor: TensorId) -> bool:
    known = trace.tensors.get(tensor)
    return known is None or is_differentiable(known.dtype)


def _when(trace: Trace, op: OpId | None) -> float:
    return float(trace.ops[op].when) if op is not None else 0.0
