"""Put the events of a compiled function's body where the function runs.

TensorFlow traces the body of a ``tf.function``, a branch or a loop once, and then runs the graph.
The events of the tracing are kept back, and emitted for the calls that are opened, by the names of
each. About the other calls only the variables that they write to are known.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping

from .. import events as e
from ..model import Site
from .expansion import EagerRun, Expansion, LocatedEvent
from .opening import FirstCalls, Opening
from .rerun_ops import RerunOps
from .scopes import InlinedSites
from .traced_graphs import PendingRuns, TracedGraphs

_OF_BODIES = frozenset({e.BodyTraced, e.BodiesRun})


class Bodies:
    """Holds back what belongs to a graph until that graph runs.

    ``opening``: which calls are opened; by default the first one of each function.
    """

    def __init__(
        self,
        sites: dict[int, Site],
        copy_tensor: Callable[[int, int], None],
        opening: Opening | None = None,
    ) -> None:
        self.opening = opening if opening is not None else FirstCalls()
        self.graphs = TracedGraphs()
        self._places = InlinedSites(sites)
        self._copy_tensor = copy_tensor
        self._pending = PendingRuns()
        self._counts: dict[int, int] = {}
        self._emitted: set[int] = set()
        self._returned: dict[int, int] = {}

    def passes(self, event: e.Event) -> bool:
        """Whether an event is to be read as it is, and at once."""
        return not (self.graphs.is_tracing or self._pending) and type(event) not in _OF_BODIES

    def feed(self, event: e.Event) -> Iterator[LocatedEvent]:
        """The events that can be read now that this one arrived."""
        if isinstance(event, e.BodyTraced):
            yield from map(LocatedEvent, self.graphs.turned(event))
        elif self.graphs.keeps(event):
            return
        elif isinstance(event, e.BodiesRun):
            self._pending.add(event)
        elif (run := self._pending.take(event)) is not None and isinstance(event, e.OpRan):
            yield from self._ran(event, run)
        else:
            yield LocatedEvent(event)

    def rest(self) -> Iterator[LocatedEvent]:
        """The events of graphs that never ran, or only in calls that are not opened."""
        for number, graph in self.graphs.known.items():
            if number not in self._emitted and (graph.ended.function or graph.calls):
                yield from (
                    LocatedEvent(event)
                    for event in graph.events
                    if not isinstance(event, e.BodiesRun)
                )

    def calls(self) -> Mapping[int, tuple[int, int]]:
        """The graph of each gradient call that was traced, and how often it was called."""
        ran: dict[int, int] = {}
        for top, count in self._counts.items():
            for number, times in self.graphs.times(top).items():
                ran[number] = ran.get(number, 0) + count * times
        return {
            call: (number, ran.get(number, 0) if number in self._emitted else 0)
            for number, graph in self.graphs.known.items()
            for call in graph.calls
        }

    def emitted_run(self, call: int) -> int:
        """The eager call of a compiled function (its op) whose values a gradient call made in there
        has; 0: it was made eagerly."""
        for number, graph in self.graphs.known.items():
            if call in graph.calls:
                return self.opening.representatives.get(number, 0)
        return 0

    def returned(self) -> Mapping[int, int]:
        """The values that each function's first call returned, by the graph's own tensors."""
        return self._returned

    def _ran(self, op: e.OpRan, run: e.BodiesRun) -> Iterator[LocatedEvent]:
        known = [graph for graph in run.graphs if graph in self.graphs.known]
        if not known:
            yield LocatedEvent(op)
            return
        number, graph = known[0], self.graphs.known[known[0]]
        is_new = number not in self._counts
        count = self._counts.get(number, 0) + 1
        if not op.error:
            self._counts[number] = count
        if is_new and not op.graph:
            self._note_returned(number, op)
        within = {inner for top in known for inner in self.graphs.within(top)}
        if not op.graph and not self.opening.opens(op.id, within):
            names = dict(zip(graph.ended.inputs, op.inputs, strict=False))
            writes = [
                write._replace(handle=names.get(write.handle, write.handle))
                for write in graph.writes
            ]
            yield LocatedEvent(op, run=EagerRun(graph, run.call or count, writes))
            return
        inside = self.opening.insides.get(op.id)
        expansion = Expansion(
            self.graphs.known,
            self._places,
            self._copy_tensor,
            lambda graph: self._emits_calls(op, graph),
            inside,
        )
        for located in expansion.run(op, run):
            if located.event is not op:
                yield located
            else:
                words, copies = expansion.words, expansion.copies
                ops = RerunOps(inside, expansion.drawn) if inside is not None else None
                eager = EagerRun(graph, run.call or count, (), inside, words, copies, ops)
                yield located._replace(run=None if op.graph else eager)

    def _emits_calls(self, op: e.OpRan, graph: int) -> bool:
        """Whether a graph's gradient calls are emitted now: with one run of it in one call."""
        if graph in self._emitted or not (op.graph or self.opening.emits_calls(op.id, graph)):
            return False
        self._emitted.add(graph)
        return True

    def _note_returned(self, number: int, op: e.OpRan) -> None:
        """A tensor that goes through an ``Identity`` only has the value that came out."""
        graph = self.graphs.known[number]
        for symbol, value in zip(graph.ended.outputs, op.outputs, strict=False):
            at: int | None = symbol
            while at is not None and at < 0:
                self._returned.setdefault(at, value)
                at = graph.returned.get(at)
