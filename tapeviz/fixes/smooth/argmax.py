"""Average by a softmax, which has a slope, what the position of the largest picked."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial

import libcst as cst

from ...analysis.call_facts import maker_past
from ..forms import EQUAL, UNEQUAL, matches
from ..model import Edit, FixCase
from ..nodes import all_of, argument, called_name, elements, is_call_to, nodes_in, with_arguments
from ..plan import Plan
from ..source import ParsedSource
from .indices import embeddings_of, input_shape, rank_of


def soften_argmax(case: FixCase) -> Iterator[Edit]:
    """The largest's position → an average by softmax: of what it picks, or of positions."""
    source = case.source
    plan = Plan(source)
    for call in case.calls("argmax", "argmin", "categorical", "top_k"):
        if _soften_argmax(case, plan, call):
            name = called_name(call)
            what = "the draw" if name == "categorical" else f"the {name}"
            yield from plan.edits(f"Estimate: a softmax average in place of {what}")
            return


def _soften_argmax(case: FixCase, plan: Plan, call: cst.Call) -> bool:
    source = case.source
    given = argument(call, 0, "input", "logits")
    if given is None:
        return False
    is_draw = called_name(call) == "categorical"
    largest = _largest(source, call) if called_name(call) == "top_k" else call
    if largest is None:
        return False
    tf, scores = source.tf, source.operand(given)
    sign = "-" if called_name(call) == "argmin" else ""
    has_axis = not is_draw and largest is call
    axis = argument(call, 1, "axis", "dimension") if has_axis else None
    axis_code = source.code(axis) if axis is not None else "0" if has_axis else "-1"
    shape = input_shape(case)
    along = "" if len(shape) == 1 or axis_code == "-1" else f", axis={axis_code}"
    soft = f"{tf}.nn.softmax({sign}{scores}{along})"
    if not sign and are_probabilities(case, call):
        soft = scores
    made = _outermost(source, largest)
    for answer, label, is_right in answers_of(source, made):
        batch = max(len(shape) - 1, 1)
        right = f"{tf}.gather({soft}, {source.code(label)}, batch_dims={batch})"
        plan.replace(answer, right if is_right else f"1.0 - {right}")
        return True
    if (chosen := _chosen(source, made)) is not made:
        return _average_by_chosen(plan, chosen)
    if isinstance(source.parent(made), (cst.Return, cst.Lambda)):
        return _average_where_called(plan, made, soft)
    for user in _users(source, made):
        if called_name(user) == "confusion_matrix" and shape and shape[-1] is not None:
            return _soften_confusion(plan, made, user, soft, shape[-1])
    if one_hot := [user for user in _users(source, made) if called_name(user) in ONE_HOT]:
        for user in one_hot:
            plan.replace(user, soft)
        return True
    if shape and shape[-1] is not None:
        rows = soft if len(shape) == 2 else f"{tf}.reshape({soft}, [-1, {shape[-1]}])"
        for user in _users(source, made):
            if summed := _summed_by(source, user, made, rows):
                plan.replace(user, summed)
        if plan.changes:
            return True
    if axis_code in ("-1", str(len(shape) - 1)) and _average_by_indices(plan, made, soft):
        return True
    for user in _users(source, made):
        weights = argument(user, 0, "params")
        if table := embeddings_of(source, user):
            plan.replace(user, f"{tf}.tensordot({soft}, {table}, 1)")
        elif called_name(user) == "gather" and weights is not None:
            values = source.operand(weights)
            mixed = f"{tf}.tensordot({soft}, {values}, 1)"
            if argument(user, 9, "axis", "batch_dims") is not None:
                share, over = soft, along or (", axis=-1" if len(shape) > 1 else "")
                wider = rank_of(case, values) - len(shape)
                if argument(user, 4, "batch_dims") is not None and wider > 0 and shape:
                    share += f"[..., {', '.join([f'{tf}.newaxis'] * wider)}]"
                    over = f", axis={len(shape) - 1}"
                mixed = f"{tf}.reduce_sum({share} * {values}{over})"
            plan.replace(user, mixed)
    if plan.changes:
        return True
    for picked, _, picked_from in source.picked_by(made):
        values = source.operand(picked_from)
        is_of_rows = len(shape) == 1 and rank_of(case, values) > 1
        average = f"{tf}.tensordot({soft}, {values}, 1)"
        if not is_of_rows:
            average = f"{tf}.reduce_sum({soft} * {values}{along})"
        plan.replace(picked, average)
        return True
    last = len(shape) - 1
    if not shape or shape[-1] is None or axis_code not in ("-1", str(last)):
        return False
    along = ", axis=-1" if last else ""
    plan.replace(largest, f"{tf}.reduce_sum({soft} * {tf}.range({shape[-1]}.0){along})")
    return True


def are_probabilities(case: FixCase, call: cst.Call) -> bool:
    """Tell whether a softmax gave the scores of a call that chooses, when its lines ran."""
    trace, source = case.trace, case.source
    for op in trace.ops.values():
        if op.type in _CHOOSING and op.inputs and source.covers(call, op.line):
            maker = maker_past(trace, op.inputs[0], ("Identity", "Reshape", "Cast"))
            return maker is not None and maker.type == "Softmax"
    return False


_CHOOSING = ("ArgMax", "ArgMin", "TopKV2", "Multinomial")


def _largest(source: ParsedSource, call: cst.Call) -> cst.BaseExpression | None:
    """``tf.math.top_k(x, k=1).indices[..., 0]``, which is the argmax along the last axis."""
    count, indices = argument(call, 1, "k"), source.parent(call)
    if count is not None and source.code(count) != "1":
        return None
    if not isinstance(indices, cst.Attribute) or indices.attr.value != "indices":
        return None
    first = source.parent(indices)
    last = first.slice[-1].slice if isinstance(first, cst.Subscript) else None
    is_first = isinstance(last, cst.Index) and source.code(last.value) == "0"
    return first if is_first and isinstance(first, cst.Subscript) else None


def _average_where_called(plan: Plan, made: cst.BaseExpression, soft: str) -> bool:
    """A function that returns the position returns weights, by which its callers average.

    Where none calls it, but Keras does, an ``Embedding(n, size)`` becomes ``Dense(size)`` without a
    bias: of a one-hot vector that is the row of its kernel.
    """
    source, count = plan.source, 0
    is_lambda = isinstance(source.parent(made), cst.Lambda)
    function = None if is_lambda else source.enclosing(made, cst.FunctionDef)
    for called in source.calls_of(function) if function is not None else ():
        count += _average_by(plan, called)
    for layer in source.calls_to("Embedding") if not count else ():
        size = argument(layer, 1, "output_dim")
        if size is not None:
            size_code = f"({source.code(size)}, use_bias=False)"
            plan.replace(layer, source.code(layer.func).replace("Embedding", "Dense") + size_code)
            count += 1
    if count:
        plan.replace(made, soft)
    return count > 0


def _average_by(plan: Plan, weights: cst.BaseExpression) -> int:
    """Average by an expression what it picks as a position; how many times it does."""
    source, count = plan.source, 0
    for user in _users(source, weights):
        values = argument(user, 0, "params")
        place = argument(user, 1, "indices") if called_name(user) == "gather" else None
        table = source.code(values) if values is not None and place is not None else ""
        if place is None and (table := embeddings_of(source, user)):
            place = argument(user, 1 if called_name(user) == "embedding_lookup" else 0, "ids")
        ids = argument(user, 1, "segment_ids")
        rows = source.code(ids) if ids is not None else ""
        if rows and (summed := _summed_by(source, user, weights, rows)):
            plan.replace(user, summed)
            count += 1
        elif called_name(user) in ONE_HOT and user.args:
            plan.replace(user, user.args[0].value)
            count += 1
        elif place is not None and table:
            by = partial(plan.changed, place)
            plan.replace(user, partial(_averaged, source, by, table))
            count += 1
    for picked, index, values in source.picked_by(weights):
        by = partial(plan.changed, index)
        plan.replace(picked, partial(_averaged, source, by, source.code(values)))
        count += 1
    return count


def _averaged(
    source: ParsedSource, weights: Callable[[], cst.BaseExpression], table: str, _: cst.CSTNode
) -> cst.BaseExpression:
    return cst.parse_expression(f"{source.tf}.tensordot({source.code(weights())}, {table}, 1)")


def _average_by_chosen(plan: Plan, chosen: cst.BaseExpression) -> bool:
    """Each of several results that a condition chooses from is a position: of each the weights."""
    source, tf = plan.source, plan.source.tf
    for call in all_of(chosen, cst.Call):
        scores, axis = argument(call, 0, "input"), argument(call, 1, "axis")
        if called_name(call) in ("argmax", "argmin") and scores is not None:
            sign = "-" if called_name(call) == "argmin" else ""
            along = f", axis={source.code(axis)}" if axis is not None else ""
            plan.replace(call, f"{tf}.nn.softmax({sign}{source.operand(scores)}{along})")
    return _average_by(plan, chosen) > 0


def _chosen(source: ParsedSource, call: cst.BaseExpression) -> cst.BaseExpression:
    """``tf.cond(…, lambda: call, …)`` and ``call if … else …`` around a call, else the call."""
    above = source.parent(call)
    if isinstance(above, cst.IfExp) and above.test is not call:
        return above
    if isinstance(above, cst.Lambda) and isinstance(given := source.parent(above), cst.Arg):
        choice = source.parent(given)
        if is_call_to(choice, "cond"):
            return choice
    return call


def _outermost(source: ParsedSource, call: cst.BaseExpression) -> cst.BaseExpression:
    """``int(tf.argmax(x))`` and ``tf.argmax(x).numpy()``: with what only passes the number on, as
    ``[:, 0]`` does behind a draw."""
    is_draw = is_call_to(call, "categorical")
    while True:
        above = source.parent(call)
        if isinstance(above, cst.Arg | cst.Attribute):
            above = source.parent(above)
        is_first = is_draw and isinstance(above, cst.Subscript) and above.value is call
        is_passed = is_call_to(above, *_PASSING)
        if not isinstance(above, (cst.Call, cst.Subscript)) or not (is_first or is_passed):
            return call
        call = above


ONE_HOT = ("one_hot", "to_categorical")

_PASSING = ("int", "numpy", "item", "to_int32", "squeeze")


def _summed_by(source: ParsedSource, user: cst.Call, made: cst.BaseExpression, rows: str) -> str:
    """``bincount(argmax)``, ``unsorted_segment_sum(data, argmax, n)`` and ``…_mean`` → sums of
    probabilities, and of what they weigh; empty for another call.

    ``rows``: the code of the probabilities, of shape [elements, classes].
    """
    tf, name = source.tf, called_name(user)
    data, ids = argument(user, 0, "data"), argument(user, 1, "segment_ids")
    if name == "bincount":
        return f"{tf}.reduce_sum({rows}, axis=0)"
    if name not in _SEGMENTS or data is None or ids is None:
        return ""
    if not _is_result(source, ids, made):
        return ""
    summed = f"{tf}.tensordot({rows}, {source.code(data)}, [[0], [0]])"
    if name == "unsorted_segment_sum":
        return summed
    return f"{tf}.transpose({tf}.transpose({summed}) / {tf}.reduce_sum({rows}, axis=0))"


_SEGMENTS = ("unsorted_segment_sum", "unsorted_segment_mean")


def _average_by_indices(plan: Plan, made: cst.BaseExpression, soft: str) -> bool:
    """``tf.gather_nd(costs, tf.stack([gold, argmax], -1))`` → the mean of the costs, of those that
    the other index picks."""
    source, tf, code = plan.source, plan.source.tf, plan.source.code
    gathers = source.calls_to("gather_nd")
    for user, (table, indices) in with_arguments(gathers, "params", "indices"):
        each = elements(argument(source.value_of(indices), 0, "values"))
        places = [i for i, part in enumerate(each) if source.leads_to(part, made)]
        if len(each) == 2 and len(places) == 1:
            values, other = code(table), code(each[1 - places[0]])
            if places[0] == 0:
                values = f"{tf}.transpose({values})"
            plan.replace(user, f"{tf}.reduce_sum({soft} * {tf}.gather({values}, {other}), axis=-1)")
    return bool(plan.changes)


def _soften_confusion(
    plan: Plan, call: cst.BaseExpression, user: cst.Call, soft: str, classes: int
) -> bool:
    """``confusion_matrix(labels, argmax)`` → for each pair of classes the sum of probabilities."""
    source, tf = plan.source, plan.source.tf
    for _, sides in with_arguments([user], "labels", "predictions"):
        rows, columns = (
            f"{tf}.reshape({soft}, [-1, {classes}])"
            if _is_result(source, side, call)
            else f"{tf}.one_hot({tf}.reshape({source.code(side)}, [-1]), {classes})"
            for side in sides
        )
        plan.replace(user, f"{tf}.matmul({rows}, {columns}, transpose_a=True)")
        return True
    return False


def answers_of(
    source: ParsedSource, call: cst.BaseExpression
) -> Iterator[tuple[cst.BaseExpression, cst.BaseExpression, bool]]:
    """Comparisons of the result with labels: the comparison, the labels, whether for equality.

    Of ``top_k`` the result is also what is made of its positions.
    """
    is_top = isinstance(call, cst.Call) and called_name(call) == "top_k"
    is_result = source.leads_to if is_top else partial(_is_result, source)
    for forms, is_right in ((EQUAL, True), (UNEQUAL, False)):
        for answer, sides in matches(nodes_in(source.module), *forms):
            labels = [side for side in sides if not is_result(side, call)]
            if len(labels) == 1:
                yield answer, labels[0], is_right


def _is_result(source: ParsedSource, node: cst.BaseExpression, call: cst.BaseExpression) -> bool:
    """Whether an expression holds the call, or is the name that its result is bound to."""
    if source.is_bound_to(node, call):
        return True
    return any(found is call for found in nodes_in(node))


def _users(source: ParsedSource, call: cst.BaseExpression) -> Iterator[cst.Call]:
    """Calls that take the result: around it, or by the name that it is bound to."""
    for above in source.ancestors(call):
        if isinstance(above, cst.Call):
            yield above
    target = source.target_of(call)
    for user in all_of(source.module, cst.Call) if target is not None else ():
        if target is not None and any(target.deep_equals(given.value) for given in user.args):
            yield user
            if called_name(user) == "cast":
                yield from (x for x in source.ancestors(user) if isinstance(x, cst.Call))
