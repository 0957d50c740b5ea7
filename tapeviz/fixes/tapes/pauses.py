"""Let the tape record what ran while it was paused, or what it forgot."""

from __future__ import annotations

from collections.abc import Iterator

import libcst as cst

from ...analysis.causes.tapes.outside_tape import OutsideTape
from ..blocks import block_of_call, is_method_statement
from ..model import Edit, FixCase
from ..nodes import all_of, called_name, is_call_to, separated, sole
from ..plan import Plan
from ..source import ParsedSource
from .neighbours import statements_of_cause


def record_again(case: FixCase) -> Iterator[Edit]:
    """Take the statements out of ``with tape.stop_recording():``."""
    source = case.source
    plan = Plan(source)
    for statement in statements_of_cause(case):
        for around in (statement, *source.ancestors(statement)):
            if isinstance(around, cst.With) and _has_pause(source, around):
                _take_out(plan, around)
    yield from plan.edits("Let the tape record these lines")


def _take_out(plan: Plan, around: cst.With) -> None:
    """``with a, a.stop_recording():`` → ``with a:``; the statements alone, if nothing is left."""
    kept = [item for item in around.items if not stops_recording(plan.source, item)]
    if not kept:
        plan.unwrap(around)
        return
    plan.replace(around, lambda updated: updated.with_changes(items=separated(kept)))


def forget_nothing(case: FixCase) -> Iterator[Edit]:
    """Take ``tape.reset()`` away where it stands between the cut and the call."""
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
        is_reset = is_call_to(small.value, "reset")
        resets = [at_cause] * is_reset

    for statement in resets:
        plan.remove(statement)
    yield from plan.edits("Do not reset the tape in between")


def _has_pause(source: ParsedSource, statement: cst.With) -> bool:
    return any(stops_recording(source, item) for item in statement.items)


def stops_recording(source: ParsedSource, item: cst.WithItem) -> bool:
    """Whether a context pauses the tape, itself or in a function of the text that it is made by."""
    calls = list(all_of(item.item, cst.Call))
    names = {call.func.value for call in calls if isinstance(call.func, cst.Name)}
    for function in all_of(source.module, cst.FunctionDef) if names else ():
        if function.name.value in names:
            calls += all_of(function.body, cst.Call)
    return any(called_name(call) == "stop_recording" for call in calls)
