"""Move statements that ran where the tape did not record into its block."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

import libcst as cst

from ...analysis.causes.tapes.outside_tape import OutsideTape
from ..blocks import Block, block_of_call, gradient_call, put_in_front
from ..model import Edit, FixCase
from ..nodes import argument, bound_names, read_names, separated
from ..plan import Plan
from ..source import CstStatement
from .neighbours import (
    dependents,
    is_moved_past,
    lines_of,
    place_in,
    statements_of,
    statements_of_cause,
    with_needed,
)
from .pauses import stops_recording


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


def _all_outside(case: FixCase, around: CstStatement, outside: CstStatement) -> list[CstStatement]:
    """``outside``, and what else ran before ``around`` on other ways to the target."""
    source = case.source
    siblings = source.siblings(around)
    causes = [
        cause
        for cause in case.finding.others
        if isinstance(cause.evidence, OutsideTape) and cause.evidence.where == "before"
    ]
    ran = (stmt for cause in causes for stmt in statements_of(case, cause))
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
        for statement in dependents(source, between, outside, with_shown=True)
        if statement in outside or not isinstance(statement, (cst.ClassDef, cst.FunctionDef))
    ]  # a function reads names when it is called
    if any(isinstance(statement, (cst.ClassDef, cst.FunctionDef)) for statement in outside):
        return
    if is_moved_past(source, between, moved):
        return
    if around is not block.node:
        made = set[str]().union(*map(bound_names, moved))
        if made & bound_names(around) or not all(map(bound_names, moved)):
            return
    plan = Plan(source)
    for statement in moved:
        plan.remove(statement)
    put_in_front(plan, block, *moved)
    yield from plan.edits(f"Move {lines_of(source, moved)} into the {case.recorder}'s block")


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
    moved = with_needed(between, dependents(source, between, [outside]))
    if is_moved_past(source, [*reversed(between)], moved):
        return
    plan = Plan(source)
    for statement in moved:
        plan.remove(statement)
    name = _split(plan, block, moved)
    if not name:
        plan.last(block.node, *moved)
    yield from plan.edits(f"Move {lines_of(source, moved)} into the {case.recorder}'s block")


def _split(plan: Plan, block: Block, moved: Sequence[CstStatement]) -> str:
    """``with a as outer, b as inner:`` is parted when the inner one is asked inside the outer, or
    keeps the outer one from recording."""
    items = list(block.node.items)
    place = next(i for i, item in enumerate(items) if item is block.item)
    inner = items[place + 1 :]
    names = {plan.source.code(item.asname.name) for item in inner if item.asname is not None}
    is_asked = any(names & read_names(statement) for statement in moved)
    if not is_asked and not any(stops_recording(plan.source, item) for item in inner):
        return ""

    def part(updated: cst.With) -> cst.CSTNode:
        outer = separated(updated.items[: place + 1])
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
    target = argument(asked, 0, "target", "ys")
    if block is None or asked is None or target is None or isinstance(target, cst.Name):
        return
    if not source.covers(asked, case.cause.line):
        return
    if source.beside(asked, block.node) in (None, block.node):
        return
    plan = Plan(source)
    name = plan.fresh_name("target")
    plan.last(block.node, f"{name} = {source.code(target)}")
    plan.replace(target, name)
    yield from plan.edits("Compute the target inside the tape's block")


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
