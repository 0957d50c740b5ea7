"""The nouns for gradient calls: what was asked for, each backward step, and what was computed of it
after the run."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any, Literal

import msgspec

from .ids import CallId, OpId, TapeId, TensorId
from .ops import Op
from .sites import Site

Method = Literal["gradient", "jacobian", "batch_jacobian", "tf.gradients", "jvp"]

_NO_ENTRIES: Mapping[Any, Any] = MappingProxyType({})


def _no_entries() -> Mapping[Any, Any]:
    """Return the same empty mapping each time: a dictionary for each call takes 64 bytes."""
    return _NO_ENTRIES


@dataclass(frozen=True, slots=True)
class Operand:
    """A target, source or output gradient as the snippet wrote it.

    ``text``: the Python expression or name (``patch``, ``c[0]``, ``dense/kernel``).
    """

    text: str
    tensor: TensorId | None
    kind: Literal["tensor", "variable", "other"]
    type: str = ""


def tensors_of(operands: Iterable[Operand]) -> tuple[TensorId, ...]:
    """The ids of the tensors and variables among some operands, in their order."""
    return tuple([each.tensor for each in operands if each.tensor is not None])


class Step(msgspec.Struct, frozen=True, gc=False):
    """One gradient function as TensorFlow ran it; ``None`` where it gave or got none.

    ``turns``: of the compiled loops around the op, outermost first, from 0. ``inputs`` and
    ``outputs``: of a conditional, which is drawn as an op for each output, those of the whole;
    empty for other ops.
    """

    index: int
    op: OpId | None
    type: str
    upstream: tuple[TensorId | None, ...]
    downstream: tuple[TensorId | None, ...]
    error: str = ""
    turns: tuple[int, ...] = ()
    inputs: tuple[TensorId, ...] = ()
    outputs: tuple[TensorId, ...] = ()

    def taken(self, op: Op) -> tuple[TensorId, ...]:
        """The tensors that the gradients of ``downstream`` are of. ``op``: that of the step."""
        return self.inputs or op.inputs

    def made(self, op: Op) -> tuple[TensorId, ...]:
        """The tensors that the gradients of ``upstream`` are of."""
        return self.outputs or op.outputs


@dataclass(frozen=True, slots=True)
class Check:
    """A gradient against central finite differences of the recorded ops.

    ``error``: the largest difference relative to the largest derivative; None, and ``words`` say
    why, where there is nothing to compare with.
    """

    error: float | None = None
    agrees: bool = False
    words: str = ""


@dataclass(frozen=True, slots=True)
class Replay:
    """A backward pass over the recording, across state and tapes, computed after the run."""

    steps: tuple[Step, ...]
    results: Mapping[str, TensorId]


@dataclass(frozen=True, slots=True)
class Call:
    """One ``gradient``/``jacobian``/… call. ``results``: one for each source, None for None.

    ``stops``: tensors behind which it was not to go (``stop_gradients`` of ``tf.gradients``).
    ``ended`` is False when the call raised (``error``) or never came back.
    ``traced``: the graph of the compiled function that it was made in; 0: it ran eagerly. It stands
    for all ``ran`` calls of that function: ``within`` is the opened one whose values it has.
    ``ran`` is 0 for a function that was traced and never called; ``in_branch``: it stands in a
    branch of a conditional, which some of these calls may have passed by; ``in_dataset``: it stands
    in a function that a dataset runs, of which no run is seen, and ``ran`` is 0; ``traced_when``:
    position in the order of events at which it was traced, 0 if it ran eagerly.
    ``beyond``: results of a replay that went through ``tf.stop_gradient`` and the bodies of custom
    gradients; ``estimates``: of one through what has no slope, too.
    ``shares``: results of replays from one target alone, by its place and an element (-1: all).
    ``inner``: replays through the inside of a compiled function, loop or branch, by the index of
    the step that went through it as a whole.
    ``checks``: by source, of those results that were compared with finite differences;
    ``doubts``: by op and input, of what custom gradients gave.
    """

    id: CallId
    method: Method
    tape: TapeId | None
    targets: tuple[Operand, ...]
    sources: tuple[Operand, ...]
    output_gradients: tuple[Operand, ...]
    unconnected: str
    site: Site
    is_direct: bool
    when: int
    end: int
    results: tuple[TensorId | None, ...] = ()
    steps: tuple[Step, ...] = ()
    stops: tuple[TensorId, ...] = ()
    ended: bool = False
    traced: int = 0
    ran: int = 1
    in_branch: bool = False
    in_dataset: bool = False
    traced_when: int = 0
    within: OpId | None = None
    error: str = ""
    replay: Replay | None = None
    beyond: Mapping[str, TensorId] = field(default_factory=_no_entries)
    estimates: Mapping[str, TensorId] = field(default_factory=_no_entries)
    inner: Mapping[int, Replay] = field(default_factory=_no_entries)
    checks: Mapping[TensorId, Check] = field(default_factory=_no_entries)
    shares: Mapping[tuple[int, ...], Mapping[str, TensorId]] = field(default_factory=_no_entries)
    doubts: Mapping[tuple[OpId, TensorId], Check] = field(default_factory=_no_entries)

    @property
    def line(self) -> int:
        return self.site.line

    @property
    def is_forward(self) -> bool:
        """Whether it asked a ``ForwardAccumulator``: it has a result for each output asked about,
        and these are its ``sources``; its ``targets`` are the primals."""
        return self.method == "jvp"

    @property
    def differentiated(self) -> tuple[Operand, ...]:
        """The targets as a reader knows them, in forward mode as well."""
        return self.sources if self.is_forward else self.targets

    @property
    def by(self) -> tuple[Operand, ...]:
        """The sources as a reader knows them, in forward mode as well."""
        return self.targets if self.is_forward else self.sources

    @property
    def target_tensors(self) -> tuple[TensorId, ...]:
        """The targets that are tensors or variables."""
        return tensors_of(self.targets)

    @property
    def source_tensors(self) -> tuple[TensorId, ...]:
        """The sources that are tensors or variables."""
        return tensors_of(self.sources)

    @property
    def has_run(self) -> bool:
        """Whether it was made for a graph that ran, if it was made for one.

        TensorFlow traces a function that makes variables twice.
        """
        return self.ran > 0 or self.in_dataset
