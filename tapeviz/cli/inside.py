"""``--inside``: the steps inside of compiled functions, loops and branches."""

from __future__ import annotations

import sys
from collections.abc import Iterable
from dataclasses import replace
from typing import TYPE_CHECKING

from ..analysis.model import CallDiagnosis
from ..analysis.requests.inside import has_inside
from ..drawing import arrange
from ..errors import TapevizError
from ..graph.nodes import op_id
from ..text.op_words import friendly
from ..trace.ids import CallId
from ..trace.model import Trace
from ..view import View

if TYPE_CHECKING:
    from ..document.pipeline import Opener


def last_calls(trace: Trace) -> list[CallId]:
    """The last gradient call of each place that asks for gradients, of those that ran."""
    ran = (call for call in trace.calls if call.has_run)
    return list({(call.site.id, call.method): call.id for call in ran}.values())


def enter_steps(source: Opener, trace: Trace, calls: Iterable[CallId]) -> Trace:
    """The trace with the steps inside of each step of these gradient calls that has some.

    Standard error says which cannot be had, and why.
    """
    for number in calls:
        call = next(call for call in trace.calls if call.id == number)
        for step in call.steps:
            if step.index in call.inner or not has_inside(trace, step.op):
                continue
            try:
                trace = source.enter(number, step.index)
            except TapevizError as error:
                op = trace.op(step.op)
                where = f"line {op.site.line}, {friendly(op.type)}: " if op is not None else ""
                print(f"tapeviz: --inside: {where}{error}", file=sys.stderr)
    return trace


def with_steps_open(view: View, trace: Trace, shown: CallDiagnosis | None) -> View:
    """The view with the groups open that the ops with steps inside are folded into, and the loops
    in there, but for those that the user folds."""
    if shown is None:
        return view
    call = shown.call
    steps = (step for step in call.steps if step.index in call.inner)
    entered = {step.op for step in steps if step.op is not None}
    folded = set(map(op_id, entered))
    depths = {op_id(step.op): len(step.turns) for step in shown.steps if step.op is not None}
    while True:
        paths = set[str]()
        for _, node in arrange(trace, view, call.id).graph.nodes(data="node"):
            inside = {depths[member] for member in node.members if depths.get(member)}
            has_loop = len(inside) > 1 or (node.turns and inside)
            if has_loop or node.op in entered or not folded.isdisjoint(node.members):
                paths.add(node.opens)
        new = paths - view.unfolded - view.folded - {""}
        if not new:
            return view
        view = replace(view, unfolded=view.unfolded | new)
