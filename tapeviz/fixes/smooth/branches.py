"""Weigh what a tensor decides about in Python: both results of an ``if``, a loop's last turn."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

import libcst as cst

from ...analysis.causes.left_tensorflow import LeftTensorFlow
from ...analysis.causes.not_connected import NotConnected
from ..model import Edit, FixCase
from ..nodes import all_of, argument, bound_names, called_name, dotted, read_names, sole
from ..plan import Plan, bare, enclosed
from ..source import ParsedSource, Statement
from .comparisons import soft_truth
from .counts import uncast

_OF_COND = ("pred", "true_fn", "false_fn")
_TITLE = "Weigh both results by a sigmoid, which has a slope, in place of the if"
_RETURN = "return"


def weigh_both(case: FixCase) -> Iterator[Edit]:
    """``if w > 0.5: y = a`` / ``else: y = b`` → ``y = s * a + (1 - s) * b``, s = sigmoid(w - 0.5).

    Without an ``else`` ``b`` is what the name held before. ``elif``, ``return``, ``a if w > 0.5
    else b`` and ``tf.cond`` likewise.
    """
    source, line = case.source, _line(case)
    statement = source.statement(line)
    if statement is None:
        return
    if not isinstance(statement, cst.If):
        yield from _choices(source, statement)
        return
    while isinstance(above := source.parent(statement), cst.If):  # an elif
        statement = above
    following = source.after(statement)
    weights: dict[str, str] = {}
    outcomes = _outcomes_of_if(source, statement, weights, following)
    if not outcomes:
        return
    plan = Plan(source)
    plan.before(statement, *(f"{weight} = {value}" for weight, value in weights.items()))
    if _RETURN in outcomes:
        plan.before(statement, f"return {outcomes[_RETURN]}")
        if statement.orelse is None:
            plan.remove(following[0])
    else:
        plan.before(statement, *(f"{name} = {value}" for name, value in outcomes.items()))
    plan.remove(statement)
    yield Edit(_TITLE, plan.text(), is_estimate=True)


def weigh_all(case: FixCase) -> Iterator[Edit]:
    """``tf.switch_case(i, [f, g])`` → ``f()`` and ``g()``, weighed by how near ``i`` is to the
    place of each."""
    source, tf, code = case.source, case.source.tf, case.source.code
    plan = Plan(source)
    for call in case.calls("switch_case"):
        index, branches = argument(call, 0, "branch_index"), argument(call, 1, "branch_fns")
        results = _branches(source, branches.value) if branches is not None else []
        if index is None or not results or argument(call, 2, "default") is not None:
            continue
        places = f"{tf}.range({len(results)}.0)"
        number = f"{tf}.cast({code(index.value)}, {tf}.float32)"
        distance = f"{tf}.square({places} - {uncast(source, index.value) or number})"
        weights = f"{tf}.unstack({tf}.nn.softmax(-{distance}))"
        pairs = f"zip({weights}, [{', '.join(results)}])"
        plan.replace(call, f"{tf}.add_n([share * branch() for share, branch in {pairs}])")
    if plan.changes:
        title = "Estimate: weigh the results of all branches by how near the index is to each"
        yield Edit(title, plan.text(), is_estimate=True)


def _branches(source: ParsedSource, given: cst.BaseExpression) -> list[str]:
    """The functions of ``[f, g]`` and of ``{0: f, 1: g}``; nothing of another form."""
    if isinstance(given, cst.List):
        return [source.code(element.value) for element in given.elements]
    pairs = given.elements if isinstance(given, cst.Dict) else ()
    known = [pair for pair in pairs if isinstance(pair, cst.DictElement)]
    is_in_order = [source.code(pair.key) for pair in known] == [*map(str, range(len(pairs)))]
    return [source.code(pair.value) for pair in known] if is_in_order else []


def blend_last_turn(case: FixCase) -> Iterator[Edit]:
    """``for i in range(int(n))`` → one turn more, and each turn counts by the part of it that lies
    below ``n``; ``while t < end`` → by the part of its step of ``t`` that lies below ``end``. That
    is all of it but for the last one."""
    source, tf = case.source, case.source.tf
    loop = source.statement(_line(case))
    leaves = (cst.Break, cst.Continue, cst.Return)
    if not isinstance(loop, (cst.For, cst.While)) or loop.orelse:
        return
    if any(all_of(loop.body, kind) for kind in leaves):
        return
    function, start = source.function_of(loop), source.line(loop)
    same = (each for each in source.statements if source.function_of(each) is function)
    before = set().union(*(bound_names(each) for each in same if source.end_line(each) < start))
    if isinstance(function, cst.FunctionDef):
        before |= {param.name.value for param in all_of(function.params, cst.Param)}
    added = [s for s in all_of(loop.body, cst.AugAssign) if not isinstance(s.value, cst.Integer)]
    steps = (*all_of(loop.body, cst.Assign), *added)  # i += 1 counts
    carried = sorted(before & set().union(*map(bound_names, steps)))
    plan = Plan(source)
    olds = {name: source.free_name(f"{name}_before") for name in carried}
    if isinstance(loop, cst.For):
        part = _part_of_count(plan, loop)
    else:
        part = _part_of_step(source, loop, olds)
    if not part:
        return
    weight = source.free_name("weight")
    for name, old in olds.items():
        plan.first(loop, f"{old} = {name}")
    plan.last(loop, f"{weight} = {tf}.clip_by_value({part}, 0.0, 1.0)")
    for name, old in olds.items():
        plan.last(loop, f"{name} = {old} + {weight} * ({name} - {old})")
    if carried:
        title = "Estimate: of the last turn the part counts that is left up to the bound"
        yield Edit(title, plan.text(), is_estimate=True)


def _part_of_count(plan: Plan, loop: cst.For) -> str:
    """How far ``n`` lies beyond the turn, with one turn more; empty for another loop."""
    source = plan.source
    call = loop.iter if isinstance(loop.iter, cst.Call) and len(loop.iter.args) == 1 else None
    count = argument(call, 0) if call is not None else None
    n = uncast(source, count.value) if count is not None else ""
    if count is None or not n:
        return ""
    turn = source.free_name("turn")
    if isinstance(loop.target, cst.Name) and loop.target.value.strip("_"):
        turn = loop.target.value
    else:
        plan.replace(loop.target, turn)
    plan.replace(count.value, f"{source.code(count.value)} + 1")
    is_tensor = call is not None and dotted(call.func) == f"{source.tf}.range"
    return f"{n} - {source.tf}.cast({turn}, {source.tf}.float32)" if is_tensor else f"{n} - {turn}"


def _part_of_step(source: ParsedSource, loop: cst.While, olds: Mapping[str, str]) -> str:
    """How much of its last step ``t`` takes below ``end`` of ``while t < end``; else empty."""
    test = loop.test if isinstance(loop.test, cst.Comparison) else None
    order = test.comparisons[0] if test is not None and len(test.comparisons) == 1 else None
    if test is None or order is None or not isinstance(test.left, cst.Name):
        return ""
    old = olds.get(test.left.value)
    end = source.code(enclosed(order.comparator))
    is_bound = isinstance(order.operator, (cst.LessThan, cst.GreaterThan))
    return f"({end} - {old}) / ({test.left.value} - {old})" if old and is_bound else ""


def _line(case: FixCase) -> int:
    """Where the tensor decides: the end of the path from the source, if that is a truth value."""
    evidence = case.cause.evidence
    if isinstance(evidence, LeftTensorFlow) and evidence.steered is not None:
        return evidence.steered.line
    ends = evidence.ends if isinstance(evidence, NotConnected) else None
    return ends.reaches_line if ends is not None and ends.fate == "decides" else case.cause.line


def _outcomes_of_if(
    source: ParsedSource,
    statement: cst.If,
    weights: dict[str, str],
    following: Sequence[Statement] = (),
) -> Mapping[str, str]:
    """The names that the branches bind, or ``return`` → both values weighed; empty where a branch
    does anything else. The weights are named in ``weights``."""
    chosen = soft_truth(source, statement.test)
    then = _outcomes(source, statement.body.body)
    if not chosen or not then:
        return {}
    weight = source.free_name("weight") + (str(len(weights) + 1) if weights else "")
    weights[weight] = source.code(bare(cst.parse_expression(chosen)))
    if isinstance(statement.orelse, cst.If):
        otherwise = _outcomes_of_if(source, statement.orelse, weights)
    elif statement.orelse is not None:
        otherwise = _outcomes(source, statement.orelse.body.body)
    elif _RETURN in then:
        otherwise = _outcomes(source, following[:1])
    else:
        otherwise = {name: name for name in then}
    is_return = _RETURN in then
    if not otherwise or is_return != (_RETURN in otherwise):
        return {}
    return {
        name: _weighed(weight, then.get(name, name), otherwise.get(name, name))
        for name in {**then, **otherwise}
    }


def _outcomes(
    source: ParsedSource, block: Sequence[cst.BaseStatement | cst.BaseSmallStatement]
) -> Mapping[str, str]:
    """The names that a block binds, or ``return`` → the code of the value; empty where it does
    anything else."""
    found: dict[str, str] = {}
    for line in block:
        only = sole(line) if isinstance(line, cst.SimpleStatementLine) else line
        value = getattr(only, "value", None)
        if not isinstance(value, cst.BaseExpression) or set(found) & read_names(value):
            return {}
        code = source.code(enclosed(value))
        if isinstance(only, cst.Return):
            found[_RETURN] = code
        elif isinstance(only, cst.AugAssign) and isinstance(only.target, cst.Name):
            sign = source.code(only.operator).strip().removesuffix("=")
            found[only.target.value] = f"({only.target.value} {sign} {code})"
        elif isinstance(only, cst.Assign) and isinstance(only.targets[0].target, cst.Name):
            found[only.targets[0].target.value] = code
        else:
            return {}
    return found if _RETURN not in found or len(found) == 1 else {}


def _weighed(weight: str, value: str, other: str) -> str:
    if _is_zero(other):
        return f"{weight} * {value}"
    return f"{weight} * {value} + (1.0 - {weight}) * {_enclosed(other)}"


def _is_zero(code: str) -> bool:
    return not code.replace(".", "").strip("0")


def _enclosed(code: str) -> str:
    """In parentheses, where the code is a sum."""
    return cst.Module([]).code_for_node(enclosed(cst.parse_expression(code)))


def _choices(source: ParsedSource, statement: cst.CSTNode) -> Iterator[Edit]:
    plan = Plan(source)
    for choice in all_of(statement, cst.IfExp):
        weight = soft_truth(source, choice.test)
        if weight:
            values = (source.code(enclosed(value)) for value in (choice.body, choice.orelse))
            plan.replace(choice, f"({_weighed(weight, *values)})")
    for call in all_of(statement, cst.Call):
        test, *given = (argument(call, place, name) for place, name in enumerate(_OF_COND))
        results = [each.value.body for each in given if each and isinstance(each.value, cst.Lambda)]
        weight = soft_truth(source, test.value) if test is not None else ""
        if called_name(call) == "cond" and weight and len(results) == 2:
            values = (source.code(enclosed(result)) for result in results)
            plan.replace(call, f"({_weighed(weight, *values)})")
    if plan.changes:
        yield Edit(_TITLE, plan.text(), is_estimate=True)
