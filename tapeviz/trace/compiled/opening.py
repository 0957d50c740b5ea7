"""Choose the calls of compiled functions that are opened, so that their inside is read.

A call of a compiled function is one op. Its inside is read for those calls that matter: calls that
were run again after the snippet, the last call of each function, and calls that a gradient may have
gone through: of each place that asks an eager tape for gradients those since the tape was opened.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

import msgspec

from .. import events as e
from .. import limits
from .traced_graphs import TracedGraphs, eager_runs


@dataclass
class Opening:
    """The eager calls that are opened, by the numbers of their ops.

    ``representatives``: for each graph the call that stands for all: the gradient
    calls in the graph are read with what they gave in that call.
    """

    opened: set[int] = field(default_factory=set)
    representatives: dict[int, int] = field(default_factory=dict)
    insides: dict[int, e.InsideComputed] = field(default_factory=dict)

    def opens(self, op: int, graphs: Iterable[int]) -> bool:
        """Whether the call made by this op is opened. ``graphs``: the graphs that it runs."""
        return op in self.opened

    def emits_calls(self, op: int, graph: int) -> bool:
        """Whether the gradient calls traced into a graph get the values of this call."""
        return self.representatives.get(graph) == op


class FirstCalls(Opening):
    """While the snippet runs: the first call of each function."""

    def opens(self, op: int, graphs: Iterable[int]) -> bool:
        new = [graph for graph in graphs if graph not in self.representatives]
        self.representatives.update(dict.fromkeys(new, op))
        if new:
            self.opened.add(op)
        return bool(new)


def without_values(op: int, why: str) -> e.InsideComputed:
    """The event for a call whose inside could not be computed. ``why``: in words."""
    return e.InsideComputed(op, state="unchecked", why=why)


def choose(events: Iterable[e.Event], wanted: Sequence[int] = ()) -> Opening:
    """Choose the calls to open. ``wanted``: ops of calls that somebody looks at, latest last.

    Where several calls run a graph, the latest wanted one stands for it, else the latest that was
    run again, else the last.
    """
    graphs = TracedGraphs()
    opening = Opening()
    runs: list[tuple[int, int]] = []
    raised: dict[int, int] = {}
    tapes: dict[int, int] = {}
    asked: dict[tuple[int, str], tuple[int, int]] = {}
    for event, run in eager_runs(iter(events), graphs):
        if run is not None and isinstance(event, e.OpRan) and event.error:
            raised[run.graphs[0]] = event.id
        elif run is not None and isinstance(event, e.OpRan):
            runs.append((event.id, run.graphs[0]))
        elif isinstance(event, e.TapeOpened):
            tapes[event.id] = len(runs)
        elif isinstance(event, e.CallBegan):
            asked[event.site, event.method] = (tapes.get(event.tape, len(runs)), len(runs))
        elif isinstance(event, e.InsideComputed):
            before = opening.insides.pop(event.op, None)  # the latest comes last
            if not event.adds:
                opening.insides[event.op] = event
            elif before is not None:
                # Further turns of the call's loops join those that are known.
                known = {tuple(path) for path, *_ in before.values}
                rows = [row for row in event.values if tuple(row[0]) not in known]
                opening.insides[event.op] = msgspec.structs.replace(
                    before, values=[*before.values, *rows]
                )
    top = dict(runs)
    last = sorted({graph: op for op, graph in runs}.values())
    for op in (*last, *opening.insides, *wanted):
        if op in top:
            opening.opened.add(op)
            opening.representatives.update(dict.fromkeys(graphs.within(top[op]), op))
    for graph, op in raised.items():
        opening.opened.add(op)
        for inner in graphs.within(graph):
            opening.representatives.setdefault(inner, op)
    left = limits.OPS_OPENED
    for since, until in reversed(asked.values()):
        for op, graph in reversed(runs[since:until]):
            left -= graphs.known[graph].size
            if left < 0:
                return opening
            opening.opened.add(op)
    return opening
