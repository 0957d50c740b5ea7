"""Explain exceptions of operators whose operand is no number and no tensor."""

from __future__ import annotations

import ast
from collections.abc import Mapping

from ..case import Case
from .nones import none_given

_SIGNS: Mapping[str, type[ast.operator]] = {
    "+": ast.Add,
    "-": ast.Sub,
    "*": ast.Mult,
    "/": ast.Div,
    "//": ast.FloorDiv,
    "%": ast.Mod,
    "**": ast.Pow,
    "@": ast.MatMult,
}


_REMEDIES: Mapping[str, str] = {
    **dict.fromkeys(
        ("tuple", "list"),
        "A function or layer with several results gives them all at once (an LSTM with "
        "return_state, tf.math.top_k, gradient of a list). Take one of them by its number, or make "
        "one tensor of them by tf.stack.",
    ),
    "dict": "Take one of its entries, by its key.",
    "NoneType": "A function without return gives None, and so does the call of a layer without "
    "one. Return the value there.",
    "str": "Make a number of it first: float(text), or tf.strings.to_number for a tensor.",
    **dict.fromkeys(
        ("function", "method", "type", "builtin_function_or_method"),
        "It is not called: parentheses with its arguments behind it are missing.",
    ),
}


def operands(case: Case) -> str:
    """``h ** 2`` of a tuple: an operand that is no number and no tensor."""
    sides = [case.match["first"].rpartition(".")[2], case.match["other"].rpartition(".")[2]]
    side = next((index for index, kind in enumerate(sides) if kind in _REMEDIES), None)
    if side is None:
        return ""
    kind, name = sides[side], _operand(case, case.match["sign"], side)
    if kind != "NoneType":
        what = f"{name}, which is a {kind}" if name else f"something that is a {kind}"
    elif words := none_given(case):  # where it is known whence it came
        return words
    else:
        what = f"{name}, which is None" if name else "None"
    return f"Line {case.line} computes with {what}. {_REMEDIES[kind]}"


def _operand(case: Case, sign: str, side: int) -> str:
    """The left (0) or right (1) operand of the only such operator on the line, as it is written."""
    statement = case.text.statement(case.line)
    operator = _SIGNS.get(sign.removesuffix("="))
    found = [
        (node.left, node.right)
        for node in (ast.walk(statement) if statement is not None else ())
        if isinstance(node, ast.BinOp) and operator is not None and isinstance(node.op, operator)
    ]
    if isinstance(statement, ast.AugAssign):
        found.append((statement.target, statement.value))
    return case.text.segment(found[0][side]) if len(found) == 1 else ""
