"""Two runs in one picture: same ops in the same place, and a mark on each that differs."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING
from xml.etree import ElementTree

import pytest

from tapeviz.analysis import diagnose
from tapeviz.analysis.comparing import Comparison, compare
from tapeviz.drawing import Arranged
from tapeviz.drawing.both import Shown, draw_both, only_drawn, open_in_picture
from tapeviz.export import Drawing, render
from tapeviz.graph.groups.opening import MOST_BOXES
from tapeviz.layout.room.wrapping import scale_in
from tapeviz.recording.live import Snippet
from tapeviz.scene.content import SHORT_LENGTH
from tapeviz.scene.model import Box, Scene
from tapeviz.scene.sizes import LEGIBLE
from tapeviz.scene.theme import THEMES
from tapeviz.view import DEFAULT_VIEW, View
from tests.analysis.test_comparing import CUT, MENDED, Run, record
from tests.traces import Script

if TYPE_CHECKING:
    from tapeviz.recording.live import Recorder

SIDES = ("before:", "after:")
Both = tuple[Comparison, Arranged, Scene]


@pytest.fixture(scope="module")
def both(recorder: Recorder) -> Both:
    before, after = record(recorder, CUT), record(recorder, MENDED)
    comparison = compare(before, after)
    arranged, scene = draw_both(
        Shown("cut.py", *before), Shown("mended.py", *after), comparison, DEFAULT_VIEW
    )
    return comparison, arranged, scene


def _boxes(scene: Scene, side: str) -> dict[str, Box]:
    return {box.node.removeprefix(side): box for box in scene.boxes if box.node.startswith(side)}


def test_paired_ops_stand_in_the_same_place(both: Both) -> None:
    comparison, _, scene = both
    before, after = _boxes(scene, "before:"), _boxes(scene, "after:")
    drawn = [
        (before[f"op:{pair}"], after[f"op:{other}"])
        for pair, other in comparison.pairs
        if f"op:{pair}" in before and f"op:{other}" in after
    ]
    assert len(drawn) >= 3
    moved = {
        (
            round(other.rect.x - box.rect.x, 6),
            round(other.rect.y - box.rect.y, 6),
            other.rect.width - box.rect.width,
        )
        for box, other in drawn
    }
    ((dx, dy, wider),) = moved
    assert wider == 0
    assert (dx == 0) != (dy == 0)


def test_what_only_one_has_is_marked(both: Both) -> None:
    _, _, scene = both
    marks = {change.node: change.kind for change in scene.changes}
    titles = {box.node: box.title for box in scene.boxes}
    assert {titles[node] for node, kind in marks.items() if kind == "removed"} >= {"c′"}
    assert all(node.startswith("before:") for node, kind in marks.items() if kind == "removed")
    assert all(node.startswith("after:") for node, kind in marks.items() if kind == "added")
    explained = {entry.state for entry in scene.legend}
    assert set(marks.values()) <= explained
    assert {"gradient", "cut"} <= explained


def test_nothing_sticks_out_and_the_sides_do_not_touch(both: Both) -> None:
    _, arranged, scene = both
    room = scene.bounds
    for box in scene.boxes:
        assert room.left <= box.rect.left
        assert box.rect.right <= room.right
        assert room.top <= box.rect.top
        assert box.rect.bottom <= room.bottom
    before, after = _boxes(scene, "before:"), _boxes(scene, "after:")
    apart = max(b.rect.right for b in before.values()) < min(b.rect.left for b in after.values())
    above = max(b.rect.bottom for b in before.values()) < min(b.rect.top for b in after.values())
    assert apart or above
    assert set(arranged.graph) == {box.node for box in scene.boxes} == set(arranged.layout.rects)


ARRAYS = """
p = tf.Variable([3.0, 1.0])
with tf.GradientTape() as tape:
    loss = tf.reduce_sum(tf.sin(tf.round(tf.sin(tf.exp(tf.atan(p))))))
tape.gradient(loss, p)
"""
ARRAYS_MENDED = ARRAYS.replace("tf.round", "tf.tanh")


def test_in_little_room_rows_are_closer_and_boxes_show_no_arrays(recorder: Recorder) -> None:
    before, after = (record(recorder, text) for text in (ARRAYS, ARRAYS_MENDED))
    shown = Shown("cut.py", *before), Shown("mended.py", *after)
    little, large = (
        draw_both(*shown, compare(before, after), replace(DEFAULT_VIEW, room=room))[1]
        for room in ((270.0, 330.0), (2000.0, 1400.0))
    )
    assert {box.node for box in little.boxes} == {box.node for box in large.boxes}
    assert little.bounds.height < 0.9 * large.bounds.height
    assert not any(box.picture for box in little.boxes)
    assert any(box.picture for box in large.boxes)


@pytest.mark.parametrize("suffix", ["svg", "dot", "graphml", "json", "html", "pdf"])
def test_every_writer_takes_it(both: Both, suffix: str) -> None:
    _, arranged, scene = both
    drawing = Drawing(arranged.graph, arranged.layout, scene, THEMES["dark"])
    made = render(drawing, suffix)
    assert len(made) > 500
    if suffix == "svg":
        text = made.decode()
        groups = ElementTree.fromstring(text).iter("{http://www.w3.org/2000/svg}g")
        kinds = [group.get("class") for group in groups]
        assert kinds.count("change") == kinds.count("outline") == len(scene.changes) > 0
        first, last = kinds.index("node"), len(kinds) - kinds[::-1].index("node")
        assert kinds.index("outline") < first < last <= kinds.index("change")
        assert kinds.count("heading") == 2


TWO_CALLS = """
import tensorflow as tf
a = tf.Variable(2.0)
b = tf.Variable(-1.0)
with tf.GradientTape() as tape:
    first = tf.stop_gradient(a) * 3.0
tape.gradient(first, a)
with tf.GradientTape() as tape:
    other = tf.sqrt(b)
tape.gradient(other, b)
"""


def test_both_pictures_are_of_the_same_call(recorder: Recorder) -> None:
    before = record(recorder, TWO_CALLS)
    after = record(recorder, TWO_CALLS.replace("tf.stop_gradient(a)", "a"))
    comparison = compare(before, after)
    call = before[1].calls[0].call.id
    shown = Shown("cut.py", *before, call), Shown("mended.py", *after, comparison.call_after(call))
    _, scene = draw_both(*shown, comparison, DEFAULT_VIEW)
    for side in SIDES:
        titles = {box.title for box in _boxes(scene, side).values()}
        assert "first" in titles
        assert "other" not in titles
    assert comparison.call_after(None) is None


def scores(ends: Sequence[str]) -> Run:
    """A model of twelve blocks of five ops, each with a weight, and ops after it."""
    s = Script()
    weights = [s.variable(f"w{block}", (4, 4), line=1) for block in range(12)]
    x = s.tensor((8, 4), name="x", line=2)
    tape = s.tape(line=3)
    for block, weight in enumerate(weights):
        scope = f"model/block_{block}"
        x = s.op("MatMul", [x, s.read(weight, (4, 4), line=4)], (8, 4), line=4, scope=scope)
        for kind in ("Relu", "Square", "Tanh", "Sigmoid"):
            x = s.op(kind, [x], (8, 4), line=4, scope=scope)
    for kind in ends:
        x = s.op(kind, [x], (8,), line=5)
    loss = s.op("Mean", [x], line=6, name="loss")
    with s.call(tape, [loss], weights, line=7, variables=weights) as results:
        results += [0 for _ in weights]
    trace = s.trace()
    return trace, diagnose(trace)


@pytest.mark.parametrize("room", [(590.0, 410.0), (1900.0, 1200.0)])
def test_groups_are_open_in_both_or_in_neither_and_fill_the_room(
    room: tuple[float, float],
) -> None:
    before, after = scores(["ArgMax", "Cast", "Square"]), scores(["Softmax"])
    comparison = compare(before, after)
    arranged, scene = draw_both(
        Shown("a.py", *before), Shown("b.py", *after), comparison, View(room=room)
    )
    marked = {change.node for change in scene.changes}
    assert {box.title for box in scene.boxes if box.node in marked} >= {"ArgMax", "Softmax"}
    assert not [box for box in scene.boxes if box.node in marked and box.shape == "stack"]
    drawn = [sorted(box.title for box in _boxes(scene, side).values()) for side in SIDES]
    only_one = {"ArgMax", "Cast", "Square", "Softmax"}
    assert set(drawn[0]) - only_one == set(drawn[1]) - only_one
    frames = [frame.path for frame in scene.frames]
    assert frames[: len(frames) // 2] == frames[len(frames) // 2 :]
    assert bool(frames) == (room[0] > 1000)
    assert scale_in(arranged.layout.bounds, room) > 0.6


def test_what_is_the_same_is_folded_and_what_differs_is_in_sight() -> None:
    """In a room too small for all, groups end where the runs begin to differ."""
    before, after = (long_way(kind) for kind in ("Round", "Tanh"))
    _, scene = draw_both(
        Shown("a.py", *before),
        Shown("b.py", *after),
        compare(before, after),
        View(room=(590.0, 440.0)),
    )
    drawn = [[box.title for box in _boxes(scene, side).values()] for side in SIDES]
    assert drawn[0] == [title if title != "Tanh" else "Round" for title in drawn[1]]
    assert {"w", "Tanh", "loss"} <= set(drawn[1])
    assert [box.title for box in scene.boxes if box.node in changed(scene)] == ["Round", "Tanh"]
    assert scale_in(scene.bounds, (590.0, 440.0)) > 0.7


def test_in_a_narrow_room_titles_are_short() -> None:
    before, after = (wide_sources(kind) for kind in ("Round", "Tanh"))
    shown = Shown("a.py", *before), Shown("b.py", *after)
    narrow, wide = (
        draw_both(*shown, compare(before, after), View(room=(room, 440.0)))[1]
        for room in (500.0, 1200.0)
    )
    titles, whole = ([box.title for box in scene.boxes] for scene in (narrow, wide))
    assert len(titles) == len(whole)
    assert max(map(len, titles)) <= SHORT_LENGTH < max(map(len, whole))
    assert scale_in(narrow.bounds, (500.0, 440.0)) > LEGIBLE


def wide_sources(middle: str) -> Run:
    """Two weights with long names beside each other, and three ops."""
    s = Script()
    weights = [s.variable(f"{name}_of_the_first_layer", (4,), line=1) for name in ("w", "bias")]
    tape = s.tape(line=2)
    x = s.op("Mul", [s.read(weight, (4,), line=3) for weight in weights], (4,), line=3)
    loss = s.op("Mean", [s.op(middle, [x], (4,), line=4)], line=5, name="loss")
    with s.call(tape, [loss], weights, line=6, variables=weights) as results:
        results.extend(0 if middle == "Round" else s.tensor((4,)) for _ in weights)
    trace = s.trace()
    return trace, diagnose(trace)


def long_way(middle: str) -> Run:
    """A weight, ten ops of lines of their own, one more, and another ten ops."""
    s = Script()
    weight = s.variable("w", (4,), line=1)
    tape = s.tape(line=2)
    x = s.read(weight, (4,), line=3)
    for line, kind in enumerate(("Exp", "Sin") * 5 + (middle,) + ("Exp", "Cos") * 5, 3):
        x = s.op(kind, [x], (4,), line=line)
    loss = s.op("Mean", [x], line=40, name="loss")
    with s.call(tape, [loss], [weight], line=41, variables=[weight]) as results:
        results.append(0 if middle == "Round" else s.tensor((4,)))
    trace = s.trace()
    return trace, diagnose(trace)


def changed(scene: Scene) -> list[str]:
    return [change.node for change in scene.changes]


COMPILED = """\
w = tf.Variable(1.5)
@tf.function
def f(x):
    return tf.tanh(x * w){}
with tf.GradientTape() as tape:
    y = f(tf.constant(2.0))
tape.gradient(y, w)
"""


def test_a_compiled_function_is_the_same_under_another_number(recorder: Recorder) -> None:
    """TensorFlow numbers functions anew in each process and for each trace."""
    before = record(recorder, "tf.function(lambda: tf.ones(3))()\n" + COMPILED.format(""))
    after = record(recorder, COMPILED.format(""))
    comparison = compare(before, after)
    first, second = Shown("a.py", *before), Shown("b.py", *after)
    _, scene = draw_both(first, second, comparison, DEFAULT_VIEW)
    assert scene.changes == ()
    assert [box.title for box in scene.boxes if box.ring == "source"] == ["w", "w"]
    assert [box.title for box in scene.boxes if box.ring == "target"] == ["y", "y"]


def test_a_value_that_both_runs_computed_is_no_difference(recorder: Recorder) -> None:
    """What a variable was made from is drawn only where its gradient is cut."""
    text = """\
x = tf.Variable([3.0, 1.0])
p = tf.Variable(tf.zeros_like(x))
with tf.GradientTape() as tape:
    loss = tf.reduce_sum(tf.round(p + 0.2))
tape.gradient(loss, p)
"""
    before, after = (record(recorder, each) for each in (text, text.replace("round", "tanh")))
    _, scene = draw_both(
        Shown("a.py", *before), Shown("b.py", *after), compare(before, after), DEFAULT_VIEW
    )
    titles = {box.node: box.title for box in scene.boxes}
    drawn = [any("ZerosLike" in box.title for box in _boxes(scene, s).values()) for s in SIDES]
    assert drawn == [True, False]
    assert [titles[node] for node in changed(scene)] == ["Round", "Tanh"]


CURVES = ("Exp", "Sin", "Cos", "Neg", "Square", "Sinh", "Cosh", "Atan")
MORE_CURVES = ("Asin", "Log", "Sqrt", "Erf", "Relu", "Elu", "Selu", "Round")


def product(curves: Sequence[str], *, is_stopped: bool) -> Run:
    """The product of what two weights gave, one of them perhaps behind a stop_gradient, and what is
    made of it."""
    s = Script()
    weights = [s.variable(name, (4,), line=1) for name in ("v", "w")]
    tape = s.tape(line=2)
    first, second = (s.op("Tanh", [s.read(w, (4,), line=3)], (4,), line=3) for w in weights)
    if is_stopped:
        second = s.op("StopGradient", [second], (4,), line=4)
    x = s.op("Mul", [first, second], (4,), line=4)
    for kind in curves:
        x = s.op(kind, [x], (4,), line=4)
    loss = s.op("Mean", [x], line=4, name="loss")
    with s.call(tape, [loss], weights, line=7, variables=weights) as results:
        results += [s.tensor((4,)), 0 if is_stopped else s.tensor((4,))]
    trace = s.trace()
    return trace, diagnose(trace)


@pytest.mark.parametrize("side", [300.0, 700.0])
@pytest.mark.parametrize(
    "curves", [CURVES, (*CURVES, *MORE_CURVES), (*CURVES, *MORE_CURVES[:5]) * 3, CURVES * 50]
)
def test_a_group_of_one_run_does_not_hide_what_the_other_shows(
    curves: Sequence[str], side: float
) -> None:
    """The cut divides the ops of a line into other groups than there are without it."""
    before, after = product(curves, is_stopped=True), product(curves, is_stopped=False)
    shown = Shown("a.py", *before), Shown("b.py", *after)
    _, scene = draw_both(*shown, compare(before, after), View(room=(side, side)))
    marked = {change.node for change in scene.changes}
    assert [box.title for box in scene.boxes if box.node in marked] == ["StopGradient"]
    assert len(scene.boxes) < 2 * (MOST_BOXES + 10)


TRAINED = """\
import tensorflow as tf
w = tf.Variable(1.5)
v = tf.Variable([0.3, 0.2])
@tf.function
def f(x):
    h = tf.tanh(x * w)
    h = {}(h * 2.0)
    h = tf.sin(h) + tf.exp(h)
    return tf.reduce_sum(h * v)
for step in range(4):
    with tf.GradientTape() as tape:
        y = f(tf.constant([2.0, 1.0])) ** 2
    _, g = tape.gradient(y, [w, v])
    v.assign_sub(0.1 * g)
"""


def test_the_insides_of_two_rounds_are_compared(recorder: Recorder) -> None:
    """A run that stops after its first round is compared with the last round of another."""
    before = opened(recorder, TRAINED.format("tf.stop_gradient").replace("range(4)", "range(1)"))
    after = opened(recorder, TRAINED.format(""), number=-1)
    first, second = (before.trace, before.diagnosis), (after.trace, after.diagnosis)
    comparison = only_drawn(before, after, compare(first, second), DEFAULT_VIEW)
    assert {before.trace.ops[op].type for op in comparison.removed} == {"StopGradient"}
    assert all(after.trace.ops[op].within is None for op in comparison.added)


def opened(recorder: Recorder, text: str, number: int = 0) -> Shown:
    """A run with a round in sight, the first one if no other is wanted."""
    live = recorder.record(Snippet(text))
    trace = live.wait(60)
    call = trace.calls[number].id
    trace = open_in_picture(trace, DEFAULT_VIEW, call, live.look_into)
    live.release()
    return Shown("a.py", trace, diagnose(trace), call)


@pytest.mark.parametrize(("is_open", "kind"), [(True, "removed"), (False, "inside")])
def test_what_differs_inside_of_a_compiled_function_is_marked(
    recorder: Recorder, is_open: bool, kind: str
) -> None:
    """On the op, or on the call while it is closed."""
    before = opened(recorder, TRAINED.format("tf.stop_gradient"))
    after = opened(recorder, TRAINED.format(""))
    first, second = (before.trace, before.diagnosis), (after.trace, after.diagnosis)
    comparison = compare(first, second)
    view = DEFAULT_VIEW if is_open else View(folded=frozenset({"f"}))
    _, scene = draw_both(before, after, comparison, view)
    marks = {change.node: change.kind for change in scene.changes}
    titles = {box.node: box.title for box in scene.boxes}
    wanted = "h" if is_open else "f"
    assert kind in {marks[node] for node in marks if titles[node] == wanted}
    assert ("f" in titles.values()) is not is_open
    assert {before.trace.ops[op].type for op in comparison.removed} == {"StopGradient"}
    assert not comparison.added
