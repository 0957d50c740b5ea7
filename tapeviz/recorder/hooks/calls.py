"""Record ``gradient``, ``jacobian`` and their like: a ``call`` and its ``result``."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator
from contextlib import nullcontext
from inspect import signature
from itertools import count
from types import FrameType
from typing import Any

from .. import private
from ..installed import Installed
from ..recording import RecordingContext, caller
from .tapes import TapeRegistry

_METHODS = {
    "gradient": ("target", "sources"),
    "jacobian": ("target", "sources"),
    "batch_jacobian": ("target", "source"),
}


class Calls:
    """Numbers the calls, and records what each was given and gave."""

    def __init__(self, recording: RecordingContext) -> None:
        self._recording = recording
        self._next = count(1)

    def begin(self, method: str, tape: int, operands: dict[str, Any], frame: FrameType) -> int:
        """A call begins; its number."""
        recording = self._recording
        number = next(self._next)
        if "jacobian" in method:
            recording.jacobians.add(number)
        fields: dict[str, Any] = {"e": "call", "id": number, "method": method, "tape": tape}
        tensors: list[Any] = []
        with recording.shielded("the operands of a call"):
            fields["targets"] = self.operands(operands.get("targets"), tensors)
            fields["sources"] = self.operands(operands.get("sources"), tensors)
            given = operands.get("output_gradients")
            if given is not None:
                fields["output_gradients"] = self.operands(given, tensors)
            if operands.get("stop_gradients") is not None:
                stops = self.operands(operands["stop_gradients"], tensors)
                fields["stops"] = [stop["tensor"] for stop in stops]
            unconnected = operands.get("unconnected_gradients")
            fields["unconnected"] = str(getattr(unconnected, "value", unconnected or "none"))
        fields.setdefault("targets", [])
        fields.setdefault("sources", [])
        fields["site"] = recording.here(frame)
        fields["direct"] = recording.is_direct(frame)
        if not fields["direct"] and len(fields["targets"]) == 1:
            name = _local_name(operands["targets"], frame)
            fields["targets"][0] |= {"name": name} if name else {}
        recording.emit(fields, tensors)
        if not all(isinstance(tensor, private.EagerTensor) for tensor in tensors):
            with recording.shielded("the names around a call in a function"):
                recording.traced_names.look_around(recording, frame)
        with recording.shielded("whether a backward pass is recorded"):
            if method == "gradient" and not private.is_any_tape_recording():
                recording.log_row((recording.encoder.passes_by, number, fields["site"]))
        return number

    def operands(self, structure: Any, tensors: list[Any]) -> list[dict[str, Any]]:
        """Describe each leaf of a structure, in flat order; append their tensors to ``tensors``."""
        found = []
        for path, leaf in private.flatten_with_paths(structure):
            operand: dict[str, Any] = {"tensor": 0}
            if path:
                operand["keys"] = [key if isinstance(key, int) else str(key) for key in path]
            tensor = self._recording.tensor_of(leaf)
            if tensor is not None:
                operand["tensor"] = self._recording.id(tensor)
                tensors.append(tensor)
            if tensor is None:
                operand |= {"kind": "other", "type": type(leaf).__name__}
            elif tensor is private.handle_of(leaf):
                operand["kind"] = "variable"
                operand["name"] = private.variable_name(leaf)
            found.append(operand)
        return found

    def end(self, number: int, result: Any) -> None:
        """The call came back with this structure."""
        with self._recording.shielded("the result of a call"):
            gradients = [leaf for _, leaf in private.flatten_with_paths(result)]
            recording = self._recording
            recording.log_row((recording.encoder.result, number, gradients))

    def fail(self, number: int, error: BaseException) -> None:
        words = f"{type(error).__name__}: {error}"
        self._recording.emit({"e": "result", "call": number, "error": words})

    def run(self, number: int | None, compute: Callable[[], Any]) -> Any:
        """Return ``compute()``; report it as the outcome of call ``number``, if there is one."""
        if number is None:
            return compute()
        with self._inside(number):
            try:
                result = compute()
            except BaseException as error:
                self.fail(number, error)
                raise
        self.end(number, result)
        return result

    @contextlib.contextmanager
    def _inside(self, number: int) -> Iterator[None]:
        """Ops that run now belong to the call."""
        local = self._recording.local
        before = local.state
        local.state = (number, before[1], before[2])
        try:
            yield
        finally:
            local.state = (before[0], local.state[1], before[2])

    def is_nested(self) -> bool:
        """Whether a jacobian is being computed, which calls ``gradient`` itself."""
        return self._recording.local.state[0] in self._recording.jacobians


def _local_name(target: Any, frame: FrameType) -> str:
    """The name of the target in library code that asks for its gradient, such as ``loss``."""
    found = (name for name, value in private.locals_of(frame).items() if value is target)
    return next(found, "")


def install(
    recording: RecordingContext, installed: Installed, tapes: TapeRegistry, calls: Calls
) -> None:
    for name, (target, sources) in _METHODS.items():

        def wrap(method: Callable[..., Any], names: tuple[str, str] = (target, sources)) -> Any:
            return _calling(recording, tapes, calls, method, names)

        installed.replace(private.GradientTape, name, wrap)


def _calling(
    recording: RecordingContext,
    tapes: TapeRegistry,
    calls: Calls,
    method: Callable[..., Any],
    names: tuple[str, str],
) -> Callable[..., Any]:
    parameters = tuple(signature(method).parameters)

    @recording.guarded
    def begin(args: Any, named: Any, frame: FrameType) -> int | None:
        given = dict(zip(parameters, args, strict=False)) | named
        is_complete = given.keys() >= {*names} and given.keys() <= {*parameters}
        if not is_complete or len(given) != len(args) + len(named):
            return None  # wrong arguments: TensorFlow will say so
        operands = {**given, "targets": given[names[0]], "sources": given[names[1]]}
        return calls.begin(method.__name__, tapes.number(args[0]), operands, frame)

    def calling(*args: Any, **named: Any) -> Any:
        if recording.local.hidden or calls.is_nested():
            return method(*args, **named)
        frame = caller()
        is_lent = private.is_gradient_of_python(frame)
        with recording.log.letting_go() if is_lent else nullcontext():
            number = begin(args, named, frame)
            return calls.run(number, lambda: method(*args, **named))

    return calling
