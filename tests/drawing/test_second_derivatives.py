"""Gradients of gradients through compiled loops: the picture links both passes."""

from __future__ import annotations

import networkx as nx
import pytest

from tapeviz.analysis import diagnose
from tapeviz.drawing.arranging import arrange, compose_over, group_paths
from tapeviz.graph.model import NodeId
from tapeviz.recording.live import Recorder, Snippet
from tapeviz.scene.model import Scene
from tapeviz.view import DEFAULT_VIEW, View

LOOP = "tf.while_loop(lambda i, h: i < 4, lambda i, h: (i + 1, h * tf.sin(v)), [0, 1.0])[1]"
OUTSIDE = f"""\
import tensorflow as tf
x = tf.Variable(0.7)
@tf.function
def power(v):
    return {LOOP}
with tf.GradientTape() as outer:
    with tf.GradientTape() as inner:
        y = power(x)
    first = inner.gradient(y, x)
    loss = first * first
outer.gradient(loss, x)
"""
INSIDE = f"""\
import tensorflow as tf
x = tf.Variable(0.7)
@tf.function
def slope(v):
    with tf.GradientTape() as inner:
        y = {LOOP}
    first = inner.gradient(y, x)
    return first * first
with tf.GradientTape() as outer:
    loss = slope(x)
outer.gradient(loss, x)
"""


def drawn(recorder: Recorder, text: str, is_open: bool) -> tuple[Scene, nx.MultiDiGraph]:
    """The scene of the snippet's last gradient call, and the graph of its lit wires; with all
    groups open, or as it is first seen."""
    live = recorder.record(Snippet(text))
    trace = live.wait(60)
    live.release()
    call = trace.calls[-1].id
    groups = group_paths(trace, DEFAULT_VIEW, call) if is_open else []
    arranged = arrange(trace, View(unfolded=frozenset(groups)), call)
    assert not list(nx.isolates(arranged.graph))  # the counter of the loop
    shown = diagnose(trace).call(call)
    scene = compose_over(arranged, trace, shown, DEFAULT_VIEW.overlay)
    lit = [wire.edge for wire in scene.wires if wire.state == "gradient"]
    return scene, nx.MultiDiGraph(lit)


def box_of(scene: Scene, title: str) -> NodeId:
    return next(box.node for box in scene.boxes if box.title == title)


@pytest.mark.parametrize("is_open", [False, True])
def test_a_lit_path_leads_from_source_to_target(recorder: Recorder, is_open: bool) -> None:
    scene, lit = drawn(recorder, OUTSIDE, is_open)
    assert nx.has_path(lit, box_of(scene, "x"), box_of(scene, "loss"))
    titles = {box.title: box.subtitle for box in scene.boxes}
    assert titles["first"] == "∂power"
    assert "ZerosLike" not in titles


@pytest.mark.parametrize("is_open", [False, True])
def test_so_it_does_if_the_inner_tape_is_in_the_function(recorder: Recorder, is_open: bool) -> None:
    scene, lit = drawn(recorder, INSIDE, is_open)
    source, target = (
        next(box.node for box in scene.boxes if box.ring == ring) for ring in ("source", "target")
    )
    assert nx.has_path(lit, source, target)
    assert lit.in_degree(box_of(scene, "first")) > 0
    assert not [box for box in scene.boxes if "wrapper" in box.title + box.subtitle]
    assert not [box for box in scene.boxes if box.title.startswith("constant")]
    assert len(scene.frames) >= is_open


def test_what_a_function_keeps_for_its_backward_pass_is_one_wire(recorder: Recorder) -> None:
    scene, _ = drawn(recorder, OUTSIDE.replace(LOOP, "tf.sin(tf.exp(v) * v) * tf.tanh(v)"), True)
    ends = [wire.edge[:2] for wire in scene.wires]
    assert ends.count((box_of(scene, "y"), box_of(scene, "first"))) == 1
