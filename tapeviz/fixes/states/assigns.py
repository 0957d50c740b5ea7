"""Put a tensor in the place of a variable that is written between source and target."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence

import libcst as cst

from ..blocks import Block, block_of_call, gradient_call, watch_inside
from ..model import Edit, FixCase
from ..nodes import all_of, argument, bound_names, called_name, dotted, read_names, sole
from ..plan import Plan
from ..regions import Region, region_after
from ..renaming import calls_any, functions_that_read, is_rebound, reads_of, rename_reads
from ..source import ParsedSource
from ..tapes.functions import run_in_python
from .writes import Write, new_value, writes_on, writes_to

SLICE_OP = "ResourceStridedSliceAssign"


def use_new_tensor(case: FixCase) -> Iterator[Edit]:
    """``c.assign(e)`` → ``c_new = e``, which later reads use; the variable is stored afterwards."""
    lines = case.lines("assign")
    for chosen in dict.fromkeys((lines, lines[:1])):
        for afterwards in (True, False):
            edit = _edited(case, chosen, afterwards)
            if edit is not None:
                yield edit


def _edited(case: FixCase, lines: Iterable[int], afterwards: bool) -> Edit | None:
    """``afterwards``: store when the tape is done, if nothing else can read the state before."""
    source = case.source
    block = block_of_call(source, case.trace, case.call)
    plan = Plan(source)
    titles: list[str] = []
    done: list[cst.BaseExpression] = []
    for line in sorted(lines):
        for write in writes_on(source, line, case.cause.op == SLICE_OP):
            if any(write.receiver.deep_equals(node) for node in done):
                continue
            new = _replace_state(case, plan, write, block, afterwards)
            if new:
                done.append(write.receiver)
                titles.append(f"{new} in place of {source.code(write.receiver)}")
    if not titles:
        return None
    return Edit(f"Compute with a tensor: {', '.join(titles)}", plan.text())


def _replace_state(
    case: FixCase, plan: Plan, write: Write, block: Block | None, afterwards: bool
) -> str:
    """Change one variable into a tensor; the tensor's name, or empty if it cannot be done."""
    source, receiver = case.source, write.receiver
    is_weight = isinstance(receiver, cst.Subscript) and not isinstance(receiver.value, cst.Name)
    is_named = isinstance(receiver, (cst.Name, cst.Attribute))
    if not (is_named or is_weight) or _is_own(source, write):
        return ""
    region = region_after(source, write.statement, block)
    if region.loop is not None and is_rebound(receiver, source.before(write.statement)):
        region = Region(tuple(source.after(write.statement)), None, None)  # made in each round
    if is_rebound(receiver, region.statements):
        return ""
    new = plan.fresh_name(new_name(stem(receiver)))
    name = source.code(receiver)
    read_elsewhere = functions_that_read(source, receiver)
    is_safe = not calls_any((write.statement, *region.statements), read_elsewhere)
    stored_later = afterwards and is_safe and region.block is not None and region.loop is None
    rename_reads(plan, receiver, new, region.statements)
    _ask_for(case, plan, block, receiver, new, is_target=True)
    if region.loop is not None:
        plan.before(region.loop, f"{new} = {name}")
        watch_inside(plan, region.statements, block, _where_read(source, receiver, new))
    following = [write, *_others(source, write, region)]
    if region.loop is None and any(_is_repeated(source, each, write) for each in following):
        watch_inside(plan, region.statements, block, _where_read(source, receiver, new))
    if case.call.method == "tf.gradients" and not case.call.traced:
        states = [name, *(new for _ in following)]
        is_done = all(
            _compute_beside(case, plan, each, now, new, region)
            for each, now in zip(following, states, strict=False)
        )
        return new if is_done else ""
    for place, following_write in enumerate(following):
        is_first = place == 0 and region.loop is None
        if not _compute(case, plan, following_write, name if is_first else new, new):
            return ""
        if not stored_later:
            plan.after(following_write.statement, f"{name}.assign({new})")
    if stored_later and region.block is not None:
        plan.after(region.block.node, f"{name}.assign({new})")
    if write.is_whole and not any(True for _ in reads_of(source, receiver, write.values)):
        _ask_for(case, plan, block, receiver, new)
    return new


def _is_repeated(source: ParsedSource, write: Write, first: Write) -> bool:
    """Whether a loop that begins after the first write runs this one again and again: from its
    second turn on a tensor is read there."""
    around = (
        above for above in source.ancestors(write.call) if isinstance(above, (cst.For, cst.While))
    )
    before = set(source.ancestors(first.call))
    return any(above not in before for above in around)


def _compute_beside(
    case: FixCase, plan: Plan, write: Write, now: str, new: str, region: Region
) -> bool:
    """Bind the new state in front of a write of a graph (TensorFlow 1), which a session goes on to
    run: what is computed with the result of the write reads the state in its place."""
    source = case.source
    value = new_value(source, write, now, case.trace)
    if value is None:
        return False
    plan.before(write.statement, f"{new} = {source.code(value)}")
    if write.is_whole:
        plan.replace(write.values[-1], new)
    small = sole(write.statement)
    if isinstance(small, cst.Assign) and small.value is write.call and len(small.targets) == 1:
        for node in reads_of(source, small.targets[0].target, region.statements):
            around = (above for above in source.ancestors(node) if isinstance(above, cst.Call))
            if not any(called_name(call) in _RUNNING for call in around):
                plan.replace(node, new)
    return True


_RUNNING = ("control_dependencies", "run", "group", "eval")
"""Calls that run an op of a graph, or let another one wait for it."""


def _where_read(
    source: ParsedSource, receiver: cst.BaseExpression, new: str
) -> Callable[[cst.BaseExpression], str]:
    """``new`` for an expression that reads the variable, nothing for another."""
    return lambda asked: new if any(True for _ in reads_of(source, receiver, [asked])) else ""


def _others(source: ParsedSource, write: Write, region: Region) -> list[Write]:
    """Further writes to the same variable."""
    is_slice = write.subscript is not None
    found = writes_to(source, write.receiver, region.statements, is_slice)
    return [found_write for found_write in found if found_write.call is not write.call]


def _compute(case: FixCase, plan: Plan, write: Write, now: str, new: str) -> bool:
    """Make the statement bind the new state; one that does more gets a line in front."""
    source = case.source
    value = new_value(source, write, now, case.trace)
    if value is None:
        return False
    small = sole(write.statement)
    if isinstance(small, cst.Expr) and small.value is write.call:

        def bind(updated: cst.SimpleStatementLine) -> cst.CSTNode:
            changed = sole(updated)
            call = changed.value if isinstance(changed, cst.Expr) else None
            same = write.in_call(call) if isinstance(call, cst.Call) else write
            state = new_value(source, same, now, case.trace)
            target = cst.AssignTarget(cst.Name(new))
            return updated.with_changes(body=[cst.Assign([target], state or value)])

        plan.replace(write.statement, bind)
        return True
    if not isinstance(write.statement, cst.SimpleStatementLine):
        return False
    around = source.enclosing(write.call, cst.Lambda)
    own = {param.name.value for param in all_of(around.params, cst.Param)} if around else set()
    if own & read_names(value):
        return False
    plan.before(write.statement, f"{new} = {source.code(value)}")
    plan.replace(write.call, new)
    return True


def _ask_for(
    case: FixCase,
    plan: Plan,
    block: Block | None,
    receiver: cst.BaseExpression,
    new: str,
    *,
    is_target: bool = False,
) -> None:
    """A gradient by the variable as read after the write is now one by the tensor; with
    ``is_target`` the gradient of the variable that of the tensor."""
    call = gradient_call(case.source, case.call)
    place = (0, "target") if is_target else (1, "sources")
    asked = argument(call, *place) if call is not None else None
    statement = case.source.statement_of(call) if call is not None else None
    if asked is None or statement is None:
        return
    if block is not None and case.source.beside(statement, block.node) is not None:
        rename_reads(plan, receiver, new, [asked.value])


def _is_own(source: ParsedSource, write: Write) -> bool:
    """Whether the receiver is a name of the loop, lambda or comprehension around the write."""
    if not isinstance(write.receiver, cst.Name):
        return False
    name = write.receiver.value
    for above in source.ancestors(write.call):
        if isinstance(above, cst.Lambda):
            if any(param.name.value == name for param in all_of(above.params, cst.Param)):
                return True
        elif isinstance(above, cst.For):
            if any(part.value == name for part in all_of(above.target, cst.Name)):
                return True
        elif isinstance(above, (cst.ListComp, cst.GeneratorExp)):
            targets = (part.target for part in all_of(above, cst.CompFor))
            if any(part.value == name for target in targets for part in all_of(target, cst.Name)):
                return True
        elif isinstance(above, cst.FunctionDef):
            return False
    return False


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
            words = " and ".join(names)
            mean = "mean the tensors themselves" if len(names) > 1 else "mean the tensor itself"
            without = f", without {source.tf}.function" if is_compiled else ""
            yield Edit(f"Let {words} {mean} while the tape records{without}", plan.text())


def _is_in_function_of(source: ParsedSource, write: Write, others: Sequence[Write]) -> bool:
    function = source.function_of(write.statement)
    return any(source.function_of(other.statement) is function for other in others)


def _rebind(case: FixCase, plan: Plan, block: Block, write: Write) -> bool | None:
    """Let the name that a write changes mean the tensor; None where that cannot be done, else
    whether functions run without ``tf.function`` for it."""
    source, receiver = case.source, write.receiver
    if not isinstance(receiver, cst.Name) or _is_own(source, write):
        return None
    readers = functions_that_read(source, receiver)
    inside = source.beside(write.statement, block.node) is block.node
    writer = source.function_of(write.statement)
    if not (readers if inside else isinstance(writer, cst.FunctionDef)):
        return None
    name, stored = receiver.value, plan.fresh_name(f"{receiver.value}_variable")
    if not _compute(case, plan, write, name, name):
        return None
    at_top = (made for made in source.statements if source.function_of(made) is source.module)
    lines = (made for made in at_top if isinstance(made, cst.SimpleStatementLine))
    is_global = any(name in bound_names(line) for line in lines)
    for function in {writer, source.function_of(block.node)} if is_global else ():
        if isinstance(function, cst.FunctionDef):
            plan.first(function, f"global {name}")
    watch_inside(plan, [block.node], block, _where_read(source, receiver, name))
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
    if not all(_compute(case, plan, each, name, name) for each in writes):
        return None
    return Edit(f"Let {name} mean the tensor itself in {function.name.value}", plan.text())


def rebind_attribute(case: FixCase) -> Iterator[Edit]:
    """``self.h.assign(e)`` → ``self.h = e``: the object keeps the tensor itself as its state, and
    methods that use it run without ``tf.function``, as in :func:`rebind_name`. So does a dict for
    ``state["h"].assign(e)``."""
    source = case.source
    for write in writes_on(source, case.cause.line, case.cause.op == SLICE_OP):
        receiver = write.receiver
        if not isinstance(receiver, (cst.Attribute, cst.Subscript)):
            continue
        name = source.code(receiver)
        is_slice = write.subscript is not None
        plan = Plan(source)
        every = list(writes_to(source, receiver, [source.module], is_slice))
        for each in every:
            value = new_value(source, each, name, case.trace)
            small = sole(each.statement)
            if value is None or not isinstance(small, cst.Expr) or small.value is not each.call:
                return
            target = cst.AssignTarget(cst.parse_expression(name))  # type: ignore[arg-type]
            plan.replace(small, cst.Assign([target], value))
        if every:
            writers = [source.function_of(each.statement) for each in every]
            names = {writer.name.value for writer in writers if isinstance(writer, cst.FunctionDef)}
            run_in_python(plan, *functions_that_read(source, receiver), *names)
            yield Edit(f"Keep the tensor itself as {name}, in place of a variable", plan.text())


def return_tensor(case: FixCase) -> Iterator[Edit]:
    """A function that does nothing but write a variable returns the tensor, and its caller uses
    that."""
    source, trace = case.source, case.trace
    block = block_of_call(source, trace, case.call)
    op = trace.ops.get(case.cause.op_id) if case.cause.op_id is not None else None
    frames = op.site.frames[1:2] if op is not None else ()
    for write in writes_on(source, case.cause.line, case.cause.op == SLICE_OP):
        for frame in frames:
            edit = _returned(case, write, frame.line, block)
            if edit is not None:
                yield edit


def _returned(case: FixCase, write: Write, line: int, block: Block | None) -> Edit | None:
    source, receiver = case.source, write.receiver
    caller = source.statement(line)
    small = sole(caller)
    if caller is None or not isinstance(small, cst.Expr) or not isinstance(small.value, cst.Call):
        return None
    plan = Plan(source)
    above, name = source.parent(write.call), source.code(receiver)
    function = source.enclosing(write.call, cst.FunctionDef)
    params: cst.Parameters
    if isinstance(above, cst.Lambda):
        given_to, params = source.parent(above), above.params
        called = dotted(given_to.targets[0].target) if isinstance(given_to, cst.Assign) else ""
        value = new_value(source, write, name, case.trace)
        if value is None:
            return None
        plan.replace(write.call, value)
    elif function is not None and not all_of(function.body, cst.Return):
        called, params = function.name.value, function.params
        new = plan.fresh_name(new_name(stem(receiver)))
        is_last = source.beside(write.statement, function.body.body[-1]) is not None  # type: ignore[arg-type]
        if not is_last or not _compute(case, plan, write, name, new):
            return None
        plan.after(write.statement, f"{name}.assign({new})")
        plan.last(function, f"return {new}")
    else:
        return None
    if called_name(small.value) != called:
        return None
    receiver = _given_for(params, small.value, receiver)
    bound = plan.fresh_name(new_name(stem(receiver)))
    target = cst.AssignTarget(cst.Name(bound))

    def bind(updated: cst.Expr) -> cst.CSTNode:
        return cst.Assign([target], updated.value)

    plan.replace(small, bind)
    if isinstance(above, cst.Lambda):
        plan.after(caller, f"{source.code(receiver)}.assign({bound})")
    region = region_after(source, caller, block)
    if not rename_reads(plan, receiver, bound, region.statements):
        return None
    return Edit(f"Return the tensor from {called}, and compute with it", plan.text())


def _given_for(
    params: cst.Parameters, call: cst.Call, receiver: cst.BaseExpression
) -> cst.BaseExpression:
    """The argument that the caller gives for a parameter; the receiver itself if it is none."""
    names = [parameter.name.value for parameter in params.params]
    if isinstance(call.func, cst.Attribute) and names[:1] == ["self"]:
        names = names[1:]
    if not isinstance(receiver, cst.Name) or receiver.value not in names:
        return receiver
    given = argument(call, names.index(receiver.value), receiver.value)
    return given.value if given is not None else receiver


def stem(receiver: cst.BaseExpression) -> str:
    """A name to begin a new one with: ``c``, ``w`` of ``self.w``, ``c`` of ``c[0]``."""
    if isinstance(receiver, cst.Attribute):
        return receiver.attr.value.strip("_") or "state"
    if isinstance(receiver, cst.Subscript):
        return stem(receiver.value)
    return receiver.value if isinstance(receiver, cst.Name) else "state"


def new_name(name: str) -> str:
    """The name of the tensor that takes a variable's place."""
    return f"{name}_tensor" if "new" in name else f"{name}_new"
