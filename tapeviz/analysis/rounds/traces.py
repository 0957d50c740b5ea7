"""Tell apart the traces of a compiled function in which one gradient call stands.

A function that is called with arguments of another shape, or with other Python values, is traced
again, and the gradient call in it is one for each trace.
"""

from __future__ import annotations

from collections.abc import Mapping

from ...latest import for_latest
from ...trace.calls import Call
from ...trace.model import Trace
from ..status import is_troubled

_MOST_APART = 8
"""If there are more traces, each is a round of its call site, of which the last call is shown."""
_Place = tuple[int, str]


def trace_number(trace: Trace, call: Call) -> tuple[int, int]:
    """The number (from 1) of the trace that a gradient call stands in, and of how many.

    Only where each trace has rounds of its own: the calls of the function that ran it. Else
    ``(0, 0)``: the call ran eagerly, or the traces are the rounds, since each ran once, there are
    very many, or a gradient does not flow in one of them: what is said of it is said once.
    """
    graphs = _graphs_apart(trace).get((call.site.id, call.method), ())
    graph = graph_of_trace(trace, call)
    return (graphs.index(graph) + 1, len(graphs)) if call.traced and graph in graphs else (0, 0)


def graph_of_trace(trace: Trace, call: Call) -> int:
    """The graph of the trace that a gradient call stands in. The call itself may be made for the
    graph of a branch or loop in it: two branches of one trace are no two traces."""
    opened = trace.op(call.within)
    return opened.runs if opened is not None else call.traced


def calls_around(trace: Trace, call: Call) -> int:
    """How often the compiled function was called that a gradient call stands in, with calls that
    raised; 0 for one that ran eagerly."""
    opened = trace.op(call.within)
    function = trace.functions.get(opened.runs) if opened is not None else None
    return len(function.calls) if function is not None else 0


@for_latest
def _graphs_apart(trace: Trace) -> Mapping[_Place, tuple[int, ...]]:
    """The graphs of the traces that are told apart, in the order of tracing, for each call site."""
    graphs: dict[_Place, dict[int, int]] = {}
    troubled: set[_Place] = set()
    for call in trace.calls:
        if call.traced and call.has_run:
            place = call.site.id, call.method
            ran = graphs.setdefault(place, {})
            graph = graph_of_trace(trace, call)
            ran[graph] = max(call.ran, ran.get(graph, 0))
            if is_troubled(trace, call):
                troubled.add(place)
    return {
        place: tuple(ran)
        for place, ran in graphs.items()
        if 1 < len(ran) <= _MOST_APART and max(ran.values()) > 1 and place not in troubled
    }
