"""Ask for the rows that whole numbers picked, where the numbers were the source."""

from __future__ import annotations

from collections.abc import Iterator

import libcst as cst

from ...analysis.call_facts import CallFacts
from ...analysis.flow.dataflow import DataFlow
from ...analysis.flow.lookups import uses_of
from ...text.source import SourceText
from ..blocks import Block, block_of_call, body_of, gradient_call, is_method_statement
from ..model import Edit, FixCase
from ..nodes import all_of, argument, nodes_in, sole
from ..plan import Plan
from ..source import CstStatement, ParsedSource


def ask_for_rows(case: FixCase) -> Iterator[Edit]:
    """``tape.gradient(loss, ids)`` → ``tape.gradient(loss, rows)``, ``rows = embedding(ids)``.

    Rows of what no tape follows are watched, which the second edit does.
    """
    source, ids = case.source, case.finding.source
    call = gradient_call(source, case.call)
    asked = argument(call, 1, "sources")
    block = block_of_call(source, case.trace, case.call)
    pick = _pick(case, ids)
    statement = Plan(source).statement_begun_by(pick) if pick is not None else None
    if call is None or asked is None or block is None or pick is None or statement is None:
        return
    if source.function_of(pick) is not source.function_of(call):
        return
    expressions = [node for node in nodes_in(asked) if isinstance(node, cst.BaseExpression)]
    places = [node for node in expressions if source.code(node) == ids]
    target = source.target_of(pick)
    for is_watched in (False, True) if places and block.name else ():
        plan = Plan(source)
        name = source.code(target) if target is not None else plan.fresh_name("rows")
        plan.replace(places[0], name)
        watch = [f"{block.name}.watch({name})"] if is_watched else []
        if target is not None:
            plan.after(statement, *watch)
        else:
            plan.before(statement, f"{name} = {source.code(pick)}", *watch)
            plan.replace(pick, name)
        for useless in _watches(source, block, ids):
            plan.remove(useless)
        title = f"Ask for the gradient of {name}: the rows that {ids} picks"
        yield from plan.edits(title, has_other_shape=True)


def _pick(case: FixCase, ids: str) -> cst.Call | None:
    """The call that takes the whole numbers and gives rows of real ones."""
    source = case.source
    asked = next((each for each in case.call.sources if each.text == ids), None)
    trace = case.trace
    facts = CallFacts(trace, DataFlow(trace), case.call, SourceText(trace.source))
    op = uses_of(facts, asked.tensor).pick if asked and asked.tensor is not None else None
    for frame in op.site.frames if op is not None else ():
        statement = source.statement(frame.line)
        for call in all_of(statement, cst.Call) if statement is not None else ():
            if any(source.code(arg.value) == ids for arg in call.args):
                return call
    return None


def _watches(source: ParsedSource, block: Block, ids: str) -> Iterator[CstStatement]:
    """``tape.watch(ids)``, which does nothing for whole numbers."""
    for statement in body_of(block):
        small = sole(statement)
        if not is_method_statement(statement, block.name, "watch"):
            continue
        if isinstance(small, cst.Expr) and isinstance(small.value, cst.Call):
            given = small.value.args[:1]
            if given and source.code(given[0].value) == ids:
                yield statement
