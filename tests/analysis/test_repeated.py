"""Equal rounds of a loop are diagnosed once, and each is told about the ops of its own."""

from __future__ import annotations

import weakref
from textwrap import dedent
from typing import TYPE_CHECKING

from tapeviz.analysis.call_facts import CallFacts
from tapeviz.analysis.diagnose import diagnose
from tapeviz.analysis.flow.dataflow import DataFlow
from tapeviz.analysis.judging import judge
from tapeviz.analysis.judging.cut_paths import CutPaths
from tapeviz.analysis.python.outside import follow
from tapeviz.text.source import SourceText
from tapeviz.trace.model import Trace

if TYPE_CHECKING:
    import pytest

    from tapeviz.recording.live import Recorder

SNIPPET = dedent(
    """
    import tensorflow as tf
    w, unused = tf.Variable([1.0, 2.0]), tf.Variable(3.0)
    c = tf.Variable([0.0, 0.0])
    for step in range(20):
        with tf.GradientTape() as tape:
            c.assign(w * 2.0)
            scale = unused * 2.0
            if step == 7:
                kept = tf.stop_gradient(w)
                loss = tf.reduce_sum(kept ** 2)
            else:
                loss = tf.reduce_sum(c ** 2)
        g = tape.gradient(loss, [w, unused])
        w.assign_sub([0.1, 0.1])
    """
).lstrip()


def test_each_round_has_the_causes_of_its_own_ops(
    recorder: Recorder, monkeypatch: pytest.MonkeyPatch
) -> None:
    from tapeviz.recording.live import Snippet

    live = recorder.record(Snippet(SNIPPET))
    trace = live.wait(60)
    live.release()
    assert trace.failure is None, trace.failure
    asked: list[str] = []
    explain = CutPaths.explain_none

    def counting(paths: CutPaths) -> object:
        asked.append("")
        return explain(paths)

    monkeypatch.setattr(CutPaths, "explain_none", counting)
    found = diagnose(trace)
    assert len(found.calls) == 20
    assert len(asked) <= 16, "of 40 findings"
    text = SourceText(trace.source)
    flow = DataFlow(trace, follow(trace).left)
    kinds = set()
    for diagnosed in found.calls:
        facts = CallFacts(trace, flow, diagnosed.call, text)
        for index, finding in enumerate(diagnosed.findings):
            source = diagnosed.call.sources[index]
            causes = judge.causes_of(facts, index, source, finding.status)
            assert (finding.cause, *finding.others) == causes
            kinds.add((finding.cause and finding.cause.kind, finding.cause and finding.cause.line))
    assert {("assign", 6), ("stop-gradient", 9), ("not-connected", 13)} <= kinds


def test_a_trace_that_was_diagnosed_is_not_held() -> None:
    trace = Trace("x = 1\n", calls=())
    assert follow(trace) is follow(trace)
    kept = weakref.ref(trace)
    del trace
    assert kept() is None
