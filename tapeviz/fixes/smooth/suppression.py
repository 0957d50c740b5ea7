"""Boxes that overlap a better one, left out by weights instead of a choice."""

from __future__ import annotations

from collections.abc import Iterator

import libcst as cst

from ..model import Edit, FixCase
from ..nodes import argument, with_arguments
from ..plan import Plan, fitting
from .indices import rank_of
from .widths import counted_in, put_sum

_SUPPRESSED = (
    "{low} = {tf}.maximum({boxes}[:, None, :2], {boxes}[None, :, :2])",
    "{high} = {tf}.minimum({boxes}[:, None, 2:], {boxes}[None, :, 2:])",
    "{shared} = {tf}.reduce_prod({tf}.nn.relu({high} - {low}), -1)",
    "{area} = {tf}.reduce_prod({boxes}[:, 2:] - {boxes}[:, :2], -1)",
    "{overlap} = {shared} / ({area}[:, None] + {area} - {shared})",
    "{better} = {tf}.cast({scores}[None] > {scores}[:, None], {tf}.float32)",
    "{kept} = {tf}.reduce_prod(1.0 - {better} * {tf}.sigmoid(10.0 * ({overlap} - {most})), -1)",
)
_NAMES = ("low", "high", "shared", "area", "overlap", "better")


def keep_softly(case: FixCase) -> Iterator[Edit]:
    """Weigh all by how far each box overlaps no better one, in place of what
    ``tf.image.non_max_suppression`` keeps: by a sigmoid of how far the overlap passes the threshold
    (as soft-NMS weighs scores: Bodla et al. 2017). The number of what is kept → the sum of these
    weights."""
    source = case.source
    choices = case.calls("non_max_suppression")
    for chosen, (boxes, scores) in with_arguments(choices, "boxes", "scores"):
        plan, most = Plan(source), argument(chosen, 3, "iou_threshold")
        kept, statement = plan.fresh_name("kept_softly"), plan.statement_begun_by(chosen)
        if statement is None:
            continue
        for place, counted, _ in counted_in(source):
            if source.leads_to(counted, chosen):
                put_sum(plan, place, f"{source.tf}.reduce_sum({kept})")
        gathers = source.calls_to("gather")
        for call, (values, places) in with_arguments(gathers, "params", "indices"):
            if source.leads_to(places, chosen):
                plan.replace(call, fitting(source, call, _weighed(case, values, kept)))
        if plan.changes:
            names = {name: plan.fresh_name(name) for name in _NAMES}
            lines = (
                line.format(
                    tf=source.tf,
                    boxes=source.operand(boxes),
                    scores=source.operand(scores),
                    most=source.operand(most) if most is not None else "0.5",
                    kept=kept,
                    **names,
                )
                for line in _SUPPRESSED
            )
            plan.before(statement, *lines)
            yield from plan.edits("Estimate: weigh each box by how far it overlaps no better one")


def _weighed(case: FixCase, picked: cst.BaseExpression, kept: str) -> cst.BaseExpression:
    """All rows of what is picked from, times the weights of the boxes."""
    values = case.source.operand(picked)
    rank = rank_of(case, values)
    weights = f"{kept}[:, {', '.join(['None'] * (rank - 1))}]" if rank > 1 else kept
    return cst.parse_expression(f"{values} * {weights}")
