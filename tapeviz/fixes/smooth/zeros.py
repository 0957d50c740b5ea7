"""Give expressions that are 0 everywhere (masks, hinges, constant sums) a slope."""

from __future__ import annotations

from collections.abc import Iterator

import libcst as cst

from ...analysis.causes.cancelled import FUSED, Cancelled
from ..blocks import gradient_call
from ..model import Edit, FixCase
from ..nodes import all_of, argument, called_name, dotted, header_nodes, is_zero
from ..plan import Plan, bare, enclosed
from ..rewrites import CallRewrite, template
from ..source import ParsedSource

_SUMS = ("reduce_sum", "reduce_mean")
_HINGES = {
    "Hinge": "{tf}.nn.softplus(1.0 - {y} * {p})",
    "hinge": "{tf}.nn.softplus(1.0 - {y} * {p})",
    "SquaredHinge": "{tf}.square({tf}.nn.softplus(1.0 - {y} * {p}))",
    "squared_hinge": "{tf}.square({tf}.nn.softplus(1.0 - {y} * {p}))",
}


def _soft_extreme(case: FixCase, call: cst.Call) -> str:
    """``tf.maximum(0.0, e)`` → ``tf.nn.softplus(e)``; so for any two, for ``tf.minimum``, and for
    Python's ``max`` and ``min`` of tensors."""
    source, tf = case.source, case.source.tf
    given = [arg.value for arg in call.args if arg.keyword is None]
    if len(given) != 2 or dotted(call.func).partition(".")[0] not in (tf, "max", "min"):
        return ""
    zero = next((node for node in given if is_zero(node)), None)
    a, b = given if zero is None else sorted(given, key=lambda operand: operand is zero)
    x, y = source.code(enclosed(a)), source.code(enclosed(b))
    if called_name(call).startswith("max"):
        plain = f"{tf}.nn.softplus({source.code(a)})"
        return plain if zero is not None else f"{y} + {tf}.nn.softplus({x} - {y})"
    return f"-{tf}.nn.softplus(-{x})" if zero is not None else f"{y} - {tf}.nn.softplus({y} - {x})"


SMOOTH_EXTREME = CallRewrite(
    ("maximum", "minimum", "max", "min"),
    _soft_extreme,
    "Estimate: a smooth {name}, by softplus",
    is_estimate=True,
)


def smooth_hinge(case: FixCase) -> Iterator[Edit]:
    """A hinge loss of Keras, satisfied by every example → the same with softplus."""
    source = case.source
    for line in case.lines():
        statement = source.statement(line)
        for call in header_nodes(statement, cst.Call) if statement is not None else ():
            given = [source.code(enclosed(arg.value)) for arg in call.args if arg.keyword is None]
            form = _HINGES.get(_made_by(source, call.func))
            if form is not None and len(given) == 2:
                plan = Plan(source)
                text = form.format(tf=source.tf, y=given[0], p=given[1])
                plan.replace(call, f"{source.tf}.reduce_mean({text})")
                title = "Estimate: a smooth hinge, by softplus"
                yield Edit(title, plan.text(), is_estimate=True)


def _made_by(source: ParsedSource, function: cst.BaseExpression) -> str:
    """``Hinge`` of ``tf.keras.losses.Hinge()`` or of a name bound to it, ``hinge`` of the like."""
    if isinstance(function, cst.Name):
        function = source.bound_to(function) or function
    if isinstance(function, cst.Call):
        function = function.func
    return dotted(function).rsplit(".", 1)[-1]


def _softsign(case: FixCase, call: cst.Call) -> str:
    """``tf.sigmoid(x)`` → softsign between 0 and 1, ``tf.tanh(x)`` → softsign: flat much later."""
    form = "{tf}.nn.softsign({arg})"
    return template(form if called_name(call) == "tanh" else f"0.5 + 0.5 * {form}")(case, call)


GENTLER_SIGMOID = CallRewrite(
    ("sigmoid", "tanh"),
    _softsign,
    "Estimate: softsign in its place, which is not flat so soon",
    is_estimate=True,
)


def _at_temperature(case: FixCase, call: cst.Call) -> str:
    given = argument(call, 0, "logits", "x", "input")
    if given is None:
        return ""
    rest = "".join(
        f", {case.source.code(arg).rstrip(', ')}" for arg in call.args if arg is not given
    )
    return f"{case.source.code(call.func)}({case.source.code(enclosed(given.value))} / 100.0{rest})"


GENTLER_SOFTMAX = CallRewrite(
    ("softmax",),
    _at_temperature,
    "Estimate: a softmax at a temperature of 100, which is not flat so soon",
    is_estimate=True,
)


GENTLER_EXPONENTIAL = CallRewrite(
    ("exp",),
    template("1.0 / (1.0 - {x})"),
    "Estimate: 1 / (1 - x) in place of exp(x), which does not run out of numbers so soon",
    is_estimate=True,
)


GENTLER = (GENTLER_SIGMOID, GENTLER_SOFTMAX, GENTLER_EXPONENTIAL)
"""Rewrites into functions that become flat farther out than the one that was written."""


def leave_factor_out(case: FixCase) -> Iterator[Edit]:
    """``err * mask`` → ``err``, where ``mask`` is 0 everywhere, and that in every round; so the
    ``sample_weight`` of a loss of Keras."""
    source = case.source
    yield from _without_weights(case)
    op = case.trace.ops.get(case.cause.op_id) if case.cause.op_id is not None else None
    if op is None or len(op.inputs) != 2 or case.is_there_at_times:
        return
    stats = [case.trace.stats(tensor) for tensor in op.inputs]
    zero = [each is not None and each.norm == 0 and not each.nonfinite for each in stats]
    if zero.count(True) != 1:
        return
    for factors in _products(case):
        gone, kept = factors[zero.index(True)], factors[zero.index(False)]
        place = source.parent(gone)
        if isinstance(place, cst.Arg):
            place = source.parent(place)
        if isinstance(place, cst.BaseExpression) and not isinstance(gone, cst.BaseNumber):
            plan = Plan(source)
            plan.replace(place, bare(kept))
            title = f"Leave {source.code(gone)} out, which is 0 everywhere"
            yield Edit(title, plan.text(), is_estimate=True)


def _without_weights(case: FixCase) -> Iterator[Edit]:
    source = case.source
    for line in case.lines() if not case.is_there_at_times else ():
        statement = source.statement(line)
        for call in header_nodes(statement, cst.Call) if statement is not None else ():
            weights = argument(call, 2, "sample_weight")
            if weights is not None and weights.keyword is not None and len(call.args) > 1:
                kept = [arg for arg in call.args if arg is not weights]
                plan = Plan(source)
                plan.replace(call, call.with_changes(args=_separated(kept)))
                title = f"Leave {source.code(weights.value)} out, so that all examples count alike"
                yield Edit(title, plan.text(), is_estimate=True)


def _separated(args: list[cst.Arg]) -> list[cst.Arg]:
    """Without a comma after the last."""
    last = args[-1].with_changes(comma=cst.MaybeSentinel.DEFAULT)
    return [*args[:-1], last]


def leave_update_out(case: FixCase) -> Iterator[Edit]:
    """``tf.tensor_scatter_nd_update(x, everywhere, e)`` → ``x``, of which nothing else is left."""
    source = case.source
    for call in case.calls("tensor_scatter_nd_update"):
        whole = argument(call, 0, "tensor")
        if whole is not None:
            plan = Plan(source)
            plan.replace(call, source.code(whole.value))
            kept = source.code(whole.value)
            title = f"Leave out the update, which overwrites what is used of {kept}"
            yield Edit(title, plan.text(), is_estimate=True)


WITHOUT_ZEROS = (leave_factor_out, leave_update_out)


def _products(case: FixCase) -> Iterator[tuple[cst.BaseExpression, cst.BaseExpression]]:
    """Both factors of the products on the lines of the cause.

    Where Python says at which column the op ran (from 3.11 on), only of those that begin there.
    """
    source = case.source
    op = case.trace.ops[case.cause.op_id] if case.cause.op_id is not None else None
    columns = {f.column for f in op.site.frames[:1] if f.column >= 0} if op is not None else set()
    found: list[tuple[bool, cst.BaseExpression, cst.BaseExpression]] = []
    for line in case.lines():
        statement = source.statement(line)
        for node in header_nodes(statement, cst.BinaryOperation) if statement else ():
            if isinstance(node.operator, cst.Multiply):
                found.append((source.column(node) in columns, node.left, node.right))
        for call in source.calls(line, "multiply"):
            if len(call.args) == 2:
                found.append((source.column(call) in columns, *(a.value for a in call.args)))  # type: ignore[arg-type]
    for begins_there, left, right in found:
        if begins_there or not columns:
            yield left, right


def one_unit(case: FixCase) -> Iterator[Edit]:
    """A softmax over a single unit is always 1 → a sigmoid, and its cross-entropy."""
    source, tf = case.source, case.source.tf
    if case.cause.evidence != Cancelled("softmax-of-one"):
        return
    plan = Plan(source)
    for text in all_of(source.module, cst.SimpleString):
        instead = _OF_ONE_UNIT.get(str(text.evaluated_value))
        if instead is not None:
            plan.replace(text, f"{text.quote}{instead}{text.quote}")
    for call in all_of(source.module, cst.Call):
        path, _, name = dotted(call.func).rpartition(".")
        if path.endswith("losses") and name in _OF_ONE_UNIT:
            plan.replace(call.func, f"{path}.{_OF_ONE_UNIT[name]}")
    for call in case.calls("softmax"):
        plan.replace(call, f"{tf}.sigmoid({source.code(call.args[0].value)})")
    for call in case.calls(*_LOSSES_OF_LOGITS):
        labels, logits = argument(call, 0, "labels"), argument(call, 1, "logits")
        if labels is not None and logits is not None:
            given = f"{tf}.cast({source.code(labels.value)}, {tf}.float32)"
            if not called_name(call).startswith("sparse"):
                given = f"{tf}.squeeze({given}, -1)"
            rest = f"labels={given}, logits={tf}.squeeze({source.code(logits.value)}, -1)"
            plan.replace(call, f"{tf}.nn.sigmoid_cross_entropy_with_logits({rest})")
    if plan.changes:
        yield Edit("Use a sigmoid: a softmax of one unit is always 1", plan.text(), True)


_LOSSES_OF_LOGITS = (
    "softmax_cross_entropy_with_logits",
    "sparse_softmax_cross_entropy_with_logits",
)
_OF_ONE_UNIT = {
    "softmax": "sigmoid",
    "categorical_crossentropy": "binary_crossentropy",
    "sparse_categorical_crossentropy": "binary_crossentropy",
    "CategoricalCrossentropy": "BinaryCrossentropy",
    "SparseCategoricalCrossentropy": "BinaryCrossentropy",
}
"""Activations and losses of Keras, and those for a single unit."""


def normalise_by_kept(case: FixCase) -> Iterator[Edit]:
    """``bn(x, training=True)`` of a batch of one → with the statistics that the layer keeps."""
    source = case.source
    plan = Plan(source)
    for line in case.lines() if case.cause.evidence == Cancelled("mean-of-one") else ():
        statement = source.statement(line)
        for call in header_nodes(statement, cst.Call) if statement is not None else ():
            for arg in call.args:
                if arg.keyword is not None and arg.keyword.value == "training":
                    plan.replace(arg.value, "False")
    if plan.changes:
        title = "Estimate: normalise by the statistics that the layer keeps, not by those of one"
        yield Edit(title, plan.text(), is_estimate=True)


def sum_of_squares(case: FixCase) -> Iterator[Edit]:
    """``tf.reduce_sum(p)`` of what always has the same sum → the sum of its squares.

    What was brought to a deviation (by a ``Mul``, as a layer does) has the same sum of squares.
    """
    op = case.trace.op(case.cause.op_id)
    if op is not None and op.type in {"Mul", *FUSED}:
        return
    form = "{tf}.square({x})"
    yield from _summed(case, form, "sum the squares, for the plain sum is always the same")


def first_of_sum(case: FixCase) -> Iterator[Edit]:
    """``tf.reduce_sum(h)`` of what always has the same sum → the first column alone, or row."""
    words = "take the first {part} alone, for the sum of all is always the same"
    yield from _summed(case, "{operand}[..., 0]", words.format(part="column"))
    yield from _summed(case, "{operand}[0]", words.format(part="row"))


OTHER_SUMS = (sum_of_squares, first_of_sum)


def _summed(case: FixCase, form: str, what: str) -> Iterator[Edit]:
    """The first sum on the way whose parts always have that sum, of ``form`` in their place."""
    source = case.source
    if case.cause.evidence != Cancelled("sum"):
        return
    for line in dict.fromkeys((*_lines_of_sums(case), *case.lines())):
        for call in source.calls(line, *_SUMS):
            given = argument(call, 0, "input_tensor")
            if given is None:
                continue
            x, operand = source.code(given.value), source.code(enclosed(given.value))
            plan = Plan(source)
            plan.replace(given.value, form.format(tf=source.tf, x=x, operand=operand))
            yield Edit(f"Estimate: {what}", plan.text(), is_estimate=True)
            return


def stop_difference(case: FixCase) -> Iterator[Edit]:
    """``h - z + z`` and ``z + (h - z)`` → with ``tf.stop_gradient(h - z)``: straight-through."""
    source = case.source
    if case.cause.evidence != Cancelled("subtracted"):
        return
    plan = Plan(source)
    for line in case.lines():
        statement = source.statement(line)
        for node in header_nodes(statement, cst.BinaryOperation) if statement else ():
            for difference, _ in differences(source, node):
                stopped = f"{source.tf}.stop_gradient({source.code(bare(difference))})"
                plan.replace(difference, stopped)
    if plan.changes:
        title = "Straight-through: keep the gradient out of the difference"
        yield Edit(title, plan.text(), is_estimate=True)


def stop_second(case: FixCase) -> Iterator[Edit]:
    """``new - old`` or ``new / old`` of two names bound to the same expression → the second of them
    in ``tf.stop_gradient``: what was there before, to compare with."""
    source = case.source
    for node in all_of(source.module, cst.BinaryOperation):
        if not isinstance(node.operator, (cst.Subtract, cst.Divide)):
            continue
        sides = [side for side in (node.left, node.right) if isinstance(side, cst.Name)]
        made = [source.bound_to(side) for side in sides]
        if len(made) != 2 or made[0] is None or made[1] is None or made[0] is made[1]:
            continue
        if isinstance(made[1], cst.Call) and made[0].deep_equals(made[1]):
            plan = Plan(source)
            plan.replace(made[1], f"{source.tf}.stop_gradient({source.code(made[1])})")
            name = source.code(node.right)
            title = f"Keep the gradient out of {name}, which is there to compare with"
            yield Edit(title, plan.text(), has_other_slope=True)


def differences(
    source: ParsedSource, node: cst.BaseExpression
) -> Iterator[tuple[cst.BaseExpression, cst.BaseExpression]]:
    """``h - z`` and ``z`` of ``h - z + z`` and of ``z + (h - z)``."""
    if not isinstance(node, cst.BinaryOperation) or not isinstance(node.operator, cst.Add):
        return
    for difference, other in ((node.left, node.right), (node.right, node.left)):
        if (
            isinstance(difference, cst.BinaryOperation)
            and isinstance(difference.operator, cst.Subtract)
            and source.code(bare(difference.right)) == source.code(bare(other))
        ):
            yield difference, other


def _lines_of_sums(case: FixCase) -> Iterator[int]:
    """The lines of the ``Sum`` and ``Mean`` that the target was made by, the last first."""
    trace = case.trace
    tensor = case.call.targets[0].tensor if case.call.targets else None
    for _ in range(20):
        op = trace.maker(tensor)
        if op is None:
            return
        if op.type in ("Sum", "Mean"):
            yield op.line
        tensor = op.inputs[0] if op.inputs else None


def ask_for_element(case: FixCase) -> Iterator[Edit]:
    """A vector as target is summed: weigh its first element alone by ``output_gradients``."""
    source = case.source
    call = gradient_call(source, case.call)
    target = case.call.targets[0].tensor if len(case.call.targets) == 1 else None
    known = case.trace.tensors.get(target) if target is not None else None
    if call is None or known is None or case.call.output_gradients or not known.shape:
        return
    if len(known.shape) > 1 or case.call.method != "gradient":
        return
    given = "".join(f"{source.code(arg).rstrip(', ')}, " for arg in call.args)
    picked = f"{source.tf}.one_hot(0, {known.shape[0]})"
    plan = Plan(source)
    plan.replace(call, f"{source.code(call.func)}({given}output_gradients={picked})")
    title = "Ask for the gradient of the first element: a vector as target is summed"
    yield Edit(title, plan.text(), is_estimate=True)
