"""Give an op without a slope an estimated one, or put a smooth neighbour in its place."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import TypeVar

import libcst as cst

from ...analysis.causes.zeros import MultipliedByZero
from ..model import Edit, FixCase
from ..plan import Plan, enclosed, fitting
from ..rewrites import CallRewrite, template
from ..smooth.counts import uncast
from ..smooth.indices import embeddings_of, form_of, input_shape, is_at_cause, rank_of
from ..smooth.zeros import soft_truth
from ..source import (
    ParsedSource,
    all_of,
    argument,
    called_name,
    dotted,
    header_nodes,
    nodes_in,
    sole,
)


def straight_through(source: ParsedSource, call: cst.Call, number: cst.BaseExpression) -> str:
    """``x + tf.stop_gradient(f(x) - x)``: the value of the call, the slope of the number."""
    x = source.code(enclosed(number))
    return f"{x} + {source.tf}.stop_gradient({source.code(call)} - {x})"


def _with_slope(case: FixCase, call: cst.Call) -> str:
    """``tf.round(x)`` → ``x + tf.stop_gradient(tf.round(x) - x)``: its value, the slope of x."""
    given = argument(call, 0, "x", "t", "input", "inputs")
    if given is None or dotted(call.func) == called_name(call):
        return ""
    if called_name(call) in ("maximum", "minimum") and isinstance(given.value, cst.BaseNumber):
        given = call.args[-1]
    return straight_through(case.source, call.with_changes(lpar=[], rpar=[]), given.value)


def straight_through_any(case: FixCase) -> Iterator[Edit]:
    """``f(x)`` → ``x + tf.stop_gradient(f(x) - x)`` for a call of any name, where the op at the cut
    gives real numbers of the form of what it took."""
    source, trace = case.source, case.trace
    op = trace.ops.get(case.cause.op_id) if case.cause.op_id is not None else None
    if op is None or not op.inputs or not op.outputs:
        return
    taken, made = trace.tensors.get(op.inputs[0]), trace.tensors.get(op.outputs[0])
    if taken is None or made is None or taken.form != made.form or "float" not in made.dtype:
        return
    statement = source.statement(case.cause.line)
    for call in header_nodes(statement, cst.Call) if statement is not None else ():
        if len(call.args) == 1 and not call.args[0].star and source.covers(call, case.cause.line):
            plan = Plan(source)
            text = straight_through(source, call, call.args[0].value)
            plan.replace(call, _in_place(source, call, text))
            name = source.code(call.func)
            title = f"Estimate: let the gradient pass {name} as if it were not there"
            yield Edit(title, plan.text(), is_estimate=True)


STRAIGHT_THROUGH = CallRewrite(
    (
        *("round", "rint", "floor", "ceil", "sign", "clip_by_value", "maximum", "minimum"),
        "fake_quant_with_min_max_args",
    ),
    _with_slope,
    "Estimate: let the gradient pass {name} as if it were not there",
    is_estimate=True,
)


def straight_through_result(case: FixCase) -> Iterator[Edit]:
    """``y = f(x)`` with ``y`` of the form of ``x`` → ``y = x + tf.stop_gradient(f(x) - x)``."""
    source = case.source
    small = sole(source.statement(case.cause.line))
    if not isinstance(small, cst.Assign) or not isinstance(small.value, cst.Call):
        return
    call, name = small.value, source.code(small.targets[0].target)
    known = form_of(case, name)
    if known is None or not known[1].startswith("float"):
        return
    paths = [arg.value for arg in call.args if isinstance(arg.value, (cst.Name, cst.Attribute))]
    x = next((path for path in paths if form_of(case, source.code(path)) == known), None)
    if x is not None:
        plan = Plan(source)
        plan.replace(call, straight_through(source, call, x))
        title = f"Estimate: let the gradient pass {called_name(call)} as if it were not there"
        yield Edit(title, plan.text(), is_estimate=True)


def straight_through_largest(case: FixCase) -> Iterator[Edit]:
    """``tf.cast(tf.equal(y, tf.reduce_max(y, -1, keepdims=True)), tf.float32)`` → its value, with
    the gradient of y, as straight-through Gumbel-softmax has it (Jang, Gu and Poole 2017)."""
    source = case.source
    plan = Plan(source)
    for line in case.lines():
        for back in source.calls(line, "cast"):
            asked = back.args[0].value if back.args else None
            sides: list[cst.BaseExpression] = []
            if isinstance(asked, cst.Call) and called_name(asked) in ("equal", "greater_equal"):
                sides = [given.value for given in asked.args[:2]]
            elif isinstance(asked, cst.Comparison) and len(asked.comparisons) == 1:
                sides = [asked.left, asked.comparisons[0].comparator]
            for side, other in (sides, sides[::-1]) if len(sides) == 2 else ():
                if not isinstance(other, cst.Call) or called_name(other) != "reduce_max":
                    continue
                if other.args and source.code(other.args[0].value) == source.code(side):
                    through = cst.parse_expression(straight_through(source, back, side))
                    plan.replace(back, fitting(source, back, through))
                    break
    if plan.changes:
        title = "Estimate: straight-through, the choice with the gradient of what it chose by"
        yield Edit(title, plan.text(), is_estimate=True)


def divide_exactly(case: FixCase) -> Iterator[Edit]:
    """``x // 2`` → ``x / 2``."""
    source = case.source
    plan = Plan(source)
    for line in case.lines():
        statement = source.statement(line)
        for node in header_nodes(statement, cst.BinaryOperation) if statement else ():
            if isinstance(node.operator, cst.FloorDivide):
                divide = cst.Divide(node.operator.whitespace_before, node.operator.whitespace_after)
                plan.replace(node.operator, divide)
        for step in header_nodes(statement, cst.AugAssign) if statement else ():
            if isinstance(step.operator, cst.FloorDivideAssign):
                plan.replace(step.operator, cst.DivideAssign())
        for call in source.calls(line, "floordiv", "floor_divide"):
            plan.replace(call.func, f"{source.tf}.divide")
    if plan.changes:
        yield Edit("Estimate: divide without rounding down", plan.text(), is_estimate=True)


def soften_comparison(case: FixCase) -> Iterator[Edit]:
    """``x > 0.5`` → ``tf.sigmoid(x - 0.5)``, and what joins several by ``and``, ``or``, ``not``."""
    source = case.source
    plan = Plan(source)
    statements = (source.statement(line) for line in case.lines())
    soft = {
        node: code
        for statement in statements
        for node in (_conditions(statement) if statement is not None else ())
        if (code := soft_truth(source, node))
    }
    _soften_outermost(plan, soft)
    if plan.changes:
        title = "Estimate: a sigmoid in place of the comparison"
        yield Edit(title, plan.text(), is_estimate=True)


def soften_bounds(case: FixCase) -> Iterator[Edit]:
    """``rows >= lo`` with ``lo = tf.cast(x, tf.int32)`` → ``tf.sigmoid(rows - x)`` of floats."""
    source = case.source
    plan = Plan(source)
    found = 0

    def number(node: cst.BaseExpression) -> str:
        nonlocal found
        x = uncast(source, node) if is_at_cause(case, node) else ""
        found += bool(x)
        return x or f"{source.tf}.cast({source.code(node)}, {source.tf}.float32)"

    soft: dict[cst.BaseExpression, str] = {}
    for statement in source.statements:
        for node in _conditions(statement):
            found = 0
            code = soft_truth(source, node, number)
            if code and found:
                soft[node] = code
    _soften_outermost(plan, soft)
    if plan.changes:
        title = "Estimate: a sigmoid in place of the comparison with a whole number"
        yield Edit(title, plan.text(), is_estimate=True)


def _conditions(statement: cst.CSTNode) -> Iterator[cst.BaseExpression]:
    yield from header_nodes(statement, cst.Comparison)
    yield from header_nodes(statement, cst.Call)
    yield from header_nodes(statement, cst.BinaryOperation)
    yield from header_nodes(statement, cst.UnaryOperation)


def _soften_outermost(plan: Plan, soft: Mapping[cst.BaseExpression, str]) -> None:
    for node, code in soft.items():
        if not any(around in soft for around in plan.source.ancestors(node)):
            _soften(plan, node, code)


def _soften(plan: Plan, node: cst.BaseExpression, soft: str) -> None:
    around = plan.source.enclosing(node, cst.Call)
    if around is not None and called_name(around) == "count_nonzero":
        plan.replace(around, f"{plan.source.tf}.reduce_sum({soft})")
        return
    plan.replace(node, soft)
    _weigh_by(plan, node, soft)


def _weigh_by(plan: Plan, mask: cst.BaseExpression, soft: str) -> None:
    """``x[mask]``, ``tf.boolean_mask(x, mask)``, ``tf.where(mask, x, y)`` with the soft mask."""
    source, code = plan.source, plan.source.code
    for picked in _subscripts(source, mask):
        index = cst.ensure_type(picked.slice[0].slice, cst.Index).value
        weight = soft if index is mask else code(index)
        plan.replace(
            picked, _in_place(source, picked, f"{code(enclosed(picked.value))} * {weight}")
        )
    for call in all_of(source.module, cst.Call):
        place = {"boolean_mask": 1, "where": 0}.get(called_name(call))
        given = argument(call, place, "mask", "condition") if place is not None else None
        if given is None or not (given.value is mask or _is_name_of(source, given.value, mask)):
            continue
        weight = soft if given.value is mask else code(given.value)
        others = [code(enclosed(arg.value)) for arg in call.args if arg is not given]
        if place == 1 and len(others) == 1:
            plan.replace(call, _in_place(source, call, f"{others[0]} * {weight}"))
        elif place == 0 and len(others) == 2:
            blended = f"{weight} * {others[0]} + (1.0 - {weight}) * {others[1]}"
            plan.replace(call, _in_place(source, call, blended))


def _in_place(source: ParsedSource, place: cst.CSTNode, text: str) -> cst.BaseExpression:
    return fitting(source, place, cst.parse_expression(text))


def _is_name_of(source: ParsedSource, node: cst.BaseExpression, value: cst.CSTNode) -> bool:
    return isinstance(node, cst.Name) and source.bound_to(node) is value


def _mixed_one_hot(case: FixCase, call: cst.Call) -> str:
    """``tf.one_hot(i, n, on, off)`` → the same numbers by a product and a sum."""
    source = case.source
    on, off = (argument(call, n, name) for n, name in ((2, "on_value"), (3, "off_value")))
    if on is None and off is None:
        return ""
    kept = ", ".join(source.code(arg).rstrip(", ") for arg in call.args if arg not in (on, off))
    high, low = (
        source.code(enclosed(given.value)) if given is not None else number
        for given, number in ((on, "1.0"), (off, "0.0"))
    )
    return f"{source.tf}.one_hot({kept}) * ({high} - {low}) + {low}"


MIX_ONE_HOT = CallRewrite(
    ("one_hot",),
    _mixed_one_hot,
    "Mix on_value and off_value by hand: tf.one_hot has no gradient by them",
)


def soften_argmax(case: FixCase) -> Iterator[Edit]:
    """The largest's position → an average by softmax: of what it picks, or of positions."""
    source = case.source
    plan = Plan(source)
    for call in case.calls("argmax", "argmin", "categorical", "top_k"):
        if _soften_argmax(case, plan, call):
            name = called_name(call)
            what = "the draw" if name == "categorical" else f"the {name}"
            title = f"Estimate: a softmax average in place of {what}"
            yield Edit(title, plan.text(), is_estimate=True)
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
    tf, scores = source.tf, source.code(enclosed(given.value))
    sign = "-" if called_name(call) == "argmin" else ""
    has_axis = not is_draw and largest is call
    axis = argument(call, 1, "axis", "dimension") if has_axis else None
    axis_code = source.code(axis.value) if axis is not None else "0" if has_axis else "-1"
    shape = input_shape(case)
    along = "" if len(shape) == 1 or axis_code == "-1" else f", axis={axis_code}"
    soft = f"{tf}.nn.softmax({sign}{scores}{along})"
    if not sign and _are_probabilities(case):
        soft = scores
    made = _outermost(source, largest)
    for answer, label, is_right in _answers(source, made):
        probability = f"{tf}.nn.softmax({sign}{scores})"
        batch = max(len(shape) - 1, 1)
        right = f"{tf}.gather({probability}, {source.code(label)}, batch_dims={batch})"
        plan.replace(answer, _in_place(source, answer, right if is_right else f"1.0 - {right}"))
        return True
    if isinstance(source.parent(made), cst.Return):
        return _average_where_called(plan, made, f"{tf}.nn.softmax({sign}{scores}{along})")
    for user in _users(source, made):
        if called_name(user) == "confusion_matrix" and shape and shape[-1] is not None:
            return _soften_confusion(plan, made, user, soft, shape[-1])
    if one_hot := [user for user in _users(source, made) if called_name(user) in ONE_HOT]:
        for user in one_hot:
            plan.replace(user, soft)
        return True
    for user in _users(source, made):
        weights = argument(user, 0, "params")
        if table := embeddings_of(source, user):
            plan.replace(user, f"{tf}.tensordot({soft}, {table}, 1)")
            return True
        if called_name(user) == "gather" and weights is not None:
            values = source.code(enclosed(weights.value))
            mixed = f"{tf}.tensordot({soft}, {values}, 1)"
            if argument(user, 9, "axis", "batch_dims") is not None:
                wider = rank_of(case, values) - len(shape)
                if argument(user, 4, "batch_dims") is not None and wider > 0 and shape:
                    soft += f"[..., {', '.join([f'{tf}.newaxis'] * wider)}]"
                    along = f", axis={len(shape) - 1}"
                mixed = f"{tf}.reduce_sum({soft} * {values}{along})"
            plan.replace(user, mixed)
            return True
    for picked in _subscripts(source, made):
        values = source.code(enclosed(picked.value))
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


def _are_probabilities(case: FixCase) -> bool:
    """Whether the op at the cut takes what a softmax gave."""
    trace = case.trace
    op = trace.ops.get(case.cause.op_id) if case.cause.op_id is not None else None
    producer = trace.producers.get(op.inputs[0]) if op is not None and op.inputs else None
    return producer is not None and trace.ops[producer].type == "Softmax"


def _largest(source: ParsedSource, call: cst.Call) -> cst.BaseExpression | None:
    """``tf.math.top_k(x, k=1).indices[..., 0]``, which is the argmax along the last axis."""
    count, indices = argument(call, 1, "k"), source.parent(call)
    if count is not None and source.code(count.value) != "1":
        return None
    if not isinstance(indices, cst.Attribute) or indices.attr.value != "indices":
        return None
    first = source.parent(indices)
    last = first.slice[-1].slice if isinstance(first, cst.Subscript) else None
    is_first = isinstance(last, cst.Index) and source.code(last.value) == "0"
    return first if is_first and isinstance(first, cst.Subscript) else None


def _average_where_called(plan: Plan, made: cst.BaseExpression, soft: str) -> bool:
    """A function that returns the position returns weights, by which its callers average."""
    source, count = plan.source, 0
    function = source.enclosing(made, cst.FunctionDef)
    name = function.name.value if function is not None else ""
    for called in all_of(source.module, cst.Call):
        if called_name(called) != name:
            continue
        for user in _users(source, called):
            values = argument(user, 0, "params")
            place = argument(user, 1, "indices") if called_name(user) == "gather" else None
            table = source.code(values.value) if values is not None and place is not None else ""
            if place is None and (table := embeddings_of(source, user)):
                place = argument(user, 1 if called_name(user) == "embedding_lookup" else 0, "ids")
            if place is not None and table:
                weights = source.code(place.value)
                plan.replace(user, f"{source.tf}.tensordot({weights}, {table}, 1)")
                count += 1
        for picked in _subscripts(source, called):
            index = cst.ensure_type(picked.slice[0].slice, cst.Index).value
            text = f"{source.tf}.tensordot({source.code(index)}, {source.code(picked.value)}, 1)"
            plan.replace(picked, text)
            count += 1
    if count:
        plan.replace(made, soft)
    return count > 0


def _outermost(source: ParsedSource, call: cst.BaseExpression) -> cst.BaseExpression:
    """``int(tf.argmax(x))`` and ``tf.argmax(x).numpy()``: with what only passes the number on."""
    while True:
        above = source.parent(call)
        if isinstance(above, cst.Arg | cst.Attribute):
            above = source.parent(above)
        if not isinstance(above, cst.Call) or called_name(above) not in _PASSING:
            return call
        call = above


ONE_HOT = ("one_hot", "to_categorical")
_PASSING = ("int", "numpy", "item", "to_int32", "squeeze")


def _soften_confusion(
    plan: Plan, call: cst.BaseExpression, user: cst.Call, soft: str, classes: int
) -> bool:
    """``confusion_matrix(labels, argmax)`` → for each pair of classes the sum of probabilities."""
    source, tf = plan.source, plan.source.tf
    sides = [argument(user, 0, "labels"), argument(user, 1, "predictions")]
    if any(side is None for side in sides):
        return False
    soft_sides = []
    for side in sides:
        if side is not None and _is_result(source, side.value, call):
            soft_sides.append(f"{tf}.reshape({soft}, [-1, {classes}])")
        elif side is not None:
            labels = f"{tf}.reshape({source.code(side.value)}, [-1])"
            soft_sides.append(f"{tf}.one_hot({labels}, {classes})")
    text = f"{tf}.matmul({soft_sides[0]}, {soft_sides[1]}, transpose_a=True)"
    plan.replace(user, _in_place(source, user, text))
    return True


def _answers(
    source: ParsedSource, call: cst.BaseExpression
) -> Iterator[tuple[cst.BaseExpression, cst.BaseExpression, bool]]:
    """Comparisons of the result with labels: the comparison, the labels, whether for equality."""
    found: list[tuple[cst.BaseExpression, list[cst.BaseExpression], bool]] = []
    for user in all_of(source.module, cst.Call):
        if called_name(user) in ("equal", "not_equal"):
            sides = [arg.value for arg in user.args[:2]]
            found.append((user, sides, called_name(user) == "equal"))
    for compared in all_of(source.module, cst.Comparison):
        target = compared.comparisons[0]
        if (
            isinstance(target.operator, (cst.Equal, cst.NotEqual))
            and len(compared.comparisons) == 1
        ):
            sides = [compared.left, target.comparator]
            found.append((compared, sides, isinstance(target.operator, cst.Equal)))
    for answer, sides, is_right in found:
        labels = [side for side in sides if not _is_result(source, side, call)]
        if len(sides) == 2 and len(labels) == 1:
            yield answer, labels[0], is_right


def _is_result(source: ParsedSource, node: cst.BaseExpression, call: cst.BaseExpression) -> bool:
    """Whether an expression holds the call, or is the name that its result is bound to."""
    if _is_name_of(source, node, call):
        return True
    return any(found is call for found in nodes_in(node))


def _users(source: ParsedSource, call: cst.BaseExpression) -> Iterator[cst.Call]:
    """Calls that take the result: around it, or by the name that it is bound to."""
    for above in source.ancestors(call):
        if isinstance(above, cst.Call):
            yield above
    assign = source.enclosing(call, cst.Assign)
    if assign is None or assign.value is not call:
        return
    target = assign.targets[0].target
    for user in all_of(source.module, cst.Call):
        if any(target.deep_equals(given.value) for given in user.args):
            yield user


def _subscripts(source: ParsedSource, made: cst.BaseExpression) -> Iterator[cst.Subscript]:
    """``values[i]``: what the result picks as the only subscript."""
    assign = source.enclosing(made, cst.Assign)
    name = assign.targets[0].target if assign is not None and assign.value is made else None
    for node in all_of(source.module, cst.Subscript):
        part = node.slice[0].slice
        if len(node.slice) != 1 or not isinstance(part, cst.Index):
            continue
        if part.value is made or (name is not None and name.deep_equals(part.value)):
            yield node


# Piecewise linear, so that the second derivative is 0.
_BENT = ("relu", "leaky_relu", "relu6")
_BENT_LAYERS = ("ReLU", "LeakyReLU")


def smooth_activation(case: FixCase) -> Iterator[Edit]:
    """A ReLU that is flat here → a smooth one, or a leaky one if its slope is what is 0."""
    source = case.source
    new = "softplus" if case.cause.kind == "flat-op" else "leaky_relu"
    evidence = case.cause.evidence
    lines = case.lines()
    if isinstance(evidence, MultipliedByZero) and evidence.by == "clipped":
        lines = (evidence.made,)
    for edit in (_activation(source, lines, new), _activation(source, None, new)):
        if edit is not None:
            yield edit


def _activation(source: ParsedSource, lines: Iterable[int] | None, new: str) -> Edit | None:
    plan = Plan(source)
    is_leaky = new == "leaky_relu"
    bent = [name for name in _BENT if name != new]
    layers = [name for name in _BENT_LAYERS if not (is_leaky and name == "LeakyReLU")]
    calls = all_of(source.module, cst.Call)
    if lines is not None:
        calls = [call for line in lines for call in source.calls(line, *bent, *layers)]
    names: list[str] = []
    for call in calls:
        name = called_name(call)
        if name in bent and call.args:
            plan.replace(call, f"{source.tf}.nn.{new}({source.code(call.args[0].value)})")
            names.append(name)
        elif name in layers:
            path = dotted(call.func).rpartition(".")[0]
            activation = f"{path}.Activation" if path else "Activation"
            plan.replace(call, f'{activation}("{new}")')
            names.append(name)
    for text in _near(source, all_of(source.module, cst.SimpleString), lines):
        if text.evaluated_value in bent:
            plan.replace(text, f"{text.quote}{new}{text.quote}")
            names.append(str(text.evaluated_value))
    for function in _near(source, all_of(source.module, cst.Attribute), lines):
        around = source.parent(function)
        is_called = isinstance(around, cst.Call) and around.func is function
        if function.attr.value in bent and not is_called:
            plan.replace(function, f"{source.tf}.nn.{new}")
            names.append(function.attr.value)
    what = "the ReLU" if set(names) <= {"relu", "ReLU"} else names[0]
    why = "which is flat here" if is_leaky else "whose second derivative is 0"
    title = f"Estimate: {new} in place of {what}, {why}"
    return Edit(title, plan.text(), is_estimate=True) if names else None


_Node = TypeVar("_Node", bound=cst.CSTNode)


def _near(
    source: ParsedSource, nodes: Iterable[_Node], lines: Iterable[int] | None
) -> Iterator[_Node]:
    """Those on one of the lines; all where no lines are given."""
    wanted = None if lines is None else tuple(lines)
    return (
        node
        for node in nodes
        if wanted is None or any(source.covers(node, line) for line in wanted)
    )


SMOOTH_MAXIMUM = tuple(
    CallRewrite(
        (old,),
        template(f"{{tf}}.{new}({{args}})"),
        f"Estimate: {new} in place of {old}",
        is_estimate=True,
    )
    for old, new in (("reduce_max", "reduce_logsumexp"), ("sign", "tanh"))
)
