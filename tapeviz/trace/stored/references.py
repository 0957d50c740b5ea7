"""Say what is wrong with how events from outside refer to each other.

The reader follows these references: it adds the frames of callers, expands graphs in graphs and
finds its way by the paths into them. What does not end, or names what is not there, is found here.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from .. import events as e
from ..body_events import InsidePath
from . import limits


@dataclass
class _Graph:
    """``mentioned``: the graphs that it runs."""

    size: int = 0
    depth: int = 1
    mentioned: set[int] = field(default_factory=set)


class References:
    """Looks at the events of one recording, in their order."""

    def __init__(self) -> None:
        self._depths: dict[int, int] = {0: 0}
        self._last_op = 0
        self._calls: set[int] = set()
        self._frames = 0
        self._size = 0
        self._values: dict[int, tuple[str, list[int | None] | None]] = {}
        self._tapes = {0}
        self._graphs: dict[int, _Graph] = {}
        self._mentioned: set[int] = set()
        self._open: list[_Graph] = []

    def problem(self, event: e.Event) -> str:
        """The fault of the next event in words; empty if there is none."""
        if getattr(event, "site", 0) not in self._depths:
            return "a place that is not there"
        check = _CHECKS.get(type(event))
        return check(self, event) if check is not None else ""

    def _site(self, event: e.SiteSeen) -> str:
        if event.caller not in self._depths:
            return "a caller that is not there"
        if event.id in self._depths:
            return "a place that is there already"
        depth = self._depths[event.id] = self._depths[event.caller] + len(event.frames)
        self._frames += depth
        return "places without end" if self._frames > limits.FRAMES else ""

    def _tensor(self, event: e.TensorSeen) -> str:
        form = (event.dtype, event.shape)
        if event.at >= 0 or event.text is not None:
            before = self._values.setdefault(event.id, form)
        else:
            before = self._values.get(event.id, form)
        return "" if before == form else "a value whose dtype or shape changes"

    def _opened(self, event: e.TapeOpened) -> str:
        self._tapes.add(event.id)
        return ""

    def _tape(self, event: e.TapeTurned | e.Watched | e.CallBegan) -> str:
        return "" if event.tape in self._tapes else "a tape that is not there"

    def _call(self, event: e.CallBegan) -> str:
        if event.id in self._calls:
            return "a gradient call that is there already"
        self._calls.add(event.id)
        return self._tape(event)

    def _answer(self, event: e.CallEnded | e.StepRan | e.ReplayRan | e.Checked) -> str:
        return "" if event.call in self._calls else "a gradient call that is not there"

    def _op(self, event: e.OpRan | e.OperationRecorded) -> str:
        if event.id <= self._last_op:
            return "an op out of order"
        self._last_op = event.id
        if isinstance(event, e.OpRan) and event.graph and self._open:
            self._open[-1].size += 1
        return ""

    def _runs(self, event: e.BodiesRun) -> str:
        if not event.graphs:
            return "a call of no graph"
        if not (event.into and self._open):
            return ""
        graph = self._open[-1]
        known = [self._graphs[number] for number in event.graphs if number in self._graphs]
        graph.mentioned.update(event.graphs)
        graph.size += sum(part.size for part in known)
        graph.depth = max([graph.depth, *(part.depth + 1 for part in known)])
        return self._too_much(graph.size, graph.depth)

    def _body(self, event: e.BodyTraced) -> str:
        if event.on:
            self._open.append(_Graph())
            return "" if len(self._open) <= limits.GRAPHS_DEEP else "graphs without end"
        if not self._open:
            return ""
        graph = self._open.pop()
        self._mentioned |= graph.mentioned
        if not event.graph:
            if self._open:
                self._open[-1].size += graph.size
            return ""
        if event.graph in self._mentioned or event.graph in self._graphs:
            return "a graph that was there before"
        self._graphs[event.graph] = graph
        self._size += graph.size
        return self._too_much(self._size, graph.depth)

    def _inside(self, event: e.InsideComputed) -> str:
        if event.graph in self._graphs:
            self._size += self._graphs[event.graph].size
        rows: Sequence[Sequence[Any]] = (*event.values, *event.branches, *event.turns, *event.ops)
        if not all(_is_path(row[0]) for row in rows):
            return "a path that leads nowhere"
        if any(not 0 <= row[2] <= limits.TURNS for row in (*event.branches, *event.turns)):
            return "a number of turns out of range"
        if any(not 0 < row[2] <= limits.TURNS for row in event.ops):
            return "an id out of range"
        return self._too_much(self._size, 1)

    @staticmethod
    def _too_much(size: int, depth: int) -> str:
        return "graphs without end" if size > limits.EVENTS or depth > limits.GRAPHS_DEEP else ""


def _is_path(path: InsidePath) -> bool:
    """Op and turn in alternation."""
    names, turns = path[::2], path[1::2]
    return (
        len(names) == len(turns)
        and all(isinstance(name, str) for name in names)
        and all(isinstance(turn, int) and 0 <= turn <= limits.TURNS for turn in turns)
    )


_CHECKS: Mapping[type, Callable[[References, Any], str]] = {
    e.SiteSeen: References._site,
    e.TensorSeen: References._tensor,
    e.TapeOpened: References._opened,
    e.TapeTurned: References._tape,
    e.Watched: References._tape,
    e.CallBegan: References._call,
    e.CallEnded: References._answer,
    e.StepRan: References._answer,
    e.ReplayRan: References._answer,
    e.Checked: References._answer,
    e.OpRan: References._op,
    e.OperationRecorded: References._op,
    e.BodiesRun: References._runs,
    e.BodyTraced: References._body,
    e.InsideComputed: References._inside,
}
