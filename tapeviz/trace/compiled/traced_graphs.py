"""Collect the graphs that TensorFlow traced, with what each does when it runs.

The body of a ``tf.function``, a branch or a loop is traced once, and then its graph runs. What came
while it was traced is kept with the graph, and emitted for a run of it (:mod:`.expansion`).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Container, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import NamedTuple

from .. import events as e
from ..op_kinds import ops_with
from ..state import writes_state
from .rerun_ops import OpPath

CALLS = ops_with("call")
CONDITIONALS = ops_with("branch")
LOOPS = ops_with("loop")
_DATASET = "Dataset_"
"""How the names of functions begin that are given to a dataset's methods, and of the body of a
``for`` over a dataset in a compiled function (``structured_function.py``, 2.15-2.21)."""
_BELONGING = (
    *(e.OpRan, e.OperationRecorded, e.BodiesRun, e.TapeOpened, e.TapeTurned, e.Watched),
    *(e.CallBegan, e.CallEnded, e.StepRan, e.NameBound, e.ValueLeft, e.Caught),
)
_NOT_ENDED = e.BodyTraced(on=False)
_VECTORIZED = "/pfor/"


class GraphWrite(NamedTuple):
    """An op in a graph that writes to a variable. ``handle``: by its name in that graph."""

    handle: int
    type: str


@dataclass
class TracedGraph:
    """The events of one graph, in order, and how its tracing ended.

    ``runs``: the numbers of the graphs that it runs, with how many of its ops run each;
    ``branches``: those of them that are branches of conditionals. ``size``: its ops, theirs
    included.
    """

    begun: e.BodyTraced
    events: list[e.Event] = field(default_factory=list)
    ended: e.BodyTraced = _NOT_ENDED
    runs: Counter[int] = field(default_factory=Counter)
    branches: set[int] = field(default_factory=set)
    size: int = 0
    writes: list[GraphWrite] = field(default_factory=list)

    @cached_property
    def returned(self) -> dict[int, int]:
        """The input of each ``Identity``, by its output."""
        return {
            event.outputs[0]: event.inputs[0]
            for event in self.events
            if isinstance(event, e.OpRan)
            and event.type == "Identity"
            and event.outputs
            and event.inputs
        }

    @cached_property
    def vectorized(self) -> dict[int, int]:
        """The tensor that has the values for all elements, by that of the function which
        ``tf.vectorized_map`` traced for one: the op stays in the graph, with the first element.

        ``pfor`` makes the ops for all elements in a scope named after the op (``PFor.convert`` of
        parallel_for/pfor.py, 2.15-2.21), that of the result last.
        """
        made = {event.name: event for event in self.events if isinstance(event, e.OpRan)}
        found: dict[int, int] = {}
        for name, op in reversed(made.items()):  # in a map in a map the outer one comes last
            traced = made.get(name.rpartition(_VECTORIZED)[0])
            if traced is not None and len(traced.outputs) == len(op.outputs):
                for first, all_of in zip(traced.outputs, op.outputs, strict=True):
                    found.setdefault(first, found.get(all_of, all_of))
        return found

    @cached_property
    def deciding_inputs(self) -> tuple[int, ...]:
        """The places of the inputs that the outputs are made from, for the graph of a condition."""
        makers = {
            output: event.inputs
            for event in self.events
            if isinstance(event, e.OpRan)
            for output in event.outputs
        }
        seen: set[int] = set()
        waiting = list(self.ended.outputs)
        while waiting:
            tensor = waiting.pop()
            if tensor not in seen:
                seen.add(tensor)
                waiting.extend(makers.get(tensor, ()))
        return tuple(place for place, given in enumerate(self.ended.inputs) if given in seen)

    @cached_property
    def asks(self) -> bool:
        """Whether some of its events are emitted only with the call that stands for all others."""
        return any(
            event.call != 0
            if isinstance(event, (e.OpRan, e.OperationRecorded))
            else not isinstance(event, (e.BodiesRun, e.NameBound))
            for event in self.events
        )

    @cached_property
    def calls(self) -> tuple[int, ...]:
        """The gradient calls made in it."""
        return tuple(event.id for event in self.events if isinstance(event, e.CallBegan))


class TracedGraphs:
    """Collects the events of a graph while TensorFlow traces it."""

    def __init__(self) -> None:
        self.known: dict[int, TracedGraph] = {}
        self.sites: set[int] = set()
        """The ids of the sites at which functions were traced that no other function called."""
        self._open: dict[int, list[TracedGraph]] = {}
        """For each thread the graphs that it is tracing, the innermost last."""
        self._closures: dict[int, frozenset[int]] = {}
        self._times: dict[int, Mapping[int, int]] = {}
        self._in_branches: dict[int, frozenset[int]] = {}

    @property
    def is_tracing(self) -> bool:
        return bool(self._open)

    def turned(self, event: e.BodyTraced) -> Sequence[e.Event]:
        """A graph begins, or is complete; what is to be read of one that could not be traced."""
        if event.on:
            if event.tracer not in self._open:
                self.sites.add(event.site)
            self._open.setdefault(event.tracer, []).append(TracedGraph(event))
            return ()
        around = self._open.get(event.tracer)
        if not around:
            return ()
        graph = around.pop()
        graph.ended = event
        if not around:
            del self._open[event.tracer]
        if event.graph:
            self._measure(graph)
            self.known[event.graph] = graph
        elif around:
            around[-1].events += graph.events
        else:
            return [event for event in graph.events if not isinstance(event, e.BodiesRun)]
        return ()

    def keeps(self, event: e.Event) -> bool:
        """Whether an event belongs to a graph that is being traced; then it is kept."""
        if not self._open or not isinstance(event, _BELONGING) or not _belongs(event):
            return False
        around = self._open.get(event.tracer)
        if not around:
            return False
        around[-1].events.append(event)
        return True

    def within(self, graph: int) -> frozenset[int]:
        """The graphs that run when this one does, itself included."""
        found = self._closures.get(graph)
        if found is None:
            inner = [self.within(inner) for inner in self.known[graph].runs if inner in self.known]
            found = self._closures[graph] = frozenset({graph}).union(*inner)
        return found

    def times(self, graph: int) -> Mapping[int, int]:
        """How often each of these graphs runs when this one does once: one time for each op that
        runs it, as if each loop had one turn and each conditional took all its branches."""
        found = self._times.get(graph)
        if found is None:
            counted = Counter({graph: 1})
            for inner, count in self.known[graph].runs.items():
                for within, times in self.times(inner).items() if inner in self.known else ():
                    counted[within] += count * times
            found = self._times[graph] = counted
        return found

    def in_branches(self, graph: int) -> frozenset[int]:
        """The graphs that run when this one does, if a conditional in it takes a certain branch."""
        found = self._in_branches.get(graph)
        if found is None:
            known = self.known[graph]
            inner = [
                self.within(inner) if inner in known.branches else self.in_branches(inner)
                for inner in known.runs
                if inner in self.known
            ]
            found = self._in_branches[graph] = frozenset[int]().union(*inner)
        return found

    def ran(self, graph: int, taken: Mapping[OpPath, Container[int]], at: OpPath = ()) -> set[int]:
        """The graphs that ran with a call of this one. ``taken``: the branches that conditionals
        took, by their paths; of others it is not known that any ran. ``at``: the graph's path."""
        found, pending = {graph}, list[int]()
        for event in self.known[graph].events:
            if isinstance(event, e.BodiesRun):
                pending = event.graphs
            elif isinstance(event, e.OpRan) and pending and runs_graphs(event):
                path = (*at, event.name)
                branches = (
                    taken.get(path, ()) if event.type in CONDITIONALS else range(len(pending))
                )
                for which, inner in enumerate(pending):
                    if which in branches and inner in self.known:
                        found |= self.ran(inner, taken, path)
                pending = []
        return found

    def in_datasets(self, called: Container[int]) -> frozenset[int]:
        """The graphs of functions that datasets run, and those that run when these do. ``called``:
        the graphs of functions that the snippet called, which may have such a name, too.

        Not the body of a loop over a dataset, which the loop runs, nor a first trace of such a body
        that made variables: it is traced once more then, and that trace runs.
        """
        in_loops = {inner for graph in self.known.values() for inner in graph.runs}
        looped = [self.known[number] for number in in_loops if number in self.known]
        bodies = {(graph.begun.site, graph.ended.function) for graph in looped}
        named = [
            number
            for number, graph in self.known.items()
            if graph.ended.function.startswith(_DATASET)
            and number not in called
            and number not in in_loops
            and (graph.begun.site, graph.ended.function) not in bodies
        ]
        return frozenset[int]().union(*map(self.within, named))

    @staticmethod
    def _names_in(inner: TracedGraph, op: e.OpRan, given: Sequence[int]) -> Mapping[int, int]:
        """The tensors around a graph by their names in it. A branch has no names of its own."""
        if op.type in CONDITIONALS:
            return {}
        return dict(zip(inner.ended.inputs, given or op.inputs, strict=False))

    def _measure(self, graph: TracedGraph) -> None:
        """Add up what the graph and those that it runs do to variables."""
        pending, given = list[int](), list[int]()
        for event in graph.events:
            if isinstance(event, e.BodiesRun):
                pending, given = event.graphs, event.given
                graph.runs.update(pending)
            elif isinstance(event, e.OpRan):
                graph.size += 1
                if event.type in CONDITIONALS:
                    graph.branches.update(pending)
                if pending and runs_graphs(event):
                    for inner in (self.known[number] for number in pending if number in self.known):
                        names = self._names_in(inner, event, given)
                        graph.size += inner.size
                        graph.writes += (
                            write._replace(handle=names.get(write.handle, write.handle))
                            for write in inner.writes
                        )
                    pending = []
                elif writes_state(event.type) and event.inputs:
                    graph.writes.append(GraphWrite(event.inputs[0], event.type))


def runs_graphs(op: e.OpRan) -> bool:
    """Whether an op runs graphs that were traced: a function's call, a branch or a loop."""
    return op.type.startswith("__") or op.type in CALLS | CONDITIONALS | LOOPS


class PendingRuns:
    """Runs of graphs that were announced, until the op comes that is the run.

    Python that a function calls back may call others before the function's own op is there; and so
    may other threads.
    """

    def __init__(self) -> None:
        self._pending: dict[tuple[int, int], list[e.BodiesRun]] = {}
        """The runs whose op has not come yet, by (graph that the op will be in, 0); if it will run
        eagerly, by (0, thread)."""

    def __bool__(self) -> bool:
        return bool(self._pending)

    def add(self, run: e.BodiesRun) -> None:
        key = (run.into, 0 if run.into else run.tracer)
        self._pending.setdefault(key, []).append(run)

    def take(self, event: e.Event) -> e.BodiesRun | None:
        """The run that an event is, the latest announced; None if it is none."""
        if not isinstance(event, e.OpRan) or not runs_graphs(event):
            return None
        for key in ((event.graph, 0 if event.graph else event.thread), (event.graph, 0)):
            runs = self._pending.get(key)  # before events named threads, all was of the first
            if runs:
                run = runs.pop()
                if not runs:
                    del self._pending[key]
                return run
        return None


def _belongs(event: e.Event) -> bool:
    """Whether an event that came while a graph was made is about that graph."""
    if isinstance(event, e.OpRan):
        return event.graph != 0
    if isinstance(event, e.BodiesRun):
        return event.into != 0
    if isinstance(event, e.OperationRecorded):
        return bool(event.outputs) and event.outputs[0] < 0
    return True
