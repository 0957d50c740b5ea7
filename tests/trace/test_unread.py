"""The states of variables of which rows are looked up: what TensorFlow holds, bit for bit."""

from __future__ import annotations

import numpy as np
import pytest

from tapeviz.drawing.arranging import arrange
from tapeviz.graph.nodes import value_of
from tapeviz.recording.kept import KeptRecording
from tapeviz.recording.live import Recorder, Snippet
from tapeviz.scene.content import content_of
from tapeviz.trace.model import Trace
from tapeviz.trace.unread import state_id
from tapeviz.trace.variables import Version
from tapeviz.view import DEFAULT_VIEW

TEXT = """\
import numpy as np
import tensorflow as tf
rng = np.random.default_rng(0)
table = tf.Variable(rng.normal(size=({rows}, 4)).astype("float32"))
for round in range(40):
    rows = rng.integers(0, {rows}, 6)
    with tf.GradientTape() as tape:
        loss = tf.reduce_sum(tf.gather(table, rows) ** 2)
    gradient = tape.gradient(loss, table)
    step = tf.constant(rng.normal(size=(6, 4)).astype("float32"))
    {write}
print(tf.gather(table, tf.range({rows})).numpy().tobytes().hex())
"""
ADD = "table.scatter_add(tf.IndexedSlices(step, rows))"
WRITES = [
    ADD,
    "table.scatter_sub(tf.IndexedSlices(step, rows))",
    "table.scatter_update(tf.IndexedSlices(step, rows))",
    "table.assign_add(tf.fill([{rows}, 4], 1 / (round + 3)))",
    "table.assign_sub(tf.random.normal([{rows}, 4]))",
]


def record(recorder: Recorder, write: str, rows: int = 9) -> tuple[Trace, np.ndarray]:
    """A trace, and the state that the snippet printed at its end."""
    text = TEXT.replace("{write}", write).replace("{rows}", str(rows))
    live = recorder.record(Snippet(text))
    trace = live.wait(60)
    live.release()
    printed = "".join(words for stream, words in trace.printed if stream == "stdout")
    return trace, np.frombuffer(bytes.fromhex(printed.strip()), np.float32).reshape(rows, 4)


def unread(trace: Trace, version: Version) -> np.ndarray | None:
    return trace.value(state_id(version.op)) if version.op is not None else None


@pytest.mark.parametrize("write", WRITES)
def test_each_state_is_that_of_tensorflow(recorder: Recorder, write: str) -> None:
    trace, last = record(recorder, write)
    (variable,) = trace.variables.values()
    assert not variable.versions[-1].reads
    state = unread(trace, variable.versions[-1])
    assert state is not None
    assert state.tobytes() == last.tobytes()


def test_a_variable_of_which_rows_are_looked_up_has_a_picture_in_every_round(
    recorder: Recorder,
) -> None:
    for write, rows in ((ADD, 9), (WRITES[4], 400)):  # 1,600 elements do not travel
        trace, _ = record(recorder, write, rows)
        for call in trace.calls[:: len(trace.calls) - 1]:
            nodes = arrange(trace, DEFAULT_VIEW, call.id).graph.nodes(data="node")
            (table,) = [node for _, node in nodes if node.title == "table"]
            assert content_of(table, trace).cells is not None
    assert unread(trace, next(iter(trace.variables.values())).versions[-1]) is None


def test_rows_of_a_large_table_leave_it_without_a_picture(recorder: Recorder) -> None:
    trace, _ = record(recorder, ADD, 400)
    nodes = arrange(trace, DEFAULT_VIEW, trace.calls[9].id).graph.nodes(data="node")
    (table,) = [node for _, node in nodes if node.title == "table"]
    assert table.tensor is None


def test_a_call_that_is_opened_without_values_hides_no_state(recorder: Recorder) -> None:
    live = recorder.record(
        Snippet(
            "import tensorflow as tf\nw = tf.Variable([1.0, 2.0])\n"
            "@tf.function\ndef f(x):\n    return tf.reduce_sum(w * x)\n"
            "for step in range(5):\n    with tf.GradientTape() as tape:\n"
            "        loss = f(tf.constant(2.0))\n    w.assign_sub(tape.gradient(loss, w))\n"
        )
    )
    live.wait(60)
    kept = KeptRecording(live.recording())
    live.release()
    (function,) = kept.wait().functions.values()
    call = kept.wait().ops[function.calls[1]].ran_as
    assert call is not None
    trace = kept.look_into(call)
    (variable,) = trace.variables.values()
    second = variable.versions[1]
    assert second.reads
    tensor = value_of(trace, second)
    assert tensor is not None
    assert np.array_equal(trace.value(tensor), [-1.0, 0.0])
