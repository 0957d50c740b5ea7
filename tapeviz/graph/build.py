"""Build the op graph of a gradient call: ops, versions, constants, and their edges."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import replace

from ..errors import go_on
from ..trace.calls import Call
from ..trace.compiled.model import Loop
from ..trace.ids import OpId, TensorId
from ..trace.model import Trace
from .array_names import array_names
from .loose_ends import loose_ends
from .model import Edge
from .nodes import op_id
from .op_graph import OpGraph
from .pins import pin_down
from .select import select
from .trace_index import NOTHING_CAME_BACK, CameBack, TraceIndex, shown_calls
from .wiring import Wiring
from .words import ranked_names


def build(
    trace: Trace,
    call: Call | None = None,
    *,
    shows_all: bool = False,
    came_back: CameBack = NOTHING_CAME_BACK,
    opened: Collection[str] = (),
) -> OpGraph:
    """The op graph of a gradient call (default: the last), or with ``shows_all`` of the whole run.

    ``came_back``: for each constant that came back from Python, the tensors that it was made from.
    ``opened``: paths of values computed outside the picture whose ops are shown all the same, see
    `scope.before_path`.
    """
    index = _index_of(trace, came_back)
    if call is None and trace.calls:
        call = shown_calls(trace)[-1]
    go_on()
    selection = select(index, call, opened, shows_all=shows_all)
    go_on()
    wiring = Wiring(index, selection)
    wiring.wire()
    go_on()
    graph = wiring.graph
    if not shows_all and call is not None:
        graph = graph.without(loose_ends(graph, index.trace, *wiring.asked(call)))
    graph.carried = {
        loop.op: _carried(graph, index.trace, loop, selection.merged)
        for loop in index.trace.loops.values()
        if loop.carried
    }
    graph.call = None if shows_all else call
    pin_down(graph, index.trace, selection, call)
    return graph


def _carried(
    graph: OpGraph, trace: Trace, loop: Loop, merged: Mapping[OpId, OpId]
) -> tuple[Edge, ...]:
    """Edges for the values that a turn of a compiled loop hands to the next."""
    inside = set(loop.body)
    # A custom gradient comes after the ops of its body, of which the last made what it gives.
    makers = {out: op for op in reversed(loop.body) for out in trace.ops[op].outputs}
    found = []
    for taken, handed in loop.carried:
        maker = makers.get(handed, trace.producers.get(handed))
        if maker not in inside:
            continue
        maker = merged.get(maker, maker)
        if op_id(maker) not in graph:
            continue
        for op in loop.body:
            if taken in trace.ops[op].inputs and op_id(op) in graph:
                ends = op_id(maker), op_id(op)
                found.append(Edge(*ends, 0, handed, op, "unrecorded", is_carried=True))
    return tuple(found)


_latest: list[tuple[Trace, CameBack, TraceIndex]] = []
"""The index made last: most pictures are of the same trace as the one before."""


def _index_of(trace: Trace, came_back: CameBack) -> TraceIndex:
    for known, known_back, index in _latest:
        if known is trace and known_back == came_back:
            return index
    arrays = {tensor: (name,) for tensor, name in array_names(trace).items()}
    names = {**ranked_names(trace), **arrays}
    prepared = replace(trace, producers=_makers(trace), names=names)
    index = TraceIndex(prepared, came_back)
    _latest[:] = [(trace, came_back, index)]
    return index


def _makers(trace: Trace) -> Mapping[TensorId, OpId]:
    """Map each tensor to the op that computed it.

    `Trace.producers` has the custom_gradient for its outputs, as the tape does; here they map to
    the op inside of it. (A compiled function runs as an op of the same type inside of its entry:
    its outputs keep the entry.)
    """
    makers: dict[TensorId, OpId] = {}
    for entry in trace.ops.values():
        for inside in entry.body:
            op = trace.ops[inside]
            if not op.is_recorded_operation and op.type != entry.type:
                makers.update(
                    (tensor, op.id)
                    for tensor in op.outputs
                    if makers.get(tensor, trace.producers.get(tensor)) == entry.id
                )
    return {**trace.producers, **makers} if makers else trace.producers
