"""Put a tensor in the place of a variable that is written between source and target."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator

import libcst as cst

from ..blocks import Block, block_of_call, gradient_call, watch_inside
from ..model import Edit, ErrorCase, FixCase
from ..nodes import (
    all_of,
    argument,
    bindings_of,
    called_name,
    nodes_in,
    read_names,
    sole,
    targets_of,
)
from ..plan import Plan
from ..regions import Region, region_after
from ..renaming import calls_any, functions_that_read, is_rebound, reads_of, rename_reads
from ..source import ParsedSource
from .writes import Write, new_value, write_of, writes_on, writes_to

SLICE_OP = "ResourceStridedSliceAssign"


def use_new_tensor(case: FixCase) -> Iterator[Edit]:
    """``c.assign(e)`` → ``c_new = e``, which later reads use; the variable is stored afterwards."""
    lines = case.lines("assign")
    for chosen in dict.fromkeys((lines, _lines_beside(case, lines), lines[:1])):
        for afterwards in (True, False):
            edit = _edited(case, chosen, afterwards)
            if edit is not None:
                yield edit


def _lines_beside(case: FixCase, lines: tuple[int, ...]) -> tuple[int, ...]:
    """These lines and those of the other variables that the same functions write: of a state of
    several parts each may be made of the others."""
    source = case.source
    written = [write.receiver for line in lines for write in writes_on(source, line)]
    statements = filter(None, map(source.statement, lines))
    functions = {source.function_of(statement) for statement in statements} - {source.module}
    others = [
        source.line(call)
        for function in functions
        for call in all_of(function, cst.Call)
        if (write := write_of(source, call, False)) is not None
        and not any(write.receiver.deep_equals(known) for known in written)
    ]
    return tuple(dict.fromkeys((*lines, *others)))


def _edited(case: FixCase, lines: Iterable[int], afterwards: bool) -> Edit | None:
    """``afterwards``: store when the tape is done, if nothing else can read the state before."""
    source = case.source
    block = block_of_call(source, case.trace, case.call)
    plan = Plan(source)
    titles: list[str] = []
    done: list[cst.BaseExpression] = []
    slices = {each.line for each in (case.cause, *case.finding.others) if each.op == SLICE_OP}
    for line in sorted(lines):
        for write in writes_on(source, line, line in slices):
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
    if not (is_named or is_weight) or is_name_of_loop(source, write):
        return ""
    region = region_after(source, write.statement, block)
    if region.loop is not None and is_rebound(receiver, source.before(write.statement)):
        region = Region(tuple(source.after(write.statement)), None, None)  # made in each round
    if is_rebound(receiver, region.statements):
        return ""
    if case.call.method != "tf.gradients" and (value := _assigned_name(source, write, region)):
        rename_reads(plan, receiver, value, region.statements)
        for is_target in (True, False):
            _ask_for(case, plan, block, receiver, value, is_target=is_target)
        return value
    new = plan.fresh_name(new_name(stem(receiver)))
    name = source.code(receiver)
    read_elsewhere = functions_that_read(source, receiver)
    is_safe = not calls_any((write.statement, *region.statements), read_elsewhere)
    stored_later = afterwards and is_safe and region.block is not None and region.loop is None
    rename_reads(plan, receiver, new, region.statements)
    _ask_for(case, plan, block, receiver, new, is_target=True)
    if region.loop is not None:
        plan.before(region.loop, f"{new} = {name}")
        watch_inside(plan, region.statements, block, where_read(source, receiver, new))
    following = [write, *_others(source, write, region)]
    if region.loop is None and any(_is_repeated(source, each, write) for each in following):
        watch_inside(plan, region.statements, block, where_read(source, receiver, new))
    if case.call.method == "tf.gradients" and not case.call.traced:
        states = [name, *(new for _ in following)]
        is_done = all(
            _compute_beside(case, plan, each, now, new, region)
            for each, now in zip(following, states, strict=False)
        )
        return new if is_done else ""
    for place, following_write in enumerate(following):
        is_first = place == 0 and region.loop is None
        if not bind_new_state(case, plan, following_write, name if is_first else new, new):
            return ""
        if not stored_later:
            plan.after(following_write.statement, f"{name}.assign({new})")
    if stored_later and region.block is not None:
        plan.after(region.block.node, f"{name}.assign({new})")
    if write.is_whole and not any(True for _ in reads_of(source, receiver, write.values)):
        _ask_for(case, plan, block, receiver, new)
    return new


def _assigned_name(source: ParsedSource, write: Write, region: Region) -> str:
    """``y`` of ``x.assign(y)``, if it is the only write there and ``y`` keeps this value: then what
    follows may read ``y``, and ``x`` is written as before. Else empty."""
    small, value = sole(write.statement), write.values[-1]
    is_alone = isinstance(small, cst.Expr) and small.value is write.call
    if not (write.is_whole and is_alone and isinstance(value, cst.Name)) or region.loop is not None:
        return ""
    changed = [*_others(source, write, region), *writes_to(source, value, region.statements, False)]
    inner = (node for each in region.statements for node in nodes_in(each))
    own = (targets_of(node.target) for node in inner if isinstance(node, cst.CompFor))
    bindings = [each for node in region.statements for each in bindings_of(node, value.value)]
    return "" if changed or bindings or value.value in set().union(*own) else value.value


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


def where_read(
    source: ParsedSource, receiver: cst.BaseExpression, new: str
) -> Callable[[cst.BaseExpression], str]:
    """``new`` for an expression that reads the variable, nothing for another."""
    return lambda asked: new if any(True for _ in reads_of(source, receiver, [asked])) else ""


def _others(source: ParsedSource, write: Write, region: Region) -> list[Write]:
    """Further writes to the same variable."""
    is_slice = write.subscript is not None
    found = writes_to(source, write.receiver, region.statements, is_slice)
    return [found_write for found_write in found if found_write.call is not write.call]


def bind_new_state(case: FixCase | ErrorCase, plan: Plan, write: Write, now: str, new: str) -> bool:
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
    asked = argument(call, *place)
    statement = case.source.statement_of(call) if call is not None else None
    if asked is None or statement is None:
        return
    if block is not None and case.source.beside(statement, block.node) is not None:
        rename_reads(plan, receiver, new, [asked])


def is_name_of_loop(source: ParsedSource, write: Write) -> bool:
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
