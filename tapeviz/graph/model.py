"""The parts of the op graph: nodes, edges and frames.

Before folding the graph is an :class:`~tapeviz.graph.op_graph.OpGraph`. The folded graph, which is
laid out and drawn, is a ``networkx.MultiDiGraph``: its nodes are string ids with an attribute
``node`` (:class:`Node`), its edges have an attribute ``edge`` (:class:`Edge`). Neither knows the
gradient call that is shown: flow, selection and step are overlays.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import msgspec

from ..trace.ids import OpId, TensorId, VariableId
from ..trace.ops import Op
from ..trace.variables import Version

NodeId = str
EdgeKey = tuple[str, str, int]
Role = Literal["op", "variable", "constant", "group"]
EdgeState = Literal["gradient", "recorded", "unrecorded", "cut", "bridge"]
Link = tuple[TensorId | None, OpId | None]
"""(tensor, consumer) as on an :class:`Edge`."""
Part = Op | Version | TensorId
"""A node stands for an op, a version of a variable, or a tensor that no op in the graph made."""


@dataclass(frozen=True, slots=True)
class Node:
    """A node of the op graph, drawn as one box.

    ``title``: the user's name or the op type; ``subtitle``: op type, shape, line, version;
    ``tensor``: the tensor whose value it shows; ``assigns``: it writes a variable's state;
    ``version``: of a variable (0 the first); ``members``: ids of the nodes folded into a group.
    ``is_recorded``: some tape recorded it (variables and constants: always True).
    """

    id: NodeId
    role: Role
    title: str
    subtitle: str
    type: str
    line: int
    tensor: TensorId | None = None
    op: OpId | None = None
    variable: VariableId | None = None
    version: int = 0
    is_recorded: bool = True
    assigns: bool = False
    is_backward: bool = False
    name: str = ""
    lines: tuple[int, ...] = ()
    """All lines of the snippet that the node belongs to, its own first."""
    group: str = ""
    """Path of the group that it is in: ``sequential/dense``."""
    members: tuple[NodeId, ...] = ()
    site: int = 0
    """The id of the site that an op ran from; turns of a loop share it."""
    is_chip: bool = False
    """It is a copy of a variable or constant for one of many readers; drawn small."""
    entry: OpId | None = None
    """The innermost recorded operation (custom_gradient, compiled function) that it ran inside of;
    of a group: the operation that it is."""
    opens: str = ""
    """The path that unfolds it: of a folded group, or of a value computed outside the picture;
    empty for others."""
    turns: int = 0
    """The number of turns of a folded repeat, else 0."""
    last_subtitle: str = ""
    """The subtitle of a variable in the last round, which its box has room for; empty without
    rounds."""
    has_picture: bool = True
    """Its box shows an array as a small picture; False where boxes must be narrow."""
    is_flat: bool = False
    """Its box has a single line, with name and shape, where there is little room."""
    is_short: bool = False
    """Its box has room for a short title only, where boxes must be narrow."""


class Edge(msgspec.Struct, frozen=True, gc=False):
    """A value on its way from one node to another.

    ``consumer``: the op that takes it; None for an edge into a variable's next version or, through
    Python, into a constant; for a variable made from a tensor the op that initialised it.
    ``state``: how it is drawn if no gradient call is shown.
    """

    source: NodeId
    target: NodeId
    key: int
    tensor: TensorId | None
    consumer: OpId | None
    state: EdgeState = "recorded"
    folded: tuple[Link, ...] = ()
    """Further links that this edge stands for: of edges merged into it by folding, of the read of a
    variable (None, ReadVariableOp), and of an input of a recorded operation as a whole."""
    is_carried: bool = False
    """It goes from one turn of a repeat into the next."""

    @property
    def links(self) -> tuple[Link, ...]:
        """All links that this edge stands for, its own first; a flow refers to edges by link."""
        return ((self.tensor, self.consumer), *self.folded)


@dataclass(frozen=True, slots=True)
class Frame:
    """An open group that is drawn with a border around its members.

    ``turn`` of ``count``: the turn shown of a repeat, 0 of 0 for other groups. ``others``: numbers,
    from 1, of the turns whose shape is not the commonest. ``loop``: of a compiled loop its op;
    ``lacks``: the recording does not have this turn of it. ``parent``: path of the frame around
    it. ``entry``: the recorded operation, or the call of a compiled function, that it is the inside
    of.
    """

    path: str
    title: str
    line: int
    parent: str = ""
    turn: int = 0
    count: int = 0
    others: tuple[int, ...] = ()
    loop: OpId | None = None
    lacks: bool = False
    entry: OpId | None = None
