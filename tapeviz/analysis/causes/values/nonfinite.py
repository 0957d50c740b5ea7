"""``nonfinite``: the op of the backward pass that turned finite numbers into NaN or infinity."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import lru_cache
from typing import ClassVar, Literal

import numpy as np

from ....text.names import called_name, calls_in
from ....text.source import SourceText
from ....trace.calls import Step
from ....trace.ids import OpId
from ....trace.op_kinds import ops_with
from ....trace.ops import Op
from ...call_facts import CallFacts
from ...findings import Cause, Evidence
from ...numbers.began import began, by_name, in_first_turn, is_meant, place_of_bad
from ...numbers.first_bad import (
    MINUS,
    ZERO,
    bad_variable,
    first_bad,
    has_element,
    infinity_before,
    maker_of,
    origin_of,
    value_at,
    value_that_spoiled,
)
from ...numbers.spoiled import (
    NORMALISING,
    has_inside,
    is_nonfinite,
    last_in_body,
    spoiling,
    was_given,
)
from ..ops.custom_gradient import gradient_return_line
from ..questions import MadeNonfinite

_LARGEST = {"float16": "65504", "bfloat16": "3.4e38", "float32": "3.4e38", "float64": "1.8e308"}
_NARROW = ("float16", "bfloat16")
_SCALING = frozenset({"LossScaleOptimizer", "scale_loss", "get_scaled_loss"})
"""Calls by which a snippet scales its loss (Keras 3, and Keras 2.15 for the last)."""
# A slope that is infinite or undefined at a point, or a result that is; then what overflows.
_SINGULAR = ops_with("singular")
_GROWING = ops_with("grows")
_OF_MATRICES = ops_with("matrix")
# Their slope is finite wherever their inputs are: what they give can only be too large.
_STEADY = ops_with("product", "linear", "moves", "copy", "view", "mask") - _SINGULAR - _GROWING
_MULTIPLYING = _STEADY & ops_with("product")
_DIVISIONS = ops_with("divides")


@dataclass(frozen=True, slots=True)
class Nonfinite(Evidence):
    """NaN or infinity came into the gradient at an op.

    ``how``:
      ``given``: they were given as ``output_gradients``;
      ``input``: the op took them in the forward pass; ``origin``: where from, in words; ``made``:
        the line, 0 if no line made them; ``is_from_variable``: a variable held them;
      ``output``: the op gave them in the forward pass;
      ``result``: it did, and its gradients are finite all the same;
      ``forward``: it did, and the op ``brought_in_by`` was the first of the backward pass to use
        them;
      ``point``: the op has no slope at its input;
      ``masked``: so it is, and the gradient that arrived was 0;
      ``written``: its gradient function is the snippet's own and gave them;
      ``overflow``: its gradient is too large for its ``dtype``; ``is_scaled``: an optimizer of
        the snippet scales the loss, and leaves such a step out.
    ``value``: what the op got there, empty if not known. ``vanished``: if that is 0 and was made
    from infinity, where this came from, in words. ``number``: which of several ``calls`` of
    a compiled function it was, from 1; 0 if there is one only.
    """

    kind: ClassVar[str] = "nonfinite"
    how: Literal[
        "given", "input", "output", "result", "forward", "point", "masked", "written", "overflow"
    ] = "point"
    value: str = ""
    origin: str = ""
    made: int = 0
    is_from_variable: bool = False
    brought_in_by: str = ""
    dtype: str = ""
    is_scaled: bool = False
    vanished: str = ""
    number: int = 0
    calls: int = 0

    @property
    def is_harmless(self) -> bool:
        return self.is_scaled

    def sentence(self, cause: Cause, target: str, source: str) -> str:
        line = cause.line
        if cause.is_probable:
            return (
                f"NaN or infinity comes from inside a compiled function or a loop, probably from "
                f"{cause.op_words} on line {line}: at some values its result or its slope is "
                f"infinite or undefined. Keep its input away from those, or run the function with "
                f"tf.config.run_functions_eagerly(True) to see each value."
            )
        if self.how == "given":
            return (
                f"The output_gradients given on line {line} are NaN or infinite. "
                f"The backward pass starts from them, and so it spreads to {source}."
            )
        if self.how == "written":
            return (
                f"The gradient function that {cause.op_words} brings (line {line}) was given "
                f"finite numbers and gave NaN or infinity, which spread to {source}. TensorFlow "
                f"takes what that function returns as it is. Look at what it divides by, or takes "
                f"a root or a logarithm of."
            )
        plain = f"{cause.op_words} on line {line}"
        when = f"In call {self.number:,} of {self.calls:,}, " if self.number else ""
        op = when + plain
        if self.how == "input":
            return (
                f"{op} works with a value that is NaN or infinite already: {self.origin}. "
                f"Its backward pass is the first that brings this into the gradient, and from "
                f"there it spreads to {source}. Look for the value's own cause first."
            )
        if self.how == "overflow":
            remedy = "Scale the loss down, or compute this part in float32."
            if self.is_scaled:
                remedy = (
                    "A LossScaleOptimizer leaves such a step out and halves its scale, so a few "
                    "such rounds are as they should be; if they go on, compute this part in "
                    "float32."
                )
            if self.dtype not in _NARROW:
                remedy = "Keep the numbers that it multiplies small, or scale the loss down."
            if self.dtype not in _NARROW and cause.op in _DIVISIONS:
                remedy = "Keep what it divides by away from 0, and what it multiplies small."
            the = f"{when}the" if when else "The"
            return (
                f"{the} gradient that {plain} gives is too large for {self.dtype}, which ends at "
                f"{_LARGEST[self.dtype]}, and becomes infinite. From there it spreads to {source}. "
                f"{remedy}"
            )
        got = f" got {self.value}, where its" if self.value else ""
        if self.value == ZERO and cause.op in _DIVISIONS:
            got = f" divides by {self.value}, where its"
        is_empty_row = self.value == MINUS and cause.op in NORMALISING
        if is_empty_row:
            got = " got a row of nothing but -inf, of which the"
        if cause.op in _OF_MATRICES:
            got = " got a matrix of which the"
        gave = f"{op}{got} result is NaN or infinite" if got else f"{op} gave NaN or infinity"
        remedy = f"Keep the input of {cause.op_words} where the result is finite."
        if is_empty_row:
            remedy = "Leave something in each row unmasked, or mask with a large finite number."
        if self.how == "output":
            # In a compiled function the values of the backward pass are not all known.
            first = (
                "" if self.calls else ", and its backward pass is the first to give such numbers"
            )
            if self.vanished:
                remedy = f"The 0 was made from infinity: {self.vanished}."
            return f"{gave}{first}. From there they spread to {source}. {remedy}"
        if self.how == "forward":
            return (
                f"{gave}. {self.brought_in_by} works with that result and "
                f"brings it into the gradient, from where it spreads to {source}. {remedy}"
            )
        if self.how == "result":
            return (
                f"{gave}. The gradients of that call are finite all the same, so they say nothing "
                f"of it. {remedy}"
            )
        remedy = "Keep its input away from that point."
        if self.how == "masked":
            remedy = (
                "What arrives there is 0, and 0 times infinity is NaN: use tf.where on its input "
                "to keep that away from this point, since a tf.where on its result alone does not "
                "help."
            )
        slope = f"{op}{got} slope is" if got else f"{op} has a slope that is"
        return (
            f"{slope} infinite or undefined: its backward pass is the first to turn "
            f"finite numbers into NaN or infinity, which spread to {source}. {remedy}"
        )


def nonfinite(asked: MadeNonfinite) -> Cause | None:
    """The first op of the backward pass that turned finite into NaN or Inf; of a compiled
    function that was called several times, in the call in which that happened first."""
    facts, source = asked.facts, asked.source
    first = nonfinite_in_call(facts)
    if first is not None and facts.trace.ops[facts.call.within or OpId(0)] is not first[0]:
        return first[1]
    found = spoiling(facts, source, is_nonfinite)
    if found is None:
        is_given = was_given(facts, is_nonfinite, any)
        return facts.cause(Nonfinite("given"), facts.call.line) if is_given else None
    step, op = found
    inner = _first_inside(facts, op)
    turned = _in_a_turn(facts, op, inner)
    if turned is not None:
        return turned
    if inner is None and has_inside(op) and not op.is_open:
        suspect = last_in_body(facts, op, _SINGULAR) or last_in_body(facts, op, _GROWING)
        if suspect is not None:
            return replace(facts.cause_at(Nonfinite(), suspect), is_probable=True)
    if step is None or inner is not None:
        return facts.cause_at(Nonfinite(), inner or op)
    return _cause_of_step(facts, step, op)


def nonfinite_in_call(facts: CallFacts) -> tuple[Op, Cause, Nonfinite] | None:
    """For a gradient call in a compiled function: the first call of that function that gave NaN or
    infinity, and why; None where that is not known."""
    if facts.call.within is None:
        return None
    found = began(facts.trace, facts.call)
    if found is None:
        return None
    trace = facts.trace
    shown, run = by_name(trace, trace.ops[facts.call.within]), by_name(trace, found.run)
    op = shown.get((found.gave.traced, found.gave.name), found.gave)
    if found.given is not None:
        origin, made = origin_of(facts, first_bad(facts, found.given))
        given = Nonfinite("input", origin=origin, made=made, number=found.number, calls=found.calls)
        return found.run, facts.cause_at(given, facts.origins.forward(op)), given
    forward = facts.origins.forward(op)
    own, now = in_first_turn(trace, run.get((forward.traced, forward.name), forward), _SINGULAR)
    forward = shown.get((own.traced, own.name), own)
    bad = any(trace.has_nonfinite(now.get(output, output)) for output in own.outputs)
    if bad:
        value = value_that_spoiled(facts, own, now)
    else:
        at = place_of_bad(trace, found.gave, now)
        value = value_at(own.inputs, at, lambda tensor: trace.value(now.get(tensor, tensor)))
    how: Literal["output", "result", "point"] = "output" if bad else "point"
    if bad and not found.is_in_gradients:
        how = "result"
    evidence = Nonfinite(how, value)
    dtype = next(
        (facts.dtype(each) for each in found.gave.outputs if trace.has_nonfinite(each)), ""
    )
    if not bad and own.type in _STEADY and dtype in _LARGEST:
        evidence = _overflow(facts, dtype)
    evidence = replace(evidence, number=found.number, calls=found.calls)
    return found.run, facts.cause_at(evidence, forward), evidence


def _in_a_turn(facts: CallFacts, op: Op, inner: Op | None) -> Cause | None:
    """For a loop, or the call of a compiled function with loops, the op and what it got in the
    first turn that made such numbers. ``inner``: the op that seems to have, by the values drawn."""
    trace = facts.trace
    for loop in trace.loops.values():
        is_there = inner is None or inner.id == loop.op or inner.id in loop.body
        is_asked = loop.op == op.id or (op.is_compiled_call and trace.ops[loop.op].within == op.id)
        if not is_asked or not is_there:
            continue
        own, now = in_first_turn(trace, trace.ops[loop.op], _SINGULAR)
        if own.id != loop.op:
            bad = any(trace.has_nonfinite(now.get(output, output)) for output in own.outputs)
            value = value_that_spoiled(facts, own, now) if bad else ZERO
            evidence = Nonfinite("output" if bad else "point", value)
            return facts.cause_at(evidence, own)
    return None


def _first_inside(facts: CallFacts, call: Op) -> Op | None:
    """The first op inside a compiled function that made NaN or infinity from finite numbers."""
    inside = (facts.trace.ops[inner] for inner in (call.body if call.is_compiled_call else ()))
    return next(filter(facts.trace.makes_nonfinite, inside), None)


def _cause_of_step(facts: CallFacts, step: Step, op: Op) -> Cause:
    """Why the gradient function of ``op`` gave such numbers. Where a value of the forward pass has
    them already the op that made that value is the cause, if the tape recorded it."""
    trace = facts.trace
    bad = next((t for t in op.inputs if trace.has_nonfinite(t) and not is_meant(trace, t)), None)
    if bad is None:
        line = gradient_return_line(facts.text, op) if op.is_custom_gradient else 0
        if line and not any(map(trace.has_nonfinite, op.outputs)):
            written = facts.cause_at(Nonfinite("written"), op)
            return replace(written, line=line, code=facts.text.code(line))
        return facts.cause_at(_what_did_it(facts, step, op), op)
    first = first_bad(facts, bad)
    is_from_variable = facts.trace.reads.get(first) is not None
    origin, made = origin_of(facts, first)
    evidence = Nonfinite("input", origin=origin, made=made, is_from_variable=is_from_variable)
    user = facts.cause_at(evidence, op)
    maker = maker_of(facts, first)
    if maker is None or has_inside(maker) or facts.call.tape not in maker.tapes:
        return user
    holder = bad_variable(facts, maker)
    if holder:
        held = Nonfinite("input", origin=f"{holder} holds it", is_from_variable=True)
        return facts.cause_at(held, op)
    value = value_that_spoiled(facts, maker)
    by = f"{user.op_words} on line {user.line}"
    return facts.cause_at(Nonfinite("forward", value, brought_in_by=by), maker)


def _what_did_it(facts: CallFacts, step: Step, op: Op) -> Nonfinite:
    holder = bad_variable(facts, op)
    if holder:
        return Nonfinite("input", origin=f"{holder} holds it", is_from_variable=True)
    dtype = _dtype_given(facts, step)
    factor = next((tensor for tensor in op.inputs if facts.trace.has_nonfinite(tensor)), None)
    if op.type in _MULTIPLYING and factor is not None:  # an infinity that was written so
        origin, made = origin_of(facts, factor)
        return Nonfinite("input", origin=origin, made=made)
    if op.type in _STEADY and dtype in _LARGEST:
        return _overflow(facts, dtype)
    element = _where(facts, step)
    value = value_at(op.inputs, element, facts.trace.value)
    is_masked = _is_masked(facts, step, element)
    if is_masked and value == ZERO:
        return Nonfinite("masked", value)
    if any(map(facts.trace.has_nonfinite, op.outputs)):
        vanished = infinity_before(facts, op) if value == ZERO else ""
        return Nonfinite("output", value, vanished=vanished)
    is_division = op.type in _DIVISIONS and _is_infinite(facts, step, element)
    if dtype in _LARGEST and value != ZERO and (dtype in _NARROW or is_division):
        return _overflow(facts, dtype)
    return Nonfinite("masked" if is_masked else "point", value)


def _overflow(facts: CallFacts, dtype: str) -> Nonfinite:
    is_scaled = dtype in _NARROW and scales_loss(facts.text.text)
    return Nonfinite("overflow", dtype=dtype, is_scaled=is_scaled)


@lru_cache(maxsize=1)
def scales_loss(source: str) -> bool:
    """Whether a snippet scales its loss; asked for each round in which the gradient overflows."""
    is_named = any(name in source for name in _SCALING)
    return is_named and any(
        called_name(call) in _SCALING for call in calls_in(SourceText(source).tree)
    )


def _is_infinite(facts: CallFacts, step: Step, element: tuple[int, ...] | None) -> bool:
    """Whether a gradient that the step gave is infinite at an element, and no NaN."""
    values = map(facts.trace.value, filter(facts.trace.has_nonfinite, step.downstream))
    return element is not None and any(
        value is not None and has_element(value, element) and bool(np.isinf(value[element]).all())
        for value in values
    )


def _where(facts: CallFacts, step: Step) -> tuple[int, ...] | None:
    """The first element of the largest gradient that is not finite; None if none travelled."""
    values = map(facts.trace.value, filter(facts.trace.has_nonfinite, step.downstream))
    known = [value for value in values if value is not None]
    if not known:
        return None
    largest = max(known, key=lambda array: array.size)
    return tuple(int(index) for index in np.argwhere(~np.isfinite(largest))[0])


def _dtype_given(facts: CallFacts, step: Step) -> str:
    bad = filter(facts.trace.has_nonfinite, step.downstream)
    return next((facts.dtype(gradient) for gradient in bad if gradient is not None), "")


def _is_masked(facts: CallFacts, step: Step, element: tuple[int, ...] | None) -> bool:
    """Whether that element of the upstream gradient was 0: infinity times 0 is NaN."""
    if element is None or len(step.upstream) != 1 or step.upstream[0] is None:
        return False
    arrived = facts.trace.value(step.upstream[0])
    if arrived is None or arrived.dtype.kind != "f" or not has_element(arrived, element):
        return False
    return bool((arrived[element] if arrived.shape else arrived[()]) == 0)
