"""One run of a traced graph within a call: its values, and by which names its tensors go."""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import takewhile

from .. import events as e
from ..ids import SiteId, TensorId
from ..sites import Site, StackFrame
from .rerun_ops import OpPath, Turns, split
from .traced_graphs import TracedGraph


class InlinedSites:
    """The sites of a recording, and those that are added for the inside of opened calls."""

    def __init__(self, sites: dict[int, Site]) -> None:
        self._sites = sites
        self._called: dict[tuple[int, int, int], int] = {}

    def called(self, site: int, traced: int, call: int) -> int:
        """The site in a function that was traced from one site and is called from another.

        The branches of a conditional are traced before the function that TensorFlow puts around it
        in a graph (``cflow_gradient_wrapper`` in control_flow_util_v2.py, 2.15-2.21): they share
        the frames outside of it, and stand on lines of their own in the innermost one.
        """
        if traced == call:
            return site
        key = (site, traced, call)
        if key not in self._called:
            number = self._called[key] = -len(self._called) - 1
            inside, outer, around = map(self._frames, (site, traced, call))
            shared = _shared_end(inside, outer)
            beside = len(outer) - shared
            if outer[:beside] != around[:beside]:
                shared, beside = len(outer), 0
            frames = (*inside[: len(inside) - shared], *around[beside:])
            self._sites[number] = Site(SiteId(number), frames)
        return self._called[key]

    def line(self, site: int) -> int:
        """The line of a site; 0 outside of the snippet."""
        frames = self._frames(site)
        return frames[0].line if frames else 0

    def _frames(self, site: int) -> tuple[StackFrame, ...]:
        return self._sites[site].frames if site in self._sites else ()


def _shared_end(first: Sequence[StackFrame], second: Sequence[StackFrame]) -> int:
    """How many outermost frames two sites have in common."""
    pairs = zip(reversed(first), reversed(second), strict=False)
    return sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], pairs))


def _shared_start(first: Turns, second: Turns) -> int:
    """Count the outermost turns that two places have in common."""
    return sum(
        1 for _ in takewhile(lambda pair: pair[0] == pair[1], zip(first, second, strict=True))
    )


class RerunValues:
    """The values from the rerun of a call, by the graph's tensors: at each path, turn by turn."""

    def __init__(self, event: e.InsideComputed | None) -> None:
        self.at: dict[OpPath, dict[Turns, dict[int, tuple[int, str]]]] = {}
        self.branches: dict[tuple[OpPath, Turns], int] = {}
        self.taken: dict[OpPath, dict[int, list[Turns]]] = {}
        """The branches that each conditional took, with the turns of the loops around it."""
        self.counts: dict[tuple[OpPath, Turns], int] = {}
        self.numbers: dict[tuple[OpPath, Turns], deque[int]] = {}
        if event is None:
            return
        for path, symbol, tensor, word in event.values:
            names, turns = split(path)
            self.at.setdefault(names, {}).setdefault(turns, {})[symbol] = (tensor, word)
        for path, name, branch in event.branches:
            names, turns = split(path)
            self.branches[(*names, name), turns] = branch
            self.taken.setdefault((*names, name), {}).setdefault(branch, []).append(turns)
        for path, name, count in event.turns:
            names, turns = split(path)
            self.counts[(*names, name), turns] = count
        for path, name, number in event.ops:
            names, turns = split(path)
            self.numbers.setdefault(((*names, name), turns), deque()).append(number)

    def latest(self, conditional: OpPath, branch: int, turns: Turns) -> Turns:
        """The turns of the loops around a branch in which it ran last: ``turns`` where it ran in
        these or never did."""
        ran = self.taken.get(conditional, {}).get(branch, [])
        if turns in ran:
            return turns
        return max(ran, key=lambda found: (_shared_start(found, turns), found), default=turns)


@dataclass
class TurningLoop:
    """A loop whose events are being emitted. ``at``: where in a path its own turn and those of the
    loops around it stand; ``tensors``: of each turn, by the names drawn."""

    at: tuple[int, ...]
    tensors: dict[Turns, dict[TensorId, TensorId]] = field(default_factory=dict)


@dataclass
class GraphScope:
    """One run of a graph within the call. ``tensors``, ``ops``: its names, by those of the tracing;
    ``given``: the graph's inputs; ``skipped``: outputs that are plain ``Identity`` copies;
    ``called``: where the function is called; ``names``, ``turns``, ``branches``: its path, with the
    turns shown; ``loop``: the innermost loop that it is in."""

    number: int
    graph: TracedGraph
    around: GraphScope | None = None
    names: OpPath = ()
    turns: Turns = ()
    branches: tuple[int, ...] = ()
    loop: TurningLoop | None = None
    called: int | None = None
    emits_calls: bool = False
    tensors: dict[int, int] = field(default_factory=dict)
    ops: dict[int, int] = field(default_factory=dict)
    given: frozenset[int] = frozenset()
    skipped: set[int] = field(default_factory=set)

    def tensor(self, identity: int) -> int:
        """The id that a tensor of the graph has in this run."""
        found = self.tensors.get(identity)
        if found is None:
            return self.around.tensor(identity) if self.around is not None else identity
        return found

    def op(self, identity: int) -> int:
        """The number that an op of the graph has in this run."""
        found = self.ops.get(identity)
        if found is None:
            return self.around.op(identity) if self.around is not None else identity
        return found

    def knows(self, identity: int) -> bool:
        return identity in self.tensors or (self.around is not None and self.around.knows(identity))

    def is_given(self, identity: int) -> bool:
        return identity in self.given or (
            self.around is not None and self.around.is_given(identity)
        )
