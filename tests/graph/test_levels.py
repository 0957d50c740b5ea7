"""The levels of ops as every picture of a trace asks for them, in whatever order of rounds."""

from __future__ import annotations

from dataclasses import replace

import pytest
from msgspec import structs

from tapeviz.drawing.arranging import arrange
from tapeviz.graph.groups.branches import with_gradient
from tapeviz.graph.trace_index import entries_around
from tapeviz.trace import events as e
from tapeviz.trace.ids import VersionId
from tapeviz.trace.levels.frames import Level, MarkReader
from tapeviz.trace.levels.op_levels import OpLevels
from tapeviz.trace.model import Trace
from tapeviz.trace.ops import Op
from tapeviz.view import DEFAULT_VIEW

from ..traces import Script

SOURCE = """\
def cell(h, t):
    return tf.sin(h)
w = tf.Variable(1.0)
for step in range(9):
    with tf.GradientTape() as tape:
        h = tf.exp(w)
        for t in range(4):
            h = cell(h, t)
    tape.gradient(h, w)
    w.assign_sub(0.1)
"""
ROUNDS, TURNS = 9, 4


def recurrent_rounds() -> Trace:
    """Each round calls ``cell`` in each turn of an inner loop, and writes the variable."""
    s = Script(SOURCE)
    w = s.variable("w", value=1.0, line=3)
    for _ in range(ROUNDS):
        s.events.append(e.NameBound("step", s.site(4), []))
        tape = s.tape(line=5)
        h = s.op("Exp", [s.read(w, line=6)], line=6, name="h")
        for _ in range(TURNS):
            s.events.append(e.NameBound("t", s.site(7), []))
            for name in ("h", "t"):
                s.events.append(e.NameBound(name, s.site(1, 8, function="cell"), []))
            h = s.op("Sin", [h], at=(2, 8))
        s.exit(tape)
        with s.call(tape, [h], [w], line=9, variables=[w]) as results:
            results.append(s.tensor(value=1.0))
        s.op("AssignSubVariableOp", [w, s.tensor(value=0.1)], line=10, outputs=0)
    return s.trace()


def titles(levels: tuple[Level, ...]) -> list[str]:
    return [level.title for level in levels if level.kind == "turn"]


def levels_of(trace: Trace, ops: list[Op]) -> list[list[str]]:
    levels = OpLevels(trace)
    return [titles(levels.of(op)) for op in ops]


def test_the_levels_of_a_round_do_not_depend_on_the_rounds_that_were_drawn_before() -> None:
    trace = recurrent_rounds()
    sines = [op for op in trace.ops.values() if op.type == "Sin"]
    by_round = [sines[at : at + TURNS] for at in range(0, len(sines), TURNS)]
    found = {number: levels_of(trace, by_round[number]) for number in (7, 2, 8, 0)}
    for number, turns in found.items():
        assert turns == [[f"turn {number + 1}", f"turn {turn + 1}"] for turn in range(TURNS)]
    keys = [OpLevels(trace).of(by_round[number][0]) for number in (7, 2, 7)]
    assert keys[0] == keys[2] != keys[1]


def test_the_bindings_of_a_run_are_read_once_for_all_of_its_pictures(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    trace, read = recurrent_rounds(), MarkReader._read
    names: list[str] = []

    def counted(self: MarkReader, name: str, *about: object) -> None:
        names.append(name)
        read(self, name, *about)  # type: ignore[arg-type]

    monkeypatch.setattr(MarkReader, "_read", counted)
    for call in reversed(trace.calls):
        arrange(trace, DEFAULT_VIEW, call.id)
    assert names.count("step") == ROUNDS
    assert names.count("t") == 2 * ROUNDS * TURNS  # that of the loop, and the parameter


def test_turns_that_only_statements_tell_are_counted_for_each_picture_anew() -> None:
    s = Script("while c:\n    y = f(x)\n    x = g(y)\n")
    for _ in range(3):
        s.op("Exp", [s.tensor()], line=2)
        s.op("Sin", [s.tensor()], line=3)
    trace = s.trace()
    ops = list(trace.ops.values())
    for _ in range(2):
        assert levels_of(trace, ops) == [[f"turn {n // 2 + 1}"] for n in range(6)]
    assert levels_of(trace, ops[4:]) == [["turn 1"], ["turn 1"]]


def test_the_entries_around_ops_are_found_once_for_all_pictures_of_a_trace() -> None:
    trace = recurrent_rounds()
    assert entries_around(trace) is entries_around(trace)
    assert entries_around(replace(trace)) is not entries_around(trace)


def test_whether_a_source_is_reached_does_not_take_a_look_at_all_its_versions(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    trace = recurrent_rounds()
    for call in trace.calls:  # indices that all pictures share
        arrange(trace, DEFAULT_VIEW, call.id)
    asked: list[VersionId] = []
    kind = type(next(iter(trace.variables.values())).versions[0])
    monkeypatch.setattr(
        kind, "id", property(lambda v: asked.append(v.index) or VersionId(v.variable, v.index))
    )
    counts = []
    for call in (trace.calls[1], trace.calls[-1]):
        asked.clear()
        arrange(trace, DEFAULT_VIEW, call.id)
        counts.append(len(asked))
    assert counts[0] == counts[1]


def test_a_function_that_a_layer_runs_is_in_that_layer() -> None:
    """As that of a Lambda layer: the snippet's call of the model is the one that the ops before
    came from."""
    s = Script("half = Lambda(lambda x: x / 2)\nnet = Sequential([Dense(3), half])\ny = net(x)\n")
    x = s.tensor((2, 3))
    for op_type, scope, lines, function in (
        ("MatMul", "net/dense", (3,), "<module>"),
        ("RealDiv", "net/lambda", (1, 3), "<lambda>"),
        ("Exp", "other", (1, 3), "<lambda>"),
    ):
        x = s.op(op_type, [x], (2, 3), scope=scope)
        ran = s.events.pop()
        assert isinstance(ran, e.OpRan)
        place = s.site(*lines, function=function)
        s.events.append(structs.replace(ran, site=place))
    trace = s.trace()
    levels = OpLevels(trace)
    product, quotient, other = ([*levels.of(op)] for op in trace.ops.values())
    assert [level.title for level in quotient] == ["net", "lambda"]
    assert quotient[0] == product[0]
    assert other[0].key != product[0].key


def test_layers_of_a_gradient_are_inside_of_its_call() -> None:
    function = Level("function", "step", 1, (1, "step"))
    scope = Level("layer", "gradient", 3, ("gradient_tape_1", "call"))
    layer = Level("layer", "dense", 3, ("dense_1", "call"))
    asked = Level("backward", "∂tape, line 3", 3, 7)
    assert with_gradient([function, scope, layer], [asked]) == [function, asked, layer]
    assert with_gradient([function, layer], [asked]) == [function, layer, asked]
    assert with_gradient([function, scope, layer], []) == [function, scope, layer]
