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
from ..stored import limits
from .rerun_ops import OpPath, split
from .traced_graphs import TracedGraphs


@dataclass
class Opening:
    """The eager calls that are opened, by the numbers of their ops.

    ``representatives``: for each graph the call that stands for all: the gradient
    calls in the graph are read with what they gave in that call.
    """

    opened: set[int] = field(default_factory=set)
    representatives: dict[int, int] = field(default_factory=dict)
    insides: dict[int, e.InsideComputed] = field(default_factory=dict)

    def emits_calls(self, op: int, graph: int) -> bool:
        """Whether the gradient calls traced into a graph get the values of this call."""
        return self.representatives.get(graph) == op


def without_values(op: int, why: str) -> e.InsideComputed:
    """The event for a call whose inside could not be computed. ``why``: in words."""
    return e.InsideComputed(op, state="unchecked", why=why)


class OpeningChooser:
    """Chooses the calls to open, from the events so far. ``graphs``: all that were traced."""

    def __init__(self, graphs: TracedGraphs) -> None:
        self.first = Opening()
        """While the snippet runs: the first call of each function."""
        self._graphs = graphs
        self._runs: list[tuple[int, int]] = []
        self._raised: list[tuple[int, int]] = []
        self._tapes: dict[int, int] = {}
        self._asked: dict[tuple[int, str], tuple[int, int]] = {}
        self._insides: dict[int, e.InsideComputed] = {}

    def ran(self, op: e.OpRan, graphs: Sequence[int]) -> None:
        """A function was called eagerly, which ran these graphs."""
        within = {inner for graph in graphs for inner in self._graphs.within(graph)}
        new = within - self.first.representatives.keys()
        if new:
            self.first.opened.add(op.id)
            self.first.representatives.update(dict.fromkeys(new, op.id))
        if op.error:
            self._raised.append((op.id, graphs[0]))
        else:
            self._runs.append((op.id, graphs[0]))

    def tape_opened(self, tape: int) -> None:
        """A tape was opened that is no function's own."""
        self._tapes[tape] = len(self._runs)

    def asked(self, event: e.CallBegan) -> None:
        """A tape was asked eagerly."""
        since = self._tapes.get(event.tape, len(self._runs))
        self._asked[event.site, event.method] = (since, len(self._runs))

    def computed(self, event: e.InsideComputed) -> None:
        """A call ran again."""
        _take_in(self._insides, event)

    def choose(
        self, wanted: Sequence[int] = (), further: Iterable[e.InsideComputed] = ()
    ) -> Opening:
        """The calls to open. ``wanted``: ops of calls that somebody looks at, latest last;
        ``further``: what came of calls that could not run again.

        Where several calls run a graph, the latest wanted one stands for it, else the latest that
        was run again, if it is a branch the latest of those that took it, else the last.
        """
        graphs, runs = self._graphs, self._runs
        opening = Opening(insides=dict(self._insides))
        for event in further:
            _take_in(opening.insides, event)
        top = dict([*runs, *(call for call in self._raised if call[0] in wanted)])
        last = sorted({graph: op for op, graph in runs}.values())
        taken: dict[int, int] = {}
        for op in (*last, *opening.insides):
            if op in top:
                opening.opened.add(op)
                opening.representatives.update(dict.fromkeys(graphs.within(top[op]), op))
                for branch in self._ran(top[op], opening.insides.get(op)):
                    taken[branch] = max(op, taken.get(branch, op))
        opening.representatives |= taken
        for op in wanted:
            if op in top:
                opening.opened.add(op)
                opening.representatives.update(dict.fromkeys(graphs.within(top[op]), op))
        for graph, op in {graph: op for op, graph in self._raised}.items():
            opening.opened.add(op)
            for inner in graphs.within(graph):
                opening.representatives.setdefault(inner, op)
        left = limits.OPS_OPENED
        for since, until in reversed(self._asked.values()):
            for op, graph in reversed(runs[since:until]):
                left -= graphs.known[graph].size
                if left < 0:
                    return opening
                opening.opened.add(op)
        return opening

    def _ran(self, graph: int, inside: e.InsideComputed | None) -> set[int]:
        """The graphs in branches that a call of this graph is known to have taken, if gradients are
        asked for in some."""
        in_branches = self._graphs.in_branches(graph)
        if inside is None or not any(self._graphs.known[each].calls for each in in_branches):
            return set()
        taken: dict[OpPath, set[int]] = {}
        for path, name, branch in inside.branches:
            taken.setdefault((*split(path)[0], name), set()).add(branch)
        return self._graphs.ran(graph, taken) & in_branches


def _take_in(insides: dict[int, e.InsideComputed], event: e.InsideComputed) -> None:
    """Let an event count for its call; the latest comes last."""
    before = insides.pop(event.op, None)
    if not event.adds:
        insides[event.op] = event
    elif before is not None:
        # Further turns of the call's loops join those that are known.
        known = {tuple(path) for path, *_ in before.values}
        rows = [row for row in event.values if tuple(row[0]) not in known]
        insides[event.op] = msgspec.structs.replace(before, values=[*before.values, *rows])
