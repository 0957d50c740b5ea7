"""Compute in TensorFlow what went through NumPy or Python."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from typing import Literal, get_args

import libcst as cst

from ..blocks import block_of_call
from ..forms import is_same
from ..model import Edit, FixCase
from ..nodes import (
    all_of,
    argument,
    bound_names,
    called_name,
    dotted,
    elements,
    enclosed,
    nodes_in,
    read_names,
    with_arguments,
)
from ..plan import Plan
from ..regions import region_after
from ..rewrites import CallRewrite
from ..source import CstStatement, ParsedSource
from ..translation.numpy_words import FUNCTIONS, PREDICTING
from ..translation.translating import Translated, TranslationRules, called_model

CALL_MODEL = CallRewrite(
    PREDICTING,
    lambda case, call: called_model(case.source, call),
    "Call the model itself in place of predict",
)


def _computed_loss(case: FixCase, call: cst.Call) -> str:
    """``model.evaluate(x, y)`` → ``model.compute_loss(x, y, model(x))``."""
    source = case.source
    x, y = argument(call, 0, "x"), argument(call, 1, "y")
    if not isinstance(call.func, cst.Attribute) or x is None or y is None:
        return ""
    model = source.code(call.func.value)
    given = f"{source.code(x)}, {source.code(y)}"
    return f"{model}.compute_loss({given}, {model}({source.code(x)}))"


COMPUTE_LOSS = CallRewrite(
    ("evaluate", "test_on_batch"),
    _computed_loss,
    "Compute the loss of the model's output in place of {name}, which gives plain numbers",
)


TAKE_VARIABLES = CallRewrite(
    ("get_weights",),
    lambda case, call: (
        f"{case.source.code(call.func.value)}.weights"
        if isinstance(call.func, cst.Attribute) and not call.args
        else ""
    ),
    "Take the variables themselves in place of arrays of their values",
)


def stay_in_tensorflow(case: FixCase) -> Iterator[Edit]:
    """Drop ``.numpy()`` and ``float()``, say ``tf.`` for ``np.``, on this line and what follows.

    Not for a call of ``numpy_function``, which cuts whatever its function computes with.
    """
    if any(case.calls("numpy_function", "py_func")):
        return
    regions: tuple[_Region, ...] = get_args(_Region)
    plain = ((region, TranslationRules()) for region in regions)
    manners = (TranslationRules(has_vectors=True), TranslationRules(is_like_numpy=True))
    for region, manner in (*plain, *(("block", manner) for manner in manners)):
        translated = Translated(case, set(nodes_of_region(case, region)), manner)
        if translated.count and translated.cuts_digits:
            title = "Estimate: compute with TensorFlow, and keep the digits that are cut off"
            yield from translated.plan.edits(title)
        elif translated.count and translated.draws_anew:
            title = "Draw with TensorFlow, whose draws have a slope by their parameters"
            yield from translated.plan.edits(title, is_estimate=True)
        elif translated.count:
            title = "Compute with TensorFlow in place of NumPy and Python"
            yield from translated.plan.edits(title, has_other_value=translated.draws_more_often)


def said_in_tensorflow(
    case: FixCase, node: cst.BaseExpression, plan: Plan | None = None
) -> cst.BaseExpression:
    """An expression without ``.numpy()`` and ``np.``; ``plan``: with these changes, too."""
    return Translated(case, nodes_in(node), plan=plan).plan.changed(node)


PYTHON_FUNCTIONS = ("numpy_function", "py_function", "py_func")


def call_directly(case: FixCase) -> Iterator[Edit]:
    """``tf.numpy_function(f, [x], T)`` → ``f(x)``, with ``f`` said in TensorFlow."""
    source = case.source
    for call, (function, given) in with_arguments(
        case.calls_given(*PYTHON_FUNCTIONS), "func", "inp"
    ):
        if not isinstance(given, (cst.List, cst.Tuple)):
            continue
        module, _, known = dotted(function).partition(".")
        if module == source.np:
            taken = [cst.Arg(element) for element in elements(given)]
            if known in FUNCTIONS and taken:
                plan, twins = Plan(source), Translated(case, ())
                plan.replace(call, twins.function(cst.Call(function, taken), known))
                title = f"Compute with TensorFlow in place of {source.code(function)}"
                yield from plan.edits(title)
            continue
        inside: cst.CSTNode | None = function
        if not isinstance(inside, cst.Lambda):
            inside = _function_named(source, source.code(function))
        name = source.code(function) if inside is not function else "the lambda"
        others = with_arguments(source.calls_to(*PYTHON_FUNCTIONS), "func", "inp")
        same = [(other, parts) for other, parts in others if is_same(parts[0], function)]
        for has_vectors in (False, True):
            nodes = set(nodes_in(inside)) if inside else set()
            translated = Translated(case, nodes, TranslationRules(has_vectors))
            for other, (func, inp) in (
                same if inside is not function else [(call, (function, given))]
            ):
                translated.plan.replace(other, partial(_called, other, func, inp))
            yield from translated.plan.edits(
                f"Call {name} directly, and let it compute with TensorFlow"
            )


def _called(
    written: cst.Call, function: cst.BaseExpression, given: cst.BaseExpression, call: cst.Call
) -> cst.Call:
    """A call of the function that a call was written with, as it is changed, with what is given."""
    place = [arg.value for arg in written.args].index(function)
    taken = [cst.Arg(element) for element in elements(given)] or [cst.Arg(given, star="*")]
    return cst.Call(enclosed(call.args[place].value), taken)


def _function_named(source: ParsedSource, name: str) -> cst.CSTNode | None:
    for function in all_of(source.module, cst.FunctionDef):
        if function.name.value == name:
            return function.body
    return None


_Region = Literal["readers", "block", "line"]


def nodes_of_region(case: FixCase, region: _Region) -> Iterator[cst.CSTNode]:
    """The statements where a value leaves and those after them that read what was made of it; the
    tape's whole block and the functions that ran there; or the deciding statement alone."""
    source = case.source
    block = block_of_call(source, case.trace, case.call)
    for line in case.lines() if region != "line" else (case.cause.line,):
        statement = source.statement(line)
        if statement is None:
            continue
        yield from _without_body(statement)
        if region == "line":
            continue
        if region == "block":
            around = block.node.body if block is not None else source.module
            for root in (around, *_running(case, line)):
                yield from _without_prints(root)
            continue
        yield from _called_with(source, statement)
        names = set(bound_names(statement)) | _filled_by(statement)
        for following in region_after(source, statement, block).statements:
            if names & read_names(following) and not _is_print(following):
                names |= bound_names(following) | _filled_by(following)
                yield from nodes_in(following)


def _running(case: FixCase, line: int) -> Iterator[cst.FunctionDef]:
    """The functions that ran when a value left on this line."""
    source = case.source
    sites = [leave.site for leave in case.trace.leaves if leave.site.line == line]
    frames = {frame.line for site in sites[:1] for frame in site.frames}
    for function in all_of(source.module, cst.FunctionDef):
        if any(source.covers(function.body, at) for at in {line, *frames}):
            yield function


def _called_with(source: ParsedSource, statement: CstStatement) -> Iterator[cst.CSTNode]:
    """The bodies of the text's functions that the statement hands values to."""
    names = {called_name(call) for call in all_of(statement, cst.Call) if call.args}
    for function in all_of(source.module, cst.FunctionDef):
        if function.name.value in names and not source.covers(function, source.line(statement)):
            yield from _without_prints(function.body)


def _filled_by(statement: cst.CSTNode) -> set[str]:
    """``out`` of ``out.append(…)``."""
    calls = (call.func for call in all_of(statement, cst.Call))
    return {
        dotted(function.value)
        for function in calls
        if isinstance(function, cst.Attribute)
        and function.attr.value in ("append", "extend", "insert")
    }


def _without_body(statement: cst.CSTNode) -> list[cst.CSTNode]:
    body = getattr(statement, "body", None)
    hidden = set(map(id, nodes_in(body))) if isinstance(body, cst.BaseSuite) else set()
    return [node for node in nodes_in(statement) if id(node) not in hidden]


def _without_prints(around: cst.CSTNode) -> Iterator[cst.CSTNode]:
    prints = [
        statement for statement in all_of(around, cst.SimpleStatementLine) if _is_print(statement)
    ]
    hidden = {id(node) for statement in prints for node in nodes_in(statement)}
    return (node for node in nodes_in(around) if id(node) not in hidden)


def _is_print(statement: cst.CSTNode) -> bool:
    calls = all_of(statement, cst.Call)
    return bool(calls) and called_name(calls[0]) == "print"
