from __future__ import annotations

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
