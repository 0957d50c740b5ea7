"""``not-differentiable`` and ``integer``: what comes out has no slope by what went in."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from ....text.op_words import friendly
from ....trace.ids import VersionId
from ....trace.op_kinds import ops_with
from ....trace.ops import Op
from ....trace.tapes import is_differentiable
from ...call_facts import CallFacts, maker_past
from ...findings import Cause, Evidence
from ...flow.ancestry import DataEdge, Position
from ...flow.dataflow import LEVEL_OPS
from ...flow.lookups import uses_of
from ..questions import EdgeUnderTest, Unwatched

_POSITIONS = ops_with("position")
_QUESTIONS = ops_with("question")
_SHAPES = ops_with("shape")
_DRAWS = ops_with("draw")
_DISCRETE_DRAWS = ops_with("discrete")
_BRANCHES = ops_with("branch")
_PASSED = ops_with("copy") | {"ReadVariableOp"}
# Ops from floats to floats that are registered as not differentiable, or with a gradient function
# that gives None (gradient registry of 2.15 to 2.21). Asked where no gradient function was called.
_WITHOUT_GRADIENT = ops_with("no-gradient")
_CASTING = ("cast", "to_", "dtype", "astype")
"""Parts of the names of functions that are there to give another dtype."""
_DECODED = "Train with tf.nn.ctc_loss on the logits, and keep what is decoded for reports."
_WEIGHED = "Multiply what is picked by its score: then the scores get a gradient."
_PICKED = (
    "A position jumps from one whole number to the next, so it has no slope. "
    "Interpolate between the elements around the position in place of picking one."
)
_MASKED = (
    "A mask takes an element or not, with nothing in between, so it has no slope. "
    "Multiply the elements by weights from 0 to 1 (a sigmoid) in place of picking some."
)
_BETWEEN = "Interpolate between the values of the two edges around it."
# What is done in place of an op that many use in a loss.
_IN_PLACE = {
    "CTCGreedyDecoder": _DECODED,
    "CTCBeamSearchDecoder": _DECODED,
    "TopK": _WEIGHED,
    "TopKV2": _WEIGHED,
    "NonMaxSuppressionV3": _WEIGHED,
    "NonMaxSuppressionV5": _WEIGHED,
    "LowerBound": _BETWEEN,
    "UpperBound": _BETWEEN,
    "Bucketize": _BETWEEN,
    "Bitcast": "If only the dtype should change, use tf.cast, to a float dtype.",
    "ArgMax": "In a loss compare the scores themselves with the labels (by a cross-entropy); where "
    "it picks something, average by tf.nn.softmax of the scores.",
    "ArgMin": "Where it picks or counts something, weigh by tf.nn.softmax of minus the scores.",
}


@dataclass(frozen=True, slots=True)
class NotDifferentiable(Evidence):
    """TensorFlow has no gradient function for the op. ``error``: what TensorFlow raised when the
    op's gradient function was looked up.

    ``is_level``: the output jumps and is constant in between. Otherwise it may have a slope, of
    which TensorFlow has no code (``Betainc`` by ``a`` and ``b``, ``HSVToRGB``, ``LinSpace``).
    ``is_inside``: which op it is inside of the compiled call is not known. ``is_count``: it is how
    many elements there are of what a mask, or something else that values decide about, picked.
    """

    kind: ClassVar[str] = "not-differentiable"
    error: str = ""
    is_level: bool = True
    is_inside: bool = False
    is_count: bool = False

    def sentence(self, cause: Cause, target: str, source: str) -> str:
        if self.is_inside:
            return (
                f"Every path from {source} to {target} goes through the compiled function that "
                f"line {cause.line} calls, and forward mode gives None for what it returns: an "
                f"operation in it has no derivative, or stops the gradient. Look for a rounding, a "
                f"comparison, a whole number or tf.stop_gradient there."
            )
        every = "Every path" if cause.is_alone else "One path"
        rest = "" if cause.is_alone else ", and the other paths are cut, too"
        return (
            f"{every} from {source} to {target} goes through {cause.op_words} on line "
            f"{cause.line}{rest}. {self._why(cause)} {self._way_out(cause.op, source)}"
        )

    def _way_out(self, op: str, source: str) -> str:
        if self.is_count:
            return (
                "Add up a smooth measure of each element, such as a sigmoid of how far it passes "
                "the threshold, in place of counting."
            )
        if op in _SHAPES:
            return f"Use the values of {source}, too, where the gradient should come from."
        if op in _DISCRETE_DRAWS:
            return (
                "Take the gradient of the draw's log-probability times what it earned "
                "(REINFORCE), or use a relaxation such as Gumbel-softmax."
            )
        if op in _IN_PLACE:
            return _IN_PLACE[op]
        instead = "an operation that has a gradient" if not self.is_level else "a smooth operation"
        return f"Use {instead} in its place, or estimate its gradient with tf.custom_gradient."

    def _why(self, cause: Cause) -> str:
        op = cause.op
        if self.is_count:
            return (
                "It counts the elements that were picked, and a count jumps from one whole number "
                "to the next."
            )
        if "no entry" in self.error or "LookupError" in self.error:
            return f"TensorFlow has no gradient function for {op}."
        if op in _POSITIONS:
            return "It gives positions, and a position jumps from one whole number to the next."
        if op in _QUESTIONS and _stands_for_more(cause.words, op):
            return "Inside it compares numbers, and a comparison has no slope."
        if op in _QUESTIONS:
            return "Its result is true or false, with nothing in between, so it has no slope."
        if op in _SHAPES:
            return "It looks at how many elements there are, not at their values."
        if op == "Bitcast":
            return "It reads the same bits as another type: they stand for another number there."
        if op in _DRAWS:
            return "It draws at random, and a draw has no derivative."
        if not self.is_level:
            return "TensorFlow has no derivative of it by this input."
        return (
            "Its result jumps from value to value and is constant in between, so it has no slope."
        )


def _stands_for_more(words: str, op: str) -> bool:
    """Whether the snippet calls a function in which the op is a step: ``tf.linalg.matrix_rank``."""
    path = words.split(".")
    return all(map(str.isidentifier, path)) and path[-1].replace("_", "") != op.lower()


@dataclass(frozen=True, slots=True)
class IntegerValue(Evidence):
    """The value has a dtype without gradients. ``dtype``: of the value, which is no real or complex
    number.

    ``picks_on``: the line of the op that picks elements by it; 0 if none does. ``taken_by``, with
    its line: the op that computes by it otherwise.
    """

    kind: ClassVar[str] = "integer"
    dtype: str
    picks_on: int = 0
    taken_by: str = ""
    taken_on: int = 0

    def sentence(self, cause: Cause, target: str, source: str) -> str:
        if self.dtype == "string":
            return (
                f"On line {cause.line} the value becomes text. "
                f"Text has no derivative, and a number read from it has no link to the one before. "
                f"Keep the value a float tensor up to {target}."
            )
        if self.picks_on and cause.op:
            is_here = self.picks_on == cause.line
            picks = " and picks" if is_here else f", and line {self.picks_on} picks"
            return (
                f"Line {cause.line} turns the value into {self.dtype}{picks} elements by it. "
                f"{_MASKED if self.is_mask else _PICKED}"
            )
        if self.picks_on:
            return (
                f"{source} (line {cause.line}) is of dtype {self.dtype}, and line {self.picks_on} "
                f"picks elements by it. A {'mask' if self.is_mask else 'position'} cannot change a "
                f"little, so there is no derivative by it. Ask for the gradient of what is picked "
                f"there."
            )
        if cause.op and self.taken_by:
            return (
                f"Line {cause.line} turns the value into {self.dtype}, and {self.taken_by} on line "
                f"{self.taken_on} computes by that. A whole number jumps from one to the next, so "
                f"it has no slope. Compute the result for the two whole numbers around the value, "
                f"and interpolate between the two."
            )
        if cause.op:
            return (
                f"Line {cause.line} turns the value into {self.dtype}. "
                f"Gradients exist for real and complex numbers only, so the gradient stops here. "
                f"Leave that out between {source} and {target}, or use a float dtype."
            )
        return (
            f"On line {cause.line} the value is of dtype {self.dtype}. "
            f"Gradients exist for real and complex numbers only, so the gradient stops here. "
            f"Use a float dtype such as tf.float32 (write "
            f"{'1.0 for True' if self.is_mask else '3.0 for 3'})."
        )

    @property
    def is_mask(self) -> bool:
        return self.dtype == "bool"


def became_whole(asked: EdgeUnderTest) -> Cause | None:
    """A real number became an integer, boolean or string: nothing infinitesimal is left of it."""
    edge, facts, op = asked.edge, asked.facts, asked.op
    if op is None or edge.kind != "op" or is_differentiable(facts.dtype(edge.end)):
        return None
    if not asked.is_from_real or facts.dtype(edge.start) == "variant":  # a list may hold integers
        return None
    dtype = facts.dtype(edge.end)
    words = facts.words_of(op)
    is_named = not words or any(part in words for part in _CASTING)
    is_cast = op.type == "Cast" and (is_named or not _is_made_by_same_call(facts, edge, op))
    evidence: Evidence = NotDifferentiable()
    if is_cast or dtype == "string":
        evidence = _whole_number(facts, edge.end, dtype)
    return facts.cause(evidence, facts.line_of(op), edge)


def _is_made_by_same_call(facts: CallFacts, edge: DataEdge, op: Op) -> bool:
    """Tell whether one call of the snippet computed a value and cast it, too.

    ``tf.histogram_fixed_width_bins`` does so with its positions; a loss only casts its labels."""
    maker = maker_past(facts.trace, edge.tensor, _PASSED) if edge.tensor is not None else None
    return maker is not None and maker.type not in _PASSED and maker.site.id == op.site.id


def _whole_number(facts: CallFacts, position: Position, dtype: str) -> IntegerValue:
    """The evidence for a value that was cast, with the op that goes on to use it as such."""
    if isinstance(position, VersionId):
        return IntegerValue(dtype)
    pick, taker = uses_of(facts, position)
    if pick is not None:
        return IntegerValue(dtype, facts.line_of(pick))
    if taker is None or dtype == "bool":  # nothing lies between false and true
        return IntegerValue(dtype)
    words = facts.words_of(taker) or friendly(taker.type)
    return IntegerValue(dtype, taken_by=words, taken_on=facts.line_of(taker))


def gave_none(asked: EdgeUnderTest) -> Cause | None:
    """The op's gradient function ran and gave None, or there is none to run.

    A compiled conditional hands on what its branches give: the cut lies in one of them.
    """
    facts, op, step = asked.facts, asked.op, asked.step
    if op is None or op.type in _BRANCHES:
        return None
    if not (asked.gave_none or _is_known_flat(asked, op)):
        return None
    error = step.error if step is not None else ""
    is_level = op.type in LEVEL_OPS
    return facts.cause(NotDifferentiable(error, is_level), facts.line_of(op), asked.edge)


def _is_known_flat(asked: EdgeUnderTest, op: Op) -> bool:
    """Whether the op has no gradient function, where none was asked for."""
    if asked.edge.kind != "op" or not asked.is_from_real or op.type not in _WITHOUT_GRADIENT:
        return False
    is_unreplayed = op.graph != 0 or op.within is not None or asked.facts.call.replay is None
    return is_unreplayed and asked.step is None and op.derived is None


def gave_no_tangent(asked: Unwatched) -> Cause | None:
    """In forward mode, where a primal is always watched: a compiled call of which only the name is
    known, such as that of a vectorized function, gave None for the tangent."""
    facts = asked.facts
    if not facts.call.is_forward:
        return None
    ancestry = facts.flow.ancestry([*facts.paths.targets])
    edges = ancestry.edges_from(facts.paths.starts(asked.tensor))
    ops = [op for into in edges.values() for edge in into if (op := facts.op(edge)) is not None]
    calls = [op for op in ops if op.is_compiled_call and not op.body]
    last = max(calls, key=lambda op: op.when, default=None)
    return None if last is None else facts.cause_at(NotDifferentiable(is_inside=True), last)


def is_integer(asked: Unwatched) -> Cause | None:
    """The source itself is of a dtype that has no gradients."""
    variable, facts = asked.variable, asked.facts
    dtype = variable.dtype if variable else facts.dtype(asked.tensor)
    if is_differentiable(dtype):
        return None
    pick = uses_of(facts, asked.tensor).pick
    evidence = IntegerValue(dtype, facts.line_of(pick) if pick is not None else 0)
    return facts.cause(evidence, facts.line_where_made(asked.tensor) or facts.call.line)
