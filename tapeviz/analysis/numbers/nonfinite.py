"""The step that turned finite numbers into NaN or infinity in, the value that did it out."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping

import numpy as np

from ...trace.model import Array, Op, Step, TensorId, VariableId
from ..call_facts import CallFacts, name_of

_ZERO = "0.0"
_NARROW = {"float16": "65504", "bfloat16": "3.4e38"}


def what_did_it(facts: CallFacts, step: Step, op: Op) -> Mapping[str, str]:
    """``how``: the op got such numbers (``input``), gave them (``output``), has no slope there
    (``point``; ``masked``: what arrived was 0), or its gradient is too large (``overflow``)."""
    bad = next((tensor for tensor in op.inputs if _is_bad(facts, tensor)), None)
    if bad is not None:
        return {"how": "input", "origin": _origin(facts, bad)}
    holder = _bad_variable(facts, op)
    if holder:
        return {"how": "input", "origin": f"{holder} holds it"}
    place = _where(facts, step, op)
    value = value_at(op.inputs, place, facts.trace.value)
    told = {"value": value} if value else {}
    is_masked = _is_masked(facts, step, place)
    if is_masked and value == _ZERO:
        return {"how": "masked", **told}
    if any(_is_bad(facts, tensor) for tensor in op.outputs):
        return {"how": "output", **told}
    dtype = _dtype_given(facts, step)
    if dtype in _NARROW and value != _ZERO:
        return {"how": "overflow", "dtype": dtype, "most": _NARROW[dtype]}
    return {"how": "masked" if is_masked else "point", **told}


def _bad_variable(facts: CallFacts, op: Op) -> str:
    """A variable whose state a call of a compiled function takes, after a write of such numbers."""
    trace = facts.trace
    for handle in op.inputs if op.is_compiled_call else ():
        version = trace.touches.get((op.id, VariableId(handle)))
        written = version.value if version is not None else None
        if version is not None and written is not None and _is_bad(facts, written):
            return name_of(trace, version.variable)
    return ""


def _is_bad(facts: CallFacts, tensor: TensorId) -> bool:
    stats = facts.trace.stats(tensor)
    return stats is not None and stats.nonfinite > 0


def _origin(facts: CallFacts, tensor: TensorId) -> str:
    """Which op of the forward pass made the first such number, in words."""
    trace = facts.trace
    seen: set[TensorId] = set()
    while tensor not in seen:
        seen.add(tensor)
        version = trace.version_read(tensor)
        if version is not None:
            return f"{name_of(trace, version.variable)} holds it"
        producer = trace.producers.get(tensor)
        if producer is None:
            break
        op = trace.ops[producer]
        bad = next((tensor for tensor in op.inputs if _is_bad(facts, tensor)), None)
        if bad is None:
            return f"line {facts.line_of(op)} made it ({op.type})"
        tensor = bad
    names = trace.names.get(tensor, ())
    return f"{names[0]} holds it" if names else "it was there from the start"


def _bad_gradients(facts: CallFacts, step: Step) -> Iterator[TensorId]:
    for gradient in step.downstream:
        if gradient is not None and _is_bad(facts, gradient):
            yield gradient


def _where(facts: CallFacts, step: Step, op: Op) -> tuple[int, ...] | None:
    """The first element of the largest gradient that is not finite; None if none travelled."""
    values = [facts.trace.value(gradient) for gradient in _bad_gradients(facts, step)]
    known = [value for value in values if value is not None]
    if not known:
        return None
    largest = max(known, key=lambda array: array.size)
    return tuple(int(index) for index in np.argwhere(~np.isfinite(largest))[0])


def value_at(
    inputs: Iterable[TensorId],
    place: tuple[int, ...] | None,
    value_of: Callable[[TensorId], Array | None],
) -> str:
    """What the op got there: a zero if one of its inputs has one, else the first input's."""
    if place is None:
        return ""
    found = [
        value[place] if value.shape else value[()]
        for value in map(value_of, inputs)
        if value is not None and value.dtype.kind == "f" and _has_place(value, place)
    ]
    zero = next((value for value in found if value == 0), None)
    if zero is not None:
        return _ZERO
    return f"{float(found[0]):.6g}" if found else ""


def _has_place(value: Array, place: tuple[int, ...]) -> bool:
    if not value.shape:
        return True
    fits = zip(place, value.shape, strict=False)
    return len(place) == value.ndim and all(index < size for index, size in fits)


def _dtype_given(facts: CallFacts, step: Step) -> str:
    for gradient in _bad_gradients(facts, step):
        known = facts.trace.tensors.get(gradient)
        return known.dtype if known is not None else ""
    return ""


def _is_masked(facts: CallFacts, step: Step, place: tuple[int, ...] | None) -> bool:
    """Whether what arrived at that element was 0: infinity times 0 is NaN."""
    if place is None or len(step.upstream) != 1 or step.upstream[0] is None:
        return False
    arrived = facts.trace.value(step.upstream[0])
    if arrived is None or arrived.dtype.kind != "f" or not _has_place(arrived, place):
        return False
    return bool((arrived[place] if arrived.shape else arrived[()]) == 0)
