"""The nouns of the op graph: what a node and an edge of the networkx graph carry.

An op graph is a ``networkx.MultiDiGraph`` whose nodes are string ids with an attribute ``node``
(:class:`Node`) and whose edges have an attribute ``edge`` (:class:`Edge`). It knows nothing of a
particular gradient call: flow, selection and step are overlays.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from ..trace.model import OpId, TensorId, VariableId

NodeId = str
EdgeKey = tuple[str, str, int]
Role = Literal["op", "variable", "constant", "group"]
EdgeState = Literal["gradient", "recorded", "unrecorded", "cut", "bridge"]


@dataclass(frozen=True, slots=True)
class Node:
    """What is drawn as one box.

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


@dataclass(frozen=True, slots=True)
class Edge:
    """A value on its way from one node to another.

    ``consumer``: the op that takes it (None: into a variable's next version);
    ``state``: how it is drawn when no gradient call is shown.
    """

    source: NodeId
    target: NodeId
    key: int
    tensor: TensorId | None
    consumer: OpId | None
    state: EdgeState = "recorded"
