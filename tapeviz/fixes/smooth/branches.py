"""Weigh both results of an ``if`` about which a tensor decides."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

import libcst as cst

from ...analysis.causes.connections.left_tensorflow import LeftTensorFlow
from ...analysis.causes.connections.not_connected import NotConnected
from ..model import Edit, FixCase
from ..nodes import (
    all_of,
    argument,
    bare,
    bound_names,
    called_name,
    elements,
    enclosed,
    read_names,
    sole,
    with_arguments,
)
from ..plan import Plan
from ..source import CstStatement, ParsedSource
from .comparisons import soft_truth
from .counts import uncast

_OF_COND = ("pred", "true_fn", "false_fn")
_TITLE = "Estimate: weigh both results by a sigmoid, which has a slope, in place of the if"
_RETURN = "return"
_STATEMENTS = (cst.SimpleStatementLine, cst.BaseCompoundStatement)


def weigh_both(case: FixCase) -> Iterator[Edit]:
    """``if w > 0.5: y = a`` / ``else: y = b`` → ``y = s * a + (1 - s) * b``, s = sigmoid(w - 0.5).

    Without an ``else`` ``b`` is what the name held before. ``elif``, ``return``, an ``if`` in a
    branch, ``a if w > 0.5 else b`` and ``tf.cond`` likewise.
    """
    source, line = case.source, deciding_line(case)
    statement = source.statement(line)
    if statement is None:
        return
    if not isinstance(statement, cst.If):
        yield from _choices(source, statement)
        return
    while isinstance(above := source.parent(statement), cst.If):  # an elif
        statement = above
    if _is_search(source, statement):
        return
    following = source.after(statement)
    plan, weights = Plan(source), dict[str, str]()
    outcomes = _outcomes_of_if(plan, statement, weights, following)
    if not outcomes:
        return
    plan.before(statement, *(f"{weight} = {value}" for weight, value in weights.items()))
    if _RETURN in outcomes:
        plan.before(statement, f"return {outcomes[_RETURN]}")
        for each in _returning_after(statement, following):
            plan.remove(each)
    else:
        plan.before(statement, *_bound_at_once(outcomes))
    plan.remove(statement)
    yield from plan.edits(_TITLE, is_estimate=True)


def _is_search(source: ParsedSource, statement: cst.If) -> bool:
    """Whether a loop narrows something down, as bisection does: each branch only lets a name mean
    another value that the loop made, and the next test is made from these names. Weighed, it would
    arrive elsewhere."""
    loop = source.enclosing(statement, cst.For) or source.enclosing(statement, cst.While)
    values = [assign.value for assign in all_of(statement, cst.Assign)]
    bound, tested = bound_names(statement), read_names(statement.test)
    if loop is None or not values or bound & tested:
        return False
    made = bound_names(loop) - bound
    lines = (each for each in all_of(loop, cst.SimpleStatementLine) if bound & read_names(each))
    is_fed_back = any(tested & bound_names(each) for each in lines)
    return is_fed_back and all(isinstance(v, cst.Name) and v.value in made for v in values)


def _bound_at_once(outcomes: Mapping[str, str]) -> list[str]:
    """``a = …`` and ``b = …``; in one statement where a value reads a name that is bound before."""
    bound = set[str]()
    for name, value in outcomes.items():
        if bound & read_names(cst.parse_expression(value)):
            return [f"{', '.join(outcomes)} = {', '.join(outcomes.values())}"]
        bound.add(name)
    return [f"{name} = {value}" for name, value in outcomes.items()]


def weigh_all(case: FixCase) -> Iterator[Edit]:
    """``tf.switch_case(i, [f, g])`` → ``f()`` and ``g()``, weighed by how near ``i`` is to the
    place of each."""
    source, tf, code = case.source, case.source.tf, case.source.code
    plan = Plan(source)
    choices = case.calls("switch_case")
    for call, (index, branches) in with_arguments(choices, "branch_index", "branch_fns"):
        results = _branches(source, branches)
        if not results or argument(call, 2, "default") is not None:
            continue
        places = f"{tf}.range({len(results)}.0)"
        number = f"{tf}.cast({code(index)}, {tf}.float32)"
        distance = f"{tf}.square({places} - {uncast(source, index) or number})"
        weights = f"{tf}.unstack({tf}.nn.softmax(-{distance}))"
        pairs = f"zip({weights}, [{', '.join(results)}])"
        plan.replace(call, f"{tf}.add_n([share * branch() for share, branch in {pairs}])")
    title = "Estimate: weigh the results of all branches by how near the index is to each"
    yield from plan.edits(title)


def _branches(source: ParsedSource, given: cst.BaseExpression) -> list[str]:
    """The functions of ``[f, g]`` and of ``{0: f, 1: g}``; nothing of another form."""
    if isinstance(given, cst.List):
        return [source.code(element) for element in elements(given)]
    pairs = given.elements if isinstance(given, cst.Dict) else ()
    known = [pair for pair in pairs if isinstance(pair, cst.DictElement)]
    is_in_order = [source.code(pair.key) for pair in known] == [*map(str, range(len(pairs)))]
    return [source.code(pair.value) for pair in known] if is_in_order else []


def deciding_line(case: FixCase) -> int:
    """The line on which the tensor decides: the end of the path from the source, if that is a truth
    value."""
    evidence = case.cause.evidence
    if isinstance(evidence, LeftTensorFlow) and evidence.steered is not None:
        return evidence.steered.line
    ends = evidence.ends if isinstance(evidence, NotConnected) else None
    return ends.reaches_line if ends is not None and ends.fate == "decides" else case.cause.line


def _outcomes_of_if(
    plan: Plan,
    statement: cst.If,
    weights: dict[str, str],
    following: Sequence[CstStatement] = (),
) -> Mapping[str, str]:
    """The names that the branches bind, or ``return`` → both values weighed; empty where a branch
    does anything else. The weights are named in ``weights``."""
    source = plan.source
    chosen = soft_truth(source, statement.test)
    if not chosen:
        return {}
    weight = plan.fresh_name("weight")
    weights[weight] = source.code(bare(cst.parse_expression(chosen)))
    then = _outcomes(plan, statement.body.body, weights)
    if not then:
        return {}
    if isinstance(statement.orelse, cst.If):
        otherwise = _outcomes_of_if(plan, statement.orelse, weights)
    elif statement.orelse is not None:
        otherwise = _outcomes(plan, statement.orelse.body.body, weights)
    elif _RETURN in then:
        after, *rest = following or (None,)
        if isinstance(after, cst.If):  # the next of several conditions, each with a return
            otherwise = _outcomes_of_if(plan, after, weights, rest)
        else:
            otherwise = _outcomes(plan, following[:1], weights)
    else:
        otherwise = {name: name for name in then}
    is_return = _RETURN in then
    if not otherwise or is_return != (_RETURN in otherwise):
        return {}
    return {
        name: _weighed(weight, then.get(name, name), otherwise.get(name, name))
        for name in {**then, **otherwise}
    }


def _returning_after(
    statement: cst.If, following: Sequence[CstStatement]
) -> Sequence[CstStatement]:
    """The statements after an ``if`` with a return that return otherwise: up to the first that
    returns in any case."""
    count = 0
    while isinstance(statement, cst.If) and statement.orelse is None and count < len(following):
        statement = following[count]  # type: ignore[assignment]
        count += 1
    return following[:count]


def _outcomes(
    plan: Plan,
    block: Sequence[cst.BaseStatement | cst.BaseSmallStatement],
    weights: dict[str, str],
) -> Mapping[str, str]:
    """The names that a block binds, or ``return`` → the code of the value; empty where it does
    anything else. The weights of an ``if`` in it are named in ``weights``."""
    source, found = plan.source, dict[str, str]()
    for place, line in enumerate(block):
        if isinstance(line, cst.If):
            if set(found) & (read_names(line) | bound_names(line)):
                return {}
            after = [each for each in block[place + 1 :] if isinstance(each, _STATEMENTS)]
            inner = _outcomes_of_if(plan, line, weights, after)
            if not inner or (_RETURN in inner and found):
                return {}
            found |= {name: _enclosed(code) for name, code in inner.items()}
            if _RETURN in inner:
                return found
            continue
        only = sole(line) if isinstance(line, cst.SimpleStatementLine) else line
        value = getattr(only, "value", None)
        if not isinstance(value, cst.BaseExpression) or set(found) & read_names(value):
            return {}
        code = source.operand(value)
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
        return weight if value in ("1", "1.0") else f"{weight} * {value}"
    return f"{weight} * {value} + (1.0 - {weight}) * {_enclosed(other)}"


def _is_zero(code: str) -> bool:
    return not code.replace(".", "").strip("0")


def _enclosed(code: str) -> str:
    """The code, in parentheses where it is a sum."""
    return cst.Module([]).code_for_node(enclosed(cst.parse_expression(code)))


def _choices(source: ParsedSource, statement: cst.CSTNode) -> Iterator[Edit]:
    plan = Plan(source)
    for choice in all_of(statement, cst.IfExp):
        weight = soft_truth(source, choice.test)
        if weight:
            values = (source.operand(value) for value in (choice.body, choice.orelse))
            plan.replace(choice, f"({_weighed(weight, *values)})")
    for call in all_of(statement, cst.Call):
        test, *given = (argument(call, place, name) for place, name in enumerate(_OF_COND))
        results = [each.body for each in given if isinstance(each, cst.Lambda)]
        weight = soft_truth(source, test) if test is not None else ""
        if called_name(call) == "cond" and weight and len(results) == 2:
            values = (source.operand(result) for result in results)
            plan.replace(call, f"({_weighed(weight, *values)})")
    yield from plan.edits(_TITLE, is_estimate=True)
