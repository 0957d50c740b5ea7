"""Move statements that ran where the tape did not record into its block."""

from __future__ import annotations

from collections.abc import Iterator, Sequence, Set
from dataclasses import replace

import libcst as cst

from ...analysis.causes.tapes.outside_tape import OutsideTape
from ...analysis.findings import Cause
from ...text.line_words import lines_in_words
from ...trace.sites import StackFrame
from ..blocks import Block, block_of_call, gradient_call, is_method_statement, put_in_front
from ..model import Edit, FixCase
from ..nodes import all_of, argument, bound_names, called_name, read_names, sole
from ..plan import Plan
from ..source import CstStatement, ParsedSource


def move_in(case: FixCase) -> Iterator[Edit]:
    """Move statements from before or after the block to its beginning or end."""
    source = case.source
    block = block_of_call(source, case.trace, case.call)
    if block is None:
        return
    around, outside = _outside(case, block)
    if outside is None:
        return
    siblings = source.siblings(around)
    if place_in(siblings, outside) < place_in(siblings, around):
        outsides = _all_outside(case, around, outside)
        yield from _from_before(case, block, around, outsides)
        if len(outsides) > 1:  # the other way may be a constant on purpose: a target network's
            for edit in _from_before(case, block, around, outsides[-1:]):
                yield replace(
                    edit, title=edit.title.replace("Move", "Move only", 1), has_other_slope=True
                )
    elif around is block.node:
        yield from _from_after(case, block, outside)


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
            yield Edit(title, plan.text())


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
    read = read_names(block.node.body)
    needed = {given.get(name, name) for name in read}
    chosen = makers_of(needed, dependents(between, [first]))
    if first in chosen:
        plan = Plan(source)
        made_names = set[str]().union(*map(bound_names, chosen))
        passed = ((name, value) for name, value in given.items() if name in read)
        renamed = [f"{a} = {b}" for a, b in passed if a != b and b in made_names]
        put_in_front(plan, block, *chosen, *renamed)
        names = " and ".join(sorted(made_names))
        title = f"Compute {names} again inside this tape's block"
        yield Edit(title, plan.text(), has_other_value=True)


def _is_read_by_other_block(source: ParsedSource, first: CstStatement, block: Block) -> bool:
    """Whether a ``with`` between a statement and the block, beside both, reads what it makes."""
    siblings = source.siblings(block.node)
    start = place_in(siblings, first)
    between = siblings[start : place_in(siblings, block.node)] if start >= 0 else ()
    return any(isinstance(each, cst.With) for each in dependents(between, [first]))


def makers_of(names: Set[str], statements: Sequence[CstStatement]) -> list[CstStatement]:
    """The statements that make the names, or what such a statement reads, in their order."""
    chosen, needed = list[CstStatement](), set(names)
    for statement in reversed(statements):
        if needed & bound_names(statement):
            chosen.insert(0, statement)
            needed |= read_names(statement)
    return chosen


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
    names = [param.name.value for param in function.params.params]
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


def _all_outside(case: FixCase, around: CstStatement, outside: CstStatement) -> list[CstStatement]:
    """``outside``, and what else ran before ``around`` on other ways to the target."""
    source = case.source
    siblings = source.siblings(around)
    causes = [
        cause
        for cause in case.finding.others
        if isinstance(cause.evidence, OutsideTape) and cause.evidence.where == "before"
    ]
    ran = (stmt for cause in causes for stmt in _statements_of(case, cause))
    places = {place_in(siblings, beside) for stmt in ran if (beside := source.beside(stmt, around))}
    places = {
        place
        for place in places
        if 0 <= place < place_in(siblings, around)
        and not isinstance(siblings[place], cst.FunctionDef)  # what calls it ran before the block
    }
    return [siblings[place] for place in sorted(places | {place_in(siblings, outside)})]


def _from_before(
    case: FixCase, block: Block, around: CstStatement, outside: Sequence[CstStatement]
) -> Iterator[Edit]:
    """``around``: the block, another tape's block around it, or a loop that it stands in, whose
    turns then each compute anew what was computed once: not where a turn goes on from what the last
    one made."""
    source = case.source
    siblings = source.siblings(around)
    between = siblings[place_in(siblings, outside[0]) : place_in(siblings, around)]
    moved = [
        statement
        for statement in dependents(between, outside, with_shown=True)
        if statement in outside or not isinstance(statement, (cst.ClassDef, cst.FunctionDef))
    ]  # a function reads names when it is called
    if any(isinstance(statement, (cst.ClassDef, cst.FunctionDef)) for statement in outside):
        return
    if around is not block.node:
        made = set[str]().union(*map(bound_names, moved))
        if made & bound_names(around) or not all(map(bound_names, moved)):
            return
    plan = Plan(source)
    for statement in moved:
        plan.remove(statement)
    put_in_front(plan, block, *moved)
    yield Edit(f"Move {lines_of(source, moved)} into the {case.recorder}'s block", plan.text())


def _from_after(case: FixCase, block: Block, outside: CstStatement) -> Iterator[Edit]:
    """Up to the call; with what they need, and without what does not need them."""
    source = case.source
    siblings = source.siblings(block.node)
    asked = gradient_call(source, case.call)
    beside = source.beside(asked, block.node) if asked is not None else None
    end = place_in(siblings, beside) if beside is not None else len(siblings)
    between = siblings[place_in(siblings, block.node) + 1 : end]
    if not any(statement is outside for statement in between):
        return
    moved = _with_needed(between, dependents(between, [outside]))
    plan = Plan(source)
    for statement in moved:
        plan.remove(statement)
    name = _split(plan, block, moved)
    if not name:
        plan.last(block.node, *moved)
    yield Edit(f"Move {lines_of(source, moved)} into the {case.recorder}'s block", plan.text())


def _split(plan: Plan, block: Block, moved: Sequence[CstStatement]) -> str:
    """``with a as outer, b as inner:`` is parted when the inner one is asked inside the outer, or
    keeps the outer one from recording."""
    items = list(block.node.items)
    place = next(i for i, item in enumerate(items) if item is block.item)
    inner = items[place + 1 :]
    names = {plan.source.code(item.asname.name) for item in inner if item.asname is not None}
    is_asked = any(names & read_names(statement) for statement in moved)
    if not is_asked and not any(_stops(plan.source, item) for item in inner):
        return ""

    def part(updated: cst.With) -> cst.CSTNode:
        outer = [*updated.items[: place + 1]]
        outer[-1] = outer[-1].with_changes(comma=cst.MaybeSentinel.DEFAULT)
        inside = updated.with_changes(items=updated.items[place + 1 :], leading_lines=[])
        body = cst.IndentedBlock([inside, *(plan.parse(statement) for statement in moved)])
        return updated.with_changes(
            items=outer, body=body, lpar=cst.MaybeSentinel.DEFAULT, rpar=cst.MaybeSentinel.DEFAULT
        )

    plan.replace(block.node, part)
    return block.name


def compute_target_inside(case: FixCase) -> Iterator[Edit]:
    """``tape.gradient(tf.reduce_sum(y), x)`` → the target is computed in the block's last line."""
    source = case.source
    block = block_of_call(source, case.trace, case.call)
    asked = gradient_call(source, case.call)
    target = argument(asked, 0, "target", "ys") if asked is not None else None
    if block is None or asked is None or target is None or isinstance(target.value, cst.Name):
        return
    if not source.covers(asked, case.cause.line):
        return
    if source.beside(asked, block.node) in (None, block.node):
        return
    plan = Plan(source)
    name = source.free_name("target")
    plan.last(block.node, f"{name} = {source.code(target.value)}")
    plan.replace(target.value, name)
    yield Edit("Compute the target inside the tape's block", plan.text())


def record_again(case: FixCase) -> Iterator[Edit]:
    """Take the statements out of ``with tape.stop_recording():``."""
    source = case.source
    plan = Plan(source)
    found = False
    for statement in statements_of_cause(case):
        for around in (statement, *source.ancestors(statement)):
            if isinstance(around, cst.With) and _stops_recording(source, around):
                _take_out(plan, around)
                found = True
    if found:
        yield Edit("Let the tape record these lines", plan.text())


def _take_out(plan: Plan, around: cst.With) -> None:
    """``with a, a.stop_recording():`` → ``with a:``; the statements alone, if nothing is left."""
    kept = [item for item in around.items if not _stops(plan.source, item)]
    if not kept:
        plan.unwrap(around)
        return
    kept[-1] = kept[-1].with_changes(comma=cst.MaybeSentinel.DEFAULT)
    plan.replace(around, lambda updated: updated.with_changes(items=kept))


def forget_nothing(case: FixCase) -> Iterator[Edit]:
    """Move ``tape.reset()`` to the block's start, or take it away."""
    source = case.source
    block = block_of_call(source, case.trace, case.call)
    evidence = case.cause.evidence
    is_reset = isinstance(evidence, OutsideTape) and evidence.where == "reset"
    if block is None or not is_reset:
        return
    plan = Plan(source)
    resets = [
        statement
        for statement in source.statements
        if is_method_statement(statement, block.name, "reset")
        and case.cause.line <= source.line(statement) < case.call.line
    ]
    small = sole(at_cause := source.statement(case.cause.line))
    if not resets and at_cause is not None and isinstance(small, cst.Expr):
        is_reset = isinstance(small.value, cst.Call) and called_name(small.value) == "reset"
        resets = [at_cause] * is_reset

    for statement in resets:
        plan.remove(statement)
    if resets:
        yield Edit("Do not reset the tape in between", plan.text())


def _outside(case: FixCase, block: Block) -> tuple[CstStatement, CstStatement | None]:
    """The statement that ran what the tape did not see, beside the block or beside a loop or the
    block of another tape around it; the block or what is around it first."""
    source = case.source
    outers: list[CstStatement] = []
    for outer in source.ancestors(block.node):
        if isinstance(outer, (cst.FunctionDef, cst.ClassDef)):
            break
        if isinstance(outer, (cst.For, cst.While, cst.With)):
            outers.append(outer)
    for around in (block.node, *outers):
        for statement in statements_of_cause(case):
            beside = source.beside(statement, around)
            if beside is not None and beside is not around:
                return around, beside
    return block.node, None


def statements_of_cause(case: FixCase) -> Iterator[CstStatement]:
    return _statements_of(case, case.cause)


def _statements_of(case: FixCase, cause: Cause) -> Iterator[CstStatement]:
    """The statement on the line of a cause, then those of the calls around its op."""
    op = case.trace.ops.get(cause.op_id) if cause.op_id is not None else None
    frames: tuple[StackFrame, ...] = op.site.frames if op is not None else ()
    for line in (cause.line, *(frame.line for frame in frames)):
        statement = case.source.statement(line)
        if statement is not None:
            yield statement


def dependents(
    statements: Sequence[CstStatement], firsts: Sequence[CstStatement], with_shown: bool = False
) -> list[CstStatement]:
    """``firsts``, and of those after them what reads something that was made from one; with what
    only shows or writes it (``print(y)``, ``q.assign(y)``), which cannot run before."""
    kept: list[CstStatement] = []
    names: set[str] = set()
    for statement in statements:
        is_shown = isinstance(sole(statement), cst.Expr) and not with_shown
        if statement in firsts or (names & read_names(statement) and not is_shown):
            kept.append(statement)
            names |= bound_names(statement) | _filled_names(statement)
    return kept


def _filled_names(statement: CstStatement) -> set[str]:
    """``memory`` of ``memory.append(x)``, in the statement or anywhere in it."""
    alone = (each.value for each in all_of(statement, cst.Expr))
    called = (each.func for each in alone if isinstance(each, cst.Call))
    owners = (each.value for each in called if isinstance(each, cst.Attribute))
    return {owner.value for owner in owners if isinstance(owner, cst.Name)}


def _with_needed(
    statements: Sequence[CstStatement], chosen: list[CstStatement]
) -> list[CstStatement]:
    """The chosen statements with those that make what they read."""
    kept = list(chosen)
    needed = set().union(*(read_names(statement) for statement in chosen))
    for statement in reversed(statements):
        is_later = all(
            place_in(statements, statement) > place_in(statements, other) for other in chosen
        )
        if any(statement is other for other in kept) or is_later:
            continue
        if needed & bound_names(statement):
            kept.append(statement)
            needed |= read_names(statement)
    return sorted(kept, key=lambda statement: place_in(statements, statement))


def place_in(statements: Sequence[CstStatement], node: cst.CSTNode) -> int:
    return next((i for i, each in enumerate(statements) if each is node), -1)


def _stops_recording(source: ParsedSource, statement: cst.With) -> bool:
    return any(_stops(source, item) for item in statement.items)


def _stops(source: ParsedSource, item: cst.WithItem) -> bool:
    """Whether a context pauses the tape, itself or in a function of the text that it is made by."""
    calls = list(all_of(item.item, cst.Call))
    names = {call.func.value for call in calls if isinstance(call.func, cst.Name)}
    for function in all_of(source.module, cst.FunctionDef) if names else ():
        if function.name.value in names:
            calls += all_of(function.body, cst.Call)
    return any(called_name(call) == "stop_recording" for call in calls)


def lines_of(source: ParsedSource, moved: Sequence[CstStatement]) -> str:
    return lines_in_words([source.line(statement) for statement in moved])
