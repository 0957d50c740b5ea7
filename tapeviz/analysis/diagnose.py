"""Diagnose a trace: status, cause, and flow of each gradient asked for."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence, Set
from functools import cached_property, partial
from itertools import chain
from typing import NamedTuple

import numpy as np

from ..errors import go_on
from ..text.source import SourceText
from ..trace.calls import Call, Check, Operand, tensors_of
from ..trace.ids import OpId, TensorId
from ..trace.model import Trace
from ..trace.ops import Tensor
from ..trace.stats import Array
from ..trace.values import norm_of
from ..wording import listed
from .backward.steps import BackwardPass, Flow, WalkStep
from .backward.turns import find_turns, loop_turns, parts_of_sources, with_differing
from .backward.walk import walk
from .backward.walked import Walked, gradients_of
from .call_facts import CallFacts
from .causes.values.nonfinite import scales_loss
from .errors.explain import caught_errors, explained_errors
from .findings import MOST_OTHERS, Cause, Finding, Link, Status
from .flow.ancestry import Ancestry, Position
from .flow.dataflow import DataFlow
from .flow.shared_lists import not_seen
from .flow.tangents import links_of_tangents
from .judging.judge import causes_of
from .model import EMPTY_DIAGNOSIS, CallDiagnosis, Diagnosis
from .python.outside import follow
from .requests.loops import lacked_turns
from .rounds.repeated import RepeatedCalls
from .rounds.rounds import find_rounds, shapes_of
from .status import is_troubled, nonfinite_word, status_of
from .warnings import incomplete, sees_no_op, warn


def diagnose(trace: Trace) -> Diagnosis:
    """Diagnose each gradient of the recording; a call that raised is explained as the error.

    Ends by :func:`~tapeviz.errors.go_on` when nobody waits for it any more.
    """
    if not trace.calls and trace.failure is None:
        return EMPTY_DIAGNOSIS
    asked = reported(trace.calls)
    now, later = _FactsOf(trace), _FactsOf(trace)
    facts = {call.id: now.call(call) for call in asked}
    repeated = RepeatedCalls(trace, asked)
    found = {
        call.id: _diagnose_call(facts[call.id], repeated, later)
        for call in repeated.best_first(asked)
    }
    calls = tuple(found[call.id] for call in asked)
    warned = warn(facts.pop(call.id) for call in asked)  # none is kept longer than it is asked
    rounds = find_rounds(trace, calls, shapes_of(trace, asked))
    warnings = (*caught_errors(trace), *warned, *incomplete(trace))
    shown = default_call(trace)
    first = shown.id if shown is not None else None
    return Diagnosis(calls, explained_errors(trace), warnings, rounds, first)


def reported(calls: Iterable[Call]) -> tuple[Call, ...]:
    """The calls that came back: those of the snippet itself, and one a line of a library's.

    What a library asks for inside a call (``recompute_grad``, ``py_function``) is part of that, and
    so is what it asks for while it runs a compiled function: no line of the snippet asks for it.
    In the order in which they ran; one in a compiled function stands where that was traced.
    """
    kept: list[Call] = []
    lines: set[int] = set()
    open_until = 0
    calls = list(calls)
    ran = {call.line for call in calls if call.has_run and call.ended}
    for call in calls:
        if not call.has_run and call.line in ran:
            continue
        is_inner = call.when < open_until
        open_until = max(open_until, call.end) if call.ended else open_until
        if not call.ended or (is_inner and not call.is_direct):
            continue
        if not call.is_direct:
            if not call.line or call.line in lines:
                continue
            lines.add(call.line)
        kept.append(call)
    return tuple(sorted(kept, key=lambda call: call.traced_when or call.when))


def default_call(trace: Trace) -> Call | None:
    """The call that :meth:`Diagnosis.call` gives unless one is named, known before the diagnosis:
    the first in trouble, else the last."""
    calls = reported(trace.calls)
    last = {(call.site.id, call.method): call for call in calls}
    troubled = (
        call
        for call in calls
        if is_troubled(trace, call)
        if not _is_left_out(trace, call, last[call.site.id, call.method])
    )
    return next(troubled, calls[-1] if calls else None)


def _is_left_out(trace: Trace, call: Call, last: Call) -> bool:
    """Whether the gradients of a scaled loss were too large in this round, and not any more in the
    ``last``: the optimizer leaves such a step out and halves its scale."""
    found = {status_of(trace, result) for result in call.results[: len(call.sources)]}
    is_overflow = "nonfinite" in found <= {"nonfinite", "flows"}
    return is_overflow and not is_troubled(trace, last) and scales_loss(trace.source)


class PassOnDemand:
    """A function that computes a backward pass when it is first called, and then gives the same.

    It drops the work once it is done, with all that this refers to: the facts of the gradient call,
    and findings without fixes that others have replaced.
    """

    def __init__(self, work: Callable[[], BackwardPass]) -> None:
        self._work: Callable[[], BackwardPass] | None = work
        self._made = BackwardPass()

    def __call__(self) -> BackwardPass:
        work = self._work
        if work is not None:
            self._made = work()
            self._work = None
        return self._made


class _FactsOf:
    """Makes the facts of the calls of a trace, which share its data flow and its text."""

    def __init__(self, trace: Trace) -> None:
        self._trace = trace

    @cached_property
    def _shared(self) -> tuple[DataFlow, SourceText]:
        return DataFlow(self._trace, follow(self._trace).left), SourceText(self._trace.source)

    def call(self, call: Call) -> CallFacts:
        flow, text = self._shared
        return CallFacts(self._trace, flow, call, text)


def _diagnose_call(facts: CallFacts, repeated: RepeatedCalls, later: _FactsOf) -> CallDiagnosis:
    """The findings of a call. ``later``: makes the facts again when somebody looks at its backward
    pass: what the diagnosis worked out takes more memory than the recording."""
    go_on()
    call = facts.call
    findings = tuple(
        _finding(facts, repeated, index, source)
        for index, source in enumerate(call.sources)
        if index < len(call.results)
    )
    on_demand = PassOnDemand(partial(_backward_pass, later, call, findings))
    return CallDiagnosis(call, findings, on_demand)


def _backward_pass(facts_of: _FactsOf, call: Call, findings: Sequence[Finding]) -> BackwardPass:
    facts = facts_of.call(call)
    steps = walk(facts, findings)
    turns = find_turns(steps, loop_turns(facts.trace, call, steps))
    turns = with_differing(facts.trace, steps, turns)
    names = {finding.tensor: finding.source for finding in findings if finding.tensor is not None}
    parts = parts_of_sources(facts.trace, names, steps) if turns else None
    return BackwardPass(steps, _flow(facts, findings, steps), turns, parts)


def _finding(facts: CallFacts, repeated: RepeatedCalls, index: int, source: Operand) -> Finding:
    go_on()
    call, trace = facts.call, facts.trace
    gradient = call.results[index]
    status = status_of(trace, gradient)
    target, named = listed([operand.text for operand in call.targets]), source.text
    if call.is_forward:
        target, named = named, target
    target = target or "the target"
    dtype, shape = _form(trace, source.tensor if gradient is None else gradient)
    known: tuple[Cause, ...] | None = () if sees_no_op(trace) else None
    if known is None and status == "none":
        known = repeated.causes(call, index)
    if known is None and status in ("none", "zero"):
        known = repeated.inner_causes(call, index, status)
    causes = causes_of(facts, index, source, status) if known is None else known
    if known is None and status in ("none", "zero"):
        repeated.remember(call, index, status, causes)
    bridge = _bridge(facts, index, status, causes)
    is_cut = bridge.gradient is None and status in ("none", "zero")
    others = tuple([cause for cause in causes[1:] if not cause.is_bypassed])
    return Finding(
        target=target,
        source=named,
        status=status,
        dtype=dtype,
        shape=shape,
        tensor=gradient,
        cause=causes[0] if causes else None,
        others=others[:MOST_OTHERS],
        has_more=len(others) > MOST_OTHERS,
        bridged=bridge.gradient,
        bridged_value=_bridged_jacobian(facts, index),
        no_bridge=_why_no_bridge(trace, causes) if is_cut else "",
        is_estimated=bridge.is_estimated,
        check=bridge.check,
        held=bridge.held,
        nonfinite=nonfinite_word(trace.stats(gradient)),
    )


class _Bridge(NamedTuple):
    """The gradient that goes across the cuts, how it was checked, and what it holds fixed."""

    gradient: TensorId | None
    is_estimated: bool
    check: Check | None
    held: str


def _bridge(facts: CallFacts, index: int, status: Status, causes: Sequence[Cause]) -> _Bridge:
    call, source = facts.call, facts.call.sources[index]
    check = call.checks.get(source.tensor) if source.tensor is not None else None
    gradient, is_estimated = _across(facts, index, status)
    if gradient is None:
        return _Bridge(None, False, check, "")
    held = [_past_held(facts, source)]
    is_replayed = call.replay is not None and gradient == call.replay.results.get(
        str(source.tensor)
    )
    for cause in causes if is_replayed else ():
        if cause.kind == "left-tensorflow":
            held.append(f"what leaves TensorFlow on line {cause.line} is held fixed")
        elif cause.kind == "stop-gradient" and not (check and check.agrees):
            check = None  # differences do not stop there
            held.append(f"what tf.stop_gradient passes on line {cause.line} is held fixed")
    words = "; ".join(filter(None, held))
    return _Bridge(gradient, is_estimated, None if is_estimated else check, words)


def _across(facts: CallFacts, index: int, status: Status) -> tuple[TensorId | None, bool]:
    """The gradient across the cut, and whether it is an estimate.

    None for a jacobian: one replay gives a gradient, which is a sum of its rows.
    """
    call, source = facts.call, facts.call.sources[index].tensor
    if call.method != "gradient" or source is None or status not in ("none", "zero"):
        return None, False
    key = str(source)
    exact = call.replay.results.get(key) if call.replay is not None else None
    beyond, estimated = call.beyond.get(key), call.estimates.get(key)
    is_lost = exact is not None and _is_lost_on_a_path(facts, source)
    if index not in facts.unconnected:  # zero: a path across a cut counts if it adds to that
        known = [(beyond, False), (estimated, True)]
        known = known if is_lost else [(exact, False), *known]
        found = (each for each in known if status_of(facts.trace, each[0]) == "flows")
        return next(found, (None, False))
    if is_lost:
        return None, False
    exact = exact or beyond
    return (exact, False) if exact is not None else (estimated, estimated is not None)


def _is_lost_on_a_path(facts: CallFacts, source: TensorId) -> bool:
    """Whether the replay could not go back through an op that leads from the source to the target:
    what came by other paths is a part of the gradient only."""
    if not facts.once(_failed_in_replay):
        return False
    starts = facts.paths.starts(source)
    lost = facts.once(_before_failed, facts.paths.ancestry_from(starts))
    return not lost.isdisjoint(starts)


def _failed_in_replay(facts: CallFacts) -> Set[OpId | None]:
    replay = facts.call.replay
    return {step.op for step in replay.steps if step.error} if replay is not None else set()


def _before_failed(facts: CallFacts, ancestry: Ancestry) -> frozenset[Position]:
    """The positions that lead to an op which the replay could not go back through; found once for
    all sources."""
    failed = facts.once(_failed_in_replay)
    edges = chain.from_iterable(ancestry.into.values())
    waiting = [edge.start for edge in edges if edge.op in failed]
    found = set(waiting)
    while waiting:
        before = {edge.start for edge in ancestry.into.get(waiting.pop(), ())} - found
        found |= before
        waiting += before
    return frozenset(found)


def _past_held(facts: CallFacts, source: Operand) -> str:
    if source.tensor is None:
        return ""
    return facts.paths.held(facts.paths.starts(source.tensor), source.tensor).words(source.text)


def _why_no_bridge(trace: Trace, causes: Sequence[Cause]) -> str:
    """Say why nothing goes across a cut inside of a compiled loop; else empty."""
    op = causes[0].op_id if causes and causes[0].links else None
    loop = next((loop for loop in trace.loops.values() if op in loop.body), None)
    if loop is None:
        return ""
    where = f"the cut is inside of the compiled loop on line {trace.ops[loop.op].line}"
    if lacked_turns(loop):
        return (
            f"{where}, whose {loop.count:,} turns are too many to lead a gradient back through each"
        )
    within = trace.ops[loop.op].within
    inside = trace.ops[within].inside if within is not None and within in trace.ops else None
    if inside is None or not inside.has_run:
        return f"{where}, and the values in there are not known"
    if inside.is_turned:
        return f"{where}, and not all values in there are known"
    return f"{where}, with operations whose gradient functions are Python’s own"


def _bridged_jacobian(facts: CallFacts, index: int) -> Array | None:
    """A jacobian across the cut, of shape target × source, from one replay for each element."""
    call, trace = facts.call, facts.trace
    source, target = call.sources[index].tensor, call.targets[0].tensor if call.targets else None
    known = Tensor(_form(trace, target))
    if call.method != "jacobian" or call.results[index] is not None or not call.shares:
        return None
    if known.size != len(call.shares):
        return None
    found = (call.shares[0, row].get(str(source)) for row in range(known.size))
    rows = [trace.value(gradient) for gradient in found]
    some = next((row for row in rows if row is not None), None)
    if some is None:
        return None
    whole = np.stack([np.zeros_like(some) if row is None else row for row in rows])
    return whole.reshape(*(size or 0 for size in known.shape or ()), *some.shape)


def _form(trace: Trace, tensor: TensorId | None) -> tuple[str, tuple[int | None, ...] | None]:
    if tensor is None:
        return "", None
    variable = trace.variable(tensor)
    if variable is not None:
        return variable.dtype, variable.shape
    known = trace.tensors.get(trace.fetched.get(tensor, tensor))
    return known.form if known else ("", None)


def _flow(facts: CallFacts, findings: Sequence[Finding], steps: Sequence[WalkStep]) -> Flow:
    trace, call = facts.trace, facts.call
    walked: Mapping[Link, float | None] = Walked(trace, steps)
    if call.is_forward:
        walked = dict.fromkeys(links_of_tangents(facts))
    cuts = _cuts_shown(findings)
    bridges: dict[Link, float | None] = {}
    if any(finding.bridged is not None for finding in findings) and call.replay is not None:
        for step in call.replay.steps:
            op = trace.op(step.op)
            for tensor, gradient in zip(op.inputs if op else (), step.downstream, strict=False):
                if op is not None and gradient is not None and (tensor, op.id) not in walked:
                    bridges[tensor, op.id] = norm_of(trace, gradient)
    return Flow(
        walked=walked,
        cuts={link: cause for link, cause in cuts.items() if link not in walked},
        bridges=bridges,
        gradients=gradients_of(call, steps),
        targets=frozenset(tensors_of(call.differentiated)),
        sources=frozenset(tensors_of(call.by)),
    )


def _cuts_shown(findings: Sequence[Finding]) -> Mapping[Link, Cause]:
    """The edges of the first causes of each gradient, with the cause of the last one that is cut
    there. What many sources share of their lists of edges is looked at once."""
    cuts: dict[Link, Cause] = {}
    seen: set[int] = set()
    for finding in reversed(findings):
        causes = (finding.cause, *finding.others)[:8]
        for cause in filter(None, reversed(causes)):
            for link in not_seen(cause.links, seen):
                cuts.setdefault(link, cause)
    return dict(reversed(cuts.items()))
