"""Which expressions have a form, and what its letters stand for."""

from __future__ import annotations

import libcst as cst
import pytest

from tapeviz.fixes.forms import EQUAL, LESS, match, matches
from tapeviz.fixes.nodes import nodes_in
from tapeviz.fixes.source import ParsedSource

PARTS = {
    ("h - z + z", "(_d := _h - _z) + _z"): ["h - z", "h", "z"],
    ("z + (h -  z)", "_h - _z + _z"): ["h", "z"],
    ("z - h + z", "_h - _z + _z"): [],
    ("1.0 / (1 + tf.exp(-x))", "1 / (1 + exp(-_x))"): ["x"],
    ("tf.exp(x) / (tf.exp(x) + 1)", "exp(_x) / (1 + exp(_x))"): ["x"],
    ("tf.exp(x) / (tf.exp(y) + 1)", "exp(_x) / (1 + exp(_x))"): [],
    ("a / b", "_b / _a"): ["b", "a"],
    ("b / a", "_a + _b"): [],
    ("a * b", "_a * 2"): [],
    ("a * 2.0", "2 * _a"): ["a"],
    ("x[0]", "_v[0]"): ["x"],
    ("x[0, 1]", "_v[0]"): [],
    ("x[i]", "_v[_i]"): ["i", "x"],
    ("x[:k]", "_x[:_k]"): ["k", "x"],
    ("x[k:]", "_x[:_k]"): [],
    ("tf.less(x, y=3)", *LESS): ["x", "3"],
    ("tf.less(y=3, x=x)", *LESS): ["x", "3"],
    ("a == b == c", *EQUAL): [],
    ("rows.row_lengths()", "_x.row_lengths()"): ["rows"],
    ("row_lengths()", "_x.row_lengths()"): [],
    ("tf.math.log(x, name='l')", "log(_x)"): [],
    ("tf.math.log(x, name='l')", "log(_x, *_)"): ["x"],
    ("tf.reduce_sum(input_tensor=x)", "reduce_sum(_x)"): ["x"],
    ("tf.divide(y=a, x=b)", "divide(_a, _b)"): [],
    ("tf.shape(x)[0]", "shape(input=_x)[0]"): ["x"],
    ("not x", "-_x"): [],
    ("f(*x) / f(x)", "_a / _a"): [],
    ("f'a' / f'b'", "_a / _a"): [],
    ("f'{x}' / f'{x}'", "_a / _a"): ["f'{x}'"],
    ("(lambda *a: a) / (lambda a: a)", "_a / _a"): [],
    ("1j / 2j", "_a / _a"): [],
    ("x[*i]", "_v[_i]"): [],
    ("a if c else b", "_a if _c else _b"): ["a", "b", "c"],
}


@pytest.mark.parametrize("row", PARTS)
def test_the_letters_stand_for_parts(row: tuple[str, ...]) -> None:
    code, *forms = row
    parts = match(cst.parse_expression(code), *forms)
    assert [cst.Module([]).code_for_node(part) for part in parts] == PARTS[row]


def test_names_are_followed_where_a_form_has_more_than_a_name() -> None:
    source = ParsedSource("e = tf.exp(x)\np = e / (e + 1)\n")
    (quotient,) = (node for node in nodes_in(source.module) if match(node, "_a / _b"))
    form = "exp(_x) / (1 + exp(_x))"
    assert [source.code(x) for x in match(quotient, form, value_of=source.value_of)] == ["x"]
    assert not match(quotient, form)


def test_all_nodes_of_a_form_are_found_in_the_order_of_the_text() -> None:
    source = ParsedSource("a = x / y\nb = tf.divide(y, 2)\nc = x * y\n")
    found = matches(nodes_in(source.module), "_a / _b", "divide(_a, _b)")
    assert [[source.code(part) for part in parts] for _, parts in found] == [["x", "y"], ["y", "2"]]
