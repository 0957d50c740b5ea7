"""``flat-op``, ``multiplied-by-zero``: the op at which a gradient became all 0, and why."""

from __future__ import annotations

from dataclasses import dataclass, replace
from math import prod
from typing import ClassVar

from ....text.op_words import friendly
from ....trace.ids import TensorId
from ....trace.op_kinds import ops_with
from ....trace.ops import Op
from ...call_facts import CallFacts, maker_past
from ...findings import Cause, Evidence
from ...numbers.slopes import (
    becomes_complex,
    has_equal_values,
    has_no_element,
    has_slope_everywhere,
    is_by_element,
    is_of_other_output,
    is_underflow,
    largest,
    zeros_multiplied,
)
from ...numbers.spoiled import takes_nothing, was_given
from ...status import is_zero
from ..questions import MadeZero
from .cancelled import SHARING, Cancelled, softmax_of_one_behind, why_same_sum
from .multiplied_by_zero import SMALLEST, MultipliedByZero
from .saturated import (
    CLIPPING,
    MASKING,
    EqualValues,
    Saturated,
    became_infinite,
    clip_behind,
    saturated_at,
)

# Derivative 0 wherever there is one.
FLAT = ops_with("flat")
# Linear in each of several inputs: the gradient of one is multiplied by the others.
PRODUCTS = ops_with("product")
_SQUARES = frozenset({"Pow", "Square", "SquaredDifference"})
# Puts elements among others.
_PLACING = ops_with("places")


# Gradient functions of activations that are made of straight lines (nn_grad.py, 2.15 to 2.21).
SLOPES_OF_LINES = {"ReluGrad": "ReLU", "Relu6Grad": "ReLU6", "LeakyReluGrad": "leaky ReLU"}
"""The slopes of activations made of straight lines. They are flat in their second input."""


@dataclass(frozen=True, slots=True)
class FlatOp(Evidence):
    """The op has a slope of 0 wherever it has one. ``slope_of``: the words for the op of which the
    flat op computes the slope, in a backward pass that the target is made from; empty if it
    computes none, or there are no words."""

    kind: ClassVar[str] = "flat-op"
    slope_of: str = ""

    def sentence(self, cause: Cause, target: str, source: str) -> str:
        bent = SLOPES_OF_LINES.get(cause.op)
        if bent is not None:
            return (
                f"The {bent} on line {cause.line} is made of straight lines: its slope jumps and "
                f"is constant in between. {target} is made from that slope, whose own derivative, "
                f"the second one, is 0 everywhere. Use an activation that is curved, such as "
                f"softplus, tanh or swish."
            )
        if self.slope_of:
            return (
                f"The slope of {self.slope_of} on line {cause.line} jumps, and is constant in "
                f"between. {target} is made from that slope, whose own derivative, the second one, "
                f"is 0 everywhere. Use a curved operation in place of {self.slope_of}."
            )
        return (
            f"{cause.op_words} on line {cause.line} has a derivative of 0 everywhere. So it gives "
            f"nothing to the derivative of {target} by {source}. "
            f"Use a smooth operation there, or give it an estimate by tf.custom_gradient."
        )


def given_zeros(zero: MadeZero) -> Cause | None:
    """The pass began with zeros that were given as ``output_gradients``."""
    if zero.op is not None or not was_given(zero.facts, is_zero, all):
        return None
    return zero.facts.cause(MultipliedByZero("given"), zero.facts.call.line)


def zero_tangents(facts: CallFacts) -> Cause | None:
    """Forward mode began with tangents that are all zero."""
    watches = facts.tape.watches if facts.tape is not None else ()
    seeds = [watch.tangent for watch in watches]
    if not seeds or not all(seed and is_zero(facts.trace.stats(seed)) for seed in seeds):
        return None
    return facts.cause(MultipliedByZero("tangents"), watches[0].site.line)


def inside_compiled(zero: MadeZero) -> Cause | None:
    """The call of a compiled function whose inside is not known: the op in it that did it."""
    if zero.suspect is None or zero.suspect.is_recorded_operation:
        return None
    kind = zero.suspect.type
    if kind in MASKING | PRODUCTS:
        evidence: Evidence = _times_zero(zero.facts, zero.suspect)
    elif kind in CLIPPING:
        evidence = saturated_at(zero.facts, zero.suspect)
    else:
        evidence = _flat(zero.facts, zero.suspect)
    return replace(zero.facts.cause_at(evidence, zero.suspect), is_probable=not zero.is_sure)


def at_op(zero: MadeZero) -> Cause | None:
    """The op received a gradient and gave zeros: by what sort of op it is, and by its inputs."""
    facts, op, step = zero.facts, zero.op, zero.step
    if op is None or step is None:
        return None
    bent = _bent_in_jacobian(facts, op)
    if bent is not None and is_zero(facts.trace.stats(bent.outputs[0])):
        return facts.cause_at(saturated_at(facts, bent), bent)
    if bent is not None:
        return replace(facts.cause_at(FlatOp(), bent), op=f"{bent.type}Grad")
    evidence = _evidence_at(zero, op)
    softmax = softmax_of_one_behind(facts, op) if isinstance(evidence, Saturated) else None
    if softmax is not None:
        return facts.cause_at(Cancelled("softmax-of-one"), softmax)
    masked = _where_masked(facts, op) if evidence == MultipliedByZero("square") else None
    if masked is not None:
        return facts.cause_at(MultipliedByZero(), masked)
    return facts.cause_at(evidence, op)


def _bent_in_jacobian(facts: CallFacts, op: Op) -> Op | None:
    """For the compiled function in which a jacobian runs its backward pass for all elements at once
    (``pfor`` in parallel_for/control_flow_ops.py, 2.15-2.21): the activation made of straight lines
    that this pass goes through, the one nearest the jacobian's source."""
    if op.call is None or not op.is_compiled_call:
        return None
    call = next((each for each in facts.trace.calls if each.id == op.call), None)
    passed = (facts.trace.op(step.op) for step in reversed(call.steps)) if call is not None else ()
    return next((each for each in passed if each and f"{each.type}Grad" in SLOPES_OF_LINES), None)


def _where_masked(facts: CallFacts, op: Op) -> Op | None:
    """The product that made the zeros which are squared, of a factor that is 0 and one that is not:
    the gradient of ``(x * mask) ** 2`` is multiplied by ``x * mask``, and the mask is to blame."""
    trace = facts.trace
    made = next((t for t in op.inputs if is_zero(trace.stats(t))), None)
    while made is not None:
        maker = trace.maker(made)
        if maker is None or facts.call.tape not in maker.tapes:
            return None
        zeros = [t for t in maker.inputs if is_zero(trace.stats(t))]
        if maker.type in PRODUCTS and len(maker.inputs) == 2 and len(zeros) == 1:
            return maker
        is_passed_on = maker.type in SHARING or maker.type in _SQUARES
        made = zeros[0] if zeros and is_passed_on else None
    return None


_OPERATORS = ops_with("linear", "product", "divides", "difference") - ops_with("matrix")
"""Ops that broadcast their operands to one shape: to no element if one has none."""


def _evidence_at(zero: MadeZero, op: Op) -> Evidence:
    facts = zero.facts
    if takes_nothing(facts, op):
        beside = op.type in _OPERATORS and any(has_no_element(facts, each) for each in op.inputs)
        return MultipliedByZero("empty operand" if beside else "nothing")
    if op.inputs and has_no_element(facts, op.inputs[0]):
        return MultipliedByZero("empty")
    if op.type in FLAT or is_of_other_output(facts, zero.step, op):
        return _flat(facts, op)
    if op.is_recorded_operation:
        return Saturated()
    if (infinite := became_infinite(facts, op)) is not None:
        return infinite
    if op.type in MASKING:
        return MultipliedByZero()
    if _is_by_exponent(zero, op):
        return MultipliedByZero("exponent")
    zeros = [tensor for tensor in op.inputs if is_zero(facts.trace.stats(tensor))]
    if op.type in PRODUCTS and zeros:
        factor = MultipliedByZero("square" if _is_square_of_zero(zero, op) else "factor")
        found = _is_gradient, _vanished, _clipped
        return next(filter(None, (find(facts, zeros[0]) for find in found)), factor)
    if op.type in _SQUARES and zero.step is not None and is_by_element(facts, zero.step, op):
        return MultipliedByZero("square") if _is_square_of_zero(zero, op) else Saturated()
    same = why_same_sum(facts, zero.step, op) if zero.step is not None else None
    if same is not None:
        return same
    dtype = facts.dtype(op.inputs[0]) if op.inputs else ""
    if (zeros_in := zeros_multiplied(facts, op)) is not None:
        if zeros_in > 1:
            return MultipliedByZero("elements")
        if dtype in SMALLEST:
            return MultipliedByZero("small elements", dtype)
    if dtype in SMALLEST and has_slope_everywhere(facts, op):
        return MultipliedByZero("underflow", dtype)
    if op.type in CLIPPING:
        return saturated_at(facts, op)
    if has_equal_values(facts, op):
        return EqualValues()
    if op.type in _PLACING:
        return MultipliedByZero("others")
    if becomes_complex(facts, op):
        return MultipliedByZero("imaginary")
    if zero.step is not None and is_underflow(facts, zero.step, op, SMALLEST.get(dtype, 0.0)):
        return MultipliedByZero("underflow", dtype)
    return Cancelled()


def _flat(facts: CallFacts, op: Op) -> FlatOp:
    forward = facts.origins.forward(op)
    return FlatOp("" if op is forward or op.is_compiled_call else facts.words_of(forward))


def _is_by_exponent(zero: MadeZero, op: Op) -> bool:
    """Whether the source is in the exponent alone of a power of zeros and ones: the slope has the
    logarithm of the base as a factor, for which 0 is taken at 0 (``_PowGrad`` in math_grad.py,
    2.15-2.21)."""
    if op.type != "Pow":
        return False
    base, exponent = op.inputs
    stats = zero.facts.trace.stats(base)
    if stats is None or not stats.has_range or stats.min != stats.max or stats.min not in (0, 1):
        return False
    reached = zero.facts.paths.ancestry_from(zero.starts).leads_from(zero.starts)
    return exponent in reached and base not in reached


def _is_square_of_zero(zero: MadeZero, op: Op) -> bool:
    """Whether zeros are squared, or taken to a power, and the gradient by them is 0: that by the
    exponent says nothing of a slope at 0."""
    stats = zero.facts.trace.stats
    squared = op.outputs[0] if op.type == "SquaredDifference" else op.inputs[0]
    if op.type not in _SQUARES or not is_zero(stats(squared)):
        return False
    if op.type != "Pow" or zero.step is None:
        return True
    given = zip(zero.step.taken(op), zero.step.downstream, strict=False)
    return any(g is not None and t == op.inputs[0] and is_zero(stats(g)) for t, g in given)


def _is_gradient(facts: CallFacts, zero: TensorId) -> MultipliedByZero | None:
    maker = maker_past(facts.trace, zero, ops_with("copy"))
    asked = maker.call if maker is not None else None
    calls = (call for call in facts.trace.calls if asked is not None and call.id == asked)
    return next((MultipliedByZero("gradient", made=call.line) for call in calls), None)


def _vanished(facts: CallFacts, zero: TensorId) -> MultipliedByZero | None:
    """The evidence if a tensor is 0 since the product of its factors, none of them 0,
    underflows."""
    smallest = SMALLEST.get(facts.dtype(zero), 0.0)
    maker = maker_past(facts.trace, zero, ops_with("copy"))
    if maker is None or not (maker.type == "Cast" or maker.type in PRODUCTS):
        return None
    factors = [largest(facts, tensor) for tensor in maker.inputs]
    product = prod(factors) ** (2 if maker.type == "Square" else 1)
    if not (all(factors) and factors and product < smallest):
        return None
    return MultipliedByZero("vanished", facts.dtype(zero), facts.line_of(maker))


def _clipped(facts: CallFacts, zero: TensorId) -> MultipliedByZero | None:
    clip = clip_behind(facts, zero)
    if clip is None:
        return None
    words = facts.words_of(clip) or friendly(clip.type)
    return MultipliedByZero("clipped", made=facts.line_of(clip), clip=words)


def _times_zero(facts: CallFacts, op: Op) -> MultipliedByZero:
    return MultipliedByZero("nothing" if takes_nothing(facts, op) else "factor")
