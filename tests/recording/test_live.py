"""What a listener hears of a run under way."""

from __future__ import annotations

import threading

import pytest

from tapeviz.kernel import RunEnd
from tapeviz.recording.live import Listener, LiveRecording, Snippet
from tapeviz.repair import repair
from tapeviz.trace.events import OpRan, encode
from tapeviz.trace.model import Trace
from tests.traces import Script
from tests.waiting import PATIENCE


class Growing(Listener):
    """Wants the traces of a run under way, and keeps how many ops each has."""

    shows_growing = True

    def __init__(self) -> None:
        self.ops: list[int] = []
        self.has_heard = threading.Event()

    def traced(self, trace: Trace) -> None:
        self.ops.append(len(trace.ops))
        self.has_heard.set()


def _run_under_way(
    heard: Growing, monkeypatch: pytest.MonkeyPatch, every: float
) -> tuple[LiveRecording, Script]:
    script = Script("x = tf.constant(1.0)\n")
    x = script.tensor(value=1.0)
    for _ in range(5):
        script.op("Neg", [x], line=1)
    monkeypatch.setattr("tapeviz.recording.live._TRACE_EVERY", every)
    monkeypatch.setattr("tapeviz.recording.live._PAUSES", 0)
    return LiveRecording(Snippet(script.source), repair(script.source), heard), script


def test_a_long_run_under_way_gives_no_more_traces(monkeypatch: pytest.MonkeyPatch) -> None:
    heard = Growing()
    live, script = _run_under_way(heard, monkeypatch, 0.0)
    monkeypatch.setattr("tapeviz.recording.live.MOST_LIVE", 3)
    ops = 0
    for event in script.events:
        heard.has_heard.clear()
        live.events([encode(event)], b"")
        ops += isinstance(event, OpRan)
        if ops <= 3:
            assert heard.has_heard.wait(PATIENCE)
        else:
            assert not _timers()
    assert sorted(set(heard.ops)) == [0, 1, 2, 3]


def test_a_run_that_waits_gives_a_trace_of_what_it_did(monkeypatch: pytest.MonkeyPatch) -> None:
    """No event comes after those that come too soon for the next trace."""
    heard = Growing()
    live, script = _run_under_way(heard, monkeypatch, 0.1)
    heard.is_busy = True
    live.events([encode(event) for event in script.events], b"")
    assert not heard.has_heard.wait(0.3)
    heard.is_busy = False
    assert heard.has_heard.wait(PATIENCE)
    assert heard.ops == [5]


def test_no_trace_is_made_after_the_end(monkeypatch: pytest.MonkeyPatch) -> None:
    live, script = _run_under_way(Growing(), monkeypatch, 60.0)
    live.events([encode(event) for event in script.events], b"")
    (timer,) = _timers()
    live.ended(RunEnd("interrupted"))
    timer.join(10)
    assert not timer.is_alive()


def _timers() -> list[threading.Thread]:
    return [thread for thread in threading.enumerate() if isinstance(thread, threading.Timer)]
