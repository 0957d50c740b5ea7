"""Run eager calls of traced functions so that what they take in is kept, and each emits one event.

Where a later run could not compute again what a function takes in, the runtime runs a copy of it
that has further outputs (:mod:`.rerun.sources`); neither the snippet nor a message of TensorFlow's
shows it. Our op callback is not called: :mod:`.bodies` logs a call with what is kept of it.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from .. import private
from ..installed import Installed
from ..numbering import took
from ..recording import RecordingContext
from ..rerun.definitions import without_our_names
from ..rerun.sources import Tapped, tap


class Taps:
    """The copies of one run, by the names of the functions that they run in the place of."""

    def __init__(self, recording: RecordingContext) -> None:
        self._recording = recording
        self._copies: dict[bytes, Tapped | None] = {}

    def install(self, installed: Installed) -> None:
        installed.replace(private.Context, private.CALL_FUNCTION, self._calling)

    def copy_of(self, function: Any) -> Tapped | None:
        """The copy that runs in the place of a function; ``None`` if it takes nothing from outside
        that a later run could not compute again."""
        name = function.name
        if name not in self._copies:
            self._copies[name] = None
            with self._recording.shielded("what a function takes from outside"):
                self._copies[name] = tap(private.functions.definition(name))
        return self._copies[name]

    def _calling(self, call: Callable[..., Any]) -> Callable[..., Any]:
        """``Context.call_function``, by which an ``AtomicFunction`` runs."""
        recording, scopes = self._recording, private.thread_data()
        local = recording.local

        def call_function(ctx: Any, name: Any, tensor_inputs: Any, num_outputs: int) -> Any:
            running = local.running
            if running is None or running[0] != name:
                return call(ctx, name, tensor_inputs, num_outputs)
            local.running = None  # Python that it calls may call functions of its own
            copy = running[1]
            sources: Sequence[Any] = ()
            sizes: Sequence[Any] = ()
            callbacks, scopes.op_callbacks = scopes.op_callbacks, []
            try:
                if copy is None:
                    outputs = call(ctx, name, tensor_inputs, num_outputs)
                else:
                    outputs, further = tapped(call, ctx, copy, tensor_inputs, num_outputs)
                    sources = [further[place] for place in copy.order]
                    sizes = [further[place] for place in copy.sizes]
            finally:
                scopes.op_callbacks = callbacks
            is_seen = recording.on_op in callbacks
            if len(callbacks) > is_seen:
                others = [callback for callback in callbacks if callback is not recording.on_op]
                private.call_op_callbacks(others, name.decode(), tensor_inputs, outputs or ())
            local.ran = sources, sizes, is_seen
            return outputs

        def tapped(
            call: Callable[..., Any], ctx: Any, copy: Tapped, inputs: Any, count: int
        ) -> tuple[Any, Sequence[Any]]:
            try:
                found = call(ctx, copy.name.encode(), inputs, count + copy.further)
            except private.Refused as error:
                private.reword(error, without_our_names)
                raise
            took(copy.further)
            return found[:count] or None, found[count:]

        return call_function
