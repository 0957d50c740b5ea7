"""Warn of what looks right about a gradient that flows, and is wrong.

:data:`WARNINGS` is the table: each looks at one call. They are quiet unless the numbers are all but
certainly not what the snippet meant: ordinary code never sees one.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable, Collection, Iterable, Iterator
from dataclasses import replace
from functools import partial

import numpy as np

from ..errors import go_on
from ..trace.calls import Operand
from ..trace.ids import CallId, OpId, TensorId
from ..trace.model import Trace
from ..trace.op_kinds import ops_with
from ..trace.ops import Op
from ..trace.stats import Array
from .call_facts import CallFacts, maker_past, name_of
from .causes.ops.custom_gradient import gradient_return_line
from .causes.values.nonfinite import nonfinite_in_call
from .flow.ancestry import Ancestry, DataEdge, EdgesInto, Position
from .judging.forward_paths import without, without_forms
from .model import Warned
from .numbers.began import runs_of
from .numbers.first_bad import made_from_finite
from .numbers.rounding import rounding_only
from .python.detours import detoured_term
from .python.terms import level_term, lost_term, unrecorded_term
from .python.uncollected import uncollected_variable
from .status import status_of

_COMPARING = ops_with("difference")
_AVERAGING = ops_with("mean")
# Who writes these asks for another shape.
_RESHAPING = ops_with("reshape")
_SOFTMAX = frozenset(
    {
        *("Softmax", "LogSoftmax"),
        *("SoftmaxCrossEntropyWithLogits", "SparseSoftmaxCrossEntropyWithLogits"),
    }
)
_OF_RECORDER = "recorder, "
_FEW = 100_000
_ALL_OF_IT = 1e-3
_MOST_LOOKED_AT = 100_000
"""Positions on the paths from the sources of a call: thousands may be written into one variable."""
WarningRule = Callable[[CallFacts], Iterator[Warned]]


def warn(all_facts: Iterable[CallFacts]) -> tuple[Warned, ...]:
    """One warning for each kind and line, in the order of the calls, about all calls with it."""
    found: dict[tuple[str, int], tuple[Warned, dict[CallId, None]]] = {}
    for facts in all_facts:
        for look in WARNINGS:
            go_on()
            for warned in look(facts):
                _, calls = found.setdefault((warned.kind, warned.line), (warned, {}))
                calls[facts.call.id] = None
    return tuple(replace(warned, calls=tuple(calls)) for warned, calls in found.values())


def incomplete(trace: Trace) -> Iterator[Warned]:
    """Warn of what the recorder missed: a name that TensorFlow does not have, a failed hook."""
    for note in trace.notes:
        if note.startswith(_OF_RECORDER):
            yield Warned(
                "incomplete",
                0,
                f"The recording is not complete: {note.removeprefix(_OF_RECORDER)}. "
                f"What is said here may lack that part.",
            )


def sees_no_op(trace: Trace) -> bool:
    """Whether the recorder missed every op, so that no cause can be told: then it left a note."""
    return all(op.is_recorded_operation for op in trace.ops.values()) and any(incomplete(trace))


def broadcast_loss(facts: CallFacts) -> Iterator[Warned]:
    """``(16,)`` minus ``(16, 1)`` is ``(16, 16)``: every label is compared with every output."""
    for op in _passed(facts, _COMPARING):
        if len(op.inputs) != 2:
            continue
        shapes = [_shape(facts, tensor) for tensor in op.inputs]
        long, column = sorted(shapes, key=len)
        if len(long) != 1 or column != (long[0], 1) or long[0] < 2:
            continue
        makers = (facts.trace.maker(tensor) for tensor in op.inputs)
        if any(maker.type in _RESHAPING for maker in makers if maker is not None):
            continue
        if _is_averaged(facts, op.outputs[0]):
            n = long[0]
            yield Warned(
                "broadcast",
                facts.line_of(op),
                f"Line {facts.line_of(op)} subtracts shapes ({n},) and ({n}, 1), and NumPy's "
                f"broadcasting makes ({n}, {n}) of them: every label is compared with every "
                f"prediction. The loss is a number all the same, but not the one meant. "
                f"Give both the same shape, with tf.squeeze or tf.reshape.",
            )


def no_sources(facts: CallFacts) -> Iterator[Warned]:
    """Weights that were listed before a layer had any: the gradient of nothing is an empty list."""
    call = facts.call
    if call.sources or not call.targets or not call.is_direct or not call.line:
        return
    if any(uncollected_variable(facts)):
        return
    yield Warned(
        "no-sources",
        call.line,
        f"The list of sources given to {call.method}() on line {call.line} is empty, and so is "
        f"what comes back. A layer or model has no weights before its first call or build(), and "
        f"no trainable ones while its trainable is False. List them after that.",
    )


def summed_target(facts: CallFacts) -> Iterator[Warned]:
    """``gradient`` of a vector is that of its sum; for shared weights that is rarely meant."""
    call = facts.call
    if call.method != "gradient" or call.output_gradients or len(call.targets) != 1:
        return
    target = call.targets[0]
    shape = _shape(facts, target.tensor) if target.tensor is not None else ()
    if int(np.prod(shape)) < 2 or not call.is_direct:
        return
    if any(_is_shared(facts, source, shape) for source, _ in facts.flowing):
        yield Warned(
            "summed-target",
            call.line,
            f"{target.text or 'The target'} on line {call.line} has shape {shape}, and "
            f"gradient() gives the gradient of the sum of its elements. "
            f"Reduce it to one number first (tf.reduce_mean for a mean loss), or ask jacobian() "
            f"for each element's own gradient.",
        )


def shared_ties(facts: CallFacts) -> Iterator[Warned]:
    """``reduce_max`` over equal largest elements shares the gradient out evenly among them."""
    for op in _passed(facts, ("Max", "Min")):
        if len(op.inputs) != 2 or op.call is not None:
            continue
        ties = _ties(facts, op)
        if ties > 1:
            word = "largest" if op.type == "Max" else "smallest"
            yield Warned(
                "ties",
                op.line,
                f"On line {op.line} {ties} elements are equally the {word}. "
                f"TensorFlow shares the gradient out evenly among them, where a derivative does "
                f"not exist.",
            )


def softmax_twice(facts: CallFacts) -> Iterator[Warned]:
    """Probabilities, which lie between 0 and 1, are taken for logits by a second softmax."""
    for op in _passed(facts, _SOFTMAX):
        first = maker_past(facts.trace, op.inputs[0], _RESHAPING | ops_with("copy"))
        if first is None or first.type != "Softmax" or op.call is not None:
            continue
        again, line = facts.line_of(op), facts.line_of(first)
        yield Warned(
            "softmax-twice",
            again,
            f"Line {again} takes the softmax of what is a softmax already (line {line}). "
            f"Probabilities lie between 0 and 1, so that as logits they hardly differ: the loss "
            f"cannot come near 0, and the gradients are small. "
            f"Give line {again} the values before the softmax, or say from_logits=False.",
        )


def half_assigned(facts: CallFacts) -> Iterator[Warned]:
    """A source that reaches the target on two paths, of which one leads through a variable that the
    value was written into, by an assign or as its first value."""
    trace, tape = facts.trace, facts.tape
    if tape is None or facts.call.method != "gradient":
        return
    writes = facts.flow.writes
    start = bisect_left(writes, tape.when, key=lambda op: op.when)
    end = bisect_left(writes, facts.call.when, key=lambda op: op.when)
    written = frozenset(op.id for op in writes[start:end] if tape.is_recording(op.when))
    if not written:
        return
    looked = 0
    for source, _ in facts.flowing:
        if source.tensor is None:
            continue
        edges = facts.paths.recent.edges_from(facts.paths.starts(source.tensor))
        looked += len(edges)
        if looked > _MOST_LOOKED_AT:
            return
        op = _lossy_write(facts, source.tensor, edges, written)
        if op is not None:
            name = name_of(trace, trace.writes[op.id].variable)
            yield Warned(
                "partial",
                op.line,
                f"The gradient for {source.text} counts only a part: what line {op.line} writes "
                f"into {name} is made from {source.text}, too, and no tape follows a write to a "
                f"variable. Use the assigned tensor in place of {name} to count both paths.",
            )


def nonfinite_call(facts: CallFacts) -> Iterator[Warned]:
    """A compiled function asks for its gradients itself, and one of its calls gave NaN.

    A finding tells of one call of the function only; here the gradients of that one are sound.
    """
    trace, call = facts.trace, facts.call
    if any(status_of(trace, result) == "nonfinite" for result in call.results):
        return  # the findings tell it
    found = nonfinite_in_call(facts)
    if found is None:
        return
    run, cause, evidence = found
    alone = replace(cause, evidence=replace(evidence, number=0))
    words = alone.message("what it returned", "its gradients")
    name, last = run.function or "the function", runs_of(trace, call)[-1]
    gave, returned = "was the first that gave NaN or infinity", map(trace.stats, last.outputs)
    if last.outputs and all(stats is not None and not stats.nonfinite for stats in returned):
        gave += ", though what the last one returned is finite"
    yield Warned(
        "nonfinite-call",
        cause.line,
        f"Call {evidence.number:,} of {evidence.calls:,} of {name} {gave}. {words}",
    )


def nonfinite_target(facts: CallFacts) -> Iterator[Warned]:
    """The target is a single NaN or infinity, and its gradients are finite: ``log(x)`` has the
    slope ``1 / x`` below 0, too."""
    call, trace = facts.call, facts.trace
    for target in call.targets:
        if target.tensor is None or np.prod(_shape(facts, target.tensor)) != 1:
            continue
        found = made_from_finite(facts, target.tensor)
        if found is None:
            continue
        statuses = {status_of(trace, result) for result in call.results}
        if "flows" not in statuses or "nonfinite" in statuses:
            return
        op, value = found
        got = f" got {value}," if value else " got numbers"
        line, words = facts.line_of(op), facts.words_of(op)
        yield Warned(
            "nonfinite-target",
            line,
            f"{target.text or 'The target'} is NaN or infinite, though its gradients are finite: "
            f"{words} on line {line}{got} where its result is not. A slope can be there where the "
            f"value is not, so training goes on, and the numbers it goes by mean nothing. "
            f"Keep the input of {words} where the result is finite.",
        )


def doubtful_gradient(facts: CallFacts) -> Iterator[Warned]:
    """A ``custom_gradient`` whose function gives another slope than its own value has.

    Where one of the two is 0 all over, that is meant: rounding with a gradient, a blocked path.
    """
    for (identity, _), check in facts.call.doubts.items():
        op, error = facts.trace.ops.get(identity), check.error
        if op is None or check.agrees or error is None or abs(error - 1) < _ALL_OF_IT:
            continue
        line = gradient_return_line(facts.text, op) or op.line
        yield Warned(
            "custom-gradient",
            line,
            f"The gradient function of {op.function} gives another slope than {op.function} has: "
            f"it is off by {error:.0%} of the largest derivative, by finite differences. "
            f"TensorFlow takes its word for it, right or wrong. "
            f"Look at the formula on line {line}.",
        )


def _lossy_write(
    facts: CallFacts, source: TensorId, edges: EdgesInto, written: frozenset[OpId]
) -> Op | None:
    """A write whose value the tape links to the source, and whose variable reaches the target, both
    without a ``stop_gradient``: what that stops, as a teacher's weights, was never meant to be
    counted. ``edges``: those on the paths from the source."""
    paths = facts.paths
    moving = without(without_forms(facts, edges).into, partial(_is_stop, facts))
    edges = Ancestry(moving).edges_from(paths.starts(source))
    if not any(target in edges for target in paths.targets):
        return None
    arriving = _arriving(facts, edges, source)
    for end, into in edges.items():
        if end not in arriving:
            continue
        for edge in into:
            is_write = edge.kind in ("assign", "creation")
            if is_write and edge.op in written and edge.op is not None:
                op = facts.trace.ops[edge.op]
                is_source = edge.tensor == source
                if is_source or (edge.tensor is not None and _is_on_tape(facts, edge.tensor)):
                    return None if _is_own_state(facts, op.id, source) else op
    return None


def _is_stop(facts: CallFacts, edge: DataEdge) -> bool:
    op = facts.trace.op(edge.op)
    return op is not None and op.type == "StopGradient"


def _arriving(facts: CallFacts, edges: EdgesInto, source: TensorId) -> set[Position]:
    """The positions that the targets are made from other than through the source's own next state,
    as an optimizer's moments are."""
    found: set[Position] = set()
    waiting = list(facts.paths.targets)
    while waiting:
        position = waiting.pop()
        if position in found:
            continue
        found.add(position)
        for edge in edges.get(position, ()):
            if edge.kind != "assign" or not _is_own_state(facts, edge.op, source):
                waiting.append(edge.start)
    return found


def _is_on_tape(facts: CallFacts, tensor: TensorId) -> bool:
    maker = facts.trace.maker(tensor)
    return maker is not None and facts.call.tape in maker.tapes


def _is_own_state(facts: CallFacts, op: OpId | None, source: TensorId) -> bool:
    """The source's own next state: ``w.assign(w * 2)`` is asked about after the write."""
    write = facts.trace.writes.get(op) if op is not None else None
    return write is not None and TensorId(write.variable) == source


def _passed(facts: CallFacts, types: Collection[str]) -> Iterator[Op]:
    """The ops of these types that a gradient passed."""
    ops = facts.trace.ops
    for step in facts.steps:
        op = ops.get(step.op) if step.op is not None else None
        if op is None or op.type not in types:
            continue
        if any(gradient is not None for gradient in step.downstream):
            yield op


def _shape(facts: CallFacts, tensor: TensorId) -> tuple[int, ...]:
    variable = facts.trace.variable(tensor)
    known = variable.shape if variable else getattr(facts.trace.tensors.get(tensor), "shape", ())
    return tuple(size or 0 for size in known or ())


def _is_averaged(facts: CallFacts, tensor: TensorId) -> bool:
    """Whether the tensor, or something of its shape made from it, is reduced to one number."""
    shape = _shape(facts, tensor)
    reached = {tensor}
    for step in reversed(facts.steps):
        op = facts.trace.op(step.op)
        if op is None or not op.outputs or not reached & {*op.inputs}:
            continue
        given = _shape(facts, op.outputs[0])
        if op.type in _AVERAGING:
            return given == ()
        if given == shape:
            reached.update(op.outputs)
    return False


def _is_shared(facts: CallFacts, source: Operand, target: tuple[int, ...]) -> bool:
    """A weight that all elements of the target were made from, not one of its own for each."""
    if source.kind != "variable" or source.tensor is None:
        return False
    shape = _shape(facts, source.tensor)
    return shape != target and shape[:1] != target[:1]


def _ties(facts: CallFacts, op: Op) -> int:
    """The largest number of equal extremes in one reduction; 0 where values are not at hand."""
    value, axes = (facts.trace.value(tensor) for tensor in op.inputs)
    if value is None or axes is None or value.dtype.kind not in "fiu" or not 1 < value.size < _FEW:
        return 0
    over = tuple(int(axis) for axis in np.atleast_1d(axes))
    extreme: Array = (np.max if op.type == "Max" else np.min)(value, axis=over, keepdims=True)
    return int((value == extreme).sum(axis=over).max(initial=0))


WARNINGS: tuple[WarningRule, ...] = (
    broadcast_loss,
    no_sources,
    uncollected_variable,
    summed_target,
    shared_ties,
    softmax_twice,
    half_assigned,
    lost_term,
    detoured_term,
    unrecorded_term,
    level_term,
    nonfinite_call,
    nonfinite_target,
    doubtful_gradient,
    rounding_only,
)
