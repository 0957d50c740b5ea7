"""The op graph before folding: the part that each node stands for, and the edges.

A recording may have a million nodes, of which a picture shows some hundred. So only the op, version
or tensor that a node stands for is kept here; its :class:`~tapeviz.graph.model.Node`, with words,
is made when it is drawn. Folding gives the ``networkx`` graph that is laid out.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from ..trace.model import Op, OpId, SiteId, Version
from .model import Edge, Node, NodeId, Part, Role
from .nodes import Nodes


class EdgeTable:
    """Node → its edges at one end. Most nodes have a single one, which has no list around it."""

    def __init__(self) -> None:
        self._edges: dict[NodeId, Edge | list[Edge]] = {}

    def __contains__(self, name: object) -> bool:
        return name in self._edges

    def of(self, name: NodeId) -> Sequence[Edge]:
        """The edges of a node, in the order in which they were added."""
        found = self._edges.get(name)
        if found is None:
            return ()
        return found if isinstance(found, list) else (found,)

    def add(self, name: NodeId, edge: Edge) -> None:
        before = self._edges.setdefault(name, edge)
        if before is edge:
            return
        if isinstance(before, list):
            before.append(edge)
        else:
            self._edges[name] = [before, edge]

    def exchange(self, others: Mapping[int, Edge]) -> None:
        """Replace edges; ``others``: ``id`` of an edge → the edge that takes its place."""
        for name, known in self._edges.items():
            if isinstance(known, list):
                known[:] = [others.get(id(edge), edge) for edge in known]
            else:
                self._edges[name] = others.get(id(known), known)

    def drop(self, names: Collection[NodeId]) -> None:
        """Remove the edges of these nodes, at whichever end they are."""
        for name, known in list(self._edges.items()):
            edges = known if isinstance(known, list) else [known]
            kept = [e for e in edges if e.source not in names and e.target not in names]
            if not kept:
                del self._edges[name]
            elif len(kept) < len(edges):
                self._edges[name] = kept if len(kept) > 1 else kept[0]


@dataclass(slots=True)
class OpGraph:
    """``parts``: the part of each node, versions first, then ops in the order they ran.

    ``into``, ``out``: the edges that end and begin at a node. ``entries``: the recorded operations
    and calls with ops in the graph, by op. ``carried``: the edges of each compiled loop into its
    next turn. ``pinned``: nodes that a first view must not fold away: target, sources, cuts.
    """

    maker: Nodes
    parts: dict[NodeId, Part] = field(default_factory=dict)
    into: EdgeTable = field(default_factory=EdgeTable)
    out: EdgeTable = field(default_factory=EdgeTable)
    entries: dict[OpId, Op] = field(default_factory=dict)
    carried: Mapping[OpId, tuple[Edge, ...]] = field(default_factory=dict)
    pinned: frozenset[NodeId] = frozenset()

    def __len__(self) -> int:
        return len(self.parts)

    def __iter__(self) -> Iterator[NodeId]:
        return iter(self.parts)

    def __contains__(self, name: object) -> bool:
        return name in self.parts

    def node(self, name: NodeId) -> Node:
        """The node as it is drawn if no group hides it."""
        return self.maker.of(name, self.parts[name])

    def op(self, name: NodeId) -> Op | None:
        """The op that a node stands for, None if it is no op's."""
        part = self.parts[name]
        return part if isinstance(part, Op) else None

    def role(self, name: NodeId) -> Role:
        part = self.parts[name]
        if isinstance(part, Version):
            return "variable"
        return "op" if isinstance(part, Op) and not self.maker.is_value(part) else "constant"

    def is_returned(self, name: NodeId) -> bool:
        """Whether the node is a tensor that no op made. If it has edges, it came back from
        Python."""
        part = self.parts[name]
        return not isinstance(part, (Op, Version)) and self.maker.maker_of(part) is None

    def kind(self, name: NodeId) -> tuple[str, SiteId]:
        """Type and site, which counterparts in the turns of a loop share."""
        part = self.parts[name]
        if isinstance(part, Op):
            return part.type, part.site.id
        return self.node(name).type, SiteId(0)

    def add(self, edge: Edge) -> None:
        self.into.add(edge.target, edge)
        self.out.add(edge.source, edge)

    def exchange(self, others: Mapping[int, Edge]) -> None:
        """Replace edges; ``others``: ``id`` of an edge → the edge that takes its place."""
        if others:
            self.into.exchange(others)
            self.out.exchange(others)

    def drop(self, names: set[NodeId]) -> None:
        """Remove nodes and their edges."""
        if not names:
            return
        for name in names:
            del self.parts[name]
        self.into.drop(names)
        self.out.drop(names)

    def edges(self) -> Iterator[Edge]:
        """All edges, sorted by source; parallel edges come one after the other."""
        for name in self.parts:
            edges = self.out.of(name)
            if len(edges) < 3:
                yield from edges
                continue
            by_target: dict[NodeId, list[Edge]] = {}
            for edge in edges:
                by_target.setdefault(edge.target, []).append(edge)
            for parallel in by_target.values():
                yield from parallel

    def successors(self, name: NodeId) -> Iterable[NodeId]:
        """The nodes that take a value of this one, each once."""
        return dict.fromkeys([edge.target for edge in self.out.of(name)])

    def predecessors(self, name: NodeId) -> Iterable[NodeId]:
        """The nodes whose values this one takes, each once."""
        return dict.fromkeys([edge.source for edge in self.into.of(name)])
