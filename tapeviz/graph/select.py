"""Choose the ops that are nodes in the picture of a gradient call."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from operator import attrgetter

from ..trace.calls import Call
from ..trace.ids import OpId, TensorId
from ..trace.model import Trace
from ..trace.op_kinds import ops_with
from ..trace.ops import Op
from .bookkeeping import Bookkeeping, find_bookkeeping
from .scope import everything, find_scope
from .scope_walk import Scope
from .trace_index import Descent, TraceIndex, asked_for, shown_calls

_CONDITIONALS = ops_with("branch")


@dataclass(frozen=True, slots=True)
class NodeSelection:
    """The ops and values that a picture shows. ``ops``: the ops that are nodes, in the order they
    ran; ``shown``: their ids. ``scope``: what the picture holds apart from ops, of the values that
    no op made those ``asked`` for. ``data``: op that only makes a named value → the last op of its
    line, which is drawn as that value: the three ops of ``x = tf.random.normal(…)`` are one node.
    ``merged``: a conditional, and the ``Identity`` that hands it what its branch gave → the
    ``Identity`` of its output, which is drawn as all three. ``asked``: see `asked_for`.
    ``entries``: op → the innermost recorded operation that it ran inside of."""

    ops: tuple[Op, ...]
    shown: frozenset[OpId]
    scope: Scope
    descent: Descent
    bookkeeping: Bookkeeping
    asked: frozenset[TensorId]
    data: Mapping[OpId, OpId]
    merged: Mapping[OpId, OpId]
    entries: Mapping[OpId, Op]
    is_all: bool = False
    """It is the whole run, not the picture of one call."""


def select(
    index: TraceIndex, call: Call | None, opened: Collection[str], *, shows_all: bool
) -> NodeSelection:
    """Select the nodes of a gradient call's picture, or with ``shows_all`` of the whole run."""
    trace, descent = index.trace, index.descent
    scope = everything(trace) if shows_all else find_scope(index, call, opened)
    calls = shown_calls(trace) if shows_all or call is None else (call,)
    asked = asked_for(trace, calls)
    kept = sorted([trace.ops[op] for op in scope.ops], key=attrgetter("when"))
    ops = [op for op in kept if _is_node(trace, op, asked)]
    hidden = Bookkeeping() if shows_all else find_bookkeeping(trace, ops, asked)
    ops = [op for op in ops if op.id not in hidden.ops]
    # A frozenset made of a set takes half the memory of one that grew from another iterable.
    shown = frozenset({op.id for op in ops})
    return NodeSelection(
        tuple(ops),
        shown,
        # Of the values that no op made most are constants, which their readers lead to.
        replace(scope, ops=set(), tensors=scope.tensors & asked),
        descent,
        hidden,
        asked,
        {} if shows_all else _data(trace, ops, descent, hidden),
        {} if shows_all else _merged(trace, ops, asked),
        index.groups,
        shows_all,
    )


def _is_node(trace: Trace, op: Op, asked: frozenset[TensorId]) -> bool:
    """Whether an op is a node. A read of a variable is an edge, unless the snippet named its
    result; a recorded operation whose body made its outputs is a group; that no gradient came to a
    list is a step of the backward pass alone."""
    if op.type == "ReadVariableOp" and op.outputs and op.outputs[0] in trace.reads:
        return any(output in asked or output in trace.names for output in op.outputs)
    if op.description.body and not op.is_recorded_operation:  # a compiled function's call
        return False
    if op.call is not None and op.type == "ZerosLike" and _is_list(trace, op.outputs):
        return False
    if op.description.is_recorded_operation:
        return all(trace.producers.get(output) == op.id for output in op.outputs)
    return True


def _is_list(trace: Trace, tensors: Sequence[TensorId]) -> bool:
    """Whether the first of these is a list of tensors, as a compiled loop keeps them for its
    backward pass, which takes zeros for what no gradient came to."""
    known = trace.tensors.get(tensors[0]) if tensors else None
    return known is not None and known.dtype == "variant"


def _data(
    trace: Trace, ops: list[Op], descent: Descent, hidden: Bookkeeping
) -> Mapping[OpId, OpId]:
    """Find ops of one line that make a named value from nothing that a gradient could reach."""
    plain: set[OpId] = set()
    for op in ops:
        if op.tapes:  # nearly all of a long tape
            continue
        is_open = bool(op.line and op.outputs) and op.id not in trace.writes
        if is_open and all(
            _is_plain(trace, tensor, op, plain, descent, hidden) for tensor in op.inputs
        ):
            plain.add(op.id)
    if not plain:
        return {}
    users: dict[TensorId, list[OpId]] = {}
    for op in ops:
        for tensor in op.inputs:
            users.setdefault(tensor, []).append(op.id)
    ends: dict[OpId, OpId] = {}
    targets = {target.tensor for call in trace.calls for target in call.targets}
    for end in plain:
        outputs = trace.ops[end].outputs
        if any(tensor in trace.names for tensor in outputs) and targets.isdisjoint(outputs):
            inside = _behind(trace, trace.ops[end], plain)
            taken = (users[out] for inner in inside - {end} for out in trace.ops[inner].outputs)
            if all(user in inside for some in taken for user in some):
                ends.update(dict.fromkeys(inside, end))
    return ends


def _merged(trace: Trace, ops: list[Op], asked: frozenset[TensorId]) -> Mapping[OpId, OpId]:
    """Find conditionals between two ops that TensorFlow adds: one that hands on what the branch
    gave (``mark_as_return`` in func_graph.py) and one that hands on the output (``_build_cond`` in
    cond_v2.py, TensorFlow 2.15-2.21)."""
    conditionals = [op for op in ops if op.type in _CONDITIONALS and op.within is not None]
    if not conditionals:
        return {}
    takers: dict[TensorId, list[Op]] = {}
    for op in ops:
        for tensor in op.inputs:
            takers.setdefault(tensor, []).append(op)

    def is_handed_on(tensor: TensorId) -> bool:
        is_known = tensor in asked or tensor in trace.names
        return not is_known and len(takers.get(tensor, ())) == 1

    merged: dict[OpId, OpId] = {}
    for op in reversed(conditionals):
        end = op.id
        for output in filter(is_handed_on, op.outputs):
            if takers[output][0].type == "Identity":
                end = merged.get(takers[output][0].id, takers[output][0].id)
                merged[op.id] = end
        for tensor in filter(is_handed_on, op.inputs):
            maker = trace.maker(tensor)
            if maker is not None and maker.type == "Identity" and maker.within == op.within:
                merged[maker.id] = end
    return merged


def _is_plain(
    trace: Trace,
    tensor: TensorId,
    consumer: Op,
    plain: set[OpId],
    descent: Descent,
    hidden: Bookkeeping,
) -> bool:
    if tensor in trace.names or tensor in descent.carrying:
        return False
    producer = trace.producers.get(tensor)
    if producer is None or producer in hidden.ops:
        return True
    return producer in plain and trace.ops[producer].line == consumer.line


def _behind(trace: Trace, end: Op, plain: set[OpId]) -> set[OpId]:
    inside = {end.id}
    waiting = list(end.inputs)
    while waiting:
        producer = trace.producers.get(waiting.pop())
        if producer in plain and producer not in inside:
            inside.add(producer)
            waiting.extend(trace.ops[producer].inputs)
    return inside
