"""Compute in the tape's block what was computed before it, and kept in a list."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

import libcst as cst

from ...analysis.causes.tapes.outside_tape import OutsideTape
from ...trace.ids import TensorId, VariableId
from ...trace.model import Trace
from ...trace.op_kinds import ops_with
from ...trace.ops import Op
from ...wording import enumerated
from ..blocks import Block, block_of_call, put_in_front
from ..model import Edit, FixCase
from ..nodes import all_of, bound_names, called_name, dotted, header_nodes, read_names, sole
from ..plan import Plan
from ..renaming import reads_of, rename_reads
from ..source import CstStatement, ParsedSource
from .neighbours import makers_of

_DRAWS = ops_with("draw")


def compute_listed_inside(case: FixCase) -> Iterator[Edit]:
    """``kept.append(e)`` before the block that reads ``kept`` → what ``e`` is computed from is
    kept, and ``e`` is computed in the block.

    A policy's log-probabilities are mostly kept so, while the agent acts.
    """
    source, block = case.source, block_of_call(case.source, case.trace, case.call)
    evidence = case.cause.evidence
    if block is None or not isinstance(evidence, OutsideTape) or evidence.where != "before":
        return
    op = case.trace.op(case.cause.op_id)
    frames = op.site.frames if op is not None else ()
    for line in dict.fromkeys((case.cause.line, *(frame.line for frame in frames))):
        first = source.statement(line)
        home = source.enclosing(first, cst.FunctionDef) if first is not None else None
        if first is None or source.enclosing(first, cst.With) is block.node:
            continue
        for append in all_of(home or source.module, cst.Call):
            is_here = source.enclosing(append, cst.FunctionDef) is home
            is_method = (
                isinstance(append.func, cst.Attribute) and append.func.attr.value == "append"
            )
            if is_here and is_method and len(append.args) == 1:
                yield from _compute_listed(case, block, first, append)


def _compute_listed(
    case: FixCase, block: Block, first: CstStatement, append: cst.Call
) -> Iterator[Edit]:
    source = case.source
    last, home = source.statement_of(append), source.enclosing(append, cst.FunctionDef)
    kept, value = cst.ensure_type(append.func, cst.Attribute).value, append.args[0].value
    if last is None or not dotted(kept) or source.line(last) < source.line(first):
        return
    steps = _steps_to(case, first, last, value) if first is not last else []
    made = set[str]().union(*map(bound_names, steps))
    if first is not last and not made & read_names(value):
        return
    own = _names_of_each(source, append, home)
    used = [name for part in (*steps, value) for name in _names_in_order(part)]
    inputs = [name for name in dict.fromkeys(used) if name in own - made]
    reader = _reader_of(source, kept, block, home)
    if not inputs or reader is None:
        return
    around = source.enclosing(reader, cst.FunctionDef)
    around = reader if isinstance(reader, cst.FunctionDef) else around
    taken = read_names(reader.body) - bound_names(reader.body)
    if taken & {*inputs, *made} or not _has_same_self(source, home, around, used):
        return
    plan = Plan(source)
    item = inputs[0] if len(inputs) == 1 else f"({', '.join(inputs)})"
    name = plan.fresh_name(dotted(kept).rpartition(".")[2])
    rename_reads(plan, kept, name, [reader.body])
    plan.replace(value, item)
    for step in steps:
        if not _is_read_by_others(source, step, steps, last):
            plan.remove(step)
    loop = f"for {item.strip('()')} in {source.code(kept)}:\n"
    lines = [source.code(step).strip() for step in steps]
    lines.append(f"{name}.append({source.code(value)})")
    body = "".join(f"    {line}\n" for line in lines)
    new = [f"{name} = []", loop + body]
    if isinstance(reader, cst.FunctionDef):
        plan.first(reader, *new)
    else:
        put_in_front(plan, block, *new)
    title = f"Keep {enumerated(inputs)} in {source.code(kept)}, and compute from it in the block"
    drawn = _drawn_from(case, steps, last) & {*inputs}  # an action has no slope in a policy's loss
    yield from plan.edits(title, has_other_slope=bool(drawn))


def _steps_to(
    case: FixCase, first: CstStatement, last: CstStatement, value: cst.BaseExpression
) -> list[CstStatement]:
    """The assignments that ``value``, on the line ``last``, is computed by from variables: not
    those that draw numbers or give none to TensorFlow, whose results are kept."""
    source, chosen, names = case.source, list[CstStatement](), set[str]()
    home = source.enclosing(first, cst.FunctionDef)
    before = [
        statement
        for statement in source.statements
        if source.enclosing(statement, cst.FunctionDef) is home
        and source.line(statement) < source.line(last)
    ]
    ran = _ops_by_line(case.trace, {source.line(statement) for statement in before})
    for statement in before:
        ops = ran[source.line(statement)]
        is_made = bool(names & read_names(statement)) or _takes_variable(case.trace, ops)
        if statement is first or (is_made and _is_computed(case, statement, ops)):
            chosen.append(statement)
            names |= bound_names(statement)
    steps = makers_of(read_names(value), chosen)
    return steps if first in steps and isinstance(sole(first), cst.Assign) else []


def _drawn_from(case: FixCase, steps: list[CstStatement], last: CstStatement) -> set[str]:
    """The names of what was drawn, before the line ``last``, from what the steps compute."""
    source = case.source
    made, drawn = set[str]().union(*map(bound_names, steps)), set[str]()
    for statement in source.statements:
        is_between = steps and source.line(steps[0]) < source.line(statement) < source.line(last)
        if is_between and statement not in steps and (made | drawn) & read_names(statement):
            drawn |= bound_names(statement)
    return drawn


def _ops_by_line(trace: Trace, lines: set[int]) -> Mapping[int, list[Op]]:
    """The ops that ran on each of the lines, or in a function that was called there."""
    found: dict[int, list[Op]] = {line: [] for line in lines}
    for op in trace.ops.values():
        for line in lines.intersection(frame.line for frame in op.site.frames):
            found[line].append(op)
    return found


def _takes_variable(trace: Trace, ops: Iterable[Op]) -> bool:
    return any(VariableId(tensor) in trace.variables for op in ops for tensor in op.inputs)


def _is_computed(case: FixCase, statement: CstStatement, ops: Iterable[Op]) -> bool:
    """Whether an assignment gives tensors of real numbers, and draws none.

    A layer may draw its first weights on the same line; no tensor is made from these but by a read.
    """
    if not isinstance(sole(statement), cst.Assign):
        return False
    line, trace = case.source.line(statement), case.trace
    given = (binding.tensors for binding in trace.bindings if binding.site.line == line)
    bound = [tensor for each in given for tensor, _ in each]
    tensors = (trace.tensors.get(tensor) for tensor in bound)
    if not any(tensor is not None and "float" in tensor.dtype for tensor in tensors):
        return False
    makers, waiting, seen = {id(op) for op in ops}, bound, set[TensorId]()
    while waiting:
        tensor = waiting.pop()
        maker = trace.maker(tensor)
        if maker is not None and id(maker) in makers and tensor not in seen:
            if maker.type in _DRAWS:
                return False
            waiting.extend(maker.inputs)
        seen.add(tensor)
    return True


def _names_of_each(
    source: ParsedSource, append: cst.Call, home: cst.FunctionDef | None
) -> set[str]:
    """The names that have another value each time that something is appended."""
    if home is not None:
        own = {param.name.value for param in all_of(home.params, cst.Param)}
        return (own | bound_names(home.body)) - {"self", "cls"}
    loops = (each for each in source.ancestors(append) if isinstance(each, (cst.For, cst.While)))
    return set[str]().union(*map(bound_names, loops))


def _names_in_order(node: cst.CSTNode) -> list[str]:
    read = read_names(node)
    return [name.value for name in all_of(node, cst.Name) if name.value in read]


def _reader_of(
    source: ParsedSource, kept: cst.BaseExpression, block: Block, home: cst.FunctionDef | None
) -> cst.With | cst.FunctionDef | None:
    """The block if it reads ``kept``, else a function that it calls and that does."""
    if any(True for _ in reads_of(source, kept, [block.node.body])):
        return block.node
    called = {called_name(call) for call in all_of(block.node.body, cst.Call)}
    for function in all_of(source.module, cst.FunctionDef):
        is_read = any(True for _ in reads_of(source, kept, [function.body]))
        if function is not home and function.name.value in called and is_read:
            return function
    return None


def _has_same_self(
    source: ParsedSource,
    home: cst.FunctionDef | None,
    around: cst.FunctionDef | None,
    used: list[str],
) -> bool:
    """Whether ``self``, if the code reads it, is the same object in both functions."""
    if "self" not in used or home is None:
        return True
    owner = source.enclosing(home, cst.ClassDef)
    return around is not None and source.enclosing(around, cst.ClassDef) is owner


def _is_read_by_others(
    source: ParsedSource, step: CstStatement, steps: list[CstStatement], last: CstStatement
) -> bool:
    """Whether more than the steps after it and the line ``last`` reads what a step makes."""
    names, home = bound_names(step), source.enclosing(step, cst.FunctionDef)
    return any(
        names & {name.value for name in header_nodes(each, cst.Name)} - bound_names(each)
        for each in source.statements
        if source.enclosing(each, cst.FunctionDef) is home and each is not last
        if each not in steps
    )
