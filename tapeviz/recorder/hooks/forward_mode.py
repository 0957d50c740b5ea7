"""Record ``tf.autodiff.ForwardAccumulator``: a tape of kind ``jvp`` and its calls.

A call asks for outputs, and what comes back belongs to those: they stand as the call's sources, the
primals that were given tangents as its targets.
"""

from __future__ import annotations

from collections.abc import Callable
from types import FrameType
from typing import Any

from .. import private
from ..installed import Installed
from ..recording import RecordingContext, caller
from ..weak_keys import WeakKeys
from .calls import Calls
from .tapes import TapeRegistry


def install(
    recording: RecordingContext, installed: Installed, tapes: TapeRegistry, calls: Calls
) -> None:
    primals: WeakKeys[Any] = WeakKeys()
    accumulator = private.ForwardAccumulator
    installed.replace(accumulator, "__init__", lambda f: _opening(recording, tapes, primals, f))
    for name, on in ((private.PUSH_ACCUMULATOR, True), (private.POP_ACCUMULATOR, False)):

        def wrap(turn: Callable[..., Any], on: bool = on) -> Callable[..., Any]:
            return _turning(recording, tapes, turn, on)

        installed.replace(accumulator, name, wrap)
    if private.jvp_function:
        with recording.shielded("forward mode"):
            private.register_jvp_function(_hidden(recording, private.jvp_function))
            installed.undo(private.register_jvp_function, private.jvp_function)
    installed.replace(accumulator, "jvp", lambda f: _asking(recording, tapes, calls, primals, f))


def _hidden(recording: RecordingContext, compute: Callable[..., Any]) -> Callable[..., Any]:
    """TensorFlow derives a product's ops with tapes of its own, which are not the snippet's."""

    def jvp(*args: Any) -> Any:
        with recording.log.hiding():
            return compute(*args)

    return jvp


def _opening(
    recording: RecordingContext, tapes: TapeRegistry, known: Any, init: Callable[..., Any]
) -> Callable[..., Any]:
    @recording.guarded
    def opened(self: Any, primals: Any, tangents: Any, frame: FrameType) -> None:
        site = recording.here(frame)
        number = tapes.opened(self, {"kind": "jvp", "watches_variables": False, "site": site})
        leaves = [leaf for _, leaf in private.flatten_with_paths(primals)]
        tensors = [recording.tensor_of(leaf) for leaf in leaves]
        # A variable is known here by its handle, so that it is not kept alive.
        known[self] = tensors
        ids = [recording.id(tensor) for tensor in tensors]
        seeds = [recording.tensor_of(leaf) for _, leaf in private.flatten_with_paths(tangents)]
        given = [recording.id(tensor) for tensor in seeds] if len(seeds) == len(ids) else []
        named = [*tensors, *(seed for seed in seeds if seed is not None)]
        fields = {"tape": number, "tensors": ids, "tangents": given, "site": site}
        recording.emit({"e": "watch", **fields}, named)

    def __init__(self: Any, primals: Any, tangents: Any) -> None:
        init(self, primals, tangents)
        if not recording.local.hidden:
            opened(self, primals, tangents, caller())

    return __init__


def _turning(
    recording: RecordingContext, tapes: TapeRegistry, turn: Callable[..., Any], on: bool
) -> Callable[..., Any]:
    @recording.guarded
    def turned(self: Any, frame: FrameType) -> None:
        fields = {"tape": tapes.number(self), "on": on, "why": "enter" if on else "exit"}
        recording.emit({"e": "recording", **fields, "site": recording.here(frame)})

    def turning(self: Any) -> None:
        turn(self)
        if not recording.local.hidden:
            turned(self, caller())

    return turning


def _asking(
    recording: RecordingContext,
    tapes: TapeRegistry,
    calls: Calls,
    known: Any,
    jvp: Callable[..., Any],
) -> Callable[..., Any]:
    @recording.guarded
    def begin(self: Any, asked: Any, unconnected: Any, frame: FrameType) -> int:
        operands = {"targets": known.get(self) or [], "sources": asked}
        operands["unconnected_gradients"] = unconnected
        return calls.begin("jvp", tapes.number(self), operands, frame)

    def asking(self: Any, primals: Any, *args: Any, **named: Any) -> Any:
        if recording.local.hidden:
            return jvp(self, primals, *args, **named)
        unconnected = args[0] if args else named.get("unconnected_gradients")
        number = begin(self, primals, unconnected, caller())
        return calls.run(number, lambda: jvp(self, primals, *args, **named))

    return asking
