"""``cancelled``: gradients that are not zero add up to zero."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import ClassVar, Literal

from ....trace.calls import Step
from ....trace.ids import TensorId
from ....trace.op_kinds import ops_with
from ....trace.ops import Op
from ...call_facts import CallFacts
from ...findings import Cause, Evidence
from ...flow.same import SameWork
from ...numbers.spoiled import NORMALISING, is_even
from ..questions import MadeZero

_PRODUCTS = ops_with("product")
_COPIES = ops_with("copy")
_SCALING = _PRODUCTS | _COPIES | {"AddV2", "Maximum", "Reciprocal", "Rsqrt", "Sqrt"}
_SQUARES = frozenset({"Square", "SquaredDifference"})
_LOSSES = frozenset({"SoftmaxCrossEntropyWithLogits", "SparseSoftmaxCrossEntropyWithLogits"})
# What a layer of Keras 2 normalises by in one op (tf_keras of TensorFlow 2.15).
FUSED = frozenset({"FusedBatchNorm", "FusedBatchNormV2", "FusedBatchNormV3"})
_LINEAR = _COPIES | ops_with("linear", "moves", "view")
_FORM = ops_with("no-data", "shape", "form")
_MOST_LINEAR = 200
_DEEPEST = 12
_ADDING = frozenset({"Add", "AddV2", "Sub"})
_COMPARING = {"Sub": 0, "RealDiv": 1}
_NORMALISED_BY_HAND = frozenset({"RealDiv", "Sub"})
SHARING = _NORMALISED_BY_HAND | {"Sum", "Mean"} | ops_with("moves")


@dataclass(frozen=True, slots=True)
class Cancelled(Evidence):
    """Contributions of opposite sign add up to 0.

    ``why``:
      ``values``: they do at the values of this run;
      ``sum``: always, for values that were normalised are added up;
      ``softmax-of-one``: always, for a softmax of a single number is 1;
      ``mean-of-one``: always, for a single number minus its own mean is 0;
      ``subtracted``: always, for what was subtracted is added again;
      ``compared``: always, for two results of the same computation are compared;
      ``linear``: always, for only sums, means and differences lead from the source to the target;
      ``tangents``: in forward mode, with the tangents that were given.
    """

    kind: ClassVar[str] = "cancelled"
    why: Literal[
        "values",
        "sum",
        "softmax-of-one",
        "mean-of-one",
        "subtracted",
        "compared",
        "linear",
        "tangents",
    ] = "values"

    @property
    def is_harmless(self) -> bool:
        return self.why == "linear"

    def sentence(self, cause: Cause, target: str, source: str) -> str:
        begin = (
            f"At line {cause.line} ({cause.op_words or 'a sum'}) contributions of opposite sign "
            f"add up to exactly 0"
        )
        if self.why == "softmax-of-one":
            return (
                f"{cause.op_words} on line {cause.line} takes a softmax of a single number, which "
                f"is 1 whatever that number is. So {target} does not change when {source} does. "
                f"Use a sigmoid for a single output, or as many outputs as there are classes; "
                f"where there should be more numbers, look at the axis."
            )
        if self.why == "mean-of-one":
            return (
                f"Line {cause.line} subtracts the mean of a single element from that element, "
                f"which leaves 0 whatever it is. So {target} does not change when {source} does. "
                f"Normalise over an axis that has more than one element, or over a larger batch."
            )
        if self.why == "compared":
            return (
                f"Both sides of {cause.op_words or 'the operation'} on line {cause.line} are the "
                f"same computation of the same values. They are equal whatever {source} is, so "
                f"what one side adds to the gradient the other takes away. "
                f"Put tf.stop_gradient around the side that is there to compare with."
            )
        if self.why == "tangents":
            return (
                f"No operation is known to be flat that all paths lead through: what the given "
                f"tangents contribute to {target} is 0 or adds up to exactly 0, so {target} does "
                f"not change in their direction."
                f" Give other tangents, or ask a GradientTape, which answers for each element."
            )
        if self.why == "values":
            return (
                f"{begin} at these values: {target} is at a minimum, a maximum or a saddle point "
                f"of {source}, or does not depend on it. With other values a gradient may flow; "
                f"if it stays 0, differentiate something that does depend on {source}."
            )
        if self.why == "linear":
            return (
                f"{begin}, whatever the values are: only sums, means and differences lead from "
                f"{source} to {target}, and what {source} adds is subtracted again. That is as it "
                f"should be of the last bias of a critic whose scores are subtracted from each "
                f"other: such a bias learns nothing, and changes nothing."
            )
        if self.why == "subtracted":
            return (
                f"{begin}: the same value is subtracted there and added again, so {target} does "
                f"not change when {source} does. To pass the gradient on as if the other operand "
                f"were that value, put tf.stop_gradient around the difference."
            )
        return (
            f"{begin}. The gradient of {target} by {source} is zero because {target} "
            f"does not change when {source} does, as with the sum of a softmax. "
            f"Differentiate something that does depend on {source}."
        )


def sound_summands(zero: MadeZero) -> Cause | None:
    """Gradients that are not zero add up to zero at a fan-out."""
    if zero.op is None or zero.step is not None:
        return None
    compared = _compared_with_itself(zero.facts, zero.op)
    if compared is not None:
        return zero.facts.cause_at(Cancelled("compared"), compared)
    reasons = (_why_cancelled(zero.facts, tensor) for tensor in zero.op.inputs)
    return zero.facts.cause_at(
        next((r for r in reasons if r.why != "values"), Cancelled()), zero.op
    )


def _compared_with_itself(facts: CallFacts, begin: Op) -> Op | None:
    """The first difference, or quotient, behind ``begin`` of two results of one computation, which
    draws nothing: it is 0, or 1, everywhere."""
    trace, same, waiting = facts.trace, SameWork(facts.trace), {begin.id: begin}
    for _ in range(_MOST_LINEAR):
        if not waiting:
            return None
        op = waiting.pop(min(waiting))
        sides = op.inputs if op.type in _COMPARING and len(op.inputs) == 2 else (None, None)
        first, other = map(trace.maker, sides)
        if first is not None and other not in (None, first) and same.ops(first, other):
            stats = trace.stats(op.outputs[0])
            if (
                stats is not None
                and stats.has_range
                and stats.min == stats.max == _COMPARING[op.type]
            ):
                return op
        for tensor in op.outputs:
            waiting.update({taker.id: taker for _, taker, _ in facts.feeding.of(tensor)})
    return None


def _why_cancelled(facts: CallFacts, tensor: TensorId) -> Cancelled:
    """Why the gradients of a tensor add up to zero, by the ops that took it.

    ``reduce_sum(x / reduce_sum(x))`` is 1 and ``reduce_sum(x - reduce_mean(x))`` is 0, whatever x,
    also if it is divided by a deviation; ``y - x + x`` is y.
    """
    version = facts.trace.reads.get(tensor)
    reads = facts.reads.get(version.variable, ()) if version is not None else [tensor]
    shares = [(t, step, op) for t in reads for step, op, _ in facts.feeding.of(t)]
    users = [op for _, _, op in shares]
    if any(_is_mean_of_one(facts, op) for op in users) and _is_less_itself(facts, reads):
        return Cancelled("mean-of-one")
    if len(users) == 2 and all(op.type in _ADDING for op in users):
        first, second = sorted(users, key=lambda op: op.id)
        if first.outputs[0] in second.inputs:
            return Cancelled("subtracted")
    is_even_sum = all(op.type in SHARING for op in users) and any(
        op.type in _NORMALISED_BY_HAND and op.inputs[0] == t and is_even(facts, step)
        for t, step, op in shares
    )
    is_spread = bool(shares) and all(is_sum_of_spread(facts, step, op) for _, step, op in shares)
    if is_even_sum or is_spread:
        return Cancelled("sum")
    return Cancelled("linear" if _is_linear(facts, users) else "values")


def _is_linear(facts: CallFacts, users: Sequence[Op]) -> bool:
    """Whether the gradient came back through ops alone whose gradients depend on no value, from the
    targets to these ops, and which take no elements at places that were computed from values."""
    waiting, known = list(users), {op.id for op in users}
    while waiting:
        op = waiting.pop()
        if op.type not in _LINEAR or len(known) > _MOST_LINEAR or _has_computed_places(facts, op):
            return False
        for tensor in op.outputs:
            takers = (taker for _, taker, _ in facts.feeding.of(tensor) if taker.id not in known)
            new = {taker.id: taker for taker in takers}
            waiting += new.values()
            known |= new.keys()
    return bool(users)


def _has_computed_places(facts: CallFacts, op: Op) -> bool:
    """Whether whole numbers that an op takes, as the indices of a gather, came out of an op that
    looks at values."""
    trace = facts.trace
    whole = (
        t for t in op.inputs if "int" in (trace.tensors[t].dtype if t in trace.tensors else "")
    )
    makers = (trace.op(trace.producers.get(tensor)) for tensor in whole)
    return any(maker is not None and maker.type not in _FORM for maker in makers)


_Terms = Mapping[tuple[bool, tuple[TensorId, ...]], int]
"""A sum that is linear in a number: (the mean of the number instead of itself, the factors of the
term) → how often that term is added."""


def _is_less_itself(facts: CallFacts, reads: Sequence[TensorId]) -> bool:
    """Whether a single element is only used in differences to its own mean; both may have been
    multiplied by the same factors: ``x * k + (b - mean * k)``.

    ``reads``: the tensors that hold the element.
    """
    terms: dict[TensorId, _Terms] = {tensor: {(False, ()): 1} for tensor in reads}
    waiting = {op.id: op for tensor in reads for _, op, _ in facts.feeding.of(tensor)}
    for _ in range(_DEEPEST):
        if not waiting:
            return True
        op = waiting.pop(min(waiting))
        made = _terms_made(facts, op, terms)
        takers = [taker for tensor in op.outputs for _, taker, _ in facts.feeding.of(tensor)]
        is_end = not takers or op.outputs[0] in facts.call.target_tensors
        if made is None or (made and is_end):
            return False
        if made:
            terms[op.outputs[0]] = made
            waiting.update({taker.id: taker for taker in takers})
    return False


def _terms_made(facts: CallFacts, op: Op, known: Mapping[TensorId, _Terms]) -> _Terms | None:
    """The terms of what an op gives; None if it is not linear in the number, or if a term
    cancels itself there."""
    given = [known.get(tensor, {}) for tensor in op.inputs]
    if op.type == "SquaredDifference":  # without a slope where there is no difference
        given = [known.get(tensor) or _terms_behind(facts, tensor, known) for tensor in op.inputs]
        return {} if all(given) and not _added(given, -1) else None
    if op.type in _ADDING and any(given):
        return _added(given, -1 if op.type == "Sub" else 1)
    if op.type == "Mul" and sum(map(bool, given)) == 1:
        factor, terms = (op.inputs[1], given[0]) if given[0] else (op.inputs[0], given[1])
        return {(m, tuple(sorted((*by, factor)))): count for (m, by), count in terms.items()}
    if _is_mean_of_one(facts, op):
        return {(True, by): count for (_, by), count in given[0].items()} or None
    if op.type == "Neg":
        return {key: -count for key, count in given[0].items()} or None
    return (given[0] or None) if op.type in _COPIES else None


def _added(given: Sequence[_Terms], sign: int) -> _Terms | None:
    """The terms of a sum, where a number and its mean cancel each other. None if a term cancels
    itself."""
    first, second = given
    sums = {key: first.get(key, 0) + sign * second.get(key, 0) for key in {**first, **second}}
    if not all(sums.values()):
        return None
    return {(m, by): count for (m, by), count in sums.items() if sums.get((not m, by)) != -count}


def _terms_behind(facts: CallFacts, tensor: TensorId, known: Mapping[TensorId, _Terms]) -> _Terms:
    """The terms of a tensor that copies and means made, perhaps behind a ``tf.stop_gradient``."""
    is_mean, maker = False, facts.trace.maker(tensor)
    while tensor not in known and maker is not None:
        is_mean |= maker.type == "Mean"
        if not (maker.type in _COPIES or _is_mean_of_one(facts, maker)):
            return {}
        tensor, maker = maker.inputs[0], facts.trace.maker(maker.inputs[0])
    terms = known.get(tensor, {})
    return {(is_mean or m, by): count for (m, by), count in terms.items()}


def is_sum_of_spread(facts: CallFacts, step: Step, op: Op) -> bool:
    """Whether ``op`` multiplies by a scale made from a variance, and all its elements are added up.

    Normalised values have the same sum whatever the deviation was by which they were divided, and
    also if all of them were multiplied by the same number afterwards.
    """
    scales = [each for each in op.inputs if _variance_behind(facts, each) is not None]
    if op.type not in _PRODUCTS or len(scales) != 1:
        return False
    steps = [step]
    if not _is_same(facts, step.upstream[0]):
        others = (each for each in op.inputs if each not in scales)
        is_scaled_alike = all(_is_same(facts, each) for each in others)
        steps = [each for each, _, _ in facts.feeding.of(op.outputs[0])] if is_scaled_alike else []
    return bool(steps) and all(_is_same(facts, each.upstream[0]) for each in steps)


def why_same_sum(facts: CallFacts, step: Step, op: Op) -> Cancelled | None:
    """Why the outputs of an op have the same sum for every input; None if they have not."""
    if op.type in NORMALISING | _LOSSES and _is_of_one(facts, op.inputs[0]):
        return Cancelled("softmax-of-one")
    if op.type in NORMALISING and is_even(facts, step):
        return Cancelled("sum")
    if op.type in FUSED and _is_same(facts, step.upstream[0]):
        return Cancelled("sum")
    if not is_sum_of_spread(facts, step, op):
        return None
    variances = (_variance_behind(facts, each) for each in op.inputs)
    is_alone = any(each is not None and _is_mean_of_one(facts, each) for each in variances)
    return Cancelled("mean-of-one" if is_alone else "sum")


def softmax_of_one_behind(facts: CallFacts, op: Op) -> Op | None:
    """The softmax over a single element whose result ``op`` clips, as losses of Keras clip
    probabilities: that result is always 1, clipped or not."""
    maker: Op | None = op
    for _ in range(_DEEPEST):
        if maker is None or not maker.inputs or not _is_of_one(facts, maker.inputs[0]):
            return None
        maker = facts.trace.maker(maker.inputs[0])
        if maker is not None and maker.type in NORMALISING:
            return maker if _is_of_one(facts, maker.inputs[0]) else None
    return None


def _is_of_one(facts: CallFacts, tensor: TensorId) -> bool:
    """Whether the last axis, along which a softmax sums to 1, has one element."""
    known = facts.trace.tensors.get(tensor)
    return known is not None and (known.shape or (0,))[-1] == 1


def _is_mean_of_one(facts: CallFacts, op: Op) -> bool:
    known = facts.trace.tensors
    sizes = [known[tensor].size for tensor in (*op.inputs[:1], *op.outputs) if tensor in known]
    return op.type == "Mean" and len(sizes) == 2 and sizes[0] is not None and sizes[0] == sizes[1]


def less_own_mean(facts: CallFacts, op: Op) -> Op | None:
    """The op that subtracted from a number the mean of itself alone, and so made a factor of ``op``
    that is 0 whatever the number is, as where each channel is normalised over one pixel."""
    for tensor in op.inputs:
        maker = facts.trace.maker(tensor)
        if maker is None or maker.type != "Sub" or len(maker.inputs) != 2:
            continue
        behind = facts.trace.maker(maker.inputs[1])
        for _ in range(_DEEPEST):
            if behind is None or _is_mean_of_one(facts, behind) or behind.type not in _COPIES:
                break
            behind = facts.trace.maker(behind.inputs[0])
        if behind is None or not _is_mean_of_one(facts, behind):
            continue
        if behind.inputs[0] == maker.inputs[0] or _is_read_of(facts, behind, maker):
            return maker
    return None


def _is_read_of(facts: CallFacts, mean: Op, difference: Op) -> bool:
    """Whether both took the same version of a variable."""
    reads = (facts.trace.reads.get(each.inputs[0]) for each in (mean, difference))
    first, second = (read.id if read is not None else None for read in reads)
    return first is not None and first == second


def _is_same(facts: CallFacts, tensor: TensorId | None) -> bool:
    """Whether all elements are equal."""
    stats = facts.trace.stats(tensor) if tensor is not None else None
    return stats is not None and stats.has_range and stats.min == stats.max


def _variance_behind(facts: CallFacts, tensor: TensorId) -> Op | None:
    """The mean of squares from which the tensor was made by scaling alone."""
    makers = [facts.trace.maker(tensor)]
    for maker in makers:
        if maker is None or len(makers) > _DEEPEST:
            continue
        made = [facts.trace.maker(each) for each in maker.inputs]
        if maker.type == "Mean" and made[0] is not None and made[0].type in _SQUARES:
            return maker
        if maker.type in _SCALING:
            makers += made
    return None
