"""Let the name, attribute or parameter that an assign writes mean the tensor itself."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import partial

import libcst as cst

from ...wording import enumerated, listed
from ..blocks import Block, block_of_call, watch_inside
from ..model import Edit, FixCase
from ..nodes import (
    all_of,
    argument,
    bound_names,
    dotted,
    name_reads,
    parameters_of,
    read_names,
    sole,
)
from ..plan import Plan
from ..renaming import functions_that_read
from ..source import ParsedSource
from ..tapes.functions import run_in_python
from .assigns import SLICE_OP, bind_new_state, is_name_of_loop, where_read
from .writes import Write, new_value, writes_on, writes_to


def rebind_name(case: FixCase) -> Iterator[Edit]:
    """``c.assign(e)`` → ``c = e``, for functions that read ``c``; later ``c`` is as before.

    Functions that write it do so without ``tf.function``, which cannot keep a tensor from one call
    to the next.
    """
    source = case.source
    block = block_of_call(source, case.trace, case.call)
    if block is None:
        return
    writes = list(writes_on(source, case.cause.line, case.cause.op == SLICE_OP))
    for write in writes:
        if edit := _rebound_parameter(case, write):
            yield edit
            return
    beside = [each for line in case.lines("assign") for each in writes_on(source, line, False)]
    together = [*writes, *(each for each in beside if _is_in_function_of(source, each, writes))]
    for several in (together, writes):  # a state of several variables, then of one
        plan, names, is_compiled = Plan(source), dict[str, None](), False
        for write in several:
            name = source.code(write.receiver)
            if name not in names and (compiled := _rebind(case, plan, block, write)) is not None:
                names[name] = None
                is_compiled |= compiled
        if names:
            words = enumerated(names)
            mean = "mean the tensors themselves" if len(names) > 1 else "mean the tensor itself"
            without = f", without {source.tf}.function" if is_compiled else ""
            title = f"Let {words} {mean} while the tape records{without}"
            yield from plan.edits(title, is_fallback=is_compiled)


def _is_in_function_of(source: ParsedSource, write: Write, others: Sequence[Write]) -> bool:
    function = source.function_of(write.statement)
    return any(source.function_of(other.statement) is function for other in others)


def _rebind(case: FixCase, plan: Plan, block: Block, write: Write) -> bool | None:
    """Let the name that a write changes mean the tensor; None where that cannot be done, else
    whether functions run without ``tf.function`` for it."""
    source, receiver = case.source, write.receiver
    if not isinstance(receiver, cst.Name) or is_name_of_loop(source, write):
        return None
    readers = functions_that_read(source, receiver)
    inside = source.beside(write.statement, block.node) is block.node
    writer = source.function_of(write.statement)
    if not (readers if inside else isinstance(writer, cst.FunctionDef)):
        return None
    name, stored = receiver.value, plan.fresh_name(f"{receiver.value}_variable")
    if not bind_new_state(case, plan, write, name, name):
        return None
    at_top = (made for made in source.statements if source.function_of(made) is source.module)
    lines = (made for made in at_top if isinstance(made, cst.SimpleStatementLine))
    is_global = any(name in bound_names(line) for line in lines)
    for function in {writer, source.function_of(block.node)} if is_global else ():
        if isinstance(function, cst.FunctionDef):
            plan.first(function, f"global {name}")
    watch_inside(plan, [block.node], block, where_read(source, receiver, name))
    plan.before(block.node, f"{stored} = {name}")
    plan.after(block.node, f"{stored}.assign({name})", f"{name} = {stored}")
    if isinstance(writer, cst.FunctionDef) and not inside:
        return run_in_python(plan, *readers, writer.name.value)
    return False


def _rebound_parameter(case: FixCase, write: Write) -> Edit | None:
    """``def step(u): u.assign(e); return u`` → ``u = e``: what is returned goes on from call to
    call, and the caller gives the first."""
    source, function = case.source, case.source.function_of(write.statement)
    name = source.code(write.receiver)
    if not isinstance(function, cst.FunctionDef):
        return None
    if all(param.name.value != name for param in all_of(function.params, cst.Param)):
        return None
    results = (read_names(each) for each in all_of(function.body, cst.Return))
    plan, is_slice = Plan(source), write.subscript is not None
    writes = list(writes_to(source, write.receiver, [function.body], is_slice))
    if not any(name in read for read in results):
        return None
    if not all(bind_new_state(case, plan, each, name, name) for each in writes):
        return None
    return Edit(f"Let {name} mean the tensor itself in {function.name.value}", plan.text())


def rebind_attribute(case: FixCase) -> Iterator[Edit]:
    """``self.h.assign(e)`` → ``self.h = e``: the object keeps the tensor itself as its state, and
    methods that use it run without ``tf.function``, as in :func:`rebind_name`. So does a dict for
    ``state["h"].assign(e)``. A name outside that means the same variable, which the object was
    made with, is read from the object while the tape records."""
    source, is_slice = case.source, case.cause.op == SLICE_OP
    lines = case.lines("assign")
    for chosen in dict.fromkeys((lines, lines[:1])):  # a state of several variables, then of one
        plan = Plan(source)
        written = (write for line in sorted(chosen) for write in writes_on(source, line, is_slice))
        states = {source.code(each.receiver): each for each in written}
        names = [name for name, write in states.items() if _keep_as_tensor(case, plan, write)]
        block = block_of_call(source, case.trace, case.call)
        if names and block is not None:
            watch_inside(plan, [source.module], block, partial(_among, source, names))
            for name in names:
                _read_from_object(plan, block, states[name])
        if names:
            single = f"the tensor itself as {names[0]}, in place of a variable"
            several = f"the tensors themselves as {listed(names)}, in place of variables"
            yield from plan.edits(f"Keep {several if len(names) > 1 else single}")


def _keep_as_tensor(case: FixCase, plan: Plan, write: Write) -> bool:
    """Let each write to this attribute or element bind it; False where one of them cannot."""
    source, receiver, bound = case.source, write.receiver, dict[cst.CSTNode, cst.Assign]()
    if not isinstance(receiver, (cst.Attribute, cst.Subscript)):
        return False
    name = source.code(receiver)
    every = list(writes_to(source, receiver, [source.module], write.subscript is not None))
    for each in every:
        value, small = new_value(source, each, name, case.trace), sole(each.statement)
        if value is None or not isinstance(small, cst.Expr) or small.value is not each.call:
            return False
        target = cst.AssignTarget(cst.parse_expression(name))  # type: ignore[arg-type]
        bound[small] = cst.Assign([target], value)
    for node, assign in bound.items():
        plan.replace(node, assign)
    writers = [source.function_of(each.statement) for each in every]
    names = {writer.name.value for writer in writers if isinstance(writer, cst.FunctionDef)}
    run_in_python(plan, *functions_that_read(source, receiver), *names)
    return bool(every)


def _among(source: ParsedSource, names: Sequence[str], asked: cst.BaseExpression) -> str:
    code = source.code(asked)
    return code if code in names else ""


def _read_from_object(plan: Plan, block: Block, write: Write) -> None:
    """``w`` → ``net.h`` in the block, where ``net = Net(w)`` made the object and its ``__init__``
    says ``self.h = w``."""
    source, receiver = plan.source, write.receiver
    kind = source.enclosing(write.statement, cst.ClassDef)
    if kind is None or not isinstance(receiver, cst.Attribute):
        return
    if (place := _place_given(source, kind, receiver)) is None:
        return
    for assign in all_of(source.module, cst.Assign):
        made, target = assign.value, assign.targets[0].target
        if not isinstance(made, cst.Call) or not isinstance(target, cst.Name):
            continue
        is_of_kind = dotted(made.func) == kind.name.value
        given = argument(made, place[0], place[1]) if is_of_kind else None
        if given is None or not isinstance(given, cst.Name):
            continue
        for read in name_reads(block.node.body):
            if read.value == given.value and source.enclosing(read, cst.Call) is not made:
                plan.replace(read, f"{target.value}.{receiver.attr.value}")


def _place_given(
    source: ParsedSource, kind: cst.ClassDef, attribute: cst.Attribute
) -> tuple[int, str] | None:
    """The place and name of the parameter of ``__init__`` that an attribute is given as it is."""
    for method in all_of(kind.body, cst.FunctionDef):
        if method.name.value != "__init__":
            continue
        params = parameters_of(method)[1:]
        for assign in all_of(method.body, cst.Assign):
            is_it = assign.targets[0].target.deep_equals(attribute)
            if is_it and dotted(assign.value) in params:
                name = dotted(assign.value)
                return params.index(name), name
    return None
