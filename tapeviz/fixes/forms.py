"""Tell whether an expression has a form that is written as code, and give its parts.

``match(node, "_a / (_a + _b)")``: a name that begins with an underscore stands for any expression,
and for the same one wherever it occurs in the form. Spaces, parentheses and the order of summands
and factors do not matter; numbers are compared by value. In a form

- ``exp(_x)`` is a call with this argument alone, whatever module has the function
  (:func:`called_name`), and ``log(_x, *_)`` one that may have further arguments;
- ``gather(params=_p, indices=_i)`` has both, by place or by keyword, and perhaps others;
- ``_x.numpy()`` is the call of a method;
- ``(_d := _h - _z) + _z`` gives the difference, too.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import cache
from typing import TypeAlias

import libcst as cst

from .nodes import argument, called_name

_Parts: TypeAlias = "dict[str, cst.CSTNode]"
_ValueOf: TypeAlias = "Callable[[cst.Name], cst.CSTNode]"

# Types are compared by "is" and "in": an instance check of a class of libcst takes a microsecond.
_SPELLING = {cst.SimpleWhitespace, cst.ParenthesizedWhitespace, cst.LeftParen, cst.RightParen}
_SPELLING |= {cst.LeftSquareBracket, cst.RightSquareBracket, cst.Comma, cst.Dot, cst.Colon}


EQUAL = ("_a == _b", "equal(x=_a, y=_b)")
UNEQUAL = ("_a != _b", "not_equal(x=_a, y=_b)")
MORE = ("_a > _b", "_a >= _b", "greater(x=_a, y=_b)", "greater_equal(x=_a, y=_b)")
LESS = ("_a < _b", "_a <= _b", "less(x=_a, y=_b)", "less_equal(x=_a, y=_b)")


def match(
    node: cst.CSTNode | None, *forms: str, value_of: _ValueOf | None = None
) -> Sequence[cst.BaseExpression]:
    """The parts of an expression that has one of the forms, in the order of their letters; empty
    for any other. ``value_of``: gives what a name in it is bound to, which may have the form."""
    for form in map(_parsed, forms) if node is not None else ():
        for parts in _matches(form, node, value_of, {}):  # type: ignore[arg-type]
            return [parts[letter] for letter in sorted(parts)]  # type: ignore[misc]
    return ()


def matches(
    nodes: Iterable[cst.CSTNode], *forms: str
) -> Iterator[tuple[cst.BaseExpression, Sequence[cst.BaseExpression]]]:
    """Each of the nodes that has one of the forms, with its parts."""
    kinds = {type(_parsed(form)) for form in forms}
    for node in nodes:
        parts = match(node, *forms) if type(node) in kinds else ()
        if parts:
            yield node, parts  # type: ignore[misc]


@cache
def _parsed(form: str) -> cst.BaseExpression:
    return cst.parse_expression(form)


def is_same(node: cst.CSTNode, other: cst.CSTNode) -> bool:
    """Whether two expressions are the same but for spaces and parentheses."""
    mine, others = _inside(node), _inside(other)
    are_alike = _kind(node) == _kind(other) and len(mine) == len(others)
    return are_alike and all(map(is_same, mine, others))


def _kind(node: cst.CSTNode) -> object:
    """Equal for two nodes that may be the same but for the nodes inside them."""
    kind = type(node)
    if kind is cst.Slice:
        return [getattr(node, end) is not None for end in ("lower", "upper", "step")]
    if kind in (cst.Integer, cst.Float, cst.Imaginary, cst.SimpleString):
        return node.evaluated_value  # type: ignore[attr-defined]
    if kind in (cst.Arg, cst.Param, cst.Index):
        return kind, node.star or ""  # type: ignore[attr-defined]
    if kind is cst.FormattedString:
        return cst.Module([]).code_for_node(node)
    return node.value if isinstance(node, cst.Name) else kind


def _inside(node: cst.CSTNode) -> list[cst.CSTNode]:
    return [child for child in node.children if type(child) not in _SPELLING]


def _matches(
    form: cst.CSTNode, node: cst.CSTNode, value_of: _ValueOf | None, parts: _Parts
) -> Iterator[_Parts]:
    """``parts`` with those of the node, for each way in which it has the form."""
    if isinstance(form, cst.Name) and form.value.startswith("_"):
        if form.value not in parts or is_same(parts[form.value], node):
            yield {**parts, form.value: node}
        return
    if isinstance(form, cst.NamedExpr):
        for inside in _matches(form.value, node, value_of, parts):
            yield from _matches(form.target, node, value_of, inside)
        return
    if isinstance(node, cst.Name) and value_of is not None and not isinstance(form, cst.Name):
        node = value_of(node)
    if isinstance(form, cst.Call) and isinstance(node, cst.Call):
        yield from _matches_call(form, node, value_of, parts)
    elif _kind(form) == _kind(node):
        wanted, given = _inside(form), _inside(node)
        yield from _match_each(wanted, given, value_of, parts)
        if type(getattr(form, "operator", None)) in (cst.Add, cst.Multiply):
            yield from _match_each(wanted, given[::-1], value_of, parts)


def _matches_call(
    form: cst.Call, node: cst.Call, value_of: _ValueOf | None, parts: _Parts
) -> Iterator[_Parts]:
    if called_name(form) != called_name(node):
        return
    wanted: list[cst.CSTNode] = [arg.value for arg in form.args if not arg.star]
    given: list[cst.CSTNode | None] = [arg.value for arg in node.args]
    if any(arg.keyword for arg in form.args):
        names = [arg.keyword.value for arg in form.args if arg.keyword]
        given = [argument(node, place, name) for place, name in enumerate(names)]
    elif any(arg.star or (arg.keyword and len(wanted) > 1) for arg in node.args[: len(wanted)]):
        return
    elif len(form.args) > len(wanted):
        given = given[: len(wanted)]
    if isinstance(form.func, cst.Attribute):
        wanted.append(form.func.value)
        given.append(node.func.value if isinstance(node.func, cst.Attribute) else None)
    known = [each for each in given if each is not None]
    if len(known) == len(given):
        yield from _match_each(wanted, known, value_of, parts)


def _match_each(
    forms: Sequence[cst.CSTNode],
    nodes: Sequence[cst.CSTNode],
    value_of: _ValueOf | None,
    parts: _Parts,
) -> Iterator[_Parts]:
    if len(forms) == len(nodes) == 0:
        yield parts
    elif len(forms) == len(nodes):
        for first in _matches(forms[0], nodes[0], value_of, parts):
            yield from _match_each(forms[1:], nodes[1:], value_of, first)
