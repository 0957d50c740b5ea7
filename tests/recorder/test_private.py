"""With any one of TensorFlow's private names missing a snippet runs as ever, and is recorded."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import pytest

from tapeviz.trace import events as e

from .conftest import RECORDER, Recorded

FOUND = re.compile(r'find\(\s*"([\w.:]+)"')
NAMES = sorted(
    {
        name
        for path in (RECORDER / "private").glob("*.py")
        for name in FOUND.findall(path.read_text(encoding="utf-8"))
    }
)
PLACES = (
    "tensorflow.python.pywrap_tfe:TFE_Py_FastPathExecute",
    "tensorflow.python.pywrap_tfe:TFE_Py_TapeSetRecordOperation",
    "tensorflow.python.pywrap_tfe:TFE_Py_TapeSetStopOnThread",
    "tensorflow.python.pywrap_tfe:TFE_Py_RegisterGradientFunction",
    "tensorflow.python.pywrap_tfe:TFE_Py_RegisterJVPFunction",
    "tensorflow.python.eager.execute:record_gradient",
    "tensorflow.python.ops.custom_gradient:_eager_mode_decorator",
    "tensorflow.python.ops.gradients_util:_GradientsHelper",
    "tensorflow.python.framework.func_graph:func_graph_from_py_func",
)
"""Names that are not looked up once, but replaced or called in their module."""
SEES_OPS = "tensorflow.python.framework.op_callbacks:add_op_callback"

SNIPPET = """
    @tf.custom_gradient
    def twice(x):
        return 2.0 * x, lambda upstream: 2.0 * upstream

    @tf.function
    def square(x):
        return tf.reduce_sum(x * x)

    v = tf.Variable([1.0, 2.0])
    w = tf.Variable(3.0)
    with tf.GradientTape() as tape:
        w.assign(4.0)
        y = square(twice(v)) * w + float(w.numpy())
    print([gradient.numpy().tolist() for gradient in tape.gradient(y, [v, w])])
"""
PRINTED = "[[32.0, 64.0], 20.0]\n"


@pytest.fixture(scope="module")
def whole(server: Any) -> Recorded:
    recorded: Recorded = server.run(SNIPPET)
    return recorded


def test_all_is_there(whole: Recorded) -> None:
    assert len(NAMES) > 30
    assert whole.out == PRINTED
    assert whole.of(e.Noted) == []
    assert whole.ops("Mul")
    assert whole.of(e.StepRan)
    assert whole.of(e.CallEnded)


@pytest.mark.parametrize("name", [*NAMES, *PLACES])
def test_one_name_is_missing(name: str, record: Callable[..., Recorded]) -> None:
    recorded = record(SNIPPET, lacking=name)
    assert recorded.out == PRINTED
    assert recorded.one(e.Ended).how == "finished"
    notes = " ".join(note.message for note in recorded.of(e.Noted))
    assert name.rpartition(":")[2] in notes
    assert bool(recorded.ops("AssignVariableOp")) == (name != SEES_OPS)
