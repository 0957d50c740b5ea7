"""Keep a variable, or the name of a source, that the text gives to another tensor or object."""

from __future__ import annotations

from collections.abc import Iterator

import libcst as cst

from ...analysis.causes.tapes.replaced_source import ReplacedSource
from ...wording import enumerated
from ..blocks import Block, block_of_call, gradient_call
from ..model import Edit, FixCase
from ..nodes import (
    all_of,
    argument,
    bound_names,
    elements,
    is_call_to,
    parameters_of,
    read_names,
    sole,
)
from ..plan import Plan
from ..renaming import rename_reads
from ..source import CstStatement, ParsedSource


def keep_variable(case: FixCase) -> Iterator[Edit]:
    """``w = w - step`` → ``w.assign(w - step)``: the name goes on to mean the variable, and so do
    those of the call's other sources that are given away beside it."""
    source = case.source
    made = source.statement(case.cause.line)
    if case.cause.evidence != ReplacedSource("lost") or made is None:
        return
    asked = {each.text for each in case.call.sources}
    plan, kept = Plan(source), list[str]()
    for statement in source.siblings(made):
        small = sole(statement)
        if isinstance(small, cst.Assign) and len(small.targets) == 1:
            name, value = source.code(small.targets[0].target), source.code(small.value)
        elif isinstance(small, cst.AugAssign):
            name, sign = source.code(small.target), source.code(small.operator).replace("=", "")
            value = f"{name} {sign.strip()} ({source.code(small.value)})"
        else:
            continue
        is_step = statement is made or name in read_names(cst.parse_expression(value))
        if name in asked and is_step:
            new = cst.parse_expression(f"{name}.assign({value})")
            plan.replace(small, cst.Expr(new))
            kept.append(name)
    if case.finding.source in kept:
        stays = "they stay variables" if kept[1:] else "it stays a variable"
        yield from plan.edits(f"Change {enumerated(kept)} in place, so that {stays}")


def assign_in_place(case: FixCase) -> Iterator[Edit]:
    """``net.w = tf.Variable(e)`` → ``net.w.assign(e)``: it goes on to mean the same variable."""
    source, evidence = case.source, case.cause.evidence
    small = sole(source.statement(case.cause.line))
    if not isinstance(evidence, ReplacedSource) or evidence.how not in ("rebound", "outdated"):
        return
    if not isinstance(small, cst.Assign) or len(small.targets) > 1:
        return
    made, name = small.value, source.code(small.targets[0].target)
    initial = argument(made, 0, "initial_value")
    if is_call_to(made, "Variable") and initial is not None:
        new = cst.parse_expression(f"{name}.assign({source.code(initial)})")
        plan = Plan(source, {small: cst.Expr(new)})
        yield from plan.edits(f"Change {name} in place, so that it stays the variable it was")


def make_once(case: FixCase) -> Iterator[Edit]:
    """``def f(x): layer = Dense(2); …`` → without that line, where a ``layer`` was made before; or
    with that line in front of the function. So in a loop, and where it is made again after one."""
    source = case.source
    made = source.statement(case.cause.line)
    names = bound_names(made) if isinstance(made, cst.SimpleStatementLine) else frozenset()
    if case.cause.evidence != ReplacedSource("made-again") or not names or made is None:
        return
    function, loop = source.enclosing(made, cst.FunctionDef), _outermost_loop(source, made)
    around = function or loop or made
    outside = (each for each in source.before(around) if names & bound_names(each))
    is_made = any(
        isinstance(each, (cst.SimpleStatementLine, cst.For, cst.With)) for each in outside
    )
    plan, name = Plan(source), enumerated(sorted(names))
    plan.remove(made)
    title = f"Use the {name} made before, in place of a new one"
    if not is_made and around is made:
        return
    if not is_made:
        plan.before(around, made)
        place = function.name.value if function is not None else "the loop"
        title = f"Make {name} once, in front of {place}"
    if names:
        yield from plan.edits(title, has_other_value=True)  # the weights are others


def _outermost_loop(source: ParsedSource, node: cst.CSTNode) -> CstStatement | None:
    loops = [each for each in source.ancestors(node) if isinstance(each, (cst.For, cst.While))]
    return loops[-1] if loops else None


def keep_first(case: FixCase) -> Iterator[Edit]:
    """Give the first tensor a name of its own, and ask for that."""
    source = case.source
    asked = argument(gradient_call(source, case.call), 1, "sources")
    rebinding = source.statement(case.cause.line)
    name = _name_given_away(case)
    if asked is None or rebinding is None or not name:
        return
    owner, _, last = name.rpartition(".")
    if not all(map(str.isidentifier, name.split("."))):
        return
    if owner and not any(
        isinstance(target.target, cst.Attribute) and target.target.attr.value == last
        for target in all_of(rebinding, cst.AssignTarget)
    ):
        return  # its object was made anew
    plan, receiver = Plan(source), cst.parse_expression(name)
    first = plan.fresh_name(f"{last}_first")
    block = block_of_call(source, case.trace, case.call)
    place = _before_rebinding(source, _given_away(source, rebinding, name), block, name)
    plan.before(place, f"{first} = {name}")
    if rename_reads(plan, receiver, first, [asked]):
        yield from plan.edits(
            f"Keep the first {name} as {first}, and ask for that", has_other_shape=True
        )


def ask_before(case: FixCase) -> Iterator[Edit]:
    """Move the gradient call before the statement that gives the names of its sources away."""
    source = case.source
    call, rebinding = gradient_call(source, case.call), source.statement(case.cause.line)
    asking = source.statement_of(call) if call is not None else None
    name = _name_given_away(case)
    if rebinding is None or asking is None or not name:
        return
    rebinding = _given_away(source, rebinding, name)
    between = source.after(rebinding)
    if not any(statement is asking for statement in between):
        return
    plan = Plan(source)
    plan.before(rebinding, source.code(asking).strip())
    plan.remove(asking)
    yield from plan.edits(
        "Ask for the gradient before the name is given to another tensor", has_other_shape=True
    )


def _name_given_away(case: FixCase) -> str:
    """The name that was given to another tensor, or to another object that has the source; else
    empty."""
    evidence = case.cause.evidence
    if not isinstance(evidence, ReplacedSource) or evidence.how not in ("rebound", "owner"):
        return ""
    return evidence.name or case.finding.source.partition("[")[0]  # of a dict made anew


def _given_away(source: ParsedSource, rebinding: CstStatement, name: str) -> CstStatement:
    """The ``del`` of the name before it is bound again, if there is one; else the rebinding."""
    for statement in source.before(rebinding):
        small = sole(statement)
        deleted = small.target if isinstance(small, cst.Del) else None
        if deleted is not None and name in map(source.code, elements(deleted) or [deleted]):
            return statement
    return rebinding


def _before_rebinding(
    source: ParsedSource, rebinding: cst.CSTNode, block: Block | None, name: str
) -> cst.CSTNode:
    """The statement in front of which to keep the name: the block, if the name was bound before it
    or is given away in a function that the block calls; else the rebinding."""
    if block is not None and source.function_of(rebinding) is not source.function_of(block.node):
        return block.node
    if block is None or not any(ancestor is block.node for ancestor in source.ancestors(rebinding)):
        return rebinding
    if any(name in bound_names(statement) for statement in source.before(block.node)):
        return block.node
    function = source.enclosing(block.node, cst.FunctionDef)
    if function is not None and name in parameters_of(function):
        return block.node
    return rebinding
