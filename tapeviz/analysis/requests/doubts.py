"""The custom gradients of a trace that are to be compared with finite differences."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from ...trace.calls import Call, Step
from ...trace.ids import TensorId
from ...trace.model import Trace
from ...trace.op_kinds import ops_with
from ...trace.ops import Op
from .program import is_custom

_COPIES = ops_with("copy")


def doubts(trace: Trace) -> Iterator[dict[str, Any]]:
    """The arguments of the kernel's ``check``, for each custom gradient at its first use.

    Left alone: what gives its input back as it is, for its gradient is meant to be another.
    """
    seen: set[tuple[str, int]] = set()
    for call, step, op in _first_uses(trace):
        key = (op.function, op.function_line)
        if key in seen:
            continue
        seen.add(key)
        yield from _requests(trace, call, step, op)


def _first_uses(trace: Trace) -> Iterator[tuple[Call, Step, Op]]:
    for call in trace.calls:
        if call.method != "gradient" or not call.ended:
            continue
        for step in call.steps:
            op = trace.op(step.op)
            if op is not None and _is_own(trace, op) and not _gives_back(trace, op):
                yield call, step, op


def _is_own(trace: Trace, op: Op) -> bool:
    """Whether it is a ``custom_gradient`` function of the snippet whose body ran op by op."""
    return bool(op.function_line) and is_custom(trace, op)


def _gives_back(trace: Trace, op: Op) -> bool:
    """Whether an output is an unchanged input."""
    given = {_moved(trace, tensor) for tensor in op.inputs}
    body = [trace.ops[inner] for inner in op.body]
    copied = {op.outputs[0]: op.inputs[0] for op in body if op.type in _COPIES}
    for tensor in op.outputs:
        while tensor in copied:
            tensor = copied[tensor]
        if _moved(trace, tensor) in given:
            return True
    return False


def _requests(trace: Trace, call: Call, step: Step, op: Op) -> Iterator[dict[str, Any]]:
    pairs = zip(op.outputs, step.upstream, strict=False)
    seeds = [[output, given] for output, given in pairs if given is not None]
    sources = [_moved(trace, tensor) for tensor in op.inputs]
    for source, gradient in zip(sources, step.downstream, strict=False):
        stats = trace.stats(gradient)
        if stats is None or stats.nonfinite or sources.count(source) > 1:
            continue
        yield {
            "call": call.id,
            "source": source,
            "op": op.id,
            "gradient": gradient,
            "seeds": seeds,
            "since": min(op.body),
            "until": max(op.body),
        }


def _moved(trace: Trace, tensor: TensorId) -> int:
    """The tensor to move: an argument; for a variable its handle.

    The body reads a variable by itself; the read among the inputs of the entry is made after it.
    """
    version = trace.reads.get(tensor)
    return tensor if version is None else version.variable
