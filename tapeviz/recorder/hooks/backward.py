"""Record backward steps, as TensorFlow calls the gradient functions.

A tape calls one function for every op it recorded (``TFE_Py_RegisterGradientFunction``), except
for entries made by ``record_operation`` (custom gradients, functions), which bring their own.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any
from weakref import proxy

from .. import private
from ..installed import Installed
from ..recording import RecordingContext, caller

_READ = "ReadVariableOp"
_CAPTURE = "captured_value"


def install(recording: RecordingContext, installed: Installed) -> None:
    if private.gradient_function:
        with recording.shielded("steps of the backward pass"):
            private.register_gradient_function(_gradient_function(recording))
            installed.undo(private.register_gradient_function, private.gradient_function)
    installed.replace(
        private.pywrap, private.RECORD_OPERATION, lambda record: _recording(recording, record)
    )
    installed.replace(
        private.eager_execute, private.RECORD_GRADIENT, lambda record: _attrs_of(recording, record)
    )
    for name in private.CUSTOM_GRADIENTS:
        installed.replace(
            private.custom_gradients, name, lambda decorate: _custom_gradient(recording, decorate)
        )


class GradientStep:
    """One gradient function while it runs."""

    __slots__ = ("_call", "_first", "_recording")

    def __init__(self, recording: RecordingContext, call: int) -> None:
        self._recording = recording
        self._call = call
        self._first: list[int] = []
        recording.log_row((recording.encoder.mark, self._first))

    def ran(
        self,
        op_type: str,
        op: list[int] | None,
        forward: tuple[Any, Any, Any],
        upstream: Sequence[Any],
        downstream: Any,
    ) -> None:
        """``op``: its number where it is known; ``forward``: attributes, inputs and outputs."""
        write, call = self._recording.encoder.step, self._call
        is_jacobian = call in self._recording.jacobians
        gradients = (tuple(upstream), downstream)
        self._recording.log_row(
            (write, call, op_type, op, forward, *gradients, self._first, is_jacobian)
        )


def _gradient_function(recording: RecordingContext) -> Callable[..., Any]:
    original, local = private.gradient_function, recording.local

    def gradient_function(
        op_name: Any,
        attr_tuple: Any,
        num_inputs: int,
        inputs: Any,
        outputs: Any,
        out_grads: Any,
        skip_input_indices: Any,
        forward_pass_name_scope: Any,
    ) -> Any:
        arguments = (skip_input_indices, forward_pass_name_scope)
        call = local.state[0]
        if not call or local.hidden:
            return original(op_name, attr_tuple, num_inputs, inputs, outputs, out_grads, *arguments)
        step, result = GradientStep(recording, call), None
        try:
            result = original(
                op_name, attr_tuple, num_inputs, inputs, outputs, out_grads, *arguments
            )
            return result
        finally:
            name = op_name.decode() if isinstance(op_name, bytes) else op_name
            step.ran(name, None, (attr_tuple, inputs, outputs), out_grads, result)

    return gradient_function


def _recording(recording: RecordingContext, record: Callable[..., Any]) -> Callable[..., Any]:
    local = recording.local

    @recording.guarded
    def recorded(op_type: Any, outputs: Any, inputs: Any, backward: Any) -> list[int]:
        name = op_type.decode() if isinstance(op_type, bytes) else str(op_type)
        op: list[int] = []
        body = local.bodies[-1] if local.bodies else None
        if body is not None and body.name != name:
            body = None
        site = recording.here(caller(2))
        fields: dict[str, Any] = {"e": "record", "type": name, "site": site}
        if local.state[0]:
            fields["call"] = local.state[0]
        fields |= body.about() if body else _about_function(recording, name)
        tensors = [*inputs, *outputs]
        for tensor in tensors:
            if not isinstance(tensor, private.EagerTensor):
                recording.emit_symbolic(tensor)
        eager = [tensor for tensor in tensors if isinstance(tensor, private.EagerTensor)]
        scope = private.thread_data().scope_name.rstrip("/") if eager else ""
        if scope:  # that of its call: scopes that its body opened are closed again
            fields["scope"] = scope
        ids = (
            [recording.id(tensor) for tensor in inputs],
            [recording.id(tensor) for tensor in outputs],
        )
        encoder = recording.encoder
        first = body.first if body else []
        kept = backward if recording.holds_what_runs else _not_held(backward)
        recording.log_row((encoder.recorded, fields, *ids, first, kept, op, eager))
        return op

    def recording_operation(
        op_type: Any, outputs: Any, inputs: Any, backward: Any, forward: Any = None
    ) -> Any:
        # A graph's capture of an outer tensor goes by that tensor's own id.
        if local.hidden or op_type == _CAPTURE:
            return record(op_type, outputs, inputs, backward, forward)
        # A graph's read comes here, too, besides being an op: its step belongs to that op.
        op = None if op_type == _READ else recorded(op_type, outputs, inputs, backward)
        wrapped = _backward(recording, op_type, op, outputs, backward)
        return record(op_type, outputs, inputs, wrapped, forward)

    return recording_operation


def _not_held(function: Any) -> Any:
    """A function that raises ``ReferenceError`` once nobody else holds it, as its tape does."""
    try:
        return proxy(function)
    except TypeError:  # an object that knows no weak references
        return function


def _backward(
    recording: RecordingContext, op_type: Any, op: list[int] | None, outputs: Any, function: Any
) -> Callable[..., Any]:
    local = recording.local
    ids = [recording.id(tensor) for tensor in outputs] if op is None else []
    name = op_type.decode() if isinstance(op_type, bytes) else str(op_type)

    def backward(*out_grads: Any) -> Any:
        call = local.state[0]
        if not call or local.hidden:
            return function(*out_grads)
        step, result = GradientStep(recording, call), None
        try:
            result = function(*out_grads)
            return result
        finally:
            step.ran(name, op, (None, None, ids), out_grads, result)

    return backward


def _attrs_of(recording: RecordingContext, record: Callable[..., Any]) -> Callable[..., Any]:
    """In graphs, and off the fast path, the tape may get other attributes than the callback."""

    def record_gradient(op_name: Any, inputs: Any, attrs: Any, outputs: Any) -> Any:
        if attrs and not recording.local.hidden:
            ids = [recording.id(tensor) for tensor in outputs if isinstance(tensor, private.Tensor)]
            recording.log_row((recording.encoder.same_attrs, attrs, ids))
        return record(op_name, inputs, attrs, outputs)

    return record_gradient


class _Body:
    """A custom_gradient function while it runs."""

    def __init__(self, recording: RecordingContext, function: Any) -> None:
        self.name = getattr(function, "__name__", "")
        self.first: list[int] = []
        self._code: Any = getattr(function, "__code__", None)
        self._filename = recording.filename
        self._definitions = recording.definitions
        recording.log_row((recording.encoder.mark, self.first))

    def about(self) -> dict[str, Any]:
        code = self._code
        own = code is not None and code.co_filename == self._filename
        line = self._definitions.line(self.name, code.co_firstlineno) if own else 0
        return {"function": self.name, "line": line}


def _custom_gradient(
    recording: RecordingContext, decorate: Callable[..., Any]
) -> Callable[..., Any]:
    local = recording.local

    def decorated(f: Any, args: Any, kwargs: Any) -> Any:
        if local.hidden:
            return decorate(f, args, kwargs)
        before = local.bodies
        local.bodies = (*before, _Body(recording, f))
        try:
            return decorate(f, args, kwargs)
        finally:
            local.bodies = before

    return decorated


def _about_function(recording: RecordingContext, name: str) -> dict[str, Any]:
    """The function ``f`` behind ``__inference_f_12`` or ``__forward_f_57``."""
    for prefix in ("__inference_", "__forward_"):
        if name.startswith(prefix):
            function = name[len(prefix) :].rpartition("_")[0]
            return {"function": function, "line": recording.definitions.line(function)}
    return {"function": name}
