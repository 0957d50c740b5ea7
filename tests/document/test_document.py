"""The document without a window: a text goes in, and everything that follows comes out."""

from __future__ import annotations

import gc
import threading
import weakref
from collections.abc import Callable
from dataclasses import replace
from functools import cache, partial
from typing import Any

import pytest
from PySide6.QtCore import Qt
from pytestqt.qtbot import QtBot
from shiboken6 import isValid

from tapeviz.analysis.backward.steps import BackwardPass, Flow
from tapeviz.analysis.model import EMPTY_DIAGNOSIS, CallDiagnosis, Diagnosis
from tapeviz.document import Document
from tapeviz.document.background import Background
from tapeviz.document.inbox import MOST_PIECES, Inbox
from tapeviz.drawing import Arranged
from tapeviz.errors import TapevizError, go_on
from tapeviz.recording.live import Listener
from tapeviz.scene.model import Scene
from tapeviz.trace.calls import Call
from tapeviz.trace.ids import CallId, OpId, TensorId
from tapeviz.trace.model import EMPTY_TRACE, Trace
from tapeviz.view import View
from tests.document.sample import (
    CAUSE,
    FIX,
    SOURCE,
    SamplePipeline,
    SampleRecording,
    make_diagnosis,
    make_stages,
    make_trace,
)
from tests.waiting import PATIENCE


@pytest.fixture
def pipeline() -> SamplePipeline:
    return SamplePipeline()


@pytest.fixture
def document(qtbot: QtBot, pipeline: SamplePipeline) -> Document:
    document = Document(pipeline, make_stages())
    document.open_source(SOURCE)
    return document


def run(qtbot: QtBot, document: Document) -> None:
    """Run the document's text; returns when all is shown and none of it is being made anew."""
    made_anew = {"diagnose", "walk", "arrange", "compose"}

    def is_shown() -> bool:
        is_there = bool(document.scene.boxes) and bool(document.steps)
        return is_there and not made_anew & document.background.busy

    document.run()
    qtbot.waitUntil(is_shown)


def test_a_run_gives_trace_diagnosis_layout_and_scene(qtbot: QtBot, document: Document) -> None:
    heard: list[str] = []
    document.run_started.connect(lambda: heard.append("started"))
    document.output_added.connect(lambda stream, text: heard.append(text))
    document.run_ended.connect(lambda: heard.append("ended"))
    run(qtbot, document)
    assert heard == ["started", "None\n", "ended"]
    assert document.trace.source == SOURCE
    assert len(document.scene.boxes) == 7
    assert document.diagnosis.calls[0].findings[0].cause == CAUSE


@pytest.mark.parametrize("is_replaced", [False, True])
def test_only_the_run_of_a_fix_shows_what_was_mended(document: Document, is_replaced: bool) -> None:
    document.diagnosing.diagnosis = make_diagnosis(make_trace(), with_fix=True)
    document.showing.follow_fix(FIX)
    document.showing.begin_anew()
    if is_replaced:  # another run or text came before this one was over
        document.showing.begin_anew()
    document.showing.take(make_trace())
    assert (document.showing.mended is None) == is_replaced


def test_stages_run_again_only_for_new_inputs(
    qtbot: QtBot, document: Document, monkeypatch: pytest.MonkeyPatch
) -> None:
    run(qtbot, document)
    arranged = document.arranged
    document.stepping.go_to(2)
    document.show_bridge(True)
    document.selecting.select_nodes(frozenset(("op4",)))
    assert document.arranged is arranged
    document.change_form(direction="right")
    qtbot.waitUntil(lambda: document.arranged.layout.direction == "right")


def test_the_picture_of_the_last_run_is_not_composed_with_the_trace_of_this_one(
    qtbot: QtBot, document: Document
) -> None:
    """Ids of ops and variables are those of one run."""
    run(qtbot, document)
    stages, before, go_on = document.stages, document.trace, threading.Event()
    first, drawn = document.arranged, list[tuple[Arranged, Trace]]()

    def arrange(*asked: Any) -> Arranged:
        go_on.wait(PATIENCE)
        return stages.arrange(*asked)

    def compose(arranged: Arranged, trace: Trace, *rest: Any) -> Scene:
        drawn.append((arranged, trace))
        return stages.compose(arranged, trace, *rest)

    document.stages = replace(stages, arrange=arrange, compose=compose)
    document.run()
    qtbot.waitUntil(lambda: document.trace is not before and bool(document.diagnosis.calls))
    assert document.arranged is first
    assert not drawn
    assert document.links.node_of_tensor(next(iter(before.tensors))) is None
    go_on.set()
    qtbot.waitUntil(lambda: bool(drawn))
    assert all(arranged is not first for arranged, _ in drawn)


def test_a_new_form_waits_for_the_first_trace_of_the_run(
    qtbot: QtBot, document: Document, pipeline: SamplePipeline
) -> None:
    """At the start of a run the pane changes its size; the trace of then is still the last one."""
    run(qtbot, document)
    stages, before, asked = document.stages, document.trace, list[Trace]()

    def arrange(trace: Trace, *rest: Any) -> Arranged:
        asked.append(trace)
        return stages.arrange(trace, *rest)

    document.stages = replace(stages, arrange=arrange)
    pipeline.endless = True
    document.run()
    document.change_form(room=(400.0, 300.0))
    qtbot.waitUntil(lambda: document.runs.recording is not None and document.runs.ops == 3)
    document.stop()
    qtbot.waitUntil(lambda: document.trace is not before and bool(asked))
    assert all(trace is not before for trace in asked)
    assert document.view.room == (400.0, 300.0)


def test_an_endless_run_is_stopped(
    qtbot: QtBot, document: Document, pipeline: SamplePipeline
) -> None:
    pipeline.endless = True
    document.run()
    qtbot.waitUntil(lambda: document.runs.recording is not None and document.runs.ops == 3)
    assert document.is_running
    with qtbot.waitSignal(document.run_ended):
        document.stop()
    assert document.trace.ending.how == "stopped"


def test_a_growing_trace_is_diagnosed_while_it_grows(
    qtbot: QtBot, document: Document, pipeline: SamplePipeline, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A diagnosis that takes longer than the next part of the trace is shown all the same."""
    run(qtbot, document)
    go_on, trace = threading.Event(), document.trace
    asked: list[Trace] = []

    def diagnose(trace: Trace) -> Diagnosis:
        asked.append(trace)
        go_on.wait(PATIENCE)
        return EMPTY_DIAGNOSIS

    document.stages = replace(document.stages, diagnose=diagnose)
    monkeypatch.setattr(Document, "is_running", property(lambda _: True))
    monkeypatch.setattr("tapeviz.document.background._PAUSES", 0.01)
    parts = [replace(trace, texts={}) for _ in range(3)]
    document.runs.traced.emit(parts[0])
    qtbot.waitUntil(lambda: len(asked) == 1)
    document.runs.traced.emit(parts[1])
    document.runs.traced.emit(parts[2])
    shown: list[Trace] = []
    document.diagnosis_changed.connect(lambda: shown.append(document.trace))
    go_on.set()
    qtbot.waitUntil(lambda: document.trace is parts[2])
    assert [id(trace) for trace in asked] == [id(parts[0]), id(parts[2])]
    assert [id(trace) for trace in shown] == [id(parts[0]), id(parts[2])]


def test_strip_cards_and_picture_of_a_growing_run_are_of_one_moment(
    qtbot: QtBot, document: Document, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Without a choice the last call is shown: of each part of an endless loop another one."""
    monkeypatch.setattr(Document, "is_running", property(lambda _: True))
    monkeypatch.setattr("tapeviz.document.background._PAUSES", 0.01)
    seen: list[tuple[Trace, Trace, Call | None]] = []
    stages = document.stages

    def diagnose(trace: Trace) -> Diagnosis:
        calls = (CallDiagnosis(call, (), lambda: BackwardPass((), Flow())) for call in trace.calls)
        return Diagnosis(tuple(calls))

    def arrange(trace: Trace, view: View, call: int | None, before: Any) -> Arranged:
        assert call == trace.calls[-1].id
        return stages.arrange(trace, view, call, before)

    def compose(*inputs: Any) -> Scene:
        seen.append((inputs[1], document.trace, inputs[2].call))
        return stages.compose(*inputs)

    document.stages = replace(stages, diagnose=diagnose, arrange=arrange, compose=compose)
    whole = make_trace()
    parts = [
        replace(whole, calls=tuple(replace(whole.calls[0], id=CallId(n)) for n in range(count)))
        for count in (2, 4, 6)
    ]
    for part in parts:
        document.runs.traced.emit(part)
        qtbot.waitUntil(lambda part=part: document.trace is part)
        assert document.current_call is not None
        assert document.current_call.call is part.calls[-1]
        # Scenes are composed in the background, which may not have begun.
        qtbot.waitUntil(lambda part=part: bool(seen) and seen[-1][0] is part)
        assert seen[-1] == (part, part, part.calls[-1])
    assert all(drawn is shown and call is drawn.calls[-1] for drawn, shown, call in seen)


def test_no_further_trace_is_taken_while_one_is_diagnosed(
    qtbot: QtBot, document: Document, pipeline: SamplePipeline
) -> None:
    run(qtbot, document)
    go_on, trace = threading.Event(), document.trace
    pipeline.endless = True
    document.run()
    qtbot.waitUntil(lambda: document.runs.recording is not None and document.runs.ops == 3)
    inbox = document.findChildren(Inbox)[-1]
    assert not inbox.is_busy
    diagnosed = document.stages.diagnose

    def diagnose(trace: Trace) -> Diagnosis:
        go_on.wait(PATIENCE)
        return diagnosed(trace)

    document.stages = replace(document.stages, diagnose=diagnose)
    document.runs.traced.emit(replace(trace, texts={}))
    assert inbox.is_busy
    go_on.set()
    qtbot.waitUntil(lambda: not inbox.is_busy)
    document.stop()


def test_what_is_made_from_a_part_of_the_trace_is_given_up_when_the_snippet_is_over(
    qtbot: QtBot, document: Document, monkeypatch: pytest.MonkeyPatch
) -> None:
    run(qtbot, document)
    go_on = threading.Event()

    def diagnose(trace: Trace) -> Diagnosis:
        go_on.wait(PATIENCE)
        return EMPTY_DIAGNOSIS

    document.stages = replace(document.stages, diagnose=diagnose)
    monkeypatch.setattr(Document, "is_running", property(lambda _: True))
    document.runs.traced.emit(replace(document.trace, texts={}))
    assert "grow" in document.background.busy
    document.runs.finished.emit()
    assert "grow" not in document.background.busy
    go_on.set()
    qtbot.wait(50)
    assert document.diagnosis is not EMPTY_DIAGNOSIS


def test_the_answer_of_an_old_run_is_dropped(
    qtbot: QtBot, document: Document, pipeline: SamplePipeline
) -> None:
    pipeline.endless = True
    document.run()
    qtbot.waitUntil(lambda: len(pipeline.recordings) == 1)
    pipeline.endless = False
    document.text.edit("pass\n" + SOURCE)
    run(qtbot, document)
    qtbot.waitUntil(pipeline.recordings[0].stopped.is_set)
    qtbot.wait(50)
    assert document.trace.source.startswith("pass")


def test_a_run_that_cannot_begin_says_why(
    qtbot: QtBot, document: Document, pipeline: SamplePipeline
) -> None:
    pipeline.error = TapevizError("no kernel here")
    with qtbot.waitSignal(document.run_ended):
        document.run()
    assert document.trouble == "no kernel here"


def test_a_bug_is_reported_and_the_window_lives(
    qtbot: QtBot, document: Document, pipeline: SamplePipeline
) -> None:
    pipeline.error = ZeroDivisionError("a bug")
    with qtbot.waitSignal(document.failed):
        document.run()
    assert "a bug" in document.trouble
    pipeline.error = None
    run(qtbot, document)


def test_line_node_and_step_are_linked_both_ways(qtbot: QtBot, document: Document) -> None:
    run(qtbot, document)
    document.selecting.select_nodes(frozenset(("op5",)))
    assert document.selection.line == 7
    assert document.selection.tensor == 6
    document.selecting.select_line(5)
    assert document.selection.nodes == {"op1", "x1"}
    document.stepping.go_to(3)
    assert document.selection.nodes == {"op3"}
    assert document.selection.line == 6
    document.selecting.select_nodes(frozenset(("op5",)))
    assert document.stepping.to_selection()
    assert document.step == 1
    document.selecting.show_cause(CAUSE)
    assert document.selection.nodes == {"patch", "op1"}


def test_steps_stay_in_their_bounds(qtbot: QtBot, document: Document) -> None:
    run(qtbot, document)
    assert document.step is None
    document.stepping.back()
    assert document.step == 4
    document.stepping.last()
    document.stepping.forward()
    assert document.step == 5
    document.stepping.first()
    document.stepping.back()
    document.stepping.back()
    assert document.step == 0
    assert not any(wire.is_lit for wire in document.scene.wires)
    document.stepping.go_to(4)
    assert document.selection.tensor == 3
    assert document.links.gradient_of(TensorId(3)) == 15


def test_a_selected_line_follows_the_text(qtbot: QtBot, document: Document) -> None:
    run(qtbot, document)
    document.text.edit("# new\n" + SOURCE)
    assert document.is_stale
    assert document.text.line_now(7) == 8
    assert document.text.line_then(8) == 7
    document.selecting.select_line(8)
    assert document.selection.nodes == {"op5"}
    assert document.selection.line == 7


def test_a_large_scene_is_composed_in_the_background(
    qtbot: QtBot, document: Document, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("tapeviz.document.picturing.SMALL", 3)
    run(qtbot, document)
    document.stepping.go_to(1)
    qtbot.waitUntil(lambda: sum(wire.is_lit for wire in document.scene.wires) == 1)


def test_a_scene_with_much_inside_is_composed_in_the_background(
    qtbot: QtBot, document: Document, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("tapeviz.document.picturing.FEW_INSIDE", -1)
    composed: list[bool] = []
    compose = document.stages.compose

    def noted(*inputs: Any) -> Scene:
        composed.append(threading.current_thread() is threading.main_thread())
        return compose(*inputs)

    monkeypatch.setattr(document, "stages", replace(document.stages, compose=noted))
    run(qtbot, document)
    assert composed == [False] * len(composed) != []
    composed.clear()
    document.stepping.go_to(1)  # the same graph and call: at once
    assert composed[0]
    document.show_bridge(not document.view.overlay.show_bridge)
    assert "compose" in document.background.busy


def test_a_diagnosis_that_comes_before_its_graph_is_composed_with_it(
    qtbot: QtBot, document: Document, monkeypatch: pytest.MonkeyPatch
) -> None:
    document.fix_trials.is_on = False
    run(qtbot, document)
    qtbot.waitUntil(lambda: not document.background.busy)
    stages, go_on, composed = document.stages, threading.Event(), list[Any]()

    def arrange(*inputs: Any) -> Any:
        go_on.wait(PATIENCE)
        return stages.arrange(*inputs)

    def compose(*inputs: Any) -> Scene:
        composed.append(inputs[1])
        return stages.compose(*inputs)

    monkeypatch.setattr(document, "stages", replace(stages, arrange=arrange, compose=compose))
    trace = replace(document.trace)
    with qtbot.waitSignal(document.diagnosis_changed):
        document.showing.take(trace)
    qtbot.waitUntil(lambda: "diagnose" not in document.background.busy)
    assert composed == []
    go_on.set()
    with qtbot.waitSignal(document.scene_changed):
        pass
    assert composed == [trace]


def test_work_that_another_replaces_ends_where_it_asks(qtbot: QtBot) -> None:
    background, go, passed, results = Background(), threading.Event(), list[str](), list[str]()
    failures: list[object] = []
    background.failed.connect(lambda kind, error: failures.append(error))

    def first() -> str:
        go_on()
        passed.append("begun")
        go.wait(PATIENCE)
        go_on()
        passed.append("not reached")
        return "first"

    background.submit("arrange", first, results.append)
    qtbot.waitUntil(lambda: passed == ["begun"])
    background.submit("arrange", lambda: "second", results.append)
    go.set()
    qtbot.waitUntil(lambda: not background.busy)
    assert (passed, results, failures) == (["begun"], ["second"], [])
    go_on()  # outside of the background nothing ends


def test_queued_work_replaces_none(qtbot: QtBot) -> None:
    background, go, results = Background(), threading.Event(), list[str]()

    def first() -> str:
        go.wait(PATIENCE)
        go_on()
        return "first"

    background.queue("export", first, results.append)
    background.queue("export", lambda: "second", results.append)
    background.queue("export", lambda: "third", results.append)
    go.set()
    qtbot.waitUntil(lambda: not background.busy)
    assert results == ["first", "second", "third"]
    go.clear()
    background.queue("export", first, results.append)
    background.queue("export", lambda: "dropped", results.append)
    background.drop("export")
    background.queue("export", lambda: "last", results.append)
    go.set()
    qtbot.waitUntil(lambda: not background.busy)
    assert results == ["first", "second", "third", "last"]


def test_what_replaced_work_had_made_is_freed_without_a_collection(qtbot: QtBot) -> None:
    """The window collects cyclic garbage seldom, and a trace has hundreds of megabytes."""
    background, go, made = Background(), threading.Event(), list[weakref.ref[Any]]()

    def work() -> None:
        large = threading.Event()  # anything that can be referred to weakly
        made.append(weakref.ref(large))
        go.wait(PATIENCE)
        go_on()

    gc.disable()
    background.submit("arrange", work, lambda _: None)
    qtbot.waitUntil(lambda: bool(made))
    background.submit("arrange", lambda: None, lambda _: None)
    go.set()
    qtbot.waitUntil(lambda: not background.busy and made[0]() is None)


def test_computing_tasks_come_one_after_the_other_unless_nobody_waits_for_one(
    qtbot: QtBot,
) -> None:
    background, go, order = Background(), threading.Event(), list[str]()

    def diagnose() -> None:
        order.append("diagnosis")
        go.wait(PATIENCE)
        order.append("diagnosed")

    background.submit("diagnose", diagnose, lambda _: None)
    qtbot.waitUntil(lambda: bool(order))
    background.submit("arrange", lambda: order.append("arranged"), lambda _: None)
    background.submit("export", lambda: order.append("exported"), lambda _: None)
    qtbot.waitUntil(lambda: background.busy == {"diagnose", "arrange"})
    assert order == ["diagnosis", "exported"]
    go.set()
    qtbot.waitUntil(lambda: not background.busy)
    assert order == ["diagnosis", "exported", "diagnosed", "arranged"]
    go.clear()
    background.submit("diagnose", diagnose, lambda _: None)
    background.submit("arrange", lambda: order.append("again"), lambda _: None)
    qtbot.waitUntil(lambda: order[-1] == "diagnosis")
    background.drop("diagnose")
    qtbot.waitUntil(lambda: not background.busy)
    assert order[-2:] == ["diagnosis", "again"]
    go.set()
    assert background.close(5)  # the thread that was given up uses it until its end


@pytest.mark.parametrize(("most", "first"), [(1_000, "diagnose"), (0, "arrange")])
def test_the_shorter_work_comes_first(
    qtbot: QtBot, document: Document, monkeypatch: pytest.MonkeyPatch, most: int, first: str
) -> None:
    document.fix_trials.is_on = False
    run(qtbot, document)
    qtbot.waitUntil(lambda: not document.background.busy)
    monkeypatch.setattr("tapeviz.document.showing.MANY_ASKED", most)
    stages, order = document.stages, list[str]()

    def noted(name: str, *inputs: Any) -> Any:
        order.append(name)
        return getattr(stages, name)(*inputs)

    names = ("diagnose", "arrange")
    noting: Any = {name: partial(noted, name) for name in names}
    monkeypatch.setattr(document, "stages", replace(stages, **noting))
    document.showing.take(replace(document.trace))
    qtbot.waitUntil(lambda: not document.background.busy)
    assert order == sorted(names, key=lambda name: name != first)


def test_a_long_backward_pass_is_worked_out_after_the_picture(
    qtbot: QtBot, document: Document, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("tapeviz.document.diagnosing._is_long", lambda call: True)
    shown: list[tuple[bool, bool, int]] = []

    def note() -> None:
        call = document.current_call
        if call is not None:
            is_drawn = bool(document.arranged.layout.rects)
            shown.append((is_drawn, call.is_pending, len(document.steps)))

    document.diagnosis_changed.connect(note)
    run(qtbot, document)
    qtbot.waitUntil(lambda: not document.background.busy)
    steps = len(document.steps)
    assert steps > 0
    assert shown[:2] == [(False, True, 0), (True, False, steps)]
    assert document.scene.wires


def test_what_is_folded_away_is_indexed_in_the_background(
    qtbot: QtBot, document: Document, monkeypatch: pytest.MonkeyPatch
) -> None:
    indexed: list[bool] = []

    def noted(arranged: Any) -> dict[str, str]:
        indexed.append(threading.current_thread() is threading.main_thread())
        return {"inner": "op5"}

    monkeypatch.setattr("tapeviz.document.picturing.groups_in", noted)
    monkeypatch.setattr("tapeviz.document.links.groups_in", noted)
    monkeypatch.setattr("tapeviz.document.links.op_id", lambda op: "inner")
    run(qtbot, document)
    assert document.links.node_of_op(OpId(999)) == "op5"
    assert indexed == [False] * len(indexed) != []


@pytest.mark.parametrize(("seconds", "pause"), [(0.5, 1.5), (2.0, 6.0)])
def test_optional_work_gets_a_quarter_of_the_time(
    qtbot: QtBot, monkeypatch: pytest.MonkeyPatch, seconds: float, pause: float
) -> None:
    background = Background()
    now = [100.0]
    monkeypatch.setattr("tapeviz.document.background.time.monotonic", lambda: now[0])

    def work() -> None:
        now[0] += seconds

    assert background.pause_before("grow") <= 0
    background.submit("grow", work, lambda _: None)
    qtbot.waitUntil(lambda: not background.busy)
    now[0] = 100.0 + seconds
    assert background.pause_before("grow") == pytest.approx(pause)
    assert background.pause_before("diagnose") <= 0
    now[0] += pause
    assert background.pause_before("grow") <= 0
    now[0] = 101.0 + seconds
    background.forget_times()
    assert background.pause_before("grow") <= 0


def test_the_backward_pass_is_worked_out_in_the_background(
    qtbot: QtBot, document: Document, monkeypatch: pytest.MonkeyPatch
) -> None:
    threads: list[threading.Thread] = []
    diagnose = document.stages.diagnose

    def noted(trace: Trace) -> Diagnosis:
        @cache
        def backward_pass(known: Callable[[], BackwardPass]) -> BackwardPass:
            threads.append(threading.current_thread())
            return known()

        found = diagnose(trace)
        calls = (
            replace(call, backward_pass=partial(backward_pass, call.backward_pass))
            for call in found.calls
        )
        return replace(found, calls=tuple(calls))

    monkeypatch.setattr(document, "stages", replace(document.stages, diagnose=noted))
    run(qtbot, document)
    assert len(document.steps) == 5
    assert threads
    assert threading.main_thread() not in threads


def test_values_are_fetched_from_the_run(
    qtbot: QtBot, document: Document, pipeline: SamplePipeline
) -> None:
    trace = make_trace()
    inside = TensorId(1 << 52)  # as the tensors inside of opened calls are numbered
    known = {**trace.tensors, inside: trace.tensors[TensorId(5)]}
    pipeline.trace = replace(trace, places={}, tensors=known)
    run(qtbot, document)
    for tensor in (TensorId(5), inside):
        assert document.values.value_of(tensor) is None
        pipeline.recordings[-1].fetched[tensor] = 42
        qtbot.waitUntil(lambda: document.runs._recording is not None)
        with qtbot.waitSignal(document.values.fetched) as emitted:
            assert document.values.fetch(tensor)
        assert emitted.args == [tensor]
        assert document.values.value_of(tensor) == 42
    assert not document.values.fetch(TensorId(999))


def test_a_new_text_forgets_the_old_picture(qtbot: QtBot, document: Document) -> None:
    run(qtbot, document)
    document.open_source("y = 1\n")
    assert document.scene.boxes == ()
    assert document.steps == ()


def test_every_way_to_a_gradient_is_known(qtbot: QtBot, document: Document) -> None:
    run(qtbot, document)
    assert document.links.gradient_of(TensorId(4)) == 13
    assert document.links.gradient_of(TensorId(6)) == 10
    assert document.links.gradient_of(TensorId(1)) is None
    assert document.links.bridged_of(TensorId(2)) == 16
    assert document.links.bridged_of(TensorId(1)) is None


def test_fixes_come_after_the_picture(
    qtbot: QtBot, document: Document, pipeline: SamplePipeline
) -> None:
    run(qtbot, document)
    qtbot.waitUntil(lambda: bool(document.diagnosis.calls[0].findings[0].fixes))
    assert pipeline.tried == 1
    assert document.fix_trials.tried == (1, 1)
    document.fix_trials.is_on = False
    document.run()
    qtbot.waitUntil(lambda: not document.is_running and not document.background.busy)
    assert pipeline.tried == 1
    assert document.diagnosis.calls[0].findings[0].fixes == ()


def test_a_new_run_stops_the_trials(
    qtbot: QtBot, document: Document, pipeline: SamplePipeline, monkeypatch: pytest.MonkeyPatch
) -> None:
    import time

    heard: list[bool] = []
    has_begun = threading.Event()

    def slow(trace: object, diagnosis: object, note: object, should_stop: object) -> object:
        has_begun.set()
        begin = time.monotonic()
        while not should_stop() and time.monotonic() - begin < 10:  # type: ignore[operator]
            time.sleep(0.01)
        heard.append(should_stop())  # type: ignore[operator]
        return diagnosis

    monkeypatch.setattr(pipeline, "try_fixes", slow)
    run(qtbot, document)
    qtbot.waitUntil(has_begun.is_set)
    document.run()
    qtbot.waitUntil(lambda: heard[:1] == [True])
    document.open_source("")


def test_closed_background_work_is_waited_for_and_never_delivered(qtbot: QtBot) -> None:
    background, has_begun, go, answers = Background(), threading.Event(), threading.Event(), []

    def slow() -> bool:
        has_begun.set()
        return go.wait(PATIENCE)

    background.submit("slow", slow, answers.append)
    assert has_begun.wait(PATIENCE)
    background.submit("slow", lambda: "later", answers.append)
    assert not background.close(0.0)
    go.set()
    assert background.close(5.0)
    background.submit("other", lambda: "too late", answers.append)
    qtbot.wait(20)
    assert answers == []


class Flood(SamplePipeline):
    """Reports progress without end, on threads of its own, whether anybody wants it or not."""

    def __init__(self) -> None:
        super().__init__()
        self.over = threading.Event()
        self.threads: list[threading.Thread] = []
        self.listeners: list[Listener] = []

    def record(self, source: str, filename: str, listener: Listener) -> SampleRecording:
        self.listeners.append(listener)
        self.threads.append(threading.Thread(target=self._flood, args=(listener,)))
        self.threads[-1].start()
        return SampleRecording()

    def _flood(self, listener: Listener) -> None:
        number = 0
        while not self.over.is_set():
            number += 1
            listener.progressed(number)


def test_runs_that_were_given_up_may_go_on_reporting(qtbot: QtBot) -> None:
    """Their inboxes must outlive them: one that was deleted under a report crashed the process."""
    pipeline = Flood()
    document = Document(pipeline, make_stages())
    document.open_source(SOURCE)
    try:
        for _ in range(12):
            document.run()
            qtbot.wait(30)
        document.runs.forget()
        qtbot.wait(30)
        assert pipeline.listeners
        assert all(isValid(inbox) for inbox in pipeline.listeners)
    finally:
        pipeline.over.set()
        for thread in pipeline.threads:
            thread.join()


def test_output_in_very_many_pieces_comes_whole_and_in_order(qtbot: QtBot) -> None:
    inbox, batches = Inbox(3), []
    inbox.arrived.connect(lambda: batches.append(inbox.take()), Qt.ConnectionType.QueuedConnection)
    wanted = [(stream, f"{n}\n") for n in range(MOST_PIECES) for stream in ("stdout", "stderr")]
    for piece in wanted:
        inbox.printed(*piece)
    inbox.ended(EMPTY_TRACE)
    qtbot.waitUntil(lambda: bool(batches) and batches[-1].has_ended)
    assert [piece for batch in batches for piece in batch.printed] == wanted
    assert [batch.has_ended for batch in batches] == [False, True]
    inbox.printed("stdout", "a")
    inbox.printed("stdout", "b")
    assert inbox.take().printed == (("stdout", "ab"),)


def test_what_is_selected_goes_with_the_call_that_it_was_in(qtbot: QtBot) -> None:
    document = Document(SamplePipeline(), make_stages())
    document.open_source(SOURCE)
    document.run()
    qtbot.waitUntil(lambda: bool(document.scene.boxes and document.steps))
    document.stepping.forward()
    assert document.selection.nodes
    kept = document.selection
    document.picturing.take_arranged(document.arranged)
    assert document.selection == kept
    gone = TensorId(4711)
    document.selecting.selection = replace(kept, tensor=gone, nodes=frozenset({"op:4711"}))
    document.picturing.take_arranged(document.arranged)
    assert not document.selection.nodes
    assert document.selection.tensor is None


def test_another_text_takes_the_words_about_the_last_one_away(document: Document) -> None:
    document.complain("it could not be done")
    document.open_source("x = 1\n")
    assert (document.trouble, document.is_troubled) == ("", False)
