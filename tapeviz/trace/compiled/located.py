"""Events of the inside of opened calls, each with where in a compiled function it stands."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from .. import events as e
from ..ids import TensorId
from .model import Loop
from .rerun_ops import RerunOps
from .traced_graphs import GraphWrite, TracedGraph


class LocatedEvent(NamedTuple):
    """An event to be read now, and where it stands."""

    event: e.Event
    within: int = 0
    """The eager op whose compiled function it ran in; 0: no op."""
    traced: int = 0
    """The number that an op had when it was traced, and the graph that it was traced into:"""
    graph: int = 0
    body: tuple[int, ...] = ()
    """For an op that runs graphs: the ids of the ops in these."""
    loop: Loop | None = None
    run: EagerRun | None = None
    """For an eager call of a compiled function."""
    skipped: UntakenInputs | None = None
    """For a conditional of which one branch ran."""
    predicate: Sequence[int] = ()
    """For a conditional or a loop: the tensors that decided what ran."""
    whole: tuple[Sequence[int], Sequence[int]] | None = None
    """For an op that stands for one output of a conditional: the inputs and outputs of all of it.
    """


class UntakenInputs(NamedTuple):
    """The inputs of a conditional's branch that did not run."""

    taken: int
    """The branch that ran."""
    lines: Mapping[TensorId, int]
    """For each tensor that only the other branch takes: the line of the op that takes it."""


@dataclass(frozen=True, slots=True)
class EagerRun:
    """An eager call of a compiled function. ``graphs``: what it ran; ``round``: from 1, among the
    calls of the graph.

    ``writes``: to variables, by their handles; none for an opened call, whose ops are in the trace.
    ``words``: how values in there are known, where they are not exact; ``copies``: tensors that
    have the value of another one, by whose id they do not go since that one does. ``ops``: of an
    opened call that ran again.
    """

    graph: TracedGraph
    graphs: tuple[int, ...]
    round: int
    writes: Sequence[GraphWrite] = ()
    inside: e.InsideComputed | None = None
    words: Mapping[int, str] = field(default_factory=dict)
    copies: Mapping[int, int] = field(default_factory=dict)
    ops: RerunOps | None = None
