"""Tell whether a gradient that flows is 0 but for rounding, and at which op it cancels."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from ...trace.calls import Operand
from ...trace.ids import TensorId
from ...trace.ops import Op
from ...wording import listed
from ..call_facts import CallFacts
from ..model import Warned
from .spoiled import NORMALISING, is_even, read_tensors

_EPSILON = {"float16": 1e-3, "bfloat16": 8e-3, "float32": 1.2e-7, "float64": 2.3e-16}
_ROUNDINGS = 8
"""A sum below this many roundings of its largest summand is noise."""


def rounding_only(facts: CallFacts) -> Iterator[Warned]:
    """Contributions of opposite sign add up to almost 0, as for the sum of a softmax."""
    for source, result in facts.flowing:
        op = _cancels_at(facts, source, result)
        if op is None:
            continue
        target = listed([operand.text for operand in facts.call.targets]) or "the target"
        line = facts.line_of(op)
        words = facts.words_of(facts.origins.forward(op)) or op.type
        yield Warned(
            "rounding",
            line,
            f"The gradient of {target} by {source.text} is 0 but for rounding (at most "
            f"{_size(facts, result):.2g}): at {words} on line {line} contributions of opposite "
            f"sign cancel. {_constant(facts, target, op)} "
            f"Differentiate something that does depend on {source.text}.",
        )


def _constant(facts: CallFacts, target: str, op: Op) -> str:
    tensors = [operand.tensor for operand in facts.call.targets]
    value = facts.trace.value(tensors[0]) if len(tensors) == 1 and tensors[0] else None
    if value is None or value.size != 1:
        return f"{target} does not change when it does."
    shown = f"{float(value.ravel()[0]):.6g}"
    end = ", as the sum of a softmax is" if op.type in NORMALISING else ""
    return f"{target} is constant {shown}{end}: it does not change when its input does."


def _cancels_at(facts: CallFacts, source: Operand, result: TensorId) -> Op | None:
    """Follow a single path upstream to where what was added up or given is noise beside its parts.

    A gradient that is small since it was multiplied by small numbers is none of these.
    """
    places: Sequence[TensorId] = read_tensors(facts, source)
    total, seen = result, set[TensorId]()
    while seen.isdisjoint(places):
        seen.update(places)
        shares = [
            share
            for tensor in places
            for share in facts.feeding.of(tensor)
            if share[1].type != "ReadVariableOp"
        ]
        if not shares:
            return None
        step, op, given = shares[0]
        if len(shares) > 1:
            step, op, given = max(shares, key=lambda share: _size(facts, share[2]))
            return op if _is_noise(facts, total, given) else None
        upstream = step.upstream[0] if len(step.upstream) == 1 else None
        if upstream is None:
            return None
        if op.type in NORMALISING and is_even(facts, step):
            return op if _is_noise(facts, given, upstream) else None
        places, total = op.outputs, upstream
    return None


def _is_noise(facts: CallFacts, total: TensorId, part: TensorId) -> bool:
    slack = _ROUNDINGS * _EPSILON.get(facts.dtype(total), 0.0)
    return 0 < _size(facts, total) <= slack * _size(facts, part)


def _size(facts: CallFacts, tensor: TensorId) -> float:
    """The largest absolute value of the elements, of a large tensor their norm, as rounding errors
    of a sum grow; 0 where they are not known or not finite."""
    stats = facts.trace.stats(tensor)
    if stats is None or stats.norm is None or stats.nonfinite:
        return 0.0
    if stats.min is None or stats.max is None:
        return stats.norm
    return max(abs(stats.min), abs(stats.max))
