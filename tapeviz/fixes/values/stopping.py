"""``tf.stop_gradient`` on the way in, the value that it was given out."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

import libcst as cst

from ..model import Edit, FixCase
from ..plan import Plan, fitting
from ..source import ParsedSource, argument


def take_away(case: FixCase) -> Iterator[Edit]:
    """``tf.stop_gradient(e)`` → ``e``."""
    source = case.source
    lines = case.lines("stop-gradient")
    for chosen in dict.fromkeys((lines[:1], lines)):
        plan = Plan(source)
        for line in chosen:
            for call in source.calls(line, "stop_gradient"):
                given = argument(call, 0, "input", "variables", "variable")
                if given is not None:
                    plan.replace(call, partial(inner, source, call))
        if plan.changes:
            yield Edit("Let the gradient through: take tf.stop_gradient away", plan.text())


def inner(source: ParsedSource, place: cst.Call, call: cst.Call) -> cst.BaseExpression:
    """The first argument of a call, to stand in its place."""
    return fitting(source, place, call.args[0].value)
