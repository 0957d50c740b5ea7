"""Keep what eager calls of traced functions take in that a later run could not compute again.

The runtime runs a copy of the function that has further outputs (:mod:`.rerun.sources`); neither
the snippet nor a message of TensorFlow's shows it.
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

    def run(
        self, call: Callable[[], Any], function: Any, copy: Tapped
    ) -> tuple[Any, Sequence[Any]]:
        """Run ``call``, which calls ``function``; return its result and the sources, in order."""
        local = self._recording.local
        local.tapped, local.sources = (function.name, copy), ()
        try:
            outputs = call()
        finally:
            local.tapped = None
        return outputs, [local.sources[place] for place in copy.order] if local.sources else ()

    def _calling(self, call: Callable[..., Any]) -> Callable[..., Any]:
        """``Context.call_function``, by which an ``AtomicFunction`` runs."""
        local = self._recording.local

        def call_function(ctx: Any, name: Any, tensor_inputs: Any, num_outputs: int) -> Any:
            tapped = local.tapped
            if tapped is None or tapped[0] != name:
                return call(ctx, name, tensor_inputs, num_outputs)
            local.tapped = None  # Python that it calls may call functions of its own
            copy = tapped[1]
            try:
                with private.without_op_callbacks() as callbacks:
                    found = call(ctx, copy.name.encode(), tensor_inputs, num_outputs + copy.further)
            except private.Refused as error:
                private.reword(error, without_our_names)
                raise
            outputs = found[:num_outputs]
            local.sources = found[num_outputs:]
            took(copy.further)
            private.tell_op_callbacks(callbacks, name.decode(), tensor_inputs, outputs)
            return outputs or None

        return call_function
