"""Replace calls on the lines of a cause by other code: the fixes that are rows of a table.

``safe_norm = CallRewrite(("norm",), code, title)`` is such a row. A fix that moves statements,
writes new ones or follows names through the text is a function of its own.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator
from dataclasses import dataclass
from functools import partial
from typing import TypeAlias

import libcst as cst

from ..wording import enumerated
from .model import Edit, FixCase
from .nodes import all_of, called_name
from .plan import Plan, fitting

Code: TypeAlias = "Callable[[FixCase, cst.Call], str]"
"""Gives the code that replaces a call; empty if the call is left as it is."""


@dataclass(frozen=True, slots=True)
class CallRewrite:
    """A fix function: calls of these functions or methods become what ``code`` makes of them.

    It looks for the calls on the lines of the cause; if there are none, for those that take a name
    bound there. Where such calls stand in the arguments of others, an edit of the inner ones alone
    comes first. ``{name}`` in the title stands for the functions that were replaced.
    ``repeated``: the argument that the new code has several times, which may get a name first.
    """

    names: Collection[str]
    code: Code
    title: str
    is_estimate: bool = False
    repeated: Callable[[FixCase, cst.Call], cst.BaseExpression | None] | None = None

    def __call__(self, case: FixCase) -> Iterator[Edit]:
        found = [call for call in case.calls(*self.names) if self.code(case, call)]
        found = found or [call for call in self._readers(case) if self.code(case, call)]
        found = found or [call for call in self._of_models(case) if self.code(case, call)]
        inner = [call for call in found if not any(call in case.source.ancestors(x) for x in found)]
        for calls in (inner, found):
            plan = Plan(case.source)
            # The inner ones first, whose changes are in what gets a name.
            for call in sorted(calls, key=lambda each: -len([*case.source.ancestors(each)])):
                given = self.repeated(case, call) if self.repeated is not None else None
                if given is not None:
                    plan.named(given)
                plan.replace(call, partial(self._rewritten, case, call))
            if calls:
                names = dict.fromkeys(map(called_name, calls))
                title = self.title.format(name=enumerated(names))
                yield from plan.edits(title, is_estimate=self.is_estimate)

    def _readers(self, case: FixCase) -> Iterator[cst.Call]:
        """The calls in whose arguments a name stands that was bound on a line of the cause."""
        source = case.source
        for call in source.calls_to(*self.names):
            names = (name for arg in call.args for name in all_of(arg.value, cst.Name))
            bound = (made for name in names if (made := source.bound_to(name)) is not None)
            if any(source.covers(made, line) for made in bound for line in case.lines()):
                yield call

    def _of_models(self, case: FixCase) -> Iterator[cst.Call]:
        """The calls in the text of functional Keras models, whose ops run where a model is called:
        where the line of the cause calls no function of its own."""
        source = case.source
        for call in source.calls_to(*self.names) if source.calls_to("Model") else ():
            if not source.enclosing(call, cst.FunctionDef):
                yield call

    def _rewritten(self, case: FixCase, place: cst.Call, call: cst.Call) -> cst.BaseExpression:
        """The new expression at ``place``, of the call as it is after changes inside it."""
        code = self.code(case, call)
        return fitting(case.source, place, cst.parse_expression(code)) if code else call


def template(text: str) -> Code:
    """The code of a template, for calls that have an argument.

    It may hold ``{tf}`` (the text's name for TensorFlow), ``{args}`` (all arguments), ``{arg}``
    (the first) and ``{x}`` (the first as an operand, in parentheses where it needs them).
    """

    def code(case: FixCase, call: cst.Call) -> str:
        source = case.source
        if not call.args:
            return ""
        first = call.args[0].value
        return text.format(
            tf=source.tf,
            args="".join(map(source.code, call.args)),
            arg=source.code(first),
            x=source.operand(first),
        )

    return code
