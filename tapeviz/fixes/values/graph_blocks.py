"""Edit loops and branches that AutoGraph makes ops of: what they change needs a value before, and
one dtype and shape throughout."""

from __future__ import annotations

import re
from collections.abc import Iterator

import libcst as cst

from ...analysis.errors.case import defining_lines
from ...wording import enumerated
from ..model import Edit, ErrorCase
from ..nodes import all_of, bindings_of, bound_names, called_name, dotted, read_names
from ..plan import Plan
from ..source import ParsedSource


def begin_before(case: ErrorCase) -> Iterator[Edit]:
    """``loss`` that is made in a loop, or in one branch alone → ``loss = tf.constant(0.0)`` before;
    ``""`` or ``0`` where it becomes a text or a whole number. So each name of which that is true:
    TensorFlow tells of one at a time."""
    source, plan = case.source, Plan(case.source)
    block = source.statement(case.failure.line)
    if not isinstance(block, (cst.For, cst.While, cst.If)):
        return
    known = {*source.parameters(block)}.union(*map(bound_names, source.before(block)))
    if isinstance(block, cst.If) and block.orelse is not None:
        known |= bound_names(block.body) & bound_names(block.orelse)
    read = set[str]().union(*map(read_names, source.after(block)))
    names = dict.fromkeys((case.match["name"], *sorted((bound_names(block) & read) - known)))
    for name in names:
        made = _values_given(source, block, name)
        first = f"{source.tf}.constant(0.0)"
        if any(isinstance(value, cst.SimpleString) for value in made):
            first = '""'
        elif any(isinstance(value, cst.Integer) for value in made):
            first = "0"
        plan.before(block, f"{name} = {first}")
    yield from plan.edits(f"Give {enumerated(names)} a value before line {source.line(block)}")


def divide_whole_in_branch(case: ErrorCase) -> Iterator[Edit]:
    """``n = n / 2`` of integers in one branch, ``n = n + 1`` in the other → ``n // 2``."""
    source, plan = case.source, Plan(case.source)
    block = source.statement(case.failure.line)
    for value in _values_given(source, block, case.match["name"]) if block is not None else ():
        for divided in all_of(value, cst.BinaryOperation):
            if isinstance(divided.operator, cst.Divide):
                plan.replace(divided.operator, cst.FloorDivide())
    yield from plan.edits("Divide by //, which gives a whole number")


def _values_given(source: ParsedSource, block: cst.CSTNode, name: str) -> list[cst.BaseExpression]:
    """The values of the assignments in a block to a name."""
    assigns = [source.parent(node) for node in bindings_of(block, name)]
    return [each.value for each in assigns if isinstance(each, cst.Assign)]


def let_shape_vary(case: ErrorCase) -> Iterator[Edit]:
    """A loop of a compiled function that changes a shape: tell AutoGraph which axis varies."""
    source, found = case.source, case.match
    before, after = (re.findall(r"\d+|None", found[key]) for key in ("before", "after"))
    sizes = [a if a == b else "None" for a, b in zip(before, after, strict=False)]
    loop = source.statement(case.failure.line)
    if len(before) == len(after) and isinstance(loop, (cst.For, cst.While)):
        shape = f"{source.tf}.TensorShape([{', '.join(sizes)}])"
        plan = Plan(source)
        options = f"shape_invariants=[({found['name']}, {shape})]"
        plan.first(loop, f"{source.tf}.autograph.experimental.set_loop_options({options})")
        yield from plan.edits(f"Let the shape of {found['name']} vary in the loop")


def unroll_loop(case: ErrorCase) -> Iterator[Edit]:
    """``for i in tf.range(tf.shape(x)[0])``, of which AutoGraph makes a graph of its own → ``for i
    in range(x.shape[0])``; ``for row in x`` → ``in tf.unstack(x)``."""
    source, plan = case.source, Plan(case.source)
    lines = defining_lines(case.failure, case.trace.filename)
    for loop in all_of(source.module, cst.For):
        if not any(source.covers(loop, line) for line in lines):
            continue
        if isinstance(loop.iter, cst.Name):
            plan.replace(loop.iter, f"{source.tf}.unstack({loop.iter.value})")
        for call in all_of(loop.iter, cst.Call):
            if dotted(call.func) == f"{source.tf}.range":
                plan.replace(call.func, "range")
            elif called_name(call) == "shape" and len(call.args) == 1:
                plan.replace(call, f"{source.operand(call.args[0].value)}.shape")
    yield from plan.edits(
        "Let Python run the loop, so that its turns and what follows are one graph"
    )
