"""Put a computed tensor in the place of the variable that was made from it."""

from __future__ import annotations

from collections.abc import Iterator

import libcst as cst

from ...analysis.causes.states.new_variable import NewVariable
from ..blocks import ask_inside, block_of_call, watch_inside
from ..model import Edit, ErrorCase, FixCase
from ..nodes import argument, called_name, is_call_to
from ..plan import Plan
from ..rewrites import CallRewrite
from ..source import ParsedSource
from ..translation.numpy_words import without_exit
from .assigns import bind_new_state
from .writes import writes_to

_CONSTANT = ("constant_initializer", "Constant")
_COMPUTED = (cst.BinaryOperation, cst.UnaryOperation, cst.Call, cst.Subscript, cst.Attribute)


def keep_tensor(case: FixCase) -> Iterator[Edit]:
    """``tf.Variable(e)`` → ``e``, converted where ``e`` may be a list or a number.

    Then also with tapes that watch what they are asked for, as the inner ones of a loop of updates.
    """
    source = case.source
    plan = Plan(source)
    for line in case.lines("new-variable"):
        for call in source.calls(line, "Variable", "add_weight"):
            initial = argument(call, 0, "initial_value", "initializer", "value")
            if called_name(call) == "add_weight":
                if text := _weight(source, call):
                    plan.replace(call, text)
            elif initial is not None:
                plan.replace(call, _tensor(source, call, initial))
    title = "Keep the computed value a tensor, without tf.Variable"
    if plan.changes:
        yield from plan.edits(title)
        block = block_of_call(source, case.trace, case.call)
        watch_inside(plan, [source.module], block, source.code)
        yield from plan.edits(title)


def hold_in_tensor(case: ErrorCase) -> Iterator[Edit]:
    """``acc = tf.Variable(0.0)``, ``acc.assign_add(x)`` in a compiled function, which may make no
    variable after its first call → ``acc = tf.convert_to_tensor(0.0)``, ``acc = acc + x``."""
    source = case.source
    for call in case.calls("Variable"):
        name, initial = source.target_of(call), argument(call, 0, "initial_value")
        made = source.statement_of(call)
        if name is None or initial is None or made is None:
            continue
        plan, code = Plan(source, {call: _tensor(source, call, initial)}), source.code(name)
        writes = writes_to(source, name, source.after(made), False)
        if all(bind_new_state(case, plan, write, code, code) for write in writes):
            yield from plan.edits(f"Keep a tensor as {code}, in place of a variable")


def use_original(case: FixCase) -> Iterator[Edit]:
    """``v = tf.Variable(w)`` of a variable ``w`` → ``v = w``."""
    source, evidence = case.source, case.cause.evidence
    if not isinstance(evidence, NewVariable) or not evidence.copied:
        return
    plan = Plan(source)
    for call in case.calls("Variable"):
        initial = argument(call, 0, "initial_value")
        if initial is not None and isinstance(initial, (cst.Name, cst.Attribute)):
            plan.replace(call, source.code(initial))
    title = f"Use {evidence.copied} itself, in place of a variable that begins with its value"
    yield from plan.edits(title)


def keep_in_scope(case: FixCase) -> Iterator[Edit]:
    """``with tape:`` → ``with tape, tf.keras.StatelessScope():``, in which a Keras variable that is
    assigned a tensor is that tensor for all that reads it (Keras 3), and after which it has its old
    value.

    Then also with inner tapes that watch and ask for the values that variables have by then.
    """
    source = case.source
    written = {
        version.op
        for variable in case.trace.variables.values()
        for version in variable.versions
        if variable.path
    }
    block = block_of_call(source, case.trace, case.call)
    if block is None or case.cause.op_id not in written:
        return
    scope = cst.WithItem(cst.parse_expression(f"{source.tf}.keras.StatelessScope()"))
    title = (
        "Keep what is assigned as tensors while the tape records; "
        "Keras's variables have their old values after it"
    )
    for has_inner in (False, True):
        plan = Plan(source, {block.node: lambda old: old.with_changes(items=[*old.items, scope])})
        inner = ask_inside(plan, block, "[v.value for v in {asked}]") if has_inner else 0
        if inner or not has_inner:
            yield from plan.edits(title)


def _copied(case: FixCase, call: cst.Call) -> str:
    """``copy.deepcopy(c)`` → ``copy.copy(c)``; ``c`` where only that function was imported."""
    if not call.args:
        return ""
    given = case.source.code(call.args[0].value)
    if not isinstance(call.func, cst.Attribute):
        return given
    return f"{case.source.code(call.func.value)}.copy({given})"


SHALLOW_COPY = CallRewrite(
    ("deepcopy",),
    _copied,
    "Copy the object alone: a deep copy has new variables in place of those that it holds",
)


def _weight(source: ParsedSource, call: cst.Call) -> str:
    """The code of what a layer's weight starts as, where that was computed; else empty."""
    shape, initial = argument(call, 0, "shape"), argument(call, 1, "initializer")
    constant = constant_of(initial) if initial is not None else None
    if constant is None or shape is None:
        return ""
    value = source.code(without_exit(constant))
    return f"{source.tf}.broadcast_to({value}, {source.code(shape)})"


def constant_of(initializer: cst.BaseExpression) -> cst.BaseExpression | None:
    """``v`` of ``tf.constant_initializer(v)``, of ``Constant(v)`` and of ``lambda *_: v``."""
    if isinstance(initializer, cst.Lambda):
        return initializer.body
    if not is_call_to(initializer, *_CONSTANT):
        return None
    given = argument(initializer, 0, "value")
    return given


def _tensor(source: ParsedSource, call: cst.Call, value: cst.BaseExpression) -> cst.BaseExpression:
    if isinstance(value, cst.Lambda):
        value = value.body
    dtype = argument(call, 99, "dtype")
    if dtype is not None:
        text = f"{source.tf}.cast({source.code(value)}, {source.code(dtype)})"
        return cst.parse_expression(text)
    if isinstance(value, (*_COMPUTED, cst.Name)) and not isinstance(value, cst.Name):
        is_alone = isinstance(source.parent(call), (cst.Assign, cst.AnnAssign, cst.Arg, cst.Return))
        text = source.code(value)
        return cst.parse_expression(text if is_alone else f"({text})")
    return cst.parse_expression(f"{source.tf}.convert_to_tensor({source.code(value)})")
