"""Which loops are repeats in every round, whatever their number of turns in one of them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

import pytest

from tapeviz.drawing.arranging import Arranged, arrange
from tapeviz.graph.build import build
from tapeviz.graph.groups import lengths
from tapeviz.graph.groups.lengths import repeats_in_all_rounds
from tapeviz.graph.groups.tree import grow
from tapeviz.graph.union import frames_in
from tapeviz.layout.model import Rect
from tapeviz.recording.live import Recorder, Snippet
from tapeviz.trace import events as e
from tapeviz.trace.levels.op_levels import turns_begun
from tapeviz.trace.model import Trace
from tapeviz.view import DEFAULT_VIEW

from ..traces import Script

SOURCE = """\
x = tf.Variable(1.0)
for step in range(3):
    with tf.GradientTape() as tape:
        y = x
        for t in range(lengths[step]):
            y = tf.sin(y)
            y = tf.cos(y)
        for layer in layers:
            y = tf.exp(y)
            y = tf.tanh(y)
    tape.gradient(y, x)
"""
WHILE = SOURCE.replace("for t in range(lengths[step]):", "while more(y):")


def rounds(*turns: int, source: str = SOURCE, layers: int = 2) -> Trace:
    """Rounds whose first loop has these numbers of turns."""
    s = Script(source)
    x = s.variable("x", value=1.0, line=1)
    for length in turns:
        s.events.append(e.NameBound("step", s.site(2), []))
        tape = s.tape(line=3)
        y = s.read(x, line=4)
        for _ in range(length):
            s.events.append(e.NameBound("t", s.site(5), []))
            y = s.op("Sin", [y], line=6, name="y")
            y = s.op("Cos", [y], line=7, name="y")
        for _ in range(layers):
            s.events.append(e.NameBound("layer", s.site(8), []))
            y = s.op("Exp", [y], line=9, name="y")
            y = s.op("Tanh", [y], line=10, name="y")
        s.exit(tape)
        with s.call(tape, [y], [x], line=11, variables=[x]) as results:
            results.append(s.tensor(value=1.0))
    return s.trace()


def repeats(trace: Trace) -> list[dict[str, int]]:
    """For each round the repeats in it, with their numbers of turns."""
    trees = [grow(build(trace, call), trace) for call in trace.calls]
    return [
        {group.title: group.count for group in tree.groups.values() if group.count}
        for tree in trees
    ]


@pytest.mark.parametrize("source", [SOURCE, WHILE])
def test_a_loop_of_more_turns_in_another_round_is_a_repeat_in_both(source: str) -> None:
    found = repeats(rounds(6, 3, 1, source=source))
    title = "while more(y)" if source is WHILE else "for t in range(lengths[step])"
    assert [found_in[title] for found_in in found] == [6, 3, 1]
    assert [found_in["for layer in layers"] for found_in in found] == [2, 2, 2]


def test_short_loops_of_one_length_are_drawn_turn_by_turn() -> None:
    assert repeats(rounds(3, 3, 3)) == [{}, {}, {}]
    assert repeats(rounds(5, 5)) == [{"for t in range(lengths[step])": 5}] * 2


def test_the_loop_around_the_tape_and_a_loop_of_one_turn_are_no_repeats() -> None:
    trace = rounds(6, 3, layers=1)
    assert repeats_in_all_rounds(trace, trace.calls[0])[0] == {5}
    assert repeats_in_all_rounds(trace, None)[0] == frozenset()


PERSISTENT = """\
x = tf.Variable(1.0)
with tf.GradientTape(persistent=True) as tape:
    y = x
    for layer in layers:
        y = tf.exp(y)
        y = tf.tanh(y)
for target in targets:
    tape.gradient(y, x)
"""


def test_a_loop_that_asks_a_tape_after_its_block_has_no_turns_in_a_round() -> None:
    s = Script(PERSISTENT)
    x = s.variable("x", value=1.0, line=1)
    tape = s.tape(line=2, persistent=True)
    y = s.read(x, line=3)
    for _ in range(2):
        s.events.append(e.NameBound("layer", s.site(4), []))
        y = s.op("Exp", [y], line=5, name="y")
        y = s.op("Tanh", [y], line=6, name="y")
    s.exit(tape)
    for _ in range(3):
        s.events.append(e.NameBound("target", s.site(7), []))
        with s.call(tape, [y], [x], line=8, variables=[x]) as results:
            results.append(s.tensor(value=1.0))
    trace = s.trace()
    assert repeats_in_all_rounds(trace, trace.calls[-1])[0] == frozenset()


def test_the_turns_of_all_rounds_are_counted_once(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[Trace] = []

    def counted(trace: Trace) -> Mapping[int, Sequence[int]]:
        asked.append(trace)
        return turns_begun(trace)

    monkeypatch.setattr(lengths, "turns_begun", counted)
    for trace in (rounds(6, 3, 1), rounds(6, 3, 2)):
        found = [repeats_in_all_rounds(trace, call)[0] for call in trace.calls]
        assert found == [{5, 8}] * 3
    assert len(asked) == 2


def test_a_function_that_was_traced_has_no_rounds_of_its_own() -> None:
    trace = rounds(6, 3)
    calls = tuple(replace(call, traced=1) for call in trace.calls)
    assert repeats_in_all_rounds(replace(trace, calls=calls), calls[0])[0] == frozenset()


def test_boxes_stay_where_they_are_in_a_round_of_fewer_turns() -> None:
    def places(arranged: Arranged) -> dict[str, Rect]:
        nodes = arranged.graph.nodes(data="node")
        return {node.title: arranged.layout.rects[name] for name, node in nodes}

    trace = rounds(6, 3)
    long = arrange(trace, DEFAULT_VIEW, trace.calls[0].id)
    short = arrange(trace, DEFAULT_VIEW, trace.calls[1].id, long)
    assert places(short) == places(long)
    assert len(short.successors) == len(long.graph)


def test_a_comprehension_of_another_length_moves_no_box(recorder: Recorder) -> None:
    text = """\
import tensorflow as tf
w = tf.Variable([[0.5, -0.2], [0.1, 0.4]])
for n in (2, 5, 8, 2):
    xs = [tf.ones([4, 2]) for _ in range(n)]
    with tf.GradientTape() as tape:
        hs = [tf.tanh(x @ w) for x in xs]
        loss = tf.add_n([tf.reduce_mean(h) for h in hs])
    tape.gradient(loss, w)
"""
    live = recorder.record(Snippet(text))
    trace = live.wait(60)
    live.release()
    assert repeats_in_all_rounds(trace, trace.calls[0])[1] == {6, 7}
    arranged: Arranged | None = None
    seen = []
    for call in trace.calls:
        arranged = arrange(trace, DEFAULT_VIEW, call.id, arranged)
        frames = [frame.title for frame in frames_in(arranged.graph)]
        assert frames == ["for x in xs", "for h in hs"]
        seen.append(sorted((rect.y, rect.x) for rect in arranged.layout.rects.values()))
    for rects in seen[1:]:
        assert rects == [pytest.approx(place, abs=1.0) for place in seen[0]]
