"""Make a value of an integer dtype a real number."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

import libcst as cst

from ..forms import match
from ..model import Edit, FixCase
from ..nodes import (
    all_of,
    argument,
    bare,
    bound_names,
    called_name,
    dotted,
    elements,
    enclosed,
    header_nodes,
    is_call_to,
    nodes_in,
    read_names,
    separated,
)
from ..plan import Plan
from ..smooth.comparisons import LOGIC
from ..source import CstStatement, ParsedSource
from ..values.estimates import straight_through
from ..values.stopping import inner

_MAKERS = (
    *("Variable", "constant", "convert_to_tensor", "range", "linspace", "add_weight"),
    *("array", "asarray", "arange"),
)
_CASTS = ("cast", "to_int32", "to_int64", "saturate_cast")
_SCALING = "convert_image_dtype"
"""Casts, and scales by the largest number of the dtype: back again by itself alone."""
_INTEGERS = frozenset(
    f"{kind}{bits}" for kind in ("int", "uint") for bits in (8, 16, 32, 64)
) | frozenset(("int", "bool"))


def write_floats(case: FixCase) -> Iterator[Edit]:
    """``tf.Variable(3)`` → ``tf.Variable(3.0)``, ``dtype=tf.int32`` → ``dtype=tf.float32``, and the
    same of the call's other sources that are integers."""
    statement = _statement(case)
    if statement is None:
        return
    asked = [case.trace.variable(each.tensor) for each in case.call.sources]
    lines = {each.site.line for each in asked if each is not None and each.dtype in _INTEGERS}
    made = [case.source.statement(line) for line in sorted({case.cause.line, *lines})]
    # Then everything that meets them as well. What a cast cut off is there then.
    for statements in ([each for each in made if each is not None], case.source.statements):
        plan = Plan(case.source)
        if not sum(_float_dtypes(plan, each) or _float_literals(plan, each) for each in statements):
            return
        cast = any(
            called_name(call) in _CASTS and any(each in plan.changes for each in nodes_in(call))
            for statement in statements
            for call in header_nodes(statement, cst.Call)
        )
        title = "Write the numbers as floats"
        if cast:
            title = "Estimate: write the numbers as floats, with the fraction that a cast cuts off"
        yield from plan.edits(title, is_estimate=cast)


def make_float(case: FixCase) -> Iterator[Edit]:
    """A dtype for the variable, or a cast around what makes the tensor."""
    source = case.source
    statement = _statement(case)
    if not isinstance(statement, cst.SimpleStatementLine):
        return
    for call in header_nodes(statement, cst.Call):
        if called_name(call) in ("Variable", "constant") and argument(call, 9, "dtype") is None:
            plan = Plan(source)
            code = source.code(call)
            plan.replace(call, f"{code[:-1].rstrip().rstrip(',')}, dtype={source.tf}.float32)")
            yield from plan.edits("Make it a float32")
            break
    for assign in all_of(statement, cst.Assign):
        plan = Plan(source)
        plan.replace(
            assign.value, f"{source.tf}.cast({source.code(assign.value)}, {source.tf}.float32)"
        )
        yield from plan.edits("Cast it to float32 where it is made")


_WRITING = ("as_string", "serialize_tensor")
_READING = ("to_number", "parse_tensor", "decode_csv")
_JOINING = ("reduce_join", "split")


def take_text_away(case: FixCase) -> Iterator[Edit]:
    """``tf.strings.to_number(tf.strings.as_string(x))`` → ``x``, on one line or on two, also where
    the texts are joined and split in between; ``tf.io.decode_csv`` of them → ``tf.unstack(x)``; so
    ``tf.io.parse_tensor`` of what ``tf.io.serialize_tensor`` wrote, which loses nothing."""
    source = case.source
    plan = Plan(source)
    done: set[str] = set()

    def unstacked(call: cst.Call) -> cst.Call:
        unstack = cst.parse_expression(f"{source.tf}.unstack")
        return cst.Call(unstack, separated(call.args[:1]))

    for call in all_of(source.module, cst.Call):
        name = called_name(call)
        is_format = name == "format" and dotted(call.func) == f"{source.tf}.strings.format"
        is_joining = name in _JOINING and dotted(call.func) == f"{source.tf}.strings.{name}"
        if name == "decode_csv":
            plan.replace(call, unstacked)
        elif (name in (*_WRITING, *_READING) or is_joining) and call.args:
            plan.replace(call, _first_given)
        elif is_format and len(call.args) == 2 and source.code(call.args[0].value)[1:-1] == "{}":
            plan.replace(call, lambda old: enclosed(old.args[1].value))
        else:
            continue
        done |= set() if is_joining else {name}
    if done == {"serialize_tensor", "parse_tensor"}:
        yield from plan.edits("Keep the tensor, in place of the text that it is read from")
    elif done.intersection(_READING) and done.difference(_READING):
        yield from plan.edits("Estimate: keep the number, with the digits that text cuts off")


def _first_given(call: cst.Call) -> cst.BaseExpression:
    return enclosed(call.args[0].value)


def soft_logic(case: FixCase) -> Iterator[Edit]:
    """Masks of true and false → of numbers from 0 to 1: a product for ``and``, the larger for
    ``or``, and the distance from 1 for ``not``, as fuzzy sets have it."""
    source, tf = case.source, case.source.tf
    plan = Plan(source)
    masks = {
        id(cast)
        for line in case.lines()
        for cast in source.calls(line, "cast")
        if (dtype := argument(cast, 1, "dtype")) is not None
        and source.code(dtype) in (f"{tf}.bool", "bool")
    }

    def number(node: cst.BaseExpression) -> str:
        if isinstance(node, cst.Call) and id(node) in masks:
            node = node.args[0].value
        return f"{tf}.cast({source.code(node)}, {tf}.float32)"

    count = 0
    for call in all_of(source.module, cst.Call):
        if id(call) in masks:
            plan.replace(call, _first_given)
        for text, forms in LOGIC.items():
            if parts := match(call, *forms):
                new = text.format(*map(number, parts), tf=tf)
                plan.replace(call, bare(cst.parse_expression(new)))
                count += 1
    if masks and count:
        title = "Estimate: masks of numbers from 0 to 1, a product in place of logical_and"
        yield from plan.edits(title)


def pass_through_cast(case: FixCase) -> Iterator[Edit]:
    """``tf.cast(tf.cast(x, tf.int32), tf.float32)`` → the same number, with the gradient of x."""
    source = case.source
    plan = Plan(source)
    for back in all_of(source.module, cst.Call):
        name = called_name(back)
        if name not in ("cast", _SCALING):
            continue
        given, dtype = argument(back, 0, "x", "image"), argument(back, 1, "dtype")
        if given is None or dtype is None or "float" not in source.code(dtype):
            continue
        whole = source.value_of(given)
        casts = (_SCALING,) if name == _SCALING else _CASTS
        if not is_call_to(whole, *casts):
            continue
        number = argument(whole, 0, "x", "image")
        if number is None or (whole is not given and _is_rebound(source, whole, number)):
            continue
        if not any(source.covers(whole, line) for line in case.lines("integer")):
            continue
        passed = cst.parse_expression(plan.named(number, is_read_later=True))
        plan.replace(back, straight_through(source, plan.changed(back), passed))
    yield from plan.edits("Estimate: let the gradient pass the cast as if it were not there")


def _is_rebound(source: ParsedSource, value: cst.Call, number: cst.BaseExpression) -> bool:
    """Whether the number is another one after the statement: ``q = tf.cast(q, tf.int32)``."""
    statement = source.statement_of(value)
    return statement is not None and bool(bound_names(statement) & read_names(number))


def take_cast_away(case: FixCase) -> Iterator[Edit]:
    """``tf.cast(x, tf.int32)`` → ``x``; then all casts like it, as of the images that a loss
    compares."""
    source = case.source
    there = [
        call for line in case.lines("integer") for call in source.calls(line, *_CASTS, _SCALING)
    ]
    names = {called_name(call) for call in there}
    for calls in (there, source.calls_to(*names)):
        plan = Plan(source)
        for call in calls:
            dtype = argument(call, 1, "dtype")
            if dtype is None or _is_integer(dtype):
                plan.replace(call, partial(inner, source, call))
        for most in all_of(source.module, cst.Arg) if _SCALING in names else ():
            if most.keyword is not None and most.keyword.value == "max_val":
                plan.replace(most.value, "1.0")  # the images are not scaled any more
        yield from plan.edits("Stay with floats: remove the cast", is_estimate=True)


def _statement(case: FixCase) -> CstStatement | None:
    return case.source.statement(case.cause.line)


def _float_dtypes(plan: Plan, statement: CstStatement) -> int:
    count = 0
    for node in header_nodes(statement, cst.Arg):
        if _is_integer(node.value):
            plan.replace(node.value, _float_of(plan.source, node.value))
            count += 1
    return count


def _is_integer(node: cst.BaseExpression) -> bool:
    if isinstance(node, cst.SimpleString):
        return str(node.evaluated_value) in _INTEGERS
    return dotted(node).rsplit(".", 1)[-1] in _INTEGERS


def _float_of(source: ParsedSource, node: cst.BaseExpression) -> str:
    if isinstance(node, cst.SimpleString):
        return f"{node.quote}float32{node.quote}"
    if isinstance(node, cst.Attribute):
        return f"{source.code(node.value)}.float32"
    return f"{source.tf}.float32"


def _float_literals(plan: Plan, statement: CstStatement) -> int:
    count = 0
    for call in header_nodes(statement, cst.Call):
        if called_name(call) not in _MAKERS:
            continue
        for given in call.args:
            if given.keyword is not None and given.keyword.value not in ("value", "initial_value"):
                continue
            count += _in_list(plan, given.value)
    return count


def _in_list(plan: Plan, node: cst.BaseExpression) -> int:
    """Literals of a number or of a list of numbers; those of calls inside are shapes and axes."""
    if isinstance(node, cst.Integer):
        plan.replace(node, cst.Float(f"{node.value}.0"))
        return 1
    if isinstance(node, cst.UnaryOperation):
        return _in_list(plan, node.expression)
    return sum(_in_list(plan, element) for element in elements(node))
