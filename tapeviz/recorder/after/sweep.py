"""Run the recorded ops again after a source was moved a little.

Only ops that depend on the source run, in the order of the recording; all else is what was kept.
They run in float64 where the op has a kernel for it, so that a difference shows a derivative.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from itertools import islice, pairwise
from time import thread_time
from typing import Any, NamedTuple

from .. import limits, private
from ..encode import Encoder
from ..history import KeptOp
from ..rerun.definitions import CASES, CONDITIONALS, LOOPS
from . import tensor_ops
from .again import CannotRepeat, tensor_of
from .assigns import Assign, after, is_write

_READ = "ReadVariableOp"
_ANEW = frozenset({"AssignVariableOp", "VarHandleOp", "DestroyResourceOp"})
# Ops that hand values to Python, which must not be called a second time.
_PYTHON = frozenset({"EagerPyFunc", "PyFunc", "PyFuncStateless"})


# Ops of a state of their own that draw numbers; of the second kind only whole ones come out.
_DRAWING = frozenset(
    {"RandomGamma", "StatelessRandomGammaV2", "RandomPoisson", "RandomPoissonV2"}
    | {"ParameterizedTruncatedNormal", "StatefulRandomBinomial", "RandomShuffle"}
)
_DRAWING_WHOLE = frozenset({"Multinomial", "StatelessMultinomial", "RandomUniformInt"})
# Ops that ask for the shape of what they take, and not for its elements.
_OF_SHAPES = frozenset({"Shape", "ShapeN", "Size", "Rank", "ZerosLike", "OnesLike"})


class CannotSweep(Exception):
    """Why the pass cannot be run again, in words."""


class Sweep:
    """The ops that lead from one source to the targets. Raises :class:`CannotSweep`.

    ``span``: of the recording the first op that counts, the first whose write to a variable moves
    with the source, and the last; ``updates_since``: gradients that ran before this op, and what
    optimizers wrote, do not move with it. Nor does what is written to the source itself: each of
    its reads is moved. ``deadline``: of ``time.thread_time``.
    ``is_narrow``: some op ran in the dtype of the recording, for it has no float64.
    """

    def __init__(
        self,
        encoder: Encoder,
        source: int,
        targets: Sequence[int],
        span: tuple[int, int, int],
        updates_since: int,
        deadline: float,
    ) -> None:
        self.is_narrow = False
        self.source = source
        self.states: frozenset[int] = frozenset()
        """Handles whose variables are followed."""
        self._encoder = encoder
        self._deadline = deadline
        self._narrow: set[int] = set()
        self._attrs: dict[int, Any] = {}
        first, middle, last = span
        bounds = sorted(
            {first, last + 1, *(b for b in (middle, updates_since) if first < b <= last)}
        )
        steps = (
            _Step(op, begin < middle, self._is_held(op, begin < updates_since))
            for begin, end in pairwise(bounds)
            for op in encoder.history.between(begin, end - 1)
        )
        plan = list(islice(steps, limits.OPS_OF_CHECK + 1))
        if len(plan) > limits.OPS_OF_CHECK:
            raise CannotSweep("the recording is too long to be run again")
        self._plan = _leading_to(targets, list(self._dependent(plan)))

    def __len__(self) -> int:
        """The number of ops of a pass."""
        return len(self._plan)

    def run(self, delta: Any) -> Callable[[int], Any]:
        """Run forward with the source moved by ``delta``; return a function from id to value."""
        walk = _Pass(self, delta)
        for place, step in enumerate(self._plan):
            if thread_time() > self._deadline:
                raise CannotSweep("running the recorded ops again takes too long")
            walk.take(place, step)
        return walk.value

    def kept(self, identity: int) -> Any:
        try:
            return tensor_of(self._encoder, identity)
        except CannotRepeat as reason:
            raise CannotSweep(f"a tensor that it needs was let go of, and {reason}") from reason

    def outputs(self, place: int, op: KeptOp, inputs: Sequence[Any]) -> Sequence[Any]:
        """The op on other inputs: in float64, else in the dtypes of the recording."""
        if place not in self._narrow:
            try:
                return self._in_float64(place, op, inputs)
            except private.Refused:
                self._narrow.add(place)
                self.is_narrow = True
        given = [
            tensor
            if private.is_opaque(tensor._datatype_enum())
            else tensor_ops.cast_like(tensor, self.kept(i))
            for i, tensor in zip(op.inputs, inputs, strict=True)
        ]
        try:
            return private.run_op(op.type, given, op.attrs, len(op.outputs))
        except private.Refused as error:
            raise CannotSweep(f"{op.type} cannot be run again") from error

    def _in_float64(self, place: int, op: KeptOp, inputs: Sequence[Any]) -> Sequence[Any]:
        if place not in self._attrs:
            self._attrs[place] = private.wider_attrs(op.type, op.attrs)
        given = [tensor_ops.wider(tensor) for tensor in inputs]
        return private.run_op(op.type, given, self._attrs[place], len(op.outputs))

    def _dependent(self, steps: Sequence[_Step]) -> Iterator[_Step]:
        """The ops that depend on the source, and all that write to a variable that does."""
        is_variable = private.is_resource(self.kept(self.source)._datatype_enum())
        moved, ever = {self.source}, {self.source} if is_variable else set()
        states: set[int] = set()
        for op, is_past, is_held in steps:
            handle = op.inputs[0] if op.inputs else 0
            if is_held:
                states.discard(handle)
                continue
            if is_write(op.type):
                if not is_past and not moved.isdisjoint(op.inputs[1:]):
                    states.add(handle)
                elif op.type in _ANEW:
                    states.discard(handle)
            elif self._leads_on(op, moved, states):
                moved.update(op.outputs)
            ever |= states
        self.states = frozenset(ever)
        for step in steps:
            if self.source in step.op.outputs or step.op.type in _OF_SHAPES:
                continue
            if step.is_held and not is_write(step.op.type):
                continue
            if not moved.isdisjoint(step.op.inputs) or not ever.isdisjoint(step.op.inputs):
                yield step

    def _is_held(self, op: KeptOp, is_before_updates: bool) -> bool:
        is_own = is_write(op.type) and op.inputs[0] == self.source
        return is_own or (is_before_updates and _is_of_update(op))

    def _leads_on(self, op: KeptOp, moved: set[int], states: set[int]) -> bool:
        if moved.isdisjoint(op.inputs) and states.isdisjoint(op.inputs):
            return False
        if op.type in _DRAWING_WHOLE or op.type in _OF_SHAPES:
            return False
        return self.source not in op.outputs


class _Step(NamedTuple):
    """``is_past``: if it writes to a variable, it writes what it wrote in the run. ``is_held``: so
    does all that it computes."""

    op: KeptOp
    is_past: bool
    is_held: bool


def _is_of_update(op: KeptOp) -> bool:
    return bool(op.call) or "Apply" in op.type


def _leading_to(targets: Sequence[int], steps: Sequence[_Step]) -> list[_Step]:
    """The steps that the targets depend on."""
    needed = set(targets)
    found = []
    for step in reversed(steps):
        op = step.op
        if not needed.isdisjoint(op.outputs) or (is_write(op.type) and op.inputs[0] in needed):
            found.append(step)
            needed.update(op.inputs)
    return found[::-1]


class _Pass:
    """One run of the plan."""

    def __init__(self, sweep: Sweep, delta: Any) -> None:
        self._sweep = sweep
        self._delta = delta
        self._values: dict[int, Any] = {}
        self._states: dict[int, Any] = {}
        self._variables: list[Any] = []  # alive while their handles are used
        start = sweep.kept(sweep.source)
        if not private.is_opaque(start._datatype_enum()):
            self._values[sweep.source] = tensor_ops.wider(start) + delta

    def value(self, identity: int) -> Any:
        """A moved tensor, or else the one that was kept; of a handle the state."""
        if identity in self._states:
            return self._states[identity]
        known = self._values.get(identity)
        return self._sweep.kept(identity) if known is None else known

    def take(self, place: int, step: _Step) -> None:
        op = step.op
        if step.is_held:
            self._states.pop(op.inputs[0], None)  # the next read shows what it wrote
        elif op.type == _READ:
            self._values[op.outputs[0]] = self._read(op.inputs[0], op.outputs[0])
        elif is_write(op.type):
            self._write(op, self._sweep.kept if step.is_past else self.value)
        elif op.type.startswith("__"):
            raise CannotSweep("a compiled function stands on the way that cannot be run op by op")
        elif op.type in CONDITIONALS | CASES | LOOPS:
            # Of one that was opened: what the branch taken gave, or the last turn.
            self._values[op.outputs[0]] = self.value(op.inputs[0])
        elif op.type in _PYTHON:
            raise CannotSweep("a Python function stands on the way, and is not called again")
        elif op.type in _DRAWING:
            raise CannotSweep("random numbers that depend on it cannot be drawn again")
        elif op.type not in _ANEW and op.outputs:
            inputs = [self._input(identity) for identity in op.inputs]
            results = self._sweep.outputs(place, op, inputs)
            self._values.update(zip(op.outputs, results, strict=False))

    def _read(self, handle: int, output: int) -> Any:
        """The source's own move is seen by each read of it, as a tape adds up over its reads."""
        state = self._states.get(handle)
        if state is None:
            state = self._states[handle] = tensor_ops.wider(self._sweep.kept(output))
        return tensor_ops.wider(state) + self._delta if handle == self._sweep.source else state

    def _write(self, op: KeptOp, value_of: Callable[[int], Any]) -> None:
        handle = op.inputs[0]
        operands = [tensor_ops.wider(value_of(identity)) for identity in op.inputs[1:]]
        now = after(Assign(op.type, operands, op.attributes), self._states.get(handle))
        if now is None:
            raise CannotSweep(f"{op.type} writes what cannot be computed again")
        self._states[handle] = now

    def _input(self, identity: int) -> Any:
        if identity not in self._sweep.states:
            return self.value(identity)
        state = self._states.get(identity)
        if state is None:
            raise CannotSweep("what a variable held then is not known")
        if identity == self._sweep.source:
            state = state + self._delta
        variable = tensor_ops.variable_of(state)
        self._variables.append(variable)
        return private.handle_of(variable)
