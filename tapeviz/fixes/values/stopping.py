"""Take ``tf.stop_gradient`` off the way."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from functools import partial

import libcst as cst

from ..model import Edit, FixCase
from ..plan import Plan, enclosed, fitting
from ..smooth.zeros import bare_if_enclosed, differences
from ..source import ParsedSource, argument


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
            title = "Let the gradient through: take tf.stop_gradient away"
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
            for difference, kept in differences(source, given):
                code = source.code
                stopped = f"{code(call.func)}({code(bare_if_enclosed(difference))})"
                text = f"{stopped} + {code(enclosed(kept))}"
                plan.replace(call, fitting(source, call, cst.parse_expression(text)))
                break
    if plan.changes:
        title = "Straight-through: close the parenthesis of tf.stop_gradient after the difference"
        yield Edit(title, plan.text(), is_estimate=True, has_other_slope=True)


def _stopping(source: ParsedSource, line: int) -> list[cst.Call]:
    calls = source.calls(line, "stop_gradient")
    return [call for call in calls if argument(call, 0, "input", "variables", "variable")]


def _without(source: ParsedSource, calls: Iterable[cst.Call]) -> str:
    plan = Plan(source)
    for call in calls:
        plan.replace(call, partial(inner, source, call))
    return plan.text()


def map_nothing(case: FixCase) -> Iterator[Edit]:
    """``tf.nest.map_structure(tf.stop_gradient, s)`` → ``s``."""
    source = case.source
    plan = Plan(source)
    for line in case.lines("stop-gradient"):
        for call in source.calls(line, "map_structure"):
            if len(call.args) == 2 and "stop_gradient" in source.code(call.args[0].value):
                plan.replace(call, source.code(enclosed(call.args[1].value)))
    if plan.changes:
        yield Edit("Let the gradient through: take tf.stop_gradient away", plan.text())


def inner(source: ParsedSource, place: cst.Call, call: cst.Call) -> cst.BaseExpression:
    """The first argument of a call, to stand in its place."""
    return fitting(source, place, call.args[0].value)
