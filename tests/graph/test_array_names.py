"""Names of the NumPy arrays that ops were given, from events with columns."""

from __future__ import annotations

import pytest

from tapeviz.graph.array_names import array_names
from tapeviz.trace import events as e

from ..traces import Script


class Snippet(Script):
    """A recording whose places are expressions of the text."""

    def place(self, expression: str, *callers: str) -> int:
        number = self.place(*callers) if callers else 0
        before, _, _ = self.source.partition(expression)
        assert before != self.source, expression
        line, column = before.count("\n") + 1, len(before.rpartition("\n")[2])
        function = "mse" if callers else "<module>"
        frame = (function, line, column, line, column + len(expression))
        self.events.append(e.SiteSeen(len(self._sites) + 1, [frame], number))
        self._sites[number, (expression, line)] = len(self._sites) + 1
        return len(self._sites)

    def array(self, name: str, shape: list[int], python_id: int, *places: str) -> None:
        site = self.place(*places) if places else 0
        about = e.NameBound(name, site, object=python_id, shape=shape, dtype="float64")
        self.events.append(about)

    def ran(self, inputs: list[int], *places: str) -> None:
        self._ops += 1
        self.events.append(
            e.OpRan(self._ops, "Op", inputs, [self.tensor((4,))], site=self.place(*places))
        )

    def names(self) -> list[str]:
        return list(array_names(self.trace()).values())


@pytest.mark.parametrize(
    ("expression", "shape", "name"),
    [
        ("w * x", (4,), "x"),
        ("w * x", (3,), ""),  # no array of this shape: made from something else
        ("w * x + y", (4,), "y"),  # the operand itself, before those of its operand
        ("loss(y, model(x))", (4,), "y"),
        ("model(table, labels=x)", (4,), "x"),
        ("f(x[0])", (4,), "x"),
        ("f(x, y)", (4,), ""),  # which of the two?
        ("f(table)", (2, 3), "table"),
    ],
)
def test_an_array_is_found_by_its_shape_among_the_names_of_the_expression(
    expression: str, shape: tuple[int, ...], name: str
) -> None:
    s = Snippet(f"z = {expression}\n")
    s.array("x", [4], 1)
    s.array("y", [4], 2)
    s.array("table", [2, 3], 3)
    s.ran([s.tensor((4,), name="w"), s.tensor(shape)], expression)
    assert s.names() == ([name] if name else [])


def test_a_name_that_was_bound_anew_is_that_of_the_array_at_that_moment() -> None:
    s = Snippet("a = f(x)\nb = g(x)\n")
    s.array("x", [4], 1)
    s.ran([s.tensor((4,))], "f(x)")
    s.array("x", [5], 2)
    s.ran([s.tensor((4,))], "g(x)")
    assert s.names() == ["x"]


def test_an_array_of_several_names_has_the_one_that_the_expression_uses() -> None:
    s = Snippet("z = w * b\n")
    for name in "abcdef":
        s.array(name, [4], 1)
    s.ran([s.tensor((4,), name="w"), s.tensor((4,))], "w * b")
    assert s.names() == ["b"]


def test_an_array_in_a_function_has_the_name_that_its_caller_gave_it() -> None:
    s = Snippet("def mse(a, c):\n    return a - c\nloss = mse(pred, target)\n")
    s.array("target", [4], 7)
    s.array("c", [4], 7, "c)", "mse(pred, target)")
    s.ran([s.tensor((4,), name="pred"), s.tensor((4,))], "a - c", "mse(pred, target)")
    assert s.names() == ["target"]


@pytest.mark.parametrize(
    ("dtype", "names"), [("float32", ["x"]), ("complex64", ["x"]), ("int32", []), ("bool", [])]
)
def test_axes_and_places_are_not_made_of_an_array_of_floats(dtype: str, names: list[str]) -> None:
    s = Snippet("z = f(x)\n")
    s.array("x", [2], 1)
    s.ran([s.tensor((2,), dtype=dtype)], "f(x)")
    assert s.names() == names


def test_of_two_tensors_that_may_be_made_of_one_array_none_has_its_name() -> None:
    s = Snippet("z = f(x)\n")
    s.array("x", [2], 1)
    s.ran([s.tensor(value=[5.0, 7.0]), s.tensor(value=[1.0, 0.0])], "f(x)")
    s.ran([s.tensor(value=[5.0, 7.0]), s.tensor(value=[5.0, 7.0])], "f(x)")
    assert s.names() == ["x", "x"]


def test_tensors_scalars_and_what_an_op_made_keep_their_words() -> None:
    s = Snippet("z = f(x)\n")
    s.array("x", [4], 1)
    s.array("k", [], 2)
    made = s.op("Fill", [], (4,))
    s.ran([made, s.tensor((4,), name="w"), s.tensor(())], "f(x)")
    assert s.names() == []
