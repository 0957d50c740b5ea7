"""``flat-op``, ``multiplied-by-zero``: the op at which a gradient became all 0, and why."""

from __future__ import annotations

from dataclasses import dataclass, replace
from math import prod
from typing import ClassVar, Literal

from ...text.op_words import friendly
from ...trace.model import Op, TensorId
from ...trace.op_kinds import ops_with
from ..call_facts import CallFacts, maker_past
from ..model import Cause, Evidence
from ..numbers.slopes import (
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
from ..numbers.spoiled import takes_nothing, was_given
from ..status import is_zero
from .cancelled import SHARING, Cancelled, softmax_of_one_behind, why_same_sum
from .questions import MadeZero
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
_CHOOSING = frozenset({"Select", "SelectV2"})
_QUOTIENTS = frozenset({"RealDiv", "Div"})
# The smallest positive number of a dtype (IEEE 754, subnormal; bfloat16: float32's exponent).
_SMALLEST = {"float16": 2.0**-24, "bfloat16": 2.0**-133, "float32": 2.0**-149}


# Gradient functions of activations that are made of straight lines (nn_grad.py, 2.15 to 2.21).
SLOPES_OF_LINES = {"ReluGrad": "ReLU", "Relu6Grad": "ReLU6", "LeakyReluGrad": "leaky ReLU"}
"""The slopes of activations made of straight lines. They are flat in their second input."""


@dataclass(frozen=True, slots=True)
class FlatOp(Evidence):
    """``slope_of``: the words for the op of which the flat op computes the slope, in a backward
    pass that the target is made from; empty if it computes none, or there are no words."""

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


@dataclass(frozen=True, slots=True)
class MultipliedByZero(Evidence):
    """The gradient was multiplied by zeros at an op.

    ``by``:
      ``factor``: the other factor of a product;
      ``square``: the slope of a square, or of a power, at 0;
      ``given``, ``tangents``: what was given as ``output_gradients``, or as tangents;
      ``nothing``: the op takes no element of its input;
      ``empty``: its input has no element;
      ``others``: the target is made from elements of other inputs of the op;
      ``imaginary``: the target is made from the imaginary parts of real numbers;
      ``underflow``: the product is smaller than the smallest number of ``dtype``;
      ``exponent``: the slope of a power by its exponent, where all powers are the same;
      ``vanished``: a factor, which is smaller than the smallest number of ``dtype`` and was
        computed on line ``made``;
      ``clipped``: a factor that the op ``clip`` on line ``made`` clipped to 0;
      ``elements``: other elements of the tensor whose product the op is;
      ``small elements``: the same, and their product is smaller than the smallest number.
    """

    kind: ClassVar[str] = "multiplied-by-zero"
    by: Literal[
        "factor",
        "square",
        "given",
        "tangents",
        "nothing",
        "empty",
        "others",
        "imaginary",
        "underflow",
        "exponent",
        "vanished",
        "clipped",
        "elements",
        "small elements",
    ] = "factor"
    dtype: str = ""
    made: int = 0
    clip: str = ""

    def sentence(self, cause: Cause, target: str, source: str) -> str:
        if self.by == "given":
            return (
                f"The output_gradients given on line {cause.line} are all 0. "
                f"The backward pass starts from them, so everything it computes is 0."
            )
        if self.by == "tangents":
            return (
                f"The tangents given on line {cause.line} are all 0. Forward mode multiplies them "
                f"by slopes, so everything it computes is 0. Give the direction in which {target} "
                f"should change, such as ones."
            )
        if self.by == "nothing":
            return (
                f"{cause.op_words} on line {cause.line} picks no element of its input. So {target} "
                f"uses nothing of {source}, and the gradient is 0 everywhere. "
                f"Look at the mask or the indices there."
            )
        if self.by == "empty":
            return (
                f"{cause.op_words} on line {cause.line} works on a tensor without any element: "
                f"nothing is added up for {target}, so it does not change when {source} does. "
                f"Look at why there is no element, as in a batch of none."
            )
        if cause.op == "MatrixBandPart":
            return (
                f"{cause.op_words} on line {cause.line} keeps other elements than those that "
                f"{target} is made from, and sets these to 0. So nothing of the gradient reaches "
                f"{source}. Look at which part of the matrix is kept there."
            )
        if self.by == "others" and cause.op == "Complex":
            return (
                f"{cause.op_words} on line {cause.line} makes complex numbers, and {source} is in "
                f"their real or imaginary part alone. At these values {target} changes with the "
                f"other part only, so the gradient that belongs to {source} is 0. Make {target} "
                f"from the part that {source} is in, too."
            )
        if self.by == "others":
            return (
                f"{cause.op_words} on line {cause.line} puts together what comes from {source} and "
                f"other values, and {target} is made from elements of the others alone. The part "
                f"of the gradient that belongs to {source} is 0. Take the elements that are made "
                f"from {source}, too."
            )
        if self.by == "imaginary":
            return (
                f"{cause.op_words} on line {cause.line} makes complex numbers of real ones. At "
                f"these values {target} changes with their imaginary parts alone, which are 0 "
                f"whatever {source} is. Make {target} from their real parts, as by tf.math.real."
            )
        if self.by == "underflow":
            return (
                f"The gradient that {cause.op_words} on line {cause.line} gives is too small for "
                f"{self.dtype}, whose smallest number is {_SMALLEST[self.dtype]:.2g}, and becomes "
                f"0. Scale the loss up before the gradient is asked for and the gradient down "
                f"after it, or compute this part in a wider dtype."
            )
        if self.by == "vanished":
            return (
                f"{cause.op_words} on line {cause.line} multiplies by a value that is 0 "
                f"everywhere, and so is the gradient of {source}. What line {self.made} computes "
                f"for it is too small for {self.dtype}, whose smallest number is "
                f"{_SMALLEST[self.dtype]:.2g}. Scale the numbers up there, or compute this part in "
                f"a wider dtype."
            )
        if self.by == "clipped":
            return (
                f"{cause.op_words} on line {cause.line} multiplies by what {self.clip} on line "
                f"{self.made} gives, which is 0 everywhere at these values, and so is the gradient "
                f"of {source}. Keep what goes into {self.clip} inside the range that it does not "
                f"clip to 0."
            )
        if self.by == "elements":
            return (
                f"{cause.op_words} on line {cause.line} multiplies elements of which at least two "
                f"are 0. The slope by one element is the product of all others, so it is 0 for "
                f"each, and so is the gradient of {source}. Look at why so many are 0, or multiply "
                f"without them."
            )
        if self.by == "small elements":
            return (
                f"{cause.op_words} on line {cause.line} multiplies so many small numbers that the "
                f"slopes are too small for {self.dtype}, whose smallest number is "
                f"{_SMALLEST[self.dtype]:.2g}, and become 0. Add up the logarithms of the elements "
                f"in place of multiplying them, as log-likelihoods do."
            )
        if self.by == "exponent":
            return (
                f"{cause.op_words} on line {cause.line} takes powers of numbers that are all 0, or "
                f"all 1, and such a power is the same for every exponent. So the gradient is "
                f"multiplied by a slope of 0 on its way to {source}. Take powers of other numbers "
                f"where {target} should depend on {source}."
            )
        if self.by == "square":
            value, power = "value", "power" if cause.op == "Pow" else "square"
            if cause.op == "SquaredDifference":
                value = "difference"
            return (
                f"{cause.op_words} on line {cause.line} takes the {power} of a {value} that is 0 "
                f"everywhere, and a {power} has no slope at 0. So the gradient of {source} is 0. "
                f"Nothing is wrong if {target} is meant to be smallest there; else look at why "
                f"that {value} is 0."
            )
        if cause.op in _CHOOSING:
            return (
                f"{cause.op_words} on line {cause.line} {cause.probably}chooses the other value "
                f"wherever a gradient arrives, and nothing of what is made from {source}. So "
                f"{target} does not depend on {source} there. Look at the condition."
            )
        if source.endswith("recurrent_kernel"):  # of a recurrent layer of Keras
            return (
                f"The layer on line {cause.line} multiplies its state by {source}, and that state "
                f"is 0 everywhere, as it is at the first step of a sequence if no initial_state "
                f"is given. The gradient of {source} is multiplied by the same zeros. Pass an "
                f"initial_state, or a sequence of more than one step."
            )
        if cause.op in _QUOTIENTS:  # a divisor of 0 gives no zeros but infinity
            return (
                f"{cause.op_words} on line {cause.line} {cause.probably}divides a value that is 0 "
                f"everywhere. The gradient is multiplied by the same zeros on its way to {source}. "
                f"Look at where that value became 0."
            )
        return (
            f"{cause.op_words} on line {cause.line} {cause.probably}multiplies by a value that is "
            f"0 everywhere. "
            f"The gradient is multiplied by the same zeros on its way to {source}. "
            f"Look at the weight or mask that is 0 there."
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
    evidence = _evidence_at(zero, op)
    softmax = softmax_of_one_behind(facts, op) if isinstance(evidence, Saturated) else None
    if softmax is not None:
        return facts.cause_at(Cancelled("softmax-of-one"), softmax)
    masked = _where_masked(facts, op) if evidence == MultipliedByZero("square") else None
    if masked is not None:
        return facts.cause_at(MultipliedByZero(), masked)
    return facts.cause_at(evidence, op)


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


def _evidence_at(zero: MadeZero, op: Op) -> Evidence:
    facts = zero.facts
    if takes_nothing(facts, op):
        return MultipliedByZero("nothing")
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
        return _vanished(facts, zeros[0]) or _clipped(facts, zeros[0]) or factor
    if op.type in _SQUARES and zero.step is not None and is_by_element(facts, zero.step, op):
        return MultipliedByZero("square") if _is_square_of_zero(zero, op) else Saturated()
    same = why_same_sum(facts, zero.step, op) if zero.step is not None else None
    if same is not None:
        return same
    dtype = facts.dtype(op.inputs[0]) if op.inputs else ""
    if (zeros_in := zeros_multiplied(facts, op)) is not None:
        if zeros_in > 1:
            return MultipliedByZero("elements")
        if dtype in _SMALLEST:
            return MultipliedByZero("small elements", dtype)
    if dtype in _SMALLEST and has_slope_everywhere(facts, op):
        return MultipliedByZero("underflow", dtype)
    if op.type in CLIPPING:
        return saturated_at(facts, op)
    if has_equal_values(facts, op):
        return EqualValues()
    if op.type in _PLACING:
        return MultipliedByZero("others")
    if becomes_complex(facts, op):
        return MultipliedByZero("imaginary")
    if zero.step is not None and is_underflow(facts, zero.step, op, _SMALLEST.get(dtype, 0.0)):
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


def _vanished(facts: CallFacts, zero: TensorId) -> MultipliedByZero | None:
    """If a tensor is 0 since it is the product of numbers that are not, below the smallest one."""
    smallest = _SMALLEST.get(facts.dtype(zero), 0.0)
    maker = maker_past(facts.trace, zero, ("Identity", "Reshape"))
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
