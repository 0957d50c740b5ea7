"""Smooth counts of what passes a comparison, and slices up to a whole number."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import libcst as cst

from ..forms import match, matches
from ..model import Edit, FixCase
from ..nodes import all_of, argument, called_name, is_call_to, nodes_in, with_arguments
from ..plan import Plan, fitting
from ..source import ParsedSource
from .comparisons import soft_truth
from .counts import before_rounding, triangle, uncast, up_to_one
from .indices import is_at_cause, rank_of


def count_softly(case: FixCase) -> Iterator[Edit]:
    """``tf.shape(tf.where(x > a))[0]`` → ``tf.reduce_sum(tf.sigmoid(x - a))``.

    ``tf.size``, ``len``, ``.shape[0]`` and ``.row_lengths()`` likewise, and of
    ``tf.boolean_mask(x, x > a)``, ``x[x > a]`` and ``[each for each in x if each > a]``.
    """
    source = case.source
    plan = Plan(source)
    for place, counted, axis in counted_in(source):
        soft = _soft_mask(case, counted, place)
        if soft and not source.enclosing(place, cst.Comparison):  # what decides has no slope
            put_sum(plan, place, f"{source.tf}.reduce_sum({soft}{axis})")
    yield from plan.edits("Estimate: count each by a sigmoid of how far it passes the comparison")


def count_distinct(case: FixCase) -> Iterator[Edit]:
    """``tf.size(tf.unique(tf.round(x))[0])`` → the sum over the elements of one by the number of
    those near each: for whole numbers the number of distinct ones."""
    source, tf, plan = case.source, case.source.tf, Plan(case.source)
    for place, counted, _ in counted_in(source):
        call = next((c for c in source.behind(counted) if isinstance(c, cst.Call)), None)
        given = argument(call, 0, "x")
        if is_call_to(call, "unique", "unique_with_counts") and given is not None:
            x = f"{tf}.reshape({before_rounding(source, given)}, [-1, 1])"
            near = triangle(source, f"{x} - {tf}.transpose({x})")
            put_sum(plan, place, f"{tf}.reduce_sum(1.0 / {tf}.reduce_sum({near}, -1))")
    yield from plan.edits("Estimate: each counts by one over the number of elements near it")


def take_lengths(case: FixCase) -> Iterator[Edit]:
    """``rows.row_lengths()`` of ``tf.RaggedTensor.from_row_lengths(v, tf.cast(x, tf.int64))`` → the
    numbers ``x``."""
    source, plan = case.source, Plan(case.source)
    for call, (rows,) in matches(nodes_in(source.module), "_x.row_lengths()"):
        made = source.value_of(rows)
        lengths = argument(made, 1, "row_lengths") if is_call_to(made, "from_row_lengths") else None
        width = _width(case, lengths) if lengths is not None else ""
        if width:
            plan.replace(call, width)
    title = "Estimate: take the lengths themselves, before they are rounded to whole numbers"
    yield from plan.edits(title)


def put_sum(plan: Plan, place: cst.BaseExpression, text: str) -> None:
    """Put a sum in the place of a count, and of the ``float()`` around it."""
    plan.replace(place, text)
    around = plan.source.enclosing(place, cst.Call)
    if around is not None and called_name(around) in ("float", "int"):
        plan.replace(around, text)


def counted_in(
    source: ParsedSource,
) -> Iterator[tuple[cst.BaseExpression, cst.BaseExpression, str]]:
    """Expressions that count, what is counted, and the axis if not all are."""
    nodes = nodes_in(source.module)
    for place, (rows,) in matches(nodes, "_x.row_lengths()"):
        yield place, rows, ", axis=-1"
    counting = ("size(input=_x)", "len(_x)", "shape(input=_x)[0]", "_x.shape[0]")
    for place, (given,) in matches(nodes, *counting):
        yield place, given, ""


def _soft_mask(case: FixCase, counted: cst.BaseExpression, place: cst.BaseExpression) -> str:
    """The sigmoid of what the mask compares, if what is counted is picked by one at the cut, or is
    counted there."""
    source = case.source
    counted = source.value_of(counted)
    mask: cst.BaseExpression | None = None
    loop = counted.for_in if isinstance(counted, (cst.ListComp, cst.GeneratorExp)) else None
    if loop is not None and len(loop.ifs) == 1 and loop.inner_for_in is None:
        mask = loop.ifs[0].test
    elif is_call_to(counted, "where", "boolean_mask"):
        is_where = called_name(counted) == "where"
        given = argument(counted, 0 if is_where else 1, "condition" if is_where else "mask")
        mask = given if given is not None and not (is_where and len(counted.args) > 1) else None
    elif picked := match(counted, "_v[_i]"):
        mask = picked[0]
    soft = soft_truth(source, mask) if mask is not None else ""
    if loop is not None and soft:
        soft = f"[{soft} for {source.code(loop.target)} in {source.code(loop.iter)}]"
    made = [counted, place, *(source.behind(mask) if mask is not None else ())]
    lines = case.lines("not-differentiable", "integer", "left-tensorflow", "not-connected")
    is_at_cut = any(source.covers(node, line) for node in made for line in lines)
    return soft if is_at_cut else ""


_INDICES_OF = {"gather": 1, "gather_nd": 1, "scatter_nd": 0, "SparseTensor": 0}
"""Which argument the indices are; the other one of the first two is what they pick or place."""


def weigh_selected(case: FixCase) -> Iterator[Edit]:
    """``tf.gather_nd(v, tf.where(x > a))`` → ``v * tf.sigmoid(x - a)``; so ``tf.gather``,
    ``tf.scatter_nd`` of ones at such places, and the values of a ``tf.SparseTensor`` there."""
    source = case.source
    plan = Plan(source)
    for call in source.calls_to(*_INDICES_OF):
        place = _INDICES_OF[called_name(call)]
        indices = argument(call, place, "indices")
        other = argument(call, 1 - place, "params", "updates", "values")
        condition = _where_of(source, indices) if indices is not None else None
        if condition is None or other is None:
            continue
        soft = soft_truth(source, condition)
        made = (condition, source.value_of(condition))
        if not soft or not any(source.covers(m, line) for m in made for line in case.lines()):
            continue
        text = f"{source.operand(other)} * {soft}"
        if called_name(call) == "SparseTensor" and indices is not None:
            soft = f"{source.tf}.gather_nd({soft}, {source.code(indices)})"
            plan.replace(other, f"{source.operand(other)} * {soft}")
            continue
        if place == 0:
            if not is_call_to(other, "ones"):
                continue
            text = soft
        plan.replace(call, text)
    yield from plan.edits("Estimate: weigh all by a sigmoid of how far each passes the comparison")


_RESHAPING = ("squeeze", "reshape", "cast")


def _where_of(source: ParsedSource, node: cst.BaseExpression) -> cst.BaseExpression | None:
    """The condition of the ``tf.where(condition)`` that gave these places."""
    for _ in range(8):
        node = source.value_of(node)
        if isinstance(node, cst.Subscript):
            node = node.value
        elif is_call_to(node, *_RESHAPING) and node.args:
            node = node.args[0].value
    return next(iter(match(node, "where(_c)")), None)


def weigh_by_width(case: FixCase) -> Iterator[Edit]:
    """``x[:k]`` with ``k = tf.cast(w, tf.int32)`` → ``x`` times weights that go from 1 to 0 at w.

    ``x[k:]`` likewise, the values of ``tf.math.top_k(x, k)``, and ``tf.sequence_mask(k, n)``, also
    of lengths that were not cast, as numbers: the one on the edge counts by the part of it that is
    inside.
    """
    source, tf, code = case.source, case.source.tf, case.source.code
    plan = Plan(source)
    for node in all_of(source.module, cst.Subscript):
        part = node.slice[0].slice
        if not isinstance(part, cst.Slice) or len(node.slice) != 1 or part.step is not None:
            continue
        ends = [end for end in (part.lower, part.upper) if end is not None]
        width = _width(case, ends[0]) if len(ends) == 1 else ""
        if not width:
            continue
        x = source.operand(node.value)
        places = f"{tf}.cast({tf}.range({tf}.shape({x})[0]), {tf}.float32)"
        weights = up_to_one(tf, f"{width} - {places}")
        rank = rank_of(case, x)
        if part.lower is not None:
            weights = f"(1.0 - {weights})"
        elif rank == 1:
            _divide_by(plan, node, width)
        if rank > 1:
            weights += f"[:, {', '.join([f'{tf}.newaxis'] * (rank - 1))}]"
        plan.replace(node, f"{x} * {weights}")
    masks = source.calls_to("sequence_mask")
    for call, (lengths, most) in with_arguments(masks, "lengths", "maxlen"):
        width = _width(case, lengths)
        if not width and any(source.covers(call, line) for line in case.lines()):
            width = source.operand(lengths)  # it compares numbers that are not whole, too
        if width:
            places = f"{tf}.cast({tf}.range({code(most)}), {tf}.float32)"
            weights = up_to_one(tf, f"{tf}.expand_dims({width}, -1) - {places}")
            plan.replace(call, weights)
    for call, (given, count) in with_arguments(source.calls_to("top_k"), "input", "k"):
        values = source.parent(call)
        if match(values, "_x.values") and values is not None and (w := _width(case, count)):
            x = code(given)
            places = f"{tf}.cast({tf}.range({tf}.shape({x})[-1]), {tf}.float32)"
            weights = up_to_one(tf, f"{w} - {places}")
            largest = f'{tf}.sort({x}, direction="DESCENDING")'
            plan.replace(values, cst.parse_expression(f"({largest} * {weights})"))
            _divide_by(plan, values, w)
    title = "Estimate: weights that go over from 1 to 0 at the edge, in place of a whole number"
    yield from plan.edits(title)


def weigh_by_window(case: FixCase) -> Iterator[Edit]:
    """``x[int(a):int(b), int(c):int(d)]`` → ``x`` times weights that go over from 0 to 1 at each
    edge; its mean is the sum by the sum of the weights."""
    source, tf, code = case.source, case.source.tf, case.source.code
    plan = Plan(source)
    for node in all_of(source.module, cst.Subscript):
        if isinstance(source.parent(node), (cst.AssignTarget, cst.Del)):
            continue
        window, count = window_of(case, source.operand(node.value), node.slice)
        if not count or len(node.slice) < 2:
            continue
        rank = max(rank_of(case, code(node.value)), len(node.slice))
        news = f"[{', '.join(['...', *[f'{tf}.newaxis'] * (rank - len(node.slice))])}]"
        weighed = f"{source.operand(node.value)} * ({window}){news if '.newaxis' in news else ''}"
        plan.replace(node, weighed)
        _divide_by(plan, node, f"{tf}.reduce_sum({window})")
    title = "Estimate: weights that go over from 0 to 1 at the edges, in place of whole numbers"
    yield from plan.edits(title)


def window_of(case: FixCase, x: str, slices: Sequence[cst.SubscriptElement]) -> tuple[str, int]:
    """Weights of the part of ``x`` that is taken along its first axes, and how many of the edges
    are whole numbers that were rounded at the cut; empty if an axis is taken otherwise."""
    source, tf = case.source, case.source.tf
    weights, count = [], 0
    for axis, element in enumerate(slices):
        part = element.slice
        if not isinstance(part, cst.Slice) or part.step is not None:
            return "", 0
        ends = []
        for end in (part.lower, part.upper):
            width = _width(case, end) if end is not None else ""
            count += bool(width)
            ends.append(width or (source.code(end) if end is not None else ""))
        places = f"{tf}.cast({tf}.range({tf}.shape({x})[{axis}]), {tf}.float32)"
        sides = [up_to_one(tf, f"{places} + 1.0 - {ends[0]}")] if ends[0] else []
        sides += [up_to_one(tf, f"{ends[1]} - {places}")] if ends[1] else []
        after = len(slices) - axis - 1
        weight = " * ".join(sides) or f"{tf}.ones_like({places})"
        news = ", ".join([":", *[f"{tf}.newaxis"] * after])
        weights.append(f"({weight})[{news}]" if after else weight)
    return " * ".join(weights), count


def _divide_by(plan: Plan, part: cst.CSTNode, width: str) -> None:
    """The mean of a part that is weighed now is its sum by the width."""
    source = plan.source
    for call in source.calls_to("reduce_mean", "mean"):
        if call.args and source.value_of(call.args[0].value) is part:
            plan.replace(call.func, f"{source.tf}.reduce_sum")
            place = call

            def divided(old: cst.Call, place: cst.Call = place) -> cst.BaseExpression:
                text = f"{source.code(old)} / ({width})"
                return fitting(source, place, cst.parse_expression(text))

            plan.replace(place, divided)


def _width(case: FixCase, end: cst.BaseExpression) -> str:
    """The real number that the end of a slice was rounded from at the cut; else empty."""
    width = uncast(case.source, end)
    return width if width and is_at_cause(case, end) else ""
