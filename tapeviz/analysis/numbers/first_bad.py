"""Find where NaN or infinity of the forward pass came from: the op, the variable, the element."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from types import MappingProxyType

from ...trace.ids import TensorId, VariableId
from ...trace.ops import Op
from ...trace.stats import Array
from ..call_facts import CallFacts, name_of
from .began import is_meant, is_meant_minus, place_of_bad
from .spoiled import NORMALISING

ZERO, MINUS = "0.0", "-inf"
"""A zero, and minus infinity, among the values that an op got, in words."""
_MOST_BEFORE = 100
"""Tensors before an op among which infinity is looked for."""


def made_from_finite(facts: CallFacts, tensor: TensorId) -> tuple[Op, str] | None:
    """The op that made NaN or infinity of finite numbers on the way to a tensor, and the element
    of its input that did it, in words; empty where it is not known."""
    trace = facts.trace
    maker = maker_of(facts, first_bad(facts, tensor)) if trace.has_nonfinite(tensor) else None
    if maker is None or not maker.inputs or not trace.makes_nonfinite(maker):
        return None
    return maker, value_that_spoiled(facts, maker)


def bad_variable(facts: CallFacts, op: Op) -> str:
    """The name of a variable with NaN or infinity that an op reads itself, as a lookup and the call
    of a compiled function do; empty if there is none."""
    trace = facts.trace
    for handle in op.inputs:
        version = trace.touches.get((op.id, VariableId(handle)))
        written = version.value if version is not None else None
        if version is not None and written is not None and trace.has_nonfinite(written):
            return name_of(trace, version.variable)
    return ""


def origin_of(facts: CallFacts, first: TensorId) -> tuple[str, int]:
    """Where a tensor of :func:`first_bad` came from, in words; the line that made it, or 0."""
    trace = facts.trace
    version = trace.reads.get(first)
    if version is not None:
        return f"{name_of(trace, version.variable)} holds it", 0
    maker = maker_of(facts, first)
    if maker is not None:
        line = facts.line_of(maker)
        return f"line {line} made it ({facts.words_of(maker) or maker.type})", line
    names = trace.names.get(first, ())
    return (f"{names[0]} holds it" if names else "it was there from the start"), 0


def maker_of(facts: CallFacts, first: TensorId) -> Op | None:
    """The op that made a tensor given by :func:`first_bad`; None if a variable was read, or if the
    tensor was given."""
    if facts.trace.reads.get(first) is not None:
        return None
    return facts.trace.maker(first)


def first_bad(facts: CallFacts, tensor: TensorId) -> TensorId:
    """The first tensor with NaN or infinity among this one and those that it was made from."""
    trace = facts.trace
    seen: set[TensorId] = set()
    while tensor not in seen and trace.reads.get(tensor) is None:
        seen.add(tensor)
        maker = trace.maker(tensor)
        taken = maker.inputs if maker is not None else ()
        bad = (each for each in taken if trace.has_nonfinite(each) and not is_meant(trace, each))
        tensor = next(bad, tensor)
    return tensor


def infinity_before(facts: CallFacts, op: Op) -> str:
    """Where NaN or infinity came from that was computed on the way to the finite inputs of an op,
    in words; empty if there was none. A quotient by infinity is 0."""
    trace = facts.trace
    waiting = list(dict.fromkeys(op.inputs))
    for tensor in waiting:
        if trace.has_nonfinite(tensor) and not is_meant(trace, tensor):
            return origin_of(facts, first_bad(facts, tensor))[0]
        maker = trace.maker(tensor) if len(waiting) < _MOST_BEFORE else None
        waiting += [each for each in maker.inputs if each not in waiting] if maker else ()
    return ""


def value_that_spoiled(
    facts: CallFacts, op: Op, now: Mapping[TensorId, TensorId] = MappingProxyType({})
) -> str:
    """The number of which an op made NaN or infinity, in words; empty where it is not known.
    ``now``: for tensors of a loop those of another turn."""
    trace = facts.trace
    at = place_of_bad(trace, op, now)
    value = value_at(op.inputs, at, lambda tensor: trace.value(now.get(tensor, tensor)))
    if not value and at is None and op.type in NORMALISING:
        bad = [tensor for tensor in op.inputs if trace.has_nonfinite(now.get(tensor, tensor))]
        value = MINUS if bad and all(is_meant_minus(trace, tensor) for tensor in bad) else ""
    return value


def value_at(
    inputs: Iterable[TensorId],
    element: tuple[int, ...] | None,
    value_of: Callable[[TensorId], Array | None],
) -> str:
    """The number that an op got at an element, in words: a zero if one of its inputs has one there,
    else that of the first; empty where none is known."""
    if element is None:
        return ""
    found = [
        value[element] if value.shape else value[()]
        for value in map(value_of, inputs)
        if value is not None and value.dtype.kind == "f" and has_element(value, element)
    ]
    zero = next((value for value in found if value == 0), None)
    if zero is not None:
        return ZERO
    return f"{float(found[0]):.6g}" if found else ""


def has_element(value: Array, element: tuple[int, ...]) -> bool:
    """Whether an index fits an array; any index fits a single number."""
    if not value.shape:
        return True
    fits = zip(element, value.shape, strict=False)
    return len(element) == value.ndim and all(index < size for index, size in fits)
