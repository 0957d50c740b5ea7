"""Take ``tf.stop_gradient`` off the way."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from functools import partial

import libcst as cst

from ..forms import match, matches
from ..model import Edit, FixCase
from ..nodes import all_of, argument, bare, called_name, dotted, separated
from ..plan import Plan, fitting
from ..rewrites import CallRewrite
from ..smooth.sums import SUBTRACTED_AND_ADDED
from ..source import ParsedSource


def take_away(case: FixCase) -> Iterator[Edit]:
    """``tf.stop_gradient(e)`` → ``e``, for all on a line, or else for one of several.

    ``exp(stop_gradient(a) - stop_gradient(b))`` with ``b`` equal to ``a`` is 1 whatever ``a`` is;
    with the first one taken away it has the slope that was meant.
    """
    source = case.source
    lines = case.lines("stop-gradient")
    calls = [call for line in lines for call in _stopping(source, line)]
    first = [call for line in lines[:1] for call in _stopping(source, line)]
    for chosen in (first, calls) if len(calls) > len(first) else (first,):
        if chosen:
            title = "Let the gradient through: remove tf.stop_gradient"
            yield Edit(title, _without(source, chosen))
    for call in first if len(first) > 1 else ():
        title = f"Let the gradient through {source.code(call.args[0].value)} alone"
        yield Edit(title, _without(source, [call]), has_other_value=True)


def close_after_difference(case: FixCase) -> Iterator[Edit]:
    """``tf.stop_gradient(h - z + z)`` → ``tf.stop_gradient(h - z) + z``, as for a straight-through
    estimate; so ``tf.stop_gradient(z + (h - z))``."""
    source = case.source
    plan = Plan(source)
    for line in case.lines("stop-gradient"):
        for call in _stopping(source, line):
            given = call.args[0].value
            if parts := match(given, SUBTRACTED_AND_ADDED):
                stopped = f"{source.code(call.func)}({source.code(bare(parts[0]))})"
                plan.replace(call, f"{stopped} + {source.operand(parts[2])}")
    title = "Straight-through: close the parenthesis of tf.stop_gradient after the difference"
    yield from plan.edits(title, is_estimate=True, has_other_slope=True)


def turn_around(case: FixCase) -> Iterator[Edit]:
    """``hard - tf.stop_gradient(hard - soft)``, whose gradient goes to the side without a slope, →
    ``soft + tf.stop_gradient(hard - soft)``; so ``hard + tf.stop_gradient(soft - hard)``."""
    source, code = case.source, case.source.code
    forms = ("_a - stop_gradient(_a - _b)", "_a + stop_gradient(_b - _a)")
    for sum_, (hard, soft) in matches(all_of(source.module, cst.BinaryOperation), *forms):
        other = source.operand(soft)
        stopped = f"{source.tf}.stop_gradient({source.operand(hard)} - {other})"
        plan = Plan(source, {sum_: f"{other} + {stopped}"})
        title = f"Straight-through the other way round: the gradient goes to {code(soft)}"
        yield from plan.edits(title, is_estimate=True, has_other_value=True)


def _without_argument(name: str, case: FixCase, call: cst.Call) -> str:
    kept = [arg for arg in call.args if not (arg.keyword and arg.keyword.value == name)]
    if not kept or len(kept) == len(call.args):
        return ""
    return case.source.code(call.with_changes(args=separated(kept)))


PASS_BACK = CallRewrite(
    ("while_loop", "map_fn", "scan", "foldl", "foldr"),
    partial(_without_argument, "back_prop"),
    "Let the gradient through the loop: leave out back_prop=False",
)
STOP_NOTHING = CallRewrite(
    ("gradients",),
    partial(_without_argument, "stop_gradients"),
    "Let the gradient through these tensors: leave out stop_gradients",
)


def _second_version(case: FixCase, call: cst.Call) -> str:
    function = cst.parse_expression(f"{case.source.code(call.func)}_v2")
    return case.source.code(call.with_changes(func=function))


PASS_TO_LABELS = CallRewrite(
    ("softmax_cross_entropy_with_logits",),
    _second_version,  # TensorFlow's own for version 1 of its interface, without tf.stop_gradient
    "Take {name}_v2, which passes gradients to the labels as well",
)


def _stopping(source: ParsedSource, line: int) -> list[cst.Call]:
    calls = source.calls(line, "stop_gradient")
    return [call for call in calls if argument(call, 0, "input", "variables", "variable")]


def _without(source: ParsedSource, calls: Iterable[cst.Call]) -> str:
    plan = Plan(source)
    for call in calls:
        plan.replace(call, partial(inner, source, call))
    return plan.text()


def give_identity(case: FixCase) -> Iterator[Edit]:
    """``map(tf.stop_gradient, xs)`` and ``Lambda(tf.stop_gradient)`` → with ``tf.identity``.

    On the lines of the cause; else anywhere, as the ops of a functional Keras model run where the
    model is called; then calls of it are taken away, too.
    """
    source = case.source
    lines = case.lines("stop-gradient")
    given = [
        arg.value
        for arg in all_of(source.module, cst.Arg)
        if dotted(arg.value).endswith(".stop_gradient")
    ]
    there = [node for node in given if any(source.covers(node, line) for line in lines)]
    is_called_there = any(_stopping(source, line) for line in lines)
    plan = Plan(source)
    for node in there or given if not is_called_there else ():
        call = source.enclosing(node, cst.Call)
        if call is not None and called_name(call) == "map_structure" and len(call.args) == 2:
            plan.replace(call, source.operand(call.args[1].value))
        else:
            plan.replace(node, f"{source.tf}.identity")
    for call in source.calls_to("stop_gradient") if not (there or is_called_there) else ():
        if call.args:
            plan.replace(call, partial(inner, source, call))
    yield from plan.edits("Let the gradient through: remove tf.stop_gradient")


def inner(source: ParsedSource, place: cst.Call, call: cst.Call) -> cst.BaseExpression:
    """The first argument of a call, to stand in its place."""
    return fitting(source, place, call.args[0].value)
