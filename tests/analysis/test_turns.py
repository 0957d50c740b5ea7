"""Rows of a backward pass that go back through a loop are found, turn by turn."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

import pytest
from msgspec.structs import replace

from tapeviz.analysis import diagnose
from tapeviz.analysis.backward.steps import WalkStep
from tapeviz.analysis.backward.turns import (
    LoopTurn,
    TurnRows,
    find_turns,
    loop_turns,
    parts_of_sources,
    with_differing,
)
from tapeviz.drawing.arranging import repeats
from tapeviz.recording.live import Recorder, Snippet
from tapeviz.trace.ids import OpId, TensorId
from tapeviz.trace.levels.op_levels import OpLevels
from tapeviz.trace.model import EMPTY_TRACE, Trace
from tapeviz.trace.stats import Stats
from tapeviz.view import DEFAULT_VIEW
from tests.traces import Script


def _step(title: str, kind: Literal["op", "sum"] = "op") -> WalkStep:
    return WalkStep(0, kind, None, title, ord(title[-1]), "", (), ())


def _steps(titles: str) -> list[WalkStep]:
    """A row for each letter; a ``+`` is a sum."""
    return [_step(title, "sum" if title == "+" else "op") for title in titles]


def _rows_of(found: TurnRows, turn: int) -> range:
    return found.rows_at(found.numbers.index(turn))


@pytest.mark.parametrize("titles", ["", "abc", "ababab", "aabbccdd", "aaaa"])
def test_what_comes_again_less_than_four_times_is_no_loop(titles: str) -> None:
    assert not find_turns(_steps(titles))


def test_turns_are_numbered_as_the_loop_ran() -> None:
    (rows,) = find_turns(_steps("xy" + "abc" * 5 + "z"))
    assert (rows.start, rows.end, rows.count) == (2, 17, 5)
    assert _rows_of(rows, 5) == range(2, 5)
    assert _rows_of(rows, 1) == range(14, 17)


def test_every_row_of_the_stretch_is_in_one_turn_even_with_sums_between() -> None:
    (rows,) = find_turns(_steps("x" + "abc" * 4 + "a+bc+" + "z"))
    covered = [row for turn in range(rows.count, 0, -1) for row in _rows_of(rows, turn)]
    assert rows.count == 5
    assert covered == list(range(1, 18))


def test_a_loop_inside_a_loop_is_part_of_its_turns() -> None:
    (rows,) = find_turns(_steps(("ab" * 4 + "c") * 6))
    assert rows.count == 6


def test_two_loops_one_after_the_other() -> None:
    first, second = find_turns(_steps("ab" * 6 + "x" + "cde" * 4))
    assert (first.count, second.count) == (6, 4)
    assert first.end <= second.start


def test_the_first_turn_may_lack_the_rows_of_what_it_begins_with() -> None:
    (rows,) = find_turns(_steps("x" + "abc" * 5 + "a+c" + "z"))
    assert (rows.count, rows.end) == (6, 19)
    assert _rows_of(rows, 1) == range(16, 19)
    assert _rows_of(rows, 2) == range(13, 16)


def test_a_turn_with_other_rows_differs_and_the_first_with_nan() -> None:
    steps, loops = _in_turns([9, 9, 8, 8, 7, 7, 6, 6, 5, 4, 4])
    steps = [replace(step, title="ab"[n % 2]) for n, step in enumerate(steps[:8])] + steps[8:]
    (rows,) = with_differing(EMPTY_TRACE, steps, find_turns(steps, loops))
    assert [rows.numbers[place] for place in rows.differing] == [5, 4]
    nan = TensorId(7)
    spoiled = Trace("", sent_stats={nan: Stats(None, None, None, None, nan=1, inf=0)})
    steps = [replace(step, upstream=(nan,) if n > 3 else ()) for n, step in enumerate(steps[:8])]
    (rows,) = with_differing(spoiled, steps, find_turns(steps, loops))
    assert [rows.numbers[place] for place in rows.differing] == [7]


@pytest.mark.parametrize("after", ["az", "yz", "acaca"])
def test_what_follows_a_loop_is_no_turn_of_it(after: str) -> None:
    (rows,) = find_turns(_steps("abc" * 5 + after))
    assert (rows.count, rows.end) == (5, 15)


def _in_turns(numbers: Sequence[int]) -> tuple[list[WalkStep], dict[OpId, LoopTurn]]:
    """A row of each of these turns of a loop that had nine."""
    steps = [
        replace(step, op=OpId(n)) for n, step in enumerate(_steps("abcdefgh" * 9)[: len(numbers)])
    ]
    return steps, {OpId(n): LoopTurn("loop", number, 9) for n, number in enumerate(numbers)}


def test_turns_that_are_known_need_not_be_alike() -> None:
    (rows,) = find_turns(*_in_turns([8, 8, 8, 7, 7, 5]))
    assert (rows.numbers, rows.total) == ((8, 7, 5), 9)
    assert [_rows_of(rows, number) for number in rows.numbers] == [
        range(3),
        range(3, 5),
        range(5, 6),
    ]


def test_a_turn_may_begin_before_the_one_before_has_ended() -> None:
    (rows,) = find_turns(*_in_turns([3, 3, 3, 3, 2, 3, 2, 2, 2, 2, 1, 1]))
    assert (rows.numbers, rows.starts) == ((3, 2, 1), (0, 5, 10))


def test_turns_side_by_side_are_stretches_of_their_own() -> None:
    """As of ten values that are added up: the rows of each op come together."""
    found = find_turns(*_in_turns([*range(1, 8), *range(1, 8), 2, 1, 2, 1]))
    assert [rows.numbers for rows in found] == [tuple(range(1, 8))] * 2


def test_turns_may_be_side_by_side_before_they_come_one_by_one() -> None:
    """As of a recurrent network with a loss in each turn."""
    (rows,) = find_turns(*_in_turns([4, 3, 4, 2, 3, 4, 1, 2, 3, *[4] * 4, *[3] * 4, *[2] * 4]))
    assert rows.numbers[-3:] == (4, 3, 2)
    assert rows.end == 21
    assert len(_rows_of(rows, 2)) == 4


def test_a_loop_has_the_turns_that_its_frame_shows(recorder: Recorder) -> None:
    text = """\
import tensorflow as tf
w = tf.Variable(0.9)
with tf.GradientTape() as tape:
    h = tf.constant([1.2, 2.7])
    for t in range(12):
        h = tf.round(h * 4.0) * 0.0 + h * w
    loss = tf.reduce_sum(h)
tape.gradient(loss, w)
"""
    live = recorder.record(Snippet(text))
    trace = live.wait(60)
    live.release()
    (call,) = diagnose(trace).calls
    (rows,) = call.backward_pass().turns
    assert (rows.numbers, rows.total) == (tuple(range(12, 0, -1)), 12)
    assert list(repeats(trace, DEFAULT_VIEW).values()) == [12]


def test_the_turns_of_a_loop_are_counted_once_for_all_its_ops(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    script = Script("import tensorflow as tf\nfor i in range(50):\n    y = y * x\n")
    tape, y, ops = script.tape(line=1), script.tensor(name="x", line=1), list[int]()
    for _ in range(50):
        script.bind("i", script.tensor(), 2)
        y = script.op("Mul", [y, y], line=3)
        ops.append(script.last_op)
    with script.call(tape, [y], [y], line=4):
        pass
    trace = script.trace()
    steps = [WalkStep(n, "op", OpId(op), "Mul", 3, "", (), ()) for n, op in enumerate(ops)]
    asked: list[object] = []
    count = OpLevels.turns_before

    def counting(levels: OpLevels, loop: object, when: int) -> int:
        asked.append(loop)
        return count(levels, loop, when)

    monkeypatch.setattr(OpLevels, "turns_before", counting)
    found = loop_turns(trace, trace.calls[0], steps)
    assert [(turn.number, turn.total) for turn in found.values()] == [
        (n + 1, 50) for n in range(50)
    ]
    assert len(asked) == 1


def test_a_range_of_rows_gives_a_part_of_a_sum() -> None:
    script = Script("import tensorflow as tf\nx = x * w\n")
    w = TensorId(script.tensor(name="w"))
    shares = [script.tensor(value=value) for value in (3.0, 4.0, 1.0)]
    total = script.tensor(value=8.0)
    ops = [
        WalkStep(0, "op", OpId(n), "Mul", 2, "", (), (given,), (w,))
        for n, given in enumerate(shares)
    ]
    whole = WalkStep(0, "sum", None, "Σ", 2, "", tuple(shares), (total,), at=w)
    parts = parts_of_sources(script.trace(), {TensorId(total): "w"}, [*ops, whole])
    assert parts.of(range(1, 4), 9) == [("w", 0.625)]
    assert parts.of(range(3, 4), 9) == []


def test_a_gradient_that_is_a_share_many_times_counts_as_often() -> None:
    """The gradient function of an addition gives the same tensor to both of its inputs."""
    script = Script("import tensorflow as tf\ny = y + w\n")
    w = TensorId(script.tensor(name="w"))
    share, total = script.tensor(value=2.0), script.tensor(value=8.0)
    ops = [
        WalkStep(n, "op", OpId(n), "Add", 2, "", (share,), (share, share), (script.tensor(), w))
        for n in range(4)
    ]
    whole = WalkStep(4, "sum", None, "Σ", 2, "", (share,) * 4, (total,), at=w)
    parts = parts_of_sources(script.trace(), {TensorId(total): "w"}, [*ops, whole])
    assert parts.of(range(4), 9) == [("w", 1.0)]
    assert parts.of(range(1), 9) == [("w", 0.25)]
