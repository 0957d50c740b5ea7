"""Put a watch at the right place for a source that no tape follows, or make it a variable."""

from __future__ import annotations

from collections.abc import Iterator

import libcst as cst

from ...analysis.causes.tapes.not_watched import NotWatched
from ...analysis.causes.tapes.replaced_source import ReplacedSource
from ...text.source import is_plain_path
from ..blocks import Block, block_of_call, gradient_call, is_method_statement, tape_call
from ..model import Edit, FixCase
from ..nodes import argument, is_call_to, sole, without_argument
from ..plan import Plan
from ..source import CstStatement

_MADE_BY = ("constant", "convert_to_tensor", "identity")


def watch_first(case: FixCase) -> Iterator[Edit]:
    """``tape.watch(x)`` where the block begins, or right after ``x`` is made inside it.

    If the call asks for several tensors that nobody watches, one watch for all of them.
    """
    source = case.source
    block = block_of_call(source, case.trace, case.call)
    if block is None:
        return
    missing = _missing(case)
    choices = [f"[{', '.join(missing)}]"] if len(missing) > 1 else []
    words = "the sources" if choices else _watchable(case)
    for expression in (*choices, _watchable(case)):
        if expression:
            plan = Plan(source)
            for statement in _late_watches(case, block):
                plan.remove(statement)
            _put_watch(case, plan, block, f"{_named(plan, block)}.watch({expression})")
            yield from plan.edits(f"Watch {words} from the start of the block")


def watch_lost(case: FixCase) -> Iterator[Edit]:
    """The same for a name that was a variable's until it was given to a tensor."""
    if case.cause.evidence == ReplacedSource("lost"):
        yield from watch_first(case)


def watch_values(case: FixCase) -> Iterator[Edit]:
    """For Keras's variables, whose value ``watch`` takes in their place."""
    source = case.source
    evidence = case.cause.evidence
    variable = isinstance(evidence, NotWatched) and evidence.how in ("non-trainable", "tape")
    block = block_of_call(source, case.trace, case.call)
    asked = _asked(case)
    if not variable or block is None or asked is None:
        return
    plan = Plan(source)
    name = _named(plan, block)
    if is_plain_path(case.finding.source) and not isinstance(asked, cst.Attribute):
        watched = f"{case.finding.source}.value"
    else:
        watched = f"[v.value for v in {source.code(asked)}]"
    _put_watch(case, plan, block, f"{name}.watch({watched})")
    yield from plan.edits(f"Watch the values of {source.code(asked)}")


def make_variable(case: FixCase) -> Iterator[Edit]:
    """``x = tf.constant(…)`` → ``x = tf.Variable(…)``, which tapes follow by themselves."""
    source = case.source
    if case.cause.evidence != NotWatched("tensor"):
        return
    statement = source.statement(case.cause.line)
    small = sole(statement)
    if not isinstance(small, cst.Assign) or not _binds(small, case.finding.source):
        return
    block = block_of_call(source, case.trace, case.call)
    if block is not None and source.covers(block.node, case.cause.line):
        return
    value, tf = small.value, source.tf
    plan = Plan(source)
    if is_call_to(value, *_MADE_BY[:2]):
        plan.replace(value.func, f"{tf}.Variable")
    else:
        plan.replace(value, f"{tf}.Variable({source.code(value)})")
    yield from plan.edits(f"Make {case.finding.source} a tf.Variable, which tapes watch")


def watch_by_itself(case: FixCase) -> Iterator[Edit]:
    """Take ``watch_accessed_variables=False`` off the tape."""
    tape = case.trace.tape(case.call.tape)
    call = tape_call(case.source, tape)
    if call is None:
        return
    keyword = argument(call, 1, "watch_accessed_variables")
    if keyword is not None:
        plan = Plan(case.source, {call: lambda old: _without(old, "watch_accessed_variables", 1)})
        yield from plan.edits("Let the tape watch every variable that is read")


def make_trainable(case: FixCase) -> Iterator[Edit]:
    """Take ``trainable=False`` off the variable."""
    source = case.source
    for call in source.calls(case.cause.line, "Variable", "add_weight", "get_variable"):
        keyword = argument(call, 99, "trainable")
        if keyword is not None:
            plan = Plan(source, {call: lambda old: _without(old, "trainable", 99)})
            yield from plan.edits(f"Make {case.finding.source} trainable")


def _without(call: cst.Call, keyword: str, position: int) -> cst.Call:
    gone = argument(call, position, keyword)
    return without_argument(call, gone) if gone is not None else call


def _named(plan: Plan, block: Block) -> str:
    """The tape's name; a tape without one gets one."""
    if block.name:
        return block.name
    name = plan.fresh_name("tape")
    given = cst.AsName(cst.Name(name))
    plan.replace(block.item, lambda old: old.with_changes(asname=given))
    return name


def _watchable(case: FixCase) -> str:
    """All sources of this call that nobody watches, as one expression for ``watch``."""
    if is_plain_path(case.finding.source):
        asked = _asked(case)
        if isinstance(asked, (cst.List, cst.Tuple)):
            return case.finding.source
        if asked is not None and is_plain_path(case.source.code(asked)):
            return case.source.code(asked)
        return case.finding.source
    return ""


def _missing(case: FixCase) -> list[str]:
    """The plain tensors of a list of sources that nobody watches."""
    if not isinstance(_asked(case), (cst.List, cst.Tuple)):
        return []
    tape = case.trace.tape(case.call.tape)
    watched = {watch.tensor for watch in tape.watches} if tape is not None else set()
    return [
        operand.text
        for operand, result in zip(case.call.sources, case.call.results, strict=False)
        if result is None and operand.tensor not in watched and is_plain_path(operand.text)
    ]


def _asked(case: FixCase) -> cst.BaseExpression | None:
    asked = argument(gradient_call(case.source, case.call), 1, "sources", "source", "xs")
    return asked


def _late_watches(case: FixCase, block: Block) -> Iterator[CstStatement]:
    if case.cause.evidence != NotWatched("late"):
        return
    statement = case.source.statement(case.cause.line)
    if statement is not None and is_method_statement(statement, block.name, "watch"):
        yield statement


def _put_watch(case: FixCase, plan: Plan, block: Block, watch: str) -> None:
    source = case.source
    made = source.statement(case.cause.line)
    if case.cause.evidence == NotWatched("tensor") and made is not None:
        inside = any(ancestor is block.node for ancestor in source.ancestors(made))
        if inside and isinstance(made, cst.SimpleStatementLine):
            plan.after(made, watch)
            return
    plan.first(block.node, watch)


def _binds(assign: cst.Assign, name: str) -> bool:
    return any(cst.Module([]).code_for_node(target.target) == name for target in assign.targets)
