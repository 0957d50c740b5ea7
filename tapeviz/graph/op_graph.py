"""The op graph before folding: what each node stands for, and the edges between them.

A recording may have a million nodes, of which a picture shows some hundred. So a node is no more
here than the op, version or tensor that it stands for; its :class:`~tapeviz.graph.model.Node`, with
the words on it, is made when it is drawn. Folding gives the ``networkx`` graph that is laid out.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field

from ..trace.model import Op, OpId, SiteId, Version
from .model import Edge, Node, NodeId, Part, Role
from .nodes import Nodes


@dataclass(slots=True)
class OpGraph:
    """Nodes in the order in which they came to be, and edges.

    ``into``, ``out``: edges of those nodes that have any. ``entries``: the recorded operations and
    calls of which something is shown, by their ops. ``carried``: edges of compiled loops into their
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
        """The node as it is drawn by itself."""
        return self.maker.of(name, self.parts[name])

    def op(self, name: NodeId) -> Op | None:
        """The op that a node stands for, if it stands for one."""
        part = self.parts[name]
        return part if isinstance(part, Op) else None

    def role(self, name: NodeId) -> Role:
        part = self.parts[name]
        if isinstance(part, Version):
            return "variable"
        return "op" if isinstance(part, Op) and not self.maker.is_value(part) else "constant"

    def is_returned(self, name: NodeId) -> bool:
        """Whether it is a tensor that no op made: with edges into it, one that came from Python."""
        part = self.parts[name]
        return not isinstance(part, (Op, Version)) and self.maker.maker_of(part) is None

    def kind(self, name: NodeId) -> tuple[str, SiteId]:
        """Type and source position: the same for counterparts in the turns of a loop."""
        part = self.parts[name]
        if isinstance(part, Op):
            return part.type, part.site.id
        return self.node(name).type, SiteId(0)

    def add(self, edge: Edge) -> None:
        self.into.setdefault(edge.target, []).append(edge)
        self.out.setdefault(edge.source, []).append(edge)

    def exchange(self, others: Mapping[int, Edge]) -> None:
        """Put other edges in the places of those with these ``id``."""
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
        """All edges: by their source, those to one target together."""
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
        """Each node that takes from this one, once."""
        return dict.fromkeys([edge.target for edge in self.out.get(name, ())])

    def predecessors(self, name: NodeId) -> Iterable[NodeId]:
        """Each node that this one takes from, once."""
        return dict.fromkeys([edge.source for edge in self.into.get(name, ())])
