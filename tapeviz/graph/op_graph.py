"""The op graph before folding: the part that each node stands for, and the edges.

A recording may have a million nodes, of which a picture shows some hundred. So only the op, version
or tensor that a node stands for is kept here; its :class:`~tapeviz.graph.model.Node`, with words,
is made when it is drawn. Folding gives the ``networkx`` graph that is laid out.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field

from ..trace.model import Op, OpId, SiteId, Version
from .model import Edge, Node, NodeId, Part, Role
from .nodes import Nodes


@dataclass(slots=True)
class OpGraph:
    """``parts``: the part of each node, versions first, then ops in the order they ran.

    ``into``, ``out``: the edges of the nodes that have any. ``entries``: the recorded operations
    and calls with ops in the graph, by op. ``carried``: the edges of each compiled loop into its
    next turn. ``pinned``: nodes that a first view must not fold away: target, sources, cuts.
    """

    maker: Nodes
    parts: dict[NodeId, Part] = field(default_factory=dict)
    into: dict[NodeId, list[Edge]] = field(default_factory=dict)
    out: dict[NodeId, list[Edge]] = field(default_factory=dict)
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
        self.into.setdefault(edge.target, []).append(edge)
        self.out.setdefault(edge.source, []).append(edge)

    def exchange(self, others: Mapping[int, Edge]) -> None:
        """Replace edges; ``others``: ``id`` of an edge → the edge that takes its place."""
        if others:
            for table in (self.into, self.out):
                for edges in table.values():
                    edges[:] = [others.get(id(edge), edge) for edge in edges]

    def drop(self, names: set[NodeId]) -> None:
        """Remove nodes and their edges."""
        if not names:
            return
        for name in names:
            del self.parts[name]
            self.into.pop(name, None)
            self.out.pop(name, None)
        for table in (self.into, self.out):
            for name, edges in list(table.items()):
                edges[:] = [e for e in edges if e.source not in names and e.target not in names]
                if not edges:
                    del table[name]

    def edges(self) -> Iterator[Edge]:
        """All edges, sorted by source; parallel edges come one after the other."""
        for name in self.parts:
            edges = self.out.get(name, ())
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
        return dict.fromkeys([edge.target for edge in self.out.get(name, ())])

    def predecessors(self, name: NodeId) -> Iterable[NodeId]:
        """The nodes whose values this one takes, each once."""
        return dict.fromkeys([edge.source for edge in self.into.get(name, ())])
