"""``multiplied-by-zero``: the words for a gradient that was multiplied by zeros at an op.

The detectors stand in :mod:`.zeros`, beside those for ops that are flat.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Literal

from ....trace.op_kinds import ops_with
from ...findings import Cause, Evidence

# The smallest positive number of a dtype (IEEE 754, subnormal; bfloat16: float32's exponent).
SMALLEST = {"float16": 2.0**-24, "bfloat16": 2.0**-133, "float32": 2.0**-149}
_SELECTING = ops_with("selects")
_QUOTIENTS = ops_with("divides") & ops_with("singular")


@dataclass(frozen=True, slots=True)
class MultipliedByZero(Evidence):
    """The gradient was multiplied by zeros at an op.

    ``by``:
      ``factor``: the other factor of a product;
      ``square``: the slope of a square, or of a power, at 0;
      ``given``, ``tangents``: what was given as ``output_gradients``, or as tangents;
      ``nothing``: the op takes no element of its input;
      ``empty``: its input has no element;
      ``empty operand``: the op combines its input with a tensor without an element;
      ``others``: the target is made from elements of other inputs of the op;
      ``imaginary``: the target is made from the imaginary parts of real numbers;
      ``underflow``: the product is smaller than the smallest number of ``dtype``;
      ``exponent``: the slope of a power by its exponent, where all powers are the same;
      ``vanished``: a factor, which is smaller than the smallest number of ``dtype`` and was
        computed on line ``made``;
      ``gradient``: a factor that is a gradient, asked for on line ``made``;
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
        "empty operand",
        "others",
        "imaginary",
        "underflow",
        "exponent",
        "vanished",
        "gradient",
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
        if self.by == "empty operand":
            return (
                f"{cause.op_words} on line {cause.line} combines a tensor with one that has no "
                f"element, such as an empty list, and so the result has none. {target} uses "
                f"nothing of {source}, and the gradient is 0 everywhere. Leave the empty one out; "
                f"the sum of a list is sum(values) or tf.add_n(values)."
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
                f"{self.dtype}, whose smallest number is {SMALLEST[self.dtype]:.2g}, and becomes "
                f"0. Scale the loss up before the gradient is asked for and the gradient down "
                f"after it, or compute this part in a wider dtype."
            )
        if self.by == "vanished":
            return (
                f"{cause.op_words} on line {cause.line} multiplies by a value that is 0 "
                f"everywhere, and so is the gradient of {source}. What line {self.made} computes "
                f"for it is too small for {self.dtype}, whose smallest number is "
                f"{SMALLEST[self.dtype]:.2g}. Scale the numbers up there, or compute this part in "
                f"a wider dtype."
            )
        if self.by == "gradient":
            return (
                f"{cause.op_words} on line {cause.line} multiplies by the gradient that line "
                f"{self.made} asks for, which is 0 everywhere, and so is the gradient of {source}. "
                f"Look first at why that one is 0."
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
                f"{SMALLEST[self.dtype]:.2g}, and become 0. Add up the logarithms of the elements "
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
        if cause.op in _SELECTING:
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
        if cause.op == "DivNoNan":  # _DivNoNanGrad in math_grad.py, 2.15-2.21
            return (
                f"{cause.op_words} on line {cause.line} divides a value that is 0 everywhere, or "
                f"divides by 0: it gives 0 then, with a slope of 0. So nothing of the gradient "
                f"reaches {source}. Look at where that value became 0."
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
