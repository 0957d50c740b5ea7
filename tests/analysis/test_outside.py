from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from tapeviz.analysis.python.depths import read_depths
from tapeviz.analysis.python.outside import follow
from tapeviz.text.source import SourceText
from tapeviz.trace import events as e
from tests.traces import Script


@pytest.mark.parametrize(("how", "is_linked"), [("index", False), ("numpy", True)])
def test_an_index_that_a_library_took_did_not_come_back_in_the_same_call(
    how: str, is_linked: bool
) -> None:
    """As the time step by which Keras's loop over a sequence looks into its list of states."""
    s = Script("y = layer(x)")
    s.events.append(e.SiteSeen(77, [("<module>", 1, 4, 1, 12)], 0))
    step = s.tensor((), value=0)
    s.events.append(e.ValueLeft(step, how, 77))
    state = s.tensor((), value=0.0)
    s.events.append(e.OpRan(1, "Fill", [state], [s.tensor((4,))], site=77))
    assert bool(follow(s.trace()).came_back) is is_linked


@pytest.mark.parametrize(
    ("text", "operation", "is_linked"),
    [
        ("y = c.numpy() + f(x, w)", "f(x, w)", False),  # what left is no operand of this operation
        ("y = c.numpy() + f(x, w)", "c.numpy() + f(x, w)", True),
        ("y = c.numpy() + f(x, w)", "", True),  # columns are not known
        ("y = [f(x, w) for x in c.numpy()]", "f(x, w)", True),
    ],
)
def test_a_constant_comes_from_the_operands_of_its_operation(
    text: str, operation: str, is_linked: bool
) -> None:
    s = Script(text)
    for number, part in ((77, "c.numpy()"), (78, operation)):
        column = text.index(part) if part else -1
        frame = ("<module>", 1, column, 1 if part else -1, column + len(part))
        s.events.append(e.SiteSeen(number, [frame], 0))
    s.events.append(e.ValueLeft(s.tensor((), value=0.5), "numpy", 77))
    given = s.tensor((2, 2))
    s.events.append(e.OpRan(1, "MatMul", [given, s.tensor((2, 2))], [s.tensor((2, 2))], site=78))
    assert (given in follow(s.trace()).came_back) is is_linked


def test_what_fills_the_weights_of_a_layer_is_no_value_of_the_line_that_builds_it() -> None:
    s = Script("y = dense(f(x.numpy()))")
    s.events.append(e.SiteSeen(77, [("<module>", 1, 0, 1, 22)], 0))
    s.events.append(e.ValueLeft(s.tensor((2,), value=[1.0, 2.0]), "numpy", 77))
    handle, weight, zero = (
        s.tensor((), dtype="resource", handle=True),
        s.tensor((2,)),
        s.tensor((), value=0.0),
    )
    s.events.append(e.OpRan(1, "Fill", [zero], [weight], site=77, scope="dense/bias"))
    path = "dense/bias"
    s.events.append(e.VariableMade(handle, "bias", "float32", [2], True, weight, 77, path))
    given = s.tensor((2,), value=[2.0, 4.0])
    s.events.append(e.OpRan(2, "Mul", [given, weight], [s.tensor((2,))], site=77, scope="dense"))
    assert list(follow(s.trace()).came_back) == [given]


def test_operations_are_counted_by_columns_in_characters_however_deep_the_text_is() -> None:
    depths = read_depths(SourceText("grün = 1.0 + g * q.max()"))
    assert depths.of_names[1, "q"] == 3
    assert depths.of_spans[1, 17, 1, 24] == 2
    deep = "y = x" + " + 1" * 300
    assert read_depths(SourceText(deep)).of_names[1, "x"] == 300


def _sums(s: Script) -> tuple[int, int, int]:
    """``total += tf.square(p)`` in the first turn: what left, the constants of ``p``, ``total``."""
    left = s.tensor((), value=0.625)
    s.left(left, "float", line=3)
    p, total = s.tensor((), value=0.625), s.tensor((), value=0.0)
    s.op("AddV2", [total, s.op("Square", [p], line=4)], line=4)
    return left, p, total


def test_a_number_that_a_name_began_with_did_not_come_back() -> None:
    text = "total = 0.0\nfor x in xs:\n    p = float(tf.sin(x))\n    total += tf.square(p)"
    s = Script(text)
    left, p, total = _sums(s)
    assert follow(s.trace()).came_back == {p: (left,)}
    s = Script(text.replace("0.0", "first(xs)"))
    assert follow(s.trace()).came_back == {}
    left, p, total = _sums(s)
    assert follow(s.trace()).came_back == {p: (left,), total: (left,)}


@pytest.mark.parametrize(("value", "leaves"), [(0.625, 1), (0.5, 2), (1.0, 2)])
def test_a_value_that_came_back_as_it_was_has_nothing_else_in_it(value: float, leaves: int) -> None:
    s = Script("k = int(n)\nys.append(tf.square(float(x) * k))")
    s.left(s.tensor((), value=1, dtype="int32"), "int", line=1)
    s.left(s.tensor((), value=1.0 if value == 1.0 else 0.625), "float", line=2)
    back = s.tensor((), value=value)
    s.op("Square", [back], line=2)
    assert len(follow(s.trace()).came_back[back]) == leaves


@pytest.mark.parametrize(
    ("text", "values", "is_linked"),
    [
        ("y = f(float(x)) * tf.constant([[1.0, -0.5]])", [[1.0, -0.5]], False),
        ("c = (1, 0.25)\ny = f(float(x)) * c", [1.0, 0.25], False),
        ("y = f(np.where(x.numpy() > 0.5, 1.0, 0.0))", [1.0, 0.0], True),
        ("y = f([[1.0, 2.0], [x.numpy(), 2.0]])", [[1.0, 2.0], [0.5, 2.0]], True),
        ("y = f(np.int8(x)) + tf.constant([1, 2])", np.array([1, 2], np.int8), False),
        ("y = f(np.int8(x)) + 300 - 1", np.int8(44), True),
        ("y = f(np.int8(x)) - 44", np.int8(-44), False),
    ],
)
def test_a_list_of_literals_did_not_come_back(text: str, values: Any, is_linked: bool) -> None:
    s, line = Script(text), text.count("\n") + 1
    s.left(s.tensor((), value=0.5), "float", line=line)
    given = s.tensor(value=values, dtype=str(getattr(values, "dtype", "float32")))
    s.op("Mul", [given, s.op("Sin", [s.tensor((), value=0.5)], line=line)], line=line)
    assert (given in follow(s.trace()).came_back) is is_linked


def test_a_deep_text_with_a_ragged_list_is_read() -> None:
    text = "y = [[1, 2], [3]] + [float(x)" + " + 1" * 900 + "]"
    s = Script(text)
    s.left(s.tensor((), value=0.5), "float", line=1)
    given = s.tensor((), value=901.5)
    s.op("Square", [given], line=1)
    assert given in follow(s.trace()).came_back


def test_what_left_in_an_earlier_run_of_the_same_statement_is_not_in_its_value() -> None:
    """``s`` is bound on line 4, to what a function made of the value that left on line 2."""
    text = "def score(a):\n    return tf.constant(np.sum(a.numpy()))\nfor t in range(3):\n    "
    s = Script(text + "s = score(w * t)")
    linked = {}
    for turn in range(3):
        s.events.append(e.NameBound("t", s.site(3), []))
        left = s.tensor((2,), value=[0.5, turn])
        s.events.append(e.ValueLeft(left, "numpy", s.site(2, 4)))
        back = s.tensor((), value=0.5 + turn)
        s.bind("s", back, 4)
        linked[back] = (left,)
    assert follow(s.trace()).came_back == linked
