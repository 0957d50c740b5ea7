"""``tf.GradientTape``'s life in: tapes opened, turned on and off, watching, out."""

from __future__ import annotations

from collections.abc import Callable
from itertools import count
from typing import Any

from .. import private
from ..installed import Installed
from ..recording import RecordingContext, caller
from ..weak_keys import WeakKeys

# The method of GradientTape that pushes or pops the tape says why it is done.
_WHY_ON = {"__enter__": "enter", "stop_recording": "stop_recording", "reset": "reset"}
_WHY_OFF = {
    "__exit__": "exit",
    "stop_recording": "stop_recording",
    "reset": "reset",
    "gradient": "gradient",
}


class TapeRegistry:
    """Numbers the tapes, without holding them."""

    def __init__(self, recording: RecordingContext) -> None:
        self._recording = recording
        self._numbers: WeakKeys[int] = WeakKeys()
        self._next = count(1)

    def number(self, tape: Any) -> int:
        """The tape's number; a new one for a tape that was made before the run."""
        number = self._numbers.get(tape)
        if number is None:
            return self.opened(tape, {"site": 0})
        return number

    def opened(self, tape: Any, fields: dict[str, Any]) -> int:
        number = self._numbers[tape] = next(self._next)
        self._recording.emit({"e": "tape", "id": number, **fields})
        return number


def install(recording: RecordingContext, installed: Installed, tapes: TapeRegistry) -> None:
    tape = private.GradientTape
    installed.replace(tape, "__init__", lambda init: _opening(recording, tapes, init))
    installed.replace(tape, private.PUSH_TAPE, lambda push: _turning(recording, tapes, push, True))
    installed.replace(tape, private.POP_TAPE, lambda pop: _turning(recording, tapes, pop, False))
    installed.replace(tape, "watch", lambda watch: _watching(recording, tapes, watch))


def _opening(
    recording: RecordingContext, tapes: TapeRegistry, init: Callable[..., Any]
) -> Callable[..., Any]:
    @recording.guarded
    def opened(self: Any, site: int) -> None:
        fields = {
            "persistent": bool(self._persistent),
            "watches_variables": bool(self._watch_accessed_variables),
            "site": site,
        }
        tapes.opened(self, fields)

    def __init__(*args: Any, **named: Any) -> None:
        init(*args, **named)
        if not recording.local.hidden:
            opened(args[0], recording.here(caller()))

    return __init__


def _turning(
    recording: RecordingContext, tapes: TapeRegistry, turn: Callable[..., Any], on: bool
) -> Callable[..., Any]:
    reasons = _WHY_ON if on else _WHY_OFF

    @recording.guarded
    def turned(self: Any, why: str, site: int) -> None:
        number = tapes.number(self)
        thread = recording.local.state[2]
        fields = {"e": "recording", "tape": number, "on": on, "why": why, "site": site}
        recording.emit({**fields, "thread": thread} if thread else fields)

    def turning(self: Any) -> None:
        turn(self)
        if not recording.local.hidden:
            frame = caller()
            why = reasons.get(frame.f_code.co_name, "internal")
            turned(self, why, recording.here(frame))

    return turning


def _watching(
    recording: RecordingContext, tapes: TapeRegistry, watch: Callable[..., Any]
) -> Callable[..., Any]:
    @recording.guarded
    def watched(self: Any, value: Any, site: int) -> None:
        tensors = [recording.tensor_of(part) for part in private.watched_parts(value)]
        ids = [recording.id(tensor) for tensor in tensors]
        fields = {"e": "watch", "tape": tapes.number(self), "tensors": ids, "site": site}
        recording.emit(fields, tensors)

    def watching(self: Any, tensor: Any) -> None:
        watch(self, tensor)
        if not recording.local.hidden:
            watched(self, tensor, recording.here(caller()))

    return watching
