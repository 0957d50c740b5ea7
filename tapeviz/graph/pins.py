"""Choose the nodes that a first view must not fold away."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Sequence

from ..analysis.status import status_of
from ..trace.calls import Call, Operand
from ..trace.ids import OpId, TensorId
from ..trace.model import Trace
from ..trace.ops import Op
from ..trace.variables import Version
from .nodes import op_id, value_of
from .op_graph import OpGraph, Pins
from .select import NodeSelection

_MOST_SOURCES = 8


def pin_down(graph: OpGraph, trace: Trace, selection: NodeSelection, call: Call | None) -> None:
    """Set the ``pins`` and ``cuts`` of a graph, and pin all nodes that can be."""
    graph.pins = _choose_pins(graph, trace, selection, call)
    graph.cuts = _cuts_alone(graph, trace, selection, call)
    graph.pin(graph.pins[0])


def _choose_pins(
    graph: OpGraph, trace: Trace, selection: NodeSelection, call: Call | None
) -> list[Pins]:
    """Places of the targets, of the cuts, of the op where NaN or infinity began, and of the
    sources, if these are at most :data:`_MOST_SOURCES`. Then fewer: only the sources that
    :func:`_stand_out`, then none of them, and at last not that op. Cuts are never folded away.
    Where sources are not pinned, variables are gathered, too.
    """
    if call is None:
        return [Pins(frozenset())]
    cuts = selection.scope.cuts
    few = [call.sources, _stand_out(graph, trace, call)]
    found: list[frozenset[int]] = []
    places: Iterable[int] = range(len(graph))
    for sources in (*(some for some in few if len(some) <= _MOST_SOURCES), ()):
        operands = (*call.targets[-_MOST_SOURCES:], *sources)  # of a loop the last turns
        found.append(_pinned(graph, trace, selection, operands, cuts, places))
        places = sorted(found[-1])
    # A source has a node for each version of it that is read.
    found = [pinned for pinned in found if len(pinned - found[-1]) <= _MOST_SOURCES]
    bare, values = found[-1], frozenset(graph.values)
    hides = bool(few[-1])
    choices = [
        Pins(pinned, number > 0 and pinned & values == bare & values, hides and pinned == bare)
        for number, pinned in enumerate(found)
    ]
    if not choices[-1].gathers:
        choices.append(Pins(bare, gathers=True, hides=hides))
    began = frozenset(_began(graph, trace, call)) - bare
    if began:
        with_it = [choice._replace(pinned=choice.pinned | began) for choice in choices]
        choices = [*with_it, choices[-1]._replace(hides=True)]
    return list(dict.fromkeys(choices))


def _cuts_alone(
    graph: OpGraph, trace: Trace, selection: NodeSelection, call: Call | None
) -> frozenset[int]:
    """The places of the ops at which a gradient is cut, without those that made an operand."""
    if call is None:
        return frozenset()
    operands = {operand.tensor for operand in (*call.targets, *call.sources)}
    return frozenset(
        graph.places[op_id(op.id)]
        for op in map(trace.ops.get, selection.scope.cuts)
        if op is not None and op_id(op.id) in graph and operands.isdisjoint(op.outputs)
    )


def _began(graph: OpGraph, trace: Trace, call: Call) -> Iterator[int]:
    """The place of the op that made the NaN or infinity of a target out of finite numbers."""
    waiting = [target.tensor for target in call.targets if target.tensor is not None]
    seen: set[TensorId] = set()
    while waiting:
        tensor = waiting.pop()
        maker = trace.maker(tensor)
        if tensor in seen or maker is None or not trace.has_nonfinite(tensor):
            continue
        seen.add(tensor)
        if any(map(trace.has_nonfinite, maker.inputs)):
            waiting.extend(maker.inputs)
        elif op_id(maker.id) in graph:
            yield graph.places[op_id(maker.id)]
            return


def _pinned(
    graph: OpGraph,
    trace: Trace,
    selection: NodeSelection,
    operands: Sequence[Operand],
    cuts: Collection[OpId],
    places: Iterable[int],
) -> frozenset[int]:
    """Find the places at which operands and cuts stand, among those given; a cut in Python or NumPy
    stands at the constant that came back.

    If all ops are shown, the versions of a variable that an op wrote are left out."""
    wanted = {operand.tensor for operand in operands if operand.tensor is not None}
    producers = trace.producers
    makers = {producers[out] for out in wanted if out in producers}.union(cuts)
    asked = wanted | {out for out in selection.scope.outside if producers.get(out) in makers}
    asked |= selection.scope.returned
    maker, none_of = graph.maker, wanted.isdisjoint
    found = []
    for place in places:
        part = graph.parts[place]
        if isinstance(part, Op):
            is_pinned = part.id in makers
            if not (is_pinned or none_of(part.outputs)):
                is_pinned = maker.tensor_of(part) in wanted
        elif isinstance(part, Version):
            is_first = not (selection.is_all and graph.into.count(place))
            is_pinned = TensorId(part.variable) in wanted and is_first
            is_pinned = is_pinned or value_of(trace, part) in wanted
        else:
            is_pinned = part in asked
        if is_pinned:
            found.append(place)
    return frozenset(found)


def _stand_out(graph: OpGraph, trace: Trace, call: Call) -> Sequence[Operand]:
    """The sources whose gradient is None, zero or not finite; none of a model whose sources are all
    like that: its box says so."""
    models: dict[TensorId, str] = {}
    for place, part in enumerate(graph.parts):
        if isinstance(part, Version):
            takers = (graph.parts[taker] for taker in graph.successors(place))
            scopes = (taker.scope.strip("/") for taker in takers if isinstance(taker, Op))
            models.setdefault(TensorId(part.variable), next(scopes, "").split("/")[0])
    given = zip(call.sources, call.results, strict=False)
    are_known = [(source, status_of(trace, result) == "flows") for source, result in given]
    flowing = {models.get(source.tensor) for source, flows in are_known if flows and source.tensor}
    flowing.add("")
    return [
        source
        for source, flows in are_known
        if not flows and (source.tensor is None or models.get(source.tensor, "") in flowing)
    ]
