"""A call that gave None in, the backward pass to ask the kernel for out.

The kernel runs TensorFlow's own gradient functions over the tensors it kept
(``recorder.answer("replay", …)``); the program says in which order, and where state links ops.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterator
from itertools import accumulate, islice
from operator import attrgetter
from typing import Any, Literal

from ..errors import TapevizError
from ..trace.compiled.model import Loop
from ..trace.model import Call, Op, Operand, OpId, TensorId, Trace, VariableId, VersionId
from ..trace.state import keeps_prior_state
from ..trace.tapes import is_differentiable
from .flow.dataflow import DataFlow, EdgesInto, Position
from .flow.paths import Paths

How = Literal["", "beyond", "estimate"]
MAX_OPS = 20_000
MAX_CALLS = 50
MAX_FURTHER = 20
MAX_CHECKS = 12
MAX_TURNED = 10_000
"""Ops in all turns of a call's loops, up to which a gradient is led back through every turn."""
MAX_ROWS = 64
"""Elements of a target whose jacobian across a cut is computed, one by one."""


def calls_to_replay(trace: Trace) -> tuple[Call, ...]:
    """The eager calls that need a replay to be understood.

    Those with a source unconnected, whose gradient could be had across a cut; and jacobians that
    are zero or not finite, of which TensorFlow shows no step. One that the snippet repeats in a
    loop is replayed for its first times only.
    """
    wanted = (call for call in trace.calls if call.ended and call.replay is None)
    return tuple(call for call in wanted if _needs_replay(trace, call))[:MAX_CALLS]


def _needs_replay(trace: Trace, call: Call) -> bool:
    if call.method not in ("gradient", "jacobian", "batch_jacobian") or _is_unknown(trace, call):
        return False
    if any(is_unconnected(trace, call, index) for index in range(len(call.results))):
        return True
    if _is_spoiled_inside(trace, call):
        return True
    return call.method != "gradient" and any(
        stats is not None and (stats.nonfinite > 0 or stats.norm == 0)
        for stats in (trace.stats(result) for result in call.results if result is not None)
    )


def _is_unknown(trace: Trace, call: Call) -> bool:
    """Whether it was made while a function was compiled whose inside has no values."""
    targets = (
        trace.tensors.get(operand.tensor) for operand in call.targets if operand.tensor is not None
    )
    return any(tensor is not None and tensor.id < 0 and not tensor.kept for tensor in targets)


def _is_spoiled_inside(trace: Trace, call: Call) -> bool:
    """Whether a result is zero or not finite, and the pass went through a compiled function."""
    ran = [trace.ops.get(step.op) for step in call.steps if step.op is not None]
    ran += [trace.ops.get(call.within)] if call.within is not None else []
    entered = [op for op in ran if op is not None and (op.is_open or _has_turns(op))]
    is_open = any(op.is_open for op in entered)
    results = (trace.stats(result) for result in call.results if result is not None)
    return bool(entered) and any(
        stats is not None and ((is_open and stats.nonfinite > 0) or stats.norm == 0)
        for stats in results
    )


def _has_turns(op: Op) -> bool:
    """Whether a gradient can be led back through every turn of the loops that a call ran."""
    return op.inside is not None and op.inside.is_turned


def is_unconnected(trace: Trace, call: Call, index: int) -> bool:
    """Whether no gradient function gave this source anything, so that it got None or zeros."""
    if call.results[index] is None:
        return True
    source = call.sources[index].tensor
    if call.method == "batch_jacobian":  # gives zeros in place of None
        return source is not None and not _is_followed(trace, call, source)
    if call.unconnected != "zero":
        return False
    return not any(
        tensor == source and gradient is not None
        for step in call.steps
        if step.op is not None and step.op in trace.ops
        for tensor, gradient in zip(trace.ops[step.op].inputs, step.downstream, strict=False)
    )


def _is_followed(trace: Trace, call: Call, source: TensorId) -> bool:
    """Whether the call's tape has an op that took this source."""
    return any(
        source in op.inputs and call.tape in op.tapes for op in trace.ops.values() if op.tapes
    )


def request(flow: DataFlow, call: Call, how: How = "") -> dict[str, Any]:
    """The arguments of the kernel's ``replay`` for this call. Raises :class:`TapevizError`.

    ``how``: ``beyond`` what stops a gradient on purpose; ``estimate``: also through what is flat.
    """
    trace = flow.trace
    paths = Paths(flow, call)
    starts = _starts(flow, call)
    found = paths.ancestry_from(starts)
    ancestry = found.into if len(found) <= MAX_OPS else found.edges_from(starts)
    return {
        "call": call.id,
        **run_shown(trace, call),
        "seeds": _seeds(trace, call),
        "how": how,
        "program": list(_program(trace, ancestry, how)),
        "wanted": [
            *(source.tensor for source in call.sources if source.tensor is not None),
            *(str(position) for position in ancestry if isinstance(position, VersionId)),
        ],
    }


def _starts(flow: DataFlow, call: Call) -> list[Position]:
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
    run = trace.ops.get(call.within) if call.within is not None else None
    return {"within": run.ran_as} if run is not None and run.ran_as is not None else {}


def further_calls(trace: Trace) -> tuple[Call, ...]:
    """Calls that still need a second replay (through stop_gradient, or with estimated slopes)."""
    is_signing = any(map(_is_signing, trace.ops.values()))
    wanted = (
        call
        for call in trace.calls
        if call.method == "gradient"
        and call.ended
        and not _is_unknown(trace, call)
        and (call.replay is not None or is_signing)
        and any(_lacks(trace, call, place) for place in range(len(call.results)))
    )
    return tuple(islice(wanted, MAX_FURTHER))


def _is_signing(op: Op) -> bool:
    """``tf.sign`` is flat, and yet gives zeros in place of None."""
    return op.type == "Sign" and not op.graph and op.within is None


def further_ways(flow: DataFlow, call: Call) -> Iterator[How]:
    """How else to replay such a call."""
    lacking = [
        source.tensor
        for place, source in enumerate(call.sources)
        if source.tensor is not None and _lacks(flow.trace, call, place)
    ]
    paths = Paths(flow, call)
    starts = [position for tensor in lacking for position in flow.positions_of_source(tensor)]
    edges = paths.ancestry_from(starts).edges_from(starts)
    if not any(target in edges for target in paths.targets) or len(edges) > MAX_OPS:
        return
    ops = {edge.op for into in edges.values() for edge in into if edge.op is not None}
    trace = flow.trace
    if call.replay is not None and any(_stops_on_purpose(trace, trace.ops[op]) for op in ops):
        yield "beyond"
    if call.replay is not None or any(_is_signing(trace.ops[op]) for op in ops):
        yield "estimate"


def rows_of_jacobian(flow: DataFlow, call: Call) -> Iterator[dict[str, Any]]:
    """The arguments of a ``replay`` for each element of the target of a jacobian with None."""
    target = call.targets[0].tensor if len(call.targets) == 1 else None
    known = flow.trace.tensors.get(target) if target is not None else None
    size = known.size if known is not None else None
    is_lacking = any(result is None for result in call.results)
    if call.method != "jacobian" or call.replay is None or not is_lacking or size is None:
        return
    asked = request(flow, call)
    if size > MAX_ROWS or size * len(asked["program"]) > MAX_OPS or not call.replay.results:
        return
    for row in range(size):
        yield asked | {"seeds": [[target, 0, row]], "share": [0, row], "brief": True}


def _lacks(trace: Trace, call: Call, place: int) -> bool:
    """Whether a source got nothing from the plain replay, or zeros from the tape."""
    source, result = call.sources[place].tensor, call.results[place]
    if is_unconnected(trace, call, place):
        return call.replay is None or str(source) not in call.replay.results
    stats = trace.stats(result) if result is not None else None
    return stats is not None and stats.norm == 0 and stats.nonfinite == 0


def _stops_on_purpose(trace: Trace, op: Op) -> bool:
    return op.type in ("StopGradient", "PreventGradient") or _is_custom(trace, op)


def _is_custom(trace: Trace, op: Op) -> bool:
    """A custom gradient whose body ran op by op."""
    is_entry = op.is_recorded_operation and bool(op.function and op.body)
    return is_entry and not any(trace.ops[inner].graph for inner in op.body)


def _seeds(trace: Trace, call: Call) -> list[list[int]]:
    """Each target with the tensor of the gradient that it starts with; 0: ones."""
    given = call.output_gradients
    return [
        [target.tensor, value_given(trace, call, given[place]) if place < len(given) else 0]
        for place, target in enumerate(call.targets)
        if target.tensor is not None
    ]


def value_given(trace: Trace, call: Call, given: Operand) -> int:
    """The tensor of an output gradient; of a variable one that holds what it held then.

    Raises :class:`TapevizError` where no such tensor was kept.
    """
    variable = trace.variables.get(VariableId(given.tensor or 0))
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


def checks(trace: Trace, *, also_flowing: bool = False) -> Iterator[dict[str, Any]]:
    """The arguments of the kernel's ``check`` for the first gradients that a replay gave.

    ``also_flowing``: for those that the tape gave, too.
    """
    asked = 0
    flow, numbers = DataFlow(trace), _EagerNumbers(trace)
    for call in trace.calls:
        if call.method != "gradient" or not call.ended or not (call.replay or also_flowing):
            continue
        wanted = [
            (source.tensor, found)
            for place, source in enumerate(call.sources)
            if (found := _to_be_checked(trace, call, place, also_flowing)) is not None
            and source.tensor is not None
        ]
        if not wanted:
            continue
        until = max(numbers.last_before(call.when), call.within or 0)
        since = Paths(flow, call).writes_since(_starts(flow, call))
        for tensor, found in wanted:
            yield {
                "call": call.id,
                **run_shown(trace, call),
                "source": tensor,
                "gradient": found,
                "seeds": _seeds(trace, call),
                "writes_since": numbers.last_before(since) + 1,
                "until": until,
            }
            asked += 1
            if asked == MAX_CHECKS:
                return


class _EagerNumbers:
    """The numbers of the ops that ran eagerly, by their position in the order of events.

    The inside of a compiled call has numbers of its own; it counts where its call stands.
    """

    def __init__(self, trace: Trace) -> None:
        eager = (op for op in trace.ops.values() if op.within is None)
        ordered = sorted(eager, key=attrgetter("when"))
        self._whens = [op.when for op in ordered]
        self._highest = list(accumulate((op.id for op in ordered), max))

    def last_before(self, when: int) -> int:
        """The highest number of an op before that position; 0 if there is none."""
        place = bisect_left(self._whens, when)
        return self._highest[place - 1] if place else 0


def _to_be_checked(trace: Trace, call: Call, place: int, also_flowing: bool) -> TensorId | None:
    """The gradient of a source that is worth to be compared with finite differences."""
    key = str(call.sources[place].tensor)
    if is_unconnected(trace, call, place):
        replayed = call.replay.results.get(key) if call.replay is not None else None
        return replayed or call.beyond.get(key)
    return call.results[place] if also_flowing else None


def _program(trace: Trace, ancestry: EdgesInto, how: How) -> Iterator[list[Any]]:
    """Instructions in backward order: an op comes before whatever it took its inputs from."""
    instructions: list[tuple[float, list[Any]]] = []
    done: set[OpId] = set()
    for position, edges in ancestry.items():
        for edge in edges:
            function = _function_around(trace, edge.op)
            if function is not None:
                if function.id in done:
                    continue
                done.add(function.id)
                if _has_turns(function):
                    turns = _through_turns(trace, ancestry, function)
                    instructions.append((float(function.when), turns))
                elif function.is_recorded_operation:
                    instructions.extend(_of_op(trace, function, ""))
            elif edge.kind == "read" and isinstance(position, int):
                variable = trace.reads[position].variable
                when = _when(trace, edge.op)
                instructions.append((when, ["move", position, _named(edge.start)]))
                instructions.append((when, ["move", position, variable]))
            elif edge.kind == "creation":
                when = _when(trace, edge.op)
                instructions.append((when, ["move", _named(edge.end), _named(edge.start)]))
            elif edge.op is not None and edge.op not in done:
                done.add(edge.op)
                op = trace.ops[edge.op]
                instructions.extend(_of_op(trace, op, how))
    instructions.sort(key=lambda pair: -pair[0])
    return (instruction for _, instruction in instructions)


def _function_around(trace: Trace, op: OpId | None) -> Op | None:
    """The tape's entry for a compiled function that ran this op: gradients go back through that.

    Unless its inside was computed again, and so can be walked.
    """
    within = trace.ops[op].within if op is not None else None
    function = trace.ops.get(within) if within is not None else None
    return function if function is not None and not function.is_open else None


def _through_turns(trace: Trace, ancestry: EdgesInto, function: Op) -> list[Any]:
    """The instruction for all that a call with loops did, in every turn of them."""
    began = min((trace.ops[op].when for op in function.body if op in trace.ops), default=0)
    before: dict[str, str] = {}
    after: dict[str, str] = {}
    for variable in {at.variable for at in ancestry if isinstance(at, VersionId)}:
        for version in trace.variables[variable].versions:
            if version.when < began:
                before[str(variable)] = str(version.id)
            if version.when <= function.when:
                after[str(variable)] = str(version.id)
    shown = [op.id for op in trace.ops.values() if op.within == function.id]
    return ["turns", function.ran_as, before, after, shown]


def loops_to_complete(flow: DataFlow) -> tuple[OpId, ...]:
    """Calls of compiled functions with loops on the way of gradients that are None or zero, of
    which some turns were not recorded: the numbers that a kernel knows them by."""
    trace = flow.trace
    lacking = {trace.ops[loop.op].within for loop in trace.loops.values() if lacked_turns(loop)}
    found: dict[OpId, None] = {}
    for call in trace.calls if lacking else ():
        if not call.ended or not any(_is_missing(trace, result) for result in call.results):
            continue
        edges = Paths(flow, call).ancestry_from(_starts(flow, call)).into.values()
        ops = {edge.op for into in edges for edge in into if edge.op is not None}
        for function in lacking.intersection(trace.ops[op].within for op in ops):
            known = trace.ops.get(function) if function is not None else None
            if known is not None and known.ran_as is not None and _is_worth_turning(trace, known):
                found[known.ran_as] = None
    return tuple(islice(found, MAX_FURTHER))


def _is_missing(trace: Trace, result: TensorId | None) -> bool:
    stats = trace.stats(result) if result is not None else None
    return result is None or (stats is not None and stats.norm == 0)


def _is_worth_turning(trace: Trace, function: Op) -> bool:
    loops = [loop for loop in trace.loops.values() if trace.ops[loop.op].within == function.id]
    ops = sum((loop.count or 0) * len(loop.body) for loop in loops)
    return ops <= MAX_TURNED and any(map(lacked_turns, loops))


def lacked_turns(loop: Loop) -> int:
    """How many turns of a loop that stands in no other one were not recorded."""
    return max((loop.count or 0) - len(loop.turns), 0)


def _of_op(trace: Trace, op: Op, how: How) -> Iterator[tuple[float, list[Any]]]:
    version = trace.writes.get(op.id)
    if version is None:
        if how and _is_custom(trace, op):
            for inner in op.body:
                yield trace.ops[inner].when, ["inner", inner]
        elif how == "estimate" or any(_carries_gradient(trace, tensor) for tensor in op.outputs):
            # A compiled function's own outputs are those of the tape's entry for it, too.
            yield op.when, ["op" if op.within is None else "inner", op.id]
            for tensor in op.inputs:
                touched = trace.touches.get((op.id, VariableId(tensor)))
                if touched is not None:
                    yield op.when - 0.5, ["move", tensor, str(touched.id)]
        return
    prior = str(version.id._replace(number=version.index - 1)) if version.index else 0
    yield op.when, ["assign", op.id, str(version.id), version.value or 0, prior]


def _named(position: Position) -> int | str:
    """A position as the recorder names it: a tensor's id, or a version's text."""
    return str(position) if isinstance(position, VersionId) else position


def _carries_gradient(trace: Trace, tensor: TensorId) -> bool:
    known = trace.tensors.get(tensor)
    return known is None or is_differentiable(known.dtype)


def _when(trace: Trace, op: OpId | None) -> float:
    return float(trace.ops[op].when) if op is not None else 0.0
