"""Find the causes of a gradient by its status: the deciding one first."""

from __future__ import annotations

from dataclasses import replace

from ...trace.calls import Call, Operand
from ...trace.ops import Op
from ..call_facts import CallFacts
from ..causes.connections.left_tensorflow import LeftTensorFlow
from ..causes.connections.not_connected import NotConnected, SameSlope
from ..causes.ops.custom_gradient import gradient_return_line
from ..causes.questions import MadeNonfinite, MadeZero
from ..causes.table import CAUSES, first_cause
from ..causes.tapes.not_watched import NotWatched
from ..causes.tapes.outside_tape import OutsideTape
from ..causes.values.cancelled import Cancelled, less_own_mean
from ..causes.values.multiplied_by_zero import MultipliedByZero
from ..causes.values.saturated import clipped_to_zero, saturated_at
from ..causes.values.zeros import zero_tangents
from ..findings import Cause, Status
from ..flow.tangents import turned
from ..numbers.inside_zero import zero_between, zero_inside
from ..numbers.spoiled import has_inside, spoiling, spoiling_op, was_given
from ..python.outside import NO_NUMBER
from ..status import is_zero, status_of
from .cut_paths import CutPaths


def causes_of(facts: CallFacts, index: int, source: Operand, status: Status) -> tuple[Cause, ...]:
    """Why the gradient of the call's source number ``index`` is as it is; none if it flows."""
    if facts.call.is_forward:
        return _forward(facts, source, status)
    if status == "none" or (status == "zero" and index in facts.unconnected):
        causes = CutPaths(facts, source).explain_none()
        return _before_jacobian(facts, source, causes) or causes
    if status == "zero" and (causes := _cut_inside(facts, source) or _cut_jacobian(facts, source)):
        return causes
    if status == "zero":
        return _inside_python(facts, source) or _made_zero(facts, source)
    if status == "nonfinite":
        return _as_tuple(first_cause(CAUSES.nonfinite, MadeNonfinite(facts, source)))
    return ()


def _before_jacobian(
    facts: CallFacts, source: Operand, causes: tuple[Cause, ...]
) -> tuple[Cause, ...]:
    """The cuts between the source and the target of an inner jacobian, from which the outer target
    is made; none unless the outer target seems not to depend on the source at all.

    A jacobian in a compiled function is not recorded op by op, so the outer target seems to be made
    from a slope that does not depend on the source.
    """
    first = causes[0].evidence if causes else None
    if not (isinstance(first, NotConnected) and isinstance(first.why, SameSlope)):
        return ()
    for inner, _, _ in facts.gradients_used:
        if "jacobian" in inner.method and inner.within is not None:
            before = replace(facts, call=replace(facts.call, targets=inner.targets))
            found = CutPaths(before, source).explain_none()
            if found and not (
                _is_about_recording(found) or isinstance(found[0].evidence, NotConnected)
            ):
                return found
    return ()


def _made_zero(facts: CallFacts, source: Operand) -> tuple[Cause, ...]:
    cause = _explain_zero(facts, source)
    return () if cause is None else (cause, *CutPaths(facts, source).beside_zero())


def _explain_zero(facts: CallFacts, source: Operand) -> Cause | None:
    """The op whose gradient first became zero everywhere, on the path to this source."""
    found = spoiling(facts, source, is_zero)
    if found is None:
        return first_cause(CAUSES.zero, MadeZero(facts, None)) or _zero_by_values(facts, source)
    step, op = found
    starts = facts.paths.starts(source.tensor) if source.tensor is not None else frozenset()
    inside = None
    if step is not None and not op.is_open and (has_inside(op) or _computes_again(facts, op)):
        inside = zero_inside(facts, op, starts)
    suspect, is_sure = inside or (None, False)
    cause = first_cause(CAUSES.zero, MadeZero(facts, op, step, suspect, is_sure, starts))
    if cause is None or source.tensor is None or not isinstance(cause.evidence, MultipliedByZero):
        return cause
    difference = less_own_mean(facts, op) if cause.evidence.by == "factor" else None
    if difference is not None:
        return facts.cause_at(Cancelled("mean-of-one"), difference)
    if cause.evidence.by in ("factor", "square", "clipped"):
        clip = clipped_to_zero(facts, op, starts)
        return facts.cause_at(saturated_at(facts, clip), clip) if clip is not None else cause
    return cause


def _computes_again(facts: CallFacts, op: Op) -> bool:
    """Whether TensorFlow's own gradient function differentiates what the snippet's function ran, as
    ``tf.recompute_grad`` does (``custom_gradient.py``, 2.15-2.21)."""
    return op.function == "inner" and bool(op.body) and not gradient_return_line(facts.text, op)


def _zero_by_values(facts: CallFacts, source: Operand) -> Cause | None:
    """The op that is flat at the values of this run, on the paths from the source to the
    targets."""
    if source.tensor is None:
        return None
    found = zero_between(facts, facts.paths.starts(source.tensor))
    if found is None or (facts.call.is_forward and not found.is_sure):
        return None  # tangents in between are not recorded: that they cancel is as likely
    return first_cause(CAUSES.zero, MadeZero(facts, None, None, *found))


def _as_tuple(cause: Cause | None) -> tuple[Cause, ...]:
    return () if cause is None else (cause,)


def _cut_inside(facts: CallFacts, source: Operand) -> tuple[Cause, ...]:
    """The cuts inside of a compiled function, loop or conditional, which give zeros in place of
    None.

    The backward graph starts with zeros for the outputs that no gradient came to
    (``_construct_function_from_graph_outputs`` in concrete_function.py, ``_WhileGrad`` in
    while_v2.py, ``_IfGrad`` in cond_v2.py, 2.15-2.21).
    """
    if not facts.once(_goes_inside):
        return ()
    paths = CutPaths(facts, source)
    causes = paths.explain_none()
    if _is_about_recording(causes):
        spoiler = spoiling_op(facts, source)
        is_inside = spoiler is not None and has_inside(spoiler)
        return paths.explain_cut_branch() if is_inside else ()
    return causes


def _goes_inside(facts: CallFacts) -> bool:
    """Whether the backward pass went through a compiled function, a loop or a conditional."""
    entered = (facts.trace.op(step.op) for step in facts.call.steps)
    return any(op is not None and has_inside(op) for op in entered)


def _is_about_recording(causes: tuple[Cause, ...]) -> bool:
    """Whether the deciding cause is that the tape did not watch or record: that gives None, and
    never zeros."""
    return bool(causes) and isinstance(causes[0].evidence, (NotWatched, OutsideTape))


def _cut_jacobian(facts: CallFacts, source: Operand) -> tuple[Cause, ...]:
    """The cuts before a ``batch_jacobian``, which gives zeros where ``gradient`` gives None
    (backprop.py, 2.15-2.21)."""
    if facts.call.method != "batch_jacobian":
        return ()
    causes = CutPaths(facts, source).explain_none()
    return () if _is_about_recording(causes) else causes


def _forward(facts: CallFacts, asked: Operand, status: Status) -> tuple[Cause, ...]:
    """The causes of a tangent, in forward mode: there the primals are the call's targets, and a
    source is an output, here ``asked``."""
    if status not in ("none", "zero"):
        return ()
    if status == "zero" and (given := zero_tangents(facts)) is not None:
        return (given,)
    of_each = list[tuple[Cause, ...]]()
    for primal in facts.call.targets:
        causes = _forward_from(turned(facts, (asked,), (primal,)), primal, status)
        if causes and not isinstance(causes[0].evidence, NotConnected):
            return causes
        of_each.append(causes)
    if status == "zero" and not all(of_each):
        return (facts.cause(Cancelled("tangents"), facts.call.line),)
    return of_each[-1] if of_each else ()


def _forward_from(between: CallFacts, primal: Operand, status: Status) -> tuple[Cause, ...]:
    """Why an output has no tangent, or zeros, from this primal."""
    paths = CutPaths(between, primal)
    if status == "zero":
        # TensorFlow puts zeros in place of None if it is asked to.
        causes = paths.explain_cut() if between.call.unconnected == "zero" else ()
        return causes or _as_tuple(_zero_by_values(between, primal))
    causes = paths.explain_none()
    if _is_about_recording(causes):  # a primal is watched from the start
        return _as_tuple(_zero_by_values(between, primal)) or causes
    return causes


def _inside_python(facts: CallFacts, source: Operand) -> tuple[Cause, ...]:
    """The causes inside of an op that calls Python in its backward pass, which asks another tape:
    where that tape gives None or zeros, the op gives zeros.

    ``EagerFunc.backward`` in ``script_ops.py`` and ``recompute_grad`` in ``custom_gradient.py`` ask
    for ``unconnected_gradients`` zero, or leave zeros to the op (2.15-2.21).
    """
    trace, op = facts.trace, spoiling_op(facts, source)
    python = [each for each in (op, *_body(facts, op)) if _calls_python(each)] if op else []
    for inner in _calls_inside(facts) if python else ():
        within = replace(facts, call=inner)
        if was_given(within, is_zero, all):
            continue  # Python that ran after it, and whose gradient came first, made them
        asked = [*enumerate(zip(inner.sources, inner.results, strict=False))]
        asked.sort(key=lambda each: each[1][0].tensor != source.tensor)  # the source itself first
        for index, (operand, result) in asked:
            if not any(_is_given(facts, operand, each) for each in python):
                continue
            status = status_of(trace, result)
            causes = () if result is not None else _as_tuple(_left_inside(within))
            if causes or (causes := causes_of(within, index, operand, status)):
                return causes
    return ()


def _calls_python(op: Op) -> bool:
    return op.type == _PYTHON or (op.is_recorded_operation and not op.is_compiled_call)


_PYTHON = "EagerPyFunc"


def _body(facts: CallFacts, op: Op) -> list[Op]:
    return [facts.trace.ops[number] for number in op.body]


def _is_given(facts: CallFacts, operand: Operand, op: Op) -> bool:
    """Whether the op may have given this tensor to Python: one of its inputs has the same
    statistics, or they are not known, or as an estimate."""
    inside = facts.trace.stats(operand.tensor)
    given = [facts.trace.stats(tensor) for tensor in op.inputs]
    is_known = all(stats is not None and not stats.is_estimate for stats in (inside, *given))
    return not is_known or inside in given


def _left_inside(facts: CallFacts) -> Cause | None:
    """Find that a value left TensorFlow inside of a Python function which returned a constant."""
    trace, tape = facts.trace, facts.tape
    if tape is None or any(target.tensor in trace.producers for target in facts.call.targets):
        return None
    for leave in facts.leaves:
        if leave.site.line and leave.how not in NO_NUMBER:
            return facts.cause(LeftTensorFlow(leave.how), leave.site.line)
    return None


def _calls_inside(facts: CallFacts) -> list[Call]:
    """The gradient calls that Python made in the backward pass of this call, the latest first.

    In a compiled function TensorFlow calls this Python on threads of its own, without frames of the
    snippet; the call of the function ends after it.
    """
    trace, call = facts.trace, facts.call
    if call.within is None:
        within = [each for each in trace.calls if call.when < each.when < each.end < call.end]
        return within[::-1]
    ran = trace.ops[call.within]
    calls = trace.functions[ran.runs].calls if ran.runs in trace.functions else ()
    before = max((at for op in calls if (at := trace.ops[op].when) < ran.when), default=0)
    inside = [each for each in trace.calls if not each.traced and not each.line]
    return [inner for inner in reversed(inside) if before < inner.when < ran.when]
