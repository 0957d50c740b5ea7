"""Put the events of a compiled function's body where the function runs.

TensorFlow traces the body of a ``tf.function``, a branch or a loop once, and then runs the graph.
The events of the tracing are kept back. A call of a function is read as one op, about whose inside
only the variables are known that it writes to; :meth:`Bodies.inside` gives the events of the inside
of any call that was read, by the names of that call.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Set
from dataclasses import dataclass
from typing import NamedTuple

from .. import events as e
from ..ids import OpId, TapeId
from ..ops import Op
from ..sites import Site
from .expansion import Expansion
from .located import EagerRun, LocatedEvent
from .opening import Opening, OpeningChooser
from .rerun_ops import RerunOps
from .scopes import InlinedSites
from .traced_graphs import PendingRuns, TracedGraphs

_OF_BODIES = frozenset({e.BodyTraced, e.BodiesRun})
ROOM = 1 << 20
"""Moments in the order of events that the inside of a call has for its own."""


@dataclass(frozen=True, slots=True)
class ClosedCall:
    """An eager call of a compiled function that was read as one op.

    ``op``: as it ran, before the tape's entry took its place; ``graphs``: what it ran;
    ``round``: from 1, among the calls of the graph; ``recording``: the tapes that did.
    """

    op: Op
    graphs: tuple[int, ...]
    round: int
    recording: tuple[TapeId, ...]

    @property
    def began(self) -> int:
        """The moment before its inside ran."""
        return self.op.when - ROOM


class AskedInGraph(NamedTuple):
    """The graph that a gradient call was made for, how often that was run, and whether that depends
    on a conditional: then ``ran`` is how often it was reached. ``in_dataset``: a dataset runs it
    for its elements, in its own threads, where nothing can be seen."""

    graph: int
    ran: int
    in_branch: bool
    in_dataset: bool


class Bodies:
    """Holds back what belongs to a graph until a call of that graph is opened.

    ``copy_tensor``: gives a graph's tensor another id, for graphs that run in a graph of TF1.
    """

    def __init__(self, sites: dict[int, Site], copy_tensor: Callable[[int, int], None]) -> None:
        self.graphs = TracedGraphs()
        self.chooser = OpeningChooser(self.graphs)
        self.closed: dict[OpId, ClosedCall] = {}
        """Every eager call, by the number of the op that was the call."""
        self.emitted: set[int] = set()
        """The graphs whose gradient calls were emitted as they ran, in a graph of TF1."""
        self._places = InlinedSites(sites)
        self._copy_tensor = copy_tensor
        self._pending = PendingRuns()
        self._counts: dict[int, int] = {}
        self._groups: dict[tuple[int, ...], tuple[int, ...]] = {}
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

    def rest(self, emitted: Set[int]) -> Iterator[LocatedEvent]:
        """The events of graphs that never ran; ``emitted``: those that were emitted."""
        for number, graph in self.graphs.known.items():
            if number not in emitted and (graph.ended.function or graph.calls):
                yield from (
                    LocatedEvent(event)
                    for event in graph.events
                    if not isinstance(event, e.BodiesRun)
                )

    def calls(self, emitted: Set[int]) -> Mapping[int, AskedInGraph]:
        """Each gradient call that was traced → the graph it was made for, and how often it ran."""
        ran: Counter[int] = Counter()
        in_branches: set[int] = set()
        for top, count in self._counts.items():
            in_branches |= self.graphs.in_branches(top)
            for number, times in self.graphs.times(top).items():
                ran[number] += count * times
        known = emitted | in_branches  # the opened call may have taken another branch
        in_datasets = self.graphs.in_datasets(self._counts)
        return {
            call: AskedInGraph(
                number,
                ran[number] * (number in known),
                number in in_branches,
                number in in_datasets,
            )
            for number, graph in self.graphs.known.items()
            for call in graph.calls
        }

    def graph_of_call(self, call: int) -> int:
        """The graph that a gradient call was made for; 0: it was made eagerly."""
        known = self.graphs.known.items()
        return next((number for number, graph in known if call in graph.calls), 0)

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
        if op.graph:
            emitting = Expansion(
                self.graphs.known, self._places, self._copy_tensor, self._is_first, None
            )
            yield from emitting.run(op, run)
            return
        if is_new:
            self._note_returned(number, op)
        self.chooser.ran(op, known)
        names = dict(zip(graph.ended.inputs, op.inputs, strict=False))
        writes = [
            write._replace(handle=names.get(write.handle, write.handle)) for write in graph.writes
        ]
        graphs = self._groups.setdefault(tuple(known), tuple(known))
        yield LocatedEvent(op, run=EagerRun(graph, graphs, run.call or count, writes))

    def _is_first(self, graph: int) -> bool:
        """Whether a graph's gradient calls are emitted now: with its first run."""
        is_first = graph not in self.emitted
        self.emitted.add(graph)
        return is_first

    def inside(
        self,
        call: ClosedCall,
        within: OpId,
        opening: Opening,
        copy_tensor: Callable[[int, int], None],
        emitted: set[int],
        left_out: list[LocatedEvent],
    ) -> Iterator[LocatedEvent]:
        """The events of the inside of a call, then the call itself.

        ``within``: the op that stands for the call: it, or the tape's entry for it; ``emitted``:
        the graphs whose gradient calls were emitted, which grows; ``left_out`` gets the events of
        branches that did not run and ask for gradients.
        """
        op, inside = call.op, opening.insides.get(call.op.id)

        def emits_calls(graph: int) -> bool:
            if graph in self.emitted or graph in emitted:
                return False
            if self.graphs.known[graph].asks and not opening.emits_calls(op.id, graph):
                return False
            emitted.add(graph)
            return True

        given: list[int] = [*op.inputs]
        made: list[int] = [*op.outputs]
        ran = e.OpRan(op.id, op.type, given, made, site=op.site.id, thread=op.thread)
        expansion = Expansion(self.graphs.known, self._places, copy_tensor, emits_calls, inside)
        graph = self.graphs.known[call.graphs[0]]
        for located in expansion.run(ran, e.BodiesRun(list(call.graphs)), within):
            if located.event is not ran:
                yield located
                continue
            ops = RerunOps(inside, expansion.drawn) if inside is not None else None
            words, copies = expansion.words, expansion.copies
            run = EagerRun(graph, call.graphs, call.round, (), inside, words, copies, ops)
            yield located._replace(run=run)
        left_out += expansion.left_out()

    def _note_returned(self, number: int, op: e.OpRan) -> None:
        """A tensor that goes through an ``Identity`` only has the value that came out."""
        graph = self.graphs.known[number]
        for symbol, value in zip(graph.ended.outputs, op.outputs, strict=False):
            at: int | None = symbol
            while at is not None and at < 0:
                self._returned.setdefault(at, value)
                at = graph.returned.get(at)
