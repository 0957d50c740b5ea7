"""Explain an ``einsum`` whose labels do not fit the shapes of what it is given."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence
from itertools import permutations, takewhile
from typing import NamedTuple

from ..case import Case
from .operands import OperandShape, shapes_on_line


class _Axis(NamedTuple):
    operand: int
    number: int
    size: int


def misfit(case: Case) -> str:
    """Name the label that stands for two lengths, or the term with too many or too few labels."""
    shapes = dict(shapes_on_line(case))
    for call in case.calls:
        equation, *operands = call.args or [ast.Constant(None)]
        if not (isinstance(equation, ast.Constant) and isinstance(equation.value, str)):
            continue
        placed = takewhile(lambda each: not isinstance(each, ast.Starred), operands)
        codes = [case.text.segment(each) for each in placed]
        known = [shapes.get(code) for code in codes]
        for term, code, shape in zip(_terms(equation.value), codes, known, strict=False):
            if shape is not None and "." not in term and len(term) != len(shape):
                return (
                    f'In "{equation.value}" on line {case.line} the term {term} stands for {code}, '
                    f"which has the shape {tuple(shape)}. A term has one letter for each axis, or "
                    f'"..." for several.'
                )
        for label, first, other in _conflicts(equation.value, known):
            axes = " and ".join(
                f"axis {axis.number} of {codes[axis.operand]} ({axis.size} long)"
                for axis in (first, other)
            )
            is_known = len(known) == len(_terms(equation.value)) and all(
                shape is not None and None not in shape for shape in known
            )
            fitting = next(fitting_equations(equation.value, known), "") if is_known else ""
            remedy = f' "{fitting}" would fit.' if fitting else ""
            return (
                f'In "{equation.value}" on line {case.line} the letter {label} stands for {axes}. '
                f"A letter stands for axes of one length.{remedy}"
            )
    return ""


def fitting_equations(equation: str, shapes: Sequence[OperandShape | None]) -> Iterator[str]:
    """The equations with the letters of one term in another order whose letters stand for axes of
    one length each; first those with another last term, which is a weight more often."""
    terms, (_, arrow, result) = _terms(equation), equation.partition("->")
    for place, term in reversed([*enumerate(terms)]):
        for letters in permutations(term) if len(term) < 5 and "." not in term else ():
            changed = [*terms[:place], "".join(letters), *terms[place + 1 :]]
            found = f"{','.join(changed)}{arrow}{result.strip()}"
            if not any(_conflicts(found, shapes)):
                yield found


def _terms(equation: str) -> list[str]:
    return equation.replace(" ", "").partition("->")[0].split(",")


def _conflicts(
    equation: str, shapes: Sequence[OperandShape | None]
) -> Iterator[tuple[str, _Axis, _Axis]]:
    """Each letter that stands for two axes of different lengths, with these."""
    seen: dict[str, _Axis] = {}
    for operand, (term, shape) in enumerate(zip(_terms(equation), shapes, strict=False)):
        if shape is None or len(shape) != len(term):
            continue
        for number, (label, size) in enumerate(zip(term, shape, strict=True)):
            if size is not None:
                axis = _Axis(operand, number, size)
                before = seen.setdefault(label, axis)
                if before.size != size:
                    yield label, before, axis
