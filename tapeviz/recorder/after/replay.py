"""Run a backward program over a finished recording: TensorFlow's gradients across its cuts.

Only TensorFlow's own gradient functions are called, over the tensors that were kept; what lies
between ops (state, a tape's end) is bridged by the instructions of the program.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any

from .. import private
from ..encode import Encoder, listed
from ..history import KeptOp
from ..json_text import to_json
from ..rerun.own_gradients import OwnGradient
from . import tensor_ops
from .again import CannotRepeat, tensor_of
from .assigns import Assign, NoGradient, is_write, split
from .estimates import STOPS, Flat, Picks, estimate

Key = int | str
_FEW = 4
_WRITTEN = "what an assign wrote"
_UNSEEN = "it ran inside a compiled function or a graph"
# The gradient functions that are given None, not zeros, for these outputs
# (FunctionsAcceptingNoneForIndicesMap in tensorflow/c/eager/tape.h, 2.15–2.21).
_NONE_WELCOME = {
    "SoftmaxCrossEntropyWithLogits": {1},
    "SparseSoftmaxCrossEntropyWithLogits": {1},
    "FusedBatchNorm": {1, 2, 3, 4},
}


def replay(encoder: Encoder, request: Mapping[str, Any]) -> tuple[dict[str, Any], list[bytes]]:
    """The answer to ``replay``: event lines, the last of them ``replay``, and their bytes.

    ``seeds``: of each target its key and the id of its gradient (0: ones); with a third number
    the gradient is one at that element, counted flat, and zero elsewhere. ``program``:
    ``["op", id]`` (``"inner"``: as it ran inside a custom gradient), ``["move", from, to]``,
    ``["assign", op id, from, value id, prior key]``, ``["turns", op id, before, after, shown]``:
    all ops of a call of a compiled function, in every turn of its loops; ``before`` and ``after``:
    the keys of the versions that variables had then, by their handles; ``shown``: ops with a step.
    ``wanted``: the keys whose gradients are the results; that of a variable does not go through a
    write to it. ``brief``: report steps only that failed.
    ``how``: ``beyond`` goes through ``tf.stop_gradient``, ``estimate`` also through ops without a
    slope (:mod:`.estimates`). ``share``, ``within``, ``inner``: repeated in the event.
    """
    how = request.get("how", "")
    with private.quiet_eager_mode():
        walk = _Walk(encoder, is_brief=bool(request.get("brief")) or bool(how), how=how)
        walk.run(request)
        lines, results = walk.lines, walk.results(request["wanted"])
        for group in _in_groups(walk.written.intersection(request["wanted"])):
            apart = _Walk(encoder, is_brief=True, how=how, ends_at=group)
            apart.run(request)
            results |= apart.results(sorted(group))
            lines += apart.lines
    encoder.tensors.measure(lines)
    event = {
        "e": "replay",
        "call": request.get("call", 0),
        "steps": walk.steps,
        "results": results,
        "how": how,
        "share": request.get("share", ()),
        "within": request.get("within", 0),
        "inner": request.get("inner", -1),
    }
    return encoder.tensors.answer([*lines, to_json(event)])


def _in_groups(written: set[int]) -> list[frozenset[int]]:
    """Group the sources, by their handles, that a gradient reached through a write to them.

    A tape adds up over the reads of all versions of a variable. What comes through a write would
    count twice, so each is led back once more, without the writes to it; of many without those to
    any of them.
    """
    if len(written) > _FEW:
        return [frozenset(written)]
    return [frozenset([each]) for each in sorted(written)]


class _Walk:
    """One backward pass: the gradients gathered so far at each tensor or version of a variable.

    ``ends_at``: handles of variables through whose writes no gradient goes.
    """

    def __init__(
        self,
        encoder: Encoder,
        *,
        is_brief: bool = False,
        how: str = "",
        ends_at: frozenset[int] = frozenset(),
    ) -> None:
        self.lines: list[str] = []
        self.steps: list[dict[str, Any]] = []
        self._encoder = encoder
        self._is_brief = is_brief
        self._how = how
        self._ends_at = ends_at
        self.written: set[int] = set()
        """Handles of variables through whose writes a gradient went."""
        self._tensors = encoder.tensors
        self._gradients: dict[Key, list[Any]] = {}
        self._ids: dict[int, int] = {}
        """The id in the recording of each tensor that was made again."""

    def run(self, request: Mapping[str, Any]) -> None:
        """Go back through the program of a request."""
        for seed in request["seeds"]:
            self.seed(*seed)
        for instruction in request["program"]:
            self.follow(instruction)

    def seed(self, key: Key, given: int, element: int | None = None) -> None:
        """The gradient that the pass starts with."""
        gradient = self._kept(given) if given else self._ones(key)
        if element is not None:
            gradient = private.one_at(element, gradient)
        if gradient is not None:
            self._add(key, gradient)

    def follow(self, instruction: Sequence[Any]) -> None:
        """Run one instruction of the program; a failure becomes the words of its step."""
        verb, *operands = instruction
        if verb == "move":
            origin, goal = operands
            gradient = self._sum(origin)
            if gradient is not None:
                self._add(goal, gradient)
        elif verb == "turns":
            self._through_turns(*operands)
        elif verb == "assign":
            self._take_step(operands[0], lambda: self._through_assign(*operands))
        else:
            is_inner = verb == "inner"
            self._take_step(operands[0], lambda: self._through_op(*operands, is_inner=is_inner))

    def _take_step(
        self, number: int, step_back: Callable[[], tuple[Any, Any]], *, is_shown: bool = True
    ) -> None:
        step = {"op": number, "upstream": [], "downstream": []}
        try:
            upstream, downstream = step_back()
            if upstream is None or self._is_brief or not is_shown:
                return
            step["upstream"] = [self._name(gradient) for gradient in upstream]
            step["downstream"] = [self._name(gradient) for gradient in downstream]
        except Exception as error:
            step["error"] = _words(error)
        self.steps.append(step)

    def results(self, wanted: Sequence[Key]) -> dict[str, int]:
        """A dense tensor for each key that a gradient reached."""
        found = {}
        for key in wanted:
            gradient = self._sum(key)
            if gradient is None or isinstance(gradient, Picks):
                continue
            tensor = self._encoder.dense(gradient)
            identity = found[str(key)] = self._name(tensor)
            self._tensors.send_result(identity, tensor, self.lines)
        return found

    def _through_op(self, number: int, *, is_inner: bool = False) -> tuple[Any, Any]:
        op = self._encoder.history.op(number) if is_inner else self._op(number)
        if op is None:
            raise NoGradient(_UNSEEN)
        upstream = [self._sum(identity) for identity in op.outputs]
        if all(gradient is None for gradient in upstream):
            return None, None
        if is_inner and not self._how and self._is_flat(op):
            return None, None
        downstream = self._estimated(op, upstream) if self._is_estimated(op) else None
        if downstream is None:
            downstream = self._own(op, upstream)
        for identity, gradient in zip(op.inputs, downstream, strict=False):
            if gradient is not None:
                self._add(identity, gradient)
        return upstream, downstream

    def _through_turns(
        self, call: int, before: Mapping[str, str], after: Mapping[str, str], shown: Sequence[int]
    ) -> None:
        """Go back through a whole call of a compiled function, its loops turn by turn."""
        history, states = self._encoder.history, set(before) | set(after)
        for handle in states:
            key = after.get(handle)
            written = self._sum(key) if key is not None and key != before.get(handle) else None
            if written is not None:
                self._add(_state(handle), written)
        drawn = frozenset(shown)
        for number in reversed(history.turned.get(call, [])):
            op = history.op(number)
            if op is None:
                continue
            self._take_step(
                number, partial(self._through_stateful, number, op), is_shown=number in drawn
            )
        for handle, key in before.items():
            gradient = self._sum(_state(handle))
            if gradient is not None:
                self._add(key, gradient)

    def _through_stateful(self, number: int, op: KeptOp) -> tuple[Any, Any]:
        """Go back through one op. The state of a variable that it reads or writes has a key."""
        state = _state(op.inputs[0]) if op.inputs else ""
        if op.type == "ReadVariableOp":
            gradient = self._sum(op.outputs[0])
            if gradient is not None:
                self._add(op.inputs[0], gradient)
                self._add(state, gradient)
            return (None, None) if gradient is None else ([gradient], [gradient])
        if is_write(op.type):
            gradient = self._sum(state)
            self._gradients.pop(state, None)
            if gradient is not None:
                self._add(_WRITTEN, gradient)
            found = self._through_assign(number, _WRITTEN, 0, state)
            self._gradients.pop(_WRITTEN, None)
            return found
        upstream, downstream = self._through_op(number, is_inner=True)
        for identity, gradient in zip(op.inputs, downstream or (), strict=False):
            held = self._tensors.tensor(identity) if gradient is not None else None
            if held is not None and private.is_resource(held._datatype_enum()):
                self._add(_state(identity), gradient)
        return upstream, downstream

    def _is_flat(self, op: KeptOp) -> bool:
        """Whether no input has a gradient, so that a tape calls no function for the op."""
        inputs = (self._tensors.tensor(identity) for identity in op.inputs)
        dtypes = (known.dtype if known is not None else None for known in inputs)
        return all(dtype is not None and (dtype.is_integer or dtype.is_bool) for dtype in dtypes)

    def _own(self, op: KeptOp, upstream: list[Any]) -> Sequence[Any]:
        """The result of TensorFlow's own gradient function."""
        if any(isinstance(gradient, Picks) for gradient in upstream):
            raise NoGradient("the gradient of a position cannot go on from here")
        if self._how == "estimate" and not self._leave_positions(op, upstream):
            return ()
        welcome = _NONE_WELCOME.get(op.type, set())
        for index, identity in enumerate(op.outputs):
            if upstream[index] is None and index not in welcome:
                upstream[index] = private.zeros_like(self._kept(identity))
        return listed(self._call(op, upstream))

    def _leave_positions(self, op: KeptOp, upstream: list[Any]) -> bool:
        """Drop the gradients of integer outputs where an op has real ones as well (values and
        indices)."""
        reals = [tensor_ops.is_real(self._kept(identity)) for identity in op.outputs]
        if any(reals):
            for place, is_real in enumerate(reals):
                upstream[place] = upstream[place] if is_real else None
        return any(gradient is not None for gradient in upstream)

    def _is_estimated(self, op: KeptOp) -> bool:
        return op.backward is None and (
            self._how == "estimate" or (bool(self._how) and op.type in STOPS)
        )

    def _estimated(self, op: KeptOp, upstream: list[Any]) -> Sequence[Any] | None:
        if upstream[0] is None:
            return None
        inputs, outputs = (
            [self._kept(tensor) for tensor in ids] for ids in (op.inputs, op.outputs)
        )
        given = upstream[0] if isinstance(upstream[0], Picks) else self._encoder.dense(upstream[0])
        try:
            return estimate(Flat(op.type, op.attributes, inputs, outputs), given)
        except ValueError:
            return None  # it has no form for these shapes: TensorFlow's own answer holds

    def _call(self, op: KeptOp, upstream: list[Any]) -> Any:
        try:
            if isinstance(op.backward, OwnGradient):
                return op.backward(upstream, self._kept)
            if op.backward is not None:
                return op.backward(*upstream)
        except ReferenceError as error:
            raise NoGradient("the snippet dropped the function that computes it") from error
        inputs = [self._kept(identity) for identity in op.inputs]
        outputs = [self._kept(identity) for identity in op.outputs]
        return private.gradient_function(
            op.type, op.attrs, len(inputs), inputs, outputs, upstream, (), op.scope
        )

    def _through_assign(self, number: int, origin: Key, value: int, prior: Key) -> tuple[Any, Any]:
        gradient = self._sum(origin)
        if gradient is None:
            return None, None
        op = self._op(number)
        if op.inputs[0] in self._ends_at:
            return None, None
        self.written.add(op.inputs[0])
        operands = [self._kept(identity) for identity in op.inputs[1:]]
        gradient = self._encoder.dense(gradient)
        parts = split(Assign(op.type, operands, op.attributes), gradient)
        value = value or op.inputs[-1]
        if parts.value is not None and value:
            self._add(value, parts.value)
        if parts.prior is not None and prior:
            self._add(prior, parts.prior)
        return [gradient], [parts.prior, *[None] * (len(op.inputs) - 2), parts.value]

    def _op(self, number: int) -> KeptOp:
        """The op, or the entry of ``record_operation`` that tapes know its outputs by."""
        history = self._encoder.history
        op = history.op(number)
        if op is None:
            raise NoGradient(_UNSEEN)
        producer = history.producer(op.outputs[0]) if op.outputs else number
        entry = history.op(producer) if producer != number else None
        return entry if entry is not None and entry.backward is not None else op

    def _ones(self, key: Key) -> Any:
        handle = int(key.lstrip("v").partition(":")[0]) if isinstance(key, str) else key
        return private.ones_like(self._kept(handle))

    def _kept(self, identity: int) -> Any:
        try:
            tensor = tensor_of(self._encoder, identity)
        except CannotRepeat as reason:
            raise NoGradient(f"a tensor that it needs was let go of, and {reason}") from reason
        self._ids[tensor._id] = identity
        return tensor

    def _add(self, key: Key, gradient: Any) -> None:
        self._gradients.setdefault(key, []).append(gradient)

    def _sum(self, key: Key) -> Any:
        """The sum of what arrived, as a tape makes it: one ``AddN``."""
        gradients = self._gradients.get(key)
        if not gradients:
            return None
        if len(gradients) > 1:
            numbers = [gradient for gradient in gradients if not isinstance(gradient, Picks)]
            gradients[:] = [private.aggregate(numbers)] if numbers else gradients[:1]
        return gradients[0]

    def _name(self, gradient: Any) -> int:
        if gradient is None:
            return 0
        tensor = self._encoder.dense(gradient)
        identity: int = self._ids.get(tensor._id, private.id_of(tensor))
        if identity not in self._tensors.seen:
            self._tensors.see(identity, tensor, self.lines)
        return identity


def _state(handle: int | str) -> str:
    """The key of what a variable holds at one moment of a pass through turns of a loop."""
    return f"state of {handle}"


def _words(error: Exception) -> str:
    if isinstance(error, LookupError) and error.args:
        return str(error.args[0])
    return str(error) or type(error).__name__
