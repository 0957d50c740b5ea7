"""A snippet in, the findings of its gradient calls out."""

from __future__ import annotations

from textwrap import dedent
from typing import TYPE_CHECKING

from tapeviz.analysis import diagnose
from tapeviz.analysis.findings import Finding
from tapeviz.recording.live import Snippet
from tapeviz.trace.model import Trace

if TYPE_CHECKING:
    from tapeviz.recording.live import Recorder


def ask(recorder: Recorder, text: str) -> tuple[Trace, tuple[Finding, ...]]:
    """The trace, and what was found for the sources of all calls in order."""
    live = recorder.record(Snippet("import tensorflow as tf\n" + dedent(text)))
    trace = live.wait(120)
    live.release()
    assert trace.failure is None, trace.failure
    assert not trace.notes, trace.notes
    calls = diagnose(trace).calls
    return trace, tuple(finding for call in calls for finding in call.findings)
