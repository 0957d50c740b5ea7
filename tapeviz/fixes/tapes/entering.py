"""Enter a tape once more, for what ran when its block was over."""

from __future__ import annotations

from collections.abc import Iterator

import libcst as cst

from ...analysis.causes.tapes.outside_tape import OutsideTape
from ..blocks import gradient_call
from ..model import Edit, FixCase
from ..plan import Plan
from .neighbours import dependents, lines_of, place_in, statements_of_cause


def enter_again(case: FixCase) -> Iterator[Edit]:
    """``loss = f(pred)`` between a tape's block and ``tape.gradient`` → in a block ``with tape:``,
    where a function that was left has the first block.

    A tape that is entered again goes on recording (``_push_tape`` in eager/backprop.py,
    2.15-2.21).
    """
    source, evidence = case.source, case.cause.evidence
    asked = gradient_call(source, case.call)
    asking = source.statement_of(asked) if asked is not None else None
    if asked is None or asking is None or not isinstance(asked.func, cst.Attribute):
        return
    if not isinstance(evidence, OutsideTape) or evidence.where != "after":
        return
    siblings = source.siblings(asking)
    for statement in statements_of_cause(case):
        first = source.beside(statement, asking)
        if first is None or not 0 <= place_in(siblings, first) < place_in(siblings, asking):
            continue
        between = siblings[place_in(siblings, first) : place_in(siblings, asking)]
        moved = dependents(source, between, [first])
        plan = Plan(source)
        block = cst.With(
            [cst.WithItem(asked.func.value)], cst.IndentedBlock([*map(plan.parse, moved)])
        )
        plan.before(moved[0], block)
        for each in moved:
            plan.remove(each)
        name = source.code(asked.func.value)
        yield from plan.edits(f"Enter {name} again for {lines_of(source, moved)}")
        return
