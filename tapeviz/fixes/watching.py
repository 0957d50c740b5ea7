"""A source that no tape follows in, a watch at the right place, or a variable, out."""

from __future__ import annotations

from collections.abc import Iterator

import libcst as cst

from ..trace.expressions import is_plain_path
from .blocks import (
    Block,
    block_of_call,
    gradient_call,
    is_method_statement,
    tape_call,
)
from .model import Edit, Patient
from .plan import Plan
from .source import Statement, argument, called_name, sole

_MADE_BY = ("constant", "convert_to_tensor", "identity")


def watch_first(patient: Patient) -> Iterator[Edit]:
    """``tape.watch(x)`` where the block begins, or right after ``x`` is made inside it.

    If the call asks for several tensors that nobody watches, one watch for all of them.
    """
    source = patient.source
    block = block_of_call(source, patient.trace, patient.call)
    if block is None:
        return
    missing = _missing(patient)
    choices = [f"[{', '.join(missing)}]"] if len(missing) > 1 else []
    words = "the sources" if choices else _watchable(patient)
    for expression in (*choices, _watchable(patient)):
        if expression:
            plan = Plan(source)
            for statement in _late_watches(patient, block):
                plan.remove(statement)
            _put_watch(patient, plan, block, f"{_named(plan, block)}.watch({expression})")
            yield Edit(f"Watch {words} from the start of the block", plan.text())


def watch_lost(patient: Patient) -> Iterator[Edit]:
    """The same for a name that was a variable's until it was given to a tensor."""
    if patient.cause.detail.get("how") == "lost":
        yield from watch_first(patient)


def watch_values(patient: Patient) -> Iterator[Edit]:
    """For Keras's variables, whose value ``watch`` takes in their place."""
    source = patient.source
    variable = _is_variable(patient)
    block = block_of_call(source, patient.trace, patient.call)
    asked = _asked(patient)
    if not variable or block is None or asked is None:
        return
    plan = Plan(source)
    name = _named(plan, block)
    if is_plain_path(patient.finding.source) and not isinstance(asked, cst.Attribute):
        watched = f"{patient.finding.source}.value"
    else:
        watched = f"[v.value for v in {source.code(asked)}]"
    _put_watch(patient, plan, block, f"{name}.watch({watched})")
    yield Edit(f"Watch the values of {source.code(asked)}", plan.text())


def make_variable(patient: Patient) -> Iterator[Edit]:
    """``x = tf.constant(…)`` → ``x = tf.Variable(…)``, which tapes follow by themselves."""
    source = patient.source
    if patient.cause.detail.get("how") != "tensor":
        return
    statement = source.statement(patient.cause.line)
    small = sole(statement)
    if not isinstance(small, cst.Assign) or not _binds(small, patient.finding.source):
        return
    block = block_of_call(source, patient.trace, patient.call)
    if block is not None and source.covers(block.node, patient.cause.line):
        return
    value, tf = small.value, source.tf
    plan = Plan(source)
    if isinstance(value, cst.Call) and called_name(value) in _MADE_BY[:2]:
        plan.replace(value.func, f"{tf}.Variable")
    else:
        plan.replace(value, f"{tf}.Variable({source.code(value)})")
    yield Edit(f"Make {patient.finding.source} a tf.Variable, which tapes watch", plan.text())


def watch_by_itself(patient: Patient) -> Iterator[Edit]:
    """Take ``watch_accessed_variables=False`` off the tape."""
    tape = patient.trace.tapes.get(patient.call.tape) if patient.call.tape is not None else None
    call = tape_call(patient.source, tape)
    if call is None:
        return
    keyword = argument(call, 1, "watch_accessed_variables")
    if keyword is not None:
        plan = Plan(patient.source)
        plan.replace(call, lambda old: _without(old, "watch_accessed_variables", 1))
        yield Edit("Let the tape watch every variable that is read", plan.text())


def make_trainable(patient: Patient) -> Iterator[Edit]:
    """Take ``trainable=False`` off the variable."""
    source = patient.source
    for call in source.calls(patient.cause.line, "Variable", "add_weight", "get_variable"):
        keyword = argument(call, 99, "trainable")
        if keyword is not None:
            plan = Plan(source)
            plan.replace(call, lambda old: _without(old, "trainable", 99))
            yield Edit(f"Make {patient.finding.source} trainable", plan.text())


def _without(call: cst.Call, keyword: str, position: int) -> cst.Call:
    gone = argument(call, position, keyword)
    kept = [one for one in call.args if one is not gone]
    if kept:
        kept[-1] = kept[-1].with_changes(comma=cst.MaybeSentinel.DEFAULT)
    return call.with_changes(args=kept)


def _named(plan: Plan, block: Block) -> str:
    """The tape's name; a tape without one gets one."""
    if block.name:
        return block.name
    name = plan.source.free_name("tape")
    given = cst.AsName(cst.Name(name))
    plan.replace(block.item, lambda old: old.with_changes(asname=given))
    return name


def _watchable(patient: Patient) -> str:
    """All sources of this call that nobody watches, as one expression for ``watch``."""
    if is_plain_path(patient.finding.source):
        asked = _asked(patient)
        if isinstance(asked, (cst.List, cst.Tuple)):
            return patient.finding.source
        if asked is not None and is_plain_path(patient.source.code(asked)):
            return patient.source.code(asked)
        return patient.finding.source
    return ""


def _missing(patient: Patient) -> list[str]:
    """The plain tensors of a list of sources that nobody watches."""
    if not isinstance(_asked(patient), (cst.List, cst.Tuple)):
        return []
    tape = patient.trace.tapes.get(patient.call.tape) if patient.call.tape is not None else None
    watched = {one.tensor for one in tape.watches} if tape is not None else set()
    return [
        operand.text
        for operand, result in zip(patient.call.sources, patient.call.results, strict=False)
        if result is None and operand.tensor not in watched and is_plain_path(operand.text)
    ]


def _asked(patient: Patient) -> cst.BaseExpression | None:
    call = gradient_call(patient.source, patient.call)
    asked = argument(call, 1, "sources", "source", "xs") if call is not None else None
    return asked.value if asked is not None else None


def _is_variable(patient: Patient) -> bool:
    return patient.cause.detail.get("how") in ("non-trainable", "tape")


def _late_watches(patient: Patient, block: Block) -> Iterator[Statement]:
    if patient.cause.detail.get("how") != "late":
        return
    statement = patient.source.statement(patient.cause.line)
    if statement is not None and is_method_statement(statement, block.name, "watch"):
        yield statement


def _put_watch(patient: Patient, plan: Plan, block: Block, watch: str) -> None:
    source = patient.source
    made = source.statement(patient.cause.line)
    if patient.cause.detail.get("how") == "tensor" and made is not None:
        inside = any(one is block.node for one in source.ancestors(made))
        if inside and isinstance(made, cst.SimpleStatementLine):
            plan.after(made, watch)
            return
    plan.first(block.node, watch)


def _binds(assign: cst.Assign, name: str) -> bool:
    return any(cst.Module([]).code_for_node(one.target) == name for one in assign.targets)
