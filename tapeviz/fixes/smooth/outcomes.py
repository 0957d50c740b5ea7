"""Interpolate between what the code that follows a rounded number gives at it and at the next."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import libcst as cst

from ...analysis.causes.ops.not_differentiable import IntegerValue
from ..blocks import block_of_call, target_name
from ..model import Edit, FixCase
from ..nodes import all_of, argument, bound_names, dotted, header_nodes, read_names, sole
from ..plan import Plan
from ..source import CstStatement, ParsedSource
from .counts import uncast
from .indices import input_shape

_STEP = "    "


def interpolate_outcome(case: FixCase) -> Iterator[Edit]:
    """``n = int(x)`` and what follows, up to the result ``y`` of the function or to the target →
    ``def outcome(n): …``, ``y = outcome(n) + (x - n) * (outcome(n + 1) - outcome(n))``.

    For any use of a whole number, be it a size, a count of turns or the width of a window: the line
    between the results at the two whole numbers around x. Both are computed.
    """
    source = case.source
    for line in _lines_of_casts(case):
        statement = source.statement(line)
        if not isinstance(statement, cst.SimpleStatementLine):
            continue
        for call in header_nodes(statement, cst.Call):
            x = uncast(source, call)
            texts = [_interpolated(case, statement, call, x)] if x else []
            for around, given in _given_to(case, statement, x) if x else ():
                texts.append(_interpolated(case, around, given, source.code(given)))
            title = "Estimate: interpolate between the outcomes at the whole number and the next"
            yield from (Edit(title, text, is_estimate=True) for text in texts if text)
            if any(texts):
                return


def interpolate_taken(case: FixCase) -> Iterator[Edit]:
    """The same where an op that gives real numbers takes the whole one, and could take no other."""
    evidence = case.cause.evidence
    if isinstance(evidence, IntegerValue) and evidence.taken_by:
        yield from interpolate_outcome(case)


def _lines_of_casts(case: FixCase) -> Iterator[int]:
    """The lines of the cause; of a loop there, those that make what it repeats by."""
    source = case.source
    for line in case.lines():
        yield line
        loop = source.statement(line)
        head = loop.iter if isinstance(loop, cst.For) else None
        head = loop.test if isinstance(loop, cst.While) else head
        for name in all_of(head, cst.Name) if head is not None else ():
            made = source.bound_to(name)
            if made is not None:
                yield source.line(made)


def _given_to(
    case: FixCase, statement: CstStatement, x: str
) -> Iterator[tuple[CstStatement, cst.BaseExpression]]:
    """The arguments for the parameter ``x`` of the function around, of its calls in the tape's
    block: what the function gives may have another shape for each number, and the target has not.
    """
    source, block = case.source, block_of_call(case.source, case.trace, case.call)
    function, names = source.enclosing(statement, cst.FunctionDef), source.parameters(statement)
    if function is None or block is None or x not in names:
        return
    for call in all_of(block.node.body, cst.Call):
        around = source.statement_of(call)
        given = argument(call, names.index(x), x)
        if dotted(call.func) == function.name.value and around is not None and given is not None:
            yield around, given


def _interpolated(case: FixCase, statement: CstStatement, cast: cst.BaseExpression, x: str) -> str:
    """The text with the statements after the cast in a function of the whole number; or empty.

    ``cast``: or a number that is rounded later, which is rounded here.
    """
    source, tf = case.source, case.source.tf
    target, plan = source.target_of(cast), Plan(source)
    is_named = isinstance(target, cst.Name)
    if isinstance(target, cst.Name):
        whole, inside = target.value, list(source.after(statement))
    else:
        whole, inside = plan.fresh_name("whole"), [statement, *source.after(statement)]
    result, inside = _up_to_result(case, statement, inside)
    shape = input_shape(case)
    if not inside or len(shape) > 1:  # of many numbers each would need outcomes of its own
        return ""
    made = source.code(cast)
    made = made if made != x else f"{tf}.floor({x})"
    for each in inside:
        for node in all_of(each, type(cast)):
            if node.deep_equals(cast):
                plan.replace(node, whole)
    lines = plan.text().split("\n")
    if len(lines) != source.text.count("\n") + 1:
        return ""
    start, end = source.line(inside[0]) - 1, source.end_line(inside[-1])
    indent = " " * source.column(statement)
    outcome, low, part = map(plan.fresh_name, ("outcome", "low", "part"))
    carried, later = _carried(source, inside), _later(source, inside, result)
    given = "".join(f", {name}={name}" for name in carried if name != whole)
    body = [f"{_STEP}{line}" if line.strip() else line for line in lines[start:end]]
    first = "".join(f", {name}" for name in later)
    if result:
        body.append(f"{indent}{_STEP}return {result}{first}")
    rise = f"{outcome}({whole} + {{}}){'[0]' if later else ''} - {low}"
    line = f"{low} + {part} * ({rise.format(1)})"
    if shape:  # along each of several whole numbers
        sides = f"{tf}.unstack({tf}.eye({shape[0]}, dtype={whole}.dtype))"
        rises = f"{tf}.stack([{rise.format('side')} for side in {sides}])"
        line = f"{low} + {tf}.tensordot({part}, {rises}, 1)"
    steps = [
        *([] if is_named else [f"{whole} = {made}"]),
        f"{part} = {x} - {tf}.cast({whole}, {tf}.float32)",
        f"{low}{first} = {outcome}({whole})",
        f"{result} = {line}" if result else f"return {line}",
    ]
    head = f"{indent}def {outcome}({whole}{given}):"
    return "\n".join(
        (*lines[:start], head, *body, *(indent + step for step in steps), *lines[end:])
    )


def _up_to_result(
    case: FixCase, statement: CstStatement, following: list[CstStatement]
) -> tuple[str, list[CstStatement]]:
    """The name of the target and the statements of the block up to the one that makes it; in
    another function its statements, and an empty name. No statements where neither is so."""
    source = case.source
    block = block_of_call(source, case.trace, case.call)
    body = source.parent(statement)
    around = source.parent(body) if body is not None else None
    if block is not None and around is block.node:
        target = target_name(source, case.call)
        makers = [i for i, each in enumerate(following) if target in bound_names(each)]
        return target, following[: makers[-1] + 1] if target and makers else []
    returned = sole(following[-1]) if following else None
    is_function = isinstance(around, cst.FunctionDef) and isinstance(returned, cst.Return)
    is_whole = isinstance(returned, cst.Return) and not isinstance(returned.value, cst.Tuple)
    return "", following if is_function and is_whole else []


def _carried(source: ParsedSource, inside: Sequence[CstStatement]) -> list[str]:
    """The names that the statements read and bind anew, and that were bound before them."""
    function = source.function_of(inside[0])
    before = {
        name
        for each in source.statements
        if source.function_of(each) is function and source.end_line(each) < source.line(inside[0])
        for name in bound_names(each)
    }
    if isinstance(function, cst.FunctionDef):
        before |= {param.name.value for param in all_of(function.params, cst.Param)}
    bound = set().union(*map(bound_names, inside))
    return sorted(before & bound & set().union(*map(read_names, inside)))


def _later(source: ParsedSource, inside: Sequence[CstStatement], result: str) -> list[str]:
    """The names that the statements bind and that are read after them in the same function."""
    function, end = source.function_of(inside[-1]), source.end_line(inside[-1])
    after = [
        each
        for each in source.statements
        if source.function_of(each) is function and source.line(each) > end
    ]
    read = set().union(*map(read_names, after))
    return sorted((set().union(*map(bound_names, inside)) & read) - {result})
