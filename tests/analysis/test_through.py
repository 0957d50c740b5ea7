"""A loop that asks an eager tape for gradients through a compiled function, in; what is the same in
all of its rounds, and the edges that the gradient took inside of the function, out."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from tapeviz.analysis import diagnose
from tapeviz.analysis.backward.through import links_inside
from tapeviz.drawing import draw, group_paths
from tapeviz.recording.live import Recorder, Snippet
from tapeviz.trace import events as e
from tapeviz.trace.model import Trace
from tapeviz.trace.read import read
from tapeviz.view import View

# def f(x): return (x * 2) * stop(x), of which the second factor gets no gradient
TRACED: list[e.Event] = [
    e.Begin(1, "2.21.0", "3.11.7"),
    e.SiteSeen(1, [("<module>", 7, 0, 7, 9)]),
    e.SiteSeen(2, [("f", 2, 0, 2, 9), ("<module>", 7, 0, 7, 9)]),
    *(e.TensorSeen(symbol, "float32", []) for symbol in (-1, -2, -3, -4, -5)),
    e.BodyTraced(on=True, site=1),
    e.OpRan(1, "Mul", [-1, -5], [-2], site=2, graph=1, name="mul"),
    e.OpRan(2, "StopGradient", [-1], [-3], site=2, graph=1, name="stop"),
    e.OpRan(3, "Mul", [-2, -3], [-4], site=2, graph=1, name="mul_1"),
    e.BodyTraced(on=False, graph=1, inputs=[-1], outputs=[-4], function="f", line=1),
    e.Derived(3, [True, True]),
    e.Derived(2, [False]),
    e.Derived(1, [True, True]),
]


def _round(number: int) -> list[e.Event]:
    first, tape = 10 * number, number
    source, target, gradient = (100 * number + part for part in (1, 2, 3))
    return [
        *(e.TensorSeen(symbol, "float32", []) for symbol in (source, target, gradient)),
        e.TapeOpened(tape, site=1),
        e.TapeTurned(tape, True, "enter", site=1),
        e.Watched(tape, [source], site=1),
        e.BodiesRun([1], call=number),
        e.OpRan(first, "__forward_f_1", [source], [target], site=1),
        e.OperationRecorded(first + 1, "__inference_f_1", [source], [target], first, 1, "f", 1),
        e.TapeTurned(tape, False, "exit", site=1),
        e.CallBegan(tape, "gradient", tape, [e.RawOperand(target)], [e.RawOperand(source)], site=1),
        e.StepRan(tape, first + 1, "__inference_f_1", [gradient], [gradient]),
        e.CallEnded(tape, [gradient]),
    ]


def _trace(opened: Sequence[int]) -> Trace:
    rounds = [event for number in (1, 2, 3) for event in _round(number)]
    return read([*TRACED, *rounds, e.Ended("finished")], b"", "", "snippet.py", opened)


def test_an_opened_call_gives_its_round_no_other_shape() -> None:
    trace = _trace([10])
    assert [bool(trace.ops[call].body) for call in trace.functions[1].calls] == [True, False, True]
    (site,) = diagnose(trace).rounds.sites
    assert (len(site), site.odd_shapes) == (3, ())


def test_a_gradient_takes_the_ways_that_were_derived() -> None:
    trace = _trace([])
    (step,) = [step for step in diagnose(trace).calls[-1].steps if step.kind == "op"]
    mul, stop, product = trace.ops[trace.functions[1].calls[-1]].body
    outer, inner = trace.ops[product], trace.ops[mul]
    links = links_inside(trace, step, diagnose(trace).calls[-1].flow.gradients)
    assert links == [(outer.inputs[0], product), (outer.inputs[1], product), (301, mul)]
    assert inner.inputs[0] == 301
    assert not [op for _, op in links if op == stop]


INSIDE = {
    "loop": "for t in tf.range(4):\n            h = tf.tanh(h * w + b)",
    "function in a loop": "for t in tf.range(4):\n            h = inner(h)",
    "branch": "if tf.reduce_sum(x) > 0.0:\n            h = h * w + b\n"
    "        else:\n            h = h - b",
    "branch in a loop": "for t in tf.range(4):\n            if t > 1:\n"
    "                h = h * w + b",
}


@pytest.mark.parametrize("case", INSIDE)
def test_wires_into_a_loop_or_a_branch_carry_the_gradient(case: str, recorder: Recorder) -> None:
    text = f"""\
import tensorflow as tf
w, b = tf.Variable([0.5, 0.2]), tf.Variable([0.1, 0.1])
@tf.function
def inner(x):
    return tf.sin(x * w) + b
@tf.function
def step(x):
    with tf.GradientTape() as tape:
        h = tf.exp(x)
        {INSIDE[case]}
        loss = tf.reduce_sum(h)
    return tape.gradient(loss, [w, b])
step(tf.ones(2))
"""
    live = recorder.record(Snippet(text))
    trace = live.wait(60)
    live.release()
    folded = frozenset(group_paths(trace, View()))
    for view in (View(folded=folded), View(unfolded=folded)):
        _, scene = draw(trace, diagnose(trace), view)
        from_variables = [wire for wire in scene.wires if wire.edge[0].startswith("var:")]
        assert len({wire.edge[0] for wire in from_variables}) == 2
        assert {wire.state for wire in from_variables} == {"gradient"}


def test_the_gradient_passes_a_custom_gradient_in_a_function(recorder: Recorder) -> None:
    text = """\
import tensorflow as tf
w = tf.Variable(3.0)
@tf.custom_gradient
def clip(x):
    return tf.identity(x), lambda upstream: tf.clip_by_value(upstream, -0.1, 0.1)
@tf.function
def f(x):
    return clip(x * x) * 4.0
with tf.GradientTape() as tape:
    y = f(w)
tape.gradient(y, w)
"""
    live = recorder.record(Snippet(text))
    trace = live.wait(60)
    live.release()
    _, scene = draw(trace, diagnose(trace), View())
    titles = {box.node: box.title for box in scene.boxes}
    lit = [wire.edge for wire in scene.wires if wire.state == "gradient"]
    assert {titles[edge[0]] for edge in lit} == {"w", "x", "clip"}
    assert [titles[edge[1]] for edge in lit if titles[edge[0]] == "w"] == ["x", "x"]
