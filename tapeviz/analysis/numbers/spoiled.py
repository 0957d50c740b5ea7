"""A gradient that arrived as zeros or not finite in, the op that made it so out.

From the source the steps that fed it are followed upstream, as long as what they received was
spoiled already; the op that received a sound gradient and gave a spoiled one is the cause.
"""

from __future__ import annotations

from collections.abc import Callable, Collection
from dataclasses import replace

from ...trace.model import Op, Operand, OpId, Stats, Step, TensorId, VariableId
from ...trace.op_kinds import ops_with
from ..call_facts import CallFacts
from ..model import Cause, Kind
from ..status import is_zero
from .began import began, by_name, in_first_turn, place_of_bad
from .nonfinite import value_at, what_did_it

# Slope 0 over a stretch of their inputs, and something else over another.
_CLIPPING = ops_with("clips")
NORMALISING = ops_with("normalises")
# Derivative 0 wherever there is one.
_FLAT = ops_with("flat")
# Linear in each of several inputs: the gradient of one is multiplied by the others.
_PRODUCTS = ops_with("product")
# What is let through is chosen by a mask.
_MASKING = ops_with("mask")
# They move elements about: a part that is zero was so before.
_MOVES = ops_with("moves")
_CONTROL_FLOW = ops_with("branch", "case", "loop")
# A slope that is infinite or undefined at a point, or a result that is; then what overflows.
_SINGULAR = ops_with("singular")
_GROWING = ops_with("grows")
_IsSpoiled = Callable[[Stats | None], bool]
_Spoiler = tuple[Step | None, Op]


def explain_zero(facts: CallFacts, source: Operand) -> Cause | None:
    """The op whose gradient first became zero everywhere, on the way to this source."""
    found = _spoiling(facts, source, is_zero)
    if found is None:
        return _given(facts, "multiplied-by-zero", is_zero)
    step, op = found
    if step is None:
        return _caused_by(facts, "cancelled", op)
    suspect = None
    if has_inside(op) and not op.is_open:
        suspect = _last_in_body(facts, op, _CLIPPING | _FLAT | _MASKING)
    if suspect is not None:
        kind: Kind = "saturated" if suspect.type in _CLIPPING else "flat-op"
        kind = "multiplied-by-zero" if suspect.type in _MASKING else kind
        return replace(_caused_by(facts, kind, suspect), is_probable=True)
    return _caused_by(facts, _kind_of_zero(facts, op, step), op)


def explain_nonfinite(facts: CallFacts, source: Operand) -> Cause | None:
    """The first op of the backward pass that turned finite into NaN or Inf; of a compiled
    function that was called several times, in the call in which that happened first."""
    first = nonfinite_in_call(facts)
    if first is not None and facts.trace.ops[facts.call.within or OpId(0)] is not first[0]:
        return first[1]
    found = _spoiling(facts, source, _is_nonfinite)
    if found is None:
        return _given(facts, "nonfinite", _is_nonfinite)
    step, op = found
    inner = _first_inside(facts, op)
    suspect = None
    if inner is None and has_inside(op) and not op.is_open:
        suspect = suspect_of_nonfinite(facts, op)
    if suspect is not None:
        return replace(_caused_by(facts, "nonfinite", suspect), is_probable=True)
    cause = _caused_by(facts, "nonfinite", inner or op)
    if step is None or inner is not None:
        return cause
    return replace(cause, detail={**cause.detail, **what_did_it(facts, step, op)})


def nonfinite_in_call(facts: CallFacts) -> tuple[Op, Cause] | None:
    """For a gradient call in a compiled function the call of it in which such numbers began, and
    why; None where that is not known."""
    if facts.call.within is None:
        return None
    found = began(facts.trace, facts.call)
    if found is None:
        return None
    trace = facts.trace
    told, run = by_name(trace, trace.ops[facts.call.within]), by_name(trace, found.run)
    op = told.get((found.gave.traced, found.gave.name), found.gave)
    forward = facts.origins.forward(op)
    own, now = in_first_turn(trace, run.get((forward.traced, forward.name), forward), _SINGULAR)
    forward = told.get((own.traced, own.name), own)
    bad = any(_is_nonfinite(trace.stats(now.get(output, output))) for output in own.outputs)
    at = place_of_bad(trace, own if bad else found.gave, now)
    value = value_at(own.inputs, at, lambda tensor: trace.value(now.get(tensor, tensor)))
    cause = _caused_by(facts, "nonfinite", forward)
    detail = {**cause.detail, "how": "output" if bad else "point"}
    detail |= {"value": value} if value else {}
    detail |= {"number": f"{found.number}", "calls": f"{found.calls}"}
    return found.run, replace(cause, detail=detail)


def _first_inside(facts: CallFacts, call: Op) -> Op | None:
    """The first op inside a compiled function that made NaN or infinity from finite numbers."""
    trace = facts.trace
    for inner in call.body if call.is_compiled_call else ():
        op = trace.ops[inner]
        gave = any(_is_nonfinite(trace.stats(output)) for output in op.outputs)
        if gave and not any(_is_nonfinite(trace.stats(taken)) for taken in op.inputs):
            return op
    return None


def has_inside(op: Op) -> bool:
    """Whether an op runs other ops: the call of a compiled function, a loop, a conditional."""
    return op.is_compiled_call or op.type in _CONTROL_FLOW


def suspect_of_nonfinite(facts: CallFacts, call: Op) -> Op | None:
    """The op inside a compiled function that NaN or infinity probably began at."""
    found = _last_in_body(facts, call, _SINGULAR)
    return found or _last_in_body(facts, call, _GROWING)


def _last_in_body(facts: CallFacts, op: Op, types: Collection[str]) -> Op | None:
    """The last op of these types in the body, for the backward pass comes to it first.

    Ops of gradient calls do not count.
    """
    body = (facts.trace.ops[number] for number in op.body)
    suspects = [op for op in body if op.type in types and op.call is None and op.line]
    return suspects[-1] if suspects else None


def spoiling_op(facts: CallFacts, source: Operand) -> Op | None:
    """The op that made zeros out of something on the way to this source."""
    found = _spoiling(facts, source, is_zero)
    return found[1] if found else None


def _given(facts: CallFacts, kind: Kind, is_spoiled: _IsSpoiled) -> Cause | None:
    """The pass began with what was given as ``output_gradients``."""
    given = [
        gradient.tensor for gradient in facts.call.output_gradients if gradient.tensor is not None
    ]
    spoiled = [is_spoiled(facts.trace.stats(gradient)) for gradient in given]
    if not (any(spoiled) if kind == "nonfinite" else given and all(spoiled)):
        return None
    return facts.cause(kind, facts.call.line, None, how="given")


def _caused_by(facts: CallFacts, kind: Kind, op: Op) -> Cause:
    line = facts.line_of(op)
    forward = facts.origins.forward(op)
    words = facts.words_of(forward) if op is forward else ""
    if op.is_compiled_call:
        words = f"{op.function}()"
    detail = {"words": words} if words else {}
    if kind == "multiplied-by-zero" and _empties(facts, op):
        detail["how"] = "empty"
    return Cause(kind, line, facts.text.code(line), op.type, forward.id, detail=detail)


def _kind_of_zero(facts: CallFacts, op: Op, step: Step) -> Kind:
    if _empties(facts, op):
        return "multiplied-by-zero"
    if op.type in _FLAT or op.is_recorded_operation:
        return "flat-op"
    if op.type in _MASKING:
        return "multiplied-by-zero"
    if op.type in _PRODUCTS and any(is_zero(facts.trace.stats(tensor)) for tensor in op.inputs):
        return "multiplied-by-zero"
    if op.type in NORMALISING and is_even(facts, step):
        return "cancelled"
    if op.type in _CLIPPING:
        return "saturated"
    return "flat-op" if op.type == "Pow" else "cancelled"


def is_even(facts: CallFacts, step: Step) -> bool:
    """Whether the upstream gradient is the same along the last axis, where a softmax sums to 1."""
    upstream = step.upstream[0] if step.upstream else None
    value = facts.trace.value(upstream) if upstream is not None else None
    return value is not None and value.ndim > 0 and bool((value == value[..., :1]).all())


def _spoiling(facts: CallFacts, source: Operand, is_spoiled: _IsSpoiled) -> _Spoiler | None:
    """The step that spoiled it (None: sound shares that add up to a spoiled sum) and its op."""
    key = (source.tensor, is_spoiled.__name__)
    if key not in facts.spoilers:
        facts.spoilers[key] = _look_upstream(facts, source, is_spoiled)
    return facts.spoilers[key]


def _look_upstream(facts: CallFacts, source: Operand, is_spoiled: _IsSpoiled) -> _Spoiler | None:
    waiting = read_tensors(facts, source)
    seen: set[TensorId] = set()
    candidates: list[tuple[Step, Op]] = []
    sound: list[Op] = []
    emptied: list[tuple[Step, Op]] = []
    while waiting:
        tensor = waiting.pop()
        if tensor in seen:
            continue
        seen.add(tensor)
        for step, op, gradient in facts.feeding.get(tensor, ()):
            if not is_spoiled(facts.trace.stats(gradient)):
                sound.append(op)
                continue
            if _empties(facts, op):
                emptied.append((step, op))
            if _is_received(facts, step, is_spoiled):
                waiting.extend(op.outputs)
            else:
                candidates.append((step, op))
    if emptied:
        return emptied[0]
    if candidates:
        return _before_moves(facts, *min(candidates, key=lambda pair: pair[0].index))
    return (None, sound[0]) if sound else None


def _is_received(facts: CallFacts, step: Step, is_spoiled: _IsSpoiled) -> bool:
    """Whether the step was given such a gradient: NaN in any, or zeros in all that are numbers."""
    given = (gradient for gradient in step.upstream if gradient is not None)
    floats = [
        gradient
        for gradient in given
        if not facts.dtype(gradient).startswith(("int", "uint", "bool"))
    ]
    spoiled = [is_spoiled(facts.trace.stats(gradient)) for gradient in floats]
    return bool(spoiled) and (all(spoiled) if is_spoiled is is_zero else any(spoiled))


def _empties(facts: CallFacts, op: Op) -> bool:
    """Whether the op takes nothing of what it was given, as a mask that is False everywhere."""
    known = facts.trace.tensors
    given, taken = (known.get(side[0]) if side else None for side in (op.outputs, op.inputs))
    return given is not None and taken is not None and given.size == 0 and bool(taken.size)


def _before_moves(facts: CallFacts, step: Step, op: Op) -> _Spoiler:
    """The step that made a part of its gradient zero, where this one only picked that part out.

    ``tf.reduce_max(tf.stack([a, b]))``: the gradient of the stack is zero for ``a`` alone.
    """
    found = step, op
    while op.type in _MOVES:
        feeders = [feeder for tensor in op.outputs for feeder in facts.feeding.get(tensor, ())]
        if len(feeders) != 1:
            return found
        step, op, _ = feeders[0]
    return (step, op) if op.type in _CLIPPING or op.type in _MASKING else found


def read_tensors(facts: CallFacts, source: Operand) -> list[TensorId]:
    """The source itself; of a variable every tensor that was read from it."""
    if source.tensor is None:
        return []
    variable = facts.trace.variables.get(VariableId(source.tensor))
    versions = variable.versions if variable else ()
    return [source.tensor, *(tensor for version in versions for tensor in version.reads)]


def _is_nonfinite(stats: Stats | None) -> bool:
    return stats is not None and stats.nonfinite > 0
