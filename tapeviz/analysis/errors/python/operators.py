"""Explain exceptions of operators whose operand is no number and no tensor."""

from __future__ import annotations

import ast
from collections.abc import Mapping

from ..case import Case
from .nones import none_given, none_returned
from .results import several_returned

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


def sign_of(operator: ast.operator) -> str:
    """``+`` for the operator of a sum."""
    return next((sign for sign, kind in _SIGNS.items() if isinstance(operator, kind)), "")


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
    kinds = [case.match["first"].rpartition(".")[2], case.match["other"].rpartition(".")[2]]
    side = next((index for index, kind in enumerate(kinds) if kind in _REMEDIES), None)
    if side is None:
        return ""
    operator = _SIGNS.get(case.match["sign"].removesuffix("="))
    kind, sides = kinds[side], case.sides(operator) if operator is not None else None
    name = case.text.segment(sides[side]) if sides is not None else ""
    if kind != "NoneType":
        what = f"{name}, which is a {kind}" if name else f"something that is a {kind}"
    elif (words := none_given(case)) or (
        sides is not None
        and isinstance(call := sides[side], ast.Call)
        and (words := none_returned(case, name, call, case.line))
    ):  # where it is known whence it came
        return words
    else:
        what = f"{name}, which is None" if name else "None"
    remedy = several_returned(case, name) if kind in ("tuple", "list") else ""
    return f"Line {case.line} computes with {what}. {remedy or _REMEDIES[kind]}"


def _text_times(case: Case) -> str:
    """Words for a text that is multiplied; empty if none is."""
    for side in case.sides(ast.Mult) or ():
        if case.type_of(side) == "str":
            name = case.text.segment(side)
            return f"Line {case.line} computes with {name}, which is a text. {_REMEDIES['str']}"
    return ""


def no_whole_number(case: Case) -> str:
    """A float or a tensor where Python counts, as it repeats a text: ``"x" * tensor``."""
    return _text_times(case) or (
        f"Line {case.line} gives Python a number that may have a fraction where it counts in whole "
        f"numbers, as range does. Write int(…) around it. No gradient passes such a count."
    )


def sequence_times(case: Case) -> str:
    """A list, a tuple or a text times a number with a fraction, by which Python would repeat it."""
    if words := _text_times(case):
        return words
    if case.match[1] in ("list", "tuple"):
        sides = [case.text.segment(side) for side in case.sides(ast.Mult) or ()]
        return (
            f"Line {case.line} multiplies {' by '.join(sides) or 'a list by a list'}, and Python "
            f"multiplies no lists element by element. Make tensors of them first, as by "
            f"tf.stack(values), or multiply in a loop over zip(…)."
        )
    return (
        f"Line {case.line} multiplies a list, a tuple or a text by a number. gradient() of a list "
        f"of sources gives a list, too. Multiply each element, as in [0.1 * g for g in gradients], "
        f"or take one by its number; make a number of a text by float(text)."
    )


def compared(case: Case) -> str:
    """Values of two types that have no order, compared by the snippet or by what sorts them."""
    first, other = case.match["first"], case.match["other"]
    if "NoneType" in (first, other):
        return none_given(case)
    sort = ""
    if isinstance(case.raised_at, ast.Call):
        sort = " To sort values of both, say what they are sorted by: key=str."
    return (
        f"Line {case.line} compares a {first} with a {other}, and Python has no order of these "
        f"two. Make both of one type before, as by float(…) of a text.{sort}"
    )
