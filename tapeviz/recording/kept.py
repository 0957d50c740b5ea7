"""A recording from a file: its trace, and what was computed with it, as if it were live."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import msgspec

from ..errors import TapevizError
from ..trace.compiled.opening import without_values
from ..trace.events import InsideComputed
from ..trace.ids import CallId, OpId, TensorId
from ..trace.lines import EventLines
from ..trace.model import Trace
from ..trace.read import Reader
from ..trace.stats import Array
from ..trace.stored.file import Recording

_NOT_LOOKED_INTO = (
    "this recording comes from a file, and the call was not looked into before it was saved; "
    "run the snippet to see them"
)


class KeptRecording:
    """Holds what was computed with a recording before it was saved, and nothing else.

    Raises :class:`TapevizError` for events that do not decode.
    """

    def __init__(self, recording: Recording) -> None:
        self._recording = recording
        self._opened: list[int] = []
        self._refused: list[InsideComputed] = []
        self._reader = Reader(recording.source, recording.filename)
        try:
            for event in EventLines(recording.events):
                self._reader.feed(event)
        except msgspec.MsgspecError as error:
            raise TapevizError(f"the recording is damaged: {error}") from None
        self._trace = self._read()

    def _read(self) -> Trace:
        opening = self._reader.choose(self._opened, self._refused)
        return self._reader.trace(self._recording.blob, opening, is_kept=False)

    def wait(self, timeout: float | None = None) -> Trace:
        return self._trace

    def fetch_tensor(self, tensor: TensorId) -> Array:
        value = self._trace.value(tensor)
        if value is None:
            raise TapevizError("this tensor's values are not in the recording")
        return value

    def replay(self, request: Mapping[str, Any]) -> dict[str, Array]:
        call = next(call for call in self._trace.calls if call.id == request["call"])
        found = call.shares.get(tuple(request["share"]))
        if found is None:
            raise TapevizError("a recording that was kept cannot be replayed")
        return {key: self.fetch_tensor(tensor) for key, tensor in found.items()}

    can_enter = False

    def enter(self, call: CallId, index: int) -> Trace:
        """Raises :class:`TapevizError`: the steps that the file has are in its trace."""
        raise TapevizError("the recording does not have the steps inside; run the snippet again")

    def look_into(self, op: OpId, turns: Sequence[int] = ()) -> Trace:
        """The trace with one more call of a compiled function opened (:attr:`Op.ran_as`): with the
        values of its inside if the file has them, else :attr:`Op.inside` says that it has not. The
        file has the turns of its loops that were looked at before it was saved, whichever are
        wanted."""
        if op not in self._reader.choose(self._opened, self._refused).insides:
            self._refused.append(without_values(op, _NOT_LOOKED_INTO))
        self._opened = [*(opened for opened in self._opened if opened != op), op]
        self._trace = self._read()
        return self._trace
