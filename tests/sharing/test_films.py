"""A film of a backward pass goes through the turns of compiled loops that stand open."""

from __future__ import annotations

import pytest

from tapeviz.analysis.diagnose import diagnose
from tapeviz.cli.inside import enter_steps, last_calls, with_steps_open
from tapeviz.drawing import shown_call
from tapeviz.recording.live import LiveRecording, Recorder, Snippet
from tapeviz.scene.theme import THEMES
from tapeviz.sharing.films import draw_steps
from tapeviz.trace.model import Trace
from tapeviz.trace.values import norm_of
from tapeviz.view import DEFAULT_VIEW

SOURCE = """\
import tensorflow as tf

w = tf.Variable(1.1)

@tf.function
def f(x):
    h = x
    for i in tf.range(3):
        for j in tf.range(2):
            h = tf.tanh(h * w)
        if h > 0.2:
            h = h * 2.0
        else:
            h = h - w
    return h

with tf.GradientTape() as tape:
    y = f(tf.constant(0.3))
tape.gradient(y, w)
"""


@pytest.fixture(scope="module")
def entered(recorder: Recorder) -> tuple[LiveRecording, Trace]:
    live = recorder.record(Snippet(SOURCE, "snippet.py"))
    trace = live.wait()
    return live, enter_steps(live, trace, last_calls(trace))


def test_each_step_shows_its_turns(entered: tuple[LiveRecording, Trace]) -> None:
    _, trace = entered
    diagnosis = diagnose(trace)
    shown = shown_call(diagnosis, DEFAULT_VIEW.overlay)
    assert shown is not None
    view = with_steps_open(DEFAULT_VIEW, trace, shown)
    numbers = range(1, len(shown.steps) + 1)
    drawings = draw_steps(trace, diagnosis, view, list(numbers), THEMES["light"])
    seen = set()
    for number, drawing in zip(numbers, drawings, strict=True):
        step = shown.steps[number - 1]
        turns = tuple(frame.turn - 1 for frame in drawing.scene.frames if frame.count)
        if step.turns:
            assert turns[: len(step.turns)] == step.turns
            seen.add(step.turns)
    assert seen == {(i,) for i in range(3)} | {(i, j) for i in range(3) for j in range(2)}
    assert len({drawing.scene.bounds for drawing in drawings}) == 1
    rings = [
        {box.title: box.ring for box in drawing.scene.boxes if box.ring} for drawing in drawings
    ]
    assert rings == [{"w": "source", "y": "target"}] * len(drawings)


def test_the_gradient_of_a_variable_is_shown_when_all_turns_are_summed(
    entered: tuple[LiveRecording, Trace],
) -> None:
    _, trace = entered
    diagnosis = diagnose(trace)
    shown = shown_call(diagnosis, DEFAULT_VIEW.overlay)
    assert shown is not None
    view = with_steps_open(DEFAULT_VIEW, trace, shown)
    summed = next(step.index + 1 for step in shown.steps if step.title == "Σ at w")
    before, after = draw_steps(trace, diagnosis, view, [summed - 1, summed], THEMES["light"])
    assert [box.gradient for box in before.scene.boxes if box.title == "w"] == [""]
    given = trace.value(shown.call.results[0])
    assert given is not None
    assert [box.gradient for box in after.scene.boxes if box.title == "w"] == [str(given)]


def test_the_flow_goes_through_ops_that_hand_a_gradient_on(
    entered: tuple[LiveRecording, Trace],
) -> None:
    _, trace = entered
    flow = diagnose(trace).calls[0].flow
    handing = [op for op in trace.ops.values() if op.type in ("Identity", "If") and op.inputs]
    walked = {op for _, op in flow.walked}
    assert {op.type for op in handing if op.id in walked} == {"Identity", "If"}


def test_an_edge_has_the_gradient_of_the_turn_drawn(
    entered: tuple[LiveRecording, Trace],
) -> None:
    _, trace = entered
    (call,) = diagnose(trace).calls
    last = [row for step in call.steps for row in step.passed if row.turns == (2,)]
    assert {row.title for row in last} == {"Identity", "If", "While"}
    for row in last:
        for link, gradient in row.walked:
            assert call.flow.walked[link] == norm_of(trace, gradient)
    first = [row for step in call.steps for row in step.passed if row.turns == (0,)]
    others = [(link, gradient) for row in first for link, gradient in row.walked]
    assert all(call.flow.walked[link] != norm_of(trace, gradient) for link, gradient in others)
