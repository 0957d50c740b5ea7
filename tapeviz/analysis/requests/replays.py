"""Write the backward pass that the kernel is asked for where a call gave None.

The kernel runs TensorFlow's own gradient functions over the tensors it kept
(``recorder.answer("replay", …)``); the program says in which order, and where state links ops.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterator
from typing import Any

from ...errors import TapevizError
from ...trace.calls import Call, Operand
from ...trace.ids import VersionId
from ...trace.model import Trace
from ...trace.ops import Op, Tensor
from ...trace.state import keeps_prior_state
from ..flow.ancestry import EdgesInto, Position
from ..flow.dataflow import DataFlow, position_of_target
from ..flow.paths import Paths
from ..status import is_zero
from .program import ReplayMode, has_turns, is_custom, named, program_of

MAX_OPS = 20_000
MAX_ROWS = 64
"""Elements of a target whose jacobian across a cut is computed, one by one."""


def calls_to_replay(flow: DataFlow, *, also_flowing: bool) -> Iterator[Call]:
    """The eager calls that need a replay to be understood.

    Those with a source unconnected, whose gradient could be had across a cut; and jacobians that
    are zero or not finite, of which TensorFlow shows no step. ``also_flowing``: and gradients that
    may lack the part that goes through a write to a variable.
    """
    trace = flow.trace
    wanted = (call for call in trace.calls if call.ended and call.replay is None)
    return (
        call
        for call in wanted
        if _needs_replay(trace, call) or (also_flowing and _has_writes(flow, call))
    )


def _has_writes(flow: DataFlow, call: Call) -> bool:
    """Whether tensors were written into variables while the tape of a ``gradient`` recorded."""
    tape = flow.trace.tape(call.tape)
    if tape is None or call.method != "gradient" or _is_unknown(flow.trace, call):
        return False
    first = bisect_left(flow.assigns, tape.when, key=lambda op: op.when)
    return any(tape.is_recording(op.when) for op in flow.assigns[first:] if op.when < call.when)


def _needs_replay(trace: Trace, call: Call) -> bool:
    if call.method not in ("gradient", "jacobian", "batch_jacobian") or _is_unknown(trace, call):
        return False
    if unconnected(trace, call):
        return True
    if _is_spoiled_inside(trace, call):
        return True
    spoiled = (trace.has_nonfinite(t) or is_zero(trace.stats(t)) for t in call.results)
    return call.method != "gradient" and any(spoiled)


def _is_unknown(trace: Trace, call: Call) -> bool:
    """Whether it was made while a function was compiled whose inside has no values."""
    known = ((target, trace.tensors.get(target)) for target in call.target_tensors)
    return any(target < 0 and tensor is not None and not tensor.kept for target, tensor in known)


def _is_spoiled_inside(trace: Trace, call: Call) -> bool:
    """Whether a result is zero or not finite, and the pass went through a compiled function."""
    ran = [trace.ops.get(step.op) for step in call.steps if step.op is not None]
    ran += [trace.ops.get(call.within)] if call.within is not None else []
    entered = [op for op in ran if op is not None and (op.is_open or has_turns(op))]
    is_open = any(op.is_open for op in entered)
    return bool(entered) and any(
        is_zero(trace.stats(result)) or (is_open and trace.has_nonfinite(result))
        for result in call.results
    )


def unconnected(trace: Trace, call: Call) -> frozenset[int]:
    """The numbers of the sources that no gradient function gave anything, so that they got None or
    zeros."""
    lacking = {index for index, result in enumerate(call.results) if result is None}
    if call.method == "batch_jacobian":  # gives zeros in place of None
        reached = {None, *(target.tensor for target in call.targets)}
        for ran in reversed(list(trace.ops.values())):
            if call.tape in ran.tapes and not reached.isdisjoint(ran.outputs):
                reached.update(ran.inputs)
    elif call.unconnected == "zero":
        reached = {
            tensor
            for step in call.steps
            if (op := trace.op(step.op)) is not None
            for tensor, gradient in zip(step.taken(op), step.downstream, strict=False)
            if gradient is not None
        }
    else:
        return frozenset(lacking)
    asked = enumerate(call.sources[: len(call.results)])
    return frozenset(lacking | {index for index, each in asked if each.tensor not in reached})


def request(flow: DataFlow, call: Call, how: ReplayMode = "") -> dict[str, Any]:
    """The arguments of the kernel's ``replay`` for this call. Raises :class:`TapevizError`."""
    trace, ancestry = flow.trace, _edges_asked_for(flow, call)
    return {
        "call": call.id,
        **run_shown(trace, call),
        "seeds": seeds_of(trace, call),
        "how": how,
        "program": list(program_of(trace, ancestry, how)),
        "wanted": [
            *call.source_tensors,
            *(str(position) for position in ancestry if isinstance(position, VersionId)),
        ],
    }


def _edges_asked_for(flow: DataFlow, call: Call) -> EdgesInto:
    starts = starts_of(flow, call)
    found = Paths(flow, call).ancestry_from(starts)
    return found.into if len(found) <= MAX_OPS else found.edges_from(starts)


def starts_of(flow: DataFlow, call: Call) -> list[Position]:
    """The positions where the sources of a call begin."""
    return [
        position
        for source in call.sources
        if source.tensor
        for position in flow.positions_of_source(source.tensor)
    ]


def run_shown(trace: Trace, call: Call) -> dict[str, int]:
    """``within`` for a request about a gradient call that was made in a compiled function: which
    run of that the values belong to. An answer counts only while that run is shown."""
    run = trace.op(call.within)
    return {"within": run.ran_as} if run is not None and run.ran_as is not None else {}


def further_calls(trace: Trace) -> Iterator[Call]:
    """Calls that still need a second replay (through stop_gradient, or with estimated slopes)."""
    is_signing = any(map(_is_signing, trace.ops.values()))
    return (
        call
        for call in trace.calls
        if call.method == "gradient"
        and call.ended
        and not _is_unknown(trace, call)
        and (call.replay is not None or is_signing)
        and any(_lacking(trace, call))
    )


def _is_signing(op: Op) -> bool:
    """``tf.sign`` is flat, and yet gives zeros in place of None."""
    return op.type == "Sign" and not op.graph and op.within is None


def further_modes(flow: DataFlow, call: Call) -> Iterator[ReplayMode]:
    """The further modes in which to replay such a call."""
    pairs = zip(call.sources, _lacking(flow.trace, call), strict=False)
    lacking = [source.tensor for source, lacks in pairs if source.tensor is not None and lacks]
    paths = Paths(flow, call)
    starts = [position for tensor in lacking for position in flow.positions_of_source(tensor)]
    ancestry = paths.ancestry_from(starts)
    reached = ancestry.leads_from(starts)
    if reached.isdisjoint(paths.targets) or len(reached) > MAX_OPS:
        return
    edges = ancestry.edges_from(starts)
    ops = {edge.op for into in edges.values() for edge in into if edge.op is not None}
    trace = flow.trace
    if call.replay is not None and any(_stops_on_purpose(trace, trace.ops[op]) for op in ops):
        yield "beyond"
    if call.replay is not None or any(_is_signing(trace.ops[op]) for op in ops):
        yield "estimate"


def rows_of_jacobian(flow: DataFlow, call: Call) -> Iterator[dict[str, Any]]:
    """The arguments of a ``replay`` for each element of the target of a jacobian with None."""
    target = call.targets[0].tensor if len(call.targets) == 1 else None
    if target is None:
        return
    variable, known = flow.trace.variable(target), flow.trace.tensors.get(target)
    if variable is not None:
        known = Tensor((variable.dtype, variable.shape))
    size = known.size if known is not None else None
    is_lacking = any(result is None for result in call.results)
    if call.method != "jacobian" or call.replay is None or not is_lacking or size is None:
        return
    asked = request(flow, call)
    if size > MAX_ROWS or size * len(asked["program"]) > MAX_OPS or not call.replay.results:
        return
    key = named(position_of_target(flow.trace, target, call.when))
    for row in range(size):
        yield asked | {"seeds": [[key, 0, row]], "share": [0, row], "brief": True}


def _lacking(trace: Trace, call: Call) -> Iterator[bool]:
    """Say of each source whether it got nothing from the plain replay, or zeros from the tape."""
    without = unconnected(trace, call)
    replayed = call.replay.results if call.replay is not None else {}
    for index, (source, result) in enumerate(zip(call.sources, call.results, strict=False)):
        if index in without:
            yield str(source.tensor) not in replayed
        else:
            yield is_zero(trace.stats(result))


def _stops_on_purpose(trace: Trace, op: Op) -> bool:
    return op.type in ("StopGradient", "PreventGradient") or is_custom(trace, op)


def seeds_of(trace: Trace, call: Call) -> list[list[Any]]:
    """Each target, of a variable the version asked about, with the tensor of the gradient that it
    starts with; 0: ones."""
    given = call.output_gradients
    return [
        [
            named(position_of_target(trace, target.tensor, call.when)),
            value_given(trace, call, given[place]) if place < len(given) else 0,
        ]
        for place, target in enumerate(call.targets)
        if target.tensor is not None
    ]


def value_given(trace: Trace, call: Call, given: Operand) -> int:
    """The tensor of an output gradient; of a variable one that holds what it held then.

    Raises :class:`TapevizError` where no such tensor was kept.
    """
    variable = trace.variable(given.tensor)
    if variable is None:
        return given.tensor or 0
    held = [version for version in variable.versions if version.when < call.end][-1]
    tensors = list(held.reads)
    is_whole = held.op is None or not keeps_prior_state(trace.ops[held.op].type)
    if held.value is not None and is_whole:
        tensors.append(held.value)
    if not tensors:
        raise TapevizError(f"the value of {given.text} at that time was not kept")
    return tensors[0]
