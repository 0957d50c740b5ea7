"""Write a small array as a list of its elements, where each was written into it by its place."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product
from math import prod

import libcst as cst

from ..model import Edit, FixCase
from ..nodes import all_of, bound_names, called_name, dotted, elements, read_names, sole
from ..source import CstStatement, ParsedSource
from ..translation.translating import Translated
from .leaving import nodes_of_region

_MOST = 16
_WIDTH = 80
_MAKING = {"zeros": ("0.0", "0.0"), "empty": ("0.0", "0.0"), "ones": ("1.0", "1.0")}
_MAKING |= dict.fromkeys(("eye", "identity"), ("0.0", "1.0"))
"""Functions that make an array of known numbers: the one off the diagonal, and the one on it."""
_Place = tuple[int, ...]


def list_elements(case: FixCase) -> Iterator[Edit]:
    """``R = np.zeros((2, 2))``, ``R[0, 0] = np.cos(a)``, … → in place of the last write
    ``R = tf.convert_to_tensor([[tf.cos(a), 0.0], …])``; the block is said in TensorFlow."""
    source = case.source
    for line in case.lines():
        targets = _targets(sole(source.statement(line)))
        name = dotted(targets[0].value) if targets else ""
        for first, start in _made(source, name, line):
            writes = _writes(source, first, name)
            if not writes:
                continue
            plan = Translated(case, nodes_of_region(case, "block")).plan
            elements, shared = dict(start), list[str]()
            for _, assign in writes:
                value, targets = source.code(plan.changed(assign.value)), _targets(assign)
                if len(targets) > 1 and not _is_alike_each_time(source, assign.value):
                    held = plan.fresh_name(f"{name.rpartition('.')[2]}_element")
                    shared.append(f"{held} = {value}")
                    value = held
                for target in targets:
                    elements[_place(target, elements) or ()] = value
            if len(elements) > len(start):  # a place that the array does not have
                continue
            gone = [first, *(write for write, _ in writes)]
            made = f"{name} = {source.tf}.convert_to_tensor({_listed(elements, name)})"
            above = [line for each in gone[:-1] for line in each.leading_lines if line.comment]
            top, *rest = map(plan.parse, [*shared, made])
            plan.before(gone[-1], top.with_changes(leading_lines=above), *rest)
            for statement in gone:
                plan.remove(statement)
            yield from plan.edits(f"Make {name} of its elements, in place of an array")
            return


def _made(
    source: ParsedSource, name: str, line: int
) -> Iterator[tuple[CstStatement, dict[_Place, str]]]:
    """The statement that makes the array, in the body that holds the line, and its elements."""
    here = source.statement(line)
    for statement in source.before(here) if here is not None and name else ():
        assign = sole(statement)
        if not isinstance(assign, cst.Assign) or not isinstance(assign.value, cst.Call):
            continue
        if [dotted(target.target) for target in assign.targets] != [name]:
            continue
        if elements := _first_elements(source, assign.value):
            yield statement, elements


def _first_elements(source: ParsedSource, made: cst.Call) -> dict[_Place, str]:
    """The elements of ``np.zeros((2, 3))``, ``np.ones(3)`` and ``np.eye(3)``; none of others, nor
    of arrays of integers, which cut off what is written into them."""
    name, positional = called_name(made), [arg.value for arg in made.args if arg.keyword is None]
    if dotted(made.func) != f"{source.np}.{name}" or len(positional) != 1:
        return {}
    if any(not _is_float(arg) for arg in made.args if arg.keyword is not None):
        return {}
    size = positional[0]
    sizes = elements(size) or [size]
    shape = [each.evaluated_value for each in sizes if isinstance(each, cst.Integer)]
    if len(shape) < len(sizes) or name not in _MAKING:
        return {}
    if name in ("eye", "identity"):
        shape *= 2
    if len(shape) > 2 or not 0 < prod(shape) <= _MOST:
        return {}
    places = product(*map(range, shape))
    return {place: _MAKING[name][len(set(place)) == 1] for place in places}


def _is_alike_each_time(source: ParsedSource, value: cst.BaseExpression) -> bool:
    """Whether an expression calls nothing but functions of mathematics (``np.cos``, not
    ``np.random.normal``)."""
    calls = (dotted(call.func).rpartition(".")[0] for call in all_of(value, cst.Call))
    return {source.np, source.tf, "math"}.issuperset(calls)


def _is_float(given: cst.Arg) -> bool:
    """Whether an argument is a floating-point dtype."""
    value = given.value
    named = value.raw_value if isinstance(value, cst.SimpleString) else dotted(value)
    is_dtype = given.keyword is not None and given.keyword.value == "dtype"
    return is_dtype and str(named).rpartition(".")[2].startswith("float")


def _writes(
    source: ParsedSource, first: CstStatement, name: str
) -> list[tuple[CstStatement, cst.Assign]]:
    """The writes into elements, if they are all of them and plain statements behind ``first``, and
    none between them uses the array or changes what was written."""
    found: list[tuple[CstStatement, cst.Assign]] = []
    between: list[CstStatement] = []
    changed, read, count = set[str](), set[str](), 0
    for statement in source.after(first):
        small = sole(statement)
        targets = _targets(small)
        if not isinstance(small, cst.Assign) or not targets or dotted(targets[0].value) != name:
            changed |= read & bound_names(statement)
            between.append(statement)
            continue
        if (
            name in read_names(small.value)
            or changed
            or any(name in read_names(each) for each in between)
        ):
            return []
        found.append((statement, small))
        read |= read_names(small.value)
        count += len(targets)
    every = [
        node
        for node in all_of(source.function_of(first), cst.AssignTarget)
        if isinstance(node.target, cst.Subscript) and dotted(node.target.value) == name
    ]
    return found if len(every) == count else []


def _targets(small: cst.CSTNode | None) -> list[cst.Subscript]:
    """The targets of ``R[0, 1] = R[1, 0] = …``, if all are elements of one array."""
    targets = [each.target for each in small.targets] if isinstance(small, cst.Assign) else []
    found = [each for each in targets if isinstance(each, cst.Subscript)]
    names = {dotted(each.value) for each in found}
    return found if len(found) == len(targets) and len(names) == 1 and "" not in names else []


def _place(target: cst.Subscript, elements: dict[_Place, str]) -> _Place | None:
    """``(0, 1)`` of ``R[0, 1]``, if it is one of an element."""
    given = [e.slice.value for e in target.slice if isinstance(e.slice, cst.Index)]
    numbers = tuple(each.evaluated_value for each in given if isinstance(each, cst.Integer))
    return numbers if numbers in elements and len(numbers) == len(target.slice) else None


def _listed(elements: dict[_Place, str], name: str) -> str:
    """The code of the nested list; of one that is long with a row on each line."""
    rows: dict[_Place, list[str]] = {}
    for place, value in elements.items():
        rows.setdefault(place[:-1], []).append(value)
    lines = [f"[{', '.join(row)}]" for row in rows.values()]
    if () in rows:
        return lines[0]
    whole = f"[{', '.join(lines)}]"
    if len(whole) + len(name) < _WIDTH:
        return whole
    return "[\n" + "".join(f"    {line},\n" for line in lines) + "]"
