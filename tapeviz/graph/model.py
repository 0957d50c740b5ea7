"""The nouns of the op graph: nodes, edges and frames.

Before folding it is an :class:`~tapeviz.graph.op_graph.OpGraph`. Folded, as it is laid out and
drawn, it is a ``networkx.MultiDiGraph`` whose nodes are string ids with an attribute ``node``
(:class:`Node`) and whose edges have an attribute ``edge`` (:class:`Edge`). It knows nothing of a
particular gradient call: flow, selection and step are overlays.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from ..trace.model import Op, OpId, TensorId, VariableId, Version

NodeId = str
EdgeKey = tuple[str, str, int]
Role = Literal["op", "variable", "constant", "group"]
EdgeState = Literal["gradient", "recorded", "unrecorded", "cut", "bridge"]
Link = tuple[TensorId | None, OpId | None]
"""(tensor, consumer) as on an :class:`Edge`."""
Part = Op | Version | TensorId
"""A node stands for an op, a version of a variable, or a tensor that no op shown made."""


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
    """All lines of the snippet that this node belongs to, its own first."""
    group: str = ""
    """Path of the group that it stands in: ``sequential/dense``."""
    members: tuple[NodeId, ...] = ()
    site: int = 0
    """The place in the snippet that an op ran from; turns of a loop share it."""
    is_chip: bool = False
    """A copy of a variable or constant for one of the many that take it; drawn small."""
    entry: OpId | None = None
    """The innermost recorded operation (custom_gradient, compiled function) that it ran inside of;
    of a group: the one that it is the inside of."""
    opens: str = ""
    """The path that unfolds it, if any does: that of a folded group, or of a value whose making is
    not in the picture."""
    turns: int = 0
    """How many turns a folded repeat has; 0: it is none."""


@dataclass(frozen=True, slots=True)
class Edge:
    """A value on its way from one node to another.

    ``consumer``: the op that takes it (None: into a variable's next version, or by way of Python
    into a constant; of a variable made from a tensor: the op that initialised it);
    ``state``: how it is drawn when no gradient call is shown.
    """

    source: NodeId
    target: NodeId
    key: int
    tensor: TensorId | None
    consumer: OpId | None
    state: EdgeState = "recorded"
    folded: tuple[Link, ...] = ()
    """Further values that this edge stands for: those of edges merged into it by folding, the
    read of a variable (None, ReadVariableOp), and for an input of a recorded operation
    (custom_gradient, function) the way into the whole of it."""
    is_carried: bool = False
    """It goes from one turn of a repeat into the next."""

    @property
    def links(self) -> tuple[Link, ...]:
        """All values that this edge carries, its own first: what a flow may name it by."""
        return ((self.tensor, self.consumer), *self.folded)


@dataclass(frozen=True, slots=True)
class Frame:
    """An open group that is drawn with a border around its members.

    ``turn`` of ``count``: which turn of a repeat is shown (0 of 0: it is none); ``others``: turns
    (from 1) whose shape is not the commonest. ``lacks``: a compiled loop of which the recording
    does not have this turn. ``parent``: path of the frame around it. ``entry``:
    the recorded operation, or the call of a compiled function, whose inside it is.
    """

    path: str
    title: str
    line: int
    parent: str = ""
    turn: int = 0
    count: int = 0
    others: tuple[int, ...] = ()
    lacks: OpId | None = None
    entry: OpId | None = None
