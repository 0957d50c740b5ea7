"""Count only a part of a loop's last turn, where a tensor decides how often the loop repeats."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import libcst as cst

from ..forms import LESS, MORE, match
from ..model import Edit, FixCase
from ..nodes import (
    all_of,
    argument,
    bound_names,
    dotted,
    elements,
    is_call_to,
    pairs_of,
    parameters_of,
    read_names,
    sole,
)
from ..plan import Plan
from ..source import ParsedSource
from .branches import deciding_line
from .counts import uncast, up_to_one

_TITLE = "Estimate: count only the part of the last turn that lies before the bound"


def blend_last_turn(case: FixCase) -> Iterator[Edit]:
    """``for i in range(int(n))`` → one turn more, and each turn counts by the part of it that lies
    below ``n``; of ``while t < end`` the last turn counts by the part of its step of ``t`` that
    lies below ``end``. Whole numbers that count the turns are left as they are; in a second edit
    they become floats and count likewise."""
    source = case.source
    loop = source.statement(deciding_line(case))
    leaves = (cst.Break, cst.Continue, cst.Return)
    if not isinstance(loop, (cst.For, cst.While)) or loop.orelse:
        return
    if any(all_of(loop.body, kind) for kind in leaves):
        return
    function, start = source.function_of(loop), source.line(loop)
    same = [each for each in source.statements if source.function_of(each) is function]
    same = [each for each in same if source.end_line(each) < start]
    before = set().union(*map(bound_names, same))
    if isinstance(function, cst.FunctionDef):
        before |= {param.name.value for param in all_of(function.params, cst.Param)}
    added = all_of(loop.body, cst.AugAssign)
    counting = [step for step in added if isinstance(step.value, cst.Integer)]  # i += 1
    steps = (*all_of(loop.body, cst.Assign), *(step for step in added if step not in counting))
    carried = before & set().union(*map(bound_names, steps))
    counters = before & set().union(*map(bound_names, counting)) - carried
    may_be_traced = isinstance(loop, cst.While) and isinstance(function, cst.FunctionDef)
    for names in (carried, carried | counters) if counters else (carried,):
        for is_traced in (False, True) if may_be_traced else (False,):
            plan = Plan(source)
            ordered = [*sorted(carried), *sorted(names - carried)]
            if names and _blend(plan, loop, ordered, is_traced):
                for name in names & counters:
                    _start_as_float(plan, same, name)
                yield from plan.edits(_TITLE, is_estimate=True)


def _blend(plan: Plan, loop: cst.For | cst.While, names: Sequence[str], is_traced: bool) -> bool:
    if isinstance(loop, cst.For):
        return _blend_turns(plan, loop, names)
    return _blend_last(plan, loop, names, is_traced)


def _blend_turns(plan: Plan, loop: cst.For, names: Sequence[str]) -> bool:
    """Give each turn a weight from 0 to 1; False for a loop of another form."""
    part = _part_of_count(plan, loop)
    if not part:
        return False
    olds = {name: plan.fresh_name(f"{name}_before") for name in names}
    weight = plan.fresh_name("weight")
    plan.first(loop, *_kept(olds))
    # A count that is rounded up has turns beyond it: these weigh nothing.
    plan.last(loop, f"{weight} = {up_to_one(plan.source.tf, part)}", *_blended(olds, weight))
    return True


def _kept(olds: Mapping[str, str]) -> list[str]:
    return [f"{old} = {value}" for value, old in olds.items()]


def _blended(olds: Mapping[str, str], weight: str) -> list[str]:
    return [f"{name} = {old} + {weight} * ({name} - {old})" for name, old in olds.items()]


def _part_of_count(plan: Plan, loop: cst.For) -> str:
    """How far ``n`` lies beyond the turn, with one turn more; empty for another loop."""
    source = plan.source
    call = loop.iter if isinstance(loop.iter, cst.Call) and len(loop.iter.args) == 1 else None
    count = argument(call, 0)
    is_tensor = call is not None and dotted(call.func) == f"{source.tf}.range"
    n = uncast(source, count) if count is not None else ""
    if count is not None and not n and is_tensor:  # tf.range takes floats, too
        n = source.operand(count)
    if count is None or not n:
        return ""
    turn = plan.fresh_name("turn")
    if isinstance(loop.target, cst.Name) and loop.target.value.strip("_"):
        turn = loop.target.value
    else:
        plan.replace(loop.target, turn)
    plan.replace(count, f"{source.code(count)} + 1")
    return f"{n} - {source.tf}.cast({turn}, {source.tf}.float32)" if is_tensor else f"{n} - {turn}"


def _blend_last(plan: Plan, loop: cst.While, names: Sequence[str], is_traced: bool) -> bool:
    """Weigh the last turn of ``while t < end``, after the loop, by how much of its step ``t`` takes
    below ``end``; False for a loop of another form. Of several conditions the first counts that is
    about one of the ``names``, in their order.

    ``is_traced``: in a compiled loop a name that is read after it must be bound before it, too.
    """
    source = plan.source
    bounds = [each for test in _joined(loop.test) if (each := _bound(source, test))]
    by_name = ((name, each) for name in names for each in bounds)
    bound = next((each for name, each in by_name if name in read_names(each.level)), None)
    if bound is None:
        return False
    read = _read_later(source, loop)
    used = [name for name in names if name in read]
    level = source.operand(bound.level)
    stem = level if level in names else "level"
    old = plan.fresh_name(f"{stem}_before")
    olds = {name: plan.fresh_name(f"{name}_before") for name in used if name != level}
    kept = [f"{old} = {level}", *_kept(olds)]
    if is_traced:
        plan.before(loop, *kept)
    plan.first(loop, *kept)
    weight, last = plan.fresh_name("weight"), {level: old} if level in used else {}
    part = f"({bound.end} - {old}) / ({level} - {old})"
    if isinstance(loop.test, cst.BooleanOperation):  # another condition may have ended the loop
        part = f"1.0 if {level} {'>' if bound.is_least else '<'} {bound.end} else {part}"
    plan.after(loop, f"{weight} = {part}", *_blended(olds | last, weight))
    return bool(used)


def _joined(test: cst.BaseExpression) -> list[cst.BaseExpression]:
    """The conditions that ``and`` joins; the only one where it joins none."""
    parts = match(test, "_a and _b")
    return [each for part in parts for each in _joined(part)] or [test]


def _read_later(source: ParsedSource, loop: cst.While) -> frozenset[str]:
    """The names that the function around reads after the loop, or in a further turn of a loop that
    it stands in."""
    outer = [each for each in source.ancestors(loop) if isinstance(each, (cst.For, cst.While))]
    function, end = source.function_of(loop), source.end_line(loop)
    after = [
        each
        for each in source.statements
        if source.function_of(each) is function and source.line(each) > end
    ]
    return frozenset().union(*map(read_names, [*outer, *after]))


@dataclass(frozen=True)
class _Bound:
    """``level`` is compared with the number that ``end`` is the code of: it stays below that while
    the loop runs, else (``is_least``) above."""

    level: cst.BaseExpression
    end: str
    is_least: bool


def _bound(source: ParsedSource, test: cst.BaseExpression) -> _Bound | None:
    """The two sides of ``t < end`` and of ``tf.less(t, end)``; None for another test."""
    for forms, is_least in ((LESS, False), (MORE, True)):
        if sides := match(test, *forms):
            return _Bound(sides[0], source.operand(sides[1]), is_least)
    return None


def _start_as_float(plan: Plan, before: Sequence[cst.CSTNode], name: str) -> None:
    """``n = 0`` → ``n = 0.0``, in the last of these statements that binds the name."""
    binding = next((each for each in reversed(before) if name in bound_names(each)), None)
    assign = sole(binding)
    if isinstance(assign, cst.Assign):
        for target in assign.targets:
            for to, value in pairs_of(target.target, assign.value):
                if dotted(to) == name:
                    _write_as_float(plan, value)


def _write_as_float(plan: Plan, value: cst.BaseExpression) -> None:
    """``0`` → ``0.0``, and ``tf.constant(0)`` → ``tf.constant(0.0)``."""
    if isinstance(value, cst.Integer):
        plan.replace(value, f"{value.value}.0")
    elif is_call_to(value, "constant") and value.args:
        given = value.args[0].value
        if isinstance(given, cst.Integer):
            plan.replace(value, f"{plan.source.tf}.constant({given.value}.0)")


def count_part_of_turn(case: FixCase) -> Iterator[Edit]:
    """``tf.while_loop(lambda n, t: t < end, lambda n, t: (n + 1, f(t)), (0, t0))`` → ``n`` grows by
    the part of each step of ``t`` that lies below ``end``: by 1 but in the last turn."""
    source = case.source
    for call in source.calls(deciding_line(case), "while_loop"):
        given = [argument(call, place, name) for place, name in enumerate(_OF_LOOP)]
        test, body = (_function(source, each) if each else None for each in given[:2])
        bound = _bound(source, test.result) if test is not None else None
        if test is None or body is None or bound is None:
            continue
        level = dotted(bound.level)
        if test.params != body.params or level not in test.params:
            continue
        plan, place = Plan(source), test.params.index(level)
        counters = _count_part(plan, body, place, bound)
        start = elements(given[2]) if given[2] is not None else []
        for counter in counters if len(start) == len(body.params) else ():
            value = start[counter]
            made = source.value_of(value)
            if made is not None:
                _write_as_float(plan, made)
        if counters:
            yield from plan.edits(_TITLE, is_estimate=True)


_OF_LOOP = ("cond", "body", "loop_vars")


@dataclass(frozen=True)
class _Function:
    """A ``lambda``, or a ``def`` (``node``) with a single ``return``."""

    params: Sequence[str]
    result: cst.BaseExpression
    node: cst.FunctionDef | None = None


def _function(source: ParsedSource, given: cst.BaseExpression) -> _Function | None:
    """The function that a ``lambda`` or a name stands for."""
    if isinstance(given, cst.Lambda):
        return _Function(parameters_of(given), given.body)
    defined = [d for d in all_of(source.module, cst.FunctionDef) if d.name.value == dotted(given)]
    returns = all_of(defined[0], cst.Return) if len(defined) == 1 else []
    if len(returns) != 1 or returns[0].value is None:
        return None
    return _Function(parameters_of(defined[0]), returns[0].value, defined[0])


def _count_part(plan: Plan, body: _Function, place: int, bound: _Bound) -> list[int]:
    """Let what grows by a number in each turn grow by the part of the step of the value at
    ``place`` that does not lie beyond the bound. The places of what grows so."""
    source, results = plan.source, elements(body.result)
    if len(results) != len(body.params):
        return []
    made = bound_names(body.node.body) if body.node is not None else frozenset()
    olds = {
        name: plan.fresh_name(f"{name}_before") if name in made else name for name in body.params
    }
    codes = [source.operand(result) for result in results]
    old, level, end = olds[body.params[place]], codes[place], bound.end
    beyond, step = f"{level} - {end}", f"({level} - {old})"
    if bound.is_least:
        beyond, step = f"{end} - {level}", f"({old} - {level})"
    part = f"1.0 - {source.tf}.nn.relu({beyond}) / {step}"
    returned = source.statement_of(body.result) if body.node is not None else None
    weight = plan.fresh_name("weight") if returned is not None else part
    counters = []
    for number, (name, result) in enumerate(zip(body.params, results, strict=True)):
        if number == place or not _grows(body, name, result):
            continue
        counters.append(number)
        old = olds[name]
        share = weight if returned is not None else f"({weight})"
        is_counter = _adds_number(name, result) and match(result, "_n + 1")
        grown = share if is_counter else f"{share} * ({codes[number]} - {old})"
        plan.replace(result, f"{old} + {grown}")
    if body.node is not None and returned is not None and counters:
        plan.before(returned, f"{weight} = {part}")
        plan.first(body.node, *(f"{old} = {name}" for name, old in olds.items() if old != name))
    return counters


def _grows(body: _Function, name: str, result: cst.BaseExpression) -> bool:
    """Whether the result is the parameter with a number added, in it or in a statement."""
    if _adds_number(name, result):
        return True
    if body.node is None or dotted(result) != name:
        return False
    added = (
        dotted(each.target) == name and isinstance(each.value, cst.BaseNumber)
        for each in all_of(body.node, cst.AugAssign)
    )
    assigned = (
        dotted(each.targets[0].target) == name and _adds_number(name, each.value)
        for each in all_of(body.node, cst.Assign)
    )
    return any(added) or any(assigned)


def _adds_number(name: str, node: cst.BaseExpression) -> bool:
    """Whether this is ``n + 2``, or ``2 + n``, of the name ``n``."""
    parts = match(node, "_a + _b")
    names, is_number = map(dotted, parts), (isinstance(part, cst.BaseNumber) for part in parts)
    return name in names and any(is_number)
