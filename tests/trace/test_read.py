"""Hand-written events in, the trace that they mean out."""

from __future__ import annotations

import numpy as np

from tapeviz.trace import events as e
from tapeviz.trace.ids import OpId, TapeId, TensorId, VariableId
from tapeviz.trace.model import Trace
from tapeviz.trace.read import read
from tests.traces import Script

SOURCE = """\
w = tf.Variable(2.0)
x = tf.constant(3.0)
with tf.GradientTape() as tape:
    y = w * x
    w.assign(y)
    z = w * w
grads = tape.gradient(z, [w, x])
"""


def _tensor(tensor: int, **more: object) -> e.TensorSeen:
    return e.TensorSeen(tensor, "float32", [], **more)  # type: ignore[arg-type]


def _trace(*more: e.Event) -> Trace:
    sites = [e.SiteSeen(n, [("<module>", n, 0, n, 99)]) for n in range(1, 8)]
    handle = e.TensorSeen(1, "resource", [], handle=True)
    two = np.array([2.0, 3.0], np.float32).tobytes()
    story: list[e.Event] = [
        e.Begin(1, "2.21.0", "3.11.7"),
        *sites,
        handle,
        _tensor(2, at=0, nbytes=4),
        e.OpRan(1, "AssignVariableOp", [1, 2], [], site=1),
        e.VariableMade(1, "Variable:0", "float32", [], initial=2, site=1),
        e.NameBound("w", 1, [(1, [])]),
        _tensor(3, at=4, nbytes=4),
        e.NameBound("x", 2, [(3, [])]),
        e.TapeOpened(1, site=3),
        e.TapeTurned(1, True, "enter", site=3),
        e.NameBound("tape", 3, tape=1, value="GradientTape"),
        *map(_tensor, (4, 5, 6, 7, 8)),
        e.OpRan(2, "ReadVariableOp", [1], [4], site=4),
        e.OpRan(3, "Mul", [4, 3], [5], site=4),
        e.NameBound("y", 4, [(5, [])]),
        e.OpRan(4, "AssignVariableOp", [1, 5], [], site=5),
        e.OpRan(5, "ReadVariableOp", [1], [6], site=6),
        e.OpRan(6, "Mul", [6, 6], [7], site=6),
        e.TapeTurned(1, False, "exit", site=6),
        e.OpRan(7, "Neg", [7], [8], site=7),
        *more,
    ]
    return read(story, two, SOURCE, "snippet.py")


def test_a_write_makes_a_version_and_reads_belong_to_theirs() -> None:
    first, second = _trace().variables[VariableId(1)].versions
    assert (first.index, first.op, first.value, first.reads) == (0, OpId(1), 2, (4,))
    assert (second.index, second.op, second.value, second.reads) == (1, OpId(4), 5, (6,))


def test_the_first_value_of_a_variable_made_while_a_function_is_traced_is_no_update() -> None:
    """Such a variable is made on a line of the function, and gets its value on the call's line."""
    script = Script()
    handle = script.tensor((), dtype="resource", handle=True)
    site = script.site(3)
    script.events.append(e.VariableMade(handle, "w:0", "float32", [], True, 0, site))
    first = script.tensor(value=1.0)
    script.op("AssignVariableOp", [handle, first], outputs=0, line=8)
    script.op("AssignVariableOp", [handle, script.tensor(value=0.1)], outputs=0, line=3)
    versions = script.trace().variables[VariableId(handle)].versions
    assert [version.index for version in versions] == [0, 1]
    assert versions[0].value == first


def test_a_tape_keeps_ops_of_what_it_watches_while_it_records() -> None:
    trace = _trace()
    kept = {op.type for op in trace.ops.values() if TapeId(1) in op.tapes}
    assert kept == {"ReadVariableOp", "Mul"}
    assert not trace.ops[OpId(7)].tapes
    (watch,) = trace.tapes[TapeId(1)].watches
    assert watch.automatic
    assert watch.tensor == 1


def test_names_and_values() -> None:
    trace = _trace()
    assert trace.names[TensorId(1)] == ("w",)
    assert trace.tapes[TapeId(1)].name == "tape"
    value = trace.value(TensorId(3))
    assert value is not None
    assert value == np.float32(3.0)


def test_operands_are_called_what_the_snippet_calls_them() -> None:
    operands = [e.RawOperand(1, "variable", (0,), name="Variable:0"), e.RawOperand(3, keys=(1,))]
    began = e.CallBegan(1, "gradient", 1, [e.RawOperand(7)], operands, site=7)
    (call,) = _trace(began, e.CallEnded(1, [8, 0])).calls
    assert [target.text for target in call.targets] == ["z"]
    assert [source.text for source in call.sources] == ["w", "x"]
    assert call.results == (8, None)
