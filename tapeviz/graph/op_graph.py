"""The op graph before folding: the part that each node stands for, and the edges, in columns.

A recording may have a million nodes, of which a picture shows some hundred. So a node is a place in
a list of the ops, versions and tensors that nodes stand for, and an edge a row of a table; a
:class:`~tapeviz.graph.model.Node`, with words, and an :class:`~tapeviz.graph.model.Edge` are made
when they are drawn. Folding gives the ``networkx`` graph that is laid out.
"""

from __future__ import annotations

from array import array
from collections.abc import Collection, Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import compress
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..trace.calls import Call
from ..trace.ids import OpId, SiteId, TensorId
from ..trace.ops import Op
from ..trace.variables import Version
from .model import Edge, EdgeState, Link, Node, NodeId, Part, Role
from .nodes import Nodes


class Edges:
    """A table of edges, in the order in which they were added: what :class:`Edge` tells, with the
    places of the nodes at both ends. An edge is known by its row."""

    def __init__(self) -> None:
        self.sources = array("q")
        self.targets = array("q")
        self.tensors: list[TensorId | None] = []
        self.consumers: list[OpId | None] = []
        self.states: list[EdgeState] = []
        self.folded: dict[int, tuple[Link, ...]] = {}
        """The further links of the edges that have any."""

    def __len__(self) -> int:
        return len(self.sources)

    def add(
        self,
        source: int,
        target: int,
        tensor: TensorId | None,
        consumer: OpId | None,
        state: EdgeState,
        folded: tuple[Link, ...] = (),
    ) -> None:
        if folded:
            self.folded[len(self.sources)] = folded
        self.sources.append(source)
        self.targets.append(target)
        self.tensors.append(tensor)
        self.consumers.append(consumer)
        self.states.append(state)

    def links(self, rows: Iterable[int]) -> Iterator[Link]:
        """All links that these edges stand for, of each edge its own first."""
        tensors, consumers, folded = self.tensors, self.consumers, self.folded
        for row in rows:
            yield tensors[row], consumers[row]
            if row in folded:
                yield from folded[row]

    def without(self, gone: Collection[int], places: Sequence[int]) -> Edges:
        """The edges that have neither end among ``gone``; ``places``: the new place of each node
        that stays."""
        kept = Edges()
        for row, (source, target) in enumerate(zip(self.sources, self.targets, strict=True)):
            if source not in gone and target not in gone:
                ends = places[source], places[target]
                link = self.tensors[row], self.consumers[row]
                kept.add(*ends, *link, self.states[row], self.folded.get(row, ()))
        return kept


class _Ends:
    """The rows of the edges at one end of each node, in the order in which they were added."""

    def __init__(self, ends: array[int], count: int) -> None:
        found = np.array(ends, np.int64)
        order = np.argsort(found, kind="stable")
        starts = np.searchsorted(found[order], np.arange(count + 1))
        self._rows = array("q", order.tobytes())
        self._starts = array("q", starts.tobytes())

    def __getitem__(self, place: int) -> Sequence[int]:
        return self._rows[self._starts[place] : self._starts[place + 1]]

    def count(self, place: int) -> int:
        return self._starts[place + 1] - self._starts[place]


class Pins(NamedTuple):
    """A choice of :attr:`OpGraph.pinned` and :attr:`OpGraph.gathers`; ``hides``: the op where
    NaN began, or a source that got no gradient where others of its model did, is not pinned."""

    pinned: frozenset[int]
    gathers: bool = False
    hides: bool = False


@dataclass
class OpGraph:
    """The nodes and edges of a picture before folding. ``names``, ``parts``: the id of each node
    and the part that it stands for, by place: versions first, then ops in the order they ran.

    ``entries``: the recorded operations and calls with ops in the graph, by op. ``carried``: the
    edges of each compiled loop into its next turn. ``pinned``: places of nodes that a first view
    must not fold away: target, sources, cuts, the op where NaN began; ``cuts``: those of them that
    are cuts alone; ``gathers``: variables and
    constants that stand by themselves become a group, be they few; ``pins``: choices of both, to
    take where no picture with those before can be read. ``merged``: for a node that is drawn as
    several ops the ids of the others. ``call``: the gradient call that the graph is of; None for
    the whole run. Once it is read, nodes and edges stay.
    """

    maker: Nodes
    names: list[NodeId] = field(default_factory=list)
    parts: list[Part] = field(default_factory=list)
    edges: Edges = field(default_factory=Edges)
    entries: dict[OpId, Op] = field(default_factory=dict)
    carried: Mapping[OpId, tuple[Edge, ...]] = field(default_factory=dict)
    pinned: frozenset[int] = frozenset()
    cuts: frozenset[int] = frozenset()
    gathers: bool = False
    pins: Sequence[Pins] = ()
    merged: Mapping[NodeId, Sequence[NodeId]] = field(default_factory=dict)
    call: Call | None = None

    def __len__(self) -> int:
        return len(self.parts)

    def __iter__(self) -> Iterator[NodeId]:
        return iter(self.names)

    def __contains__(self, name: object) -> bool:
        return name in self.places

    @cached_property
    def places(self) -> Mapping[NodeId, int]:
        """The place of each node."""
        return {name: place for place, name in enumerate(self.names)}

    @cached_property
    def into(self) -> _Ends:
        """The edges that end at each node."""
        return _Ends(self.edges.targets, len(self))

    @cached_property
    def out(self) -> _Ends:
        """The edges that begin at each node."""
        return _Ends(self.edges.sources, len(self))

    @cached_property
    def values(self) -> list[int]:
        """The places of the nodes that are drawn as values: all but ops."""
        is_value = self.maker.is_value
        return [
            place
            for place, part in enumerate(self.parts)
            if not isinstance(part, Op) or is_value(part)
        ]

    @cached_property
    def kinds(self) -> NDArray[np.int64]:
        """A number for each node, the same for those that may be counterparts in the turns of a
        loop: ops of one type and place, variables, and constants."""
        codes: dict[Hashable, int] = {}
        numbers = [
            codes.setdefault(
                (part.type, part.description.site.id)
                if isinstance(part, Op)
                else isinstance(part, Version),
                len(codes),
            )
            for part in self.parts
        ]
        return np.array(numbers, np.int64)

    def add(self, name: NodeId, part: Part) -> int:
        """Add a node; returns its place."""
        self.names.append(name)
        self.parts.append(part)
        return len(self.parts) - 1

    def pin(self, choice: Pins) -> None:
        self.pinned, self.gathers = choice.pinned, choice.gathers

    def without(self, gone: Collection[int]) -> OpGraph:
        """The graph without some nodes and their edges."""
        if not gone:
            return self
        stays = [place not in gone for place in range(len(self))]
        places = (np.cumsum(stays) - 1).tolist()
        return OpGraph(
            self.maker,
            list(compress(self.names, stays)),
            list(compress(self.parts, stays)),
            self.edges.without(gone, places),
            self.entries,
            merged=self.merged,
        )

    def node(self, place: int) -> Node:
        """The node as it is drawn if no group hides it."""
        return self.maker.of(self.names[place], self.parts[place])

    def edge(self, row: int) -> Edge:
        edges, names = self.edges, self.names
        ends = names[edges.sources[row]], names[edges.targets[row]]
        link = edges.tensors[row], edges.consumers[row]
        return Edge(*ends, 0, *link, edges.states[row], edges.folded.get(row, ()))

    def role(self, place: int) -> Role:
        part = self.parts[place]
        if isinstance(part, Version):
            return "variable"
        return "op" if isinstance(part, Op) and not self.maker.is_value(part) else "constant"

    def is_returned(self, place: int) -> bool:
        """Whether the node is a tensor that no op made. If it has edges, it came back from
        Python."""
        part = self.parts[place]
        return not isinstance(part, (Op, Version)) and self.maker.maker_of(part) is None

    def kind(self, place: int) -> tuple[str, SiteId]:
        """Type and site, which counterparts in the turns of a loop share."""
        part = self.parts[place]
        if isinstance(part, Op):
            return part.type, part.description.site.id
        return self.node(place).type, SiteId(0)

    def successors(self, place: int) -> Iterable[int]:
        """The nodes that take a value of this one, each once."""
        return dict.fromkeys([self.edges.targets[row] for row in self.out[place]])

    def predecessors(self, place: int) -> Iterable[int]:
        """The nodes whose values this one takes, each once."""
        return dict.fromkeys([self.edges.sources[row] for row in self.into[place]])
