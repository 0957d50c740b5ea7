"""What a listener hears of a run under way."""

from __future__ import annotations

import pytest

from tapeviz.recording import LiveRecording, Silent, Snippet
from tapeviz.repair import repair
from tapeviz.trace.events import encode
from tapeviz.trace.model import Trace
from tests.traces import Script


class Growing(Silent):
    """Wants the traces of a run under way, and keeps how many ops each has."""

    shows_growing = True

    def __init__(self) -> None:
        self.ops: list[int] = []

    def traced(self, trace: Trace) -> None:
        self.ops.append(len(trace.ops))


def test_a_long_run_under_way_gives_no_more_traces(monkeypatch: pytest.MonkeyPatch) -> None:
    script = Script("x = tf.constant(1.0)\n")
    x = script.tensor(value=1.0)
    for _ in range(5):
        script.op("Neg", [x], line=1)
    heard = Growing()
    monkeypatch.setattr("tapeviz.recording._TRACE_EVERY", 0.0)
    monkeypatch.setattr("tapeviz.recording._PAUSES", 0)
    monkeypatch.setattr("tapeviz.recording.MOST_LIVE", 3)
    live = LiveRecording(Snippet(script.source), repair(script.source), heard)
    for event in script.events:
        live.events([encode(event)], b"")
    assert sorted(set(heard.ops)) == [0, 1, 2, 3]
