"""Record graph mode: calls of ``tf.gradients``, steps, and what ``Session.run`` fetched."""

from __future__ import annotations

from collections.abc import Callable
from itertools import count
from types import FrameType
from typing import Any

import numpy as np

from .. import private
from ..encode import listed
from ..installed import Installed
from ..recording import RecordingContext, caller
from .backward import GradientStep
from .calls import Calls

# Ids for values that are arrays only; TensorFlow's own count up from 0 and stay far below.
_FIRST_OWN_ID = 1 << 50


def install(recording: RecordingContext, installed: Installed, calls: Calls) -> None:
    util = private.graph_gradients
    installed.replace(util, private.GRADIENTS_OF_GRAPH, lambda f: _gradients(recording, calls, f))
    installed.replace(util, private.STEP_OF_GRAPH, lambda f: _step(recording, f))
    installed.replace(private.BaseSession, "run", lambda run: _running(recording, run))


def _gradients(
    recording: RecordingContext, calls: Calls, helper: Callable[..., Any]
) -> Callable[..., Any]:
    """``tf.gradients``, and what TensorFlow itself derives for functions, which is left out."""

    @recording.guarded
    def begin(args: Any, named: Any, frame: FrameType) -> int:
        ys = args[0] if args else named["ys"]
        xs = args[1] if len(args) > 1 else named["xs"]
        given = args[2] if len(args) > 2 else named.get("grad_ys")
        stops = args[7] if len(args) > 7 else named.get("stop_gradients")
        unconnected = args[8] if len(args) > 8 else named.get("unconnected_gradients")
        operands = {
            "targets": ys,
            "sources": xs,
            "output_gradients": given,
            "unconnected_gradients": unconnected,
            "stop_gradients": stops,
        }
        return calls.begin("tf.gradients", 0, operands, frame)

    def gradients(*args: Any, **named: Any) -> Any:
        frame = caller()
        if frame.f_globals.get("__name__") != private.PUBLIC_GRAPH_GRADIENTS:
            with recording.log.hiding(), recording.log.deriving():
                return helper(*args, **named)
        if recording.local.hidden or recording.local.state[0]:
            return helper(*args, **named)
        number = begin(args, named, frame.f_back or frame)
        return calls.run(number, lambda: helper(*args, **named))

    return gradients


def _step(recording: RecordingContext, compile_maybe: Callable[..., Any]) -> Callable[..., Any]:
    @recording.guarded
    def derived(op: Any, result: Any) -> None:
        outputs = [recording.id(tensor) for tensor in op.outputs]
        given = [gradient is not None for gradient in listed(result)]
        # The recording has the inside in their place, of all but the calls of a backward pass.
        is_opened = op.type in private.CONTROL_FLOW
        recording.log_row((recording.encoder.derived, outputs, given, is_opened))

    def step(scope: Any, op: Any, func: Any, grad_fn: Any) -> Any:
        call = recording.local.state[0]
        if recording.local.derives:
            result = compile_maybe(scope, op, func, grad_fn)
            derived(op, result)
            return result
        if not call or recording.local.hidden:
            return compile_maybe(scope, op, func, grad_fn)
        walked, result = GradientStep(recording, call), None
        try:
            result = compile_maybe(scope, op, func, grad_fn)
            return result
        finally:
            with recording.shielded("a step in a graph"):
                outputs = [recording.id(tensor) for tensor in op.outputs]
                upstream = [
                    tensor if isinstance(tensor, private.Tensor) else None
                    for tensor in _given(grad_fn)
                ]
                walked.ran(op.type, None, (None, None, outputs), upstream, result)

    return step


def _given(grad_fn: Any) -> list[Any]:
    """The gradients that the call to come was made with: ``lambda: grad_fn(op, *out_grads)``."""
    cells = dict(zip(grad_fn.__code__.co_freevars, grad_fn.__closure__ or (), strict=False))
    cell = cells.get("out_grads")
    return list(cell.cell_contents) if cell is not None else []


def _running(recording: RecordingContext, run: Callable[..., Any]) -> Callable[..., Any]:
    ids = count(_FIRST_OWN_ID)

    @recording.guarded
    def fetched(fetches: Any, values: Any, frame: FrameType) -> None:
        pairs = []
        wanted = [leaf for _, leaf in private.flatten_with_paths(fetches)]
        got = [leaf for _, leaf in private.flatten_with_paths(values)]
        for tensor, value in zip(wanted, got, strict=False):
            symbol = recording.tensor_of(tensor)
            if symbol is None or value is None:
                continue
            if symbol is not tensor:
                symbol = tensor.graph_element if hasattr(tensor, "graph_element") else symbol
            array, number = np.asarray(value), next(ids)
            pairs.append([recording.emit_symbolic(symbol), number])
            recording.log_row((recording.encoder.array, number, array.copy()))
        if pairs:
            recording.emit({"e": "fetch", "pairs": pairs, "site": recording.here(frame)})

    def running(self: Any, fetches: Any, *args: Any, **named: Any) -> Any:
        values = run(self, fetches, *args, **named)
        if not recording.local.hidden:
            fetched(fetches, values, caller())
        return values

    return running
