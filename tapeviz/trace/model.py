"""The nouns of a recording: frozen values that say what happened, without judging it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

import msgspec

from ..text.source import TextSpan
from .calls import Call
from .compiled.model import Conditional, Loop, TracedFunction, Word
from .compiled.rerun_ops import RerunOps
from .events import HeldValue
from .ids import OpId, TapeId, TensorId, VariableId, VersionId
from .ops import Op, Tensor
from .sites import NOWHERE, Site
from .stats import Array, Stats
from .values import sample_of, stats_of, value_of
from .variables import Variable, Version


class Watch(msgspec.Struct, frozen=True, gc=False):
    """A tensor or variable that a tape watches. ``tangent``: of a ForwardAccumulator, the one given
    with the tensor."""

    tape: TapeId
    tensor: TensorId
    when: int
    site: Site
    automatic: bool = False
    tangent: TensorId | None = None


@dataclass(frozen=True, slots=True)
class Interval:
    """A stretch in which a tape recorded, as positions in the order of events: [start, end)."""

    start: int
    end: int
    why_start: str
    why_end: str
    start_site: Site = NOWHERE
    end_site: Site = NOWHERE


@dataclass(frozen=True, slots=True)
class Tape:
    id: TapeId
    name: str
    persistent: bool
    watches_variables: bool
    site: Site
    kind: str
    when: int
    intervals: tuple[Interval, ...] = ()
    watches: tuple[Watch, ...] = ()
    thread: int = 0

    def is_recording(self, when: int) -> bool:
        return any(i.start <= when < i.end for i in self.intervals)


class Binding(msgspec.Struct, frozen=True, gc=False):
    """A Python name bound. ``tensors``: (id, the name with its key: ``c[0]``). For a value without
    tensors, ``value`` is its type, ``object`` its Python id; ``shape`` and ``dtype`` are those of a
    NumPy array. Of a ragged or sparse tensor ``tensors`` has the numbers, ``value`` the type."""

    name: str
    site: Site
    when: int
    tensors: tuple[tuple[TensorId, str], ...] = ()
    value: str = ""
    object: int = 0
    shape: tuple[int, ...] | None = None
    dtype: str = ""


class Leave(msgspec.Struct, frozen=True, gc=False):
    """A value left TensorFlow."""

    tensor: TensorId
    how: str
    site: Site
    when: int
    object: int = 0


class CaughtError(msgspec.Struct, frozen=True, gc=False):
    """An exception that the snippet caught. ``lines``: those of its own in the traceback, outermost
    first; ``site``: the first statement of the ``except``, or the ``with`` of a
    ``contextlib.suppress``."""

    type: str
    message: str
    lines: tuple[int, ...]
    site: Site
    when: int


_NOWHERE_IN_TEXT = TextSpan(0)


@dataclass(frozen=True, slots=True)
class Failure:
    """An exception that ended the snippet, or a block of a page.

    ``folder``: where a file, without a whole path, or a module was looked for that is not there;
    ``python``: the path of the interpreter that lacks a module; ``is_saved``: false if the snippet
    is no file and ran in an empty folder of its own; ``held``: what the names of the snippet's
    innermost frame meant, or of what AutoGraph made of it; ``span``: the expression in there that
    raised.
    """

    type: str
    message: str
    line: int
    traceback: str
    lines: tuple[int, ...] = ()
    folder: str = ""
    python: str = ""
    is_saved: bool = True
    held: tuple[HeldValue, ...] = ()
    span: TextSpan = _NOWHERE_IN_TEXT


@dataclass(frozen=True, slots=True)
class Ending:
    how: str = "finished"
    seconds: float = 0.0
    detail: str = ""


class _Referable:
    """Lets what follows from a trace be kept for as long as the trace, without holding it."""

    __slots__ = ("__weakref__",)


@dataclass(frozen=True, slots=True)
class Trace(_Referable):
    """The record of one run. Made by :func:`tapeviz.trace.read.read`, never changed."""

    source: str
    filename: str = "snippet.py"
    tensorflow: str = ""
    python: str = ""
    seed: int = 0
    """The seed of random numbers that the snippet did not seed itself; 0: unknown."""
    ops: Mapping[OpId, Op] = field(default_factory=dict)
    recorded_ops: int = 0
    """The number of ops that were seen as they ran. Those inside of compiled functions are not
    counted: they become known from a graph when a call is looked into."""
    tensors: Mapping[TensorId, Tensor] = field(default_factory=dict)
    producers: Mapping[TensorId, OpId] = field(default_factory=dict)
    variables: Mapping[VariableId, Variable] = field(default_factory=dict)
    tapes: Mapping[TapeId, Tape] = field(default_factory=dict)
    calls: tuple[Call, ...] = ()
    bindings: tuple[Binding, ...] = ()
    leaves: tuple[Leave, ...] = ()
    caught: tuple[CaughtError, ...] = ()
    names: Mapping[TensorId, tuple[str, ...]] = field(default_factory=dict)
    """Python names of a tensor or a variable's handle, in the order in which they were bound."""
    variable_names: Mapping[VariableId, str] = field(default_factory=dict)
    """The name of each variable that says most."""
    given_names: Mapping[str, str] = field(default_factory=dict)
    """Name of a variable in a layer that the snippet calls by a name of its own (``head.kernel``) →
    the name without that of the layer (``dense_9/kernel``), which JSON has for its source."""
    traced: frozenset[int] = frozenset()
    """While the run goes on: the lines on which TensorFlow traced compiled functions."""
    fetched: Mapping[TensorId, TensorId] = field(default_factory=dict)
    """Symbolic tensor → the value that a session computed for it, last, or that a compiled function
    gave for it, first."""
    functions: Mapping[int, TracedFunction] = field(default_factory=dict)
    """Compiled functions that the snippet called, by the numbers of their graphs."""
    loops: Mapping[OpId, Loop] = field(default_factory=dict)
    """Compiled loops inside of opened calls, by their ops."""
    conditionals: Mapping[OpId, Conditional] = field(default_factory=dict)
    """Conditionals inside of opened calls of which one branch ran, by their ops."""
    predicates: Mapping[OpId, tuple[TensorId, ...]] = field(default_factory=dict)
    """Conditionals and loops inside of opened calls: the tensors that decided which branch ran, or
    whether another turn did."""
    reruns: Mapping[OpId, RerunOps] = field(default_factory=dict)
    """Every op that ran inside of opened calls that ran again, by the calls."""
    sums: Mapping[TensorId, tuple[TensorId, TensorId]] = field(default_factory=dict)
    """Gradients that a graph made as IndexedSlices, as dense tensors: their rows and the numbers of
    these; rows with the same number are added."""
    unread: Mapping[TensorId, VersionId] = field(default_factory=dict)
    """Tensors that no op gave: each stands for the state of a variable in a version that none read
    (:mod:`.unread`)."""
    words: Mapping[TensorId, Word] = field(default_factory=dict)
    """How values inside of opened calls are known, where they are not exact."""
    notes: tuple[str, ...] = ()
    printed: tuple[tuple[str, str], ...] = ()
    failure: Failure | None = None
    later_failures: tuple[Failure, ...] = ()
    """The exceptions of further blocks of a page, which went on after the first."""
    ending: Ending = Ending()
    blob: bytes = b""
    places: Mapping[TensorId, int] = field(default_factory=dict)
    """Where in the blob the elements of a tensor begin."""
    texts: Mapping[TensorId, tuple[str, ...]] = field(default_factory=dict)
    sent_stats: Mapping[TensorId, Stats] = field(default_factory=dict)
    samples: Mapping[TensorId, tuple[int, int, int]] = field(default_factory=dict)
    """Offset in the blob, rows and columns of a few elements of each large tensor."""
    measured: dict[TensorId, Stats | None] = field(
        default_factory=dict, init=False, compare=False, repr=False
    )
    """Statistics that were asked for already: a diagnosis asks often."""
    states: dict[tuple[VersionId, bool], Array | None] = field(
        default_factory=dict, init=False, compare=False, repr=False
    )
    """Unread states, and those that they follow from, each with all elements or with a few."""
    reads: Mapping[TensorId, Version] = field(default_factory=dict)
    """Tensor read from a variable → the version read."""
    touches: Mapping[tuple[OpId, VariableId], Version] = field(default_factory=dict)
    """Op that took a variable's handle and is neither a read nor a write → the version it saw."""
    writes: Mapping[OpId, Version] = field(default_factory=dict)
    """Assign op → the version that it made."""

    @property
    def failures(self) -> tuple[Failure, ...]:
        """The exceptions that ended the snippet, or blocks of a page, in the order in which they
        were raised."""
        return (self.failure, *self.later_failures) if self.failure is not None else ()

    def op(self, identity: OpId | None) -> Op | None:
        """The op of this number; None without a number, or if the recording has no such op."""
        return self.ops.get(identity) if identity is not None else None

    def maker(self, tensor: TensorId | None) -> Op | None:
        """The op that made a tensor; None if none of the recording did."""
        return self.op(self.producers.get(tensor)) if tensor is not None else None

    def variable(self, handle: TensorId | None) -> Variable | None:
        """The variable whose handle a tensor is; None for any other tensor, and without one."""
        return self.variables.get(VariableId(handle)) if handle is not None else None

    def tape(self, identity: TapeId | None) -> Tape | None:
        """The tape of this number; None without a number, or if the recording has no such tape."""
        return self.tapes.get(identity) if identity is not None else None

    def value(self, tensor: TensorId | None) -> Array | None:
        """The tensor's elements as TensorFlow computed them, or None when they did not travel.

        bfloat16 comes as float32 (exact); strings as an object array.
        """
        return value_of(self, tensor) if tensor is not None else None

    def sample(self, tensor: TensorId) -> Array | None:
        """A matrix of evenly spaced elements of a large tensor whose value did not travel."""
        return sample_of(self, tensor)

    def stats(self, tensor: TensorId | None) -> Stats | None:
        """Statistics of a numeric tensor: sent by the kernel, or of the value that travelled."""
        return stats_of(self, tensor) if tensor is not None else None

    def has_nonfinite(self, tensor: TensorId | None) -> bool:
        """Whether a tensor is known to have NaN or infinity."""
        stats = self.stats(tensor)
        return stats is not None and stats.nonfinite > 0

    def makes_nonfinite(self, op: Op, now: Mapping[TensorId, TensorId] | None = None) -> bool:
        """Whether an op gave NaN or infinity and got none. ``now``: for tensors of a loop those of
        another turn."""
        now = now or {}
        gave, taken = ([now.get(each, each) for each in side] for side in (op.outputs, op.inputs))
        return any(map(self.has_nonfinite, gave)) and not any(map(self.has_nonfinite, taken))

    def version(self, identity: VersionId) -> Version:
        return self.variables[identity.variable].versions[identity.number]


EMPTY_TRACE = Trace("")
"""In place of ``None``: nothing has run yet."""
