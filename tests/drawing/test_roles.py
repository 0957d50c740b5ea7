"""Targets and sources that are not found as usual: of forward mode, variables and their values."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tapeviz.analysis import diagnose
from tapeviz.drawing import draw
from tapeviz.panels.backprop.panel import call_words
from tapeviz.recording.live import Snippet
from tapeviz.scene.model import Scene
from tapeviz.trace.model import Trace
from tapeviz.view import View

if TYPE_CHECKING:
    from tapeviz.analysis.model import Diagnosis
    from tapeviz.recording.live import Recorder


def _drawn(recorder: Recorder, text: str) -> tuple[Trace, Diagnosis, Scene]:
    live = recorder.record(Snippet("import tensorflow as tf\n" + text))
    trace = live.wait(60)
    live.release()
    diagnosis = diagnose(trace)
    return trace, diagnosis, draw(trace, diagnosis, View())[1]


FORWARD = """\
w = tf.Variable([1.0, 2.0])
with tf.autodiff.ForwardAccumulator(w, tf.ones(2)) as acc:
    p = tf.tanh(w)
    y = tf.cast(tf.argmax(p), tf.float32) if {is_cut} else tf.reduce_sum(p)
acc.jvp(y)
"""


def test_forward_mode_leads_from_the_primals_to_what_was_asked_about(recorder: Recorder) -> None:
    _, diagnosis, scene = _drawn(recorder, FORWARD.format(is_cut=False))
    assert {box.title: box.ring for box in scene.boxes if box.ring} == {
        "w": "source",
        "y": "target",
    }
    assert {wire.state for wire in scene.wires} == {"gradient"}
    assert call_words(diagnosis.calls[0], "") == "line 6 · ∂y / ∂w"


def test_many_primals_and_outputs_of_forward_mode_are_all_linked(recorder: Recorder) -> None:
    _, diagnosis, scene = _drawn(
        recorder,
        "ws = [tf.Variable(float(n)) for n in range(4)]\n"
        "with tf.autodiff.ForwardAccumulator(ws, [tf.ones([])] * 4) as acc:\n"
        "    ys = [ws[0] * ws[1], ws[2] * 2.0, tf.stop_gradient(ws[3])]\n"
        "acc.jvp(ys)\n",
    )
    assert [finding.status for finding in diagnosis.calls[0].findings] == ["flows", "flows", "none"]
    titles = {box.node: box.title for box in scene.boxes}
    lit = [titles[wire.edge[0]] for wire in scene.wires if wire.state == "gradient"]
    assert sorted(lit) == ["ws[0]", "ws[1]", "ws[2]"]


def test_a_cut_of_forward_mode_is_told_at_its_source(recorder: Recorder) -> None:
    _, _, scene = _drawn(recorder, FORWARD.format(is_cut=True))
    labels = {box.title: box.ring_label for box in scene.boxes if box.ring}
    assert labels == {"w": "source · None", "y": "target"}
    assert "gradient" not in {wire.state for wire in scene.wires}


def test_a_value_read_from_a_variable_is_the_source_if_it_was_asked_about(
    recorder: Recorder,
) -> None:
    _, _, scene = _drawn(
        recorder,
        "W = tf.Variable([2.0])\nw = tf.convert_to_tensor(W)\n"
        "with tf.GradientTape() as tape:\n    tape.watch(w)\n    y = w * w\n"
        "tape.gradient(y, w)\n",
    )
    rings = {box.title: box.ring for box in scene.boxes}
    assert rings == {"W": "", "w": "source", "y": "target"}


def test_the_gradient_of_a_value_with_a_name_is_that_of_its_variable(recorder: Recorder) -> None:
    _, _, scene = _drawn(
        recorder,
        "W = tf.Variable([2.0])\nwith tf.GradientTape() as tape:\n"
        "    w = tf.convert_to_tensor(W)\n    y = w * w\ntape.gradient(y, W)\n",
    )
    assert {box.title: box.ring for box in scene.boxes} == {"W": "source", "w": "", "y": "target"}
    (first, second) = scene.wires
    assert (first.state, first.width) == (second.state, second.width)
    assert first.state == "gradient"


def test_texts_are_drawn_with_their_elements(recorder: Recorder) -> None:
    _, _, scene = _drawn(
        recorder,
        "x = tf.Variable([1.5])\nwith tf.GradientTape() as tape:\n"
        "    text = tf.strings.join([tf.strings.as_string(x), tf.constant(['0'])])\n"
        "    y = tf.strings.to_number(text)\ntape.gradient(y, x)\n",
    )
    assert "['0']" in {box.title for box in scene.boxes}


def test_a_jacobian_of_a_variable_goes_across_its_assign(recorder: Recorder) -> None:
    _, diagnosis, _ = _drawn(
        recorder,
        "p, q = tf.Variable([1.0, 2.0]), tf.Variable([0.0, 0.0])\n"
        "with tf.GradientTape() as t:\n"
        "    q.assign(p * p)\n"
        "t.jacobian(q, p)\n",
    )
    across = diagnosis.calls[0].findings[0].bridged_value
    assert across is not None
    assert across.tolist() == [[2.0, 0.0], [0.0, 4.0]]


def test_a_variable_that_is_the_target_has_the_version_of_then(recorder: Recorder) -> None:
    trace, diagnosis, scene = _drawn(
        recorder,
        "w, ema = tf.Variable(2.0), tf.Variable(0.5)\n"
        "with tf.GradientTape() as tape:\n"
        "    ema.assign(0.9 * ema + 0.1 * (3.0 * w - 1.0) ** 2)\n"
        "tape.gradient(ema, w)\n"
        "ema.assign(7.0)\n",
    )
    (finding,) = diagnosis.calls[0].findings
    assert finding.cause is not None
    assert (finding.cause.kind, finding.cause.line) == ("assign", 4)
    assert "So nothing links what ema holds back to w" in finding.message
    across = trace.value(finding.bridged)
    assert across is not None
    assert abs(float(across) - 3.0) < 1e-5
    (target,) = [box for box in scene.boxes if box.ring == "target"]
    assert (target.title, target.value) == ("ema′", "2.95")
    (into,) = [wire for wire in scene.wires if wire.edge[1] == target.node]
    assert [wire.state for wire in scene.wires if wire.edge[1] == into.edge[0]] == ["cut"]
