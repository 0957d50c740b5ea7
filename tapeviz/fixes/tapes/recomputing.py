"""Compute once more, in the tape's block, what was computed where the tape did not record."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import libcst as cst

from ...wording import enumerated
from ..blocks import Block, block_of_call, body_of, put_in_front
from ..model import Edit, FixCase
from ..nodes import all_of, bound_names, parameters_of, read_names, sole
from ..plan import Plan
from ..source import CstStatement, ParsedSource
from .neighbours import dependents, makers_of, place_in


def compute_default_inside(case: FixCase) -> Iterator[Edit]:
    """``def f(x, w=e)`` → ``def f(x, w=None)``, which computes ``e`` where none is given: a default
    is computed once, when the function is made."""
    source = case.source
    for function in all_of(source.module, cst.FunctionDef):
        params = function.params
        for param in (*params.params, *params.kwonly_params):
            default = param.default
            if default is None or not any(source.covers(default, line) for line in case.lines()):
                continue
            plan, name = Plan(source), param.name.value
            plan.replace(default, "None")
            plan.first(function, f"if {name} is None:\n    {name} = {source.code(default)}")
            title = (
                f"Compute the default of {name} in {function.name.value}, while the tape records"
            )
            yield from plan.edits(title)


def compute_again_inside(case: FixCase) -> Iterator[Edit]:
    """``z = enc(x)`` in the block of another tape, before such a block that reads ``z``, or outside
    of the function that opens this tape → the same once more in this tape's block.

    The weights may have been trained in between; the gradient is that of the weights as they are.
    """
    source = case.source
    block = block_of_call(source, case.trace, case.call)
    first = source.statement(case.cause.line)
    if block is None or first is None:
        return
    other, given = source.enclosing(first, cst.With), dict[str, str]()
    home, function = (source.enclosing(node, cst.FunctionDef) for node in (first, block.node))
    around = list(source.ancestors(block.node))
    is_outside = function is not home and (home is None or home in around)
    is_in_other = other is not None and other not in (block.node, *around)
    if is_in_other or _is_read_by_other_block(source, first, block):
        between = _between(source, first, source.line(block.node))
    elif is_outside:
        lines = (frame.line for frame in case.call.site.frames)
        ran = (line for line in lines if _function_at(source, line) is home)
        line = next(ran, 0)
        given = _named_arguments(source, line, function)
        between = _between(source, first, line)
        between = [each for each in between if source.enclosing(each, cst.FunctionDef) is home]
    else:
        return
    read = _read_before_made(body_of(block))
    needed = {given.get(name, name) for name in read}
    chosen = makers_of(needed, dependents(source, between, [first]))
    if first in chosen:
        plan = Plan(source)
        made_names = set[str]().union(*map(bound_names, chosen))
        passed = ((name, value) for name, value in given.items() if name in read)
        renamed = [f"{a} = {b}" for a, b in passed if a != b and b in made_names]
        put_in_front(plan, block, *chosen, *renamed)
        names = enumerated(sorted(made_names))
        title = f"Compute {names} again inside this tape's block"
        yield from plan.edits(title, has_other_value=True)


def _read_before_made(statements: Sequence[CstStatement]) -> set[str]:
    """The names that statements read, without those that an assignment among them makes first."""
    read, made = set[str](), set[str]()
    for statement in statements:
        read |= read_names(statement) - made
        made |= bound_names(statement) if isinstance(sole(statement), cst.Assign) else set()
    return read


def _is_read_by_other_block(source: ParsedSource, first: CstStatement, block: Block) -> bool:
    """Whether a ``with`` between a statement and the block, beside both, reads what it makes."""
    siblings = source.siblings(block.node)
    start = place_in(siblings, first)
    between = siblings[start : place_in(siblings, block.node)] if start >= 0 else ()
    return any(isinstance(each, cst.With) for each in dependents(source, between, [first]))


def _between(source: ParsedSource, first: CstStatement, end: int) -> list[CstStatement]:
    """The assignments from a statement on that begin before the line ``end``."""
    return [
        statement
        for statement in source.statements
        if source.line(first) <= source.line(statement) < end
        and isinstance(sole(statement), cst.Assign)
    ]


def _named_arguments(
    source: ParsedSource, line: int, function: cst.FunctionDef | None
) -> dict[str, str]:
    """The names given as arguments where a function is called, by the names of its parameters."""
    found: dict[str, str] = {}
    if function is None:
        return found
    names = parameters_of(function)
    if names[:1] in (["self"], ["cls"]):
        names = names[1:]
    for call in source.calls(line, function.name.value):
        for place, arg in enumerate(call.args):
            if arg.star:
                break
            name = arg.keyword.value if arg.keyword else "".join(names[place : place + 1])
            if name and isinstance(arg.value, cst.Name):
                found[name] = arg.value.value
    return found


def _function_at(source: ParsedSource, line: int) -> cst.FunctionDef | None:
    statement = source.statement(line)
    return source.enclosing(statement, cst.FunctionDef) if statement is not None else None
