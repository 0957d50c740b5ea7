"""Turn lists of variables written in loops or by ``map_structure`` into lists of tensors."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import libcst as cst

from ..blocks import Block, block_of_call
from ..forms import match
from ..model import Edit, FixCase
from ..nodes import all_of, called_name, dotted, elements, is_call_to, parameters_of, sole
from ..plan import Plan
from ..regions import Region, region_after, rounds_around
from ..renaming import WRITING_METHODS, reads_of, rename_reads
from ..source import CstStatement, ParsedSource
from .assigns import new_name, stem
from .weights import begin_with_tensors
from .writes import Write, new_value, write_of, writes_on

_MAPPINGS = ("map_structure", "map")


@dataclass(frozen=True, slots=True)
class _Spread:
    """A write to a name that runs through a list: the ``list``, and what does the running."""

    write: Write
    variables: cst.BaseExpression
    runner: cst.CSTNode
    partners: dict[str, cst.BaseExpression]
    """The iterable that each further name runs through."""


def use_new_list(case: FixCase) -> Iterator[Edit]:
    """The written values are collected in a list of their own, which later reads use."""
    source = case.source
    block = block_of_call(source, case.trace, case.call)
    for write in writes_on(source, case.cause.line):
        if isinstance(write.receiver, cst.Subscript):
            yield from _by_subscript(case, write, block)
            continue
        spread = _spread(source, write)
        if spread is None:
            continue
        if isinstance(spread.runner, cst.For):
            yield from _by_loop(case, spread, block)
            yield from _by_rounds(case, spread, block)
        else:
            yield from _by_expression(case, spread, block)


def _by_subscript(case: FixCase, write: Write, block: Block | None) -> Iterator[Edit]:
    """``c[i].assign(e)`` → ``c_new[i] = e`` in a copy of the list, for all its elements."""
    source = case.source
    assert isinstance(write.receiver, cst.Subscript)
    whole = write.receiver.value
    lines = (write for line in sorted(case.lines("assign")) for write in writes_on(source, line))
    first = next((write for write in lines if _is_element(write.receiver, whole)), write)
    region = region_after(source, first.statement, block)
    plan = Plan(source)
    new = plan.fresh_name(new_name(stem(whole)))
    if not rename_reads(plan, whole, new, region.statements):
        return
    for each in (first, *_further(source, first, whole, region)):
        if not _into_copy(case, plan, each, new):
            return
    kind = "dict" if _is_dict(source, write.receiver) else "list"
    plan.before(region.loop or first.statement, f"{new} = {kind}({source.code(whole)})")
    yield from plan.edits(f"Keep the tensors in {new}, and compute with those")


def _is_dict(source: ParsedSource, element: cst.Subscript) -> bool:
    """Whether the whole is a dictionary, as its key or what it was made by tells."""
    made, _ = source.maker_of(dotted(element.value)) or (None, None)
    is_call = is_call_to(made, "dict", "OrderedDict")
    is_made_so = is_call or isinstance(made, (cst.Dict, cst.DictComp))
    return is_made_so or any(
        isinstance(part, cst.SimpleString) for part in match(element, "_v[_i]")
    )


def _is_element(receiver: cst.BaseExpression, whole: cst.BaseExpression) -> bool:
    return isinstance(receiver, cst.Subscript) and receiver.value.deep_equals(whole)


def _further(
    source: ParsedSource, first: Write, whole: cst.BaseExpression, region: Region
) -> Iterator[Write]:
    """Writes to other elements, or again to the same."""
    for statement in region.statements:
        for call in all_of(statement, cst.Call):
            write = write_of(source, call, False) if called_name(call) in WRITING_METHODS else None
            if write is not None and call is not first.call and _is_element(write.receiver, whole):
                yield write


def _into_copy(case: FixCase, plan: Plan, write: Write, new: str) -> bool:
    """``c_new[i] = e``, and what the variable holds follows."""
    source, element = case.source, write.receiver
    assert isinstance(element, cst.Subscript)
    key = source.code(element)[len(source.code(element.value)) :]
    small = sole(write.statement)
    value = new_value(source, write, f"{new}{key}", case.trace)
    if value is None or not isinstance(small, cst.Expr) or small.value is not write.call:
        return False
    plan.after(write.statement, f"{source.code(element)}.assign({new}{key})")
    state = f"{new}{key} = {source.code(value)}"
    plan.replace(write.statement, lambda old: _keeping_comments(old, cst.parse_statement(state)))
    return True


def _by_loop(case: FixCase, spread: _Spread, block: Block | None) -> Iterator[Edit]:
    """``for v in vs: v.assign(e)`` → the same loop collects ``e`` in a list."""
    source, write, loop = case.source, spread.write, spread.runner
    assert isinstance(loop, cst.For)
    name = source.code(write.receiver)
    plan = Plan(source)
    now, new = plan.fresh_name(new_name(name)), _list_name(plan, spread.variables)
    value = new_value(source, write, name, case.trace)
    small = sole(write.statement)
    if value is None or not isinstance(small, cst.Expr) or small.value is not write.call:
        return
    plan.before(loop, f"{new} = []")
    state = f"{now} = {source.code(value)}"
    plan.replace(write.statement, lambda old: _keeping_comments(old, cst.parse_statement(state)))
    plan.after(write.statement, f"{name}.assign({now})", f"{new}.append({now})")
    rename_reads(plan, write.receiver, now, source.after(write.statement))
    behind = region_after(source, loop, block)
    reads = reads_of(source, spread.variables, behind.statements)
    if any(source.line(read) < source.line(loop) for read in reads):
        return  # the first round would read the list before it is made
    if _use(plan, spread.variables, new, behind.statements):
        yield from plan.edits(f"Keep the tensors in {new}, and compute with those")


def _by_rounds(case: FixCase, spread: _Spread, block: Block | None) -> Iterator[Edit]:
    """Writes that each round of a loop around them makes: the list of tensors goes from round to
    round, as the inner steps of MAML do, and the variables are written when all is over."""
    source, write, loop = case.source, spread.write, spread.runner
    assert isinstance(loop, cst.For)
    rounds = rounds_around(source, loop, block)
    name = source.code(write.receiver)
    value = new_value(source, write, name, case.trace)
    small = sole(write.statement)
    if rounds is None or value is None or not isinstance(small, cst.Expr):
        return
    plan, variables = Plan(source), source.code(spread.variables)
    new, stepped = _list_name(plan, spread.variables), plan.fresh_name("stepped")
    begin_with_tensors(plan, rounds, spread.variables, new)
    plan.before(loop, f"{stepped} = []")
    kept = cst.parse_statement(f"{stepped}.append({source.code(value)})")
    plan.replace(write.statement, lambda old: _keeping_comments(old, kept))
    plan.after(loop, f"{new} = {stepped}")
    last = f"for {name}, {stepped} in zip({variables}, {new}):\n    {name}.assign({stepped})"
    plan.after(rounds.end, last)
    is_used = _use(plan, spread.variables, new, rounds.statements)
    plan.replace(spread.variables, new)
    if is_used:
        yield from plan.edits(f"Keep the tensors in {new} from round to round")


def _by_expression(case: FixCase, spread: _Spread, block: Block | None) -> Iterator[Edit]:
    """``map_structure`` or a comprehension that writes → one that gives the tensors."""
    source, write = case.source, spread.write
    small = sole(write.statement)
    region = region_after(source, write.statement, block)
    value = new_value(source, write, source.code(write.receiver), case.trace)
    if value is None or not isinstance(small, cst.Expr):
        return
    given = spread.partners.get(value.value) if isinstance(value, cst.Name) else None
    if isinstance(given, cst.Name) and isinstance(write.statement, cst.SimpleStatementLine):
        plan = Plan(source)
        if _use(plan, spread.variables, given.value, region.statements):
            if region.block is not None and region.loop is None:
                plan.remove(write.statement)
                plan.after(region.block.node, write.statement)
            title = f"Compute with {given.value} in place of {source.code(spread.variables)}"
            yield from plan.edits(title)
        return
    plan = Plan(source)
    new = _list_name(plan, spread.variables)
    plan.before(write.statement, f"{new} = {_without_write(source, write, small, value)}")
    if _use(plan, spread.variables, new, region.statements):
        yield from plan.edits(f"Keep the tensors in {new}, and compute with those")


def _without_write(
    source: ParsedSource, write: Write, small: cst.Expr, value: cst.BaseExpression
) -> str:
    """The code of the expression, with the value in place of the call that writes it."""
    changed = small.value.deep_replace(write.call, value)
    return source.code(changed)


def _use(
    plan: Plan, variables: cst.BaseExpression, new: str, region: tuple[cst.CSTNode, ...]
) -> bool:
    """Make the region use the new list; whether it does so anywhere.

    ``variables`` itself stands where the writes run through it, and stays: with a loop around the
    writes the region holds them, too.
    """
    count = rename_reads(plan, variables, new, region)
    return count > (plan.changes.pop(variables, None) is not None)


def _spread(source: ParsedSource, write: Write) -> _Spread | None:
    """The iterables that the written name and its partners run through."""
    if not isinstance(write.receiver, cst.Name):
        return None
    name = write.receiver.value
    for above in source.ancestors(write.call):
        names: dict[str, cst.BaseExpression] = {}
        if isinstance(above, cst.For):
            names = _pairs(above.target, above.iter)
        elif isinstance(above, (cst.ListComp, cst.GeneratorExp)):
            names = _pairs(above.for_in.target, above.for_in.iter)
        elif isinstance(above, cst.Lambda):
            call = source.enclosing(above, cst.Call)
            call = call if call is not None and called_name(call) in _MAPPINGS else None
            given = [arg.value for arg in call.args[1:]] if call is not None else []
            names = dict(zip(parameters_of(above), given, strict=False))
        elif isinstance(above, cst.FunctionDef):
            return None
        if name in names:
            others = {key: value for key, value in names.items() if key != name}
            return _Spread(write, names[name], above, others)
    return None


def _pairs(
    target: cst.BaseExpression, iterable: cst.BaseExpression
) -> dict[str, cst.BaseExpression]:
    """Which name of a loop runs through what: ``zip`` and ``enumerate`` are seen through."""
    if isinstance(iterable, cst.Call):
        given = [arg.value for arg in iterable.args if arg.keyword is None]
        if targets := elements(target):
            if called_name(iterable) == "zip":
                pairs = [_pairs(t, i) for t, i in zip(targets, given, strict=False)]
                return {name: value for mapping in pairs for name, value in mapping.items()}
            if called_name(iterable) == "enumerate" and len(targets) == 2 and given:
                return _pairs(targets[1], given[0])
        if called_name(iterable) == "list" and len(given) == 1:
            return _pairs(target, given[0])
    return {target.value: iterable} if isinstance(target, cst.Name) else {}


def _list_name(plan: Plan, variables: cst.BaseExpression) -> str:
    name = stem(variables)
    is_weights = "weight" in name or "variable" in name
    return plan.fresh_name("new_weights" if is_weights else new_name(name))


def _keeping_comments(old: CstStatement, new: object) -> cst.CSTNode:
    assert isinstance(new, cst.SimpleStatementLine)
    assert isinstance(old, cst.SimpleStatementLine)
    return new.with_changes(
        leading_lines=old.leading_lines, trailing_whitespace=old.trailing_whitespace
    )
