"""Shares of a gradient against TensorFlow's own sum, jacobian and one gradient a target."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import numpy as np
import pytest

from tapeviz.errors import TapevizError
from tapeviz.recording.kept import KeptRecording
from tapeviz.recording.live import LiveRecording, Snippet
from tapeviz.recording.shares import (
    ShareTable,
    adds_up,
    has_shares,
    share_table,
    share_tables,
)
from tapeviz.trace.model import Trace

if TYPE_CHECKING:
    from tapeviz.recording.live import Recorder

TEXT = """
x = tf.Variable([1.5, -0.25, 3.0])
w = tf.Variable(0.7)
alone = tf.Variable(2.0)
c = tf.constant([0.1, 0.2, 0.3])
table = tf.Variable([[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]])
with tf.GradientTape(persistent=True) as tape:
    tape.watch(c)
    square = x * x * w
    wave = tf.sin(x) * tf.reduce_sum(square)
    third = tf.exp(-x)
    plain = w * 3.0
    first = square[0]
    row = tf.gather(table, [2, 0, 2]) * w
    pair = tf.stack([tf.reduce_sum(square * c), w])
two = tape.gradient([plain, first], [w, alone])
several = tape.gradient([square, wave, third], [x, w, c])
vector = tape.gradient(wave, [x, w])
jacobian = tape.jacobian(wave, [x, w])
sparse = tape.gradient(row, [table, w])
sparse_jacobian = tape.jacobian(row, [table, w], experimental_use_pfor=False)
given = tape.gradient([square, third], x, output_gradients=[x * 2.0, x])
single = tape.gradient(plain, w)
ones = [tape.gradient(one, [x, w, c]) for one in (square, wave, third)]
"""


@pytest.fixture(scope="module")
def live(recorder: Recorder) -> Iterator[LiveRecording]:
    recorded = recorder.record(Snippet(TEXT))
    recorded.wait(60)
    yield recorded
    recorded.release()


def _table(live: LiveRecording, name: str) -> ShareTable:
    trace = live.wait(0)
    line = next(n for n, text in enumerate(trace.source.split("\n"), 1) if text.startswith(name))
    call = next(call for call in trace.calls if call.line == line)
    assert has_shares(trace, call)
    return share_table(live, call)


def _results(trace: Trace, name: str) -> list[list[np.ndarray | None]]:
    line = next(n for n, text in enumerate(trace.source.split("\n"), 1) if text.startswith(name))
    return [
        [None if result is None else trace.value(result) for result in call.results]
        for call in trace.calls
        if call.line == line
    ]


def test_two_targets_add_up_bit_for_bit(live: LiveRecording) -> None:
    table = _table(live, "two =")
    assert table.columns == ("w", "alone")
    first, second = (row.cells[0] for row in table.rows)
    assert first is not None
    assert second is not None
    (returned, nothing) = _results(live.wait(0), "two =")[0]
    assert returned is not None
    assert (first + second).tobytes() == returned.tobytes()
    assert table.sums[0] is not None
    assert table.sums[0].tobytes() == returned.tobytes()
    assert nothing is None
    assert [row.cells[1] for row in table.rows] == [None, None]


def test_each_share_is_what_the_tape_gives_for_that_target_alone(live: LiveRecording) -> None:
    table = _table(live, "several =")
    assert [row.label for row in table.rows] == ["square", "wave", "third"]
    for row, alone in zip(table.rows, _results(live.wait(0), "ones ="), strict=True):
        for cell, expected in zip(row.cells, alone, strict=True):
            assert (cell is None) == (expected is None)
            if cell is not None and expected is not None:
                np.testing.assert_array_equal(cell, expected)
    for column, returned in enumerate(_results(live.wait(0), "several =")[0]):
        cells = [row.cells[column] for row in table.rows]
        known = [cell for cell in cells if cell is not None]
        if returned is not None:
            np.testing.assert_allclose(np.sum(known, axis=0), returned, rtol=1e-5)


@pytest.mark.parametrize("name", ["vector", "sparse"])
def test_elements_stack_up_to_the_jacobian(live: LiveRecording, name: str) -> None:
    table = _table(live, f"{name} =")
    (row,) = table.rows
    expected = _results(live.wait(0), "jacobian =" if name == "vector" else "sparse_jacobian =")[0]
    for column, whole in enumerate(expected):
        jacobian = row.jacobian(column)
        assert jacobian is not None
        assert whole is not None
        assert jacobian.shape == whole.shape
        np.testing.assert_allclose(jacobian, whole, rtol=1e-6)
    assert table.lines == row.elements
    first = "wave[0]" if name == "vector" else "row[0, 0]"
    assert table.lines[0].label == first


def test_given_gradients_start_their_targets_and_leave_no_jacobian(live: LiveRecording) -> None:
    table = _table(live, "given =")
    assert all(not row.elements for row in table.rows)
    assert len(table.lines) == 2


def test_one_number_has_no_shares(live: LiveRecording) -> None:
    trace = live.wait(0)
    (call,) = [
        call for call in trace.calls if call.targets[0].text == "plain" and len(call.targets) == 1
    ]
    assert not has_shares(trace, call)


def test_shares_that_do_not_add_up_are_noticed() -> None:
    half = np.array([0.5, 0.25], np.float32)
    assert adds_up([half, None, half], half * 2)
    assert not adds_up([half, half], half)
    assert not adds_up([half], None)
    assert adds_up([None, None], np.zeros(2, np.float32))


def test_the_recording_stays_whole_after_it_was_asked(live: LiveRecording) -> None:

    _table(live, "several =")
    kept, trace = KeptRecording(live.recording()).wait(), live.wait(0)
    for call in trace.calls:
        for tensor in call.results:
            if tensor is not None:
                np.testing.assert_array_equal(kept.value(tensor), trace.value(tensor))


def test_a_kept_recording_has_the_shares_that_were_computed_with_it(recorder: Recorder) -> None:
    text = (
        "import tensorflow as tf\nx = tf.Variable([1.0, 2.0])\n"
        "with tf.GradientTape(persistent=True) as tape:\n    a, b = x * x, tf.reduce_sum(x)\n"
        "tape.gradient([a, b], x)\ntape.gradient(a, x)\n"
    )
    live = recorder.record(Snippet(text))
    trace = live.wait(60)
    table = share_table(live, trace.calls[0])
    kept = KeptRecording(live.recording())
    live.release()
    found = share_tables(kept)
    assert list(found) == [trace.calls[0].id]  # nobody computed those of the other
    again = found[table.call]
    assert again.columns == table.columns
    for row, other in zip(table.rows, again.rows, strict=True):
        assert row.label == other.label
        assert len(row.elements) == len(other.elements)
        np.testing.assert_array_equal(row.cells[0], other.cells[0])  # type: ignore[arg-type]
    with pytest.raises(TapevizError, match="cannot be replayed"):
        share_table(kept, kept.wait().calls[1])
