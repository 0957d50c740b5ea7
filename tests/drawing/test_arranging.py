from __future__ import annotations

from collections import Counter
from dataclasses import replace

import pytest

from tapeviz.analysis.diagnose import diagnose
from tapeviz.drawing import Arranged, arrange, compose_over, draw, shown_call
from tapeviz.drawing.first_view import shown_scale
from tapeviz.errors import Superseded, unless
from tapeviz.graph.trace_index import NOTHING_CAME_BACK, TraceIndex
from tapeviz.graph.union import frames_in
from tapeviz.layout.model import Rect
from tapeviz.recording.live import Recorder, Snippet
from tapeviz.scene.model import Overlay
from tapeviz.scene.sizes import LEGIBLE
from tapeviz.trace.calls import Call, tensors_of
from tapeviz.trace.ids import TensorId
from tapeviz.trace.model import EMPTY_TRACE, Trace
from tapeviz.view import DEFAULT_VIEW, View

from ..graph.test_build import slice_assign
from ..graph.test_fold import recurrent
from ..traces import Script


def test_a_trace_becomes_a_scene_with_its_cut() -> None:
    trace = slice_assign().trace()
    arranged, scene = draw(trace, diagnose(trace), DEFAULT_VIEW)
    assert {box.node for box in scene.boxes} == set(arranged.graph) == set(arranged.layout.rects)
    assert [mark.kind for mark in scene.marks] == ["scissors"]
    cut = [wire for wire in scene.wires if wire.state == "cut"]
    assert [arranged.graph.nodes[wire.edge[0]]["node"].title for wire in cut] == ["patch"]


def test_the_overlay_moves_nothing() -> None:
    trace = slice_assign().trace()
    diagnosis = diagnose(trace)
    arranged = arrange(trace, DEFAULT_VIEW)
    overlay = Overlay(selected_nodes=frozenset(list(arranged.graph)[:2]), step=0)
    shown = shown_call(diagnosis, overlay)
    plain = compose_over(arranged, trace, shown, Overlay())
    selected = compose_over(arranged, trace, shown, overlay)
    assert [box.rect for box in plain.boxes] == [box.rect for box in selected.boxes]
    assert sum(box.is_selected for box in selected.boxes) == 2


def test_a_large_trace_is_one_turn() -> None:
    trace = recurrent(600)
    arranged, scene = draw(trace, diagnose(trace), DEFAULT_VIEW)
    assert len(scene.boxes) == len(arranged.graph) == 5
    (frame,) = scene.frames
    assert (frame.turn, frame.count) == (600, 600)
    inside = [box.rect for box in scene.boxes if arranged.graph.nodes[box.node]["frame"]]
    assert len(inside) == 3
    for rect in inside:
        assert frame.rect.left < rect.left < rect.right < frame.rect.right
        assert frame.rect.top < rect.top < rect.bottom < frame.rect.bottom
    (back,) = (wire for wire in scene.wires if wire.is_carried)
    assert back.points[0][1] > back.points[-1][1]


def test_directions_groupings_and_everything() -> None:
    trace = slice_assign().trace()
    diagnosis = diagnose(trace)
    for view in (
        View(direction="right"),
        View(grouping="line"),
        View(shows_all=True),
        replace(DEFAULT_VIEW, overlay=Overlay(call=trace.calls[0].id, show_bridge=True)),
    ):
        arranged, scene = draw(trace, diagnosis, view)
        assert len(scene.boxes) == len(arranged.graph) > 3


def test_nothing_ran_nothing_is_drawn() -> None:
    arranged, scene = draw(EMPTY_TRACE, diagnose(EMPTY_TRACE), DEFAULT_VIEW)
    assert len(arranged.graph) == 0
    assert scene.boxes == ()


def test_a_model_is_opened_where_its_name_alone_would_say_little() -> None:
    script = Script("import tensorflow as tf\nloss = model(x)\n")
    variable = script.variable("x", value=1.0, line=1)
    tape = script.tape(line=2)
    value = script.read(variable, line=2)
    curves = ("Sin", "Cos", "Tan", "Sinh", "Cosh", "Tanh", "Asin", "Exp", "Log", "Sqrt", "Erf")
    for kind in (*curves, "Relu", "Elu", "Selu"):
        value = script.op(kind, [value], line=2, scope="model")
    loss = script.op("Square", [value], line=2, name="loss", value=1.0)
    script.exit(tape)
    with script.call(tape, [loss], [variable], line=2) as results:
        results.append(script.tensor(value=1.0))
    trace = script.trace()
    for side, boxes in ((1000.0, 16), (220.0, 8), (150.0, 3)):
        assert len(arrange(trace, View(room=(side, side))).graph) == boxes, side


def test_a_first_view_holds_as_many_boxes_as_can_be_read() -> None:
    """No number of boxes between those that can be read and those that cannot is left out. The
    source is in a group, of 9 boxes, where no picture with a box for it can be read."""
    script = Script("".join(f"class {name}:\n    def call(self, x): pass\n" for name in "ABCD"))
    variable = script.variable("x", value=1.0, line=1)
    tape = script.tape(line=1)
    value = script.read(variable, line=1)
    for number, name in enumerate(("a", "b", "c", "d")):
        for kind in ("Sin", "Cos", "Tan", "Exp", *("Log",) * (4 * number)):
            value = script.op(kind, [value], line=2 + 2 * number, scope=name)
    loss = script.op("Square", [value], line=1, name="loss", value=1.0)
    script.exit(tape)
    with script.call(tape, [loss], [variable], line=1) as results:
        results.append(script.tensor(value=1.0))
    trace = script.trace()
    counts = {
        len(arrange(trace, View(room=(300.0, height))).graph) for height in range(200, 900, 40)
    }
    assert counts == {9, 10, 14, 17, 21, 24}


def test_sources_are_folded_where_they_leave_room_for_the_name_of_their_model_alone() -> None:
    script = Script("import tensorflow as tf\n")
    weights = [script.variable(f"w{number}", value=1.0, line=1) for number in range(8)]
    tape = script.tape(line=2)
    value = script.read(weights[0], line=2)
    for number, weight in enumerate(weights[1:]):
        value = script.op("Mul", [value, script.read(weight, line=2)], line=2, scope="model")
        value = script.op(("Sin", "Cos")[number % 2], [value], line=2, scope="model")
    loss = script.op("Square", [value], line=3, name="loss", value=1.0)
    script.exit(tape)
    with script.call(tape, [loss], weights, line=5) as results:
        results += [script.tensor(value=1.0) for _ in weights]
    trace = script.trace()
    for side, sources, flat in ((800.0, 8, 0), (350.0, 8, 8), (310.0, 0, 0)):
        arranged = arrange(trace, View(room=(side, side)))
        nodes = [node for _, node in arranged.graph.nodes(data="node")]
        roles = Counter(node.role for node in nodes)
        assert roles["variable"] == sources
        assert sum(node.is_flat for node in nodes) == flat
        assert roles["op"] + roles["group"] >= 8
        assert shown_scale(arranged.layout, (side, side)) >= LEGIBLE


def test_sources_that_leave_no_room_are_folded_unless_they_get_no_gradient() -> None:
    script = Script("import tensorflow as tf\n")
    weights = [script.variable(f"w{number}", value=1.0, line=1) for number in range(6)]
    tape = script.tape(line=2)
    value = script.op("AddN", [script.read(w, line=2) for w in weights[:4]], line=2, scope="model")
    for kind in ("Sin", "Cos", "Tan", "Exp"):
        value = script.op(kind, [value], line=2, scope="model")
    lost = script.op("AddN", [script.read(w, line=3) for w in weights[4:]], line=3)
    lost = script.op("StopGradient", [lost], line=3)
    loss = script.op("Add", [value, lost], line=4, name="loss", value=1.0)
    script.exit(tape)
    with script.call(tape, [loss], weights, line=5) as results:
        results += [script.tensor(value=1.0) for _ in range(4)] + [0, 0]
    trace = script.trace()
    for side, sources in ((450.0, 6), (240.0, 2)):
        arranged = arrange(trace, View(room=(side, side)))
        nodes = [node for _, node in arranged.graph.nodes(data="node")]
        assert sum(node.role == "variable" for node in nodes) == sources
        assert shown_scale(arranged.layout, (side, side)) >= LEGIBLE


def test_a_picture_that_another_replaces_is_not_finished(monkeypatch: pytest.MonkeyPatch) -> None:
    """Each of its long parts is the last one then."""
    trace = recurrent(20)
    for wanted in range(1, 10):
        asked = iter([False] * (wanted - 1) + [True])
        laid_out: list[object] = []
        keep = laid_out.append
        monkeypatch.setattr("tapeviz.drawing.arranging.placed", lambda *given: keep(given))  # noqa: B023
        with unless(lambda: next(asked)), pytest.raises(Superseded):  # noqa: B023
            arrange(trace, DEFAULT_VIEW)
        assert not laid_out
    for wanted in range(1, 4):
        asked = iter([False] * (wanted - 1) + [True])
        with unless(lambda: next(asked)), pytest.raises(Superseded):  # noqa: B023
            diagnose(trace)


def rounds(*programs: tuple[str, ...]) -> Trace:
    """Rounds of one call; each program lists ops of a ``block`` and, from line 20 on, of lines."""
    s = Script()
    for program in programs:
        tape = s.tape(line=3)
        x = s.variable("x", value=1.0, line=1)
        out = s.read(x, line=4)
        for line, kind in enumerate(("Sin", "Cos", "Exp", "Tanh", "Square", "Abs"), 5):
            out = s.op(kind, [out], line=line, scope="block")
        for kind in program:
            out = s.op(kind, [out], line=20 + len(kind))
        s.exit(tape)
        with s.call(tape, [out], [x], line=30) as results:
            results.append(s.tensor(value=1.0))
    return s.trace()


def test_a_round_of_another_shape_leaves_the_boxes_where_they_are() -> None:
    trace = rounds(("Neg", "Mean"), ("Neg", "Scale3", "Mean"), ("Neg", "Mean"))
    first, odd, last = (call.id for call in trace.calls)
    shown = arrange(trace, DEFAULT_VIEW, odd)
    other = arrange(trace, DEFAULT_VIEW, first, shown)
    kept = arrange(trace, DEFAULT_VIEW, last, other)
    again = arrange(trace, DEFAULT_VIEW, odd, kept)

    def places(arranged: Arranged) -> dict[str, Rect]:
        nodes = arranged.graph.nodes(data="node")
        return {node.title: arranged.layout.rects[name] for name, node in nodes}

    assert places(again).items() > places(other).items()
    for name, rect in places(shown).items():  # a wire passes the box that other rounds lack
        assert abs(rect.x - places(again)[name].x) + abs(rect.y - places(again)[name].y) <= 12
    assert places(kept) == places(other)
    assert {*kept.successors} == {*other.graph}
    assert "Scale3" in places(again).keys() - places(kept).keys()


@pytest.mark.parametrize(
    ("view", "subtitles"),
    [
        (DEFAULT_VIEW, ({"Variable"}, {"after 11 updates"})),
        (View(room=(140.0, 140.0)), (set(), set())),  # folded into their model
    ],
)
def test_variables_that_are_updated_move_nothing(
    view: View, subtitles: tuple[set[str], set[str]]
) -> None:
    s = Script()
    weights = [s.variable(f"w{k}", value=1.0, line=1) for k in range(8)]
    for _ in range(12):
        tape = s.tape(line=3)
        out = s.op("ReadVariableOp", [weights[0]], value=1.0, line=4)
        for weight in weights[1:]:
            read = s.op("ReadVariableOp", [weight], value=1.0, line=5)
            out = s.op("Mul", [out, read], line=5, scope="model")
            out = s.op("Sin", [out], line=5, scope="model")
        out = s.op("Square", [out], value=1.0, line=6, name="loss")
        s.exit(tape)
        with s.call(tape, [out], weights, line=10) as results:
            results.extend(s.tensor(value=1.0) for _ in weights)
        for weight, result in zip(weights, results, strict=True):
            s.op("AssignSubVariableOp", [weight, result], outputs=0, line=11)
    trace = s.trace()
    first, *_, last = (call.id for call in trace.calls)
    shown = arrange(trace, view, first)
    later = arrange(trace, view, last, shown)
    for arranged, words in zip((shown, later), subtitles, strict=True):
        nodes = [node for _, node in arranged.graph.nodes(data="node")]
        assert {node.subtitle for node in nodes if node.variable} == words
    assert {*later.successors} == {*shown.graph}
    for old, new in later.successors.items():
        assert shown.layout.rects[old] == later.layout.rects[new]


def test_a_variable_that_is_not_updated_any_more_moves_nothing() -> None:
    s = Script()
    weight, still = (s.variable(name, value=1.0, line=1) for name in ("weight", "still"))
    for _ in range(2):
        tape = s.tape(line=3)
        out = s.op("Mul", [s.read(weight, line=4), s.read(still, line=4)], line=4)
        s.exit(tape)
        with s.call(tape, [out], [weight, still], line=5) as results:
            results.extend((s.tensor(value=1.0), s.tensor(value=1.0)))
        s.op("AssignSubVariableOp", [weight, results[0]], outputs=0, line=6)
    trace = s.trace()
    first, last = (call.id for call in trace.calls)
    shown = arrange(trace, DEFAULT_VIEW, first)
    later = arrange(trace, DEFAULT_VIEW, last, shown)
    nodes, others = (dict(graph.nodes(data="node")) for graph in (shown.graph, later.graph))
    assert len(later.successors) == len(nodes)
    assert all(nodes[old].name == others[new].name for old, new in later.successors.items())


def test_groups_that_only_another_round_has_are_opened_as_far_as_it_can_be_read() -> None:
    trace = rounds(("Neg",), tuple(f"Op{'x' * number}" for number in range(40)))
    short, long = (call.id for call in trace.calls)
    view = View(room=(400.0, 400.0))
    alone, after = (
        arrange(trace, view, long, each) for each in (None, arrange(trace, view, short))
    )
    assert len(after.graph) == len(alone.graph) < len(arrange(trace, DEFAULT_VIEW, long).graph)


def test_the_frames_of_a_round_that_shows_another_turn_stay(recorder: Recorder) -> None:
    text = """\
import tensorflow as tf
v = tf.Variable(0.5)
for step in range(4):
    with tf.GradientTape() as tape:
        x = tf.constant(1.0)
        for k in range(4 - step % 2):
            x = tf.exp(x * 0.1)
            for j in range(3):
                x = tf.square(x) - v
                x = tf.abs(x)
                x = tf.tanh(x)
                x = tf.sin(x)
            x = tf.sqrt(tf.abs(x) + 1.0)
        if step % 2:
            x = tf.nn.relu(x) * 2.0
    tape.gradient(x, v)
"""
    live = recorder.record(Snippet(text))
    trace = live.wait(60)
    live.release()
    view, shown = View(room=(1400.0, 1000.0)), None
    for call in (0, 1, 3, 0):
        shown = arrange(trace, view, trace.calls[call].id, shown)
        assert len(shown.layout.frames) == 2
        assert {frame.path for frame in frames_in(shown.graph)} == {*shown.layout.frames}


def test_values_that_left_tensorflow_in_earlier_rounds_are_in_no_picture(
    recorder: Recorder,
) -> None:
    text = """\
import numpy as np
import tensorflow as tf
w = tf.Variable([1.0, 2.0])
for step in range(4):
    with tf.GradientTape() as tape:
        mean = w * tf.exp(w)
        drawn = tf.constant(np.random.normal(mean, 1.0), tf.float32)
        loss = tf.reduce_sum(drawn * drawn)
    tape.gradient(loss, w)
    w.assign_add([0.1, 0.1])
"""
    live = recorder.record(Snippet(text))
    trace = live.wait(60)
    live.release()
    for number, call in enumerate(trace.calls):
        nodes = arrange(trace, DEFAULT_VIEW, call.id).graph.nodes(data="node")
        titles = [node.title for _, node in nodes]
        assert titles.count("mean") == 1, number
        assert len(titles) == 6


def test_the_round_before_is_known_without_those_before_it(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    s = Script("w = tf.Variable(1.0)")
    w = s.variable("w", value=1.0, line=1)
    targets = []
    for _ in range(50):
        tape = s.tape(line=3)
        targets.append(s.op("Square", [s.read(w, line=4)], line=4, name="loss"))
        s.exit(tape)
        with s.call(tape, targets[-1:], [w], line=5, variables=[w]) as results:
            results.append(s.tensor(value=1.0))
    trace = s.trace()
    looked_at: list[Call] = []

    def counted(call: Call) -> tuple[TensorId, ...]:
        looked_at.append(call)
        return tensors_of(call.targets)

    monkeypatch.setattr(Call, "target_tensors", property(counted))
    index = TraceIndex(trace, NOTHING_CAME_BACK)
    found = [index.round_before(call) for call in trace.calls]
    assert found == [0, *targets[:-1]]
    assert len(looked_at) <= 2 * len(trace.calls)
